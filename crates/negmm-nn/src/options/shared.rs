//! Responsible for options that networks and trees share.

use super::Spec;

/// Early stopping.
pub const PATIENCE: Spec = Spec::new(
    "Training",
    "patience",
    "N",
    "early stopping after so many validation checks (boosting: rounds) without a better score; 0: no early stopping",
);

/// Share of the rows set aside.
pub const VALIDATION: Spec = Spec::new(
    "Training",
    "validation",
    "SHARE",
    "validation fraction: share of the rows held out to choose the best checkpoint (boosting: the number of rounds)",
)
.within(0.0, 0.9);

/// Smallest sd. Below 1e-6 its square is too close to the smallest f32.
pub const SIGMA_MIN: Spec =
    Spec::new("Network", "sigma-min", "SD", "smallest sd, in sds of the target").within(1e-6, 1e6);
