//! What the paper proves about the scores, checked by numbers: both Taylor lemmas and strict propriety.

mod quadrature;

use negmm::Mixture;
use negmm::math::normal;
use negmm::score::{energy, hybrid, log};
use quadrature::integrate;
use std::f64::consts::PI;

const Y: f64 = 0.4;
const WEIGHTS: [f64; 3] = [0.5, 0.2, 0.3];
const MEANS: [f64; 3] = [1.7, -0.6, 0.9];

/// The component whose sd grows is the first.
fn growing(sd: f64) -> [f64; 3] {
    [sd, 0.8, 1.4]
}

/// |remainder| sd^power for growing sd: it stays bounded, by twice what it was at the start, and does not merely vanish
/// because the power is too low (`sharp`: the last value is at least a tenth of the first).
fn assert_order(name: &str, power: i32, sharp: bool, remainder: impl Fn(f64) -> f64) {
    let sds = [20.0, 40.0, 80.0, 160.0, 320.0];
    let scaled = sds.map(|sd| remainder(sd).abs() * f64::powi(sd, power));
    for value in scaled {
        assert!(value <= 2.0 * scaled[0], "{name}: {scaled:?}");
    }
    assert!(!sharp || scaled[4] > 0.1 * scaled[0], "{name}: {scaled:?}");
}

#[test]
fn taylor_lemma_of_the_log_score() {
    let t1: f64 = (1..3).map(|l| WEIGHTS[l] * normal::pdf((Y - MEANS[l]) / growing(1.0)[l]) / growing(1.0)[l]).sum();
    let root = (2.0 * PI).sqrt();
    let gradient = |sd: f64| log::gradient(Mixture { weights: &WEIGHTS, means: &MEANS, sds: &growing(sd) }, Y);
    assert_order("weight", 3, true, |sd| {
        gradient(sd).weights[0] - (-1.0 / (root * t1 * sd) + WEIGHTS[0] / (2.0 * PI * t1 * t1 * sd * sd))
    });
    assert_order("mean", 4, true, |sd| {
        gradient(sd).means[0] - WEIGHTS[0] * (MEANS[0] - Y) / (root * t1 * sd * sd * sd)
    });
    assert_order("sd", 3, true, |sd| gradient(sd).sds[0] - WEIGHTS[0] / (root * t1 * sd * sd));
}

#[test]
fn taylor_lemma_of_the_energy_score() {
    let distance = |l: usize| MEANS[0] - MEANS[l];
    let variance = |l: usize| growing(1.0)[l] * growing(1.0)[l];
    let t2 = (MEANS[0] - Y) * (MEANS[0] - Y)
        - (1..3).map(|l| WEIGHTS[l] * (variance(l) + distance(l) * distance(l))).sum::<f64>();
    let t3 = MEANS[0] - Y - (1..3).map(|l| WEIGHTS[l] * distance(l)).sum::<f64>();
    let (root_2, root_pi, weight) = (2f64.sqrt(), PI.sqrt(), WEIGHTS[0]);
    let gradient = |sd: f64| energy::gradient(Mixture { weights: &WEIGHTS, means: &MEANS, sds: &growing(sd) }, Y);
    assert_order("weight", 3, true, |sd| {
        gradient(sd).weights[0] - ((root_2 - 2.0) * weight / root_pi * sd + t2 / (root_2 * root_pi * sd))
    });
    // The paper claims the order 2; the remainder is even of order 3.
    assert_order("mean", 2, false, |sd| gradient(sd).means[0] - root_2 / root_pi * t3 * weight / sd);
    assert_order("mean", 3, true, |sd| gradient(sd).means[0] - root_2 / root_pi * t3 * weight / sd);
    assert_order("sd", 4, true, |sd| {
        gradient(sd).sds[0] - ((root_2 - 1.0) / root_pi * weight * weight - t2 * weight / (root_2 * root_pi * sd * sd))
    });
}

const TRUTH: Mixture<'static> = Mixture { weights: &[0.35, 0.65], means: &[-1.2, 1.0], sds: &[0.6, 0.9] };

const OTHERS: [Mixture<'static>; 6] = [
    Mixture { weights: &[0.4, 0.6], means: &[-1.2, 1.0], sds: &[0.6, 0.9] },
    Mixture { weights: &[0.35, 0.65], means: &[-1.1, 1.0], sds: &[0.6, 0.9] },
    Mixture { weights: &[0.35, 0.65], means: &[-1.2, 0.95], sds: &[0.6, 0.9] },
    Mixture { weights: &[0.35, 0.65], means: &[-1.2, 1.0], sds: &[0.65, 0.9] },
    Mixture { weights: &[0.35, 0.65], means: &[-1.2, 1.0], sds: &[0.6, 0.8] },
    // The Gaussian with the same mean and about the same sd.
    Mixture { weights: &[1.0], means: &[0.23], sds: &[1.325] },
];

fn expected(score: impl Fn(f64) -> f64) -> f64 {
    integrate(&|y| TRUTH.pdf(y) * score(y), -12.0, 12.0, 200, 1e-13)
}

#[test]
fn the_truth_has_the_smallest_expected_score() {
    for eta in [0.0, 0.3, 0.7, 1.0] {
        let best = expected(|y| hybrid::value(TRUTH, y, eta));
        for other in OTHERS {
            let score = expected(|y| hybrid::value(other, y, eta));
            assert!(score > best + 1e-6, "eta {eta}: {score} against {best} for {other:?}");
        }
    }
    // The same truth written with other components is as good.
    let split = Mixture { weights: &[0.35, 0.25, 0.4], means: &[-1.2, 1.0, 1.0], sds: &[0.6, 0.9, 0.9] };
    let difference = expected(|y| hybrid::value(split, y, 0.5)) - expected(|y| hybrid::value(TRUTH, y, 0.5));
    assert!(difference.abs() < 1e-12);
}

#[test]
fn regret_of_the_energy_score_is_half_the_energy_distance() {
    // D^2 = 2 E|X - Y| - E|X - X'| - E|Y - Y'| = 2 times the integral of (F - Q)^2 (Szekely); the paper's factor 2 is 1/2.
    for other in OTHERS {
        let regret = expected(|y| energy::value(other, y)) - expected(|y| energy::value(TRUTH, y));
        let squared = |y: f64| (other.cdf(y) - TRUTH.cdf(y)) * (other.cdf(y) - TRUTH.cdf(y));
        let distance = 2.0 * integrate(&squared, -14.0, 14.0, 200, 1e-14);
        assert!((regret - 0.5 * distance).abs() < 1e-10, "{regret} {distance}");
    }
}
