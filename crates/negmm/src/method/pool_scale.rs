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
/// Maximum number of rows used: more would not change the factor.
const MOST_ROWS: usize = 4_000;
/// With this many rows the logarithm of the factor is half of what they say.
const PRIOR_ROWS: f64 = 50.0;
/// E (U - ½)⁴ of a uniform variable.
const UNIFORM: f64 = 1.0 / 80.0;

/// Sums of (PIT - ½)⁴ - 1/80 over each fold's rows, for each candidate factor.
pub(super) struct PoolScales {
    folds: Vec<(usize, [f64; TRIED])>,
}

impl PoolScales {
    /// From pooled predictions of held-out rows; `scaled` says which components the factor applies to.
    pub(super) fn of(pooled: &Mixtures, scaled: &[bool], held_out: &HeldOutRows) -> Self {
        let every = held_out.rows.len().div_ceil(MOST_ROWS).max(1);
        let count = held_out.folds.iter().max().map_or(0, |last| *last as usize + 1);
        let counts = |row: &usize| held_out.weights[*row] > 0.0 && held_out.bounds.is_none();
        let rows: Vec<usize> = (0..held_out.rows.len()).step_by(every).filter(counts).collect();
        let excess = |row: &usize| -> [f64; TRIED] {
            std::array::from_fn(|at| {
                let (low, high) = pit(held_out, pooled.row(*row), scaled, *row, factor(at));
                held_out.weights[*row] * (mean_fourth_power(low - 0.5, high - 0.5) - UNIFORM)
            })
        };
        let of_rows: Vec<[f64; TRIED]> = rows.par_iter().map(excess).collect();
        let mut folds = vec![(0, [0.0; TRIED]); count];
        for (row, excess) in rows.iter().zip(of_rows) {
            let (number, sums) = &mut folds[held_out.folds[*row] as usize];
            *number += 1;
            sums.iter_mut().zip(excess).for_each(|(sum, more)| *sum += more);
        }
        Self { folds }
    }

    /// The logarithm of the factor for all rows.
    pub(super) fn all(&self) -> f64 {
        log_factor(self.folds.iter())
    }

    /// The logarithm of the factor for the rows of some folds.
    pub(super) fn of_folds(&self, counts: impl Fn(u32) -> bool) -> f64 {
        log_factor((0..).zip(&self.folds).filter(|(number, _)| counts(*number)).map(|(_, sums)| sums))
    }
}

/// The logarithm of the factor where the sums cross 0, shrunk to 0 where rows are few.
fn log_factor<'a>(folds: impl Iterator<Item = &'a (usize, [f64; TRIED])>) -> f64 {
    let (mut rows, mut sums) = (0, [0.0; TRIED]);
    for (number, more) in folds {
        rows += number;
        sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
    if rows == 0 || sums[0] == sums[TRIED - 1] {
        return 0.0;
    }
    let log = |at: usize| libm::log(factor(at));
    let crossing = match sums.iter().position(|sum| *sum <= 0.0) {
        Some(0) => log(0),
        Some(at) => {
            let part = sums[at - 1] / (sums[at - 1] - sums[at]);
            log(at - 1) + part * (log(at) - log(at - 1))
        }
        None => log(TRIED - 1),
    };
    crossing * rows as f64 / (rows as f64 + PRIOR_ROWS)
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
            let scales = PoolScales::of(&pooled, &[true], &held_out);
            for log in [scales.all(), scales.of_folds(|fold| fold != 0), scales.of_folds(|fold| fold != 1)] {
                assert!((libm::exp(log) * sd - 1.0).abs() < 0.05, "{sd} {log}");
            }
            // Nothing to scale.
            let fixed = PoolScales::of(&pooled, &[false], &held_out).all();
            assert_eq!(fixed, 0.0);
        }
    }

    #[test]
    fn a_pool_that_disagrees_is_too_wide() {
        let held_out = held_out(draws(4000));
        let pooled = Mixtures::new(2, vec![0.5; 8000], [-0.7, 0.7].repeat(4000), vec![1.0; 8000]).unwrap();
        let log = PoolScales::of(&pooled, &[true, true], &held_out).all();
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
        let log = PoolScales::of(&pooled, &[true], &cells).all();
        assert!((libm::exp(log) * 1.3 - 1.0).abs() < 0.06, "{log}");
        y[..20].fill(1e6);
        let log = PoolScales::of(&pooled, &[true], &held_out(y.clone())).all();
        assert!((libm::exp(log) * 1.3 - 1.0).abs() < 0.08, "{log}");
        let cut_off = HeldOutRows { bounds: Some([0.0, f64::INFINITY]), ..held_out(y) };
        assert_eq!(PoolScales::of(&pooled, &[true], &cut_off).all(), 0.0);
    }
}
