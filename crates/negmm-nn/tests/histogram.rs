//! Bins of columns.

use negmm_dist::math::rng::Rng;
use negmm_nn::ngboost::{BINS, BinnedColumn, MISSING};

#[test]
fn bins_are_ordered_even_and_keep_equal_values_together() {
    let mut rng = Rng::new(1, 0);
    for (rows, levels) in [(1, 1), (10, 3), (5000, 255), (5000, 256), (20_000, 1_000_000)] {
        let column: Vec<f32> = (0..rows).map(|_| rng.below(levels) as f32).collect();
        let binned = BinnedColumn::new(&column, None);
        assert!(binned.lower.len() <= BINS && !binned.missing);
        assert!(binned.lower.iter().zip(&binned.upper).all(|(lower, upper)| lower <= upper));
        assert!(binned.upper.iter().zip(&binned.lower[1..]).all(|(upper, next)| upper < next));
        let mut counts = vec![0; BINS];
        for (&x, &bin) in column.iter().zip(&binned.bin) {
            assert!(binned.lower[bin as usize] <= x && x <= binned.upper[bin as usize]);
            counts[bin as usize] += 1;
        }
        if levels <= BINS {
            assert_eq!(binned.lower, binned.upper);
        }
        if levels == 1_000_000 {
            assert!(counts.iter().all(|count| (60..=100).contains(count)), "{counts:?}");
        }
    }
    let missing = BinnedColumn::new(&[f32::NAN, 1.0, f32::NAN], None);
    assert_eq!((missing.bin, missing.missing, missing.lower), (vec![MISSING, 0, MISSING], true, vec![1.0]));
    assert!(BinnedColumn::new(&[f32::NAN], None).lower.is_empty() && BinnedColumn::new(&[], None).lower.is_empty());
}
