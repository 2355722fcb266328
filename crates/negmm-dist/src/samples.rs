//! Every fact about predictions that are sets of samples: moments, order statistics, tail means, draws, scores.
//!
//! A set of M samples is the distribution that gives each of them the probability 1/M. Kept in ascending order, most answers
//! are a look-up. It has no density: where one is asked for, that of the normal distribution with the same mean and sd
//! stands in, its sd never below a floor.

use crate::distribution::Distribution;
use crate::highest_density::HighestDensityRegion;
use crate::math::normal;
use crate::math::rng::Rng;
use crate::mixture::{Mixture, Mixtures};
use crate::{Error, Result, Support};

/// Sets of samples, one for each row, all of the same size.
///
/// ```
/// use negmm_dist::Distribution;
/// use negmm_dist::samples::SampleSets;
///
/// let sets = SampleSets::new(4, vec![1.0, 4.0, 2.0, 8.0, 0.0, 0.0, 0.0, 0.0], 1e-3)?;
/// assert_eq!(sets.row(0).mean(), 3.75);
/// assert_eq!(sets.row(0).quantile(0.5), 3.0);
/// assert_eq!(sets.row(1).crps(2.0), 2.0);
/// # Ok::<(), negmm_dist::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SampleSets {
    samples: usize,
    /// rows × samples, each row in ascending order.
    values: Vec<f64>,
    sd_floor: f64,
}

impl SampleSets {
    /// Checks the numbers and sorts each row.
    ///
    /// `values` are rows × `samples`, all finite, in any order; `sd_floor` is the smallest sd of the normal distribution that
    /// stands in for the density, finite and positive.
    ///
    /// # Errors
    /// When a shape or a number is not as described; the message names the row.
    pub fn new(samples: usize, values: Vec<f64>, sd_floor: f64) -> Result<Self> {
        if samples == 0 {
            return Err(Error::data("a set has at least 1 sample, found 0"));
        }
        if !values.len().is_multiple_of(samples) {
            return Err(Error::data(format!("expected a multiple of {samples} samples, found {}", values.len())));
        }
        if !(sd_floor > 0.0 && sd_floor.is_finite()) {
            return Err(Error::options(format!(
                "expected a floor of the sd that is finite and positive, found {sd_floor}"
            )));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::data(format!("expected a sample that is finite, found {}", values[at])).at(format!(
                "set {}, sample {}",
                at / samples,
                at % samples
            )));
        }
        Ok(Self::from_finite(samples, values, sd_floor))
    }

    /// As [`SampleSets::new`], for numbers that are known to be as described there.
    pub(crate) fn from_finite(samples: usize, mut values: Vec<f64>, sd_floor: f64) -> Self {
        values.chunks_exact_mut(samples).for_each(|row| row.sort_unstable_by(f64::total_cmp));
        Self { samples, values, sd_floor }
    }

    /// Moves the samples of these rows apart, that of rank i of n by the normal quantile of (i + 1/2) / n, times what their sd lacks
    /// for so much more variance.
    pub(crate) fn widen(&mut self, variances: impl Iterator<Item = (usize, f64)>) {
        for (row, variance) in variances {
            let (sd, count) = (self.row(row).sd(), self.samples as f64);
            let lacks = (sd * sd + variance).sqrt() - sd;
            let values = &mut self.values[row * self.samples..][..self.samples];
            for (rank, value) in values.iter_mut().enumerate() {
                *value += lacks * normal::quantile((rank as f64 + 0.5) / count);
            }
        }
    }

    /// Moves each sample to the possible value that is nearest to it.
    pub(crate) fn restrict(&mut self, support: &Support) {
        self.values.iter_mut().for_each(|value| *value = support.nearest(*value));
    }

    /// Rows: how many sets there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.samples
    }

    /// Whether there is no set.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Samples in each set.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Samples, rows × samples; those of a row in ascending order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Smallest sd of the normal distribution that stands in for the density.
    pub fn sd_floor(&self) -> f64 {
        self.sd_floor
    }

    /// The set of one row.
    ///
    /// # Panics
    /// When there is no row `row`.
    #[inline]
    pub fn row(&self, row: usize) -> SampleSet<'_> {
        SampleSet { values: &self.values[row * self.samples..][..self.samples], sd_floor: self.sd_floor }
    }

    /// The sets, one after the other.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = SampleSet<'_>> {
        (0..self.len()).map(|row| self.row(row))
    }

    /// The distributions of `y * scale + shift`, for a positive `scale`: from a standardised target back to its own unit.
    /// The floor of the sd is in that unit too.
    #[must_use]
    pub fn rescale(mut self, shift: f64, scale: f64) -> Self {
        debug_assert!(scale > 0.0 && scale.is_finite() && shift.is_finite());
        // A sample beyond the largest number stays a number.
        self.values.iter_mut().for_each(|value| *value = (*value * scale + shift).clamp(f64::MIN, f64::MAX));
        self.sd_floor = (self.sd_floor * scale).clamp(f64::MIN_POSITIVE, f64::MAX);
        self
    }
}

