//! Training history: losses and validation scores by epoch.

use serde::{Deserialize, Serialize};

/// Mean scores over the validation rows, in units of the standardised target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// Logarithmic score, if it was computed.
    pub nll: Option<f64>,
    /// Energy score, if it was computed.
    pub crps: Option<f64>,
    /// Logarithmic score with the best sd factor for these rows, if it was computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibrated: Option<f64>,
}

/// One pass over the training rows, or the steps between two validation checks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Mean loss over the steps taken, in units of the standardised target; `None` if no step was taken.
    pub loss: Option<f64>,
    /// Scores after it; `None` without validation rows, or if they are not finite.
    pub validation: Option<Validation>,
    /// The learning rate of its last step.
    pub learning_rate: f64,
    /// Steps not taken because the loss or a gradient was not finite.
    pub skipped: usize,
}

/// All epochs of a training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// First to last.
    pub epochs: Vec<Epoch>,
    /// Index of the epoch whose weights were kept.
    pub best_epoch: usize,
}

impl History {
    /// Steps not taken, over all epochs.
    pub fn skipped(&self) -> usize {
        self.epochs.iter().fold(0, |sum, epoch| sum.saturating_add(epoch.skipped))
    }
}
