//! Sigma scale: the common factor of all sds that maximises the likelihood of held-out rows. A few far rows do not decide: they are
//! left to the tails.

use rayon::prelude::*;

use super::folds::HeldOutRows;
use super::tails::RobustScore;
use negmm_dist::mixture::{Mixture, Mixtures};
use negmm_dist::score::interval;

/// Range of the candidate factors, which are geometrically spaced.
const LEAST: f64 = 0.45;
const MOST: f64 = 5.0;
const TRIED: usize = 49;
/// The candidate that is nearest to 1, where a search begins.
const NEAR_ONE: usize = 16;
/// Maximum number of rows used: more would not change the factor.
const MOST_ROWS: usize = 5_000;

/// The factors with the best scores.
#[derive(Clone)]
pub(super) struct SigmaScales {
    /// By all rows; 1 where no score is finite.
    pub(super) of_all: f64,
    /// For each fold, by the rows that may choose something for it.
    pub(super) of_folds: Vec<f64>,
}

impl SigmaScales {
    /// From predictions of held-out rows.
    pub(super) fn of(mixtures: &Mixtures, held_out: &HeldOutRows) -> Self {
        let mut candidates = Candidates::of(mixtures, held_out);
        let folds = candidates.folds as u32;
        let of_folds = (0..folds).map(|fold| candidates.best(|other| held_out.informs(other, fold))).collect();
        Self { of_all: candidates.best(|_| true), of_folds }
    }

    /// The factor by all rows alone.
    pub(super) fn of_all(mixtures: &Mixtures, held_out: &HeldOutRows) -> f64 {
        Candidates::of(mixtures, held_out).best(|_| true)
    }
}

/// The sums of the logarithmic scores of each fold's rows, for the candidates that a search has asked for.
struct Candidates<'a> {
    held_out: &'a HeldOutRows,
    folds: usize,
    /// The rows that are scored: of positive weight.
    rows: Vec<ScoredRow<'a>>,
    sums: Vec<Option<Vec<f64>>>,
}

/// A row that is scored with many factors.
struct ScoredRow<'a> {
    row: usize,
    score: RobustScore<'a>,
}

impl<'a> Candidates<'a> {
    fn of(mixtures: &'a Mixtures, held_out: &'a HeldOutRows) -> Self {
        let every = held_out.rows.len().div_ceil(MOST_ROWS).max(1);
        let folds = held_out.folds.iter().max().map_or(0, |last| *last as usize + 1);
        let counts = |row: &usize| held_out.weights[*row] > 0.0;
        let rows = (0..held_out.rows.len()).step_by(every).filter(counts);
        let scored = |row: usize| ScoredRow { row, score: RobustScore::of(held_out, mixtures, row) };
        Self { held_out, folds, rows: rows.map(scored).collect(), sums: vec![None; TRIED] }
    }

    /// The factor with the smallest sum over some folds; 1 where none is finite. Descends in steps that become smaller: as
    /// a function of the logarithm of the factor the sum has one minimum.
    fn best(&mut self, counts: impl Fn(u32) -> bool) -> f64 {
        if !self.rows.iter().any(|scored| counts(self.held_out.folds[scored.row])) {
            return 1.0;
        }
        let mut best = (self.sum(NEAR_ONE, &counts), NEAR_ONE);
        for step in [8, 4, 2, 1] {
            for next in [usize::checked_add as fn(usize, usize) -> Option<usize>, usize::checked_sub] {
                while let Some(at) = next(best.1, step).filter(|at| *at < TRIED) {
                    let sum = self.sum(at, &counts);
                    if sum.total_cmp(&best.0).is_ge() {
                        break;
                    }
                    best = (sum, at);
                }
            }
        }
        if best.0.is_finite() { factor(best.1) } else { 1.0 }
    }

    /// The sum of a candidate over some folds; infinite where it is not finite.
    fn sum(&mut self, at: usize, counts: impl Fn(u32) -> bool) -> f64 {
        let of_folds = self.sums[at].get_or_insert_with(|| {
            let score = |scored: &ScoredRow<'_>| {
                self.held_out.weights[scored.row] * scored.score.value(self.held_out, factor(at))
            };
            let scores: Vec<f64> = self.rows.par_iter().map(score).collect();
            // In order, so that the sums do not depend on the number of threads.
            let mut sums = vec![0.0; self.folds];
            for (scored, score) in self.rows.iter().zip(scores) {
                sums[self.held_out.folds[scored.row] as usize] += score;
            }
            sums
        });
        let sum: f64 = (0..).zip(&*of_folds).filter(|(fold, _)| counts(*fold)).map(|(_, sum)| sum).sum();
        if sum.is_finite() { sum } else { f64::INFINITY }
    }
}

fn factor(number: usize) -> f64 {
    LEAST * libm::pow(MOST / LEAST, number as f64 / (TRIED - 1) as f64)
}

/// The logarithmic score of a row, up to a constant, with all sds times `factor`: of the target's interval, of the
/// probability of its atom, or of the density.
pub(super) fn score(held_out: &HeldOutRows, mixtures: &Mixtures, row: usize, factor: f64) -> f64 {
    score_of_row(held_out, mixtures.row(row), row, factor)
}

