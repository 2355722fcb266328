//! Responsible for the settings of a training: how the epochs run, and what that means for so many rows.

use serde::{Deserialize, Serialize};

use super::{Optimiser, Schedule, Selection, TrainingPlan};
use crate::options::{self, Options, PATIENCE, Slot, Spec, VALIDATION};
use negmm_dist::Result;

/// How the epochs run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct TrainingConfig {
    /// Passes over the training rows, at most.
    pub epochs: usize,
    /// Steps instead of epochs; rows that do not fill a batch wait for the next pass.
    pub steps: Option<usize>,
    /// Steps between validation checks; once an epoch without.
    pub check_every: Option<usize>,
    /// Rows of one step.
    pub batch: usize,
    /// What turns gradients into steps.
    pub optimiser: Optimiser,
    /// The optimiser's step size at its highest.
    pub learning_rate: f64,
    /// How the rate moves.
    pub schedule: Schedule,
    /// Epochs (validation checks, with `check_every`) without a better score before stopping; 0: never.
    pub patience: usize,
    /// Share of the rows set aside.
    pub validation: f64,
    /// The score that chooses the weights that are kept.
    pub select: Selection,
    /// Decay of the running average of the weights that is kept and predicts; 0: the weights themselves.
    pub averaging: f64,
    /// Share of hidden units switched off.
    pub dropout: f64,
    /// Decoupled weight decay: each step also shrinks weights (not biases) by rate × this.
    pub weight_decay: f64,
    /// Share of each input's range by which adversarial inputs are moved to where the loss grows; half of the loss is theirs.
    pub adversarial: f64,
    /// Epochs from one snapshot of the weights to the next, see [`Trained`](super::Trained); 0: none are kept. In no file.
    #[serde(skip)]
    pub snapshots: usize,
}

impl Default for TrainingConfig {
    fn default() -> Self {
        Self {
            epochs: 400,
            steps: None,
            check_every: None,
            batch: 32,
            optimiser: Optimiser::Adam,
            learning_rate: 0.005,
            schedule: Schedule::Cosine,
            patience: 0,
            validation: 0.15,
            select: Selection::Nll,
            averaging: 0.99,
            dropout: 0.0,
            weight_decay: 0.0,
            adversarial: 0.0,
            snapshots: 0,
        }
    }
}

/// Rows of one step.
pub const BATCH: Spec = Spec::new("Training", "batch", "N", "batch size: rows of one step").at_least(1.0);

/// A step moves a weight by a few times the rate: with this bound no number of steps leaves the range of f32.
pub const LEARNING_RATE: Spec =
    Spec::new("Training", "learning-rate", "RATE", "learning rate of the optimiser at its highest")
        .above_up_to(0.0, 1000.0)
        .basic();

/// What turns gradients into steps.
pub const OPTIMISER: Spec = Spec::word(
    "Training",
    "optimiser",
    "adam; schedule-free: averages as it goes, fewer steps from 5,000 rows on; muon: fewest steps, each dearer, batches of 256",
);

/// Steps, or between steps, at most.
const MOST_STEPS: f64 = 1e9;

/// Steps instead of epochs.
pub const STEPS: Spec =
    Spec::new("Training", "steps", "N", "steps to train each network; given, they take the place of epochs")
        .within(1.0, MOST_STEPS);

/// Share of hidden units switched off.
pub const DROPOUT: Spec =
    Spec::new("Training", "dropout", "SHARE", "dropout: share of the hidden units switched off in each step")
        .from_below(0.0, 1.0);

/// Decoupled weight decay.
pub const WEIGHT_DECAY: Spec = Spec::new(
    "Training",
    "weight-decay",
    "DECAY",
    "decoupled weight decay: each step also shrinks the weights by learning rate times this; helps with few rows",
);

impl Options for TrainingConfig {
    fn each(&mut self, see: &mut dyn FnMut(&Spec, &mut dyn Slot)) {
        see(
            &Spec::new("Training", "epochs", "N", "passes over the training rows, at most").within(1.0, 1e7).basic(),
            &mut self.epochs,
        );
        see(&STEPS, &mut self.steps);
        see(
            &Spec::new("Training", "check-every", "N", "steps between validation checks; none: once an epoch")
                .within(1.0, MOST_STEPS),
            &mut self.check_every,
        );
        see(&BATCH, &mut self.batch);
        see(&OPTIMISER, &mut self.optimiser);
        see(&LEARNING_RATE, &mut self.learning_rate);
        see(
            &Spec::word(
                "Training",
                "schedule",
                "learning rate schedule; cosine warms up, then goes down to zero; warm-up stays there, as schedule-free must",
            ),
            &mut self.schedule,
        );
        see(&PATIENCE, &mut self.patience);
        see(&VALIDATION, &mut self.validation);
        see(
            &Spec::word(
                "Training",
                "select",
                "validation score that chooses the best checkpoint; calibrated: nll with the best sd factor",
            ),
            &mut self.select,
        );
        see(
            &Spec::new(
                "Training",
                "averaging",
                "DECAY",
                "decay of the exponential moving average of the weights, which predicts; 0: no averaging",
            )
            .from_below(0.0, 1.0),
            &mut self.averaging,
        );
        see(&DROPOUT, &mut self.dropout);
        see(&WEIGHT_DECAY, &mut self.weight_decay);
        see(
            &Spec::new(
                "Training",
                "adversarial",
                "SHARE",
                "adversarial training: half of the loss is of inputs moved by this share of their range; 0: off",
            )
            .within(0.0, 1.0),
            &mut self.adversarial,
        );
    }
}

impl TrainingConfig {
    /// Says which field is out of range, if one is.
    pub fn check(&self) -> Result<()> {
        Ok(options::check(&mut self.clone())?)
    }
    /// What they mean for so many training rows.
    pub fn course(&self, rows: usize) -> TrainingPlan {
        let batch = self.batch.min(rows).max(1);
        let whole_batches = self.steps.is_some();
        let a_pass = if whole_batches { rows / batch } else { rows.div_ceil(batch) };
        let steps = self.steps.unwrap_or(self.epochs * a_pass);
        TrainingPlan {
            steps,
            epoch: self.check_every.unwrap_or(a_pass).min(steps),
            batch,
            whole_batches,
            optimiser: self.optimiser,
            learning_rate: self.learning_rate,
            // An average of all steps needs steps that stay as long as they are.
            schedule: match (self.optimiser, self.schedule) {
                (Optimiser::ScheduleFree, Schedule::Cosine) => Schedule::WarmUp,
                (_, schedule) => schedule,
            },
            patience: self.patience,
            select: self.select,
            averaging: self.averaging,
            dropout: self.dropout,
            weight_decay: self.weight_decay,
            adversarial: self.adversarial,
            snapshots: self.snapshots,
            halves: 0,
            keeps_last: false,
        }
    }
}
