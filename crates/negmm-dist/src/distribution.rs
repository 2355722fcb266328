//! The interface of a predictive distribution: one trait for mixtures, truncated and rounded mixtures, and samples.

use crate::highest_density::HighestDensityRegion;
use crate::interval::Interval;
use crate::math::rng::Rng;

/// The distribution of a real variable Y.
///
/// ```
/// use negmm_dist::{Distribution, Mixtures};
///
/// let mixtures = Mixtures::new(2, vec![0.5, 0.5], vec![-3.0, 3.0], vec![1.0, 1.0])?;
/// let two_peaks = mixtures.row(0);
/// assert_eq!(two_peaks.mean(), 0.0);
/// assert!((two_peaks.cdf(two_peaks.quantile(0.9)) - 0.9).abs() < 1e-14);
/// assert!(two_peaks.log_score(3.0) < two_peaks.log_score(0.0));
/// assert_eq!(two_peaks.hdr(0.5).intervals().len(), 2);
/// # Ok::<(), negmm_dist::Error>(())
/// ```
pub trait Distribution {
    /// E Y.
    fn mean(&self) -> f64;

    /// E (Y - E Y)².
    fn variance(&self) -> f64;

    /// Standard deviation, the root of the variance.
    fn sd(&self) -> f64 {
        self.variance().sqrt()
    }

    /// Mean and standard deviation.
    fn mean_and_sd(&self) -> (f64, f64) {
        (self.mean(), self.sd())
    }

    /// The part of the variance within the components; all of it if there are none.
    fn variance_within(&self) -> f64 {
        self.variance()
    }

    /// The part of the variance between the components.
    fn variance_between(&self) -> f64 {
        0.0
    }

    /// Cumulative distribution function, P(Y <= y).
    fn cdf(&self, y: f64) -> f64;

    /// Survival function, P(Y > y), without the cancellation of 1 - cdf.
    fn survival(&self, y: f64) -> f64;

    /// Point probability, P(Y = y): positive on a grid, at an atom and at a sample.
    fn point_probability(&self, y: f64) -> f64;

    /// P(Y < y), strictly: with [`Distribution::point_probability`] and [`Distribution::survival`] it sums to 1.
    fn below(&self, y: f64) -> f64 {
        // A difference from the cdf at `y` would cancel.
        if self.point_probability(y) == 0.0 { self.cdf(y) } else { self.cdf(y.next_down()) }
    }

    /// Density at `y` of all but the atoms.
    fn pdf(&self, y: f64) -> f64;

    /// Logarithm of that density.
    fn log_pdf(&self, y: f64) -> f64;

    /// Logarithm of the likelihood of `y`: of its point probability if that is positive, else of its density.
    fn log_likelihood(&self, y: f64) -> f64 {
        let point = self.point_probability(y);
        if point > 0.0 { libm::log(point) } else { self.log_pdf(y) }
    }

    /// Logarithmic score, -log likelihood of `y`; smaller is better.
    fn log_score(&self, y: f64) -> f64 {
        -self.log_likelihood(y)
    }

    /// Logarithm of P(low < Y <= high); both ends may be infinite.
    fn log_between(&self, low: f64, high: f64) -> f64;

    /// Logarithm of the probability within `step` / 2 of `y`.
    fn log_mass(&self, y: f64, step: f64) -> f64 {
        self.log_between(y - 0.5 * step, y + 0.5 * step)
    }

    /// Quantile: the value that Y stays below with probability `level`; on a grid the smallest value v with P(Y <= v) >= `level`.
    fn quantile(&self, level: f64) -> f64;

    /// Upper quantile: the value that Y exceeds with probability `level`; exact for small levels too.
    fn quantile_above(&self, level: f64) -> f64;

    /// The central interval with that coverage: as much probability lies below it as above; on a grid at least the coverage.
    fn interval(&self, coverage: f64) -> Interval {
        let outside = 0.5 * (1.0 - coverage);
        Interval { lower: self.quantile(outside), upper: self.quantile_above(outside) }
    }

    /// The highest-density region with that coverage: the smallest set of values that has it. On a grid and with atoms at least
    /// the coverage.
    fn hdr(&self, coverage: f64) -> HighestDensityRegion;

    /// Lower expected shortfall: the mean of the lowest `level` of the distribution.
    fn shortfall_below(&self, level: f64) -> f64;

    /// Upper expected shortfall: the mean of the highest `level` of the distribution.
    fn shortfall_above(&self, level: f64) -> f64;

    /// Continuous ranked probability score of the observation `y`, E|Y - y| - E|Y - Y'| / 2: the energy score in one dimension.
    /// Never negative; smaller is better.
    fn crps(&self, y: f64) -> f64;

    /// Probability integral transform of `y`: P(Y < y) + P(Y = y) / 2, uniform if predictions are calibrated.
    fn pit(&self, y: f64) -> f64 {
        let point = self.point_probability(y);
        if point > 0.0 { (self.cdf(y) - 0.5 * point).max(0.0) } else { self.cdf(y) }
    }

    /// A random draw.
    fn sample(&self, rng: &mut Rng) -> f64;

    /// Random draws, one for each element.
    fn fill(&self, draws: &mut [f64], rng: &mut Rng) {
        draws.iter_mut().for_each(|draw| *draw = self.sample(rng));
    }
}
