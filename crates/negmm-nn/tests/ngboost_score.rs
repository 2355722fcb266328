//! Scores of boosting and their natural gradients against quadrature and differences.

use std::f64::consts::PI;

use negmm_dist::math::normal;
use negmm_nn::ngboost::BoostingScore;
use negmm_nn::ngboost::{interval_natural_gradient, interval_value};

fn value(score: BoostingScore, y: f64, mean: f64, log_sd: f64) -> f64 {
    score.value(y - mean, log_sd, (-log_sd).exp())
}

fn gradient(score: BoostingScore, y: f64, mean: f64, log_sd: f64) -> [f64; 2] {
    const H: f64 = 1e-5;
    [
        (value(score, y, mean + H, log_sd) - value(score, y, mean - H, log_sd)) / (2.0 * H),
        (value(score, y, mean, log_sd + H) - value(score, y, mean, log_sd - H)) / (2.0 * H),
    ]
}

/// The integral of `f` over 12 sds on either side of the mean, by the trapezoid rule.
fn integral(mean: f64, sd: f64, f: impl Fn(f64) -> f64) -> f64 {
    const STEPS: i32 = 4000;
    let h = 24.0 * sd / f64::from(STEPS);
    (0..=STEPS).map(|k| f(mean - 12.0 * sd + h * f64::from(k)) * h).sum()
}

#[test]
fn crps_is_the_integral_of_the_squared_distance_of_distribution_functions() {
    for (y, mean, sd) in [(0.3, 0.1, 0.7), (-2.0, 1.0, 0.5), (1.0, 1.0, 2.0)] {
        let z = |t: f64| (t - mean) / sd;
        let below = integral(mean, sd, |t| if t < y { normal::cdf(z(t)).powi(2) } else { 0.0 });
        let above = integral(mean, sd, |t| if t >= y { normal::cdf(-z(t)).powi(2) } else { 0.0 });
        let found = value(BoostingScore::Crps, y, mean, sd.ln());
        assert!((found - below - above).abs() < 0.01 * sd, "{found} {}", below + above);
    }
}

#[test]
fn natural_gradients_of_intervals_agree_with_differences() {
    const H: f64 = 1e-5;
    let ends = [[0.3, 0.4], [-2.0, 5.0], [0.5, f64::INFINITY], [f64::NEG_INFINITY, -1.0], [40.0, f64::INFINITY]];
    for (ends, sd) in ends.into_iter().flat_map(|ends| [(ends, 0.7), (ends, 2.0)]) {
        let value = |shift: f64, log_sd: f64| interval_value(ends.map(|end| end - shift), libm::exp(-log_sd));
        let log_sd = libm::log(sd);
        let by_mean = (value(H, log_sd) - value(-H, log_sd)) / (2.0 * H);
        let by_log_sd = (value(0.0, log_sd + H) - value(0.0, log_sd - H)) / (2.0 * H);
        let found = interval_natural_gradient(ends, 1.0 / sd);
        for (found, expected) in found.into_iter().zip([by_mean * sd * sd, by_log_sd / 2.0]) {
            assert!((found - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{ends:?} {sd}: {found} {expected}");
        }
    }
}

/// The metric of the log score is E[d dᵀ]; that of the CRPS is 2 ∫ (∂F/∂θ)(∂F/∂θ)ᵀ dy, where -∂F/∂mean = φ(z)/sd and
/// -∂F/∂log sd = z φ(z). Both are diagonal.
#[test]
fn natural_gradients_agree_with_differences_and_quadrature() {
    for (y, mean, sd) in [(0.3, 0.1, 0.7), (-2.0, 1.0, 0.5), (1.5, 1.0, 3.0), (0.2, 0.2, 0.1)] {
        let log_sd = f64::ln(sd);
        let z = |t: f64| (t - mean) / sd;
        let density = |t: f64| normal::pdf(z(t)) / sd;
        for score in [BoostingScore::Log, BoostingScore::Crps, BoostingScore::CrpsOriginal] {
            let d = gradient(score, y, mean, log_sd);
            let metric = match score {
                BoostingScore::Log => {
                    [0, 1].map(|k| integral(mean, sd, |t| density(t) * gradient(score, t, mean, log_sd)[k].powi(2)))
                }
                BoostingScore::Crps => [
                    2.0 * integral(mean, sd, |t| density(t).powi(2)),
                    2.0 * integral(mean, sd, |t| (z(t) * normal::pdf(z(t))).powi(2)),
                ],
                BoostingScore::CrpsOriginal => [2.0, sd * sd].map(|m| m / (2.0 * PI.sqrt())),
            };
            let found = score.natural_gradient(y - mean, 1.0 / sd);
            for k in 0..2 {
                let expected = d[k] / metric[k];
                assert!((found[k] - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{score:?} {found:?} {expected}");
            }
        }
    }
}
