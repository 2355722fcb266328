//! Properties of all mixtures, tested on random ones.

use negmm::{Interval, Mixture, Mixtures};
use negmm_dist::Distribution;
use proptest::collection::vec;
use proptest::prelude::*;

/// Mixtures of 1 to 8 components with weights, means and sds of ordinary and of quite different sizes.
fn mixtures() -> impl Strategy<Value = Mixtures> {
    (1usize..9).prop_flat_map(|components| {
        let sds = vec((-4.0..3.0f64).prop_map(libm::exp10), components);
        (vec(0.001..1.0f64, components), vec(-50.0..50.0f64, components), sds)
            .prop_map(move |(weights, means, sds)| Mixtures::new(components, weights, means, sds).unwrap())
    })
}

/// Levels near both ends and in the middle.
fn levels() -> impl Strategy<Value = f64> {
    prop_oneof![0.001..0.999f64, (-250.0..-3.0f64).prop_map(libm::exp10), 1.0 - 1e-9..1.0 - 1e-15]
}

fn moved(mixtures: &Mixtures, shift: f64, scale: f64) -> Mixtures {
    mixtures.clone().rescale(shift, scale)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn cdf_of_a_quantile_is_its_level(mixtures in mixtures(), level in levels()) {
        let mixture = mixtures.row(0);
        let quantile = mixture.quantile(level);
        let (found, expected) =
            if level <= 0.5 { (mixture.cdf(quantile), level) } else { (mixture.survival(quantile), 1.0 - level) };
        // What the nearest double can do at best.
        let resolution = mixture.pdf(quantile) * quantile.abs() * 4.0 * f64::EPSILON;
        prop_assert!((found - expected).abs() <= 1e-12 * expected + resolution, "{found:e} {expected:e}");
    }

    #[test]
    fn quantile_of_a_cdf_is_the_value(mixtures in mixtures(), at in 0.01..0.99f64) {
        // A value in the bulk of some component, where the density does not vanish.
        let mixture = mixtures.row(0);
        let y = mixture.means[0] + mixture.sds[0] * (4.0 * at - 2.0);
        let rounding = 8.0 * f64::EPSILON / mixture.pdf(y) + 1e-13 * y.abs();
        prop_assume!(rounding < 1e-6);
        let found = mixture.quantile(mixture.cdf(y));
        prop_assert!((found - y).abs() <= 4.0 * rounding, "{found} {y} {rounding}");
    }

    #[test]
    fn quantiles_rise_with_the_level(mixtures in mixtures(), low in 0.001..0.99f64, gap in 1e-6..0.009f64) {
        let mixture = mixtures.row(0);
        prop_assert!(mixture.quantile(low) < mixture.quantile(low + gap));
    }

    #[test]
    fn interval_holds_its_coverage(mixtures in mixtures(), coverage in 0.01..0.9999f64) {
        let mixture = mixtures.row(0);
        let Interval { lower, upper } = mixture.interval(coverage);
        let resolution = (mixture.pdf(lower) + mixture.pdf(upper)) * lower.abs().max(upper.abs()) * 4.0 * f64::EPSILON;
        let inside = 1.0 - mixture.cdf(lower) - mixture.survival(upper);
        prop_assert!((inside - coverage).abs() < 1e-12 + resolution, "{inside} {coverage}");
    }

    #[test]
    fn answers_move_and_stretch_with_the_distribution(
        mixtures in mixtures(), y in -80.0..80.0f64, shift in -100.0..100.0f64, scale in 0.01..100.0f64, level in 0.001..0.999f64,
    ) {
        let other = moved(&mixtures, shift, scale);
        let (before, after) = (mixtures.row(0), other.row(0));
        let there = y * scale + shift;
        let unit = scale * (1.0 + before.sd()) + there.abs() + shift.abs();
        let close = |found: f64, expected: f64| (found - expected).abs() <= 1e-11 * unit;
        prop_assert!(close(after.mean(), before.mean() * scale + shift));
        prop_assert!(close(after.sd(), before.sd() * scale));
        prop_assert!(close(after.crps(there), before.crps(y) * scale));
        // Where the distribution is flat, rounding of a weight moves a quantile: compare probabilities.
        let quantile = (after.quantile(level) - shift) / scale;
        let slack = 1e-12 + before.pdf(quantile) * 1e-14 * unit / scale;
        prop_assert!((before.cdf(quantile) - level).abs() <= slack);
        let (tail, expected) = (after.shortfall_below(level), before.shortfall_below(level) * scale + shift);
        prop_assert!((tail - expected).abs() <= 1e-9 * unit, "{tail} {expected}");
    }

    #[test]
    fn mirrored_distribution_has_mirrored_answers(mixtures in mixtures(), y in -80.0..80.0f64, level in levels()) {
        let before = mixtures.row(0);
        let means: Vec<f64> = before.means.iter().map(|mean| -mean).collect();
        let after = Mixture { means: &means, ..before };
        prop_assert_eq!(after.cdf(-y), before.survival(y));
        prop_assert_eq!(after.pdf(-y), before.pdf(y));
        prop_assert_eq!(after.crps(-y), before.crps(y));
        prop_assert_eq!(after.shortfall_above(level), -before.shortfall_below(level));
    }

    #[test]
    fn energy_score_lies_between_nothing_and_the_mean_distance(mixtures in mixtures(), y in -80.0..80.0f64) {
        let mixture = mixtures.row(0);
        let score = mixture.crps(y);
        // E|Y - y| <= |mean - y| + sd.
        prop_assert!(0.0 <= score && score <= (mixture.mean() - y).abs() + mixture.sd());
    }

    #[test]
    fn shortfall_lies_beyond_the_quantile(mixtures in mixtures(), level in levels()) {
        let mixture = mixtures.row(0);
        let rounding = 1e-12 * (1.0 + mixture.quantile(level).abs());
        prop_assert!(mixture.shortfall_below(level) <= mixture.quantile(level).min(mixture.mean()) + rounding);
        prop_assert!(mixture.shortfall_above(level) >= mixture.mean() - rounding);
        // Both tails together are the whole.
        if level > 0.001 && level < 0.999 {
            let whole = level * mixture.shortfall_below(level) + (1.0 - level) * mixture.shortfall_above(1.0 - level);
            prop_assert!((whole - mixture.mean()).abs() < 1e-10 * (1.0 + mixture.mean().abs() + mixture.sd()));
        }
    }

    #[test]
    fn splitting_a_component_changes_nothing(mixtures in mixtures(), part in 0.1..0.9f64, y in -80.0..80.0f64, level in 0.001..0.999f64) {
        let before = mixtures.row(0);
        let split = |values: &[f64]| { let mut values = values.to_vec(); values.push(values[0]); values };
        let (mut weights, means, sds) = (split(before.weights), split(before.means), split(before.sds));
        *weights.last_mut().unwrap() *= part;
        weights[0] *= 1.0 - part;
        let after = Mixture { weights: &weights, means: &means, sds: &sds };
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
        prop_assert!(close(after.mean(), before.mean()) && close(after.variance(), before.variance()));
        prop_assert!(close(after.cdf(y), before.cdf(y)) && close(after.log_pdf(y), before.log_pdf(y)));
        let distances = before.crps(y) + before.sd() + (before.mean() - y).abs();
        prop_assert!((after.crps(y) - before.crps(y)).abs() <= 1e-13 * distances);
        let quantile = after.quantile(level);
        let slack = 1e-12 + before.pdf(quantile) * quantile.abs() * 4.0 * f64::EPSILON;
        prop_assert!((before.cdf(quantile) - level).abs() <= slack);
    }
}
