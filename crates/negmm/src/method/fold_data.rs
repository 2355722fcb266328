//! Fold data: training rows, validation rows and their target-encoded features.

use std::sync::Arc;

use negmm_dist::math::rng::Rng;
use negmm_dist::streams;
use negmm_nn::dataset::{Dataset, TargetEncoding, VERY_MANY};

/// Number of rows of a very large table that are predicted by models that were not trained on them: more would take memory, and hardly
/// change scores or stacking weights.
pub(super) const HELD_OUT_OF_VERY_MANY: usize = 200_000;

/// The data of one training, or of several with the same rows.
#[derive(Clone, Debug)]
pub(super) struct FoldData {
    /// All rows. The target encoding of training rows is cross-fitted; that of all others uses all training rows.
    pub(super) data: Arc<Dataset>,
    /// Training rows.
    pub(super) train: Arc<[u32]>,
    /// Validation rows.
    pub(super) validation: Arc<[u32]>,
    /// The target encoding from all training rows, for new rows.
    pub(super) statistics: Arc<TargetEncoding>,
}

impl FoldData {
    /// From rows without target encoding; `seed` divides the training rows for cross-fitting.
    pub(super) fn new(data: &Arc<Dataset>, (train, validation): (Vec<u32>, Vec<u32>), seed: u64) -> Self {
        let (train, validation): (Arc<[u32]>, Arc<[u32]>) = (train.into(), validation.into());
        if data.levels().is_empty() {
            return Self { data: data.clone(), train, validation, statistics: Arc::default() };
        }
        let (filled, statistics) = data.with_statistics(&train, &mut Rng::new(seed, streams::STATISTICS));
        Self { data: Arc::new(filled), train, validation, statistics: Arc::new(statistics) }
    }

    /// With the fraction `validation_fraction` of the rows for validation, from the random stream that all methods use; of very many
    /// rows the last of these; the others are trained on, unless they belong to a group or time that is held out.
    pub(super) fn split(data: &Arc<Dataset>, validation_fraction: f64, seed: u64) -> Self {
        let (mut train, mut validation) = data.holdout(validation_fraction, &mut Rng::new(seed, streams::VALIDATION));
        if data.len() > VERY_MANY && data.held_out().is_none() {
            let others = validation.len().saturating_sub(HELD_OUT_OF_VERY_MANY);
            let kept = validation.split_off(others);
            if data.groups().is_none() && data.times().is_none() {
                train.extend(validation);
            }
            validation = kept;
            // Rows on disk are read in their order where all are.
            train.sort_unstable();
        }
        Self::new(data, (train, validation), seed)
    }
}
