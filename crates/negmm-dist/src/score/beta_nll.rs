//! Beta-NLL: the Gaussian logarithmic score, each row weighted by its own variance to the power beta.
//!
//! ```text
//! S = stop(v)^beta [ z² / 2 + ln sd + ln(2 pi) / 2 ],   v = sd²,   z = (y - mean) / sd
//! dS/dmean = -v^beta z / sd          dS/dsd = v^beta (1 - z²) / sd
//! ```
//!
//! The weight is not differentiated (Seitzer et al., 2022). With beta = 0 this is the logarithmic score; with beta = 1 the
//! gradient with respect to the mean is that of the squared error. For a censored target the bracket is -ln of the probability of its
//! interval ([`super::interval`]), with the same weight.

/// ln(2 pi) / 2
const HALF_LN_2_PI: f64 = 0.918_938_533_204_672_8;

/// The score of a Gaussian.
pub fn value(mean: f64, sd: f64, y: f64, beta: f64) -> f64 {
    let z = (y - mean) / sd;
    libm::pow(sd * sd, beta) * (0.5 * z * z + libm::log(sd) + HALF_LN_2_PI)
}

/// Its derivatives with respect to (mean, sd), with the weight v^beta fixed.
pub fn gradient(mean: f64, sd: f64, y: f64, beta: f64) -> (f64, f64) {
    let z = (y - mean) / sd;
    let weight = libm::pow(sd * sd, beta);
    (-weight * z / sd, weight * (1.0 - z * z) / sd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mixtures;
    use crate::score::log;

    #[test]
    fn beta_0_is_the_logarithmic_score_and_beta_1_the_squared_error() {
        let mixtures = Mixtures::new(1, vec![1.0], vec![0.3], vec![0.7]).unwrap();
        assert!((value(0.3, 0.7, 1.1, 0.0) - log::value(mixtures.row(0), 1.1)).abs() < 1e-14);
        assert!((gradient(0.3, 0.7, 1.1, 1.0).0 - (0.3 - 1.1)).abs() < 1e-14);
    }

    #[test]
    fn gradient_is_that_of_the_score_with_the_weight_held_fixed() {
        let (mean, sd, y, step) = (0.3, 0.7, 1.1, 1e-6);
        for beta in [0.0, 0.25, 0.5, 1.0] {
            let weight = libm::pow(sd * sd, beta);
            let difference = |up: f64, down: f64| weight * (up - down) / (2.0 * step);
            let (by_mean, by_sd) = gradient(mean, sd, y, beta);
            let mean_slope = difference(value(mean + step, sd, y, 0.0), value(mean - step, sd, y, 0.0));
            let sd_slope = difference(value(mean, sd + step, y, 0.0), value(mean, sd - step, y, 0.0));
            assert!((by_mean - mean_slope).abs() < 1e-8 && (by_sd - sd_slope).abs() < 1e-8, "{beta}");
        }
    }
}
