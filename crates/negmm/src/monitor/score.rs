//! Normal scores: standard normal quantiles of PIT values.

use negmm_dist::Distribution;
use negmm_dist::math::normal;
use negmm_dist::math::rng::Rng;
use negmm_dist::streams;
use negmm_dist::{DistributionKind, DistributionRef};

/// Smallest probability with a normal score in double precision.
const LEAST: f64 = f64::MIN_POSITIVE;

/// The normal score of `y`: the standard normal quantile of its PIT value, computed from the smaller tail, so that it
/// is accurate far out as well as in the middle. Where `y` has a point probability (on a grid, at an atom, among
/// samples), the PIT is randomised by the seed and the row number. The normal scores of calibrated predictions are
/// thus standard normal for any target.
pub(crate) fn normal_score(row: DistributionRef<'_>, y: f64, seed: u64, number: u64) -> f64 {
    let (below, own, above) = parts(row, y);
    let uniform = if own > 0.0 { Rng::new(seed, streams::JUMPS.wrapping_add(number)).uniform() } else { 0.0 };
    let (below, above) = (below + uniform * own, above + (1.0 - uniform) * own);
    let of = |probability: f64| normal::quantile(probability.clamp(LEAST, 0.5));
    if below < above { of(below) } else { -of(above) }
}

/// Probabilities of smaller, equal and larger values. A target exchangeable with M samples has M + 1 equally likely
/// ranks.
fn parts(row: DistributionRef<'_>, y: f64) -> (f64, f64, f64) {
    match row.kind {
        DistributionKind::Samples(samples) => {
            let y = row.support.nearest(y);
            let below = samples.values.partition_point(|value| *value < y);
            let equal = samples.values.partition_point(|value| *value <= y) - below;
            let (count, ranks) = (samples.values.len(), samples.values.len() as f64 + 1.0);
            (below as f64 / ranks, (equal + 1) as f64 / ranks, (count - below - equal) as f64 / ranks)
        }
        _ => {
            let own = row.point_probability(y);
            ((row.cdf(y) - own).max(0.0), own, row.survival(y))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::samples::SampleSets;
    use negmm_dist::{Mixtures, Predictions, Support};

    #[test]
    fn the_score_of_a_normal_prediction_is_its_distance_in_sds() {
        let predictions = Predictions::from(Mixtures::new(1, vec![1.0], vec![3.0], vec![2.0]).unwrap());
        for sds in [-30.0, -2.0, 0.0, 1.5, 9.0, 30.0] {
            let score = normal_score(predictions.row(0), 3.0 + 2.0 * sds, 0, 0);
            assert!((score - sds).abs() < 1e-9 * (1.0 + sds.abs()), "{sds} {score}");
        }
        let far = normal_score(predictions.row(0), 1e9, 0, 0);
        assert!(far > 37.0 && far.is_finite());
    }

    #[test]
    fn scores_of_jumps_are_standard_normal() {
        let rows = 4000;
        let mixtures =
            || Mixtures::new(2, [0.3, 0.7].repeat(rows), [0.0, 2.0].repeat(rows), [0.0, 1.5].repeat(rows)).unwrap();
        let counts = Support { lower: Some(0.0), step: Some(1.0), ..Support::default() };
        let atoms = Predictions::from(mixtures());
        let grid = Predictions::from(mixtures()).with_support(counts).unwrap();
        let samples =
            Predictions::from(SampleSets::new(20, Predictions::from(mixtures()).sample(20, 5, 0), 0.1).unwrap());
        let y = [atoms.sample(1, 1, 0), grid.sample(1, 1, 0), atoms.sample(1, 2, 0)];
        for (predictions, y) in [atoms, grid, samples].iter().zip(y) {
            let mut scores: Vec<f64> =
                y.iter().enumerate().map(|(row, y)| normal_score(predictions.row(row), *y, 7, row as u64)).collect();
            scores.sort_unstable_by(f64::total_cmp);
            let fraction = |at: usize| at as f64 / rows as f64;
            let distance = scores.iter().enumerate().map(|(at, score)| (normal::cdf(*score) - fraction(at)).abs());
            assert!(distance.fold(0.0, f64::max) < 1.95 / (rows as f64).sqrt());
        }
    }
}
