//! Quantiles of a mixture: the inverse of a distribution function that may be flat over long intervals and jump at atoms.

use super::Mixture;
use crate::math::normal;

/// A quantile counted from the nearer end of the distribution: that of the variable, or of minus the variable.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TailQuantile {
    /// Probability between the quantile and that end, above 0 and up to 1/2.
    pub mass: f64,
    /// 1: from the lower end; -1: from the upper one, as the lower end of minus the variable.
    pub sign: f64,
    /// The quantile of a standard normal variable at that mass.
    pub z: f64,
}

/// The end of the distribution from which a probability is counted.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Tail {
    /// Values up to the quantile.
    Lower,
    /// Values from the quantile on.
    Upper,
}

impl Tail {
    /// The same quantile counted from the nearer end: 1 - mass is exact for mass above 1/2, and small probabilities stay exact.
    pub(super) fn nearer(self, mass: f64) -> (f64, Self) {
        match self {
            _ if mass <= 0.5 => (mass, self),
            Self::Lower => (1.0 - mass, Self::Upper),
            Self::Upper => (1.0 - mass, Self::Lower),
        }
    }
}

/// The level of a quantile.
#[derive(Clone, Copy)]
pub enum QuantileLevel {
    /// This probability lies below.
    Below(f64),
    /// This probability lies above.
    Above(f64),
}

impl QuantileLevel {
    /// The ends of the central interval with this coverage.
    pub fn around(coverage: f64) -> [Self; 2] {
        let outside = 0.5 * (1.0 - coverage);
        [Self::Below(outside), Self::Above(outside)]
    }

    /// The same level counted from the nearer end, as in [`InvertibleCdf::tail_quantile`].
    pub(crate) fn nearer_end(self) -> TailQuantile {
        let (mass, tail) = match self {
            Self::Below(level) => Tail::Lower.nearer(level),
            Self::Above(level) => Tail::Upper.nearer(level),
        };
        let sign = if tail == Tail::Lower { 1.0 } else { -1.0 };
        TailQuantile { mass, sign, z: normal::quantile(mass) }
    }
}

/// Relative error of a probability at which the search may end: the rounding error of a sum.
const PROBABILITY_TOLERANCE: f64 = 64.0 * f64::EPSILON;

/// Distance to the quantile, in mean sds, at which it then ends. Where F is flat, the first criterion alone would end it too early.
const DISTANCE_TOLERANCE: f64 = 1e-12;

/// More steps than any search needs: each halves the bracket or the step before, and a double has 2^11 powers of two.
const MAX_STEPS: usize = 2200;

/// Beyond this many sds the probability and the density of a normal tail are 0 in f64.
pub(super) const UNDERFLOW: f64 = 39.0;

/// The initial bracket of a search.
pub(super) struct Bracket {
    /// The quantile lies between these.
    pub low: f64,
    pub high: f64,
    /// A first guess, which may lie outside.
    pub start: f64,
    /// A typical distance between values.
    pub scale: f64,
}

/// A distribution function F that can be inverted by a search. Methods are about `sign` times the variable, 1 or -1, so that both tails
/// are treated alike.
pub(super) trait InvertibleCdf {
    /// The initial bracket of the quantile at `mass` in (0, 1/2].
    fn bracket(&self, mass: f64, sign: f64) -> Bracket;

    /// F(x) - mass and the density at x.
    fn excess(&self, x: f64, mass: f64, sign: f64) -> (f64, f64);

    /// The values at which F jumps, not multiplied by `sign`.
    fn jumps(&self) -> impl Iterator<Item = f64>;

    /// The value with the probability `mass` in its `tail`.
    fn tail_quantile(&self, mass: f64, tail: Tail) -> f64 {
        let (mass, tail) = tail.nearer(mass);
        match tail {
            _ if mass.is_nan() || mass < 0.0 => f64::NAN,
            Tail::Lower => self.search(mass, 1.0),
            Tail::Upper => -self.search(mass, -1.0),
        }
    }

