//! The training record of a model.

use serde::{Deserialize, Serialize};

use negmm_dist::{Metrics, Skill};
use negmm_nn::dataset::VERY_MANY;
use negmm_nn::train::History;

/// How a model was trained. It contains no times: the same training gives the same record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The version of negmm that trained it.
    pub version: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// Number of rows, including validation rows.
    pub rows: usize,
    /// Number of validation rows.
    pub validation_rows: usize,
    /// Scores on the validation rows in the target's unit; `None` without such rows, or where a score is not finite.
    /// They are slightly optimistic, as these rows also select the weights. For censored targets see
    /// [`Metrics::censored`].
    pub validation: Option<Metrics>,
    /// Scores of the constant baseline on the same rows.
    pub baseline: Option<Metrics>,
    /// The skill on the validation rows: 1 - CRPS / the baseline's; `None` for censored targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<Skill>,
    /// The expected CRPS of the pool of all models over that of the held-out predictions, which are of fewer models; `None` where
    /// it is not known, or not lower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_ratio: Option<f64>,
    /// The column of times by which validation rows are newer than training rows, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The training of each network.
    pub histories: Vec<History>,
}

impl Record {
    /// The CRPS that the pool of all models is expected to have on the validation rows, which were predicted by fewer; `None` where
    /// it is not known, or not lower.
    pub fn pool_crps(&self) -> Option<f64> {
        Some(self.pool_ratio? * self.validation.as_ref()?.crps)
    }

    /// Whether the validation rows are drawn at random from very many rows that were held out.
    pub fn holds_out_sample(&self) -> bool {
        self.rows > VERY_MANY && self.validation_rows < self.rows
    }

    /// Checks that the values are possible, for files from elsewhere.
    pub(super) fn check(&self) -> Result<(), String> {
        self.validation.iter().chain(&self.baseline).try_for_each(Metrics::check)?;
        if self.pool_ratio.is_some_and(|ratio| !(0.0..1.0).contains(&ratio)) {
            return Err("the expected CRPS of its pool is out of range".into());
        }
        let is_valid = |history: &History| history.best_epoch < history.epochs.len().max(1);
        if !self.histories.iter().all(is_valid) {
            return Err("the best epoch is not an epoch of the training".into());
        }
        Ok(())
    }
}
