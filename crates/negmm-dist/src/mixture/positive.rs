//! The components of a mixture that have a weight: in a row of a forest's mixture most have none.

use super::Mixture;

/// Fewer components than this are not worth a copy.
const FEW: usize = 8;

/// A copy of the components of positive weight.
pub(crate) struct PositiveWeights {
    weights: Vec<f64>,
    means: Vec<f64>,
    sds: Vec<f64>,
}

impl PositiveWeights {
    /// None if all have one, or the mixture is small. Every answer about the copy has the bits of that about the mixture, whose sums
    /// leave out the other components or add zeros for them.
    pub(crate) fn of(mixture: Mixture<'_>) -> Option<Self> {
        let positive = mixture.weights.iter().filter(|weight| **weight > 0.0).count();
        if mixture.weights.len() < FEW || positive == mixture.weights.len() || positive == 0 {
            return None;
        }
        let list = || Vec::with_capacity(positive);
        let mut copy = Self { weights: list(), means: list(), sds: list() };
        for (weight, mean, sd) in mixture.parts() {
            copy.weights.push(weight);
            copy.means.push(mean);
            copy.sds.push(sd);
        }
        Some(copy)
    }

    pub(crate) fn mixture(&self) -> Mixture<'_> {
        Mixture { weights: &self.weights, means: &self.means, sds: &self.sds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;
    use crate::math::rng::Rng;

    #[test]
    fn answers_have_the_bits_of_the_whole_mixture() {
        let mut rng = Rng::new(7, 0);
        for components in [8, 33, 120] {
            let mut list = |low: f64, high: f64| -> Vec<f64> {
                (0..components).map(|_| low + (high - low) * rng.uniform()).collect()
            };
            let (mut weights, means, mut sds) = (list(-1.0, 1.0), list(-3.0, 3.0), list(0.01, 2.0));
            sds[0] = 0.0;
            weights.iter_mut().for_each(|weight| *weight = weight.max(0.0));
            let total: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= total);
            let whole = Mixture { weights: &weights, means: &means, sds: &sds };
            let copy = PositiveWeights::of(whole).unwrap();
            let few = copy.mixture();
            assert!(few.weights.len() < components);
            let answers = |row: Mixture<'_>| {
                let at_values = [-2.0, 0.1, means[0], 5.0].map(|y| [row.crps(y), row.pit(y), row.log_likelihood(y)]);
                let quantiles =
                    [0.001, 0.3, 0.9].map(|level| [row.quantile(level), row.quantile_above(level), row.mean()]);
                (at_values, quantiles)
            };
            assert_eq!(answers(whole), answers(few));
        }
        let all = Mixture { weights: &[0.125; 8], means: &[0.0; 8], sds: &[1.0; 8] };
        assert!(PositiveWeights::of(all).is_none());
    }
}
