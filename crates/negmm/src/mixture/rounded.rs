//! Responsible for mixtures on a grid: the exact facts about a mixture that is rounded to the nearest value of a grid.
//!
//! The probability of a value is what the mixture has in its cell, and P(Y <= v) is the mixture's distribution function at the
//! upper end of v's cell. Between two values it is constant, so that integrals over it are sums over the cells' ends.

use super::panels::Panels;
use super::piece::Piece;
use super::{Mixture, Mixtures};
use crate::grid::Grid;
use crate::math::{normal, rng::Rng};

/// More cells than this are not summed but integrated, as if there were no grid: that changes a mean, a variance or a score by
/// less than (step / sd)² / 24 of itself.
const MOST_CELLS: f64 = 20_000.0;

/// Probabilities that do not count in a sum of their squares.
const NEGLIGIBLE: f64 = 1e-9;

/// Beyond this many sds a component has nothing that a double would notice beside 1.
const FAR: f64 = 9.0;

/// A component with an sd of as many steps keeps its mean when it is rounded, and its variance grows by step² / 12: by Poisson's
/// summation formula up to exp(-2 (pi sd / step)²).
const SMOOTH: f64 = 2.0;

/// From as many steps on the sums of a score are integrals and four terms of Euler and Maclaurin's formula.
const VERY_SMOOTH: f64 = 8.0;

/// A mixture rounded to a grid.
pub(crate) struct Rounded<'a> {
    pub(crate) mixture: Mixture<'a>,
    pub(crate) grid: Grid,
}

