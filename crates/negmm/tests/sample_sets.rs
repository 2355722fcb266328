//! Properties of all sample sets, tested on random ones.

use negmm::Interval;
use negmm::samples::SampleSets;
use negmm::score::sample_energy;
use negmm_dist::Distribution;
use proptest::collection::vec;
use proptest::prelude::*;

const FLOOR: f64 = 1e-3;

fn values() -> impl Strategy<Value = Vec<f64>> {
    // Ordinary ones, and whole numbers that coincide.
    prop_oneof![vec(-50.0..50.0f64, 1..40), vec((-4i32..4).prop_map(f64::from), 1..40)]
}

fn set(values: &[f64]) -> SampleSets {
    SampleSets::new(values.len(), values.to_vec(), FLOOR).unwrap()
}

fn close(a: f64, b: f64, size: f64) -> bool {
    (a - b).abs() <= 1e-12 * (1.0 + size)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn energy_score_is_that_over_all_pairs(values in values(), y in -80.0..80.0f64, on_a_sample: bool) {
        let y = if on_a_sample { values[0] } else { y };
        let sets = set(&values);
        let score = sets.row(0).crps(y);
        prop_assert!(score >= 0.0);
        prop_assert!(close(score, sample_energy::value_by_pairs(&values, y), 200.0));
        prop_assert!(close(score, sample_energy::value(&values, y), 200.0));
    }

    #[test]
    fn answers_move_and_stretch_with_the_samples(
        values in values(), y in -80.0..80.0f64, level in 0.001..0.999f64, shift in -9.0..9.0f64, scale in 0.01..9.0f64,
    ) {
        let (before, after) = (set(&values), set(&values).rescale(shift, scale));
        let (before, after) = (before.row(0), after.row(0));
        let (at, size) = (|z: f64| z * scale + shift, 1000.0);
        prop_assert!(close(after.mean(), at(before.mean()), size));
        prop_assert!(close(after.sd(), scale * before.sd(), size));
        prop_assert!(close(after.quantile(level), at(before.quantile(level)), size));
        prop_assert!(close(after.shortfall_below(level), at(before.shortfall_below(level)), size));
        prop_assert!(close(after.shortfall_above(level), at(before.shortfall_above(level)), size));
        prop_assert!(close(after.crps(at(y)), scale * before.crps(y), size));
        let (log_pdf, expected) = (after.log_pdf(at(y)), before.log_pdf(y) - libm::log(scale));
        prop_assert!((log_pdf - expected).abs() <= 1e-9 * (1.0 + expected.abs()));
    }

    #[test]
    fn moments_are_those_of_plain_sums(values in values()) {
        let sets = set(&values);
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|z| (z - mean) * (z - mean)).sum();
        prop_assert!(close(sets.row(0).mean(), mean, 100.0));
        prop_assert!(close(sets.row(0).variance(), squares / (count - 1.0).max(1.0), 10_000.0));
    }

    #[test]
    fn quantiles_rise_from_the_smallest_to_the_largest(values in values(), low in 0.0..1.0f64, high in 0.0..1.0f64) {
        let sets = set(&values);
        let row = sets.row(0);
        let (low, high) = (low.min(high), low.max(high));
        prop_assert!(row.quantile(low) <= row.quantile(high) + 1e-12);
        prop_assert_eq!((row.quantile(0.0), row.quantile(1.0)), (row.values[0], row.values[values.len() - 1]));
        let Interval { lower, upper } = row.interval(high);
        prop_assert!(lower <= upper + 1e-12);
        prop_assert!((row.cdf(lower) + row.survival(lower) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn both_tails_together_are_the_whole(values in values(), level in 0.001..0.999f64) {
        let sets = set(&values);
        let row = sets.row(0);
        let whole = level * row.shortfall_below(level) + (1.0 - level) * row.shortfall_above(1.0 - level);
        prop_assert!(close(whole, row.mean(), 1000.0), "{} {}", whole, row.mean());
        prop_assert!(row.shortfall_below(level) <= row.mean() + 1e-12 && row.mean() <= row.shortfall_above(level) + 1e-12);
    }
}
