//! The closed-form energy score of a mixture (the paper's Theorem 1; Grimit et al. 2006 for the CRPS).

use super::Mixture;
use super::folded::{mean_of, pairs};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

/// sqrt(2 / pi).
const SQRT_2_OVER_PI: f64 = 0.797_884_560_802_865_4;

/// From this many sds on, E|X| of a normal variable is |mean| to the last bit.
pub(super) const FAR: f64 = 9.0;

/// Mean of |X| for a normal X, written with w = mean / sd:
/// sd sqrt(2 / pi) exp(-w^2 / 2) + mean erf(w / sqrt 2). Both terms are positive, nothing cancels. For an atom it is |mean|.
#[inline]
pub(crate) fn folded_mean(mean: f64, sd: f64) -> f64 {
    let w = mean / sd;
    if w.abs() > FAR || sd == 0.0 {
        return mean.abs();
    }
    sd * SQRT_2_OVER_PI * libm::exp(-0.5 * w * w) + mean * libm::erf(w * FRAC_1_SQRT_2)
}

/// sqrt(a^2 + b^2), also if the squares underflow or overflow.
#[inline]
pub(crate) fn root_sum_square(a: f64, b: f64) -> f64 {
    /// Squares in this range are exact to rounding.
    const SAFE: std::ops::Range<f64> = 1e-280..1e300;
    let sum = a * a + b * b;
    if SAFE.contains(&sum) { sum.sqrt() } else { libm::hypot(a, b) }
}

/// Mean of |X - X'| for components k and l of one mixture, the paper's B_kl; for k = l it is 2 sd / sqrt(pi). For two atoms it
/// is their distance, for an atom and a Gaussian the mean distance of the Gaussian from the atom.
#[inline]
pub(crate) fn mean_absolute_difference(mixture: Mixture<'_>, k: usize, l: usize) -> f64 {
    if k == l {
        return FRAC_2_SQRT_PI * mixture.sds[k];
    }
    folded_mean(mixture.means[k] - mixture.means[l], root_sum_square(mixture.sds[k], mixture.sds[l]))
}

impl Mixture<'_> {
    /// Mean of |X - y|.
    pub fn mean_distance_from(&self, y: f64) -> f64 {
        let parts = self.weights.iter().zip(self.means.iter().zip(self.sds));
        parts.filter(|(weight, _)| **weight > 0.0).map(|(weight, (mean, sd))| weight * mean_of(mean - y, *sd)).sum()
    }

    /// Mean of |X - X'| for independent X of this mixture and X' of the other.
    pub fn mean_distance(&self, other: Mixture<'_>) -> f64 {
        let mut sum = 0.0;
        for (weight, (mean, sd)) in self.weights.iter().zip(self.means.iter().zip(self.sds)) {
            if *weight == 0.0 {
                continue;
            }
            let mut inner = 0.0;
            for (weight, (center, spread)) in other.weights.iter().zip(other.means.iter().zip(other.sds)) {
                if *weight > 0.0 {
                    inner += weight * mean_of(mean - center, root_sum_square(*sd, *spread));
                }
            }
            sum += weight * inner;
        }
        sum
    }
}

/// The CRPS if no distance overflows; rounding may make it slightly negative.
pub(super) fn crps_unscaled(mixture: Mixture<'_>, y: f64) -> f64 {
    let mut distance = 0.0;
    for (k, (&weight, (&mean, &sd))) in mixture.weights.iter().zip(mixture.means.iter().zip(mixture.sds)).enumerate() {
        if weight > 0.0 {
            // Half of the diagonal; `pairs` has each pair once.
            let own = 0.5 * weight * mean_absolute_difference(mixture, k, k);
            distance += weight * (mean_of(mean - y, sd) - own);
        }
    }
    distance - pairs(mixture)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;

    #[test]
    fn agrees_with_r_scoring_rules() {
        // R scoringRules: crps_mixnorm(0.3, m = c(0, -2.9, 0.9), s = c(0.5, 1.4, 0.7), w).
        let score = |weights| Mixture { weights, means: &[0.0, -2.9, 0.9], sds: &[0.5, 1.4, 0.7] }.crps(0.3);
        assert!((score(&[1.0 / 3.0; 3]) - 0.451_045_1).abs() < 1e-7);
        assert!((score(&[0.3, 0.1, 0.6]) - 0.235_461_9).abs() < 1e-7);
    }

    #[test]
    fn the_shortcut_for_far_means_changes_no_bit() {
        for hundredths in 600..1200 {
            let w = f64::from(hundredths) / 100.0;
            let full = SQRT_2_OVER_PI * libm::exp(-0.5 * w * w) + w * libm::erf(w * FRAC_1_SQRT_2);
            assert_eq!(folded_mean(w, 1.0), full, "{w}");
            assert_eq!(folded_mean(-w, 1.0), full);
        }
    }

    #[test]
    fn extremes_are_numbers() {
        for (means, sds) in [
            ([f64::MAX, -f64::MAX], [1.0, 1.0]),
            ([0.0, 0.0], [f64::MAX, f64::MAX]),
            ([0.0, 0.0], [f64::MIN_POSITIVE, f64::MIN_POSITIVE]),
            ([1e150, -1e150], [1e-12, 1e12]),
        ] {
            let mixture = Mixture { weights: &[0.5, 0.5], means: &means, sds: &sds };
            for y in [0.0, 1.0, 1e150, f64::MAX] {
                assert!(mixture.crps(y) >= 0.0, "{means:?} {sds:?} {y}");
            }
        }
        // The score scales with y, also if its squares overflow.
        let score = |unit: f64| {
            let (means, sds) = ([0.5 * unit, -unit], [unit, 2.0 * unit]);
            Mixture { weights: &[0.5, 0.5], means: &means, sds: &sds }.crps(unit) / unit
        };
        for unit in [1e-300, 1e-170, 1e200, 1e307] {
            assert!((score(unit) - score(1.0)).abs() < 1e-14, "{unit:e}");
        }
        // E|Y - 0| = m and E|Y - Y'| = m for the pair at -m and m.
        let pair = Mixture { weights: &[0.5, 0.5], means: &[-1e308, 1e308], sds: &[1.0, 1.0] };
        assert!((pair.crps(0.0) / 0.5e308 - 1.0).abs() < 1e-15);
    }
}
