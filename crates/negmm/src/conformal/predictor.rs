//! Conformal predictors: a calibration or adaptive conformal inference.

use super::{AdaptiveConformal, Calibration, Labels, SetKind, SetSpec};
use negmm_dist::{HighestDensityRegion, Interval, Predictions, Result};

/// A source of conformal sets.
#[derive(Clone, Copy, Debug)]
pub enum ConformalPredictor<'a> {
    /// A calibration, and the labels of the new rows.
    Calibrated(&'a Calibration, &'a Labels),
    /// Adaptive conformal inference; the predictions are those of its last batch.
    Adaptive(&'a AdaptiveConformal),
}

impl ConformalPredictor<'_> {
    /// Central intervals.
    ///
    /// # Errors
    /// As [`Calibration::outside`].
    pub fn intervals(&self, predictions: &Predictions, coverage: f64) -> Result<Interval<Vec<f64>>> {
        let outside = self.outside(SetKind::Intervals, coverage, predictions.len())?;
        Ok(predictions.each_with(&outside, |row, outside| row.interval_leaving(outside))?.into_iter().collect())
    }

    /// Highest-density regions.
    ///
    /// # Errors
    /// As [`Calibration::outside`].
    pub fn regions(&self, predictions: &Predictions, coverage: f64) -> Result<Vec<HighestDensityRegion>> {
        let outside = self.outside(SetKind::Regions, coverage, predictions.len())?;
        predictions.each_with(&outside, |row, outside| row.region_leaving(outside))
    }

    fn outside(&self, sets: SetKind, coverage: f64, rows: usize) -> Result<Vec<f64>> {
        match self {
            Self::Calibrated(calibration, labels) => calibration.outside(sets, coverage, rows, labels),
            Self::Adaptive(adaptive) => Ok(adaptive.outside(SetSpec { kind: sets, coverage })?.to_vec()),
        }
    }
}
