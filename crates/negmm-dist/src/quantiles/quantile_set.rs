//! One set of quantiles as a distribution.

use super::{Tail, squared_cdf_integral};
use crate::distribution::Distribution;
use crate::highest_density::HighestDensityRegion;
use crate::math::normal;
use crate::math::rng::Rng;

/// The distribution of one row of [`QuantileSets`](super::QuantileSets).
#[derive(Clone, Copy, Debug)]
pub struct QuantileSet<'a> {
    /// Levels, which do not decrease.
    pub levels: &'a [f64],
    /// Quantiles, which do not decrease.
    pub values: &'a [f64],
    pub(super) tails: [Tail; 2],
}

/// A normal tail of one row, seen from its own side: that of the upper tail is mirrored at 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowTail {
    pub tail: Tail,
    /// The outer quantile.
    pub end: f64,
    /// Mean and sd of the normal distribution; sd 0: a point mass at the end.
    pub mean: f64,
    pub sd: f64,
}

impl RowTail {
    /// P(Y <= y) for y below the end.
    fn cdf(&self, y: f64) -> f64 {
        if self.sd > 0.0 { normal::cdf((y - self.mean) / self.sd) } else { 0.0 }
    }

    fn quantile(&self, level: f64) -> f64 {
        if self.sd > 0.0 { self.mean + self.sd * normal::quantile(level) } else { self.end }
    }

    /// ∫ Q(u) du from 0 to `level`, at most the mass.
    fn quantile_integral(&self, level: f64) -> f64 {
        if self.sd > 0.0 && level > 0.0 {
            self.mean * level - self.sd * normal::pdf(normal::quantile(level))
        } else {
            self.end * level
        }
    }

    /// E[Y²; tail] - mass end², as a sum of distances from the end.
    fn second_moment(&self, centre: f64) -> f64 {
        let (mean, end, mass) = (self.mean - centre, self.end - centre, self.tail.mass);
        if self.sd > 0.0 {
            mass * (mean * mean + self.sd * self.sd) - self.sd * normal::pdf(self.tail.z) * (end + mean)
        } else {
            mass * end * end
        }
    }

    /// ∫ (F(t) - 1{t >= y})² dt over the tail.
    fn crps(&self, y: f64) -> f64 {
        if y >= self.end {
            return self.sd * self.tail.energy;
        }
        if self.sd == 0.0 {
            return self.end - y;
        }
        let z = (y - self.mean) / self.sd;
        // The integral of (1 - Φ)² is that of Φ² mirrored.
        self.sd * (squared_cdf_integral(z) + squared_cdf_integral(-z) - squared_cdf_integral(-self.tail.z)).max(0.0)
    }

    fn pdf(&self, y: f64) -> f64 {
        if self.sd > 0.0 { normal::pdf((y - self.mean) / self.sd) / self.sd } else { 0.0 }
    }
}

impl QuantileSet<'_> {
    /// The lower tail, and the mirrored upper tail.
    pub(super) fn row_tails(&self) -> [RowTail; 2] {
        let last = self.values.len() - 1;
        let (first, second) = (self.values[0], self.values[1.min(last)]);
        let (top, next) = (self.values[last], self.values[last.saturating_sub(1)]);
        let of = |tail: Tail, end: f64, distance: f64| {
            let sd = tail.sd(distance);
            let sd = if sd.is_finite() { sd } else { 0.0 };
            RowTail { tail, end, mean: if sd > 0.0 { end - sd * tail.z } else { end }, sd }
        };
        [of(self.tails[0], first, second - first), of(self.tails[1], -top, top - next)]
    }

    /// The knot from which the cdf is linear up to the next: the last one at or below `y`; none below all knots.
    fn knot_below(&self, y: f64) -> Option<usize> {
        self.values.partition_point(|value| *value <= y).checked_sub(1)
    }

    /// The fraction of the way from one knot to the next.
    fn fraction(&self, knot: usize, y: f64) -> f64 {
        let (low, high) = (self.values[knot], self.values[knot + 1]);
        ((0.5 * y - 0.5 * low) / (0.5 * high - 0.5 * low)).clamp(0.0, 1.0)
    }

    /// ∫ Q(u) du from 0 to `level`.
    fn quantile_integral(&self, level: f64) -> f64 {
        let [lower, upper] = self.row_tails();
        let mut sum = lower.quantile_integral(level.min(lower.tail.mass));
        for (levels, values) in self.levels.windows(2).zip(self.values.windows(2)) {
            if level <= levels[0] {
                return sum;
            }
            let end = self.quantile(level.min(levels[1]));
            let end = if level < levels[1] { end } else { values[1] };
            sum += (level.min(levels[1]) - levels[0]) * 0.5 * (values[0] + end);
        }
        let above = 1.0 - level;
        let beyond = upper.tail.mass - above;
        if beyond > 0.0 {
            sum -= upper.quantile_integral(upper.tail.mass) - upper.quantile_integral(above.max(0.0));
        }
        sum
    }

    /// A value near the middle, to compute moments from.
    fn centre(&self) -> f64 {
        self.values[self.values.len() / 2]
    }
}

