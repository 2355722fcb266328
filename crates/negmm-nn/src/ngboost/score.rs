//! The scores that boosting minimises, and their natural gradients in the parameters (mean, log sd) of a normal
//! distribution.
//!
//! With r = y - mean, z = r / sd and the gradient d = (∂/∂mean, ∂/∂log sd) of the score, the natural gradient is M⁻¹ d,
//! where M is the metric of the score (Duan et al., NGBoost, 2020):
//!
//! | score | value | d | M | M⁻¹ d |
//! |---|---|---|---|---|
//! | log | log sd + z²/2 + ln √(2π) | (-r/sd², 1 - z²) | diag(1/sd², 2) | (-r, (1 - z²)/2) |
//! | crps | sd [z (2Φ(z) - 1) + 2φ(z) - 1/√π] | (1 - 2Φ(z), value + r d₁) | diag(2/sd, sd) / (2√π) | √π (sd d₁, 2 d₂/sd) |
//!
//! With the predicted distribution function F(y) = Φ(z), M for the CRPS is 2 ∫ (∂F/∂θ)(∂F/∂θ)ᵀ dy. The original software uses
//! sd M instead, that is diag(2, sd²) / (2√π), so that its natural gradient lacks a factor sd:
//! [`BoostingScore::CrpsOriginal`].
//!
//! The log score of a censored target is -ln of the probability of its interval. With the mean and the excess of a standard normal
//! variable between the ends ([`TruncatedNormal`]), d = (-mean/sd, -excess). M stays that of an observed target, as in the original software
//! for survival: M⁻¹ d = (-sd mean, -excess/2). The CRPS has no such expression: it takes the number that represents the interval,
//! and open intervals have none.

use std::f64::consts::FRAC_1_SQRT_2;

use serde::{Deserialize, Serialize};

use negmm_dist::math::normal;
use negmm_dist::math::truncated::TruncatedNormal;

/// ln √(2π).
const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;
/// √π.
const SQRT_PI: f64 = 1.772_453_850_905_516;
/// 1/√π.
const FRAC_1_SQRT_PI: f64 = 0.564_189_583_547_756_3;

/// The proper score that boosting minimises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoostingScore {
    /// The logarithmic score, -ln density.
    #[default]
    Log,
    /// The continuous ranked probability score with its own metric.
    Crps,
    /// The same score with the metric of the original software, which is sd times the exact one.
    CrpsOriginal,
}

impl BoostingScore {
    /// The score of a normal prediction; `residual` = y - mean.
    #[inline(always)]
    pub fn value(self, residual: f64, log_sd: f64, inverse_sd: f64) -> f64 {
        let z = residual * inverse_sd;
        match self {
            Self::Log => log_sd + 0.5 * z * z + LN_SQRT_2PI,
            Self::Crps | Self::CrpsOriginal => {
                (z * libm::erf(z * FRAC_1_SQRT_2) + 2.0 * normal::pdf(z) - FRAC_1_SQRT_PI) / inverse_sd
            }
        }
    }

    /// M⁻¹ d; `residual` = y - mean.
    #[inline(always)]
    pub fn natural_gradient(self, residual: f64, inverse_sd: f64) -> [f64; 2] {
        let z = residual * inverse_sd;
        if self == Self::Log {
            return [-residual, 0.5 * (1.0 - z * z)];
        }
        let by_mean = -libm::erf(z * FRAC_1_SQRT_2);
        let by_log_sd = (2.0 * normal::pdf(z) - FRAC_1_SQRT_PI) / inverse_sd;
        match self {
            Self::CrpsOriginal => [SQRT_PI * by_mean, 2.0 * SQRT_PI * by_log_sd * inverse_sd * inverse_sd],
            _ => [SQRT_PI * by_mean / inverse_sd, 2.0 * SQRT_PI * by_log_sd * inverse_sd],
        }
    }
}

/// The log score of an interval with these ends, measured from the mean.
#[inline(always)]
pub fn interval_value(ends: [f64; 2], inverse_sd: f64) -> f64 {
    -within(ends, inverse_sd).log_mass
}

/// M⁻¹ d of an interval with these ends, measured from the mean.
#[inline(always)]
pub fn interval_natural_gradient(ends: [f64; 2], inverse_sd: f64) -> [f64; 2] {
    let TruncatedNormal { mean, excess, .. } = within(ends, inverse_sd);
    [-mean / inverse_sd, -0.5 * excess]
}

#[inline(always)]
fn within([lower, upper]: [f64; 2], inverse_sd: f64) -> TruncatedNormal<f64> {
    TruncatedNormal::new(lower * inverse_sd, upper * inverse_sd, (upper - lower) * inverse_sd)
}
