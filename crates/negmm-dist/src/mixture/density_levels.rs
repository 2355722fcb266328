//! Density levels: where a density rises and falls, where it is at least at a level, and the probability of all
//! other values.
//!
//! Between two turns a density only rises or only falls, so that a height is passed at most once there. Where it is passed, and
//! the height below which there is so much probability, are found by Newton's steps between two ends.

use super::truncated_component::Piece;
use super::{Mixture, log_sum_exp};
use crate::math::normal;

/// Places of a component, in sds from its mean, at which it is asked whether the density rises: between two of them a mixture
/// rarely turns twice, and if it does a height in between is passed at one place instead of three.
const PLACES: [f64; 17] =
    [-9.0, -6.0, -4.0, -3.0, -2.25, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.25, 3.0, 4.0, 6.0, 9.0];

/// A place that is nearer to the one before it, in sds of its component, tells nothing new.
const NEAR: f64 = 0.2;

/// Beyond this many sds a component has no probability that a double could express.
const FAR: f64 = 39.0;

/// Steps of a search at most: halving alone would need as many for a double's 64 bits.
const STEPS: usize = 200;

/// How exactly the logarithm of the probability below a height is met.
const EXACT: f64 = 1e-13;

/// How exactly a turn is found, in sds of the narrowest component: the density there differs from its highest by the square of this.
const TURN: f64 = 1e-9;

/// The density of a mixture, without its atoms, between two bounds.
pub(crate) struct DensityLevels {
    components: Vec<Component>,
    lower: f64,
    upper: f64,
    /// Logarithm of what the density is divided by.
    log_inside: f64,
    /// Where the density turns, and its logarithm there; the first and the last lie where there is nothing beyond.
    turns: Vec<(f64, f64)>,
}

struct Component {
    log_weight: f64,
    /// ln weight - ln sd.
    log_scale: f64,
    mean: f64,
    sd: f64,
}

impl DensityLevels {
    /// Those of a mixture between bounds, divided by exp(`log_inside`); none where it has no density there.
    pub(crate) fn new(mixture: Mixture<'_>, (lower, upper): (f64, f64), log_inside: f64) -> Option<Self> {
        let component = |(weight, mean, sd): (f64, f64, f64)| {
            let log_weight = libm::log(weight);
            Component { log_weight, log_scale: log_weight - libm::log(sd), mean, sd }
        };
        let components: Vec<Component> = mixture.gaussians().map(component).collect();
        let mut heights = Self { components, lower, upper, log_inside, turns: Vec::new() };
        if lower >= upper || heights.log_between(lower, upper) == f64::NEG_INFINITY {
            return None;
        }
        heights.find_turns();
        Some(heights)
    }

    /// Logarithm of the density at `y`.
    pub(crate) fn at(&self, y: f64) -> f64 {
        if y < self.lower || y > self.upper { f64::NEG_INFINITY } else { self.height(y).0 }
    }

    /// Logarithm of the probability where the density is not as high.
    pub(crate) fn log_outside(&self, height: f64) -> f64 {
        self.log_beside(&self.above(height))
    }

    /// The values where the density is at least as high as it must be to leave the probability exp(`log_outside`) outside; none where
    /// there is no more.
    pub(crate) fn leaving(&self, log_outside: f64) -> Vec<(f64, f64)> {
        let (mut low, mut high) = (f64::MAX, f64::MIN);
        self.turns.iter().for_each(|(_, height)| (low, high) = (low.min(*height), high.max(*height)));
        if log_outside >= self.log_between(self.lower, self.upper) {
            return Vec::new();
        }
        // The highest density first: a normal variable has a tenth of its probability further down than this.
        let mut height = high - 1.35;
        let mut intervals = self.above(height);
        for _ in 0..STEPS {
            let outside = self.log_beside(&intervals);
            let excess = outside - log_outside;
            if excess.abs() <= EXACT || high - low <= f64::EPSILON * (1.0 + height.abs()) {
                break;
            }
            if excess > 0.0 {
                high = height
            } else {
                low = height
            }
            // A height that rises by a little leaves as much more outside as the density is steep.
            let edges = intervals.iter().flat_map(|(start, end)| [*start, *end]).filter(|edge| self.is_inside(*edge));
            let growth: f64 = edges.map(|edge| libm::exp(height - outside) / self.height(edge).1.abs()).sum();
            let next = height - excess / growth;
            height = if low < next && next < high { next } else { 0.5 * (low + high) };
            intervals = self.above(height);
        }
        intervals
    }

    fn is_inside(&self, y: f64) -> bool {
        self.lower < y && y < self.upper
    }

