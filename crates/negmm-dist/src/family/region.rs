//! Highest-density regions of families: one interval for a single mode, the complement of one for a U-shaped density.

use super::shape::Shape;

/// Bisection steps: enough for the precision of doubles.
const HALVINGS: usize = 60;

impl Shape {
    /// Whether the density is lowest in the middle.
    fn is_u_shaped(&self) -> bool {
        matches!(*self, Self::Beta { a, b } if a < 1.0 && b < 1.0)
    }

    /// The smallest set of values with at least this coverage: intervals in order.
    pub(super) fn region(&self, coverage: f64) -> Vec<(f64, f64)> {
        if self.is_discrete() {
            return vec![self.counts_until(|mass, _| mass >= coverage).0];
        }
        let (low, high) = self.support();
        if self.is_u_shaped() {
            let outside = 1.0 - coverage;
            let below = self.balanced(outside, |low, high| low < high);
            return vec![(low, self.quantile(below)), (self.quantile_above(1.0 - below - outside), high)];
        }
        let below = self.balanced(coverage, |low, high| low > high);
        vec![(self.quantile(below), self.quantile_above((1.0 - coverage - below).max(0.0)))]
    }

    /// The probability of all values that are at most as likely as `z`.
    pub(super) fn region_tail(&self, z: f64) -> f64 {
        if self.is_discrete() {
            let own = self.log_point_probability(z);
            if own == f64::NEG_INFINITY {
                return 0.0;
            }
            let (_, mass) = self.counts_until(|_, next| next <= own + 1e-12 * own.abs());
            return (1.0 - mass).clamp(0.0, 1.0);
        }
        let own = self.log_pdf(z);
        if own == f64::NEG_INFINITY {
            return 0.0;
        }
        if matches!(self, Self::Uniform) {
            return 1.0;
        }
        let (below, above) = (self.cdf(z), self.survival(z));
        // The level of the value with the same density on the other side of the mode, by bisection.
        let mode = self.level_of_mode();
        let is_below = below < mode;
        let (mut inner, mut outer) = (mode, if is_below { 1.0 } else { 0.0 });
        let u_shaped = self.is_u_shaped();
        for _ in 0..HALVINGS {
            let middle = 0.5 * (inner + outer);
            let density = self.log_pdf(self.quantile(middle));
            if (density > own) != u_shaped { inner = middle } else { outer = middle }
        }
        let tail = if is_below { below + (1.0 - outer) } else { above + outer };
        if u_shaped { 1.0 - tail } else { tail }.clamp(0.0, 1.0)
    }

    /// The cdf at the mode, or at the lowest density of a U-shaped one.
    fn level_of_mode(&self) -> f64 {
        match *self {
            Self::Gumbel => self.cdf(0.0),
            Self::Exponential => 0.0,
            Self::Gamma { shape } => self.cdf((shape - 1.0).max(0.0)),
            Self::LogNormal { sigma } => self.cdf(libm::exp(-sigma * sigma)),
            Self::Weibull { shape } if shape <= 1.0 => 0.0,
            Self::Weibull { shape } => self.cdf(libm::pow((shape - 1.0) / shape, 1.0 / shape)),
            Self::Beta { a, b } if a < 1.0 && b >= 1.0 => 0.0,
            Self::Beta { a, b } if b < 1.0 && a >= 1.0 => 1.0,
            Self::Beta { a, b } if a + b == 2.0 => 0.5,
            Self::Beta { a, b } => self.cdf((a - 1.0) / (a + b - 2.0)),
            _ => 0.5,
        }
    }

    /// The level below an interval of probability `mass` where `shift_down` of the densities at its ends changes.
    fn balanced(&self, mass: f64, shift_down: impl Fn(f64, f64) -> bool) -> f64 {
        let (mut low, mut high) = (0.0, 1.0 - mass);
        for _ in 0..HALVINGS {
            let below = 0.5 * (low + high);
            let ends = (self.log_pdf(self.quantile(below)), self.log_pdf(self.quantile_above(1.0 - mass - below)));
            if shift_down(ends.0, ends.1) { high = below } else { low = below }
        }
        // Exactly at an end of the support where the density is monotone.
        let middle = 0.5 * (low + high);
        if middle < 1e-15 { 0.0 } else { middle }
    }

    /// Counts around the mode, the more likely neighbour first, until `enough` of their probability and of the logarithm of the
    /// next one's: their ends and probability.
    fn counts_until(&self, enough: impl Fn(f64, f64) -> bool) -> ((f64, f64), f64) {
        let log = |count: f64| self.log_point_probability(count);
        let mut mode = (self.mean() - 1.0).max(0.0).floor();
        while log(mode + 1.0) > log(mode) {
            mode += 1.0;
        }
        while mode > 0.0 && log(mode - 1.0) > log(mode) {
            mode -= 1.0;
        }
        if enough(0.0, log(mode)) {
            return ((mode, mode), 0.0);
        }
        let (mut low, mut high, mut mass) = (mode, mode, libm::exp(log(mode)));
        loop {
            let (below, above) = (log(low - 1.0), log(high + 1.0));
            let next = below.max(above);
            if enough(mass, next) || next < -700.0 {
                return ((low, high), mass);
            }
            if below > above {
                low -= 1.0
            } else {
                high += 1.0
            }
            mass += libm::exp(next);
        }
    }
}
