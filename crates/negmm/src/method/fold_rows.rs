//! Folds of `auto`: held-out rows, their split for cross-fitting, and training rows.

use std::ops::Range;

use negmm_dist::math::rng::Rng;
use negmm_nn::dataset::Dataset;
use negmm_nn::dataset::split::{blocks, grouped_folds, k_folds};

/// The last 1/HELD_OUT_PART of a sequence is held out, block by block.
const HELD_OUT_PART: usize = 3;

/// The held-out rows of a fold, at least one. With groups, the group of each; rows are sorted by group.
pub(super) struct HeldOutFold {
    pub(super) rows: Vec<u32>,
    pub(super) groups: Option<Vec<u32>>,
}

/// Divides the rows into folds. Rows of a group stay together.
pub(super) fn held_out_folds(data: &Dataset, folds: usize, rng: &mut Rng) -> Vec<HeldOutFold> {
    let ungrouped = |rows: Vec<u32>| HeldOutFold { rows, groups: None };
    let grouped = |mut rows: Vec<u32>, groups: &[u32]| {
        rows.sort_by_key(|row| groups[*row as usize]);
        HeldOutFold { groups: Some(rows.iter().map(|row| groups[*row as usize]).collect()), rows }
    };
    let folds: Vec<HeldOutFold> = match (data.window(), data.groups()) {
        (Some(_), _) => last_blocks(data.len(), folds).into_iter().map(ungrouped).collect(),
        (None, None) => k_folds(data.len(), folds, rng).into_iter().map(ungrouped).collect(),
        (None, Some(groups)) => {
            grouped_folds(groups, folds, rng).into_iter().map(|rows| grouped(rows, groups)).collect()
        }
    };
    folds.into_iter().filter(|fold| !fold.rows.is_empty()).collect()
}

/// Index of the first row of the second cross-fitting part among the first `checked` rows of a fold, with no group in
/// both parts: 0 where there are no two parts.
pub(super) fn cross_fitting_split(checked: usize, groups: Option<&[u32]>) -> usize {
    let Some(groups) = groups else { return checked / 2 };
    let cuts = (1..checked).filter(|cut| groups[*cut] != groups[cut - 1]);
    cuts.min_by_key(|cut| cut.abs_diff(checked / 2)).unwrap_or(0)
}

/// The last third of rows in time order, cut into `folds` blocks; at least one row comes before the first.
fn last_blocks(rows: usize, folds: usize) -> Vec<Vec<u32>> {
    let first = (rows - rows / HELD_OUT_PART).max(1);
    let block = |block: Range<usize>| (first + block.start) as u32..(first + block.end) as u32;
    blocks(rows.saturating_sub(first), folds).into_iter().map(|range| block(range).collect()).collect()
}

/// The training rows of a fold: all others, or for a sequence those before it.
pub(super) fn training_rows(data: &Dataset, fold: &[u32]) -> Vec<u32> {
    if data.window().is_some() {
        return (0..fold[0]).collect();
    }
    let mut is_held_out = vec![false; data.len()];
    fold.iter().for_each(|row| is_held_out[*row as usize] = true);
    (0..data.len() as u32).filter(|row| !is_held_out[*row as usize]).collect()
}
