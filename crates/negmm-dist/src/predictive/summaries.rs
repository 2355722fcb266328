//! Summaries of predictions: moments, quantiles, intervals, regions, probabilities and draws.

use rayon::prelude::*;

use super::{MIN_ROWS, Predictions};
use crate::distribution::Distribution;
use crate::highest_density::HighestDensityRegion;
use crate::interval::Interval;
use crate::math::rng::Rng;
use crate::mixture::{QuantileLevel, TailQuantile};
use crate::{Error, Result, streams};

impl Predictions {
    /// Mean.
    pub fn mean(&self) -> Vec<f64> {
        self.each(|row| row.mean())
    }

    /// Standard deviation.
    pub fn sd(&self) -> Vec<f64> {
        self.each(|row| row.sd())
    }

    /// Mean and standard deviation of each row, which have most of their work in common.
    pub fn mean_and_sd(&self) -> Vec<(f64, f64)> {
        match self.mixtures() {
            Some(mixtures) if self.support.is_whole_line() => mixtures.means_and_sds(),
            _ => self.each(|row| row.without_empty(|row| row.mean_and_sd())),
        }
    }

    /// Variance.
    pub fn variance(&self) -> Vec<f64> {
        self.each(|row| row.variance())
    }

    /// The two parts of the variance: within the components (local noise) and between them (their disagreement). For samples all of it is
    /// within.
    pub fn variance_parts(&self) -> (Vec<f64>, Vec<f64>) {
        (self.each(|row| row.variance_within()), self.each(|row| row.variance_between()))
    }

    /// The quantile at `level`.
    ///
    /// # Errors
    /// When `level` is not strictly between 0 and 1.
    pub fn quantile(&self, level: f64) -> Result<Vec<f64>> {
        check_fraction("level", level)?;
        Ok(self.quantiles(&[QuantileLevel::Below(level)]).remove(0))
    }

    /// Lower and upper ends of the central interval with this coverage.
    ///
    /// # Errors
    /// When `coverage` is not strictly between 0 and 1.
    pub fn interval(&self, coverage: f64) -> Result<Interval<Vec<f64>>> {
        check_fraction("coverage", coverage)?;
        let [lower, upper] = QuantileLevel::around(coverage).map(|level| self.quantiles(&[level]).remove(0));
        Ok(Interval { lower, upper })
    }

    /// The quantiles of all rows at each of these levels, which lie strictly between 0 and 1.
    pub fn quantiles(&self, levels: &[QuantileLevel]) -> Vec<Vec<f64>> {
        if let Some(quantiles) = self.accelerated_quantiles(levels) {
            return quantiles;
        }
        let width = levels.len();
        if width == 0 {
            return Vec::new();
        }
        let mut found = vec![0.0; self.len() * width];
        found.par_chunks_mut(MIN_ROWS * width).enumerate().for_each(|(block, found)| {
            for at in 0..found.len() / width {
                let row = block * MIN_ROWS + at;
                // Rows of a constant have one distribution.
                if at > 0 && self.row(row).is_mixture_of(&self.row(row - 1)) {
                    found.copy_within((at - 1) * width..at * width, at * width);
                } else {
                    self.row(row).quantiles(levels, &mut found[at * width..][..width]);
                }
            }
        });
        (0..width).map(|level| found.iter().skip(level).step_by(width).copied().collect()).collect()
    }

    /// The same by an accelerator, if there is one; for mixtures without bounds and atoms.
    fn accelerated_quantiles(&self, levels: &[QuantileLevel]) -> Option<Vec<Vec<f64>>> {
        let (accelerator, mixtures) = (self.accelerated.0.as_deref()?, self.mixtures()?);
        let smooth = self.support.is_whole_line() && !mixtures.sds().contains(&0.0);
        if levels.is_empty() || self.is_empty() || !smooth {
            return None;
        }
        let asked: Vec<TailQuantile> = levels.iter().map(|level| level.nearer_end()).collect();
        let quantiles = accelerator.quantiles(mixtures, &asked)?;
        (quantiles.len() == levels.len() * self.len())
            .then(|| quantiles.chunks_exact(self.len()).map(<[f64]>::to_vec).collect())
    }

