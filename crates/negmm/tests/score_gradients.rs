//! Gradients of the scores against central differences, through the parameters and through softmax logits.

use negmm::Mixture;
use negmm::score::{Gradient, energy, hybrid, interval, log, logit_gradient};

/// Step and tolerance of a central difference in f64: truncation is of order STEP^2, rounding of order 1e-16 / STEP.
const STEP: f64 = 1e-5;
const TOLERANCE: f64 = 1e-8;

/// Parameters by name: weights, means, sds.
#[derive(Clone)]
struct Parameters([Vec<f64>; 3]);

impl Parameters {
    fn mixture(&self) -> Mixture<'_> {
        Mixture { weights: &self.0[0], means: &self.0[1], sds: &self.0[2] }
    }

    /// Derivative of `score` with respect to parameter `kind` of component `k`.
    fn difference(&self, kind: usize, k: usize, score: &dyn Fn(Mixture<'_>) -> f64) -> f64 {
        let at = |step: f64| {
            let mut moved = self.clone();
            moved.0[kind][k] += step;
            score(moved.mixture())
        };
        (at(STEP) - at(-STEP)) / (2.0 * STEP)
    }
}

fn cases() -> Vec<Parameters> {
    [
        [vec![1.0], vec![0.4], vec![0.8]],
        [vec![0.3, 0.7], vec![-1.0, 2.0], vec![0.5, 1.5]],
        [vec![0.2, 0.2, 0.6], vec![0.0, 0.0, 3.0], vec![1.0, 1.0, 0.3]],
        [vec![0.1, 0.2, 0.3, 0.15, 0.25], vec![-4.0, -1.0, 0.0, 0.5, 6.0], vec![2.0, 0.4, 0.7, 1.0, 3.0]],
    ]
    .into_iter()
    .map(Parameters)
    .collect()
}

fn assert_gradient(
    name: &str,
    score: impl Fn(Mixture<'_>, f64) -> f64,
    gradient: impl Fn(Mixture<'_>, f64) -> Gradient,
) {
    for parameters in cases() {
        for y in [-3.0, -1.0, 0.1, 0.6, 2.5] {
            let found = gradient(parameters.mixture(), y);
            for (kind, found) in [&found.weights, &found.means, &found.sds].into_iter().enumerate() {
                assert_eq!(found.len(), parameters.0[0].len());
                for (k, &found) in found.iter().enumerate() {
                    let expected = parameters.difference(kind, k, &|mixture| score(mixture, y));
                    let allowed = TOLERANCE * (1.0 + expected.abs());
                    assert!(
                        (found - expected).abs() < allowed,
                        "{name}, kind {kind}, k {k}, y {y}: {found} {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn log_score() {
    assert_gradient("log", log::value, log::gradient);
}

#[test]
fn energy_score() {
    assert_gradient("energy", energy::value, energy::gradient);
}

#[test]
fn hybrid_score() {
    for eta in [0.0, 0.3, 1.0] {
        assert_gradient(
            "hybrid",
            |mixture, y| hybrid::value(mixture, y, eta),
            |mixture, y| hybrid::gradient(mixture, y, eta),
        );
    }
}

#[test]
fn interval_score() {
    const OPEN: f64 = f64::INFINITY;
    for (below, above) in [(1e-4, 1e-4), (0.3, 0.05), (2.0, 4.0), (0.0, OPEN), (OPEN, 0.5), (OPEN, OPEN)] {
        assert_gradient(
            "interval",
            |mixture, y| interval::value(mixture, y - below, y + above),
            |mixture, y| interval::gradient(mixture, y - below, y + above),
        );
    }
}

#[test]
fn the_score_of_a_narrow_interval_is_that_of_a_value() {
    let mixture = Mixture { weights: &[0.3, 0.7], means: &[-1.0, 2.0], sds: &[0.5, 1.5] };
    let (width, y) = (1e-7, 0.4);
    let found = interval::value(mixture, y - 0.5 * width, y + 0.5 * width);
    assert!((found - (log::value(mixture, y) - libm::log(width))).abs() < 1e-8, "{found}");
    let (found, expected) = (interval::gradient(mixture, y - 0.5 * width, y + 0.5 * width), log::gradient(mixture, y));
    for k in 0..2 {
        assert!((found.means[k] - expected.means[k]).abs() < 1e-6 && (found.sds[k] - expected.sds[k]).abs() < 1e-6);
    }
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let exponentials: Vec<f64> = logits.iter().map(|&logit| libm::exp(logit)).collect();
    let sum: f64 = exponentials.iter().sum();
    exponentials.iter().map(|value| value / sum).collect()
}

#[test]
fn through_softmax_logits() {
    let logits = [0.3, -1.2, 2.0];
    let (means, sds) = ([-1.0, 0.5, 2.0], [0.7, 1.3, 0.4]);
    for (y, eta) in [(0.2, 0.0), (0.2, 1.0), (-2.0, 0.4), (3.0, 0.7)] {
        let score =
            |logits: &[f64]| hybrid::value(Mixture { weights: &softmax(logits), means: &means, sds: &sds }, y, eta);
        let weights = softmax(&logits);
        let mixture = Mixture { weights: &weights, means: &means, sds: &sds };
        let found = logit_gradient(&weights, &hybrid::gradient(mixture, y, eta).weights);
        for k in 0..3 {
            let at = |step: f64| {
                let mut moved = logits;
                moved[k] += step;
                score(&moved)
            };
            let expected = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            assert!((found[k] - expected).abs() < TOLERANCE, "y {y}, eta {eta}: {} {expected}", found[k]);
        }
    }
}

#[test]
fn log_score_through_logits_is_weight_less_responsibility() {
    // Also where every density underflows: y is 60 sds away from both.
    let mixture = Mixture { weights: &[0.4, 0.6], means: &[0.0, 1.0], sds: &[1.0, 1.0] };
    let gradient = log::gradient(mixture, 60.0);
    let found = logit_gradient(mixture.weights, &gradient.weights);
    assert!((found[0] - 0.4).abs() < 1e-12 && (found[1] + 0.4).abs() < 1e-12, "{found:?}");
    assert!((gradient.means[1] + 59.0).abs() < 1e-9, "{gradient:?}");
}

#[test]
fn posterior_weights_of_the_log_score_sum_to_1_however_far_y_is() {
    // d S_l / d weight_k = -posterior_k / weight_k. At 1e7 sds ln p is -5e13, and rounding it costs 1e-2.
    let mixture = Mixture { weights: &[0.4, 0.6], means: &[0.0, 0.0], sds: &[0.02, 0.019] };
    for y in [10.0, 1e5, 2e5, -1e7] {
        let gradient = log::gradient(mixture, y);
        let posteriors = [0, 1].map(|k| -gradient.weights[k] * mixture.weights[k]);
        assert!((posteriors[0] + posteriors[1] - 1.0).abs() < 1e-14, "{y}: {posteriors:?}");
        assert!((gradient.means[0] / ((0.0 - y) / (0.02 * 0.02)) - 1.0).abs() < 1e-14, "{y}: {gradient:?}");
    }
}

#[test]
fn a_component_without_weight_has_the_derivative_of_its_limit() {
    let with = |weight: f64| {
        let weights = [1.0 - weight, weight];
        log::gradient(Mixture { weights: &weights, means: &[0.0, 2.0], sds: &[1.0, 0.5] }, 1.5)
    };
    let (none, little) = (with(0.0), with(1e-12));
    assert!((none.weights[1] / little.weights[1] - 1.0).abs() < 1e-10, "{none:?} {little:?}");
    assert_eq!((none.means[1], none.sds[1]), (0.0, 0.0));
}
