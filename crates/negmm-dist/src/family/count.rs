//! Families of counts: quantiles by search, mean differences by an integral over a circle.

use std::f64::consts::PI;

use super::shape::Shape;
use crate::math::normal;

/// The integral's relative error at which points are no longer doubled, and the largest number of points.
const TOLERANCE: f64 = 1e-15;
const MOST_POINTS: usize = 1 << 20;

/// The smallest count with a cdf of at least `level`, or that is exceeded with a probability of at most `level`.
pub(super) fn smallest_count(shape: &Shape, level: f64, above: bool) -> f64 {
    // A tolerance for rounding errors of the cdf, which may be short of the level that it reaches.
    let slack = 1e-12;
    let reached = |count: f64| {
        if above { shape.survival(count) <= level * (1.0 + slack) } else { shape.cdf(count) >= level * (1.0 - slack) }
    };
    let z = if above { -normal::quantile(level) } else { normal::quantile(level) };
    let start = (shape.mean() + z * shape.variance().sqrt()).floor().max(0.0);
    // A bracket around the start, twice as wide each time, then bisection.
    let (mut low, mut high, mut step) = (start, start, 1.0);
    if reached(start) {
        while low > 0.0 && reached(low) {
            (high, low, step) = (low, (low - step).max(0.0), 2.0 * step);
        }
        if low == 0.0 && reached(0.0) {
            return 0.0;
        }
    } else {
        while !reached(high) && high < 1e15 {
            (low, high, step) = (high, high + step, 2.0 * step);
        }
    }
    while high - low > 1.0 {
        let middle = (0.5 * (low + high)).floor();
        if reached(middle) { high = middle } else { low = middle }
    }
    high
}

/// (1/π) ∫ h(1 - cos θ) dθ from 0 to π by the trapezoidal rule, which converges exponentially for a periodic function.
fn circle_integral(h: impl Fn(f64) -> f64) -> f64 {
    let f = |angle: f64| {
        let half = libm::sin(0.5 * angle);
        h(2.0 * half * half)
    };
    let mut points = 8;
    let mut sum = 0.5 * f(0.0) + 0.5 * f(PI) + (1..points).map(|at| f(PI * at as f64 / points as f64)).sum::<f64>();
    let mut value = sum / points as f64;
    loop {
        sum += (0..points).map(|at| f(PI * (at as f64 + 0.5) / points as f64)).sum::<f64>();
        points *= 2;
        let finer = sum / points as f64;
        if (finer - value).abs() <= TOLERANCE * finer || points >= MOST_POINTS {
            return finer;
        }
        value = finer;
    }
}

/// λ e^(-2λ) (I0(2λ) + I1(2λ)), with the Bessel functions as integrals of e^(2λ cos θ).
pub(super) fn half_difference_of_poisson(mean: f64) -> f64 {
    mean * circle_integral(|versine| (2.0 - versine) * libm::exp(-2.0 * mean * versine))
}

/// n (1 - p) / p² 2F1(n + 1, 1/2; 2; -w) with w = 4 (1 - p) / p², by Euler's integral with t = (1 - cos θ) / 2.
pub(super) fn half_difference_of_negative_binomial(n: f64, p: f64) -> f64 {
    let w = 4.0 * (1.0 - p) / (p * p);
    0.25 * n * w * circle_integral(|versine| (2.0 - versine) * libm::exp(-(n + 1.0) * libm::log1p(0.5 * w * versine)))
}

/// Σ P(Z = k)², by Parseval's theorem: (1/π) ∫ |characteristic function|² from 0 to π.
pub(super) fn squared_probabilities(shape: &Shape) -> f64 {
    match *shape {
        Shape::Poisson { mean } => circle_integral(|versine| libm::exp(-2.0 * mean * versine)),
        Shape::NegativeBinomial { n, p } => {
            let w = 4.0 * (1.0 - p) / (p * p);
            circle_integral(|versine| libm::exp(-n * libm::log1p(0.5 * w * versine)))
        }
        _ => f64::NAN,
    }
}
