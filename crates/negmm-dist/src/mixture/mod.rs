//! Gaussian mixtures: moments, density, distribution function, probability near a value, quantiles, tail means, draws and the
//! energy score.
//!
//! A mixture of K components has the density p(y) = sum_k weight_k N(y; mean_k, sd_k^2); a component whose sd is 0 is an atom,
//! which has all its weight at its mean. Everything here is a closed-form expression or its inversion, in f64, with the same bits on
//! every machine.

mod abreast;
mod atoms;
mod density_levels;
mod density_ranking;
mod distribution;
mod energy;
mod euler_maclaurin;
mod excess;
mod folded;
mod mass;
mod moments;
mod mostly_inside;
mod panels;
mod pooling;
mod positive;
mod quantile;
mod rounded;
pub(crate) mod shape;
mod tail;
mod truncated;
mod truncated_component;

use crate::math::normal;
use crate::{Error, Result};

pub(crate) use density_levels::DensityLevels;
pub(crate) use density_ranking::DensityRanking;
pub(crate) use energy::{folded_mean, mean_absolute_difference, root_sum_square};
pub(crate) use mass::log_mass;
pub(crate) use positive::PositiveWeights;
pub use quantile::{QuantileLevel, TailQuantile};
pub(crate) use rounded::RoundedMixture;
pub(crate) use truncated::TruncatedMixture;

/// Some rows, in this order, of a list with `each` numbers per row.
pub(crate) fn rows_of(list: &[f64], each: usize, rows: &[usize]) -> Vec<f64> {
    rows.iter().flat_map(|row| &list[row * each..][..each]).copied().collect()
}

/// Gaussian mixtures, one for each row, all with the same number of components.
///
/// Weights, means and sds are rows × components, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixtures {
    components: usize,
    weights: Vec<f64>,
    means: Vec<f64>,
    sds: Vec<f64>,
}

impl Mixtures {
    /// Checks the numbers and divides the weights of each row by their sum. Weights that sum to 1 up to rounding are not
    /// changed, so that mixtures taken apart and put together again are the same.
    ///
    /// `weights`, `means` and `sds` are rows × `components`: all finite, weights not negative and not all zero in a row,
    /// sds not negative; an sd of 0 is an atom.
    ///
    /// # Errors
    /// When a shape or a number is not as described; the message names the row and the component.
    pub fn new(components: usize, mut weights: Vec<f64>, means: Vec<f64>, sds: Vec<f64>) -> Result<Self> {
        if components == 0 {
            return Err(Error::data("a mixture has at least 1 component, found 0"));
        }
        if weights.len() != means.len() || means.len() != sds.len() || !weights.len().is_multiple_of(components) {
            return Err(Error::data(format!(
                "expected as many weights, means and sds, a multiple of {components} components; found {}, {} and {}",
                weights.len(),
                means.len(),
                sds.len()
            )));
        }
        check("weight", "finite and not negative", &weights, components, |w| w.is_finite() && w >= 0.0)?;
        check("mean", "finite", &means, components, f64::is_finite)?;
        check("sd", "finite and not negative", &sds, components, |sd| sd.is_finite() && sd >= 0.0)?;
        for (row, weights) in weights.chunks_exact_mut(components).enumerate() {
            let sum: f64 = weights.iter().sum();
            if !(sum > 0.0 && sum.is_finite()) {
                return Err(Error::data(format!("expected weights with a positive finite sum, found {sum}"))
                    .at(format!("mixture {row}")));
            }
            if (sum - 1.0).abs() > components as f64 * f64::EPSILON {
                weights.iter_mut().for_each(|weight| *weight /= sum);
            }
        }
        Ok(Self::from_parts_unchecked(components, weights, means, sds))
    }

    /// Mixtures whose numbers are known to satisfy [`Mixtures::new`], with weights that sum to 1 in f64.
    pub fn from_parts_unchecked(components: usize, weights: Vec<f64>, means: Vec<f64>, sds: Vec<f64>) -> Self {
        /// More than the rounding error of a sum in any order.
        const SUM_TOLERANCE: f64 = 1e-9;
        debug_assert!(components > 0 && weights.len().is_multiple_of(components));
        debug_assert!(weights.len() == means.len() && means.len() == sds.len());
        debug_assert!(weights.iter().all(|&weight| weight >= 0.0));
        debug_assert!(weights.chunks_exact(components).all(|w| (w.iter().sum::<f64>() - 1.0).abs() < SUM_TOLERANCE));
        debug_assert!(means.iter().all(|mean| mean.is_finite()));
        debug_assert!(sds.iter().all(|&sd| sd >= 0.0 && sd.is_finite()));
        Self { components, weights, means, sds }
    }

    /// Adds a variance to each component of these rows; atoms stay atoms.
    pub(crate) fn widen(&mut self, variances: impl Iterator<Item = (usize, f64)>) {
        for (row, variance) in variances {
            let sds = &mut self.sds[row * self.components..][..self.components];
            sds.iter_mut().filter(|sd| **sd > 0.0).for_each(|sd| *sd = (*sd * *sd + variance).sqrt());
        }
    }

