//! The energy score, S_e(F, y) = E|Y - y| - E|Y - Y'| / 2 with Y, Y' independent from F.
//!
//! Theorem 1, with w_k = (mean_k - y) / sd_k, s_kl = sqrt(sd_k^2 + sd_l^2) and w_kl = (mean_k - mean_l) / s_kl:
//!
//! ```text
//! S_e  = sum_k weight_k A_k - 1/2 sum_kl weight_k weight_l B_kl
//! A_k  = sd_k sqrt(2/pi) exp(-w_k^2 / 2)  + (mean_k - y) erf(w_k / sqrt 2)
//! B_kl = s_kl sqrt(2/pi) exp(-w_kl^2 / 2) + (mean_k - mean_l) erf(w_kl / sqrt 2),   B_kk = 2 sd_k / sqrt(pi)
//! ```
//!
//! Proposition 2, with 2 cdf(w) - 1 = erf(w / sqrt 2) and pdf the standard normal density:
//!
//! ```text
//! dS_e / d weight_k = A_k - sum_l weight_l B_kl
//! dS_e / d mean_k   = weight_k (erf(w_k / sqrt 2) - sum_l weight_l erf(w_kl / sqrt 2))
//! dS_e / d sd_k     = 2 weight_k (pdf(w_k) - sum_l weight_l (sd_k / s_kl) pdf(w_kl))
//! ```

use super::Gradient;
use crate::Distribution;
use crate::math::normal;
use crate::mixture::{Mixture, folded_mean, mean_absolute_difference, root_sum_square};
use std::f64::consts::FRAC_1_SQRT_2;

/// The score of observing `y`.
pub fn value(mixture: Mixture<'_>, y: f64) -> f64 {
    mixture.crps(y)
}

/// Its derivatives.
pub fn gradient(mixture: Mixture<'_>, y: f64) -> Gradient {
    let Mixture { weights, means, sds } = mixture;
    let mut gradient = Gradient { weights: Vec::new(), means: Vec::new(), sds: Vec::new() };
    for k in 0..weights.len() {
        let w = (means[k] - y) / sds[k];
        let mut weight = folded_mean(means[k] - y, sds[k]);
        let mut mean = libm::erf(w * FRAC_1_SQRT_2);
        let mut sd = normal::pdf(w);
        for l in 0..weights.len() {
            let s = root_sum_square(sds[k], sds[l]);
            let w = (means[k] - means[l]) / s;
            weight -= weights[l] * mean_absolute_difference(mixture, k, l);
            mean -= weights[l] * libm::erf(w * FRAC_1_SQRT_2);
            sd -= weights[l] * (sds[k] / s) * normal::pdf(w);
        }
        gradient.weights.push(weight);
        gradient.means.push(weights[k] * mean);
        gradient.sds.push(2.0 * weights[k] * sd);
    }
    gradient
}
