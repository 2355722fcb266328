//! The upper tail Q(z) = P(Z > z) of the standard normal distribution by tables, for sums over many values: a Taylor series
//! around the nearest of equally spaced nodes, without exp and erfc.
//!
//! Q' = -phi, and the derivatives of phi are phi⁽ⁿ⁾ = (-1)ⁿ He_n phi with the Hermite polynomials.

use std::sync::LazyLock;

use super::normal::{cdf, pdf};

/// From this z on the tail is below the rounding error of 1, and is 0 here.
pub(crate) const FAR: f64 = 9.0;
/// Nodes per interval of length 1.
const NODES_PER_UNIT: f64 = 32.0;
/// Terms of a series, one cache line. The next one is below 1e-17 halfway to the next node, and below 4e-12 of Q.
const TERMS: usize = 8;

static SERIES: LazyLock<Vec<[f64; TERMS]>> =
    LazyLock::new(|| (0..=(FAR * NODES_PER_UNIT) as usize).map(|node| series(node as f64 / NODES_PER_UNIT)).collect());

/// The coefficients at a node, the lowest power first.
fn series(z: f64) -> [f64; TERMS] {
    let mut terms = [0.0; TERMS];
    terms[0] = cdf(-z);
    // He_0 = 1, He_1 = z, He_(n + 1) = z He_n - n He_(n - 1).
    let (mut before, mut hermite, mut factor) = (0.0, 1.0, -pdf(z));
    for n in 0..TERMS - 1 {
        factor /= (n + 1) as f64;
        terms[n + 1] = factor * hermite;
        (before, hermite) = (hermite, z * hermite - n as f64 * before);
        factor = -factor;
    }
    terms
}

/// The tables.
#[derive(Clone, Copy)]
pub(crate) struct UpperTail(&'static [[f64; TERMS]]);

impl UpperTail {
    pub(crate) fn new() -> Self {
        Self(&SERIES)
    }

    /// Q(z) for a z that is not negative.
    #[inline(always)]
    pub(crate) fn at(self, z: f64) -> f64 {
        if z > FAR {
            return 0.0;
        }
        let node = (z * NODES_PER_UNIT + 0.5) as usize;
        let x = z - node as f64 / NODES_PER_UNIT;
        let square = x * x;
        let terms = &self.0[node];
        // Even and odd powers in two independent sums, which a processor computes at the same time.
        let even = terms[0] + square * (terms[2] + square * (terms[4] + square * terms[6]));
        let odd = terms[1] + square * (terms[3] + square * (terms[5] + square * terms[7]));
        even + x * odd
    }

    /// P(Z <= z).
    #[inline(always)]
    pub(crate) fn cdf(self, z: f64) -> f64 {
        let tail = self.at(z.abs());
        if z < 0.0 { tail } else { 1.0 - tail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_erfc() {
        let tail = UpperTail::new();
        for thousandths in 0..9000 {
            let z = f64::from(thousandths) / 1000.0;
            let (found, expected) = (tail.at(z), cdf(-z));
            assert!((found - expected).abs() < 2e-16, "{z}: {found} {expected}");
            assert!((found / expected - 1.0).abs() < 1e-11, "{z}: {found} {expected}");
            assert!((tail.cdf(z) - cdf(z)).abs() < 4e-16 && (tail.cdf(-z) - cdf(-z)).abs() < 4e-16, "{z}");
        }
        assert_eq!((tail.at(9.1), tail.at(f64::INFINITY), tail.cdf(f64::NEG_INFINITY)), (0.0, 0.0, 0.0));
    }
}
