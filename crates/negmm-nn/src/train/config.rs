//! The configuration of a training loop, and what it means for a number of rows.

use serde::{Deserialize, Serialize};

use super::{Optimiser, Schedule, Selection, TrainingPlan};
use crate::options::{self, OptionSpec, Options, PATIENCE, VALIDATION_FRACTION, option_list};
use negmm_dist::Result;

/// The configuration of a training loop. Files store some fields by former names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct TrainingConfig {
    /// Largest number of passes over the training rows.
    pub epochs: usize,
    /// Number of optimiser steps instead of epochs; the rows of an incomplete batch are then left out of a pass.
    pub steps: Option<usize>,
    /// Steps between validation checks; without it once an epoch.
    pub check_every: Option<usize>,
    /// Rows per optimiser step.
    #[serde(rename = "batch")]
    pub batch_size: usize,
    /// The optimiser.
    pub optimiser: Optimiser,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// Learning rate schedule.
    pub schedule: Schedule,
    /// Early stopping: epochs (validation checks, with `check_every`) without improvement before training stops; 0: off.
    pub patience: usize,
    /// Fraction of the rows held out for validation.
    #[serde(rename = "validation")]
    pub validation_fraction: f64,
    /// The validation score that chooses the checkpoint.
    pub select: Selection,
    /// Decay of the exponential moving average of the weights, which is what predicts; 0: the weights themselves.
    #[serde(rename = "averaging")]
    pub ema_decay: f64,
    /// Dropout probability of the hidden units.
    pub dropout: f64,
    /// Decoupled weight decay: each step also multiplies the weights (not the biases) by 1 - learning rate × this.
    pub weight_decay: f64,
    /// Adversarial training: inputs are perturbed by this fraction of their range in the direction that increases the loss, and half of the
    /// loss is that of the perturbed inputs; 0: off.
    pub adversarial: f64,
    /// Epochs between snapshots of the weights, see [`Trained`](super::Trained); 0: none are kept. In no file.
    #[serde(skip)]
    pub snapshots: usize,
}

impl Default for TrainingConfig {
    fn default() -> Self {
        Self {
            epochs: 400,
            steps: None,
            check_every: None,
            batch_size: 32,
            optimiser: Optimiser::Adam,
            learning_rate: 0.005,
            schedule: Schedule::Cosine,
            patience: 0,
            validation_fraction: 0.15,
            select: Selection::Nll,
            ema_decay: 0.99,
            dropout: 0.0,
            weight_decay: 0.0,
            adversarial: 0.0,
            snapshots: 0,
        }
    }
}

/// Setters.
impl TrainingConfig {
    /// Sets `epochs`.
    #[must_use]
    pub fn epochs(self, epochs: usize) -> Self {
        Self { epochs, ..self }
    }

    /// Sets `steps`.
    #[must_use]
    pub fn steps(self, steps: impl Into<Option<usize>>) -> Self {
        Self { steps: steps.into(), ..self }
    }

    /// Sets `check_every`.
    #[must_use]
    pub fn check_every(self, check_every: impl Into<Option<usize>>) -> Self {
        Self { check_every: check_every.into(), ..self }
    }

    /// Sets `batch_size`.
    #[must_use]
    pub fn batch_size(self, batch_size: usize) -> Self {
        Self { batch_size, ..self }
    }

    /// Sets `optimiser`.
    #[must_use]
    pub fn optimiser(self, optimiser: Optimiser) -> Self {
        Self { optimiser, ..self }
    }

    /// Sets `learning_rate`.
    #[must_use]
    pub fn learning_rate(self, learning_rate: f64) -> Self {
        Self { learning_rate, ..self }
    }

    /// Sets `schedule`.
    #[must_use]
    pub fn schedule(self, schedule: Schedule) -> Self {
        Self { schedule, ..self }
    }

    /// Sets `patience`.
    #[must_use]
    pub fn patience(self, patience: usize) -> Self {
        Self { patience, ..self }
    }

    /// Sets `validation_fraction`.
    #[must_use]
    pub fn validation_fraction(self, validation_fraction: f64) -> Self {
        Self { validation_fraction, ..self }
    }

    /// Sets `select`.
    #[must_use]
    pub fn select(self, select: Selection) -> Self {
        Self { select, ..self }
    }

    /// Sets `ema_decay`.
    #[must_use]
    pub fn ema_decay(self, ema_decay: f64) -> Self {
        Self { ema_decay, ..self }
    }

    /// Sets `dropout`.
    #[must_use]
    pub fn dropout(self, dropout: f64) -> Self {
        Self { dropout, ..self }
    }

    /// Sets `weight_decay`.
    #[must_use]
    pub fn weight_decay(self, weight_decay: f64) -> Self {
        Self { weight_decay, ..self }
    }

    /// Sets `adversarial`.
    #[must_use]
    pub fn adversarial(self, adversarial: f64) -> Self {
        Self { adversarial, ..self }
    }

