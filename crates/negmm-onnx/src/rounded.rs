//! Rounded mixtures in a graph, for a discrete target: rounded to the nearest value, and clamped at the bounds.
//!
//! In steps from the grid's origin, with m and s the mean and sd of a component, L and U the first and last index, and S(x) the
//! probability of more than x:
//!
//! ```text
//! narrow, s < 3/2: sums over the 23 cells around m
//! wide: E(Y - L) = sum over the cells' ends x of S(x)        E(Y - L)² = sum of 2 (x - L) S(x)
//! ```
//!
//! Such a sum at the middles of [L, L+1], [L+1, L+2] … [U-1, U] is the integral from L to U minus the Euler-Maclaurin terms
//! 1/24 f', -7/5760 f''', 31/967680 f⁽⁵⁾ and -127/154828800 f⁽⁷⁾ at U, and plus those at L; four of them leave less than 1e-7 where s is
//! at least 3/2. The derivatives of S are Hermite polynomials times the density.

use negmm::Support;

use crate::graph::{Graph, Value};
use crate::normal::{self, DENSITY_AT_0, FINE};

/// The smallest sd of a wide component, in steps.
const WIDE: f64 = 1.5;
/// Cells on each side of the mean of a narrow component: more than seven sds.
const REACH: i64 = 11;
/// Euler-Maclaurin coefficients of the midpoint rule, for the derivatives 1, 3, 5, 7.
const TERMS: [f64; 4] = [-1.0 / 24.0, 7.0 / 5760.0, -31.0 / 967_680.0, 127.0 / 154_828_800.0];

/// Indices of the first and last value, infinite without bounds.
fn ends(support: &Support, step: f64) -> (f64, f64) {
    let (lower, upper) = support.bounds();
    let index = |bound: f64| ((bound - support.origin) / step).round();
    (index(lower), index(upper))
}

/// The value of the support nearest to each number, in the target's unit.
pub fn nearest(graph: &mut Graph, support: &Support, values: &Value) -> Value {
    let (lower, upper) = support.bounds();
    let Some(step) = support.step else { return graph.within(values, lower, upper) };
    let distance = graph.plus(values, -support.origin);
    let length = graph.number(step);
    let index = graph.div(&distance, &length);
    let shifted = graph.plus(&index, -0.5);
    let index = graph.op("Ceil", &[&shifted]);
    let (first, last) = ends(support, step);
    let index = graph.within(&index, first, last);
    // 3 / 10 is the double nearest to 0.3, 3 · 0.1 is not.
    let parts = (1.0 / step).round();
    let exact = parts > 1.0 && (parts * step - 1.0).abs() < 4.0 * f64::EPSILON;
    let value = if exact {
        let parts = graph.number(parts);
        graph.div(&index, &parts)
    } else {
        graph.times(&index, step)
    };
    let value = graph.plus(&value, support.origin);
    graph.within(&value, lower, upper)
}

/// Mean and variance of each rounded component; rows × components, in the target's unit.
pub fn moments(graph: &mut Graph, support: &Support, step: f64, means: &Value, sds: &Value) -> (Value, Value) {
    let shifted = graph.plus(means, -support.origin);
    let (m, s) = (graph.times(&shifted, 1.0 / step), graph.times(sds, 1.0 / step));
    let (first, last) = ends(support, step);
    let narrow = narrow(graph, &m, &s, first, last);
    let wide_sd = graph.at_least(&s, WIDE);
    let wide = match (first.is_finite(), last.is_finite()) {
        (false, false) => {
            let variance = graph.mul(&wide_sd, &wide_sd);
            (m.clone(), graph.plus(&variance, 1.0 / 12.0))
        }
        (false, true) => {
            let mirrored = graph.op("Neg", &[&m]);
            let (mean, variance) = wide(graph, &mirrored, &wide_sd, -last, f64::INFINITY);
            (graph.op("Neg", &[&mean]), variance)
        }
        (true, _) => wide(graph, &m, &wide_sd, first, last),
    };
    let limit = graph.number(WIDE);
    let is_narrow = graph.op("Less", &[&s, &limit]);
    let mean = graph.op("Where", &[&is_narrow, &narrow.0, &wide.0]);
    let variance = graph.op("Where", &[&is_narrow, &narrow.1, &wide.1]);
    let mean = graph.times(&mean, step);
    (graph.plus(&mean, support.origin), graph.times(&variance, step * step))
}

