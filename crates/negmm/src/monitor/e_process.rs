//! E-processes: sequential tests of calibration.
//!
//! Normal scores of calibrated predictions are standard normal, given everything before. A bet on another
//! distribution q multiplies its capital by q(z) / φ(z) with each score z, a factor with mean 1 while the predictions
//! are calibrated. The initial capital is divided among alternatives (shifted, wider or narrower scores, and a
//! histogram that learns any shape) and among starting rows: one half starts at the first row, the rest at later
//! ones. The total capital is the evidence: an e-process, which ever exceeds 1/α with probability at most α while the
//! predictions are calibrated (Ville's inequality; Ramdas et al. 2023). Against a model that was never calibrated the
//! bets from the first row grow; against one that loses calibration, those that start at that row.
//!
//! With a tolerance δ the null hypothesis also includes scores shifted by up to δ sds and wider or narrower by up to
//! the fraction δ. A bet is then made against one distribution of the null hypothesis, and its factor is divided by
//! the largest mean that it has under any of them, so that its capital does not grow on average under the null
//! hypothesis. Among these reference distributions, the one with the fastest growth after the division is used.

use serde::{Deserialize, Serialize};

use negmm_dist::math::normal;
use negmm_dist::mixture::log_sum_exp;

/// Alternatives: means and sds of normal scores.
const ALTERNATIVES: [(f64, f64); 27] = [
    (0.0, 0.5),
    (0.0, 0.7),
    (0.0, 0.8),
    (0.0, 0.9),
    (0.0, 1.1),
    (0.0, 1.2),
    (0.0, 1.5),
    (0.0, 2.0),
    (0.0, 3.0),
    (-2.0, 1.0),
    (-1.0, 1.0),
    (-0.5, 1.0),
    (-0.25, 1.0),
    (-0.1, 1.0),
    (0.1, 1.0),
    (0.25, 1.0),
    (0.5, 1.0),
    (1.0, 1.0),
    (2.0, 1.0),
    (-1.0, 2.0),
    (-0.5, 2.0),
    (-0.5, 1.3),
    (-1.0, 1.3),
    (0.5, 1.3),
    (1.0, 1.3),
    (0.5, 2.0),
    (1.0, 2.0),
];

/// Bins of the histogram, and its fraction of the initial capital.
const BINS: usize = 8;
const HISTOGRAM: f64 = 0.1;

/// Logarithm of zero, as a finite number that files can store.
const NOTHING: f64 = f64::MIN;

/// Grid points per axis: of candidate reference distributions, and of the null hypothesis for the largest mean.
const TRIED: usize = 9;
const SAFE: usize = 17;

/// The state of the e-process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EProcess {
    tolerance: f64,
    rows: u64,
    bets: Vec<Bet>,
    histogram: Histogram,
}

/// A bet on one alternative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Bet {
    /// Mean and sd of the alternative, and of the reference distribution.
    on: (f64, f64),
    against: (f64, f64),
    /// Logarithm of the divisor of the factor at each row.
    log_divisor: f64,
    /// Logarithm of the capital over all starting rows.
    log_won: f64,
    /// Logarithm of the largest capital per unit started at a single row, and that row.
    log_best: f64,
    since: u64,
}

/// A bet on the histogram of the PIT values so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Histogram {
    log_won: f64,
    counts: [u64; BINS],
}

impl EProcess {
    pub(super) fn new(tolerance: f64) -> Self {
        let histogram = Histogram { log_won: 0.0, counts: [0; BINS] };
        Self {
            tolerance,
            rows: 0,
            bets: ALTERNATIVES.into_iter().filter_map(|alternative| Bet::new(alternative, tolerance)).collect(),
            histogram,
        }
    }

    pub(super) fn update(&mut self, score: f64) {
        let log_stake = log_stake(self.rows);
        for bet in &mut self.bets {
            let factor = log_density(score, bet.on) - log_density(score, bet.against) - bet.log_divisor;
            bet.log_won = add(bet.log_won, log_stake) + factor;
            if bet.log_best <= 0.0 {
                (bet.log_best, bet.since) = (0.0, self.rows);
            }
            bet.log_best += factor;
        }
        self.histogram.update(score);
        self.rows += 1;
    }

