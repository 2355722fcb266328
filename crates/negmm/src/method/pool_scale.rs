//! Scale of a pool: the common factor of its members' sds with which its probability integral transforms (PITs) of
//! held-out rows are as spread as they should be.
//!
//! A linear pool of calibrated members is too wide (Gneiting and Ranjan 2013, "Combining predictive distributions"):
//! their disagreement adds to the spread of each. The PITs of calibrated predictions are uniform, so that
//! E (PIT - ½)⁴ = 1/80; it is smaller where predictions are too wide, and falls as the factor rises. The fourth power
//! heeds intervals of 80 to 95 % the most. A row counts no more than any other, however far it lies. Where a bound cuts
//! predictions off, the PITs of too wide ones are not in the middle, and the factor is 1.

use rayon::prelude::*;

use super::folds::HeldOutRows;
use negmm_dist::math::normal;
use negmm_dist::mixture::{Mixture, Mixtures};

/// Range of the candidate factors, which are geometrically spaced.
const LEAST: f64 = 0.25;
const MOST: f64 = 2.0;
const TRIED: usize = 37;
/// The candidate 1.
const UNCHANGED: usize = 24;
/// Maximum number of rows used: more would not change the factor.
const MOST_ROWS: usize = 4_000;
/// With this many rows the logarithm of the factor is half of what they say.
const PRIOR_ROWS: f64 = 50.0;
/// E (U - ½)⁴ of a uniform variable.
const UNIFORM: f64 = 1.0 / 80.0;

/// The logarithm of the factor for each fold, by the rows that may choose something for it, from pooled predictions of
/// held-out rows; `scaled` says which components the factor applies to.
pub(super) fn log_scales_of_folds(pooled: &Mixtures, scaled: &[bool], held_out: &HeldOutRows) -> Vec<f64> {
    let mut candidates = Candidates::of(pooled, scaled, held_out);
    let folds = candidates.folds as u32;
    (0..folds).map(|fold| candidates.log_factor(|other| held_out.informs(other, fold))).collect()
}

/// The logarithm of the factor by all rows.
pub(super) fn log_scale(pooled: &Mixtures, scaled: &[bool], held_out: &HeldOutRows) -> f64 {
    Candidates::of(pooled, scaled, held_out).log_factor(|_| true)
}

/// Sums of (PIT - ½)⁴ - 1/80 over each fold's rows, for the candidates that a search has asked for.
struct Candidates<'a> {
    pooled: &'a Mixtures,
    scaled: &'a [bool],
    held_out: &'a HeldOutRows,
    folds: usize,
    /// The rows that count; none where nothing can be scaled.
    rows: Vec<usize>,
    sums: Vec<Option<Vec<f64>>>,
}

impl<'a> Candidates<'a> {
    fn of(pooled: &'a Mixtures, scaled: &'a [bool], held_out: &'a HeldOutRows) -> Self {
        let every = held_out.rows.len().div_ceil(MOST_ROWS).max(1);
        let folds = held_out.folds.iter().max().map_or(0, |last| *last as usize + 1);
        let counts = |row: &usize| held_out.weights[*row] > 0.0 && held_out.bounds.is_none();
        let mut rows: Vec<usize> = (0..held_out.rows.len()).step_by(every).filter(counts).collect();
        let has_weight =
            |row: &usize| pooled.row(*row).weights.iter().zip(scaled).any(|(weight, is)| *is && *weight > 0.0);
        if !rows.iter().any(has_weight) {
            rows.clear();
        }
        Self { pooled, scaled, held_out, folds, rows, sums: vec![None; TRIED] }
    }

    /// The logarithm of the factor where the sum over some folds crosses 0, shrunk to 0 where rows are few.
    fn log_factor(&mut self, counts: impl Fn(u32) -> bool) -> f64 {
        let rows = self.rows.iter().filter(|row| counts(self.held_out.folds[**row])).count();
        if rows == 0 {
            return 0.0;
        }
        let log = |at: usize| libm::log(factor(at));
        // The sum falls: it is positive at `low`, and not at `high`.
        let (mut low, mut high, mut step) = (None, None, 1);
        let mut at = UNCHANGED;
        let crossing = loop {
            if self.sum(at, &counts) > 0.0 {
                low = Some(at)
            } else {
                high = Some(at)
            }
            at = match (low, high) {
                (Some(low), Some(high)) if high - low == 1 => {
                    let (above, below) = (self.sum(low, &counts), self.sum(high, &counts));
                    break log(low) + above / (above - below) * (log(high) - log(low));
                }
                (Some(low), Some(high)) => usize::midpoint(low, high),
                (None, Some(0)) => break log(0),
                (Some(low), None) if low == TRIED - 1 => break log(low),
                (None, Some(high)) => high.saturating_sub(step),
                (Some(low), None) => (low + step).min(TRIED - 1),
                (None, None) => break 0.0,
            };
            step *= 2;
        };
        crossing * rows as f64 / (rows as f64 + PRIOR_ROWS)
    }

