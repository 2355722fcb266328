//! Splits of rows: training and validation, k folds, groups, blocks in time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use negmm_dist::math::rng::Rng;

/// Splits 0 .. `rows` at random into training and validation rows; `fraction` of them (rounded) are for validation.
///
/// Each part has at least one row if `fraction` is positive and there are two rows; with a fraction of 0, or a single row,
/// there are no validation rows.
///
/// # Panics
/// When `rows` does not fit into 32 bits.
pub fn holdout(rows: usize, fraction: f64, rng: &mut Rng) -> (Vec<u32>, Vec<u32>) {
    let mut train = shuffled(rows, rng);
    let validation = train.split_off(rows - validation_count(rows, fraction));
    (train, validation)
}

/// As [`holdout`] for time series: the last rows are for validation, and both parts are in order.
///
/// # Panics
/// When `rows` does not fit into 32 bits.
pub fn tail(rows: usize, fraction: f64) -> (Vec<u32>, Vec<u32>) {
    let mut train = in_order(rows);
    let validation = train.split_off(rows - validation_count(rows, fraction));
    (train, validation)
}

/// The number of validation rows.
fn validation_count(rows: usize, fraction: f64) -> usize {
    if fraction > 0.0 && rows >= 2 { ((rows as f64 * fraction).round() as usize).clamp(1, rows - 1) } else { 0 }
}

/// Splits 0 .. `rows` at random into `k` folds whose sizes differ by at most one (some are empty if `k` > `rows`).
///
/// # Panics
/// When `rows` does not fit into 32 bits.
pub fn k_folds(rows: usize, k: usize, rng: &mut Rng) -> Vec<Vec<u32>> {
    let order = shuffled(rows, rng);
    (0..k).map(|fold| order.iter().skip(fold).step_by(k).copied().collect()).collect()
}

/// As [`k_folds`], with all rows of a group in one fold: `groups` has the number of each row's group, below the number of
/// rows. Sizes are as even as the groups allow: the largest group first, each into the smallest fold so far.
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

/// As [`holdout`], with all rows of a group in one part: random groups are added until there are enough validation rows.
/// Each part has at least one group if there are two.
///
/// # Panics
/// When a group's number is not below the number of rows, or that does not fit into 32 bits.
pub fn grouped_holdout(groups: &[u32], fraction: f64, rng: &mut Rng) -> (Vec<u32>, Vec<u32>) {
    let (wanted, sizes) = (validation_count(groups.len(), fraction), group_sizes(groups));
    let mut order = shuffled(groups.len(), rng);
    order.retain(|group| sizes[*group as usize] > 0);
    let (mut taken, mut in_validation) = (0, vec![false; groups.len()]);
    for group in order.iter().take(order.len() - 1) {
        if taken >= wanted {
            break;
        }
        in_validation[*group as usize] = true;
        taken += sizes[*group as usize] as usize;
    }
    let (validation, train) =
        shuffled(groups.len(), rng).into_iter().partition(|row| in_validation[groups[*row as usize] as usize]);
    (train, validation)
}

/// Fraction of the rows whose group, numbered as for [`grouped_folds`], has other rows too; 0 without rows.
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

/// The rank of each time, from 0 for the oldest; equal times have one rank.
pub fn ranks(times: &[f64]) -> Vec<u32> {
    // Both zeros are one time.
    let times: Vec<f64> = times.iter().map(|time| time + 0.0).collect();
    let mut different = times.clone();
    different.sort_by(f64::total_cmp);
    different.dedup();
    times.iter().map(|time| different.partition_point(|other| other.total_cmp(time).is_lt()) as u32).collect()
}

/// Cuts rows into parts in the order of time: `times` has the rank of each row's time, and `cuts` the number of rows before each
/// cut, in order. Each cut is moved to the nearest one that does not divide rows of one time; a cut that leaves no row on
/// one side is left out. Rows of one time are in their own order.
///
/// # Panics
/// When the number of rows does not fit into 32 bits.
pub fn cut_in_time(times: &[u32], cuts: &[usize]) -> Vec<Vec<u32>> {
    let mut order = in_order(times.len());
    order.sort_by_key(|row| times[*row as usize]);
    let time = |at: usize| times[order[at] as usize];
    let allowed: Vec<usize> = (1..order.len()).filter(|at| time(*at) != time(at - 1)).collect();
    let nearest = |cut: &usize| {
        let next = allowed.partition_point(|at| at < cut);
        let around = allowed[next.saturating_sub(1)..].iter().take(2).copied();
        around.min_by_key(|at| at.abs_diff(*cut))
    };
    let mut ends: Vec<usize> = cuts.iter().filter_map(nearest).chain([order.len()]).collect();
    ends.dedup();
    let starts = [0].into_iter().chain(ends.clone());
    starts.zip(ends).map(|(start, end)| order[start..end].to_vec()).collect()
}

/// As [`tail`] for rows with times: the newest are for validation, and no time is in both parts. Each part has a row if
/// `fraction` is positive and there are two times.
pub fn newest(times: &[u32], fraction: f64) -> (Vec<u32>, Vec<u32>) {
    let count = validation_count(times.len(), fraction);
    let cuts: Vec<usize> = (count > 0).then(|| times.len() - count).into_iter().collect();
    let mut parts = cut_in_time(times, &cuts);
    let validation = if parts.len() > 1 { parts.pop() } else { None };
    (parts.pop().unwrap_or_default(), validation.unwrap_or_default())
}

/// Splits 0 .. `rows` into `count` consecutive blocks whose sizes differ by at most one. For time series: training on the rows before a
/// block uses nothing from its future.
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