/// The same for one mixture.
pub(super) fn score_of_row(held_out: &HeldOutRows, mixture: Mixture<'_>, row: usize, factor: f64) -> f64 {
    let of_interval = |lower: f64, upper: f64| {
        let sds: Vec<f64> = mixture.sds.iter().map(|sd| sd * factor).collect();
        interval::value(Mixture { sds: &sds, ..mixture }, lower, upper)
    };
    // Conditional on the bounds of the target.
    let outside = held_out.bounds.map_or(0.0, |[lower, upper]| of_interval(lower, upper));
    if let Some((lower, upper)) = held_out.interval(row) {
        return of_interval(lower, upper) - outside;
    }
    let y = held_out.y[row];
    let at_y = (0..mixture.sds.len()).filter(|k| mixture.sds[*k] == 0.0 && mixture.means[*k] == y);
    let mass: f64 = at_y.map(|k| mixture.weights[k]).sum();
    let score = if mass > 0.0 { -libm::log(mass) } else { density_score(mixture, y, factor) };
    score - outside
}

fn density_score(row: Mixture<'_>, y: f64, factor: f64) -> f64 {
    LogDensity::of(row, y).score(factor)
}

/// The logarithm of a mixture's density at a target, up to a constant, for any common factor of the sds.
pub(super) struct LogDensity {
    /// Of each component ln(weight / sd) and half the squared distance in sds.
    components: Vec<(f64, f64)>,
}

/// Components whose density is smaller than the largest by this exponent do not change the sum.
const NEGLIGIBLE: f64 = -40.0;

impl LogDensity {
    pub(super) fn of(row: Mixture<'_>, y: f64) -> Self {
        let component = |k: usize| {
            let z = (y - row.means[k]) / row.sds[k];
            (libm::log(row.weights[k] / row.sds[k]), 0.5 * z * z)
        };
        let has_density = |k: &usize| row.sds[*k] > 0.0 && row.weights[*k] > 0.0;
        Self { components: (0..row.weights.len()).filter(has_density).map(component).collect() }
    }

    /// The logarithmic score with all sds times `factor`.
    pub(super) fn score(&self, factor: f64) -> f64 {
        let square = 1.0 / (factor * factor);
        let joint = |(log, distance): &(f64, f64)| log - distance * square;
        let largest = self.components.iter().map(joint).fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            return f64::INFINITY;
        }
        let terms = self.components.iter().map(|component| joint(component) - largest);
        let sum: f64 = terms.filter(|term| *term > NEGLIGIBLE).map(libm::exp).sum();
        libm::log(factor) - largest - libm::log(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::math::normal;
    use negmm_dist::math::rng::Rng;

    fn held_out(y: Vec<f64>, weights: Vec<f64>) -> HeldOutRows {
        let rows = y.len() as u32;
        let folds = (0..rows).map(|row| 2 * row / rows).collect();
        let censored = vec![false; y.len()];
        HeldOutRows {
            rows: (0..rows).collect(),
            folds,
            y,
            weights,
            intervals: None,
            bounds: None,
            censored,
            in_time_order: false,
        }
    }

    #[test]
    fn finds_how_much_too_narrow_predictions_are() {
        let mut rng = Rng::new(1, 0);
        let y: Vec<f64> =
            (0..4000).map(|row| normal::quantile(rng.uniform()) * if row < 2000 { 1.0 } else { 2.0 }).collect();
        let held_out = held_out(y, vec![1.0; 4000]);
        for sd in [0.5, 1.0, 1.6] {
            let mixtures = Mixtures::new(1, vec![1.0; 4000], vec![0.0; 4000], vec![sd; 4000]).unwrap();
            let scales = SigmaScales::of(&mixtures, &held_out);
            let near = |factor: f64, expected: f64| (factor * sd / expected - 1.0).abs() < 0.08;
            // Half of the rows are twice as far: the farthest of them are left to the tails.
            let both = scales.of_all * sd / 2.5f64.sqrt();
            assert!((0.75..1.06).contains(&both), "{sd} {both}");
            assert!(near(scales.of_folds[0], 2.0) && near(scales.of_folds[1], 1.0), "{sd}");
            // Targets above 0.5 are censored, the others rounded to cells of 0.2.
            let lower: Vec<f64> = held_out.y.iter().map(|y| if *y > 0.5 { 0.5 } else { y - 0.1 }).collect();
            let upper: Vec<f64> = held_out.y.iter().map(|y| if *y > 0.5 { f64::INFINITY } else { y + 0.1 }).collect();
            let cut = HeldOutRows { intervals: Some((lower, upper)), ..held_out.clone() };
            assert!((SigmaScales::of(&mixtures, &cut).of_folds[1] * sd - 1.0).abs() < 0.08, "{sd}");
        }
    }

    #[test]
    fn rows_at_an_atom_do_not_depend_on_the_scale() {
        let mixtures =
            Mixtures::from_parts_unchecked(2, vec![0.5; 4], vec![0.0, 7.0, 0.0, 7.0], vec![1.0, 0.0, 1.0, 0.0]);
        let held_out = held_out(vec![7.0, 0.3], vec![1.0; 2]);
        assert_eq!(score(&held_out, &mixtures, 0, 3.0), libm::log(2.0));
        assert!((score(&held_out, &mixtures, 1, 1.0) - libm::log(2.0) - 0.045).abs() < 1e-12);
    }

    #[test]
    fn rows_of_weight_zero_are_ignored() {
        let mixtures = Mixtures::new(1, vec![1.0; 2], vec![0.0; 2], vec![1.0; 2]).unwrap();
        assert_eq!(SigmaScales::of_all(&mixtures, &held_out(vec![0.0, 9.0], vec![0.0, 0.0])), 1.0);
        assert!(SigmaScales::of_all(&mixtures, &held_out(vec![0.0, 9.0], vec![1.0, 0.0])) < 0.5);
    }
}