/// One set of samples: a row of [`SampleSets`].
///
/// There is at least one value, all are finite and in ascending order, and the floor is positive. Nothing here checks it again.
#[derive(Clone, Copy, Debug)]
pub struct SampleSet<'a> {
    /// The samples, in ascending order.
    pub values: &'a [f64],
    /// Smallest sd of the normal distribution that stands in for the density.
    pub sd_floor: f64,
}

impl SampleSet<'_> {
    fn count(&self) -> f64 {
        self.values.len() as f64
    }

    /// The smallest sample up to which there is the share `level` of them; NaN for a level outside [0, 1].
    pub(crate) fn smallest_up_to(&self, level: f64) -> f64 {
        if !(0.0..=1.0).contains(&level) {
            return f64::NAN;
        }
        let rank = (level * self.count()).ceil() as usize;
        self.values[rank.clamp(1, self.values.len()) - 1]
    }

    /// The sd of the normal distribution that stands in for the density: that of the samples, or the floor.
    pub fn normal_sd(&self) -> f64 {
        self.sd().max(self.sd_floor)
    }

    /// The mixture that a normal kernel makes of the samples, as wide as Silverman's rule says (1986, equation 3.31). Where the target
    /// is not on a grid, values that occur more than once are atoms.
    pub(crate) fn smoothed(&self, on_grid: bool) -> Mixtures {
        let width = 0.9 * self.sd().min((self.quantile(0.75) - self.quantile(0.25)) / 1.34);
        let width = (width * libm::pow(self.count(), -0.2)).max(self.sd_floor);
        let runs: Vec<&[f64]> = self.values.chunk_by(|a, b| a == b).collect();
        let weights = runs.iter().map(|run| run.len() as f64 / self.count()).collect();
        let sds = runs.iter().map(|run| if on_grid || run.len() == 1 { width } else { 0.0 }).collect();
        Mixtures::from_parts_unchecked(runs.len(), weights, runs.iter().map(|run| run[0]).collect(), sds)
    }

    /// (y - mean) / sd, without an overflow on the way.
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
        // Half distances, as a share of the largest: neither the distances nor their squares overflow.
        let half = |value: f64| (0.5 * value - 0.5 * mean).abs();
        let largest = half(self.values[0]).max(half(self.values[self.values.len() - 1]));
        if largest == 0.0 {
            return 0.0;
        }
        let squares: f64 = self.values.iter().map(|&value| half(value) / largest).map(|share| share * share).sum();
        2.0 * largest * (squares / (self.count() - 1.0)).sqrt()
    }

    /// Share of the samples up to `y`.
    fn cdf(&self, y: f64) -> f64 {
        self.values.partition_point(|value| *value <= y) as f64 / self.count()
    }

    /// Share of the samples above `y`.
    fn survival(&self, y: f64) -> f64 {
        (self.values.len() - self.values.partition_point(|value| *value <= y)) as f64 / self.count()
    }

    /// Share of the samples that are `y`.
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

    /// By the normal distribution with the samples' mean and sd.
    fn log_likelihood(&self, y: f64) -> f64 {
        self.log_pdf(y)
    }

    /// Logarithm of that distribution's probability between two ends, of which the upper one counts.
    fn log_between(&self, low: f64, high: f64) -> f64 {
        Mixture { weights: &[1.0], means: &[self.mean()], sds: &[self.normal_sd()] }.log_between(low, high)
    }

    /// Logarithm of that distribution's probability within `step` / 2 of `y`.
    fn log_mass(&self, y: f64, step: f64) -> f64 {
        crate::mixture::log_mass((y - self.mean()).abs(), step, self.normal_sd())
    }

    /// The order statistic at place `level` (M - 1), counted from 0, and between two places the line that joins them (the
    /// default of R's and NumPy's `quantile`); NaN for a level outside [0, 1].
    fn quantile(&self, level: f64) -> f64 {
        if !(0.0..=1.0).contains(&level) {
            return f64::NAN;
        }
        let place = level * (self.count() - 1.0);
        let below = place as usize;
        let share = place - below as f64;
        let low = self.values[below];
        if share == 0.0 {
            return low;
        }
        let high = self.values[below + 1];
        let gap = high - low;
        if !gap.is_finite() {
            return low * (1.0 - share) + high * share;
        }
        // From the nearer end, so that it reaches both.
        if share < 0.5 { low + gap * share } else { high - gap * (1.0 - share) }
    }

    /// The value that a share `level` of the samples exceeds.
    fn quantile_above(&self, level: f64) -> f64 {
        self.quantile(1.0 - level)
    }

    /// Of the mixture that a normal kernel makes of the samples.
    fn hdr(&self, coverage: f64) -> HighestDensityRegion {
        self.smoothed(false).row(0).hdr(coverage)
    }

    /// Mean of the lowest `level` share of the samples, in (0, 1]; the sample at the border counts with the part of it inside.
    fn shortfall_below(&self, level: f64) -> f64 {
        mean_of_lowest(self.values.iter().copied(), self.values.len(), level * self.count())
    }

    /// Mean of the highest `level` share of the samples.
    fn shortfall_above(&self, level: f64) -> f64 {
        -mean_of_lowest(self.values.iter().rev().map(|value| -value), self.values.len(), level * self.count())
    }

    /// The energy score of observing `y`, [`crate::score::sample_energy`], as an integral over the gaps between samples:
    ///
    /// ```text
    /// S = ∫ (cdf(t) - 1{t >= y})² dt = sum_i (part of gap i below y) (i/M)² + (part above) (1 - i/M)²
    /// ```
    ///
    /// where gap 0 and gap M reach from the outermost samples to a `y` beyond them. No term is negative, none cancels.
    fn crps(&self, y: f64) -> f64 {
        let (first, last) = (self.values[0], self.values[self.values.len() - 1]);
        let outside = (first - y).max(0.0) + (y - last).max(0.0);
        let gap = |(below, ends): (usize, &[f64])| {
            let share = (below + 1) as f64 / self.count();
            let (low, high) = (ends[0], ends[1]);
            let cut = y.clamp(low, high);
            (cut - low) * share * share + (high - cut) * (1.0 - share) * (1.0 - share)
        };
        outside + self.values.windows(2).enumerate().map(gap).sum::<f64>()
    }

    /// The share of the samples up to `y`.
    fn pit(&self, y: f64) -> f64 {
        self.cdf(y)
    }

    /// A random draw: one of the samples.
    fn sample(&self, rng: &mut Rng) -> f64 {
        self.values[rng.below(self.values.len())]
    }
}

