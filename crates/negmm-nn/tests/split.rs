//! Splits of rows.

use negmm_dist::math::rng::Rng;
use negmm_nn::dataset::split::{
    blocks, cut_in_time, group_sizes, grouped_folds, grouped_holdout, holdout, k_folds, newest, ranks, repeated, tail,
};

fn sorted(parts: &[Vec<u32>]) -> Vec<u32> {
    let mut all = parts.concat();
    all.sort_unstable();
    all
}

#[test]
fn holdout_keeps_every_row_once() {
    for (rows, fraction, expected) in
        [(0, 0.2, 0), (1, 0.2, 0), (2, 0.01, 1), (2, 0.99, 1), (100, 0.2, 20), (100, 0.0, 0)]
    {
        let (train, validation) = holdout(rows, fraction, &mut Rng::new(1, 2));
        assert_eq!(validation.len(), expected, "{rows} {fraction}");
        assert_eq!(sorted(&[train, validation]), (0..rows as u32).collect::<Vec<_>>());
    }
}

#[test]
fn no_time_is_divided() {
    assert_eq!(ranks(&[3.5, -1.0, 0.0, -0.0, 3.5]), [2, 0, 1, 1, 2]);
    let times = [5, 1, 1, 1, 2, 4];
    assert_eq!(cut_in_time(&times, &[2, 5]), [vec![1, 2, 3], vec![4, 5], vec![0]]);
    assert_eq!(cut_in_time(&times, &[0]), [vec![1, 2, 3], vec![4, 5, 0]]);
    assert_eq!(cut_in_time(&[7, 7], &[1]), [[0, 1]]);
    assert_eq!(newest(&times, 0.2), (vec![1, 2, 3, 4, 5], vec![0]));
    assert_eq!(newest(&times, 0.9), (vec![1, 2, 3], vec![4, 5, 0]));
    assert_eq!(newest(&times, 0.0).1.len() + newest(&[4, 4], 0.5).1.len(), 0);
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
    for (fraction, least, most) in [(0.0, 0, 0), (0.2, 20, 26), (0.99, 90, 98)] {
        let (train, validation) = grouped_holdout(&groups, fraction, &mut Rng::new(1, 2));
        assert!((least..=most).contains(&validation.len()), "{fraction}: {}", validation.len());
        assert!(
            train.iter().all(|row| validation.iter().all(|other| groups[*row as usize] != groups[*other as usize]))
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
    // One large group fills a part, the others are in the rest.
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
