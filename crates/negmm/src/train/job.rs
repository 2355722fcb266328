//! Responsible for saying what is to be trained: a network, an objective, rows, and how the epochs run.

use serde::{Deserialize, Serialize};

use super::{Objective, Schedule, Selection};
use crate::Result;
use crate::data::Dataset;
use crate::net::Network;
use crate::options::{self, Options, Slot, Spec};

/// One network to train.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// Its shape.
    pub network: Network,
    /// What its outputs mean and what is minimised.
    pub objective: Objective,
    /// All rows.
    pub data: &'a Dataset,
    /// The rows it learns from.
    pub train: Vec<u32>,
    /// The rows that decide which weights are kept; may be empty.
    pub validation: Vec<u32>,
    /// How the epochs run.
    pub training: Training,
    /// Where its random numbers start: initial weights, order of rows, dropout.
    pub seed: u64,
}

/// How the epochs run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Training {
    /// Passes over the training rows, at most.
    pub epochs: usize,
    /// Steps instead of epochs; rows that do not fill a batch wait for the next pass.
    pub steps: Option<usize>,
    /// Steps between looks at the validation rows; once an epoch without.
    pub check_every: Option<usize>,
    /// Rows of one step.
    pub batch: usize,
    /// Adam's step size at its highest.
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

impl Default for Training {
    fn default() -> Self {
        Self {
            epochs: 400,
            steps: None,
            check_every: None,
            batch: 32,
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
pub(crate) const BATCH: Spec = Spec::new("Training", "batch", "N", "batch size: rows of one step").at_least(1.0);

/// A step moves a weight by a few times the rate: with this bound no number of steps leaves the range of f32.
pub(crate) const LEARNING_RATE: Spec =
    Spec::new("Training", "learning-rate", "RATE", "learning rate of Adam at its highest")
        .above_up_to(0.0, 1000.0)
        .basic();

/// Steps, or between steps, at most.
const MOST_STEPS: f64 = 1e9;

/// Steps instead of epochs.
pub(crate) const STEPS: Spec =
    Spec::new("Training", "steps", "N", "steps to train each network; given, they take the place of epochs")
        .within(1.0, MOST_STEPS);

/// Early stopping.
pub(crate) const PATIENCE: Spec = Spec::new(
    "Training",
    "patience",
    "N",
    "early stopping after so many validation checks (boosting: rounds) without a better score; 0: no early stopping",
);

/// Share of the rows set aside.
pub(crate) const VALIDATION: Spec = Spec::new(
    "Training",
    "validation",
    "SHARE",
    "validation fraction: share of the rows held out to choose the best checkpoint (boosting: the number of rounds)",
)
.within(0.0, 0.9);

/// Share of hidden units switched off.
pub(crate) const DROPOUT: Spec =
    Spec::new("Training", "dropout", "SHARE", "dropout: share of the hidden units switched off in each step")
        .from_below(0.0, 1.0);

impl Options for Training {
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
        see(&LEARNING_RATE, &mut self.learning_rate);
        see(
            &Spec::word("Training", "schedule", "learning rate schedule; cosine warms up, then goes down to zero"),
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
        see(
            &Spec::new(
                "Training",
                "weight-decay",
                "DECAY",
                "decoupled weight decay: each step also shrinks the weights by learning rate times this",
            ),
            &mut self.weight_decay,
        );
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

impl Training {
    /// Says which field is out of range, if one is.
    pub fn check(&self) -> Result<()> {
        Ok(options::check(&mut self.clone())?)
    }
}
