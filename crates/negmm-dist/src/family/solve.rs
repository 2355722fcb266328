//! Quantiles of shapes without a closed form: Newton's method within a bracket.

use super::shape::Shape;
use crate::math::normal;

/// More steps than any search needs.
const MAX_STEPS: usize = 2200;

/// The value with this probability below it, or above it.
pub(super) fn quantile_by_newton(shape: &Shape, level: f64, above: bool) -> f64 {
    // On the side of the smaller probability, which has full precision.
    let (level, above) = if level > 0.5 { (1.0 - level, !above) } else { (level, above) };
    let (mut low, mut high) = shape.support();
    let mut z = start(shape, level, above);
    for _ in 0..MAX_STEPS {
        let found = if above { shape.survival(z) } else { shape.cdf(z) };
        // Whether the quantile is higher than z.
        if (found < level) != above {
            low = z
        } else {
            high = z
        }
        let slope = libm::exp(shape.log_pdf(z));
        let difference = if above { found - level } else { level - found };
        let newton = z + difference / slope;
        let next = if newton > low && newton < high && newton.is_finite() { newton } else { inside(low, high, z) };
        if (next - z).abs() <= 4.0 * f64::EPSILON * z.abs() || next == z || low >= high {
            return next;
        }
        z = next;
    }
    z
}

/// A value in the bracket: the middle, or twice as far where it is not bounded.
fn inside(low: f64, high: f64, z: f64) -> f64 {
    match (low.is_finite(), high.is_finite()) {
        (true, true) => 0.5 * low + 0.5 * high,
        (true, false) => z + (z - low).abs().max(z.abs()).max(1.0),
        (false, true) => z - (high - z).abs().max(z.abs()).max(1.0),
        (false, false) => 0.0,
    }
}

/// A first guess.
fn start(shape: &Shape, level: f64, above: bool) -> f64 {
    let z = if above { -normal::quantile(level) } else { normal::quantile(level) };
    match *shape {
        // Wilson and Hilferty's approximation; near 0 by the first term of the series.
        Shape::Gamma { shape } => {
            let ninth = 1.0 / (9.0 * shape);
            let cube = 1.0 - ninth + z * ninth.sqrt();
            let near_zero =
                libm::exp((libm::log(if above { 1.0 - level } else { level }) + libm::lgamma(shape + 1.0)) / shape);
            if cube > 0.1 { shape * cube * cube * cube } else { near_zero.max(f64::MIN_POSITIVE) }
        }
        Shape::Beta { a, b } => a / (a + b),
        _ => z,
    }
}
