//! Mixtures rounded to a grid, exactly.
//!
//! The probability of a value is the mixture's probability of its cell, and P(Y <= v) is the mixture's distribution function at the
//! upper end of v's cell. It is constant between two values, so that integrals over it are sums over the ends of cells.

use super::euler_maclaurin::{Side, correction, correction_of_square, derivatives};
use super::moments::Moments;
use super::panels::Panels;
use super::truncated_component::TruncatedComponent;
use super::{DensityRanking, Mixture};
use crate::distribution::Distribution;
use crate::grid::Grid;
use crate::highest_density::HighestDensityRegion;
use crate::math::normal;
use crate::math::rng::Rng;
use crate::math::tail_series::{FAR, UpperTail};

/// More cells than this are integrated instead of summed, as if there were no grid, if no correction formula applies: the relative
/// error of a score or a tail mean is below (step / sd)² / 24.
const MAX_CELLS: f64 = 20_000.0;

/// Probabilities whose squares are negligible in a sum.
const NEGLIGIBLE: f64 = 1e-9;

/// A component whose sd is at least this many steps is smooth: a sum over cells is, to rounding, an integral and four terms of the
/// Euler-Maclaurin formula.
const SMOOTH: f64 = 8.0;

/// A component whose sd is at least this many steps, and which no bound cuts, has its own mean and step² / 12 more than its own
/// variance when it is rounded: the other terms of their Fourier series are below exp(-2 pi² 1.5²) = 5e-20.
const UNCUT: f64 = 1.5;

/// Up to this many cells summing is faster than integrating.
const FEW_CELLS: f64 = 400.0;

/// A mixture rounded to a grid.
pub(crate) struct RoundedMixture<'a> {
    pub(crate) mixture: Mixture<'a>,
    pub(crate) grid: Grid,
}

