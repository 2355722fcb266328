//! Exponential smoothing in its error-correction form: level, trend (none, damped, linear) and season.
//!
//! With the error e_t of the one-step forecast (relative to the season where that is multiplicative),
//!
//! ```text
//! level  l_t = l_(t-1) + phi b_(t-1) + alpha e_t
//! trend  b_t = phi b_(t-1) + alpha beta e_t
//! season s_t = s_(t-m) + gamma (1 - alpha) e_t
//! ```
//!
//! The first state comes from a classical decomposition; alpha, beta, phi and gamma maximise the Gaussian likelihood (of
//! relative errors, where the season is multiplicative).

use super::decomposition::{LEAST_INDEX, Season, SeasonKind, line};
use super::simplex::{ALIKE, minimise};

/// The trend of a smoothing method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trend {
    None,
    Damped,
    Linear,
}

/// Evaluations of the likelihood per fit.
const EVALUATIONS: usize = 80;
/// The simplex, in log odds of the parameters: start and size.
const START: [f64; 4] = [-1.0, -2.0, 0.5, -2.0];
const SIZE: f64 = 1.5;
/// Ranges: alpha, beta and gamma from LEAST, beta and gamma by these widths, phi by MOST_DAMPED and its width.
const LEAST: f64 = 0.001;
const ALPHA_WIDTH: f64 = 0.998;
const BETA_WIDTH: f64 = 0.5;
const GAMMA_WIDTH: f64 = 0.6;
const MOST_DAMPED: f64 = 0.8;
const PHI_WIDTH: f64 = 0.18;
/// Weight of a squared error beside the one after it, for the scale: half after about a hundred steps.
const RECENT_DECAY: f64 = 0.993;
/// A product of forecasts that leaves this range becomes a logarithm; with another factor it is finite.
const LEAST_PRODUCT: f64 = 1e-100;
const MOST_PRODUCT: f64 = 1e100;
/// Steps whose line gives the first level and trend, at least; with a season two of its periods.
const FIRST_STEPS: usize = 10;

/// A fitted smoothing method.
#[derive(Clone, Debug)]
pub(super) struct Smoothed {
    /// Forecasts of the steps ahead.
    pub(super) path: Vec<f64>,
    /// Root mean square of the recent one-step errors.
    pub(super) rms: f64,
    /// Akaike's information criterion, corrected for few steps.
    pub(super) aicc: f64,
}

#[derive(Clone, Copy)]
struct Parameters {
    alpha: f64,
    beta: f64,
    phi: f64,
    gamma: f64,
}

