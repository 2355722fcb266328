//! One set of samples as a distribution.

use crate::distribution::Distribution;
use crate::highest_density::HighestDensityRegion;
use crate::math::normal;
use crate::math::rng::Rng;
use crate::mixture::{Mixture, Mixtures};

/// One set of samples: a row of [`SampleSets`](super::SampleSets).
///
/// There is at least one value, all are finite and in ascending order, and the floor is positive. This is not checked again.
#[derive(Clone, Copy, Debug)]
pub struct SampleSet<'a> {
    /// The samples, in ascending order.
    pub values: &'a [f64],
    /// Smallest sd of the normal density.
    pub sd_floor: f64,
}

impl SampleSet<'_> {
    fn count(&self) -> f64 {
        self.values.len() as f64
    }

    /// The smallest sample with a cdf of at least `level`; NaN for a level outside [0, 1].
    pub(crate) fn smallest_up_to(&self, level: f64) -> f64 {
        if !(0.0..=1.0).contains(&level) {
            return f64::NAN;
        }
        let rank = (level * self.count()).ceil() as usize;
        self.values[rank.clamp(1, self.values.len()) - 1]
    }

    /// The sd of the normal density: that of the samples, at least the floor.
    pub fn normal_sd(&self) -> f64 {
        self.sd().max(self.sd_floor)
    }

    /// The kernel density estimate with a normal kernel and the bandwidth of Silverman's rule (1986, equation 3.31). If the target is not
    /// on a grid, values that occur more than once are atoms.
    pub(crate) fn smoothed(&self, on_grid: bool) -> Mixtures {
        let bandwidth = 0.9 * self.sd().min((self.quantile(0.75) - self.quantile(0.25)) / 1.34);
        let bandwidth = (bandwidth * libm::pow(self.count(), -0.2)).max(self.sd_floor);
        let runs: Vec<&[f64]> = self.values.chunk_by(|a, b| a == b).collect();
        let weights = runs.iter().map(|run| run.len() as f64 / self.count()).collect();
        let sds = runs.iter().map(|run| if on_grid || run.len() == 1 { bandwidth } else { 0.0 }).collect();
        Mixtures::from_parts_unchecked(runs.len(), weights, runs.iter().map(|run| run[0]).collect(), sds)
    }

    /// (y - mean) / sd without overflow.
    fn standardised(&self, y: f64, sd: f64) -> f64 {
        2.0 * ((0.5 * y - 0.5 * self.mean()) / sd)
    }
}

