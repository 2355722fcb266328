//! Responsible for guaranteed sets: intervals and regions that hold new targets as often as they say, whatever the model is.
//!
//! Split conformal prediction: rows that the model has not seen are held back, and the tail of each of their targets is kept
//! ([`crate::Row::interval_tail`] and [`crate::Row::region_tail`]). A set for a new row then leaves out as much of the model's own
//! probability as makes it miss the wanted share of those rows: a model that is too sure of itself gets wider sets, one that is too
//! modest narrower ones, and both as the model itself widens and narrows them from row to row, with as many peaks as it has.
//!
//! Steps of a sequence are not alike: their sets are [`Adaptive`] ones.
//!
//! The tail is the score, and not the logarithm of the density beside that of a level: a tail is a probability whatever the target's
//! unit is, is made of atoms and grids as of densities, and one list of tails serves every coverage.

mod adaptive;
mod calibration;
mod guarantee;
mod tails;

pub use adaptive::{Adaptive, Kept, Step};
pub(crate) use calibration::CalibrationShape;
pub use calibration::{Calibration, HeldBack, Labels, Sets};
pub use guarantee::{CONFIDENCE, Guarantee, Promise};

use crate::{Predictions, Region, Result};

/// What guarantees sets.
#[derive(Clone, Copy, Debug)]
pub enum Guard<'a> {
    /// Rows that were held back, and what is known of new ones.
    Calibrated(&'a Calibration, &'a Labels),
    /// What was missed before.
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
            Self::Adaptive(adaptive) => Ok(adaptive.outside(sets, coverage).0),
        }
    }
}
