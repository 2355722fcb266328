//! Mixtures of which two bounds cut off less than half: quantiles and the energy score from those of the whole mixture.
//!
//! With L = P(Y < lower), U = P(Y > upper), P = 1 - L - U, and the whole mixture's F and S = 1 - F, the truncated one has the
//! distribution function (F - L) / P and the survival function (S - U) / P. So its quantile at a level is the mixture's at L + level P,
//! and with the mixture's energy score C(y) = ∫ F² dx below y + ∫ S² dx above y
//!
//! ```text
//! P² CRPS(y) = C(y) - ∫ F² dx below lower - 2 L ∫ F dx from lower to y + L² (y - lower)
//!                   - ∫ S² dx above upper - 2 U ∫ S dx from y to upper + U² (upper - y)
//! ```
//!
//! where ∫ F dx below x is E max(x - Y, 0). Only the squares beyond the bounds are integrated by quadrature.

use super::Mixture;
use super::energy::crps_unscaled;
use super::excess::excess;
use super::folded::mean_of;
use super::panels::Panels;
use super::quantile::{InvertibleCdf, Tail};
use super::truncated_component::TruncatedComponent;

/// The least probability between the bounds.
const LEAST_INSIDE: f64 = 0.5;
/// A level whose probability is a smaller part of that beyond the bound would lose more than ten bits.
const LEAST_LEVEL: f64 = 1e-3;
/// A score that is a smaller part of the distances that it is a difference of would lose more than ten bits.
const LEAST_SCORE: f64 = 1e-3;
/// Beyond this many sds the square of a component's probability is negligible.
const REACH: f64 = 7.0;

/// The probabilities beyond the bounds.
pub(super) struct MostlyInside {
    below: f64,
    above: f64,
}

impl MostlyInside {
    /// None if the bounds cut off more.
    pub(super) fn of(mixture: Mixture<'_>, lower: f64, upper: f64) -> Option<Self> {
        let beyond = |bound: f64, sign: f64| match bound {
            _ if bound.is_infinite() => 0.0,
            // An atom at the bound is inside.
            _ => up_to(mixture, (sign * bound).next_down(), sign).max(0.0),
        };
        let outside = Self { below: beyond(lower, 1.0), above: beyond(upper, -1.0) };
        (outside.inside() >= LEAST_INSIDE).then_some(outside)
    }

    /// The probability between the bounds.
    pub(super) fn inside(&self) -> f64 {
        1.0 - (self.below + self.above)
    }

    /// Its logarithm.
    pub(super) fn log_inside(&self) -> f64 {
        libm::log1p(-(self.below + self.above))
    }

    /// The value with the probability `mass` in its `tail`; none so near a bound that the mixture's quantile would be inexact.
    pub(super) fn tail_quantile(&self, mixture: Mixture<'_>, mass: f64, tail: Tail) -> Option<f64> {
        let (mass, tail) = tail.nearer(mass);
        let beyond = if tail == Tail::Lower { self.below } else { self.above };
        let own = mass * self.inside();
        (own > LEAST_LEVEL * beyond).then(|| mixture.tail_quantile(beyond + own, tail))
    }

    /// Energy score of a `y` between the bounds; none if it would be inexact.
    pub(super) fn crps(&self, mixture: Mixture<'_>, (lower, upper): (f64, f64), y: f64) -> Option<f64> {
        let cut =
            Self::cut_off(mixture, self.below, lower, y, 1.0) + Self::cut_off(mixture, self.above, upper, y, -1.0);
        let score = crps_unscaled(mixture, y) - cut;
        let exact = score.is_finite() && score >= LEAST_SCORE * mixture.mean_distance_from(y);
        exact.then(|| score / (self.inside() * self.inside()))
    }

    /// What one bound takes from the score; of `sign` times the variable it is the lower one.
    fn cut_off(mixture: Mixture<'_>, beyond: f64, bound: f64, y: f64, sign: f64) -> f64 {
        if beyond == 0.0 {
            return 0.0;
        }
        // E max(x - Y, 0): half of E |Y - x| + x - E Y, component by component.
        let depth = |x: f64| -> f64 {
            let of = |(weight, mean, sd): (f64, f64, f64)| weight * (mean_of(mean - x, sd) + sign * (x - mean));
            0.5 * mixture.parts().map(of).sum::<f64>()
        };
        let (at_bound, at_y) = (depth(bound), depth(y));
        // Below the bound F is at most its value there.
        let squares = if beyond * at_bound <= f64::EPSILON * at_y { 0.0 } else { squares_beyond(mixture, bound, sign) };
        squares + beyond * (2.0 * (at_y - at_bound) - beyond * (y - bound).abs())
    }
}