impl RoundedMixture<'_> {
    fn moments(&self) -> Moments {
        let moments = |(mean, variance): (f64, f64)| (mean, variance.sqrt());
        let components =
            self.mixture.parts().map(|(weight, mean, sd)| (weight, moments(self.component_moments(mean, sd))));
        Moments::new(components, (self.grid.value(self.grid.first), self.grid.value(self.grid.last)))
    }

    /// P(Y <= v) for the value with that index.
    fn up_to(&self, index: f64) -> f64 {
        let edge = self.grid.edge(index);
        if edge == f64::INFINITY { 1.0 } else { self.mixture.cdf(edge) }
    }

    /// P(Y > v).
    fn beyond(&self, index: f64) -> f64 {
        let edge = self.grid.edge(index);
        if edge == f64::NEG_INFINITY { 1.0 } else { self.mixture.survival(edge) }
    }

    /// Logarithm of the probability of the value with that index.
    fn log_cell(&self, index: f64) -> f64 {
        let (low, high) = self.grid.ends(index);
        self.mixture.log_between(low, high)
    }

    /// The value in whose cell the mixture's quantile lies. If rounding put it on the wrong side of an edge: the next value, or the
    /// smallest that is `reached`, which may lie before an interval without probability; found by doubling and halving steps.
    fn smallest(&self, quantile: f64, reached: impl Fn(f64) -> bool) -> f64 {
        let cell = self.grid.cell(quantile);
        if !cell.is_finite() {
            return self.grid.value(cell);
        }
        if !reached(cell) {
            return self.grid.value(cell + 1.0);
        }
        let before = |index: f64| index >= self.grid.first && reached(index);
        let (mut index, mut step) = (cell, 1.0);
        while before(index - step) {
            index -= step;
            step *= 2.0;
        }
        while step > 1.0 {
            step *= 0.5;
            index -= if before(index - step) { step } else { 0.0 };
        }
        self.grid.value(index)
    }

    /// Mean and variance of one rounded component.
    fn component_moments(&self, mean: f64, sd: f64) -> (f64, f64) {
        let (low, high) = (mean - FAR * sd, mean + FAR * sd);
        let (first, last) = (self.grid.cell(low), self.grid.cell(high));
        if first == last {
            return (self.grid.value(first), 0.0);
        }
        let (lower, upper) = (self.grid.value(self.grid.first), self.grid.value(self.grid.last));
        let step = self.grid.step();
        match (lower < low, high < upper) {
            (true, true) if sd >= UNCUT * step => (mean, sd * sd + step * step / 12.0),
            _ if sd < SMOOTH * step => self.moments_of_cells(mean, sd, first, last),
            (true, false) => {
                let (mirrored, variance) = self.moments_of_tails(-mean, sd, -upper, -lower);
                (-mirrored, variance)
            }
            _ => self.moments_of_tails(mean, sd, lower, upper),
        }
    }

    /// The moments by a sum over the cells from `first` to `last`.
    fn moments_of_cells(&self, mean: f64, sd: f64, first: f64, last: f64) -> (f64, f64) {
        let tail = UpperTail::new();
        let mut below = self.grid.ends(first).0 - mean;
        let (mut weights, mut values) = (Vec::new(), Vec::new());
        for cell in 0..=(last - first) as usize {
            let index = first + cell as f64;
            let end = self.grid.ends(index).1 - mean;
            // The difference of tails on the side where they are small.
            let (near, far) = if below > 0.0 { (below, end) } else { (-end, -below) };
            let own = if near > 0.0 { tail.at(near / sd) } else { tail.cdf(-near / sd) };
            weights.push(own - tail.at(far / sd));
            values.push(self.grid.value(index));
            below = end;
        }
        let cells = Mixture { weights: &weights, means: &values, sds: &vec![0.0; weights.len()] };
        (cells.mean(), cells.variance())
    }

    /// The moments of a smooth component that is cut by the bound `lower`, and perhaps by `upper`.
    ///
    /// E(Y - lower) is step times the sum of S over the ends of cells, and E(Y - lower)² that of 2 (x - lower) S. Their integrals are
    /// the moments of a variable that is clamped to the bounds, and their derivatives follow from those of S.
    fn moments_of_tails(&self, mean: f64, sd: f64, lower: f64, upper: f64) -> (f64, f64) {
        let step = self.grid.step();
        let (below, above) = (normal::cdf((lower - mean) / sd), normal::cdf((mean - upper) / sd));
        let (centre, variance) = TruncatedComponent::new(mean, sd, lower, upper).moments();
        let moved = Mixture {
            weights: &[below, 1.0 - below - above, above],
            means: &[lower, centre, upper.min(f64::MAX)],
            sds: &[0.0, variance.sqrt(), 0.0],
        };
        let first = moved.mean() - lower;
        let one = Mixture { weights: &[1.0], means: &[mean], sds: &[sd] };
        let at = |end: f64| {
            if end.is_infinite() {
                return (0.0, 0.0);
            }
            let (s, distance) = (derivatives(one, end, step, Side::Above), (end - lower) / step);
            let slope = |order: usize| 2.0 * (order as f64 * s[order - 1] + distance * s[order]);
            (correction(|order| s[order]), step * correction(slope))
        };
        let ((low, low_square), (high, high_square)) = (at(lower), at(upper));
        let rounded = first + step * (high - low);
        let square = moved.variance() + first * first + step * (high_square - low_square);
        (lower + rounded, (square - rounded * rounded).max(0.0))
    }

    /// step · sum over the cells from `from` up to but not `to` of P(Y <= v)^`power`, or of P(Y > v)^`power`.
    fn sum(&self, from: f64, to: f64, side: Side, power: i32) -> f64 {
        let (cells, step) = (to - from, self.grid.step());
        let of_end = |end: f64| side.of(self.mixture, end).powi(power);
        let smooth = self.mixture.parts().all(|(_, _, sd)| sd >= SMOOTH * step);
        if cells <= 0.0 {
            return 0.0;
        }
        if cells <= if smooth { FEW_CELLS } else { MAX_CELLS } {
            let probabilities = self.at_ends(from, cells as usize, side);
            return step * probabilities.iter().map(|probability| probability.min(1.0).powi(power)).sum::<f64>();
        }
        let ends = [self.grid.value(from), self.grid.value(to)];
        let integral = Panels::of(self.mixture).integral(ends[0], ends[1], of_end);
        if !smooth {
            return integral;
        }
        let [low, high] = ends.map(|end| {
            let d = derivatives(self.mixture, end, step, side);
            if power == 1 { correction(|order| d[order]) } else { correction_of_square(d) }
        });
        integral + step * (high - low)
    }

    /// The probability up to the end of each of the cells from `from` on, or above it. A component counts where its own is
    /// neither 0 nor 1: of a pool of many, most are far from most cells.
    fn at_ends(&self, from: f64, cells: usize, side: Side) -> Vec<f64> {
        let ends: Vec<f64> = (0..cells).map(|cell| self.grid.edge(from + cell as f64)).collect();
        let mut sums = vec![0.0; cells];
        let tail = UpperTail::new();
        for (weight, mean, sd) in self.mixture.parts() {
            let before = ends.partition_point(|end| *end < mean - FAR * sd);
            let within = ends[before..].partition_point(|end| *end <= mean + FAR * sd);
            let (near, after) = sums[before..].split_at_mut(within);
            for (sum, end) in near.iter_mut().zip(&ends[before..]) {
                let z = if sd > 0.0 { (end - mean) / sd } else { f64::INFINITY };
                *sum += weight * tail.cdf(if side == Side::UpTo { z } else { -z });
            }
            match side {
                Side::UpTo => after.iter_mut().for_each(|sum| *sum += weight),
                Side::Above => sums[..before].iter_mut().for_each(|sum| *sum += weight),
            }
        }
        sums
    }

    /// The energy score of the value with that index.
    fn score_of(&self, index: f64) -> f64 {
        let (lower, upper, value) =
            (self.grid.value(self.grid.first), self.grid.value(self.grid.last), self.grid.value(index));
        let step = self.grid.step();
        let free = |mean: f64, sd: f64| sd >= SMOOTH * step && lower < mean - FAR * sd && mean + FAR * sd < upper;
        if self.mixture.parts().all(|(_, mean, sd)| free(mean, sd)) {
            // The sums of F² and S² differ from their integrals only by a term at the value, where F² - S² = 2 F - 1.
            let d = derivatives(self.mixture, value, step, Side::UpTo);
            return self.mixture.crps(value) + step * correction(|order| 2.0 * d[order]);
        }
        let from = self.grid.cell(self.mixture.quantile(NEGLIGIBLE)).min(index);
        let to = self.grid.cell(self.mixture.quantile_above(NEGLIGIBLE)).max(index);
        self.sum(from, index, Side::UpTo, 2) + self.sum(index, to, Side::Above, 2)
    }
}

