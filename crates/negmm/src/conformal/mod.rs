//! Conformal prediction sets: intervals and regions with a coverage guarantee, whatever the model is.
//!
//! Split conformal prediction: for each row of a calibration set, which the model has not seen, the tail probability
//! of its target is the conformity score ([`negmm_dist::DistributionRef::interval_tail`] and
//! [`negmm_dist::DistributionRef::region_tail`]). The set of a new row excludes as much of the model's own
//! probability as makes it miss the nominal fraction of calibration rows. An overconfident model gets wider sets, an
//! underconfident one narrower sets. They still follow the predicted distribution from row to row, with all its
//! modes.
//!
//! Steps of a sequence are not exchangeable: for them there is [`AdaptiveConformal`].
//!
//! The score is a tail probability rather than a log density: it does not depend on the target's unit, is defined for
//! atoms and grids as well as for densities, and one list of scores serves every coverage.

mod adaptive;
mod calibration;
mod conformity_scores;
mod density_ratio;
mod guarantee;
mod labels;
mod predictor;

pub use adaptive::{AdaptiveConformal, AdaptiveCoverage, SequenceStep};
pub(crate) use calibration::CalibrationShape;
pub use calibration::{Calibration, CalibrationSet, SetKind, SetSpec};
pub(crate) use conformity_scores::ConformityScores;
pub use guarantee::{CONFIDENCE, CoverageGuarantee, GroupGuarantee, Guarantee};
pub use labels::{LabelColumns, Labels};
pub use predictor::ConformalPredictor;