/// P(sign Y <= x).
fn up_to(mixture: Mixture<'_>, x: f64, sign: f64) -> f64 {
    excess(mixture, x, 0.0, sign).0
}

/// ∫ P(sign Y <= x)² dx over all x up to sign · `bound`.
fn squares_beyond(mixture: Mixture<'_>, bound: f64, sign: f64) -> f64 {
    let reach_it = |&(_, mean, sd): &(f64, f64, f64)| {
        sign * (mean - bound) < REACH * sd || sd == 0.0 && sign * mean < sign * bound
    };
    let near: Vec<(f64, f64, f64)> = mixture.parts().filter(reach_it).collect();
    let list = |of: fn(&(f64, f64, f64)) -> f64| near.iter().map(of).collect::<Vec<f64>>();
    let (weights, means, sds) = (list(|part| part.0), list(|part| part.1), list(|part| part.2));
    let near = Mixture { weights: &weights, means: &means, sds: &sds };
    let mirrored = near.parts().map(|(_, mean, sd)| match sd {
        0.0 => TruncatedComponent::atom(sign * mean),
        _ => TruncatedComponent::new(sign * mean, sd, f64::NEG_INFINITY, f64::INFINITY),
    });
    let panels = Panels::new(mirrored);
    let (first, end) = (panels.ends().0, sign * bound);
    panels.integral(first.min(end), end, |x| {
        let probability = up_to(near, x, sign);
        probability * probability
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;
    use crate::math::rng::Rng;
    use crate::mixture::TruncatedMixture;

    /// Both ways of a truncated mixture agree: from the whole mixture, and from truncated components by quadrature and search.
    #[test]
    fn answers_agree_with_those_of_truncated_components() {
        let mut rng = Rng::new(5, 0);
        let (mut scores, mut quantiles) = (0, 0);
        for case in 0..60 {
            let components = [2, 9, 40][case % 3];
            let mut list = |low: f64, high: f64| -> Vec<f64> {
                (0..components).map(|_| low + (high - low) * rng.uniform()).collect()
            };
            let (mut weights, mut means, mut sds) = (list(0.1, 1.0), list(-3.0, 3.0), list(0.05, 1.5));
            let total: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= total);
            let (lower, upper) = [(-2.0, f64::INFINITY), (f64::NEG_INFINITY, 2.5), (-2.5, 2.0)][case / 3 % 3];
            if components > 2 {
                // Atoms: at the bound, beyond it, inside.
                (means[0], means[1], means[2]) = (lower.max(-9.0), -3.5, 1.0);
                sds[..3].fill(0.0);
            }
            let mixture = Mixture { weights: &weights, means: &means, sds: &sds };
            let Some(outside) = MostlyInside::of(mixture, lower, upper) else { continue };
            let reference = TruncatedMixture::by_components(mixture, lower, upper);
            let logs = (outside.log_inside(), reference.log_inside);
            assert!((logs.0 - logs.1).abs() < 1e-13, "{case}: {logs:?} {mixture:?} {lower} {upper}");
            for y in [-1.9, -0.3, 1.0, 1.9] {
                if let Some(score) = outside.crps(mixture, (lower, upper), y) {
                    let expected = reference.crps_by_quadrature(y);
                    assert!((score - expected).abs() < 1e-10 * expected, "{case} {y}: {score} {expected}");
                    scores += 1;
                }
            }
            for (level, tail) in [(0.025, Tail::Lower), (0.4, Tail::Upper), (0.5, Tail::Lower), (0.95, Tail::Lower)] {
                if let Some(quantile) = outside.tail_quantile(mixture, level, tail) {
                    let quantile = quantile.clamp(lower, upper);
                    let expected = reference.tail_quantile(level, tail).clamp(lower, upper);
                    assert!((quantile - expected).abs() < 1e-10, "{case} {level}: {quantile} {expected}");
                    quantiles += 1;
                }
            }
        }
        assert!(scores > 100 && quantiles > 100, "{scores} {quantiles}");
    }

    #[test]
    fn what_would_be_inexact_is_left_to_components() {
        let half = Mixture { weights: &[1.0], means: &[-0.1], sds: &[1.0] };
        assert!(MostlyInside::of(half, 0.0, f64::INFINITY).is_none());
        let most = Mixture { weights: &[1.0], means: &[0.5], sds: &[1.0] };
        let outside = MostlyInside::of(most, 0.0, f64::INFINITY).unwrap();
        assert!(outside.tail_quantile(most, 1e-9, Tail::Lower).is_none());
        assert!(outside.tail_quantile(most, 1e-9, Tail::Upper).is_some());
        let truncated = TruncatedMixture::new(most, 0.0, f64::INFINITY);
        let small = truncated.quantile(1e-9);
        assert!((truncated.cdf(small) / 1e-9 - 1.0).abs() < 1e-6, "{small}");
    }
}