    /// Logarithm of the evidence.
    pub(super) fn log(&self) -> f64 {
        // With a tolerance the histogram does not bet: it would win against distributions of the null hypothesis.
        let histogram = if self.tolerance > 0.0 { 0.0 } else { HISTOGRAM };
        let log_fraction = libm::log((1.0 - histogram) / self.bets.len().max(1) as f64);
        let bets = self.bets.iter().map(|bet| bet.log_won + log_fraction);
        log_sum_exp(bets.chain((histogram > 0.0).then(|| self.histogram.log_won + libm::log(histogram))))
    }

    /// The estimated change point: the row, from 0, where the most successful bet started.
    pub(super) fn since(&self) -> u64 {
        let best = self.bets.iter().max_by(|a, b| a.log_best.total_cmp(&b.log_best));
        best.map_or(0, |bet| bet.since)
    }
}

impl Bet {
    /// The fastest-growing valid bet on an alternative; `None` where none grows.
    fn new(on: (f64, f64), tolerance: f64) -> Option<Self> {
        let safe = square(tolerance, SAFE);
        let bet = |against: (f64, f64)| {
            let log_divisor = safe.iter().map(|null| log_mean_ratio(on, against, *null)).fold(0.0, f64::max);
            (divergence(on, against) - log_divisor, against, log_divisor)
        };
        let (growth, against, log_divisor) =
            square(tolerance, TRIED).into_iter().map(bet).max_by(|a, b| a.0.total_cmp(&b.0))?;
        let bet = Self { on, against, log_divisor, log_won: NOTHING, log_best: 0.0, since: 0 };
        (growth > 0.0).then_some(bet)
    }
}

/// A grid over the null hypothesis: means and sds, including the extremes.
fn square(tolerance: f64, side: usize) -> Vec<(f64, f64)> {
    if tolerance == 0.0 {
        return vec![(0.0, 1.0)];
    }
    let offset = |at: usize| tolerance * (2.0 * at as f64 / (side - 1) as f64 - 1.0);
    (0..side * side).map(|at| (offset(at / side), 1.0 + offset(at % side))).collect()
}

fn log_density(score: f64, (mean, sd): (f64, f64)) -> f64 {
    normal::log_pdf((score - mean) / sd) - libm::log(sd)
}

/// Logarithm of the mean density ratio of `on` to `against` under a third distribution, all normal; infinite where
/// the mean does not exist.
fn log_mean_ratio(on: (f64, f64), against: (f64, f64), truth: (f64, f64)) -> f64 {
    let terms = [(on, 1.0), (truth, 1.0), (against, -1.0)];
    let sum = |power: i32| terms.iter().map(|((mean, sd), sign)| sign * mean.powi(power) / (sd * sd)).sum::<f64>();
    let (precision, linear, square) = (sum(0), sum(1), sum(2));
    if precision <= 0.0 {
        return f64::INFINITY;
    }
    let front = libm::log(against.1 / (on.1 * truth.1)) - 0.5 * libm::log(precision);
    front + 0.5 * (linear * linear / precision - square)
}

/// Kullback-Leibler divergence of two normal distributions: the growth rate of a bet on one against the other if it
/// is true.
fn divergence(on: (f64, f64), against: (f64, f64)) -> f64 {
    let (ratio, distance) = (on.1 / against.1, (on.0 - against.0) / against.1);
    0.5 * (ratio * ratio + distance * distance - 1.0) - libm::log(ratio)
}

impl Histogram {
    /// The factor of a bin follows from its earlier count, with half a pseudo-count each (Krichevsky and Trofimov
    /// 1981).
    fn update(&mut self, score: f64) {
        let bin = ((normal::cdf(score) * BINS as f64) as usize).min(BINS - 1);
        let total: u64 = self.counts.iter().sum();
        let probability = (self.counts[bin] as f64 + 0.5) / (total as f64 + 0.5 * BINS as f64);
        self.log_won += libm::log(probability * BINS as f64);
        self.counts[bin] += 1;
    }
}

/// Logarithm of the fraction of the capital that starts at a row: one half at the first, and 1/2 (1/g(n) - 1/g(n +
/// 1)) with g(n) = 1 + ln n at row n from 1 on, which sums to the other half.
fn log_stake(row: u64) -> f64 {
    let g = |row: u64| 1.0 + libm::log(row as f64);
    libm::log(if row == 0 { 0.5 } else { 0.5 * (1.0 / g(row) - 1.0 / g(row + 1)) })
}

