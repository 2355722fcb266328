//! Closed forms of mixtures against quadrature of their definitions.

use crate::common::quadrature;
use negmm_dist::Distribution;

use negmm::Mixture;
use quadrature::integrate;

const MIXTURES: [Mixture<'static>; 4] = [
    Mixture { weights: &[1.0], means: &[0.7], sds: &[1.3] },
    Mixture { weights: &[0.3, 0.7], means: &[-2.0, 1.5], sds: &[0.4, 1.1] },
    Mixture { weights: &[0.3, 0.1, 0.6], means: &[0.0, -2.9, 0.9], sds: &[0.5, 1.4, 0.7] },
    Mixture { weights: &[0.1, 0.2, 0.3, 0.4], means: &[5.0, -5.0, 0.0, 0.1], sds: &[0.1, 0.2, 2.0, 0.05] },
];

/// Wide enough that what lies outside is below rounding.
const LOW: f64 = -25.0;
const HIGH: f64 = 25.0;
const PIECES: usize = 500;

fn integral(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    integrate(&f, low, high, PIECES, 1e-13)
}

fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-10 * (1.0 + expected.abs()), "{what}: found {found}, expected {expected}");
}

#[test]
fn density_integrates_to_the_distribution() {
    for mixture in MIXTURES {
        assert_close(integral(LOW, HIGH, |y| mixture.pdf(y)), 1.0, "whole");
        for y in [-5.1, -2.0, 0.05, 1.0, 4.9] {
            assert_close(integral(LOW, y, |t| mixture.pdf(t)), mixture.cdf(y), "cdf");
            assert_close(integral(y, HIGH, |t| mixture.pdf(t)), mixture.survival(y), "survival");
        }
    }
}

#[test]
fn moments_are_integrals() {
    for mixture in MIXTURES {
        let mean = integral(LOW, HIGH, |y| y * mixture.pdf(y));
        assert_close(mixture.mean(), mean, "mean");
        assert_close(mixture.variance(), integral(LOW, HIGH, |y| (y - mean) * (y - mean) * mixture.pdf(y)), "variance");
        assert_close(mixture.variance_within() + mixture.variance_between(), mixture.variance(), "parts");
    }
}

#[test]
fn energy_score_is_the_crps_integral() {
    for mixture in MIXTURES {
        for y in [-7.0, -2.9, 0.0, 0.3, 5.0, 11.0] {
            // The integrand jumps at y: integrate on both sides of it.
            let below = integral(LOW, y, |t| mixture.cdf(t) * mixture.cdf(t));
            let above = integral(y, HIGH, |t| mixture.survival(t) * mixture.survival(t));
            assert_close(mixture.crps(y), below + above, "energy score");
        }
    }
}

#[test]
fn shortfalls_are_tail_integrals() {
    for mixture in MIXTURES {
        for level in [0.001, 0.05, 0.3, 0.5, 0.9] {
            let quantile = mixture.quantile(level);
            let below = integral(LOW, quantile, |y| y * mixture.pdf(y)) / level;
            assert_close(mixture.shortfall_below(level), below, "below");
            let quantile = mixture.quantile(1.0 - level);
            let above = integral(quantile, HIGH, |y| y * mixture.pdf(y)) / level;
            assert_close(mixture.shortfall_above(level), above, "above");
        }
    }
}

#[test]
fn shortfall_is_the_direct_formula_where_that_is_stable() {
    use negmm_dist::math::normal::{cdf, pdf};
    for mixture in MIXTURES {
        for level in [0.01, 0.2, 0.7] {
            let quantile = mixture.quantile(level);
            let direct: f64 = (0..mixture.weights.len())
                .map(|k| {
                    let a = (quantile - mixture.means[k]) / mixture.sds[k];
                    mixture.weights[k] * (mixture.means[k] * cdf(a) - mixture.sds[k] * pdf(a)) / level
                })
                .sum();
            assert!((mixture.shortfall_below(level) - direct).abs() < 1e-12);
        }
    }
}