    /// The highest-density region with this coverage: the smallest set of values that has it, one interval or several. For samples that of
    /// their kernel density estimate.
    ///
    /// # Errors
    /// When `coverage` is not strictly between 0 and 1.
    pub fn hdr(&self, coverage: f64) -> Result<Vec<HighestDensityRegion>> {
        check_fraction("coverage", coverage)?;
        Ok(self.each(|row| row.hdr(coverage)))
    }

    /// Density at a value for each row; for samples that of the normal distribution with their mean and sd.
    ///
    /// # Errors
    /// When `y` does not have one number for each row.
    pub fn pdf(&self, y: &[f64]) -> Result<Vec<f64>> {
        self.each_with(y, |row, y| row.pdf(y))
    }

    /// Probability of a target up to a value for each row.
    ///
    /// # Errors
    /// When `y` does not have one number for each row.
    pub fn cdf(&self, y: &[f64]) -> Result<Vec<f64>> {
        self.each_with(y, |row, y| row.cdf(y))
    }

    /// Probability of a target above `threshold`.
    ///
    /// # Errors
    /// When `threshold` is not a number.
    pub fn above(&self, threshold: f64) -> Result<Vec<f64>> {
        check_threshold(threshold)?;
        Ok(self.each(|row| row.survival(threshold)))
    }

    /// Probability of a target strictly below `threshold`: with [`Predictions::point_probability`] and [`Predictions::above`] of the
    /// same number it sums to 1.
    ///
    /// # Errors
    /// When `threshold` is not a number.
    pub fn below(&self, threshold: f64) -> Result<Vec<f64>> {
        check_threshold(threshold)?;
        Ok(self.each(|row| row.below(threshold)))
    }

    /// Expected shortfall: the mean of the lowest `level` of the distribution.
    ///
    /// # Errors
    /// When `level` is not strictly between 0 and 1.
    pub fn shortfall(&self, level: f64) -> Result<Vec<f64>> {
        check_fraction("level", level)?;
        Ok(self.each(|row| row.shortfall_below(level)))
    }

    /// The mean of the highest `level` of the distribution.
    ///
    /// # Errors
    /// When `level` is not strictly between 0 and 1.
    pub fn shortfall_above(&self, level: f64) -> Result<Vec<f64>> {
        check_fraction("level", level)?;
        Ok(self.each(|row| row.shortfall_above(level)))
    }

    /// Probability of exactly `value`: positive on a grid, at an atom and at a sample.
    ///
    /// # Errors
    /// When `value` is not a number.
    pub fn point_probability(&self, value: f64) -> Result<Vec<f64>> {
        check_threshold(value)?;
        Ok(self.each(|row| row.point_probability(value)))
    }

    /// Random targets: rows × `draws`, row after row.
    ///
    /// Each row has its own random stream, numbered from `first_row` on: chunks of rows get the same draws as all rows at once, if
    /// `first_row` is the number of rows before the chunk.
    pub fn sample(&self, draws: usize, seed: u64, first_row: u64) -> Vec<f64> {
        let mut samples = vec![0.0; self.len() * draws];
        if draws > 0 {
            samples.par_chunks_exact_mut(draws).enumerate().for_each(|(row, samples)| {
                let mut rng = Rng::new(seed, streams::DRAWS.wrapping_add(first_row).wrapping_add(row as u64));
                self.row(row).fill(samples, &mut rng);
            });
        }
        samples
    }
}

fn check_fraction(name: &str, fraction: f64) -> Result<()> {
    if fraction > 0.0 && fraction < 1.0 {
        Ok(())
    } else {
        Err(Error::options(format!("expected a {name} strictly between 0 and 1, found {fraction}")))
    }
}

fn check_threshold(threshold: f64) -> Result<()> {
    if threshold.is_nan() { Err(Error::options("expected a number as threshold, found NaN")) } else { Ok(()) }
}