/// The state after a pass, and its sums: of squared errors, and of the logarithms of what they are relative to.
struct Pass {
    level: f64,
    trend: f64,
    squares: f64,
    logs: f64,
    /// Mean square of recent errors.
    recent: f64,
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

/// Fits the method and forecasts `horizon` steps.
pub(super) fn smooth(history: &[f64], period: usize, horizon: usize, trend: Trend, kind: SeasonKind) -> Smoothed {
    let steps = history.len();
    let season = Season::of(history, period, kind);
    let period = season.indices.len();
    let flat = season.removed(history);
    let first = &flat[..steps.min((2 * period).max(FIRST_STEPS))];
    let (mean, slope) = line(first);
    let slope = if trend == Trend::None { 0.0 } else { slope };
    let level = mean - slope * (first.len() as f64 + 1.0) / 2.0;
    let parameters = |[alpha, beta, phi, gamma]: [f64; 4]| Parameters {
        alpha: LEAST + ALPHA_WIDTH * sigmoid(alpha),
        beta: if trend == Trend::None { 0.0 } else { LEAST + BETA_WIDTH * sigmoid(beta) },
        phi: match trend {
            Trend::None => 0.0,
            Trend::Linear => 1.0,
            Trend::Damped => MOST_DAMPED + PHI_WIDTH * sigmoid(phi),
        },
        gamma: if kind == SeasonKind::None { 0.0 } else { LEAST + GAMMA_WIDTH * sigmoid(gamma) },
    };
    let mut indices = season.indices.clone();
    let mut pass = |point: [f64; 4]| {
        indices.copy_from_slice(&season.indices);
        passed(history, (level, slope), &mut indices, kind, parameters(point))
    };
    let count = steps as f64;
    let deviance = |pass: &Pass| count * libm::log(pass.squares.max(f64::MIN_POSITIVE)) + 2.0 * pass.logs;
    let mut of = |point: [f64; 4]| deviance(&pass(point));
    let [a, b, p, g] = START;
    // Only the parameters that the method has are searched.
    let point = match (trend, kind) {
        (Trend::None, SeasonKind::None) => {
            let [a] = minimise([a], SIZE, (EVALUATIONS, ALIKE), |[a]| of([a, b, p, g]));
            [a, b, p, g]
        }
        (Trend::None, _) => {
            let [a, g] = minimise([a, g], SIZE, (EVALUATIONS, ALIKE), |[a, g]| of([a, b, p, g]));
            [a, b, p, g]
        }
        (Trend::Linear, SeasonKind::None) => {
            let [a, b] = minimise([a, b], SIZE, (EVALUATIONS, ALIKE), |[a, b]| of([a, b, p, g]));
            [a, b, p, g]
        }
        (Trend::Linear, _) => {
            let [a, b, g] = minimise([a, b, g], SIZE, (EVALUATIONS, ALIKE), |[a, b, g]| of([a, b, p, g]));
            [a, b, p, g]
        }
        (Trend::Damped, SeasonKind::None) => {
            let [a, b, p] = minimise([a, b, p], SIZE, (EVALUATIONS, ALIKE), |[a, b, p]| of([a, b, p, g]));
            [a, b, p, g]
        }
        (Trend::Damped, _) => minimise(START, SIZE, (EVALUATIONS, ALIKE), of),
    };
    let last = pass(point);
    let phi = parameters(point).phi;
    let (mut damping, mut sum) = (1.0, 0.0);
    let mut path = Vec::with_capacity(horizon);
    for _ in 0..horizon {
        damping *= phi;
        sum += damping;
        path.push(last.level + sum * last.trend);
    }
    Season { kind, indices }.added(steps, &mut path);
    let of_trend = match trend {
        Trend::None => 0.0,
        Trend::Linear => 2.0,
        Trend::Damped => 3.0,
    };
    // The level, its parameter and the variance; a season has a parameter and as many free indices less one.
    let free = 3.0 + of_trend + if kind == SeasonKind::None { 0.0 } else { period as f64 };
    let spare = count - free - 1.0;
    let aicc = if spare > 1.0 { deviance(&last) + 2.0 * free * count / spare } else { f64::INFINITY };
    let size = match kind {
        SeasonKind::Multiplicative => {
            flat[steps.saturating_sub(2 * period)..].iter().map(|value| value.abs()).sum::<f64>()
                / steps.min(2 * period) as f64
        }
        _ => 1.0,
    };
    Smoothed { path, rms: last.recent.sqrt() * size, aicc }
}

/// Smooths the history from its first state; `season` becomes that after the last step.
fn passed(
    history: &[f64],
    (mut level, mut trend): (f64, f64),
    season: &mut [f64],
    kind: SeasonKind,
    Parameters { alpha, beta, phi, gamma }: Parameters,
) -> Pass {
    let (mut squares, mut logs, mut phase, mut recent, mut weight) = (0.0, 0.0, 0, 0.0, 0.0);
    if kind == SeasonKind::None {
        // The same without a season.
        for value in history {
            let base = level + phi * trend;
            let error = value - base;
            let before = squares;
            squares += error * error;
            recent = RECENT_DECAY * recent + (squares - before);
            weight = RECENT_DECAY * weight + 1.0;
            level = base + alpha * error;
            trend = phi * trend + alpha * beta * error;
        }
        return Pass { level, trend, squares, logs, recent: recent / weight };
    }
    let mut product = 1.0;
    for value in history {
        let base = level + phi * trend;
        let index = season[phase];
        let before = squares;
        let error = match kind {
            SeasonKind::Multiplicative => {
                let forecast = base * index;
                let relative = (value - forecast) / forecast;
                squares += relative * relative;
                // A logarithm takes longer than the rest of a step: one for many of them.
                product *= forecast.abs().max(f64::MIN_POSITIVE.sqrt());
                if !(LEAST_PRODUCT..MOST_PRODUCT).contains(&product) {
                    logs += libm::log(product);
                    product = 1.0;
                }
                season[phase] = (index + gamma * (1.0 - alpha) * relative * index).max(LEAST_INDEX);
                relative * base
            }
            SeasonKind::Additive | SeasonKind::None => {
                let error = value - base - index;
                squares += error * error;
                season[phase] = index + gamma * (1.0 - alpha) * error;
                error
            }
        };
        recent = RECENT_DECAY * recent + (squares - before);
        weight = RECENT_DECAY * weight + 1.0;
        level = base + alpha * error;
        trend = phi * trend + alpha * beta * error;
        phase = if phase + 1 == season.len() { 0 } else { phase + 1 };
    }
    logs += libm::log(product);
    Pass { level, trend, squares, logs, recent: recent / weight }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_seasons_go_on() {
        let line: Vec<f64> = (0..40).map(|step| 5.0 + 2.0 * f64::from(step)).collect();
        let smoothed = smooth(&line, 1, 3, Trend::Linear, SeasonKind::None);
        assert!((smoothed.path[2] - (5.0 + 2.0 * 42.0)).abs() < 1e-6, "{smoothed:?}");
        // A damped trend falls behind the line, and no trend stays.
        let damped = smooth(&line, 1, 3, Trend::Damped, SeasonKind::None);
        assert!(damped.path[2] > 85.0 && damped.path[2] < 89.0 && damped.aicc > smoothed.aicc, "{damped:?}");
        assert!(smooth(&line, 1, 3, Trend::None, SeasonKind::None).path.iter().all(|value| (value - 83.0).abs() < 0.5));
        let ratios = [1.5, 0.5, 1.2, 0.8];
        let seasonal: Vec<f64> = (0..48).map(|step| (20.0 + step as f64) * ratios[step % 4]).collect();
        let [additive, multiplicative] =
            [SeasonKind::Additive, SeasonKind::Multiplicative].map(|kind| smooth(&seasonal, 4, 4, Trend::Linear, kind));
        assert!(multiplicative.aicc < additive.aicc);
        for (ahead, value) in multiplicative.path.iter().enumerate() {
            let truth = (68.0 + ahead as f64) * ratios[ahead];
            assert!((value / truth - 1.0).abs() < 0.02, "{ahead}: {value} {truth}");
        }
    }
}