    /// Adds mixtures with as many components; whether they have as many.
    pub(crate) fn append(&mut self, more: &Self) -> bool {
        if self.components != more.components {
            return false;
        }
        self.weights.extend_from_slice(&more.weights);
        self.means.extend_from_slice(&more.means);
        self.sds.extend_from_slice(&more.sds);
        true
    }

    /// Rows: how many mixtures there are.
    pub fn len(&self) -> usize {
        self.weights.len() / self.components
    }

    /// Whether there is no mixture.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Components in each mixture.
    pub fn components(&self) -> usize {
        self.components
    }

    /// Weights, rows × components; those of a row sum to 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Means, rows × components.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// Standard deviations, rows × components.
    pub fn sds(&self) -> &[f64] {
        &self.sds
    }

    /// The mixture of one row.
    ///
    /// # Panics
    /// When there is no row `row`.
    #[inline]
    pub fn row(&self, row: usize) -> Mixture<'_> {
        let range = row * self.components..(row + 1) * self.components;
        Mixture { weights: &self.weights[range.clone()], means: &self.means[range.clone()], sds: &self.sds[range] }
    }

    /// The mixtures, one after the other.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Mixture<'_>> {
        (0..self.len()).map(|row| self.row(row))
    }

    /// The distributions of `y * scale + shift`, for a positive `scale`: from a standardised target back to its own unit.
    #[must_use]
    pub fn rescale(mut self, shift: f64, scale: f64) -> Self {
        debug_assert!(scale > 0.0 && scale.is_finite() && shift.is_finite());
        self.means.iter_mut().for_each(|mean| *mean = *mean * scale + shift);
        // A narrow component in a tiny unit must not become an atom.
        self.sds.iter_mut().filter(|sd| **sd > 0.0).for_each(|sd| *sd = (*sd * scale).max(f64::MIN_POSITIVE));
        self
    }
}

/// Refuses the first number that is not valid.
fn check(name: &str, expected: &str, values: &[f64], components: usize, valid: impl Fn(f64) -> bool) -> Result<()> {
    match values.iter().position(|&value| !valid(value)) {
        None => Ok(()),
        Some(at) => Err(Error::data(format!("expected a {name} that is {expected}, found {}", values[at]))
            .at(format!("mixture {}, component {}", at / components, at % components))),
    }
}

/// One Gaussian mixture: a row of [`Mixtures`].
///
/// The slices have the same length, weights are not negative and sum to 1, sds are not negative. This is not checked again.
#[derive(Clone, Copy, Debug)]
pub struct Mixture<'a> {
    /// Weight of each component.
    pub weights: &'a [f64],
    /// Mean of each component.
    pub means: &'a [f64],
    /// Standard deviation of each component; 0 for an atom.
    pub sds: &'a [f64],
}

impl Mixture<'_> {
    /// (weight, mean, sd) of the components of positive weight: 0 times an overflow would not be 0.
    #[inline]
    pub(crate) fn parts(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let parts = self.weights.iter().zip(self.means).zip(self.sds);
        parts.map(|((&weight, &mean), &sd)| (weight, mean, sd)).filter(|&(weight, _, _)| weight > 0.0)
    }

    /// What component `k` adds to the density; 0 for an atom.
    ///
    /// # Panics
    /// When there is no such component.
    pub fn component_pdf(&self, k: usize, y: f64) -> f64 {
        let sd = self.sds[k];
        if sd > 0.0 { self.weights[k] * normal::pdf((y - self.means[k]) / sd) / sd } else { 0.0 }
    }
}

/// P(Y_k <= y) of one component.
#[inline]
fn component_cdf(y: f64, mean: f64, sd: f64) -> f64 {
    if sd > 0.0 { normal::cdf((y - mean) / sd) } else { f64::from(mean <= y) }
}

/// P(Y_k > y) of one component.
#[inline]
fn component_survival(y: f64, mean: f64, sd: f64) -> f64 {
    if sd > 0.0 { normal::cdf((mean - y) / sd) } else { f64::from(mean > y) }
}

