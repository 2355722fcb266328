//! Responsible for dividing rows, at random or in time: training and validation, and folds.

use crate::math::rng::Rng;

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

/// For rows in the order of time: the last of `parts` parts of them cut into `k` blocks, one after the other (some are empty when there
/// are too few rows).
///
/// # Panics
/// When `rows` does not fit into 32 bits.
pub fn unseen_blocks(rows: usize, k: usize, parts: usize) -> Vec<Vec<u32>> {
    let order = in_order(rows);
    let first = rows - rows / parts;
    // There is always a row before the first block.
    let cut = |block: usize| (first + block * (rows - first) / k).clamp(1.min(rows), rows);
    (0..k).map(|block| order[cut(block)..cut(block + 1)].to_vec()).collect()
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
    fn blocks_are_the_last_rows_in_order() {
        assert_eq!(unseen_blocks(12, 2, 3), [vec![8, 9], vec![10, 11]]);
        assert_eq!(unseen_blocks(4, 3, 3).concat(), [3]);
        assert_eq!(unseen_blocks(1, 2, 3).concat(), [] as [u32; 0]);
        let blocks = unseen_blocks(1000, 10, 3);
        assert_eq!(blocks.concat(), (667..1000).collect::<Vec<_>>());
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(holdout(50, 0.3, &mut Rng::new(1, 0)), holdout(50, 0.3, &mut Rng::new(1, 0)));
        assert_ne!(holdout(50, 0.3, &mut Rng::new(1, 0)), holdout(50, 0.3, &mut Rng::new(2, 0)));
    }
}
