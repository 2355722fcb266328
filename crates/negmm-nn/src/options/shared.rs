//! Options of both networks and boosted trees.

use super::OptionSpec;

/// The option `patience`.
pub const PATIENCE: OptionSpec = OptionSpec::new(
    "Training",
    "patience",
    "N",
    "early stopping: validation checks (ngboost: boosting rounds) without improvement before training stops; 0: off",
);

/// The option `validation-fraction`.
pub const VALIDATION_FRACTION: OptionSpec = OptionSpec::new(
    "Training",
    "validation-fraction",
    "FRACTION",
    "fraction of the training rows held out to choose the best checkpoint (ngboost: the number of boosting rounds)",
)
.within(0.0, 0.9);

/// The option `sigma-min`. Below 1e-6 its square is too close to the smallest f32.
pub const SIGMA_MIN: OptionSpec =
    OptionSpec::new("Network", "sigma-min", "SD", "lower bound of the predicted sd, in sds of the target")
        .within(1e-6, 1e6);
