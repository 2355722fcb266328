//! Early stopping and checkpoint selection.

use serde::{Deserialize, Serialize};

use super::Validation;
use crate::options::Choice;

/// The validation score that selects the checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Selection {
    /// Mean logarithmic score.
    Nll,
    /// Mean energy score (CRPS).
    Crps,
    /// Mean logarithmic score with all sds times the best factor for the validation rows among [`SD_FACTORS`]: for members of a pool,
    /// which may be overconfident while their means still improve.
    Calibrated,
}

impl Choice for Selection {}

/// The factors tried: twelve from 0.64 to 3.3 at equal ratios.
pub const SD_FACTORS: [f32; 12] =
    [0.64, 0.742_9, 0.862_4, 1.001_1, 1.162_1, 1.348_9, 1.565_8, 1.817_7, 2.11, 2.449_3, 2.843_2, 3.3];

impl Selection {
    /// The selected score of validation rows; NaN if it was not computed.
    pub fn score(self, validation: &Validation) -> f64 {
        let score = match self {
            Self::Nll => validation.nll,
            // If all rows are censored, there is only the logarithmic score.
            Self::Crps => validation.crps.or(validation.nll),
            Self::Calibrated => validation.calibrated,
        };
        score.unwrap_or(f64::NAN)
    }
}

/// The best epoch so far.
#[derive(Clone, Copy, Debug)]
pub struct EarlyStopping {
    patience: usize,
    best: f64,
    best_epoch: usize,
}

impl EarlyStopping {
    /// `patience`: epochs without a better score before training stops; 0: never.
    pub fn new(patience: usize) -> Self {
        Self { patience, best: f64::INFINITY, best_epoch: 0 }
    }

    /// Whether `score` in `epoch` is the best so far; NaN never is.
    pub fn improves(&mut self, epoch: usize, score: f64) -> bool {
        let better = score < self.best;
        if better {
            self.best = score;
            self.best_epoch = epoch;
        }
        better
    }

    /// The best epoch so far.
    pub fn best_epoch(&self) -> usize {
        self.best_epoch
    }

    /// Whether patience has run out in `epoch`.
    pub fn exhausted(&self, epoch: usize) -> bool {
        self.patience > 0 && epoch - self.best_epoch >= self.patience
    }
}
