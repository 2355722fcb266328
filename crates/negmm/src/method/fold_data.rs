//! Fold data: training rows, validation rows and their target-encoded features.

use std::sync::Arc;

use negmm_dist::math::rng::Rng;
use negmm_dist::streams;
use negmm_nn::dataset::{Dataset, TargetEncoding};

/// What one training, or several with the same rows, learn from.
#[derive(Clone, Debug)]
pub(super) struct FoldData {
    /// All rows. Those that train have statistics of others that train, all others those of all rows that train.
    pub(super) data: Arc<Dataset>,
    /// The rows that train.
    pub(super) train: Vec<u32>,
    /// The rows that choose what is kept.
    pub(super) validation: Vec<u32>,
    /// The statistics of all rows that train, for new rows.
    pub(super) statistics: Arc<TargetEncoding>,
}

impl FoldData {
    /// Of rows whose statistics are not filled in yet; `seed` divides the rows that train.
    pub(super) fn new(data: &Arc<Dataset>, (train, validation): (Vec<u32>, Vec<u32>), seed: u64) -> Self {
        if data.levels().is_empty() {
            return Self { data: data.clone(), train, validation, statistics: Arc::default() };
        }
        let (filled, statistics) = data.with_statistics(&train, &mut Rng::new(seed, streams::STATISTICS));
        Self { data: Arc::new(filled), train, validation, statistics: Arc::new(statistics) }
    }

    /// With `share` of the rows for validation, by the stream that all methods choose them with.
    pub(super) fn split(data: &Arc<Dataset>, share: f64, seed: u64) -> Self {
        Self::new(data, data.holdout(share, &mut Rng::new(seed, streams::VALIDATION)), seed)
    }
}
