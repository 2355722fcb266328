//! The training record of a joint model.

use serde::{Deserialize, Serialize};

use super::JointMetrics;
use negmm_nn::train::History;

/// How a joint model was trained. It contains no times: the same training gives the same record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JointRecord {
    /// The version of negmm that trained it.
    pub version: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// Rows that have at least one target.
    pub rows: usize,
    /// Held-out rows.
    pub validation_rows: usize,
    /// Scores on the held-out rows; `None` without such rows, or where a score is not finite.
    pub validation: Option<JointMetrics>,
    /// Scores of the constant baseline on the same rows.
    pub baseline: Option<JointMetrics>,
    /// Held-out energy score of each form of the pool, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forms: Vec<(String, f64)>,
    /// The training of each joint network.
    pub histories: Vec<History>,
}
