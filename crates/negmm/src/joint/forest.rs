//! A forest of several targets: strong where inputs recall rows of training, or targets have few values.

use std::sync::Arc;

use super::JointForm;
use super::targets::EncodedTargets;
use crate::method::joint_forest;
use negmm_dist::{JointMixtures, Result, Rng, streams};
use negmm_nn::dataset::split::{grouped_folds, k_folds};
use negmm_nn::dataset::{Dataset, TargetEncoding};
use negmm_nn::forest::JointForest;

/// Folds of the held-out predictions.
const FOLDS: usize = 4;

/// The forest of all rows.
pub(super) fn fit(encoded: &EncodedTargets, seed: u64) -> JointForm {
    let (forest, statistics) = joint_forest(&encoded.data, (0..encoded.data.len() as u32).collect(), seed);
    JointForm::Forest { forest, statistics }
}

/// Predictions of each row by forests that were not grown on it; `None` where a fold leaves no row with all targets.
pub(super) fn held_out(encoded: &EncodedTargets, seed: u64) -> Result<Option<JointMixtures>> {
    let data = &encoded.data;
    let rng = &mut Rng::new(seed, streams::JOINT_FIT);
    let folds = match data.groups() {
        Some(groups) => grouped_folds(groups, FOLDS, rng),
        None => k_folds(data.len(), FOLDS, rng),
    };
    let (mut parts, mut order) = (Vec::new(), vec![0; data.len()]);
    let mut before = 0;
    for rows in folds.iter().filter(|rows| !rows.is_empty()) {
        let mut is_held_out = vec![false; data.len()];
        for (at, row) in rows.iter().enumerate() {
            is_held_out[*row as usize] = true;
            order[*row as usize] = before + at;
        }
        before += rows.len();
        let train: Vec<u32> = (0..data.len() as u32).filter(|row| !is_held_out[*row as usize]).collect();
        if !train.iter().any(|row| encoded.is_complete(*row as usize)) {
            return Ok(None);
        }
        let (forest, statistics) = joint_forest(data, train, seed);
        parts.push(predict(&forest, &statistics, &data.select(rows))?);
    }
    Ok(Some(JointMixtures::concatenate_rows(&parts).select(&order)))
}

/// The mixtures of each row, in units of the standardised targets.
pub(super) fn predict(forest: &JointForest, statistics: &Arc<TargetEncoding>, data: &Dataset) -> Result<JointMixtures> {
    forest.predict(statistics.of_rows(data)?.as_ref())
}