    /// The sum of a candidate over some folds.
    fn sum(&mut self, at: usize, counts: impl Fn(u32) -> bool) -> f64 {
        let of_folds = self.sums[at].get_or_insert_with(|| {
            let excess = |row: &usize| {
                let (low, high) = pit(self.held_out, self.pooled.row(*row), self.scaled, *row, factor(at));
                self.held_out.weights[*row] * (mean_fourth_power(low - 0.5, high - 0.5) - UNIFORM)
            };
            let of_rows: Vec<f64> = self.rows.par_iter().map(excess).collect();
            let mut sums = vec![0.0; self.folds];
            for (row, excess) in self.rows.iter().zip(of_rows) {
                sums[self.held_out.folds[*row] as usize] += excess;
            }
            sums
        });
        (0..).zip(&*of_folds).filter(|(fold, _)| counts(*fold)).map(|(_, sum)| sum).sum()
    }
}

fn factor(number: usize) -> f64 {
    LEAST * libm::pow(MOST / LEAST, number as f64 / (TRIED - 1) as f64)
}

/// Mean of u⁴ over the interval from `low` to `high`.
fn mean_fourth_power(low: f64, high: f64) -> f64 {
    let (low_square, high_square) = (low * low, high * high);
    let even = low_square * low_square + low_square * high_square + high_square * high_square;
    (even + low * high * (low_square + high_square)) / 5.0
}

/// The PIT of a row: from below its target to its target, which are the same for a density.
fn pit(held_out: &HeldOutRows, mixture: Mixture<'_>, scaled: &[bool], row: usize, factor: f64) -> (f64, f64) {
    let at = |y: f64| probabilities(mixture, scaled, y, factor);
    match held_out.interval(row) {
        Some((lower, upper)) => (at(lower).0, at(upper).0),
        None => at(held_out.y[row]),
    }
}

/// The probability below `y`, and up to `y`.
fn probabilities(mixture: Mixture<'_>, scaled: &[bool], y: f64, factor: f64) -> (f64, f64) {
    let (mut below, mut equal) = (0.0, 0.0);
    for (k, weight) in mixture.weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        let sd = if scaled[k] { factor * mixture.sds[k] } else { mixture.sds[k] };
        if sd > 0.0 {
            below += weight * normal::cdf((y - mixture.means[k]) / sd);
        } else if mixture.means[k] == y {
            equal += weight;
        } else if mixture.means[k] < y {
            below += weight;
        }
    }
    (below, below + equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::math::rng::Rng;

    fn held_out(y: Vec<f64>) -> HeldOutRows {
        let rows = y.len() as u32;
        HeldOutRows {
            rows: (0..rows).collect(),
            folds: (0..rows).map(|row| row % 2).collect(),
            weights: vec![1.0; y.len()],
            censored: vec![false; y.len()],
            y,
            intervals: None,
            bounds: None,
            in_time_order: false,
        }
    }

    fn draws(count: usize) -> Vec<f64> {
        let mut rng = Rng::new(4, 0);
        (0..count).map(|_| normal::quantile(rng.uniform())).collect()
    }

    #[test]
    fn the_factor_makes_the_spread_that_of_the_targets() {
        let held_out = held_out(draws(4000));
        for sd in [0.7, 1.0, 1.6] {
            let pooled = Mixtures::new(1, vec![1.0; 4000], vec![0.0; 4000], vec![sd; 4000]).unwrap();
            let of_folds = log_scales_of_folds(&pooled, &[true], &held_out);
            for log in [log_scale(&pooled, &[true], &held_out), of_folds[0], of_folds[1]] {
                assert!((libm::exp(log) * sd - 1.0).abs() < 0.05, "{sd} {log}");
            }
            // Nothing to scale.
            let fixed = log_scale(&pooled, &[false], &held_out);
            assert_eq!(fixed, 0.0);
        }
    }

    #[test]
    fn a_pool_that_disagrees_is_too_wide() {
        let held_out = held_out(draws(4000));
        let pooled = Mixtures::new(2, vec![0.5; 8000], [-0.7, 0.7].repeat(4000), vec![1.0; 8000]).unwrap();
        let log = log_scale(&pooled, &[true, true], &held_out);
        // The variance 1 of the targets is 0.7² and that of the components.
        assert!((libm::exp(log) - 0.51f64.sqrt()).abs() < 0.04, "{log}");
    }

    #[test]
    fn cells_and_far_rows_do_not_matter_and_bounds_are_left_alone() {
        let mut y = draws(4000);
        let rounded: Vec<f64> = y.iter().map(|y| y.round()).collect();
        let ends = |by: f64| rounded.iter().map(|y| y + by).collect::<Vec<f64>>();
        let cells = HeldOutRows { intervals: Some((ends(-0.5), ends(0.5))), ..held_out(rounded.clone()) };
        let pooled = Mixtures::new(1, vec![1.0; 4000], vec![0.0; 4000], vec![1.3; 4000]).unwrap();
        let log = log_scale(&pooled, &[true], &cells);
        assert!((libm::exp(log) * 1.3 - 1.0).abs() < 0.06, "{log}");
        y[..20].fill(1e6);
        let log = log_scale(&pooled, &[true], &held_out(y.clone()));
        assert!((libm::exp(log) * 1.3 - 1.0).abs() < 0.08, "{log}");
        let cut_off = HeldOutRows { bounds: Some([0.0, f64::INFINITY]), ..held_out(y) };
        assert_eq!(log_scale(&pooled, &[true], &cut_off), 0.0);
    }
}
