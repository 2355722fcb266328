//! Encoded rows: intervals, and equal inputs.

use negmm_dist::math::rng::Rng;
use negmm_nn::dataset::Dataset;
use negmm_nn::dataset::split::repeated;

#[test]
fn every_interval_has_a_representative_number() {
    const OPEN: f32 = f32::INFINITY;
    let lower = vec![1.0, -OPEN, 0.5, 2.0, 3.0, 4.5];
    let upper = vec![OPEN, 2.0, 2.5, 2.0, 9.0, 5.5];
    let data = Dataset::from_parts(1, vec![0.0; 96], vec![1.0, 2.0, 1.0, 2.0, 3.0, 5.0]).with_intervals(lower, upper);
    assert_eq!(data.y(), [1.0, 2.0, 1.0, 2.0, 6.0, 5.0]);
    assert_eq!([0, 1, 2, 3, 4, 5].map(|row| data.is_censored(row)), [true, true, false, false, false, false]);
    let mut some = data.select(&[4, 0]);
    some.push(&[1.0], 7.0);
    let intervals = some.intervals().unwrap();
    assert_eq!((intervals.lower(), intervals.upper()), (&[3.0, 1.0, 7.0][..], &[9.0, OPEN, 7.0][..]));
}

#[test]
fn rows_with_equal_inputs_have_one_number() {
    let mut set = Dataset::new(2);
    for row in [[1.0, 2.0], [2.0, 1.0], [f32::NAN, 0.0], [1.0, 2.0], [f32::NAN, 0.0], [0.0, 0.0], [2.0, 1.0]] {
        set.push(&row, set.len() as f32);
    }
    let numbers = set.equal_inputs();
    assert_eq!(numbers, [0, 1, 2, 0, 2, 3, 1]);
    assert!((repeated(&numbers) - 6.0 / 7.0).abs() < 1e-15);
    assert!(Dataset::new(3).equal_inputs().is_empty());
    assert_eq!(Dataset::from_parts(0, vec![0.0; 48], vec![1.0, 2.0, 3.0]).equal_inputs(), [0, 0, 0]);
}

#[test]
fn numbers_agree_with_comparing_all_pairs() {
    let mut rng = Rng::new(5, 0);
    for (features, levels) in [(1, 40), (3, 4), (20, 2)] {
        let mut set = Dataset::new(features);
        for _ in 0..300 {
            let row: Vec<f32> = (0..features).map(|_| rng.below(levels) as f32).collect();
            set.push(&row, 0.0);
        }
        let (numbers, row) = (set.equal_inputs(), |row: usize| &set.x()[row * set.stride()..][..features]);
        for a in 0..300 {
            assert!((0..300).all(|b| (row(a) == row(b)) == (numbers[a] == numbers[b])));
        }
        let groups = numbers.iter().max().unwrap() + 1;
        assert!((0..groups).map(|group| numbers.iter().position(|number| *number == group)).is_sorted());
    }
}
