//! The training record of a model.

use serde::{Deserialize, Serialize};

use negmm_dist::Metrics;
use negmm_nn::train::History;

/// How a model was trained. It holds no clock time: the same training leaves the same record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The version of negmm that trained it.
    pub version: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// Rows given, the validation rows among them.
    pub rows: usize,
    /// Rows that chose the weights.
    pub validation_rows: usize,
    /// Scores on the validation rows in the target's own unit; `None` without such rows, or where a score is not finite.
    /// They chose the weights, so they are a little too good. Where not all targets are known, see [`Metrics::censored`].
    pub validation: Option<Metrics>,
    /// What the training targets' own mean and sd score on the same rows: the level to beat.
    pub baseline: Option<Metrics>,
    /// The training of each network.
    pub histories: Vec<History>,
}

impl Record {
    /// Says what cannot be of a training, if something cannot: of a file that somebody else wrote.
    pub(super) fn check(&self) -> Result<(), String> {
        self.validation.iter().chain(&self.baseline).try_for_each(Metrics::check)?;
        let kept = |history: &History| history.best_epoch < history.epochs.len().max(1);
        if !self.histories.iter().all(kept) {
            return Err("the epoch that was kept is none of its training".into());
        }
        Ok(())
    }
}