impl Distribution for SampleSet<'_> {
    /// Mean.
    fn mean(&self) -> f64 {
        mean_of_lowest(self.values.iter().copied(), self.values.len(), self.count())
    }

    /// Unbiased variance, sum_i (z_i - mean)² / (M - 1); zero for one sample.
    fn variance(&self) -> f64 {
        let sd = self.sd();
        sd * sd
    }

    /// Standard deviation, the root of the variance.
    fn sd(&self) -> f64 {
        let mean = self.mean();
        // Half distances relative to the largest: neither the distances nor their squares overflow.
        let half = |value: f64| (0.5 * value - 0.5 * mean).abs();
        let largest = half(self.values[0]).max(half(self.values[self.values.len() - 1]));
        if largest == 0.0 {
            return 0.0;
        }
        let squares: f64 = self.values.iter().map(|&value| half(value) / largest).map(|ratio| ratio * ratio).sum();
        2.0 * largest * (squares / (self.count() - 1.0)).sqrt()
    }

    /// Fraction of the samples up to `y`.
    fn cdf(&self, y: f64) -> f64 {
        self.values.partition_point(|value| *value <= y) as f64 / self.count()
    }

    /// Fraction of the samples above `y`.
    fn survival(&self, y: f64) -> f64 {
        (self.values.len() - self.values.partition_point(|value| *value <= y)) as f64 / self.count()
    }

    /// Fraction of the samples that equal `y`.
    fn point_probability(&self, y: f64) -> f64 {
        let below = self.values.partition_point(|value| *value < y);
        (self.values.partition_point(|value| *value <= y) - below) as f64 / self.count()
    }

    /// Density at `y` of the normal distribution with the samples' mean and sd.
    fn pdf(&self, y: f64) -> f64 {
        let sd = self.normal_sd();
        normal::pdf(self.standardised(y, sd)) / sd
    }

    /// Logarithm of that density.
    fn log_pdf(&self, y: f64) -> f64 {
        let sd = self.normal_sd();
        normal::log_pdf(self.standardised(y, sd)) - libm::log(sd)
    }

    /// Logarithm of the normal density.
    fn log_likelihood(&self, y: f64) -> f64 {
        self.log_pdf(y)
    }

    /// Logarithm of P(low < Y <= high) by the normal distribution.
    fn log_between(&self, low: f64, high: f64) -> f64 {
        Mixture { weights: &[1.0], means: &[self.mean()], sds: &[self.normal_sd()] }.log_between(low, high)
    }

    /// Logarithm of the probability within `step` / 2 of `y` by the normal distribution.
    fn log_mass(&self, y: f64, step: f64) -> f64 {
        crate::mixture::log_mass((y - self.mean()).abs(), step, self.normal_sd())
    }

    /// The order statistic at index `level` (M - 1), from 0, with linear interpolation (the default of R's and NumPy's `quantile`); NaN
    /// for a level outside [0, 1].
    fn quantile(&self, level: f64) -> f64 {
        if !(0.0..=1.0).contains(&level) {
            return f64::NAN;
        }
        let index = level * (self.count() - 1.0);
        let below = index as usize;
        let fraction = index - below as f64;
        let low = self.values[below];
        if fraction == 0.0 {
            return low;
        }
        let high = self.values[below + 1];
        let gap = high - low;
        if !gap.is_finite() {
            return low * (1.0 - fraction) + high * fraction;
        }
        // From the nearer end, so that both ends are exact.
        if fraction < 0.5 { low + gap * fraction } else { high - gap * (1.0 - fraction) }
    }

    /// The value that a fraction `level` of the samples exceeds.
    fn quantile_above(&self, level: f64) -> f64 {
        self.quantile(1.0 - level)
    }

    /// The region of the kernel density estimate.
    fn hdr(&self, coverage: f64) -> HighestDensityRegion {
        self.smoothed(false).row(0).hdr(coverage)
    }

    /// Mean of the lowest `level` of the samples, in (0, 1]; the sample at the border counts in part.
    fn shortfall_below(&self, level: f64) -> f64 {
        mean_of_lowest(self.values.iter().copied(), self.values.len(), level * self.count())
    }

    /// Mean of the highest `level` of the samples.
    fn shortfall_above(&self, level: f64) -> f64 {
        -mean_of_lowest(self.values.iter().rev().map(|value| -value), self.values.len(), level * self.count())
    }

    /// The energy score of observing `y`, [`crate::score::sample_energy`], as an integral over the gaps between samples:
    ///
    /// ```text
    /// S = ∫ (cdf(t) - 1{t >= y})² dt = sum_i (part of gap i below y) (i/M)² + (part above) (1 - i/M)²
    /// ```
    ///
    /// where gap 0 and gap M extend from the outermost samples to a `y` beyond them. No term is negative, so nothing cancels.
    fn crps(&self, y: f64) -> f64 {
        let (first, last) = (self.values[0], self.values[self.values.len() - 1]);
        let outside = (first - y).max(0.0) + (y - last).max(0.0);
        let gap = |(below, ends): (usize, &[f64])| {
            let cdf = (below + 1) as f64 / self.count();
            let (low, high) = (ends[0], ends[1]);
            let cut = y.clamp(low, high);
            (cut - low) * cdf * cdf + (high - cut) * (1.0 - cdf) * (1.0 - cdf)
        };
        outside + self.values.windows(2).enumerate().map(gap).sum::<f64>()
    }

    /// The fraction of the samples up to `y`.
    fn pit(&self, y: f64) -> f64 {
        self.cdf(y)
    }

    /// A random draw: one of the samples.
    fn sample(&self, rng: &mut Rng) -> f64 {
        self.values[rng.below(self.values.len())]
    }
}

/// Mean of the first `mass` of `count` ascending values, each of mass 1; the last of them may count in part.
fn mean_of_lowest(values: impl Iterator<Item = f64> + Clone, count: usize, mass: f64) -> f64 {
    let inside = (mass.ceil() as usize).clamp(1, count);
    // The limit for a mass of 0 is the first value.
    let mass = mass.min(count as f64).max(f64::MIN_POSITIVE);
    // Summed as half distances from the middle: equal values give exactly that value, and nothing overflows.
    let anchor = values.clone().nth(inside / 2).unwrap_or_default();
    let weight = |index: usize| if index + 1 < inside { 1.0 / mass } else { (mass - index as f64) / mass };
    let part = |(index, value): (usize, f64)| weight(index) * (0.5 * value - 0.5 * anchor);
    anchor + 2.0 * values.take(inside).enumerate().map(part).sum::<f64>()
}