impl Distribution for QuantileSet<'_> {
    fn mean(&self) -> f64 {
        let centre = self.centre();
        let [lower, upper] = self.row_tails();
        let tail = |tail: RowTail, centre: f64| tail.quantile_integral(tail.tail.mass) - centre * tail.tail.mass;
        let inside = self.levels.windows(2).zip(self.values.windows(2));
        let inside: f64 = inside.map(|(p, x)| (p[1] - p[0]) * (0.5 * (x[0] - centre) + 0.5 * (x[1] - centre))).sum();
        centre + (tail(lower, centre) + inside - tail(upper, -centre))
    }

    fn variance(&self) -> f64 {
        let mean = self.mean();
        let [lower, upper] = self.row_tails();
        let inside: f64 = self
            .levels
            .windows(2)
            .zip(self.values.windows(2))
            .map(|(p, x)| {
                let (a, b) = (x[0] - mean, x[1] - mean);
                (p[1] - p[0]) * (a * a + a * b + b * b) / 3.0
            })
            .sum();
        (lower.second_moment(mean) + inside + upper.second_moment(-mean)).max(0.0)
    }

    fn cdf(&self, y: f64) -> f64 {
        let [lower, upper] = self.row_tails();
        match self.knot_below(y) {
            None => lower.cdf(y),
            Some(knot) if knot + 1 == self.values.len() => 1.0 - upper.cdf(-y),
            Some(knot) => {
                let (low, high) = (self.levels[knot], self.levels[knot + 1]);
                low + (high - low) * self.fraction(knot, y)
            }
        }
    }

    fn survival(&self, y: f64) -> f64 {
        let [lower, upper] = self.row_tails();
        match self.knot_below(y) {
            None => 1.0 - lower.cdf(y),
            Some(knot) if knot + 1 == self.values.len() => upper.cdf(-y),
            Some(knot) => {
                let (low, high) = (self.levels[knot], self.levels[knot + 1]);
                (1.0 - high) + (high - low) * (1.0 - self.fraction(knot, y))
            }
        }
    }

    fn point_probability(&self, y: f64) -> f64 {
        let first = self.values.partition_point(|value| *value < y);
        let after = self.values.partition_point(|value| *value <= y);
        if first == after {
            return 0.0;
        }
        let [lower, upper] = self.row_tails();
        let at = |outer: bool, tail: RowTail| if outer && tail.sd == 0.0 { tail.tail.mass } else { 0.0 };
        self.levels[after - 1] - self.levels[first] + at(first == 0, lower) + at(after == self.values.len(), upper)
    }

    fn below(&self, y: f64) -> f64 {
        (self.cdf(y) - self.point_probability(y)).max(0.0)
    }

    /// The density of the interval that begins at the last quantile at or below `y`, or of the tail.
    fn pdf(&self, y: f64) -> f64 {
        let [lower, upper] = self.row_tails();
        match self.knot_below(y) {
            None => lower.pdf(y),
            Some(knot) if knot + 1 == self.values.len() => {
                // The last quantile ends its interval if there is no tail beyond.
                if upper.tail.mass == 0.0 && y == self.values[knot] { self.density_before(knot) } else { upper.pdf(-y) }
            }
            Some(knot) => self.density_after(knot),
        }
    }

    fn log_pdf(&self, y: f64) -> f64 {
        let [lower, upper] = self.row_tails();
        let tail = |tail: RowTail, y: f64| normal::log_pdf((y - tail.mean) / tail.sd) - libm::log(tail.sd);
        match self.knot_below(y) {
            None if lower.sd > 0.0 => tail(lower, y),
            Some(knot) if knot + 1 == self.values.len() && upper.sd > 0.0 => tail(upper, -y),
            _ => libm::log(self.pdf(y)),
        }
    }

    fn log_between(&self, low: f64, high: f64) -> f64 {
        // From the side on which less is subtracted.
        let (below, above) = (self.cdf(high) - self.cdf(low), self.survival(low) - self.survival(high));
        libm::log(if self.cdf(low) < 0.5 { below } else { above }.max(0.0))
    }

    fn quantile(&self, level: f64) -> f64 {
        if !(0.0..=1.0).contains(&level) {
            return f64::NAN;
        }
        let [lower, upper] = self.row_tails();
        let after = self.levels.partition_point(|own| *own < level);
        if after == self.levels.len() {
            return -upper.quantile(1.0 - level);
        }
        if self.levels[after] == level {
            return self.values[after];
        }
        if after == 0 {
            return lower.quantile(level);
        }
        self.between(after, (level - self.levels[after - 1]) / (self.levels[after] - self.levels[after - 1]))
    }

    fn quantile_above(&self, level: f64) -> f64 {
        let [_, upper] = self.row_tails();
        if level < upper.tail.mass { -upper.quantile(level) } else { self.quantile(1.0 - level) }
    }

    fn hdr(&self, coverage: f64) -> HighestDensityRegion {
        self.region(1.0 - coverage, true)
    }

    fn shortfall_below(&self, level: f64) -> f64 {
        if level >= 1.0 {
            return self.mean();
        }
        let level = level.max(f64::MIN_POSITIVE);
        (self.quantile_integral(level) / level).min(self.quantile(level))
    }

    fn shortfall_above(&self, level: f64) -> f64 {
        if level >= 1.0 {
            return self.mean();
        }
        let level = level.max(f64::MIN_POSITIVE);
        let [_, upper] = self.row_tails();
        if level <= upper.tail.mass {
            return -upper.quantile_integral(level) / level;
        }
        ((self.mean() - self.quantile_integral(1.0 - level)) / level).max(self.quantile_above(level))
    }

    /// The integral of (cdf(t) - 1{t >= y})², exactly: over an interval of width w on which the cdf rises from a to b, that of cdf²
    /// is w (a² + a b + b²) / 3; over a normal tail it is known in closed form. No term is negative.
    fn crps(&self, y: f64) -> f64 {
        let [lower, upper] = self.row_tails();
        let square = |width: f64, a: f64, b: f64| width * (a * a + a * b + b * b) / 3.0;
        let mut sum = lower.crps(y) + upper.crps(-y);
        // Whole intervals below y, the one around it, and those above.
        let split = self.values.partition_point(|value| *value <= y);
        for knot in 1..split {
            sum += square(self.values[knot] - self.values[knot - 1], self.levels[knot - 1], self.levels[knot]);
        }
        if split > 0 && split < self.values.len() {
            let at = self.cdf(y);
            sum += square(y - self.values[split - 1], self.levels[split - 1], at);
            sum += square(self.values[split] - y, 1.0 - at, 1.0 - self.levels[split]);
        }
        for knot in split + 1..self.values.len() {
            sum +=
                square(self.values[knot] - self.values[knot - 1], 1.0 - self.levels[knot - 1], 1.0 - self.levels[knot]);
        }
        sum
    }

    fn sample(&self, rng: &mut Rng) -> f64 {
        self.quantile(rng.uniform())
    }
}

impl QuantileSet<'_> {
    /// The value at a fraction of the way from the knot before `knot` to it.
    fn between(&self, knot: usize, fraction: f64) -> f64 {
        let (low, high) = (self.values[knot - 1], self.values[knot]);
        // From the nearer end, so that both ends are exact; halves do not overflow.
        let gap = 0.5 * high - 0.5 * low;
        if fraction < 0.5 { low + 2.0 * (gap * fraction) } else { high - 2.0 * (gap * (1.0 - fraction)) }
    }

    /// The density between a knot and the next one.
    pub(super) fn density_after(&self, knot: usize) -> f64 {
        (self.levels[knot + 1] - self.levels[knot]) / (self.values[knot + 1] - self.values[knot])
    }

    /// The density between a knot and the last smaller one; 0 for the first.
    fn density_before(&self, knot: usize) -> f64 {
        let value = self.values[knot];
        let below = self.values.partition_point(|other| *other < value);
        below.checked_sub(1).map_or(0.0, |below| self.density_after(below))
    }
}
