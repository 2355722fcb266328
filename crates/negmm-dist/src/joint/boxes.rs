//! Probabilities of boxes, by Genz's separation of variables.
//!
//! For one component with factor L, P(a < Y < b) is an integral over [0, 1]^(d - 1) of a product of d normal probabilities, each
//! conditional on the variables before it (Genz, 1992, "Numerical computation of multivariate normal probabilities"). The integral is
//! taken over randomly shifted lattices, whose spread states the error. One target is exact.

use super::JointMixture;
use super::cholesky::at;
use crate::math::counter::Counter;
use crate::math::normal;
use crate::streams;

/// Lattices with shifts of their own, and points of each.
const SHIFTS: usize = 8;
const POINTS: usize = 1021;

/// The probability of a box, and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxProbability {
    /// P(lower < Y <= upper).
    pub probability: f64,
    /// Its standard error; 0 for one target.
    pub standard_error: f64,
}

impl JointMixture<'_> {
    /// P(lower_j < Y_j <= upper_j for all targets j); bounds may be infinite.
    ///
    /// # Panics
    /// When there is not one bound for each target.
    pub fn box_probability(&self, lower: &[f64], upper: &[f64]) -> BoxProbability {
        assert!(lower.len() == self.targets && upper.len() == self.targets, "one bound for each target");
        // Square roots of primes modulo 1: Richtmyer's lattice.
        let generator: Vec<f64> = primes().take(self.targets).map(|prime| (prime as f64).sqrt().fract()).collect();
        let counter = Counter::new(0, streams::DIRECTIONS + 1);
        let points = if self.targets == 1 { 1 } else { POINTS };
        let estimates: Vec<f64> = (0..SHIFTS)
            .map(|shift| {
                let mut draws = counter.step(shift as u64);
                let shifts: Vec<f64> = (0..self.targets).map(|_| draws.uniform()).collect();
                let mut sum = 0.0;
                for point in 0..points {
                    // The baker's transformation makes the integrand periodic.
                    let coordinate = |axis: usize| {
                        let x = (point as f64 * generator[axis] + shifts[axis]).fract();
                        (1.0 - (2.0 * x - 1.0).abs()).clamp(1e-15, 1.0 - 1e-15)
                    };
                    sum += self.parts().map(|part| inside(part, lower, upper, coordinate)).sum::<f64>();
                }
                sum / points as f64
            })
            .collect();
        let mean = estimates.iter().sum::<f64>() / SHIFTS as f64;
        let variance = estimates.iter().map(|estimate| (estimate - mean) * (estimate - mean)).sum::<f64>();
        let standard_error = (variance / (SHIFTS * (SHIFTS - 1)) as f64).sqrt();
        BoxProbability { probability: mean.clamp(0.0, 1.0), standard_error }
    }
}

/// The integrand for one component, times its weight.
fn inside(
    (weight, mean, factor): (f64, &[f64], &[f64]),
    lower: &[f64],
    upper: &[f64],
    coordinate: impl Fn(usize) -> f64,
) -> f64 {
    let mut z = Vec::with_capacity(mean.len());
    let mut product = weight;
    for row in 0..mean.len() {
        let shift = mean[row] + (0..row).map(|k| factor[at(row, k)] * z[k]).sum::<f64>();
        let pivot = factor[at(row, row)];
        if pivot == 0.0 {
            product *= f64::from(u8::from(lower[row] < shift && shift <= upper[row]));
            z.push(0.0);
        } else {
            let (low, high) = (normal::cdf((lower[row] - shift) / pivot), normal::cdf((upper[row] - shift) / pivot));
            product *= (high - low).max(0.0);
            z.push(normal::quantile((low + coordinate(row) * (high - low)).clamp(1e-300, 1.0 - 1e-16)));
        }
        if product == 0.0 {
            return 0.0;
        }
    }
    product
}

fn primes() -> impl Iterator<Item = u32> {
    (2u32..).filter(|n| (2..*n).take_while(|k| k * k <= *n).all(|k| n % k != 0))
}
