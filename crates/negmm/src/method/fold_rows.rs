//! Folds of `auto`: held-out rows, their split for cross-fitting, and training rows.
//!
//! Rows with times are held out by forward chaining: the last third of them is cut into blocks, and each block is
//! predicted by what came before it. Models that predict new rows learn from all rows in the same way: the future is one
//! more block.

use std::ops::Range;

use negmm_dist::math::rng::Rng;
use negmm_nn::dataset::Dataset;
use negmm_nn::dataset::split::{blocks, cut_in_time, grouped_folds, grouped_holdout, k_folds, newest};

/// The last 1/HELD_OUT_PART of rows in time order is held out, block by block.
const HELD_OUT_PART: usize = 3;
/// The newest fraction of training rows with times that selects checkpoints, and the fraction of rows of other groups.
const NEWEST: f64 = 0.15;
const OF_OTHER_GROUPS: f64 = 0.2;

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
    if let Some(times) = data.times() {
        let cuts = last_blocks(data.len(), folds).into_iter().filter_map(|block| block.first().copied());
        let parts = cut_in_time(times, &cuts.map(|row| row as usize).collect::<Vec<_>>());
        return parts.into_iter().skip(1).map(ungrouped).collect();
    }
    let folds: Vec<HeldOutFold> = match (data.window(), data.groups()) {
        (Some(_), _) => last_blocks(data.len(), folds).into_iter().map(ungrouped).collect(),
        (None, None) => k_folds(data.len(), folds, rng).into_iter().map(ungrouped).collect(),
        (None, Some(groups)) => {
            grouped_folds(groups, folds, rng).into_iter().map(|rows| grouped(rows, groups)).collect()
        }
    };
    folds.into_iter().filter(|fold| !fold.rows.is_empty()).collect()
}

/// Leaves `most` rows held out, drawn at random, where there are more: the same rows in every repeat, and one more for a fold
/// without any. `rows` is the number of all rows.
pub(super) fn bound_held_out(folds: &mut [HeldOutFold], rows: usize, most: usize, rng: &mut Rng) {
    let mut order: Vec<u32> = folds.iter().flat_map(|fold| fold.rows.iter().copied()).collect();
    order.sort_unstable();
    order.dedup();
    if order.len() <= most {
        return;
    }
    rng.shuffle(&mut order);
    let mut is_drawn = vec![false; rows];
    order[..most].iter().for_each(|row| is_drawn[*row as usize] = true);
    for fold in folds.iter() {
        if !fold.rows.iter().any(|row| is_drawn[*row as usize]) {
            fold.rows.iter().take(1).for_each(|row| is_drawn[*row as usize] = true);
        }
    }
    for HeldOutFold { rows, groups } in folds {
        if let Some(groups) = groups {
            let mut of_rows = rows.iter();
            groups.retain(|_| of_rows.next().is_some_and(|row| is_drawn[*row as usize]));
        }
        rows.retain(|row| is_drawn[*row as usize]);
        rows.shrink_to_fit();
    }
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

/// The training rows of a fold: all others, or those before it where rows are in the order of time.
pub(super) fn training_rows(data: &Dataset, fold: &[u32]) -> Vec<u32> {
    if data.window().is_some() {
        return (0..fold.first().map_or(data.len() as u32, |row| *row)).collect();
    }
    if let Some(times) = data.times() {
        let first = fold.iter().map(|row| times[*row as usize]).min();
        let is_before = |row: &u32| first.is_none_or(|first| times[*row as usize] < first);
        return (0..data.len() as u32).filter(is_before).collect();
    }
    let mut is_held_out = vec![false; data.len()];
    fold.iter().for_each(|row| is_held_out[*row as usize] = true);
    (0..data.len() as u32).filter(|row| !is_held_out[*row as usize]).collect()
}

/// Training rows with times, without the newest, and the newest, which select checkpoints.
pub(super) fn without_newest(times: &[u32], train: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let own: Vec<u32> = train.iter().map(|row| times[*row as usize]).collect();
    let (older, newer) = newest(&own, NEWEST);
    let rows = |list: Vec<u32>| list.into_iter().map(|at| train[at as usize]).collect();
    (rows(older), rows(newer))
}

/// Training rows without those of some groups, and the latter, which select checkpoints.
pub(super) fn without_some_groups(groups: &[u32], train: &[u32], rng: &mut Rng) -> (Vec<u32>, Vec<u32>) {
    let group = |row: &u32| groups[*row as usize];
    let mut numbers: Vec<u32> = train.iter().map(group).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let own: Vec<u32> = train.iter().map(|row| numbers.partition_point(|number| *number < group(row)) as u32).collect();
    let parts = grouped_holdout(&own, OF_OTHER_GROUPS, rng);
    let rows = |list: Vec<u32>| {
        let mut rows: Vec<u32> = list.into_iter().map(|at| train[at as usize]).collect();
        rows.sort_unstable();
        rows
    };
    (rows(parts.0), rows(parts.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_rows_a_sample_is_held_out_in_every_repeat() {
        let mut data = Dataset::new(1);
        (0..900).for_each(|row| data.push(&[0.0], row as f32));
        let grouped = data.clone().with_groups((0..900).map(|row| row / 3));
        for data in [data, grouped] {
            let folds = |repeat| held_out_folds(&data, 5, &mut Rng::new(1, repeat));
            let mut both: Vec<HeldOutFold> = (0..2).flat_map(folds).collect();
            let whole: Vec<Vec<u32>> = both.iter().map(|fold| fold.rows.clone()).collect();
            bound_held_out(&mut both, 900, 900, &mut Rng::new(2, 0));
            assert!(both.iter().zip(&whole).all(|(fold, whole)| fold.rows == *whole));
            bound_held_out(&mut both, 900, 300, &mut Rng::new(2, 0));
            let rows = |folds: &[HeldOutFold]| {
                let mut rows: Vec<u32> = folds.iter().flat_map(|fold| fold.rows.iter().copied()).collect();
                rows.sort_unstable();
                rows
            };
            assert_eq!((rows(&both[..5]), rows(&both[..5]).len()), (rows(&both[5..]), 300));
            for (fold, whole) in both.iter().zip(&whole) {
                assert!(fold.rows.iter().all(|row| whole.contains(row)) && fold.rows.len() > 30);
                if let (Some(groups), Some(all)) = (&fold.groups, data.groups()) {
                    assert!(fold.rows.iter().map(|row| all[*row as usize]).eq(groups.iter().copied()));
                }
            }
        }
    }

    #[test]
    fn other_groups_select_where_a_fold_is_one_group() {
        // Groups of 10 rows, numbered with gaps.
        let groups: Vec<u32> = (0..60).map(|row| 7 * (row / 10)).collect();
        let train: Vec<u32> = (0..60).filter(|row| !(20..30).contains(row)).collect();
        let (learnt, selecting) = without_some_groups(&groups, &train, &mut Rng::new(1, 0));
        assert_eq!((learnt.len(), selecting.len()), (40, 10));
        let of = |rows: &[u32]| rows.iter().map(|row| groups[*row as usize]).collect::<Vec<_>>();
        assert!(of(&selecting).iter().all(|group| *group == of(&selecting)[0] && *group != 14));
        let mut all = [learnt, selecting].concat();
        all.sort_unstable();
        assert_eq!(all, train);
        // Nothing is left to select by.
        let alone: Vec<u32> = (0..10).collect();
        assert_eq!(without_some_groups(&groups, &alone, &mut Rng::new(1, 0)), (alone.clone(), Vec::new()));
        assert_eq!(cross_fitting_split(3, Some(&[5, 5, 5])), 0);
    }
}