    /// Sets `snapshots`.
    #[must_use]
    pub fn snapshots(self, snapshots: usize) -> Self {
        Self { snapshots, ..self }
    }
}

/// The most steps, and steps between validation checks.
const MAX_STEPS: f64 = 1e9;

const EPOCHS: OptionSpec =
    OptionSpec::new("Training", "epochs", "N", "maximum number of passes over the training rows")
        .within(1.0, 1e7)
        .basic();

/// The option `steps`.
pub const STEPS: OptionSpec =
    OptionSpec::new("Training", "steps", "N", "number of optimiser steps per network, instead of epochs")
        .within(1.0, MAX_STEPS);

const CHECK_EVERY: OptionSpec =
    OptionSpec::new("Training", "check-every", "N", "optimiser steps between validation checks; none: once per epoch")
        .within(1.0, MAX_STEPS);

/// The option `batch-size`.
pub const BATCH_SIZE: OptionSpec =
    OptionSpec::new("Training", "batch-size", "N", "rows per optimiser step").at_least(1.0);

/// The option `optimiser`.
pub const OPTIMISER: OptionSpec = OptionSpec::choice(
    "Training",
    "optimiser",
    "optimisation algorithm: adam; schedule-free (schedule-free Adam: fewer steps from 5,000 rows on); muon (fewest steps, but slower ones; suits batches of 256)",
);

/// The option `learning-rate`. A step moves a weight by a few times the rate: with this bound no number of steps leaves the range of f32.
pub const LEARNING_RATE: OptionSpec =
    OptionSpec::new("Training", "learning-rate", "RATE", "peak learning rate").above_up_to(0.0, 1000.0).basic();

const SCHEDULE: OptionSpec = OptionSpec::choice(
    "Training",
    "schedule",
    "learning rate schedule: constant; cosine (warm-up, then cosine decay to zero); warm-up (warm-up, then constant; taken instead of cosine with schedule-free)",
);

const SELECT: OptionSpec = OptionSpec::choice(
    "Training",
    "select",
    "validation score that chooses the best checkpoint; calibrated: NLL after the sds are rescaled by the best factor",
);

const EMA_DECAY: OptionSpec = OptionSpec::new(
    "Training",
    "ema-decay",
    "DECAY",
    "decay of the exponential moving average (EMA) of the weights, which is used for prediction; 0: no averaging",
)
.from_below(0.0, 1.0);

/// The option `dropout`.
pub const DROPOUT: OptionSpec =
    OptionSpec::new("Training", "dropout", "P", "dropout probability of the hidden units").from_below(0.0, 1.0);

/// The option `weight-decay`.
pub const WEIGHT_DECAY: OptionSpec =
    OptionSpec::new("Training", "weight-decay", "DECAY", "decoupled weight decay, as in AdamW; helps with few rows");

const ADVERSARIAL: OptionSpec = OptionSpec::new(
    "Training",
    "adversarial",
    "EPSILON",
    "adversarial training: size of the perturbation of the inputs, as a fraction of their range; 0: off",
)
.within(0.0, 1.0);

impl Options for TrainingConfig {
    option_list! {
        epochs: EPOCHS,
        steps: STEPS,
        check_every: CHECK_EVERY,
        batch_size: BATCH_SIZE,
        optimiser: OPTIMISER,
        learning_rate: LEARNING_RATE,
        schedule: SCHEDULE,
        patience: PATIENCE,
        validation_fraction: VALIDATION_FRACTION,
        select: SELECT,
        ema_decay: EMA_DECAY,
        dropout: DROPOUT,
        weight_decay: WEIGHT_DECAY,
        adversarial: ADVERSARIAL,
    }
}

impl TrainingConfig {
    /// Checks the range of every setting.
    ///
    /// # Errors
    /// When one is out of range.
    pub fn check(&self) -> Result<()> {
        options::check(self)
    }

    /// The training plan for a number of training rows.
    pub fn plan(&self, rows: usize) -> TrainingPlan {
        let batch_size = self.batch_size.min(rows).max(1);
        let whole_batches = self.steps.is_some();
        let steps_per_pass = if whole_batches { rows / batch_size } else { rows.div_ceil(batch_size) };
        let steps = self.steps.unwrap_or(self.epochs * steps_per_pass);
        TrainingPlan {
            steps,
            epoch: self.check_every.unwrap_or(steps_per_pass).min(steps),
            batch_size,
            whole_batches,
            optimiser: self.optimiser,
            learning_rate: self.learning_rate,
            // Schedule-free Adam averages all steps, so the learning rate must not decay.
            schedule: match (self.optimiser, self.schedule) {
                (Optimiser::ScheduleFree, Schedule::Cosine) => Schedule::WarmUp,
                (_, schedule) => schedule,
            },
            patience: self.patience,
            select: self.select,
            ema_decay: self.ema_decay,
            dropout: self.dropout,
            weight_decay: self.weight_decay,
            adversarial: self.adversarial,
            snapshots: self.snapshots,
            cross_fitting_split: 0,
            keep_last_checkpoint: false,
        }
    }
}