    /// The quantile at `mass` in (0, 1/2] of `sign` times the variable.
    ///
    /// Newton's method on ln F(x) - ln mass, which is nearly quadratic in a tail and concave for one component, inside a
    /// bracket. A step that leaves the bracket or is more than half of the step before is replaced by bisection.
    ///
    /// Jumps come first: one of them is the quantile, or each narrows the bracket. Between two of them F is smooth.
    fn search(&self, mass: f64, sign: f64) -> f64 {
        if mass == 0.0 {
            return f64::NEG_INFINITY;
        }
        let Bracket { mut low, mut high, start, scale } = self.bracket(mass, sign);
        // The nearest jumps on both sides that were looked at: several components may have an atom at one value.
        let (mut jump_below, mut jump_above) = (f64::NAN, f64::NAN);
        for jump in self.jumps() {
            let jump = sign * jump;
            if jump < low || jump > high || jump == jump_below || jump == jump_above {
                continue;
            }
            // If F equals the level on an interval, the quantile is its smallest value, also for the mirrored variable.
            let up_to = self.excess(jump, mass, sign).0;
            let reaches = if sign > 0.0 { up_to >= 0.0 } else { up_to > 0.0 };
            if !reaches {
                (low, jump_below) = (jump, jump);
                continue;
            }
            let before = self.excess(jump.next_down(), mass, sign).0;
            if if sign > 0.0 { before < 0.0 } else { before <= 0.0 } {
                return jump;
            }
            (high, jump_above) = (jump, jump);
        }
        let mut x = start.clamp(low, high);
        let mut last_step = f64::INFINITY;
        for _ in 0..MAX_STEPS {
            if low >= high {
                break;
            }
            let (excess, density) = self.excess(x, mass, sign);
            let near = excess.abs() <= PROBABILITY_TOLERANCE * mass;
            if excess == 0.0 || near && excess.abs() <= DISTANCE_TOLERANCE * scale * density {
                break;
            }
            if excess > 0.0 {
                high = x;
            } else {
                low = x;
            }
            let step = libm::log1p(excess / mass) * ((mass + excess) / density);
            let newton = x - step;
            if step.abs() <= f64::EPSILON * x.abs() {
                x = newton.clamp(low, high);
                break;
            }
            if newton > low && newton < high && 2.0 * step.abs() <= last_step {
                x = newton;
                last_step = step.abs();
            } else {
                x = 0.5 * low + 0.5 * high;
                if x <= low || x >= high {
                    break;
                }
                last_step = 0.5 * high - 0.5 * low;
            }
        }
        x
    }
}

impl InvertibleCdf for Mixture<'_> {
    /// The quantile of the mixture lies between the smallest and the largest quantile of a component, mean_k + sd_k z.
    fn bracket(&self, mass: f64, sign: f64) -> Bracket {
        let z = normal::quantile(mass);
        let mut bracket = Bracket { low: f64::INFINITY, high: f64::NEG_INFINITY, start: 0.0, scale: 0.0 };
        for (weight, mean, sd) in self.parts() {
            let component = (sign * mean + sd * z).clamp(f64::MIN, f64::MAX);
            bracket.low = component.min(bracket.low);
            bracket.high = component.max(bracket.high);
            bracket.start += weight * component;
            bracket.scale += weight * sd;
        }
        bracket
    }

    fn jumps(&self) -> impl Iterator<Item = f64> {
        self.atoms().map(|(_, jump)| jump)
    }

    fn excess(&self, x: f64, mass: f64, sign: f64) -> (f64, f64) {
        super::excess::excess(*self, x, mass, sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;

    #[test]
    fn one_component_is_closed_form() {
        let one = Mixture { weights: &[1.0], means: &[3.0], sds: &[2.0] };
        for level in [1e-300, 1e-5, 0.3, 0.5, 0.8, 1.0 - 1e-12] {
            assert_eq!(one.quantile(level), 3.0 + 2.0 * normal::quantile(level));
        }
        assert_eq!(one.quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(one.quantile(1.0), f64::INFINITY);
        assert!(one.quantile(-0.1).is_nan() && one.quantile(1.1).is_nan() && one.quantile(f64::NAN).is_nan());
    }

    #[test]
    fn median_of_a_symmetric_pair_is_its_middle() {
        let pair = Mixture { weights: &[0.5, 0.5], means: &[-7.0, 9.0], sds: &[1.0, 1.0] };
        assert!((pair.quantile(0.5) - 1.0).abs() < 1e-12);
        let far = Mixture { weights: &[0.5, 0.5], means: &[0.0, 1e8], sds: &[1.0, 1.0] };
        assert_eq!(far.quantile(0.5), 5e7);
    }

    #[test]
    fn tails_of_an_interval_mirror_each_other() {
        let symmetric = Mixture { weights: &[0.2, 0.6, 0.2], means: &[-3.0, 0.0, 3.0], sds: &[1.0, 0.1, 1.0] };
        for coverage in [1e-9, 0.5, 0.9, 1.0 - 1e-15] {
            let crate::Interval { lower, upper } = symmetric.interval(coverage);
            assert_eq!(lower, -upper, "{coverage}");
        }
    }
}
