//! The Theta method (Assimakopoulos and Nikolopoulos 2000): simple exponential smoothing with half the slope of the line
//! as drift (Hyndman and Billah 2003), after removal of a significant season.

use super::decomposition::{Season, SeasonKind, line};
use super::simplex::{ALIKE, minimise};

/// Evaluations of the deviance.
const EVALUATIONS: usize = 25;
const SIZE: f64 = 1.5;
/// Range of the smoothing parameter.
const LEAST: f64 = 0.01;
const WIDTH: f64 = 0.98;

/// Forecasts of `horizon` steps.
pub(super) fn theta(history: &[f64], period: usize, horizon: usize, kind: SeasonKind) -> Vec<f64> {
    let season = Season::of(history, period, kind);
    let flat = season.removed(history);
    let (_, slope) = line(&flat);
    let pass = |alpha: f64| {
        let (mut level, mut squares) = (flat[0], 0.0);
        for value in &flat[1..] {
            let error = value - level;
            squares += error * error;
            level += alpha * error;
        }
        (level, squares)
    };
    let alpha = |log_odds: f64| LEAST + WIDTH / (1.0 + libm::exp(-log_odds));
    let deviance = |squares: f64| history.len() as f64 * libm::log(squares.max(f64::MIN_POSITIVE));
    let [best] = minimise([0.0], SIZE, (EVALUATIONS, ALIKE), |[log_odds]| deviance(pass(alpha(log_odds)).1));
    let alpha = alpha(best);
    let (level, _) = pass(alpha);
    let first = (1.0 - libm::pow(1.0 - alpha, history.len() as f64)) / alpha;
    let mut path: Vec<f64> = (0..horizon).map(|ahead| level + 0.5 * slope * (ahead as f64 + first)).collect();
    season.added(history.len(), &mut path);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_slope_of_a_line_goes_on() {
        let values: Vec<f64> = (0..50).map(|step| 10.0 + 4.0 * f64::from(step)).collect();
        let path = theta(&values, 1, 3, SeasonKind::None);
        assert!((path[1] - path[0] - 2.0).abs() < 1e-9, "{path:?}");
        assert!((path[0] - 208.0).abs() < 0.2, "{path:?}");
    }
}
