//! Quantiles in difficult cases: far tails, distant components, very different sds, many components.

use negmm::Mixture;
use negmm_dist::Distribution;
use negmm_dist::math::normal;

/// Levels from 1e-300 to 1/2, and those above down to the last double before 1.
fn levels() -> Vec<f64> {
    let small = [1e-300, 1e-200, 1e-100, 1e-30, 1e-16, 1e-9, 1e-4, 0.01, 0.1, 0.25, 0.4, 0.5];
    let large = [1e-16, 1e-13, 1e-9, 1e-4, 0.01, 0.1, 0.25, 0.4].map(|tail| 1.0 - tail);
    small.into_iter().chain(large).collect()
}

/// The quantile's own probability is the level: exactly, or as exactly as neighbouring doubles allow.
fn assert_quantile(mixture: Mixture<'_>, level: f64) -> f64 {
    let quantile = mixture.quantile(level);
    let (found, expected) =
        if level <= 0.5 { (mixture.cdf(quantile), level) } else { (mixture.survival(quantile), 1.0 - level) };
    // Also right if the neighbours on both sides enclose it: where F rises by more than rounding from double to double.
    let neighbours = [quantile.next_down(), quantile.next_up()]
        .map(|y| if level <= 0.5 { mixture.cdf(y) - expected } else { expected - mixture.survival(y) });
    let enclosed = neighbours[0] <= 0.0 && 0.0 <= neighbours[1];
    assert!(
        (found - expected).abs() <= 1e-12 * expected || enclosed,
        "level {level:e}: quantile {quantile:e} has {found:e} instead of {expected:e} in {mixture:?}"
    );
    quantile
}

#[test]
fn one_component_is_exact_at_all_levels() {
    for (mean, sd) in [(0.0, 1.0), (5.0, 1e-12), (-1e12, 1e12), (1e150, 3.0)] {
        let one = Mixture { weights: &[1.0], means: &[mean], sds: &[sd] };
        for level in levels() {
            assert_eq!(one.quantile(level), mean + sd * normal::quantile(level));
        }
    }
}

#[test]
fn equal_components_are_one() {
    let equal = Mixture { weights: &[0.01; 100], means: &[2.0; 100], sds: &[0.5; 100] };
    for level in levels() {
        let expected = 2.0 + 0.5 * normal::quantile(level);
        assert!((equal.quantile(level) - expected).abs() < 1e-13 * expected.abs(), "{level:e}");
    }
}

#[test]
fn components_up_to_1e8_sds_apart() {
    for separation in [1.0, 5.0, 12.0, 30.0, 100.0, 1e4, 1e8] {
        for weight in [0.5, 0.3, 1e-3, 1e-12, 1.0 - 1e-10] {
            let pair = Mixture { weights: &[weight, 1.0 - weight], means: &[0.0, separation], sds: &[1.0, 1.0] };
            for level in levels() {
                assert_quantile(pair, level);
            }
        }
    }
}

#[test]
fn far_components_have_their_own_quantiles() {
    // Below the plateau only the first component matters, above it only the second: the exact quantiles are known.
    let far = Mixture { weights: &[0.25, 0.75], means: &[0.0, 1e8], sds: &[1.0, 2.0] };
    for part in [1e-200, 1e-10, 0.2, 0.5, 0.9, 0.999] {
        let (low, high) = (far.quantile(0.25 * part), far.quantile(0.25 + 0.75 * part.max(1e-10)));
        assert!((low - normal::quantile(part)).abs() < 1e-10, "{part:e} {low}");
        // At a level of 0.25 + 7.5e-11 rounding of the level itself moves the quantile by 1e-6 of its distance.
        let expected = 1e8 + 2.0 * normal::quantile(part.max(1e-10));
        assert!((high - expected).abs() < 1e-5, "{part:e} {high} {expected}");
    }
}

#[test]
fn in_a_flat_stretch_the_digits_stay() {
    // The level is the first weight exactly: the answer is where the two inner tails balance, though F is the level to
    // double precision all around.
    for (weight, separation, sds) in [(0.25, 20.0, [1.0, 1.0]), (0.5, 30.0, [1.0, 0.5]), (0.5, 60.0, [1.0, 2.0])] {
        let pair = Mixture { weights: &[weight, 1.0 - weight], means: &[0.0, separation], sds: &sds };
        let quantile = pair.quantile(weight);
        assert_eq!(pair.cdf(quantile + 0.5), pair.cdf(quantile - 0.5));
        let (above, below) = (quantile / sds[0], (quantile - separation) / sds[1]);
        let balance = weight * normal::cdf(-above) - (1.0 - weight) * normal::cdf(below);
        let slope = weight * normal::pdf(above) / sds[0] + (1.0 - weight) * normal::pdf(below) / sds[1];
        assert!((balance / slope).abs() < 1e-10, "{quantile}: {}", balance / slope);
    }
}

#[test]
fn sds_up_to_1e24_apart() {
    for weight in [0.5, 0.1, 1e-6, 1.0 - 1e-6] {
        for offset in [0.0, 1.0, -1e11, 3e12] {
            let nested = Mixture { weights: &[weight, 1.0 - weight], means: &[0.0, offset], sds: &[1e-12, 1e12] };
            for level in levels() {
                assert_quantile(nested, level);
            }
        }
    }
    // Inside the narrow half: 0.5 cdf(z) + 0.25 = 0.3, so cdf(z) = 0.1.
    let nested = Mixture { weights: &[0.5, 0.5], means: &[0.0, 0.0], sds: &[1e-12, 1e12] };
    let expected = 1e-12 * normal::quantile(0.1);
    assert!((nested.quantile(0.3) - expected).abs() < 1e-10 * expected.abs());
}

#[test]
fn a_hundred_components_of_all_sizes() {
    let (mut weights, mut means, mut sds) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..100 {
        let turn = f64::from(k) * 0.618_034 % 1.0;
        weights.push(0.01);
        means.push(2e3 * (turn - 0.5) * f64::from(k % 7));
        sds.push(libm::exp(-20.0 + f64::from(k) * 0.3));
    }
    let many = Mixture { weights: &weights, means: &means, sds: &sds };
    let quantiles: Vec<f64> = levels().iter().map(|&level| assert_quantile(many, level)).collect();
    assert!(quantiles[..12].is_sorted());
    for step in 1..1000 {
        assert_quantile(many, f64::from(step) / 1000.0);
    }
}

#[test]
fn nothing_is_nan() {
    let values = [0.0, 1.0, -1e-12, 1e12, -1e150, f64::MAX];
    let sds = [f64::MIN_POSITIVE, 1e-12, 1.0, 1e12, 1e150, f64::MAX];
    // A component that weighs nothing, and whose density overflows.
    let weightless = 1e-320;
    for mean in values {
        for sd in sds {
            for other in sds {
                let mixture =
                    Mixture { weights: &[0.4, 0.0, 0.6], means: &[mean, 1.0, 1.0], sds: &[sd, weightless, other] };
                let mut answers = vec![mixture.mean(), mixture.variance(), mixture.sd()];
                for y in values {
                    let energy = mixture.crps(y);
                    assert!(energy >= 0.0);
                    answers.extend([mixture.pdf(y), mixture.log_pdf(y), mixture.cdf(y), mixture.survival(y)]);
                }
                for level in levels() {
                    let quantile = mixture.quantile(level);
                    answers.extend([quantile, mixture.shortfall_below(level), mixture.shortfall_above(level)]);
                }
                assert!(answers.iter().all(|answer| !answer.is_nan()), "{mixture:?}: {answers:?}");
            }
        }
    }
}
