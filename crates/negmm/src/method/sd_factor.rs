//! Responsible for the factor of all sds that makes predictions of held-out rows most likely.

use rayon::prelude::*;

use super::few_rows;
use crate::mixture::{Mixture, Mixtures};
use crate::score::interval;

/// The factors tried lie between these, at equal ratios.
const LEAST: f64 = 0.45;
const MOST: f64 = 5.0;
const TRIED: usize = 49;
/// Rows that are looked at, at most: more would not move the factor.
const MOST_ROWS: usize = 20_000;

/// The factor among those tried with the smallest mean logarithmic score; 1 where no score is finite.
///
/// `mixtures`, `y` and `weights` have one entry for each row, and so have the lower and upper ends of `intervals`, if there are some:
/// where they differ it is the interval that is scored.
pub(super) fn best(mixtures: &Mixtures, y: &[f64], weights: &[f64], intervals: Option<(&[f64], &[f64])>) -> f64 {
    let factor = |number: usize| LEAST * libm::pow(MOST / LEAST, number as f64 / (TRIED - 1) as f64);
    let every = y.len().div_ceil(MOST_ROWS).max(1);
    let rows: Vec<usize> = (0..y.len()).step_by(every).collect();
    let score = |number: usize| {
        let factor = factor(number);
        let row_score = |&row: &usize| {
            let interval = intervals.map(|(lower, upper)| (lower[row], upper[row]));
            let score = match interval.filter(|(lower, upper)| lower < upper) {
                Some(interval) => scaled_interval_score(mixtures.row(row), interval, factor),
                None => scaled_score(mixtures.row(row), y[row], factor),
            };
            weights[row] * score
        };
        // In order, so that the sum does not depend on threads.
        rows.iter().map(row_score).sum::<f64>()
    };
    let scores: Vec<f64> = (0..TRIED).into_par_iter().map(score).collect();
    let finite = (0..TRIED).filter(|number| scores[*number].is_finite());
    let best = finite.min_by(|a, b| scores[*a].total_cmp(&scores[*b]));
    best.filter(|_| weights.iter().any(|weight| *weight > 0.0)).map_or(1.0, factor)
}

/// The factor of a pool's sds when `best` suits the out-of-fold predictions, each by `members` networks of its fold, and `own` the
/// rows of a fold where it has enough of them.
///
/// With M networks for each fold the pool of all gets best^(1 - 1/M): it knows more than M networks do, and needs less. With
/// M = 1 each network gets the square root of the factor that suits its own fold, or of that of all folds where a fold has few
/// rows. Of few rows altogether the pool knows little more than its members: it gets all of it, never less than 1, and what
/// the t distribution adds to so few.
///
/// The exponents are a rule of thumb: docs/derivations.md has what was measured, which is less.
pub(super) fn of_pool(rows: usize, members: usize, best: f64, own: Option<f64>) -> f64 {
    match members {
        _ if rows < few_rows::FEW => best.max(1.0) * few_rows::widening(rows),
        1 => own.unwrap_or(best).sqrt(),
        _ => libm::pow(best, 1.0 - 1.0 / members as f64),
    }
}

/// The logarithmic score of `y`, up to a constant, with all sds times `factor`. Components with an sd of 0 are atoms: a value at one says
/// nothing of sds, and to any other they are not there.
fn scaled_score(row: Mixture<'_>, y: f64, factor: f64) -> f64 {
    let mut atoms = row.means.iter().zip(row.sds).filter(|(_, sd)| **sd == 0.0);
    if atoms.any(|(place, _)| *place == y) {
        return 0.0;
    }
    let log_joint = |k: usize| {
        let sd = row.sds[k] * factor;
        let z = (y - row.means[k]) / sd;
        libm::log(row.weights[k]) - libm::log(sd) - 0.5 * z * z
    };
    let joints: Vec<f64> = (0..row.weights.len()).filter(|k| row.sds[*k] > 0.0).map(log_joint).collect();
    let largest = joints.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    -largest - libm::log(joints.iter().map(|joint| libm::exp(joint - largest)).sum())
}

/// The logarithmic score of an interval with all sds times `factor`.
fn scaled_interval_score(row: Mixture<'_>, (lower, upper): (f64, f64), factor: f64) -> f64 {
    let sds: Vec<f64> = row.sds.iter().map(|sd| sd * factor).collect();
    interval::value(Mixture { sds: &sds, ..row }, lower, upper)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::normal;
    use crate::math::rng::Rng;

    #[test]
    fn finds_how_much_too_narrow_predictions_are() {
        let mut rng = Rng::new(1, 0);
        let y: Vec<f64> = (0..4000).map(|_| normal::quantile(rng.uniform())).collect();
        for sd in [0.5, 1.0, 1.6] {
            let mixtures = Mixtures::new(1, vec![1.0; 4000], vec![0.0; 4000], vec![sd; 4000]).unwrap();
            let factor = best(&mixtures, &y, &vec![1.0; 4000], None);
            assert!((factor * sd - 1.0).abs() < 0.06, "{sd}: {factor}");
            // What is above 0.5 is known to be so, and the rest to a cell of 0.2.
            let lower: Vec<f64> = y.iter().map(|y| if *y > 0.5 { 0.5 } else { y - 0.1 }).collect();
            let upper: Vec<f64> = y.iter().map(|y| if *y > 0.5 { f64::INFINITY } else { y + 0.1 }).collect();
            let factor = best(&mixtures, &lower, &vec![1.0; 4000], Some((&lower, &upper)));
            assert!((factor * sd - 1.0).abs() < 0.08, "{sd}: {factor}");
        }
        // Half of the rows are at an atom.
        let at = |list: [f64; 2]| list.repeat(4000);
        let atoms = Mixtures::from_parts_unchecked(2, at([0.5, 0.5]), at([0.0, 9.0]), at([1.6, 0.0]));
        let y: Vec<f64> = y.into_iter().enumerate().map(|(row, y)| if row % 2 == 0 { 9.0 } else { y }).collect();
        let factor = best(&atoms, &y, &vec![1.0; 4000], None);
        assert!((factor * 1.6 - 1.0).abs() < 0.06, "{factor}");
        let mixtures = Mixtures::new(1, vec![1.0; 2], vec![0.0; 2], vec![1.0; 2]).unwrap();
        assert_eq!(best(&mixtures, &[0.0, 9.0], &[0.0, 0.0], None), 1.0);
        assert!(best(&mixtures, &[0.0, 9.0], &[1.0, 0.0], None) < 0.5);
    }
}