/// log sum_k exp(t_k), computed as the largest t and the sum of exp(t_k - largest).
pub fn log_sum_exp(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut largest, mut sum) = (f64::NEG_INFINITY, 0.0);
    for term in terms {
        if term > largest {
            sum = sum * libm::exp(largest - term) + 1.0;
            largest = term;
        } else if term > f64::NEG_INFINITY {
            sum += libm::exp(term - largest);
        }
    }
    largest + libm::log(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;
    use crate::ErrorKind;
    use crate::Rng;

    fn two() -> Mixtures {
        Mixtures::new(2, vec![1.0, 3.0, 0.0, 2.0], vec![0.0, 4.0, 1e300, -1.0], vec![1.0, 2.0, 1e300, 0.5]).unwrap()
    }

    #[test]
    fn new_normalises_each_row() {
        assert_eq!(two().weights(), [0.25, 0.75, 0.0, 1.0]);
        assert_eq!((two().len(), two().components()), (2, 2));
    }

    #[test]
    fn taken_apart_and_put_together_it_is_the_same() {
        let mixtures = Mixtures::new(3, vec![0.1, 0.7, 3.0, 0.3, 0.3, 0.3], vec![1.0; 6], vec![1.0; 6]).unwrap();
        let parts = (mixtures.weights().to_vec(), mixtures.means().to_vec(), mixtures.sds().to_vec());
        assert_eq!(Mixtures::new(3, parts.0, parts.1, parts.2).unwrap(), mixtures);
    }

    #[test]
    fn new_refuses_what_is_not_a_mixture() {
        let bad = |components, weights: &[f64], means: &[f64], sds: &[f64]| {
            let error = Mixtures::new(components, weights.to_vec(), means.to_vec(), sds.to_vec()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Data);
            error.to_string()
        };
        bad(0, &[], &[], &[]);
        bad(2, &[1.0], &[1.0], &[1.0]);
        bad(1, &[1.0], &[1.0, 2.0], &[1.0]);
        bad(1, &[1.0], &[f64::INFINITY], &[1.0]);
        bad(1, &[-1.0], &[0.0], &[1.0]);
        bad(1, &[1.0], &[0.0], &[-1.0]);
        assert!(bad(1, &[1.0, 0.0], &[0.0; 2], &[1.0; 2]).contains("mixture 1"));
        let message = bad(2, &[1.0; 4], &[0.0; 4], &[1.0, 1.0, 1.0, f64::NAN]);
        assert_eq!(message, "mixture 1, component 1: expected a sd that is finite and not negative, found NaN");
    }

    #[test]
    fn moments_by_hand() {
        let mixtures = two();
        let row = mixtures.row(0);
        assert_eq!(row.mean(), 3.0);
        assert_eq!(row.variance_within(), 0.25 + 0.75 * 4.0);
        assert_eq!(row.variance_between(), 0.25 * 9.0 + 0.75);
        assert_eq!(row.sd() * row.sd(), row.variance());
    }

    #[test]
    fn components_of_weight_0_are_ignored() {
        let mixtures = two();
        let row = mixtures.row(1);
        assert_eq!((row.mean(), row.sd()), (-1.0, 0.5));
        assert_eq!(row.pdf(-1.0), normal::pdf(0.0) / 0.5);
        assert_eq!(row.quantile(0.5), -1.0);
        assert!((row.crps(-1.0) - 0.5 * CRPS_AT_MEAN).abs() < 1e-15);
    }

    /// CRPS of a standard normal at its mean: (sqrt 2 - 1) / sqrt pi.
    const CRPS_AT_MEAN: f64 = 0.233_694_977_255_109_1;

    #[test]
    fn equal_means_have_no_variance_between_however_large() {
        let mixtures = Mixtures::new(3, vec![0.1, 0.3, 0.7], vec![1e15; 3], vec![1e-3; 3]).unwrap();
        assert_eq!(mixtures.row(0).mean(), 1e15);
        assert_eq!(mixtures.row(0).variance_between(), 0.0);
    }

    #[test]
    fn rescale_moves_means_and_stretches_sds() {
        let mixtures = two().rescale(10.0, 0.5);
        assert_eq!(mixtures.means()[..2], [10.0, 12.0]);
        assert_eq!(mixtures.sds()[..2], [0.5, 1.0]);
        let tiny = Mixtures::new(1, vec![1.0], vec![0.0], vec![1e-200]).unwrap().rescale(0.0, 1e-200);
        assert!(tiny.sds()[0] > 0.0);
    }

    #[test]
    fn log_pdf_far_away_is_finite() {
        let mixtures = Mixtures::new(2, vec![0.5, 0.5], vec![0.0, 1.0], vec![1.0, 1.0]).unwrap();
        let row = mixtures.row(0);
        let expected = -0.5 * 1e300;
        assert!((row.log_pdf(1e150) - expected).abs() < 1e-12 * expected.abs());
        assert_eq!(row.log_pdf(1e200), f64::NEG_INFINITY);
        assert!((libm::exp(row.log_pdf(0.3)) - row.pdf(0.3)).abs() < 1e-15);
    }

    #[test]
    fn samples_follow_the_distribution() {
        let mixtures = two();
        let row = mixtures.row(0);
        let mut rng = Rng::new(5, 0);
        let mut draws: Vec<f64> = (0..20_000).map(|_| row.sample(&mut rng)).collect();
        draws.sort_by(f64::total_cmp);
        let distance = draws.iter().enumerate().map(|(rank, &y)| (row.cdf(y) - rank as f64 / 20_000.0).abs());
        // Kolmogorov's distance; it exceeds 1.95 / sqrt(n) with probability 0.001.
        assert!(distance.fold(0.0, f64::max) < 1.95 / 20_000f64.sqrt());
    }
}