/// Sums over the cells around the mean.
fn narrow(graph: &mut Graph, m: &Value, s: &Value, first: f64, last: f64) -> (Value, Value) {
    let below = graph.plus(m, -0.5);
    let cell = graph.op("Ceil", &[&below]);
    let centre = graph.within(&cell, first, last);
    let offsets: Vec<f64> = (-REACH..=REACH).map(|offset| offset as f64).collect();
    let offsets = graph.doubles(&[1, 1, offsets.len()], &offsets);
    let [m, s, centres] = [m, s, &centre].map(|value| graph.unsqueeze(value, 2));
    let index = graph.add2(&centres, &offsets);
    let [low, high] = [(-0.5, first), (0.5, last)].map(|(half, end)| {
        let edge = graph.plus(&index, half);
        let distance = graph.sub(&edge, &m);
        let z = graph.div(&distance, &s);
        // Clamped where the density is zero, so that squares stay finite.
        let z = graph.within(&z, -40.0, 40.0);
        let up_to = normal::cdf(graph, &z, FINE);
        let (end, whole) = (graph.number(end), graph.number(if half < 0.0 { 0.0 } else { 1.0 }));
        let beyond = graph.op(if half < 0.0 { "LessOrEqual" } else { "GreaterOrEqual" }, &[&index, &end]);
        graph.op("Where", &[&beyond, &whole, &up_to])
    });
    // No cells beyond the ends.
    let (first, last) = (graph.number(first), graph.number(last));
    let (under, above) = (graph.op("Less", &[&index, &first]), graph.op("Greater", &[&index, &last]));
    let outside = graph.op("Or", &[&under, &above]);
    let probability = graph.sub(&high, &low);
    let zero = graph.number(0.0);
    let probability = graph.op("Where", &[&outside, &zero, &probability]);
    let weighted = graph.mul(&probability, &offsets);
    let mean = graph.reduced("ReduceSum", &weighted, 2, false);
    let squares = graph.mul(&weighted, &offsets);
    let square = graph.reduced("ReduceSum", &squares, 2, false);
    let of_mean = graph.mul(&mean, &mean);
    let variance = graph.sub(&square, &of_mean);
    (graph.add2(&centre, &mean), graph.at_least(&variance, 0.0))
}

/// The moments of a wide component, clamped at the first value and perhaps at the last.
fn wide(graph: &mut Graph, m: &Value, s: &Value, first: f64, last: f64) -> (Value, Value) {
    let at_first = PartialMoments::new(graph, m, s, first);
    let (mut mean, mut square) = (at_first.excess.clone(), at_first.square.clone());
    let (first_term, first_square) = at_first.terms(graph, 0.0);
    if last.is_finite() {
        let (at_last, width) = (PartialMoments::new(graph, m, s, last), last - first);
        mean = graph.sub(&mean, &at_last.excess);
        square = graph.sub(&square, &at_last.square);
        let lost = graph.times(&at_last.excess, 2.0 * width);
        square = graph.sub(&square, &lost);
        let (term, of_square) = at_last.terms(graph, width);
        mean = graph.add2(&mean, &term);
        square = graph.add2(&square, &of_square);
    }
    let mean = graph.sub(&mean, &first_term);
    let square = graph.sub(&square, &first_square);
    let of_mean = graph.mul(&mean, &mean);
    let variance = graph.sub(&square, &of_mean);
    (graph.plus(&mean, first), graph.at_least(&variance, 0.0))
}

/// Partial moments of a component with mean m and sd s above a value.
struct PartialMoments {
    z: Value,
    s: Value,
    density: Value,
    /// The survival function.
    above: Value,
    /// E max(X - value, 0) and the mean of its square.
    excess: Value,
    square: Value,
}

impl PartialMoments {
    fn new(graph: &mut Graph, m: &Value, s: &Value, value: f64) -> Self {
        let value = graph.number(value);
        let distance = graph.sub(m, &value);
        let below = graph.div(&distance, s);
        let below = graph.within(&below, -1e9, 40.0 * 1e6);
        let above = normal::cdf(graph, &below, FINE);
        let z = graph.op("Neg", &[&below]);
        let bell = normal::bell(graph, &z);
        let density = graph.times(&bell, DENSITY_AT_0);
        // s (pdf(z) - z above) and s² ((1 + z²) above - z pdf(z))
        let reach = graph.mul(&z, &above);
        let excess = graph.sub(&density, &reach);
        let inner = graph.mul(&z, &excess);
        let square = graph.sub(&above, &inner);
        let excess = graph.mul(&excess, s);
        let variance = graph.mul(s, s);
        let square = graph.mul(&square, &variance);
        Self { z, s: s.clone(), density, above, excess, square }
    }

    /// The Euler-Maclaurin terms of S(x) and of 2 (x - L) S(x) at this value, which is `width` above L.
    ///
    /// S⁽ᵏ⁾ = (-1)^k He_(k-1)(z) pdf(z) / s^k, and the derivatives of the second are 2 width S⁽ᵏ⁾ + 2 k S⁽ᵏ⁻¹⁾.
    fn terms(&self, graph: &mut Graph, width: f64) -> (Value, Value) {
        let one = graph.number(1.0);
        let mut hermite = vec![one, self.z.clone()];
        for order in 1..6 {
            let rise = graph.mul(&self.z, &hermite[order]);
            let fall = graph.times(&hermite[order - 1], order as f64);
            hermite.push(graph.sub(&rise, &fall));
        }
        let mut derivatives = vec![self.above.clone()];
        let mut scale = self.density.clone();
        for (order, polynomial) in hermite.iter().enumerate() {
            scale = graph.div(&scale, &self.s);
            let size = graph.mul(polynomial, &scale);
            derivatives.push(graph.times(&size, if order % 2 == 0 { -1.0 } else { 1.0 }));
        }
        let (mut of_first, mut of_square) = (graph.number(0.0), graph.number(0.0));
        for (index, term) in TERMS.iter().enumerate() {
            let order = 2 * index + 1;
            let part = graph.times(&derivatives[order], *term);
            of_first = graph.add2(&of_first, &part);
            let far = graph.times(&part, 2.0 * width);
            let near = graph.times(&derivatives[order - 1], 2.0 * order as f64 * term);
            let both = graph.add2(&far, &near);
            of_square = graph.add2(&of_square, &both);
        }
        (of_first, of_square)
    }
}