    /// Logarithm of the density, and its slope.
    fn height(&self, y: f64) -> (f64, f64) {
        let (mut largest, mut sum, mut slope) = (f64::NEG_INFINITY, 0.0, 0.0);
        for Component { log_scale, mean, sd, .. } in &self.components {
            let z = (y - mean) / sd;
            let term = log_scale + normal::log_pdf(z);
            if term > largest {
                let shrink = libm::exp(largest - term);
                (sum, slope) = (sum * shrink + 1.0, slope * shrink - z / sd);
                largest = term;
            } else if term > f64::NEG_INFINITY {
                let share = libm::exp(term - largest);
                (sum, slope) = (sum + share, slope - share * z / sd);
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
            component.log_weight + Piece::new(component.mean, component.sd, low, high).log_mass()
        };
        log_sum_exp(self.components.iter().map(of)) - self.log_inside
    }

    /// Logarithm of the probability beside intervals, which are in order.
    fn log_beside(&self, intervals: &[(f64, f64)]) -> f64 {
        let starts = intervals.iter().map(|interval| interval.0).chain([self.upper]);
        let ends = [self.lower].into_iter().chain(intervals.iter().map(|interval| interval.1));
        log_sum_exp(ends.zip(starts).map(|(low, high)| self.log_between(low, high)))
    }

    /// Where the density is at least so high, as intervals in order.
    fn above(&self, height: f64) -> Vec<(f64, f64)> {
        let mut intervals = Vec::new();
        let mut start = (self.turns[0].1 >= height).then_some(self.lower);
        for pair in self.turns.windows(2) {
            let ((left, at_left), (right, at_right)) = (pair[0], pair[1]);
            match (start, at_left >= height, at_right >= height) {
                (_, false, true) => start = Some(self.passed(height, right, left)),
                (Some(begun), true, false) => {
                    intervals.push((begun, self.passed(height, left, right)));
                    start = None;
                }
                _ => {}
            }
        }
        intervals.extend(start.map(|start| (start, self.upper)));
        intervals
    }

    /// Where the density passes a height, between a place where it is higher and one where it is not.
    fn passed(&self, height: f64, mut higher: f64, mut lower: f64) -> f64 {
        let mut place = 0.5 * (higher + lower);
        for _ in 0..STEPS {
            let (at, slope) = self.height(place);
            if at >= height {
                higher = place
            } else {
                lower = place
            }
            let (low, high) = (higher.min(lower), higher.max(lower));
            let next = place - (at - height) / slope;
            let next = if low < next && next < high { next } else { 0.5 * (low + high) };
            if (next - place).abs() <= f64::EPSILON * place.abs() || next == place {
                break;
            }
            place = next;
        }
        place
    }

    fn find_turns(&mut self) {
        let places = self.places();
        let mut turns = vec![places[0]];
        let slopes: Vec<f64> = places.iter().map(|place| self.height(*place).1).collect();
        for (ends, slopes) in places.windows(2).zip(slopes.windows(2)) {
            if (slopes[0] > 0.0) != (slopes[1] > 0.0) {
                turns.push(self.turn(ends[0], ends[1], slopes[0]));
            }
        }
        turns.push(places[places.len() - 1]);
        self.turns = turns.into_iter().map(|place| (place, self.height(place).0)).collect();
    }

    /// Where the slope changes its sign between two places, at the first of which it has the sign of `slope`.
    fn turn(&self, mut left: f64, mut right: f64, slope: f64) -> f64 {
        let narrowest = self.components.iter().map(|component| component.sd).fold(f64::MAX, f64::min);
        for _ in 0..STEPS {
            let middle = left + 0.5 * (right - left);
            if middle <= left || middle >= right || right - left <= TURN * narrowest {
                break;
            }
            if (self.height(middle).1 > 0.0) == (slope > 0.0) { left = middle } else { right = middle }
        }
        left + 0.5 * (right - left)
    }

    /// Places in order between which the density turns at most once, from one end to the other.
    fn places(&self) -> Vec<f64> {
        let far = |component: &Component, sign: f64, bound: f64| {
            let from = if sign > 0.0 { component.mean.max(self.lower) } else { component.mean.min(self.upper) };
            let reached = from + sign * FAR * component.sd;
            if sign > 0.0 { reached.min(bound) } else { reached.max(bound) }
        };
        let first = self.components.iter().map(|one| far(one, -1.0, self.lower)).fold(f64::INFINITY, f64::min);
        let last = self.components.iter().map(|one| far(one, 1.0, self.upper)).fold(f64::NEG_INFINITY, f64::max);
        let of = |component: &Component| PLACES.map(|place| (component.mean + place * component.sd, component.sd));
        let mut inside: Vec<(f64, f64)> = self.components.iter().flat_map(of).collect();
        inside.retain(|(place, _)| first < *place && *place < last);
        inside.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut places = vec![first];
        for (place, sd) in inside {
            if place - places[places.len() - 1] > NEAR * sd {
                places.push(place);
            }
        }
        places.push(last);
        places
    }
}