/// Mean of the first `mass` of `count` ascending values, each of mass 1; the last of them may be inside in part.
fn mean_of_lowest(values: impl Iterator<Item = f64> + Clone, count: usize, mass: f64) -> f64 {
    let inside = (mass.ceil() as usize).clamp(1, count);
    // No mass at all is the limit: the first value.
    let mass = mass.min(count as f64).max(f64::MIN_POSITIVE);
    // Summed as half distances from the middle: equal values give exactly that value, and nothing overflows.
    let anchor = values.clone().nth(inside / 2).unwrap_or_default();
    let share = |place: usize| if place + 1 < inside { 1.0 / mass } else { (mass - place as f64) / mass };
    let part = |(place, value): (usize, f64)| share(place) * (0.5 * value - 0.5 * anchor);
    anchor + 2.0 * values.take(inside).enumerate().map(part).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn set(values: &[f64]) -> SampleSets {
        SampleSets::new(values.len(), values.to_vec(), 0.1).unwrap()
    }

    #[test]
    fn new_refuses_what_is_not_a_set() {
        let kind =
            |samples, values: &[f64], floor| SampleSets::new(samples, values.to_vec(), floor).unwrap_err().kind();
        assert_eq!(kind(0, &[], 1.0), ErrorKind::Data);
        assert_eq!(kind(2, &[1.0; 3], 1.0), ErrorKind::Data);
        assert_eq!(kind(1, &[1.0], 0.0), ErrorKind::Options);
        assert_eq!(kind(1, &[1.0], f64::NAN), ErrorKind::Options);
        let error = SampleSets::new(2, vec![0.0, 1.0, f64::NAN, 2.0], 1.0).unwrap_err();
        assert_eq!(error.to_string(), "set 1, sample 0: expected a sample that is finite, found NaN");
        assert!(SampleSets::new(3, vec![], 1.0).unwrap().is_empty());
    }

    #[test]
    fn answers_by_hand() {
        let sets = set(&[8.0, 1.0, 4.0, 2.0]);
        let row = sets.row(0);
        assert_eq!((sets.len(), sets.samples(), sets.values()), (1, 4, &[1.0, 2.0, 4.0, 8.0][..]));
        assert_eq!(row.mean(), 3.75);
        assert!((row.variance() - 115.0 / 12.0).abs() < 1e-14);
        // numpy.quantile([8, 1, 4, 2], [0, 0.4, 0.75, 0.9, 1])
        let levels = [0.0, 0.4, 0.75, 0.9, 1.0].map(|level| row.quantile(level));
        for (found, expected) in levels.into_iter().zip([1.0, 2.4, 5.0, 6.8, 8.0]) {
            assert!((found - expected).abs() < 1e-14, "{found} {expected}");
        }
        assert!(row.quantile(1.1).is_nan() && row.quantile(f64::NAN).is_nan());
        assert_eq!([0.5, 1.0, 3.0, 8.0].map(|y| row.cdf(y)), [0.0, 0.25, 0.5, 1.0]);
        assert_eq!([0.5, 1.0, 3.0, 8.0].map(|y| row.survival(y)), [1.0, 0.75, 0.5, 0.0]);
        // Whole samples, and one and a half.
        assert_eq!((row.shortfall_below(0.5), row.shortfall_above(0.25)), (1.5, 8.0));
        assert!((row.shortfall_below(0.375) - 2.0 / 1.5).abs() < 1e-15);
        assert!((row.shortfall_above(0.375) - 10.0 / 1.5).abs() < 1e-15);
        assert_eq!((row.shortfall_below(1.0), row.shortfall_below(1e-320)), (3.75, 1.0));
        let z = (5.0 - 3.75) / row.sd();
        assert!((row.log_pdf(5.0) - (normal::log_pdf(z) - libm::log(row.sd()))).abs() < 1e-14);
        assert!((row.pdf(5.0) - libm::exp(row.log_pdf(5.0))).abs() < 1e-15);
    }

    #[test]
    fn one_sample_is_a_point() {
        let sets = set(&[3.0]);
        let row = sets.row(0);
        assert_eq!((row.mean(), row.sd(), row.variance(), row.normal_sd()), (3.0, 0.0, 0.0, 0.1));
        assert_eq!((row.quantile(0.3), row.interval(0.9), row.crps(5.0)), (3.0, (3.0, 3.0), 2.0));
        assert_eq!((row.shortfall_below(0.05), row.shortfall_above(0.05)), (3.0, 3.0));
        assert_eq!(row.sample(&mut Rng::new(1, 1)), 3.0);
        assert!((row.log_pdf(3.0) - (normal::log_pdf(0.0) - libm::log(0.1))).abs() < 1e-15);
    }

    #[test]
    fn extreme_numbers_give_no_nan() {
        let extremes = [f64::MIN, f64::MAX, 0.0, 5e-324, 1e-300, -1e300, 1.0];
        for a in extremes {
            for b in extremes {
                let sets = set(&[a, b, b]).rescale(b, 3.0);
                let row = sets.row(0);
                for y in extremes {
                    let answers = [row.crps(y), row.log_pdf(y), row.pdf(y), row.cdf(y), row.survival(y)];
                    assert!(answers.iter().all(|answer| !answer.is_nan()), "{a} {b} {y}: {answers:?}");
                }
                let tails = [row.shortfall_below(0.4), row.shortfall_above(0.4), row.quantile(0.3), row.quantile(0.8)];
                let answers = [row.mean(), row.sd(), row.variance()];
                assert!(answers.iter().chain(&tails).all(|answer| !answer.is_nan()), "{a} {b}: {answers:?} {tails:?}");
                assert!(row.mean().is_finite());
            }
        }
    }

    #[test]
    fn equal_samples_have_no_spread_however_large() {
        let sets = set(&[1e15; 7]);
        assert_eq!((sets.row(0).mean(), sets.row(0).sd()), (1e15, 0.0));
    }

    #[test]
    fn draws_are_the_samples() {
        let sets = set(&[1.0, 2.0, 4.0]);
        let mut rng = Rng::new(9, 0);
        let mean = (0..30_000).map(|_| sets.row(0).sample(&mut rng)).sum::<f64>() / 30_000.0;
        assert!((mean - 7.0 / 3.0).abs() < 0.03, "{mean}");
    }
}
