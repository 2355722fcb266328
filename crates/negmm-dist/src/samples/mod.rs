//! Sets of samples as distributions: moments, order statistics, tail means, draws, scores.
//!
//! In a set of M samples, in ascending order, each has the probability 1/M. The density is that of the normal distribution with the same
//! mean and sd; its sd has a floor.

mod sample_set;
#[cfg(test)]
mod tests;

use crate::distribution::Distribution;
use crate::math::normal;
use crate::{Error, Result, Support};
pub use sample_set::SampleSet;

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
    /// `values` are rows × `samples`, all finite, in any order; `sd_floor` is the smallest sd of the normal density, finite and positive.
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

    /// As [`SampleSets::new`], for numbers that are known to be valid.
    pub(crate) fn from_finite(samples: usize, mut values: Vec<f64>, sd_floor: f64) -> Self {
        values.chunks_exact_mut(samples).for_each(|row| row.sort_unstable_by(f64::total_cmp));
        Self { samples, values, sd_floor }
    }

    /// Adds a variance to these rows: the sample of rank i of n moves by the normal quantile at (i + 1/2) / n, times the difference
    /// of the new and the old sd.
    pub(crate) fn widen(&mut self, variances: impl Iterator<Item = (usize, f64)>) {
        for (row, variance) in variances {
            let (sd, count) = (self.row(row).sd(), self.samples as f64);
            let difference = (sd * sd + variance).sqrt() - sd;
            let values = &mut self.values[row * self.samples..][..self.samples];
            for (rank, value) in values.iter_mut().enumerate() {
                *value += difference * normal::quantile((rank as f64 + 0.5) / count);
            }
        }
    }

    /// Moves each sample to the nearest value of the support.
    pub(crate) fn restrict(&mut self, support: &Support) {
        self.values.iter_mut().for_each(|value| *value = support.nearest(*value));
    }

    /// Adds sets with as many samples; whether they have as many.
    pub(crate) fn append(&mut self, more: &Self) -> bool {
        if self.samples != more.samples {
            return false;
        }
        self.values.extend_from_slice(&more.values);
        true
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

    /// Smallest sd of the normal density.
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
        // Samples stay finite.
        self.values.iter_mut().for_each(|value| *value = (*value * scale + shift).clamp(f64::MIN, f64::MAX));
        self.sd_floor = (self.sd_floor * scale).clamp(f64::MIN_POSITIVE, f64::MAX);
        self
    }
}
