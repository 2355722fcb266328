//! The logarithmic score, S_l(F, y) = -ln p(y) with p(y) = sum_k weight_k N(y; mean_k, sd_k^2).
//!
//! Proposition 1, with r_k = N(y; mean_k, sd_k^2) / p(y) and z_k = (y - mean_k) / sd_k:
//!
//! ```text
//! dS_l / d weight_k = -r_k
//! dS_l / d mean_k   = -weight_k r_k z_k / sd_k
//! dS_l / d sd_k     =  weight_k r_k (1 - z_k^2) / sd_k
//! ```

use super::Gradient;
use crate::Distribution;
use crate::math::normal;
use crate::mixture::Mixture;

/// The score of observing `y`.
pub fn value(mixture: Mixture<'_>, y: f64) -> f64 {
    -mixture.log_pdf(y)
}

/// Its derivatives, for `y` within 1e150 sds of a component.
pub fn gradient(mixture: Mixture<'_>, y: f64) -> Gradient {
    let Mixture { weights, means, sds } = mixture;
    // In logarithms, since the densities would underflow far from y, and relative to the largest term instead of ln p, whose rounding
    // error is too large there for responsibilities that sum to 1.
    let log_densities: Vec<f64> =
        means.iter().zip(sds).map(|(mean, sd)| normal::log_pdf((y - mean) / sd) - libm::log(*sd)).collect();
    let terms = || weights.iter().zip(&log_densities).map(|(weight, density)| libm::log(*weight) + density);
    let largest = terms().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = terms().map(|term| libm::exp(term - largest)).sum();
    let mut gradient = Gradient { weights: Vec::new(), means: Vec::new(), sds: Vec::new() };
    for (k, term) in terms().enumerate() {
        let z = (y - means[k]) / sds[k];
        let responsibility = libm::exp(term - largest) / sum;
        let r =
            if weights[k] > 0.0 { responsibility / weights[k] } else { libm::exp(log_densities[k] - largest) / sum };
        gradient.weights.push(-r);
        gradient.means.push(-responsibility * z / sds[k]);
        gradient.sds.push(responsibility * (1.0 - z * z) / sds[k]);
    }
    gradient
}
