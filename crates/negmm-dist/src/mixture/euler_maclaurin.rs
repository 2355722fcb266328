//! Sums over very many cells: the Euler-Maclaurin formula for the midpoint rule.
//!
//! h times the sum of G at the middles of intervals of width h is the integral of G plus, at the upper end minus at the lower end,
//!
//! ```text
//! sum_n B_2n(1/2) / (2n)! h^2n G^(2n-1)
//! ```
//!
//! with the Bernoulli polynomials B. Four terms are enough if the sds of components are at least eight steps.

use super::Mixture;
use crate::Distribution;
use crate::math::normal;

/// B_2n(1/2) / (2n)! for n = 1, 2, 3, 4.
const TERMS: [f64; 4] = [-1.0 / 24.0, 7.0 / 5760.0, -31.0 / 967_680.0, 127.0 / 154_828_800.0];

/// The number of derivatives that the formula needs, from order 0.
const ORDERS: usize = 8;

/// The tail whose probability is summed.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    UpTo,
    Above,
}

impl Side {
    pub(super) fn of(self, mixture: Mixture<'_>, y: f64) -> f64 {
        match self {
            Self::UpTo => mixture.cdf(y),
            Self::Above => mixture.survival(y),
        }
    }
}

/// The probability on that side of `x` and its derivatives, the one of order n times `step`^n; for Gaussians.
///
/// The derivative of order n + 1 of a component's distribution function is (-1)^n He_n(z) pdf(z) / sd^(n+1), with the Hermite
/// polynomials He_{n+1} = z He_n - n He_{n-1}.
pub(super) fn derivatives(mixture: Mixture<'_>, x: f64, step: f64, side: Side) -> [f64; ORDERS] {
    let sign = if side == Side::UpTo { 1.0 } else { -1.0 };
    let mut all = [0.0; ORDERS];
    all[0] = side.of(mixture, x);
    for (weight, mean, sd) in mixture.parts() {
        let (z, ratio) = ((x - mean) / sd, step / sd);
        let (mut before, mut hermite, mut factor) = (0.0, 1.0, sign * weight * normal::pdf(z) * ratio);
        for (order, derivative) in all.iter_mut().enumerate().skip(1) {
            *derivative += factor * hermite;
            (before, hermite) = (hermite, z * hermite - (order - 1) as f64 * before);
            factor *= -ratio;
        }
    }
    all
}

/// The correction at one end, divided by the step; `derivative` gives the derivative of an order, times step^order.
pub(super) fn correction(derivative: impl Fn(usize) -> f64) -> f64 {
    TERMS.iter().zip([1, 3, 5, 7]).map(|(term, order)| term * derivative(order)).sum()
}

/// The same for the square of the function that has these derivatives, by Leibniz' rule.
pub(super) fn correction_of_square(d: [f64; ORDERS]) -> f64 {
    correction(|order| {
        let (mut ways, mut sum) = (1.0, 0.0);
        for part in 0..=order {
            sum += ways * d[part] * d[order - part];
            ways = ways * (order - part) as f64 / (part + 1) as f64;
        }
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;

    const ONE: Mixture<'static> = Mixture { weights: &[0.4, 0.6], means: &[1.0, -2.0], sds: &[1.0, 1.7] };

    #[test]
    fn derivatives_are_slopes_of_each_other() {
        let (step, gap) = (0.125, 1e-5);
        for side in [Side::UpTo, Side::Above] {
            for x in [-4.0, 0.3, 2.0] {
                let at = |x: f64| derivatives(ONE, x, step, side);
                let (below, here, above) = (at(x - gap), at(x), at(x + gap));
                for order in 1..ORDERS {
                    let slope = step * (above[order - 1] - below[order - 1]) / (2.0 * gap);
                    assert!((here[order] - slope).abs() < 1e-8 * step.powi(order as i32 - 1), "{x} {order}");
                }
            }
        }
    }

    #[test]
    fn sums_differ_from_integrals_by_the_corrections() {
        // From a point in the middle down to where F is negligible: the integral of F is E max(x - Y, 0).
        let (step, x) = (0.125, 0.75);
        let sum: f64 = (0..400).map(|cell| step * ONE.cdf(x - (f64::from(cell) + 0.5) * step)).sum();
        let integral: f64 = ONE
            .parts()
            .map(|(weight, mean, sd)| {
                let z = (x - mean) / sd;
                weight * sd * (z * normal::cdf(z) + normal::pdf(z))
            })
            .sum();
        let d = derivatives(ONE, x, step, Side::UpTo);
        assert!((integral + step * correction(|order| d[order]) - sum).abs() < 1e-14);
        // For the square, compared with twice as many intervals.
        let squares = |step: f64, cells: i32| {
            let sum: f64 =
                (0..cells).map(|cell| ONE.cdf(x - (f64::from(cell) + 0.5) * step)).map(|f| step * f * f).sum();
            sum - step * correction_of_square(derivatives(ONE, x, step, Side::UpTo))
        };
        assert!((squares(step, 400) - squares(0.5 * step, 800)).abs() < 1e-14);
    }
}
