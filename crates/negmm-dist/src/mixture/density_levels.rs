//! Density levels: the extrema of a density, where it is at least at a level, and the probability of all other values.
//!
//! Between two extrema a density is monotone, so that it crosses a level at most once there. The crossing, and the level below which
//! there is a given probability, are found by Newton's method in a bracket. Levels are logarithms of the density.

use super::truncated_component::TruncatedComponent;
use super::{Mixture, log_sum_exp};
use crate::math::normal;

/// Points of a component, in sds from its mean, at which the sign of the density's slope is evaluated: a mixture rarely has two extrema
/// between two of them, and if it does, a level in between has one crossing instead of three.
const SEARCH_POINTS: [f64; 17] =
    [-9.0, -6.0, -4.0, -3.0, -2.25, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.25, 3.0, 4.0, 6.0, 9.0];

/// Points that are nearer to the point before, in sds of their component, are left out.
const NEAR: f64 = 0.2;

/// Beyond this many sds the probability of a component underflows.
const FAR: f64 = 39.0;

/// Components whose logarithm of the density is this much below that of another are below its rounding error.
const NEGLIGIBLE: f64 = -45.0;

/// Largest number of steps of a search: more than bisection alone would need for 64 bits.
const STEPS: usize = 200;

/// Tolerance of the logarithm of the probability below a level.
const EXACT: f64 = 1e-13;

/// Tolerance of an extremum, in sds of the narrowest component: the relative error of the density is the square of this.
const EXTREMUM_TOLERANCE: f64 = 1e-9;

/// The density of a mixture, without its atoms, between two bounds.
pub(crate) struct DensityLevels {
    components: Vec<Component>,
    lower: f64,
    upper: f64,
    /// Logarithm of the number that the density is divided by.
    log_inside: f64,
    /// The extrema and the logarithms of the density there; the first and the last are the ends of the range.
    extrema: Vec<(f64, f64)>,
}

struct Component {
    log_weight: f64,
    /// ln weight - ln sd.
    log_scale: f64,
    mean: f64,
    sd: f64,
}

impl DensityLevels {
    /// The density of a mixture between bounds, divided by exp(`log_inside`); `None` if it has no density there.
    pub(crate) fn new(mixture: Mixture<'_>, (lower, upper): (f64, f64), log_inside: f64) -> Option<Self> {
        let component = |(weight, mean, sd): (f64, f64, f64)| {
            let log_weight = libm::log(weight);
            Component { log_weight, log_scale: log_weight - libm::log(sd), mean, sd }
        };
        let components: Vec<Component> = mixture.gaussians().map(component).collect();
        let mut levels = Self { components, lower, upper, log_inside, extrema: Vec::new() };
        if lower >= upper || levels.log_between(lower, upper) == f64::NEG_INFINITY {
            return None;
        }
        levels.find_extrema();
        Some(levels)
    }

    /// The bounds.
    pub(crate) fn bounds(&self) -> (f64, f64) {
        (self.lower, self.upper)
    }

    /// Where the density is highest, and the density there.
    pub(crate) fn peak(&self) -> (f64, f64) {
        let highest = self.extrema.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
        highest.map_or((f64::NAN, 0.0), |(at, level)| (at, libm::exp(level)))
    }

    /// Logarithm of the density at `y`.
    pub(crate) fn at(&self, y: f64) -> f64 {
        if y < self.lower || y > self.upper { f64::NEG_INFINITY } else { self.log_density(y).0 }
    }

    /// Logarithm of the probability of the values whose density is below a level.
    pub(crate) fn log_outside(&self, level: f64) -> f64 {
        self.log_outside_of(&self.above(level))
    }

    /// The values of highest density, so that the probability exp(`log_outside`) lies outside; empty if that is all.
    pub(crate) fn leaving(&self, log_outside: f64) -> Vec<(f64, f64)> {
        let (mut low, mut high) = (f64::MAX, f64::MIN);
        self.extrema.iter().for_each(|(_, level)| (low, high) = (low.min(*level), high.max(*level)));
        if log_outside >= self.log_between(self.lower, self.upper) {
            return Vec::new();
        }
        // First guess: a normal variable has a tenth of its probability below this level.
        let mut level = high - 1.35;
        let mut intervals = self.above(level);
        for _ in 0..STEPS {
            let outside = self.log_outside_of(&intervals);
            let excess = outside - log_outside;
            if excess.abs() <= EXACT || high - low <= f64::EPSILON * (1.0 + level.abs()) {
                break;
            }
            if excess > 0.0 {
                high = level
            } else {
                low = level
            }
            // The derivative of the probability outside with respect to the level.
            let edges = intervals.iter().flat_map(|(start, end)| [*start, *end]).filter(|edge| self.is_inside(*edge));
            let growth: f64 = edges.map(|edge| libm::exp(level - outside) / self.log_density(edge).1.abs()).sum();
            let next = level - excess / growth;
            level = if low < next && next < high { next } else { 0.5 * (low + high) };
            intervals = self.above(level);
        }
        intervals
    }

    fn is_inside(&self, y: f64) -> bool {
        self.lower < y && y < self.upper
    }

