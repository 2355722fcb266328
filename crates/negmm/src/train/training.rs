//! Responsible for the settings of a training: how the epochs run, and what that means for so many rows.

use serde::{Deserialize, Serialize};

use super::{Course, Schedule, Selection};
use crate::{Error, Result};

/// How the epochs run.
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `epochs` | 400 | 1 … | passes over the training rows, at most |
/// | `steps` | none | 1 … | steps instead of epochs; rows that do not fill a batch wait for the next pass |
/// | `check_every` | none | 1 … | steps between looks at the validation rows; none: once an epoch |
/// | `batch` | 32 | 1 … | rows of one step |
/// | `learning_rate` | 0.005 | >0 … 1000 | Adam's step size at its highest |
/// | `schedule` | cosine | | how the rate moves, see [`Schedule`] |
/// | `patience` | 0 | 0 … | epochs (looks, with `check_every`) without a better validation score before stopping; 0: never |
/// | `validation` | 0.15 | 0 … 0.9 | share of the rows set aside to choose the weights that are kept |
/// | `select` | nll | | the validation score that chooses, see [`Selection`] |
/// | `averaging` | 0.99 | 0 … <1 | decay of the running average of the weights that is kept and predicts; 0: the weights themselves |
/// | `dropout` | 0 | 0 … <1 | share of hidden units switched off in each step |
/// | `adversarial` | 0 | 0 … 1 | half of the loss is that of inputs moved by this share of their range to where the loss grows; 0: off |
/// | `weight_decay` | 0 | 0 … | decoupled: each step also shrinks weights (not biases) by rate × this |
/// | `snapshots` | 0 | 0 … | the weights are also kept after every so many epochs, see [`Trained`](super::Trained); 0: never. In no file |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Training {
    /// Passes over the training rows, at most.
    pub epochs: usize,
    /// Steps instead of epochs.
    #[serde(default)]
    pub steps: Option<usize>,
    /// Steps between looks at the validation rows; once an epoch without.
    #[serde(default)]
    pub check_every: Option<usize>,
    /// Rows of one step.
    pub batch: usize,
    /// Adam's step size at its highest.
    pub learning_rate: f64,
    /// How the rate moves.
    pub schedule: Schedule,
    /// Looks at the validation rows without a better score before stopping; 0: never.
    pub patience: usize,
    /// Share of the rows set aside.
    pub validation: f64,
    /// The score that chooses the weights that are kept.
    pub select: Selection,
    /// Decay of the running average of the weights.
    pub averaging: f64,
    /// Share of hidden units switched off.
    pub dropout: f64,
    /// Decoupled weight decay.
    pub weight_decay: f64,
    /// Share of each input's range by which adversarial inputs are moved.
    pub adversarial: f64,
    /// Epochs from one snapshot of the weights to the next; 0: none are kept.
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

impl Training {
    /// Says which field is out of range, if one is.
    pub fn check(&self) -> Result<()> {
        let refuse = |name: &str, range: &str, found: String| {
            Err(Error::options(format!("{name} must be {range}, found {found}")))
        };
        if self.epochs == 0 || self.epochs > 10_000_000 {
            return refuse("epochs", "from 1 to 10000000", self.epochs.to_string());
        }
        for (name, steps) in [("steps", self.steps), ("check-every", self.check_every)] {
            if let Some(steps) = steps.filter(|steps| !(1..=1_000_000_000).contains(steps)) {
                return refuse(name, "from 1 to 1000000000", steps.to_string());
            }
        }
        if self.batch == 0 {
            return refuse("batch", "at least 1", self.batch.to_string());
        }
        // A step moves a weight by a few times the rate: with this bound no number of steps leaves the range of f32.
        if !(self.learning_rate > 0.0 && self.learning_rate <= 1000.0) {
            return refuse("learning-rate", "above 0 and at most 1000", self.learning_rate.to_string());
        }
        if !(0.0..=0.9).contains(&self.validation) {
            return refuse("validation", "from 0 to 0.9", self.validation.to_string());
        }
        if !(0.0..1.0).contains(&self.averaging) {
            return refuse("averaging", "at least 0 and below 1", self.averaging.to_string());
        }
        if !(0.0..1.0).contains(&self.dropout) {
            return refuse("dropout", "at least 0 and below 1", self.dropout.to_string());
        }
        if !(0.0..=1.0).contains(&self.adversarial) {
            return refuse("adversarial", "from 0 to 1", self.adversarial.to_string());
        }
        if !(self.weight_decay >= 0.0 && self.weight_decay.is_finite()) {
            return refuse("weight-decay", "at least 0", self.weight_decay.to_string());
        }
        Ok(())
    }
    /// What they mean for so many training rows.
    pub fn course(&self, rows: usize) -> Course {
        let batch = self.batch.min(rows).max(1);
        let whole_batches = self.steps.is_some();
        let a_pass = if whole_batches { rows / batch } else { rows.div_ceil(batch) };
        let steps = self.steps.unwrap_or(self.epochs * a_pass);
        Course {
            steps,
            epoch: self.check_every.unwrap_or(a_pass).min(steps),
            batch,
            whole_batches,
            learning_rate: self.learning_rate,
            schedule: self.schedule,
            patience: self.patience,
            select: self.select,
            averaging: self.averaging,
            dropout: self.dropout,
            weight_decay: self.weight_decay,
            adversarial: self.adversarial,
            snapshots: self.snapshots,
        }
    }
}
