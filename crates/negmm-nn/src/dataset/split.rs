//! Responsible for dividing rows, at random or in time: training and validation, and folds.

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
fn group_sizes(groups: &[u32]) -> Vec<u32> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(parts: &[Vec<u32>]) -> Vec<u32> {
        let mut all = parts.concat();
        all.sort_unstable();
        all
    }

    #[test]
    fn holdout_keeps_every_row_once() {
        for (rows, share, held) in [(0, 0.2, 0), (1, 0.2, 0), (2, 0.01, 1), (2, 0.99, 1), (100, 0.2, 20), (100, 0.0, 0)]
        {
            let (train, validation) = holdout(rows, share, &mut Rng::new(1, 2));
            assert_eq!(validation.len(), held, "{rows} {share}");
            assert_eq!(sorted(&[train, validation]), (0..rows as u32).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_tail_is_the_last_in_time() {
        assert_eq!(tail(5, 0.4), (vec![0, 1, 2], vec![3, 4]));
        assert_eq!(tail(5, 0.0), (vec![0, 1, 2, 3, 4], vec![]));
        assert_eq!((tail(1, 0.5), tail(0, 0.5)), ((vec![0], vec![]), (vec![], vec![])));
    }

    #[test]
    fn folds_are_even_and_keep_every_row_once() {
        for (rows, k) in [(10, 3), (9, 3), (2, 5), (0, 2), (100, 10)] {
            let folds = k_folds(rows, k, &mut Rng::new(3, 4));
            assert_eq!(folds.len(), k);
            let sizes = folds.iter().map(Vec::len);
            assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1);
            assert_eq!(sorted(&folds), (0..rows as u32).collect::<Vec<_>>());
        }
        assert!(k_folds(5, 0, &mut Rng::new(0, 0)).is_empty());
    }

    #[test]
    fn a_group_is_held_out_whole() {
        let groups: Vec<u32> = (0..100).map(|row| row / 7).collect();
        for (share, least, most) in [(0.0, 0, 0), (0.2, 20, 26), (0.99, 90, 98)] {
            let (train, validation) = grouped_holdout(&groups, share, &mut Rng::new(1, 2));
            assert!((least..=most).contains(&validation.len()), "{share}: {}", validation.len());
            assert!(
                train.iter().all(|row| validation.iter().all(|held| groups[*row as usize] != groups[*held as usize]))
            );
            assert_eq!(sorted(&[train, validation]), (0..100).collect::<Vec<_>>());
        }
        assert!(grouped_holdout(&[0; 5], 0.5, &mut Rng::new(1, 2)).1.is_empty());
    }

    #[test]
    fn groups_stay_together() {
        let mut rng = Rng::new(8, 0);
        for (rows, names, k) in [(100, 100, 10), (100, 30, 7), (1000, 12, 5), (9, 2, 4), (1, 1, 3), (0, 1, 2)] {
            let groups: Vec<u32> = (0..rows).map(|_| rng.below(names) as u32).collect();
            let folds = grouped_folds(&groups, k, &mut Rng::new(3, 4));
            assert_eq!((folds.len(), sorted(&folds)), (k, (0..rows as u32).collect()));
            let sizes = group_sizes(&groups);
            for group in 0..rows as u32 {
                let holds = |fold: &&Vec<u32>| fold.iter().any(|row| groups[*row as usize] == group);
                assert_eq!(folds.iter().filter(holds).count(), usize::from(sizes[group as usize] > 0));
            }
            // A part is never larger than another by more than a group.
            let (least, most) = (folds.iter().map(Vec::len).min().unwrap(), folds.iter().map(Vec::len).max().unwrap());
            assert!(most - least <= sizes.into_iter().max().unwrap_or(0) as usize, "{least} {most}");
            assert_eq!(folds, grouped_folds(&groups, k, &mut Rng::new(3, 4)));
        }
        assert!(grouped_folds(&[0, 0], 0, &mut Rng::new(0, 0)).is_empty());
    }

    #[test]
    fn groups_of_one_row_make_even_folds_that_the_seed_decides() {
        let groups: Vec<u32> = (0..103).collect();
        let folds = |seed| grouped_folds(&groups, 10, &mut Rng::new(seed, 0));
        assert!(folds(1).iter().all(|fold| fold.len() == 10 || fold.len() == 11));
        assert_ne!(folds(1), folds(2));
        // One large group fills a part, the others share the rest.
        let large: Vec<u32> = (0..100).map(|row: u32| row.saturating_sub(40)).collect();
        let mut sizes: Vec<usize> = grouped_folds(&large, 4, &mut Rng::new(1, 0)).iter().map(Vec::len).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [19, 20, 20, 41]);
        assert_eq!((repeated(&large), repeated(&groups), repeated(&[])), (0.41, 0.0, 0.0));
    }

    #[test]
    fn blocks_follow_each_other() {
        assert_eq!(blocks(10, 4), [0..2, 2..5, 5..7, 7..10]);
        assert_eq!(blocks(2, 3), [0..0, 0..1, 1..2]);
        assert!(blocks(5, 0).is_empty());
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(holdout(50, 0.3, &mut Rng::new(1, 0)), holdout(50, 0.3, &mut Rng::new(1, 0)));
        assert_ne!(holdout(50, 0.3, &mut Rng::new(1, 0)), holdout(50, 0.3, &mut Rng::new(2, 0)));
    }
}
