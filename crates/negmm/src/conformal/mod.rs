//! Conformal prediction sets: intervals and regions with a coverage guarantee, whatever the model is.
//!
//! Split conformal prediction: rows that the model has not seen are held back, and the tail of each of their targets is kept
//! ([`negmm_dist::DistributionRef::interval_tail`] and [`negmm_dist::DistributionRef::region_tail`]). A set for a new row then leaves out as much of the model's own
//! probability as makes it miss the wanted share of those rows: a model that is too sure of itself gets wider sets, one that is too
//! modest narrower ones, and both as the model itself widens and narrows them from row to row, with as many peaks as it has.
//!
//! Steps of a sequence are not alike: their sets are [`AdaptiveConformal`] ones.
//!
//! The tail is the score, and not the logarithm of the density beside that of a level: a tail is a probability whatever the target's
//! unit is, is made of atoms and grids as of densities, and one list of tails serves every coverage.

mod adaptive;
mod calibration;
mod conformity_scores;
mod guarantee;
mod labels;
mod predictor;

pub use adaptive::{AdaptiveConformal, Kept};
pub(crate) use calibration::CalibrationShape;
pub use calibration::{Calibration, CalibrationSet, SetKind};
pub use guarantee::{CONFIDENCE, CoverageGuarantee, Guarantee};
pub use labels::{LabelColumns, Labels};
pub use predictor::ConformalPredictor;
