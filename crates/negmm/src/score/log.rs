//! Responsible for the logarithmic score, S_l(F, y) = -ln p(y) with p(y) = sum_k weight_k N(y; mean_k, sd_k^2).
//!
//! Proposition 1, with r_k = N(y; mean_k, sd_k^2) / p(y) and z_k = (y - mean_k) / sd_k:
//!
//! ```text
//! dS_l / d weight_k = -r_k
//! dS_l / d mean_k   = -weight_k r_k z_k / sd_k
//! dS_l / d sd_k     =  weight_k r_k (1 - z_k^2) / sd_k
//! ```

use super::Gradient;
use crate::math::normal;
use crate::mixture::Mixture;

/// The score of observing `y`.
pub fn value(mixture: Mixture<'_>, y: f64) -> f64 {
    -mixture.log_pdf(y)
}

/// Its derivatives, for `y` within 1e150 sds of a component.
pub fn gradient(mixture: Mixture<'_>, y: f64) -> Gradient {
    let log_p = mixture.log_pdf(y);
    let mut gradient = Gradient { weights: Vec::new(), means: Vec::new(), sds: Vec::new() };
    for ((&weight, &mean), &sd) in mixture.weights.iter().zip(mixture.means).zip(mixture.sds) {
        let z = (y - mean) / sd;
        // In logarithms: the densities alone would underflow far from y.
        let log_r = normal::log_pdf(z) - libm::log(sd) - log_p;
        let share = libm::exp(libm::log(weight) + log_r);
        gradient.weights.push(-libm::exp(log_r));
        gradient.means.push(-share * z / sd);
        gradient.sds.push(share * (1.0 - z * z) / sd);
    }
    gradient
}