/// ln(exp a + exp b).
fn add(a: f64, b: f64) -> f64 {
    let (low, high) = (a.min(b), a.max(b));
    high + libm::log1p(libm::exp(low - high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::math::rng::Rng;

    fn scores(rng: &mut Rng, mean: f64, sd: f64) -> f64 {
        mean + sd * normal::quantile(rng.uniform())
    }

    #[test]
    fn stakes_are_one_together() {
        let placed: f64 = (0..100_000).map(|row| libm::exp(log_stake(row))).sum();
        let left = 0.5 / (1.0 + libm::log(100_000.0));
        assert!((placed + left - 1.0).abs() < 1e-9, "{placed} {left}");
    }

    #[test]
    fn calibrated_predictions_win_nothing_on_average() {
        // The mean of an e-process is at most 1; its distribution has a heavy tail, so that the mean of 2,000 tends
        // to be too low.
        let mut sum = 0.0;
        for run in 0..2000 {
            let (mut evidence, mut rng) = (EProcess::new(0.0), Rng::new(run, 0));
            (0..20).for_each(|_| evidence.update(scores(&mut rng, 0.0, 1.0)));
            sum += libm::exp(evidence.log());
        }
        assert!(sum / 2000.0 < 1.3, "{}", sum / 2000.0);
    }

    #[test]
    fn a_change_is_found_where_it_was() {
        for (mean, sd) in [(0.5, 1.0), (0.0, 1.5), (0.0, 0.6), (-1.0, 1.0)] {
            let (mut evidence, mut rng) = (EProcess::new(0.0), Rng::new(3, 1));
            (0..2000).for_each(|_| evidence.update(scores(&mut rng, 0.0, 1.0)));
            assert!(evidence.log() < libm::log(100.0));
            (0..400).for_each(|_| evidence.update(scores(&mut rng, mean, sd)));
            assert!(evidence.log() > libm::log(100.0), "{mean} {sd} {}", evidence.log());
            assert!((1900..=2100).contains(&evidence.since()), "{mean} {sd} {}", evidence.since());
        }
    }

    #[test]
    fn what_is_tolerated_is_no_evidence() {
        for (mean, sd) in [(-0.1, 1.1), (0.1, 0.9), (0.05, 1.1), (0.0, 1.0)] {
            let (mut lenient, mut rng) = (EProcess::new(0.1), Rng::new(5, 0));
            let mut highest = f64::MIN;
            (0..20_000).for_each(|_| {
                lenient.update(scores(&mut rng, mean, sd));
                highest = highest.max(lenient.log());
            });
            assert!(highest < libm::log(20.0), "{mean} {sd} {highest}");
            (0..500).for_each(|_| lenient.update(scores(&mut rng, 0.0, 1.6)));
            assert!(lenient.log() > libm::log(1e6), "{mean} {sd}");
        }
    }

    #[test]
    fn a_stake_grows_under_nothing_that_is_tolerated() {
        for tolerance in [0.0, 0.05, 0.2, 0.5] {
            let bets = EProcess::new(tolerance).bets;
            assert!(bets.len() > 8, "{tolerance} {}", bets.len());
            // Between the grid points of the null hypothesis.
            for bet in bets {
                for truth in square(tolerance, 60) {
                    let growth = log_mean_ratio(bet.on, bet.against, truth) - bet.log_divisor;
                    assert!(growth < 1e-4, "{tolerance} {:?} {truth:?} {growth}", bet.on);
                }
            }
        }
        // The mean of a ratio, by quadrature.
        let (on, against, truth) = ((0.5, 1.3), (0.1, 1.1), (-0.1, 0.9));
        let cells = (0..40_000).map(|cell| -10.0 + (f64::from(cell) + 0.5) * 5e-4);
        let ratio = |z: f64| log_density(z, on) - log_density(z, against) + log_density(z, truth);
        let mean: f64 = cells.map(|z| libm::exp(ratio(z)) * 5e-4).sum();
        assert!((libm::log(mean) - log_mean_ratio(on, against, truth)).abs() < 1e-9);
    }

    #[test]
    fn any_other_shape_is_found() {
        let (mut evidence, mut rng) = (EProcess::new(0.0), Rng::new(9, 0));
        // Two modes with the mean and sd of a standard normal variable.
        (0..2000).for_each(|_| {
            let side = if rng.uniform() < 0.5 { -0.8 } else { 0.8 };
            evidence.update(scores(&mut rng, side, 0.6));
        });
        assert!(evidence.log() > libm::log(1e6), "{}", evidence.log());
    }
}
