//! Splits of rows: training and validation, k folds, groups, blocks in time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use negmm_dist::math::rng::Rng;

/// Divides 0 .. `rows` at random into training and validation rows, `share` of them (rounded) for validation.
///
/// Each part has at least one row when `share` is positive and there are two rows; with a share of 0, or a single row,
/// there is no validation.
///
/// # Panics
/// When `rows` does not fit into 32 bits.
pub fn holdout(rows: usize, share: f64, rng: &mut Rng) -> (Vec<u32>, Vec<u32>) {
    let mut train = shuffled(rows, rng);
    let validation = train.split_off(rows - held(rows, share));
    (train, validation)
}

/// As [`holdout`] in time: the last rows are for validation, and both parts are in order.
///
/// # Panics
/// When `rows` does not fit into 32 bits.
pub fn tail(rows: usize, share: f64) -> (Vec<u32>, Vec<u32>) {
    let mut train = in_order(rows);
    let validation = train.split_off(rows - held(rows, share));
    (train, validation)
}

/// Rows for validation.
fn held(rows: usize, share: f64) -> usize {
    if share > 0.0 && rows >= 2 { ((rows as f64 * share).round() as usize).clamp(1, rows - 1) } else { 0 }
}

/// Divides 0 .. `rows` at random into `k` parts whose sizes differ by at most one (some are empty when `k` > `rows`).
///
/// # Panics
/// When `rows` does not fit into 32 bits.
pub fn k_folds(rows: usize, k: usize, rng: &mut Rng) -> Vec<Vec<u32>> {
    let order = shuffled(rows, rng);
    (0..k).map(|fold| order.iter().skip(fold).step_by(k).copied().collect()).collect()
}

/// As [`k_folds`], with all rows of a group in one part: `groups` has the number of each row's group, below the number of
/// rows. Sizes are as even as the groups allow: the largest group first, each into the part that is the smallest so far.
///
/// # Panics
/// When a group's number is not below the number of rows, or that does not fit into 32 bits.
pub fn grouped_folds(groups: &[u32], k: usize, rng: &mut Rng) -> Vec<Vec<u32>> {
    let mut folds = vec![Vec::new(); k];
    if k == 0 {
        return folds;
    }
    let sizes = group_sizes(groups);
    let mut order = shuffled(groups.len(), rng);
    order.sort_by_key(|group| Reverse(sizes[*group as usize]));
    let mut smallest: BinaryHeap<Reverse<(u32, usize)>> = (0..k).map(|fold| Reverse((0, fold))).collect();
    let mut fold_of = vec![0; groups.len()];
    for group in order {
        if let Some(mut fold) = smallest.peek_mut() {
            fold_of[group as usize] = fold.0.1;
            fold.0.0 += sizes[group as usize];
        }
    }
    for (row, group) in in_order(groups.len()).into_iter().zip(groups) {
        folds[fold_of[*group as usize]].push(row);
    }
    folds
}

/// As [`holdout`], with all rows of a group in one part: groups at random, as long as the validation rows are fewer than asked for.
/// Each part has a group where there are two.
///
/// # Panics
/// When a group's number is not below the number of rows, or that does not fit into 32 bits.
pub fn grouped_holdout(groups: &[u32], share: f64, rng: &mut Rng) -> (Vec<u32>, Vec<u32>) {
    let (wanted, sizes) = (held(groups.len(), share), group_sizes(groups));
    let mut order = shuffled(groups.len(), rng);
    order.retain(|group| sizes[*group as usize] > 0);
    let (mut taken, mut is_held) = (0, vec![false; groups.len()]);
    for group in order.iter().take(order.len() - 1) {
        if taken >= wanted {
            break;
        }
        is_held[*group as usize] = true;
        taken += sizes[*group as usize] as usize;
    }
    let (validation, train) =
        shuffled(groups.len(), rng).into_iter().partition(|row| is_held[groups[*row as usize] as usize]);
    (train, validation)
}

/// Share of the rows whose group, numbered as for [`grouped_folds`], has other rows too; 0 without rows.
pub fn repeated(groups: &[u32]) -> f64 {
    let among_others: u32 = group_sizes(groups).into_iter().filter(|size| *size > 1).sum();
    f64::from(among_others) / groups.len().max(1) as f64
}

/// Rows of each group.
pub fn group_sizes(groups: &[u32]) -> Vec<u32> {
    let mut sizes = vec![0; groups.len()];
    groups.iter().for_each(|group| sizes[*group as usize] += 1);
    sizes
}

/// Cuts 0 .. `rows` into `count` blocks, one after the other, whose sizes differ by at most one. For rows in the order of
/// time: who learns from the rows before a block does not look into its future.
pub fn blocks(rows: usize, count: usize) -> Vec<Range<usize>> {
    let cut = |block: usize| (block as u128 * rows as u128 / count as u128) as usize;
    (0..count).map(|block| cut(block)..cut(block + 1)).collect()
}

fn shuffled(rows: usize, rng: &mut Rng) -> Vec<u32> {
    let mut order = in_order(rows);
    rng.shuffle(&mut order);
    order
}

fn in_order(rows: usize) -> Vec<u32> {
    assert!(u32::try_from(rows).is_ok(), "row numbers fit into 32 bits");
    (0..rows as u32).collect()
}