impl Rounded<'_> {
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

    /// Probability of a value up to `y`.
    pub(crate) fn cdf(&self, y: f64) -> f64 {
        self.up_to(self.grid.up_to(y))
    }

    /// Probability of a value above `y`.
    pub(crate) fn survival(&self, y: f64) -> f64 {
        self.beyond(self.grid.up_to(y))
    }

    /// Logarithm of the probability of the value with that index.
    fn log_cell(&self, index: f64) -> f64 {
        self.mixture.log_between(self.grid.ends(index))
    }

    /// Probability of `y`: none where it is not a value of the grid.
    pub(crate) fn mass(&self, y: f64) -> f64 {
        self.grid.index(y).map_or(0.0, |index| libm::exp(self.log_cell(index)))
    }

    /// Density of the mixture at `y`, before it is rounded.
    pub(crate) fn pdf(&self, y: f64) -> f64 {
        self.mixture.pdf(y)
    }

    /// Logarithm of that density.
    pub(crate) fn log_pdf(&self, y: f64) -> f64 {
        self.mixture.log_pdf(y)
    }

    /// Logarithm of the probability of the value that is nearest to `y`.
    pub(crate) fn log_mass(&self, y: f64) -> f64 {
        self.log_cell(self.grid.cell(y))
    }

    /// The smallest value up to which there is the probability `level`.
    pub(crate) fn quantile(&self, level: f64) -> f64 {
        let reached = |index: f64| match level {
            _ if level <= 0.5 => self.up_to(index) >= level,
            _ => self.beyond(index) <= 1.0 - level,
        };
        self.smallest(self.mixture.quantile(level), reached)
    }

    /// The smallest value beyond which there is at most the probability `level`.
    pub(crate) fn quantile_above(&self, level: f64) -> f64 {
        let reached = |index: f64| match level {
            _ if level <= 0.5 => self.beyond(index) <= level,
            _ => self.up_to(index) >= 1.0 - level,
        };
        self.smallest(self.mixture.quantile_above(level), reached)
    }

    /// The value in whose cell the mixture's quantile lies, or a neighbour where rounding put it on the wrong side.
    fn smallest(&self, quantile: f64, reached: impl Fn(f64) -> bool) -> f64 {
        if quantile.is_nan() {
            return quantile;
        }
        let cell = self.grid.cell(quantile);
        let index = match cell {
            _ if !reached(cell) => cell + 1.0,
            _ if cell > self.grid.first && reached(cell - 1.0) => cell - 1.0,
            _ => cell,
        };
        self.grid.value(index)
    }

    /// The mixture of Gaussians whose components have the means and sds that the mixture's have when they are rounded.
    fn matched(&self) -> Mixtures {
        let weights: Vec<f64> = self.mixture.parts().map(|(weight, _, _)| weight).collect();
        let (means, variances): (Vec<f64>, Vec<f64>) =
            self.mixture.parts().map(|(_, mean, sd)| self.moments(mean, sd)).unzip();
        let sds = variances.into_iter().map(f64::sqrt).collect();
        Mixtures::from_parts_unchecked(weights.len(), weights, means, sds)
    }

    /// Mean and variance of one component when it is rounded.
    fn moments(&self, mean: f64, sd: f64) -> (f64, f64) {
        let (low, high) = (mean - FAR * sd, mean + FAR * sd);
        let (first, last) = (self.grid.cell(low), self.grid.cell(high));
        if first == last {
            return (self.grid.value(first), 0.0);
        }
        let inside = self.grid.value(self.grid.first) < low && high < self.grid.value(self.grid.last);
        if inside && sd >= SMOOTH * self.grid.step() {
            return (mean, sd * sd + self.grid.step() * self.grid.step() / 12.0);
        }
        let (weights, means, sds): (Vec<f64>, Vec<f64>, Vec<f64>) = if last - first > MOST_CELLS {
            // What lies beyond a bound is there, and the rest where it was.
            let (lower, upper) = (self.grid.value(self.grid.first), self.grid.value(self.grid.last));
            let piece = Piece::new(mean, sd, lower, upper);
            let (below, above) = (normal::cdf((lower - mean) / sd), normal::cdf((mean - upper) / sd));
            let (centre, variance) = piece.moments();
            let finite = |end: f64| if end.is_finite() { end } else { centre };
            (
                vec![below, 1.0 - below - above, above],
                vec![finite(lower), centre, finite(upper)],
                vec![0.0, variance.sqrt(), 0.0],
            )
        } else {
            let cells = (last - first) as usize + 1;
            let index = |cell: usize| first + cell as f64;
            // The difference of the tails on the side where they are small.
            let probability = |cell: usize| {
                let (low, high) = self.grid.ends(index(cell));
                let (low, high) = if low > mean { (mean - high, mean - low) } else { (low - mean, high - mean) };
                normal::cdf(high / sd) - normal::cdf(low / sd)
            };
            let values = (0..cells).map(|cell| self.grid.value(index(cell))).collect();
            ((0..cells).map(probability).collect(), values, vec![0.0; cells])
        };
        let cells = Mixture { weights: &weights, means: &means, sds: &sds };
        (cells.mean(), cells.variance())
    }

    /// Mean.
    pub(crate) fn mean(&self) -> f64 {
        let (lower, upper) = (self.grid.value(self.grid.first), self.grid.value(self.grid.last));
        self.matched().row(0).mean().clamp(lower, upper)
    }

    /// Variance within the rounded components.
    pub(crate) fn variance_within(&self) -> f64 {
        self.matched().row(0).variance_within()
    }

    /// Variance between the rounded components.
    pub(crate) fn variance_between(&self) -> f64 {
        self.matched().row(0).variance_between()
    }

    /// Variance: within plus between.
    pub(crate) fn variance(&self) -> f64 {
        self.matched().row(0).variance()
    }

    /// step · sum of `f` at the upper ends of the cells from `from` up to but not `to`.
    fn sum(&self, from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
        let cells = to - from;
        if cells <= 0.0 {
            0.0
        } else if cells > MOST_CELLS {
            let piece = |(_, mean, sd): (f64, f64, f64)| match sd {
                0.0 => Piece::atom(mean),
                _ => Piece::new(mean, sd, f64::NEG_INFINITY, f64::INFINITY),
            };
            Panels::new(self.mixture.parts().map(piece)).integral(self.grid.value(from), self.grid.value(to), f)
        } else {
            let ends = (0..cells as usize).map(|cell| self.grid.edge(from + cell as f64));
            self.grid.step() * ends.map(f).sum::<f64>()
        }
    }

    /// Mean of the lowest `level` share of values: with q the quantile it is q - E max(q - Y, 0) / level, and the expectation is
    /// the sum of step · P(Y <= v) over the values below q.
    pub(crate) fn shortfall_below(&self, level: f64) -> f64 {
        let quantile = self.quantile(level);
        let from = self.grid.cell(self.mixture.quantile(negligible_beside(level)));
        let depth = self.sum(from, self.grid.cell(quantile), |end| self.mixture.cdf(end)) / level;
        (quantile - depth).max(self.grid.value(self.grid.first))
    }

    /// Mean of the highest `level` share of values.
    pub(crate) fn shortfall_above(&self, level: f64) -> f64 {
        let quantile = self.quantile_above(level);
        let to = self.grid.cell(self.mixture.quantile_above(negligible_beside(level)));
        let height = self.sum(self.grid.cell(quantile), to, |end| self.mixture.survival(end)) / level;
        (quantile + height).min(self.grid.value(self.grid.last))
    }

    /// Energy score of the observation `y`: ∫ (P(Y <= x) - 1{x >= y})² dx.
    ///
    /// As a function of y it has the slope 2 P(Y <= y) - 1, which is constant between two values and beyond the bounds: so that
    /// of a y off the grid follows from that of the value below it.
    pub(crate) fn energy_score(&self, y: f64) -> f64 {
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

    /// The energy score of the value with that index.
    fn score_of(&self, index: f64) -> f64 {
        if self.is_very_smooth() {
            return self.smooth_score(self.grid.value(index));
        }
        let from = self.grid.cell(self.mixture.quantile(NEGLIGIBLE)).min(index);
        let to = self.grid.cell(self.mixture.quantile_above(NEGLIGIBLE)).max(index);
        let square = |probability: f64| probability * probability;
        let below = self.sum(from, index, |end| square(below_and_above(self.mixture, end).0));
        let above = self.sum(index, to, |end| square(below_and_above(self.mixture, end).1));
        below + above
    }

    /// Whether no component notices a single cell, or a bound.
    fn is_very_smooth(&self) -> bool {
        let (lower, upper) = (self.grid.value(self.grid.first), self.grid.value(self.grid.last));
        let smooth = |sd: f64| sd >= VERY_SMOOTH * self.grid.step();
        self.mixture.parts().all(|(_, mean, sd)| smooth(sd) && lower < mean - FAR * sd && mean + FAR * sd < upper)
    }

    /// The score of a value by Euler and Maclaurin's formula. The sums over the cells' ends below and above the value are
    /// midpoint rules for ∫ F² and ∫ (1 - F)², whose errors come from the value alone, where F² - (1 - F)² = 2 F - 1 has the
    /// derivatives 2 f, 2 f', ... With h the step it is
    ///
    /// ```text
    /// mixture's score + 2 sum_n B_2n(1/2) h^2n / (2n)! f^(2n-2)(value)
    /// ```
    fn smooth_score(&self, value: f64) -> f64 {
        /// 2 B_2n(1/2) / (2n)! for n = 1, 2, 3, 4, with B Bernoulli's polynomials.
        const TERMS: [f64; 4] = [-1.0 / 12.0, 7.0 / 2880.0, -31.0 / 483_840.0, 127.0 / 77_414_400.0];
        let of_component = |(weight, mean, sd): (f64, f64, f64)| {
            let (z, ratio) = ((value - mean) / sd, self.grid.step() / sd);
            let s = z * z;
            // The even derivatives of the density, divided by it.
            let hermite = [1.0, s - 1.0, (s - 6.0) * s + 3.0, ((s - 15.0) * s + 45.0) * s - 15.0];
            let square = ratio * ratio;
            let series =
                TERMS.iter().zip(hermite).rev().fold(0.0, |sum, (term, hermite)| square * (sum + term * hermite));
            weight * sd * normal::pdf(z) * series
        };
        self.mixture.energy_score(value) + self.mixture.parts().map(of_component).sum::<f64>()
    }

    /// A random draw: of the mixture, rounded.
    pub(crate) fn sample(&self, rng: &mut Rng) -> f64 {
        self.grid.rounded(self.mixture.sample(rng))
    }
}

/// A probability that does not count beside `level`.
fn negligible_beside(level: f64) -> f64 {
    (NEGLIGIBLE * NEGLIGIBLE * level).max(f64::MIN_POSITIVE)
}

/// Probabilities up to `y` and above it, with one error function for both; a component that is far away counts whole or not.
fn below_and_above(mixture: Mixture<'_>, y: f64) -> (f64, f64) {
    let (mut below, mut above) = (0.0, 0.0);
    for (weight, mean, sd) in mixture.parts() {
        let z = (y - mean) / sd;
        let tail = if z.abs() < FAR { weight * normal::cdf(-z.abs()) } else { 0.0 };
        // An atom at y is 0 / 0, and lies up to y.
        let (more, less) = (weight - tail, tail);
        let (up_to, beyond) = if z < 0.0 { (less, more) } else { (more, less) };
        below += up_to;
        above += beyond;
    }
    (below, above)
}
