//! The logarithmic score of an interval, for censored targets:
//! S(F, l, u) = -ln P with P = sum_k weight_k P_k and P_k = cdf((u - mean_k) / sd_k) - cdf((l - mean_k) / sd_k). An end may be infinite.
//!
//! With r_k = P_k / P and the mean and the excess of a standard normal variable between those ends (`TruncatedNormal`):
//!
//! ```text
//! dS / d weight_k = -r_k
//! dS / d mean_k   = -weight_k r_k mean / sd_k
//! dS / d sd_k     = -weight_k r_k excess / sd_k
//! ```
//!
//! For a narrow interval they are the derivatives of the logarithmic score of a value: mean is z and excess is z² - 1. A component with
//! an sd of 0 is a single value inside or outside the interval; only the derivative with respect to its weight is not 0.

use super::Gradient;
use crate::math::truncated::TruncatedNormal;
use crate::mixture::{Mixture, log_sum_exp};

/// The score of observing that the value lies between `lower` and `upper`.
pub fn value(mixture: Mixture<'_>, lower: f64, upper: f64) -> f64 {
    let log_mass = |k: usize| match (mixture.means[k], mixture.sds[k]) {
        (mean, 0.0) => log_mass_of_atom(mean, lower, upper),
        (mean, sd) => TruncatedNormal::log_mass((lower - mean) / sd, (upper - mean) / sd, (upper - lower) / sd),
    };
    let with_weight = (0..mixture.weights.len()).filter(|k| mixture.weights[*k] > 0.0);
    let term = |k: usize| libm::log(mixture.weights[k]) + log_mass(k);
    -log_sum_exp(with_weight.map(term))
}

/// Its derivatives.
pub fn gradient(mixture: Mixture<'_>, lower: f64, upper: f64) -> Gradient {
    let Mixture { weights, sds, .. } = mixture;
    let parts: Vec<TruncatedNormal<f64>> = (0..weights.len()).map(|k| part(mixture, k, lower, upper)).collect();
    let terms = || weights.iter().zip(&parts).map(|(weight, part)| libm::log(*weight) + part.log_mass);
    // Relative to the largest term, as for the logarithmic score of a value.
    let largest = terms().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = terms().map(|term| libm::exp(term - largest)).sum();
    let mut gradient = Gradient { weights: Vec::new(), means: Vec::new(), sds: Vec::new() };
    for (k, part) in parts.iter().enumerate() {
        let r = libm::exp(part.log_mass - largest) / sum;
        let slope = if sds[k] > 0.0 { weights[k] * r / sds[k] } else { 0.0 };
        gradient.weights.push(-r);
        gradient.means.push(-slope * part.mean);
        gradient.sds.push(-slope * part.excess);
    }
    gradient
}

fn log_mass_of_atom(mean: f64, lower: f64, upper: f64) -> f64 {
    if (lower..=upper).contains(&mean) { 0.0 } else { f64::NEG_INFINITY }
}

/// Component `k` between the ends.
fn part(mixture: Mixture<'_>, k: usize, lower: f64, upper: f64) -> TruncatedNormal<f64> {
    let (mean, sd) = (mixture.means[k], mixture.sds[k]);
    if sd == 0.0 {
        return TruncatedNormal { log_mass: log_mass_of_atom(mean, lower, upper), mean: 0.0, excess: 0.0 };
    }
    TruncatedNormal::new((lower - mean) / sd, (upper - mean) / sd, (upper - lower) / sd)
}
