//! Expected shortfall: the mean of a mixture's tails, exactly.

use super::Mixture;
use super::quantile::{InvertibleCdf, Tail};
use crate::math::normal;

/// The mean of the lowest or highest `level` of a mixture.
pub(super) fn tail_mean(mixture: Mixture<'_>, level: f64, tail: Tail) -> f64 {
    // The upper tail is the lower tail of the mirrored variable.
    let sign = if tail == Tail::Lower { 1.0 } else { -1.0 };
    let quantile = sign * mixture.tail_quantile(level, tail);
    let (mut total, mut tail_probability, mut at_quantile) = (0.0, 0.0, 0.0);
    for (weight, mean, sd) in mixture.parts() {
        if sd == 0.0 {
            if sign * mean == quantile {
                at_quantile += weight;
            } else if sign * mean < quantile {
                total += weight * sign * mean;
                tail_probability += weight;
            }
            continue;
        }
        let a = (quantile - sign * mean) / sd;
        let mass = weight * normal::cdf(a);
        if mass > 0.0 {
            total += mass * own_tail_mean(quantile, sign * mean, sd, a);
            tail_probability += mass;
        }
    }
    if at_quantile > 0.0 {
        let counted = (level - tail_probability).clamp(0.0, at_quantile);
        total += counted * quantile;
        tail_probability += counted;
    }
    // If the probability of the tail underflows, its mean is the quantile.
    sign * if tail_probability > 0.0 { total / tail_probability } else { quantile }
}

/// E[Y | Y <= quantile] of one component, as a distance from the nearer of its mean and the quantile.
fn own_tail_mean(quantile: f64, mean: f64, sd: f64, a: f64) -> f64 {
    if a < 0.0 { quantile - sd * normal::mean_depth_below(a) } else { mean - sd * (normal::pdf(a) / normal::cdf(a)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;

    #[test]
    fn normal_tails_agree_with_high_precision() {
        let one = Mixture { weights: &[1.0], means: &[0.0], sds: &[1.0] };
        // Python mpmath, 50 digits: -npdf(z) / level with z the quantile at level.
        for (level, expected) in [(0.05, -2.062_712_807_507_426), (0.5, -0.797_884_560_802_865_4)] {
            assert!((one.shortfall_below(level) - expected).abs() < 1e-14);
            assert!((one.shortfall_above(level) + expected).abs() < 1e-14);
        }
        let far = one.shortfall_below(1e-300);
        assert!((far - -37.074_049_776_735_23).abs() < 1e-13, "{far}");
    }

    #[test]
    fn tail_that_is_one_whole_component_has_its_mean() {
        let far = Mixture { weights: &[0.25, 0.75], means: &[3.0, 1e9], sds: &[1.0, 1.0] };
        assert!((far.shortfall_below(0.25) - 3.0).abs() < 1e-9);
        assert!((far.shortfall_above(0.75) - 1e9).abs() < 1e-6);
    }
}