    /// Logarithm of the density, and its derivative.
    fn log_density(&self, y: f64) -> (f64, f64) {
        let z = |component: &Component| (y - component.mean) / component.sd;
        let term = |component: &Component| component.log_scale + normal::log_pdf(z(component));
        let largest = self.components.iter().map(term).fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut slope) = (0.0, 0.0);
        for component in &self.components {
            let below = term(component) - largest;
            if below > NEGLIGIBLE {
                let ratio = libm::exp(below);
                (sum, slope) = (sum + ratio, slope - ratio * z(component) / component.sd);
            }
        }
        (largest + libm::log(sum) - self.log_inside, slope / sum)
    }

    /// Logarithm of the probability from `low` to `high`.
    fn log_between(&self, low: f64, high: f64) -> f64 {
        if low >= high {
            return f64::NEG_INFINITY;
        }
        let of = |component: &Component| {
            component.log_weight + TruncatedComponent::new(component.mean, component.sd, low, high).log_mass()
        };
        log_sum_exp(self.components.iter().map(of)) - self.log_inside
    }

    /// Logarithm of the probability outside of intervals, which are in order.
    fn log_outside_of(&self, intervals: &[(f64, f64)]) -> f64 {
        let starts = intervals.iter().map(|interval| interval.0).chain([self.upper]);
        let ends = [self.lower].into_iter().chain(intervals.iter().map(|interval| interval.1));
        log_sum_exp(ends.zip(starts).map(|(low, high)| self.log_between(low, high)))
    }

    /// Where the density is at least at a level, as intervals in order.
    fn above(&self, level: f64) -> Vec<(f64, f64)> {
        let mut intervals = Vec::new();
        let mut start = (self.extrema[0].1 >= level).then_some(self.lower);
        for pair in self.extrema.windows(2) {
            let ((left, at_left), (right, at_right)) = (pair[0], pair[1]);
            match (start, at_left >= level, at_right >= level) {
                (_, false, true) => start = Some(self.crossing(level, right, left)),
                (Some(begun), true, false) => {
                    intervals.push((begun, self.crossing(level, left, right)));
                    start = None;
                }
                _ => {}
            }
        }
        intervals.extend(start.map(|start| (start, self.upper)));
        intervals
    }

    /// Where the density crosses a level, between a point where it is higher and one where it is not.
    fn crossing(&self, level: f64, mut higher: f64, mut lower: f64) -> f64 {
        let mut point = 0.5 * (higher + lower);
        for _ in 0..STEPS {
            let (at, slope) = self.log_density(point);
            if at >= level {
                higher = point
            } else {
                lower = point
            }
            let (low, high) = (higher.min(lower), higher.max(lower));
            let next = point - (at - level) / slope;
            let next = if low < next && next < high { next } else { 0.5 * (low + high) };
            if (next - point).abs() <= f64::EPSILON * point.abs() || next == point {
                break;
            }
            point = next;
        }
        point
    }

    fn find_extrema(&mut self) {
        let search_points = self.search_points();
        let mut extrema = vec![search_points[0]];
        let slopes: Vec<f64> = search_points.iter().map(|point| self.log_density(*point).1).collect();
        for (ends, slopes) in search_points.windows(2).zip(slopes.windows(2)) {
            if (slopes[0] > 0.0) != (slopes[1] > 0.0) {
                extrema.push(self.extremum(ends[0], ends[1], slopes[0]));
            }
        }
        extrema.push(search_points[search_points.len() - 1]);
        self.extrema = extrema.into_iter().map(|point| (point, self.log_density(point).0)).collect();
    }

    /// Where the slope changes its sign between two points, at the first of which it has the sign of `slope`.
    fn extremum(&self, mut left: f64, mut right: f64, slope: f64) -> f64 {
        let narrowest = self.components.iter().map(|component| component.sd).fold(f64::MAX, f64::min);
        for _ in 0..STEPS {
            let middle = left + 0.5 * (right - left);
            if middle <= left || middle >= right || right - left <= EXTREMUM_TOLERANCE * narrowest {
                break;
            }
            if (self.log_density(middle).1 > 0.0) == (slope > 0.0) { left = middle } else { right = middle }
        }
        left + 0.5 * (right - left)
    }

    /// Points in ascending order with at most one extremum between neighbours, from one end of the range to the other.
    fn search_points(&self) -> Vec<f64> {
        let far = |component: &Component, sign: f64, bound: f64| {
            let from = if sign > 0.0 { component.mean.max(self.lower) } else { component.mean.min(self.upper) };
            let reached = from + sign * FAR * component.sd;
            if sign > 0.0 { reached.min(bound) } else { reached.max(bound) }
        };
        let first = self.components.iter().map(|one| far(one, -1.0, self.lower)).fold(f64::INFINITY, f64::min);
        let last = self.components.iter().map(|one| far(one, 1.0, self.upper)).fold(f64::NEG_INFINITY, f64::max);
        let of =
            |component: &Component| SEARCH_POINTS.map(|point| (component.mean + point * component.sd, component.sd));
        let mut inside: Vec<(f64, f64)> = self.components.iter().flat_map(of).collect();
        inside.retain(|(point, _)| first < *point && *point < last);
        inside.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut search_points = vec![first];
        for (point, sd) in inside {
            if point - search_points[search_points.len() - 1] > NEAR * sd {
                search_points.push(point);
            }
        }
        search_points.push(last);
        search_points
    }
}