impl Distribution for RoundedMixture<'_> {
    fn mean(&self) -> f64 {
        self.moments().mean()
    }

    fn variance(&self) -> f64 {
        self.moments().variance()
    }

    fn mean_and_sd(&self) -> (f64, f64) {
        let moments = self.moments();
        (moments.mean(), moments.variance().sqrt())
    }

    fn variance_within(&self) -> f64 {
        self.moments().variance_within()
    }

    fn variance_between(&self) -> f64 {
        self.moments().variance_between()
    }

    /// Probability of a value up to `y`.
    fn cdf(&self, y: f64) -> f64 {
        self.up_to(self.grid.up_to(y))
    }

    /// Probability of a value above `y`.
    fn survival(&self, y: f64) -> f64 {
        self.beyond(self.grid.up_to(y))
    }

    /// Probability of `y`: 0 if it is not a value of the grid.
    fn point_probability(&self, y: f64) -> f64 {
        self.grid.index(y).map_or(0.0, |index| libm::exp(self.log_cell(index)))
    }

    fn below(&self, y: f64) -> f64 {
        match self.grid.index(y) {
            Some(index) if self.point_probability(y) > 0.0 => self.up_to(index - 1.0),
            _ => self.cdf(y),
        }
    }

    /// Density of the mixture at `y`, before rounding.
    fn pdf(&self, y: f64) -> f64 {
        self.mixture.pdf(y)
    }

    /// Logarithm of that density.
    fn log_pdf(&self, y: f64) -> f64 {
        self.mixture.log_pdf(y)
    }

    /// Logarithm of the point probability.
    fn log_likelihood(&self, y: f64) -> f64 {
        self.grid.index(y).map_or(f64::NEG_INFINITY, |index| self.log_cell(index))
    }

    /// Logarithm of the probability of the values above `low` and up to `high`.
    fn log_between(&self, low: f64, high: f64) -> f64 {
        let (low, high) = self.grid.edges_between(low, high);
        self.mixture.log_between(low, high)
    }

    /// Logarithm of the probability of the value that is nearest to `y`.
    fn log_mass(&self, y: f64, _: f64) -> f64 {
        self.log_cell(self.grid.cell(y))
    }

    /// The smallest value with a cdf of at least `level`.
    fn quantile(&self, level: f64) -> f64 {
        let reached = |index: f64| self.up_to(index) >= level || level > 0.5 && self.beyond(index) <= 1.0 - level;
        self.smallest(self.mixture.quantile(level), reached)
    }

    /// The smallest value with a survival of at most `level`.
    fn quantile_above(&self, level: f64) -> f64 {
        let reached = |index: f64| self.beyond(index) <= level || level > 0.5 && self.up_to(index) >= 1.0 - level;
        self.smallest(self.mixture.quantile_above(level), reached)
    }

    fn hdr(&self, coverage: f64) -> HighestDensityRegion {
        DensityRanking::on_grid(self.mixture, self.grid, 1.0 - coverage).leaving(1.0 - coverage)
    }

    /// With the quantile q it is q - E max(q - Y, 0) / level, and the expectation is the sum of step · P(Y <= v) over the values
    /// below q.
    fn shortfall_below(&self, level: f64) -> f64 {
        let quantile = self.quantile(level);
        let from = self.grid.cell(self.mixture.quantile(negligible_beside(level)));
        let depth = self.sum(from, self.grid.cell(quantile), Side::UpTo, 1) / level;
        (quantile - depth).max(self.grid.value(self.grid.first))
    }

    fn shortfall_above(&self, level: f64) -> f64 {
        let quantile = self.quantile_above(level);
        let to = self.grid.cell(self.mixture.quantile_above(negligible_beside(level)));
        let height = self.sum(self.grid.cell(quantile), to, Side::Above, 1) / level;
        (quantile + height).min(self.grid.value(self.grid.last))
    }

    /// Energy score of the observation `y`: ∫ (P(Y <= x) - 1{x >= y})² dx.
    ///
    /// As a function of y it has the slope 2 P(Y <= y) - 1, which is constant between two values and beyond the bounds: the score of a
    /// y off the grid follows from that of the value below it.
    fn crps(&self, y: f64) -> f64 {
        if !y.is_finite() {
            return y.abs();
        }
        let index = self.grid.up_to(y).clamp(self.grid.first, self.grid.last);
        let value = self.grid.value(index);
        let off = match self.grid.index(y) {
            Some(_) => 0.0,
            None if y < value => value - y,
            None => (y - value) * (2.0 * self.up_to(index) - 1.0),
        };
        self.score_of(index) + off
    }

    /// A random draw of the mixture, rounded.
    fn sample(&self, rng: &mut Rng) -> f64 {
        self.grid.rounded(self.mixture.sample(rng))
    }
}

/// A probability that is negligible compared with `level`.
fn negligible_beside(level: f64) -> f64 {
    (NEGLIGIBLE * NEGLIGIBLE * level).max(f64::MIN_POSITIVE)
}
