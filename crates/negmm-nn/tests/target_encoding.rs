//! Target encoding.

use negmm_dist::math::rng::Rng;
use negmm_nn::dataset::{CategoricalColumn, Dataset, NO_CATEGORY, STATISTICS, TargetEncoding};
use negmm_nn::dataset::{PRIOR, ROWS_SCALE};

/// Rows of one column of levels, whose targets and weights are given.
fn rows(codes: &[u32], y: &[f32], weights: &[f64]) -> Dataset {
    let levels = codes.iter().filter(|code| **code != NO_CATEGORY).max().map_or(0, |code| *code as usize + 1);
    let mut data = Dataset::new(STATISTICS);
    y.iter().for_each(|y| data.push(&[0.0; STATISTICS], *y));
    let column = CategoricalColumn { first: 0, levels, codes: codes.to_vec() };
    data.with_sample_weights(weights).with_levels(vec![column])
}

fn random(rows_of: usize) -> (Vec<u32>, Vec<f32>) {
    let mut rng = Rng::new(4, 0);
    let codes = (0..rows_of).map(|_| if rng.uniform() < 0.1 { NO_CATEGORY } else { rng.below(12) as u32 }).collect();
    (codes, (0..rows_of).map(|_| rng.uniform() as f32).collect())
}

fn features(data: &Dataset, row: usize) -> &[f32] {
    &data.x()[row * data.stride()..][..STATISTICS]
}

#[test]
fn statistics_by_hand() {
    let data = rows(&[0, 0, 1, NO_CATEGORY], &[1.0, 3.0, 2.0, -2.0], &[1.0; 4]);
    let statistics = TargetEncoding::learn(&data, &[0, 1, 3]);
    // Mean 2/3 and variance 38/9 of the three; the level's own mean is 2, and 2 is the sum of squares around it.
    let variance = 38.0 / 9.0;
    let spread = 0.5 * f64::ln((2.0 + PRIOR * variance) / ((2.0 + PRIOR) * variance));
    let by_hand = [2.0 / (2.0 + PRIOR) * (2.0 - 2.0 / 3.0), spread, f64::ln(3.0) * ROWS_SCALE];
    for (found, by_hand) in statistics.columns()[0][0].iter().zip(by_hand) {
        assert!((f64::from(*found) - by_hand).abs() < 1e-6, "{found} {by_hand}");
    }
    assert_eq!(statistics.columns()[0][1], [0.0; STATISTICS], "no row has the level");
    let filled = statistics.of_rows(&data).unwrap();
    assert_eq!(features(&filled, 1), statistics.columns()[0][0]);
    assert_eq!(features(&filled, 3), [0.0; STATISTICS]);
}

#[test]
fn a_row_does_not_see_its_own_target() {
    let (codes, y) = random(200);
    let data = rows(&codes, &y, &[1.0; 200]);
    let train: Vec<u32> = (0..200).filter(|row| row % 4 > 0).collect();
    let filled = |data: &Dataset| data.with_statistics(&train, &mut Rng::new(1, 2));
    let (before, statistics) = filled(&data);
    for row in 0..200 {
        let mut y = y.clone();
        y[row] += 5.0;
        let (after, changed) = filled(&rows(&codes, &y, &[1.0; 200]));
        assert_eq!(features(&before, row), features(&after, row), "{row}");
        let trains = row % 4 > 0;
        assert_eq!(statistics == changed, !trains || codes[row] == NO_CATEGORY && statistics == changed);
        if !trains {
            assert_eq!(before.x(), after.x());
        }
    }
    assert!(
        (0..200).step_by(4).all(|row| features(&before, row) == features(&statistics.of_rows(&data).unwrap(), row))
    );
    assert!(before.levels().is_empty());
}

#[test]
fn a_weight_counts_as_so_many_rows() {
    let twice = rows(&[0, 1, 1, 0, 0], &[1.0, -1.0, 0.5, 2.0, 2.0], &[1.0; 5]);
    // The average weight of rows that are learnt from is 1.
    let weighted = rows(&[0, 1, 1, 0, 2], &[1.0, -1.0, 0.5, 2.0, 9.0], &[1.0, 1.0, 1.0, 2.0, 0.0]);
    let once = TargetEncoding::learn(&twice, &[0, 1, 2, 3, 4]);
    let heavy = TargetEncoding::learn(&weighted, &[0, 1, 2, 3, 4]);
    for (a, b) in once.columns()[0].iter().zip(&heavy.columns()[0]) {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6), "{a:?} {b:?}");
    }
    assert_eq!(heavy.columns()[0][2], [0.0; STATISTICS]);
}

#[test]
fn rows_of_other_levels_are_refused() {
    let (codes, y) = random(50);
    let statistics = TargetEncoding::learn(&rows(&codes, &y, &[1.0; 50]), &[0, 1, 2]);
    assert!(statistics.of_rows(&rows(&[0], &[0.0], &[1.0])).is_err());
    assert!(statistics.of_rows(&Dataset::new(2)).is_ok());
}
