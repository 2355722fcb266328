//! Pools of truncated models.
//!
//! A target between bounds is predicted by mixtures that are truncated at them. A pool of truncated models, with weights
//! w and probabilities p between the bounds, has the density Σ w f / p there: it is the truncation of the mixture with
//! the weights w / p. So likelihoods given the bounds add up over models as densities do.

use negmm_dist::math::normal;
use negmm_dist::mixture::Mixtures;

/// The smallest probability between the bounds that a model is divided by.
const LEAST_INSIDE: f64 = 1e-9;

/// The mixtures whose truncation is the pool of the truncated models, which have `sizes` components each.
pub(super) fn pool_of_truncated(mixtures: Mixtures, sizes: &[usize], [lower, upper]: [f64; 2]) -> Mixtures {
    let mut weights = mixtures.weights().to_vec();
    for (row, weights) in mixtures.rows().zip(weights.chunks_exact_mut(mixtures.components())) {
        let below = |bound: f64, k: usize| match bound {
            _ if bound.is_infinite() => f64::from(bound > 0.0),
            _ => normal::cdf((bound - row.means[k]) / row.sds[k]),
        };
        let inside = |k: usize| match row.sds[k] {
            _ if row.weights[k] == 0.0 => 0.0,
            sd if sd > 0.0 => below(upper, k) - below(lower, k),
            _ => f64::from(lower <= row.means[k] && row.means[k] <= upper),
        };
        let mut first = 0;
        for size in sizes {
            let model = first..first + size;
            let total: f64 = row.weights[model.clone()].iter().sum();
            let inside: f64 = model.clone().map(|k| row.weights[k] * inside(k)).sum();
            if total > 0.0 {
                let factor = total / inside.max(LEAST_INSIDE * total);
                weights[model].iter_mut().for_each(|weight| *weight *= factor);
            }
            first += size;
        }
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
    }
    Mixtures::from_parts_unchecked(mixtures.components(), weights, mixtures.means().to_vec(), mixtures.sds().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::Distribution;

    #[test]
    fn its_truncation_is_the_pool_of_the_truncated_models() {
        // Two models: one far beyond the bound, one inside with an atom at the bound.
        let mixtures = Mixtures::from_parts_unchecked(
            4,
            vec![0.2, 0.1, 0.5, 0.2],
            vec![-2.0, -1.0, 1.0, 0.0],
            vec![1.0, 0.5, 0.7, 0.0],
        );
        let pool = pool_of_truncated(mixtures.clone(), &[2, 2], [0.0, f64::INFINITY]);
        assert!((pool.weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let density = |mixture: negmm_dist::Mixture<'_>, y: f64| {
            let inside = 1.0
                - mixture.weights.iter().enumerate().fold(0.0, |below, (k, weight)| {
                    let sd = mixture.sds[k];
                    below + if sd > 0.0 { weight * normal::cdf(-mixture.means[k] / sd) } else { 0.0 }
                });
            mixture.pdf(y) / inside
        };
        let row = mixtures.row(0);
        let model = |range: std::ops::Range<usize>, weight: f64| {
            let weights: Vec<f64> = row.weights[range.clone()].iter().map(|own| own / weight).collect();
            Mixtures::from_parts_unchecked(2, weights, row.means[range.clone()].to_vec(), row.sds[range].to_vec())
        };
        let (first, second) = (model(0..2, 0.3), model(2..4, 0.7));
        for y in [0.1, 0.8, 2.5] {
            let expected = 0.3 * density(first.row(0), y) + 0.7 * density(second.row(0), y);
            assert!((density(pool.row(0), y) - expected).abs() < 1e-9, "{y}");
        }
    }

    #[test]
    fn a_model_without_probability_inside_does_not_count() {
        let mixtures = Mixtures::new(2, vec![0.5; 2], vec![-90.0, 1.0], vec![1.0; 2]).unwrap();
        let pool = pool_of_truncated(mixtures, &[1, 1], [0.0, 5.0]);
        assert!(pool.weights().iter().all(|weight| weight.is_finite()));
        // Its weight is large, and none of it is between the bounds.
        assert!(pool.row(0).cdf(5.0) - pool.row(0).cdf(0.0) > 0.0);
    }
}
