//! Responsible for what guarantees the sets of predictions, whichever it is: a calibration, or what was missed before.

use super::{Adaptive, Calibration, Labels, Sets};
use negmm_dist::{Predictions, Region, Result};

/// What guarantees sets.
#[derive(Clone, Copy, Debug)]
pub enum Guard<'a> {
    /// Rows that were held back, and what is known of new ones.
    Calibrated(&'a Calibration, &'a Labels),
    /// What was missed before; predictions are those of its last batch.
    Adaptive(&'a Adaptive),
}

impl Guard<'_> {
    /// Central intervals.
    ///
    /// # Errors
    /// As [`Calibration::outside`].
    pub fn intervals(&self, predictions: &Predictions, coverage: f64) -> Result<(Vec<f64>, Vec<f64>)> {
        let outside = self.outside(Sets::Intervals, coverage, predictions.len())?;
        Ok(predictions.each_with(&outside, |row, outside| row.interval_leaving(outside))?.into_iter().unzip())
    }

    /// Regions.
    ///
    /// # Errors
    /// As [`Calibration::outside`].
    pub fn regions(&self, predictions: &Predictions, coverage: f64) -> Result<Vec<Region>> {
        let outside = self.outside(Sets::Regions, coverage, predictions.len())?;
        predictions.each_with(&outside, |row, outside| row.region_leaving(outside))
    }

    fn outside(&self, sets: Sets, coverage: f64, rows: usize) -> Result<Vec<f64>> {
        match self {
            Self::Calibrated(calibration, labels) => calibration.outside(sets, coverage, rows, labels),
            Self::Adaptive(adaptive) => Ok(adaptive.outside(sets, coverage)?.to_vec()),
        }
    }
}
