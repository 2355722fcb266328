//! Predictions in units of the standardised target.

use serde::{Deserialize, Serialize};

use negmm_dist::Novelty;
use negmm_dist::{Mixtures, Predictions};

/// How the members of a pool become one prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Pool {
    /// All components or samples of all members, exactly.
    Mixture,
    /// One Gaussian with the mixture's mean and variance.
    Gaussian,
}

/// One distribution for each row in units of the standardised target, not yet pooled.
#[derive(Clone, Debug, PartialEq)]
pub struct Standardised {
    predictions: Predictions,
    pool: Pool,
}

impl Standardised {
    pub(crate) fn new(predictions: Predictions, pool: Pool) -> Self {
        Self { predictions, pool }
    }

    /// Each row with the variance that lying outside the ranges of training adds.
    #[must_use]
    pub(crate) fn widened(self, novelty: &Novelty) -> Self {
        Self { predictions: self.predictions.widened(novelty.variances()), ..self }
    }

    /// The mean of each row.
    pub(crate) fn means(&self) -> Vec<f64> {
        self.predictions.mean()
    }

    /// In the target's own unit, where a value y here is y · `scale` + `shift`, and pooled.
    pub fn in_unit(self, shift: f64, scale: f64) -> Predictions {
        let predictions = self.predictions.rescale(shift, scale);
        match self.pool {
            Pool::Mixture => predictions,
            Pool::Gaussian => predictions.moment_matched(),
        }
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.predictions.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.predictions.is_empty()
    }

    /// The mixture of all members' components of each row, where the predictions are mixtures.
    pub fn mixtures(&self) -> Option<&Mixtures> {
        self.predictions.mixtures()
    }

    /// The same, without a copy.
    pub fn into_mixtures(self) -> Option<Mixtures> {
        self.predictions.into_mixtures()
    }
}
