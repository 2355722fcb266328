//! Proper scores of a predicted mixture: values and gradients.
//!
//! [`log`], [`energy`] and [`hybrid`] are references in f64 that follow the paper; [`interval`] is the logarithmic score of censored
//! targets. Derivatives with respect to weights treat them as unconstrained; [`logit_gradient`] converts these to derivatives with respect
//! to the logits of a softmax.

pub mod beta_nll;
pub mod energy;
pub mod hybrid;
pub mod interval;
pub mod joint;
pub mod log;
pub mod sample_energy;
pub mod sinkhorn;

/// Partial derivatives of a score with respect to the parameters of a mixture, each with one number per component.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// With respect to the weights, as if they were unconstrained.
    pub weights: Vec<f64>,
    /// With respect to the means.
    pub means: Vec<f64>,
    /// With respect to the sds.
    pub sds: Vec<f64>,
}

/// Derivatives with respect to logits a, where weights = softmax(a).
///
/// d weight_l / d a_k = weight_k (1{k = l} - weight_l), so dS / d a_k = weight_k (g_k - sum_l weight_l g_l) with g = dS / d weights.
pub fn logit_gradient(weights: &[f64], weight_gradient: &[f64]) -> Vec<f64> {
    let average: f64 = weights.iter().zip(weight_gradient).map(|(weight, g)| weight * g).sum();
    weights.iter().zip(weight_gradient).map(|(weight, g)| weight * (g - average)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logit_gradient_by_hand() {
        assert_eq!(logit_gradient(&[0.25, 0.75], &[4.0, 0.0]), [0.75, -0.75]);
    }
}
