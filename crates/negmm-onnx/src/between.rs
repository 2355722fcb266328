//! Normal components between two bounds, in a graph.

use crate::graph::{Graph, Value};
use crate::normal::{self, FINE};

/// The distance of a missing bound, in sds.
const NO_BOUND: f64 = 1e3;

/// Normal components between two bounds, rows × components each.
///
/// The probability is computed from the smaller tails: with s = -1 if the mean is below the lower bound, else 1, it is
/// s (cdf(s high) - cdf(s low)), in sds from the mean.
pub struct Between {
    /// The bounds in sds from the mean.
    pub low: Value,
    pub high: Value,
    /// s.
    pub sign: Value,
    /// cdf(s low).
    pub at_low: Value,
    /// The probability between the bounds.
    pub mass: Value,
}

impl Between {
    /// Of components with these means and positive sds; a bound may be infinite.
    pub fn new(graph: &mut Graph, means: &Value, sds: &Value, [lower, upper]: [f64; 2]) -> Self {
        let [low, high] = [(lower, -NO_BOUND), (upper, NO_BOUND)].map(|(bound, far)| {
            if bound.is_infinite() {
                let zero = graph.times(sds, 0.0);
                return graph.plus(&zero, far);
            }
            let bound = graph.number(bound);
            let distance = graph.sub(&bound, means);
            let z = graph.div(&distance, sds);
            graph.within(&z, -NO_BOUND, NO_BOUND)
        });
        let (zero, plus, minus) = (graph.number(0.0), graph.number(1.0), graph.number(-1.0));
        let below_lower = graph.op("Greater", &[&low, &zero]);
        let sign = graph.op("Where", &[&below_lower, &minus, &plus]);
        let [at_low, at_high] = [&low, &high].map(|z| {
            let z = graph.mul(&sign, z);
            normal::cdf(graph, &z, FINE)
        });
        let mass = graph.sub(&at_high, &at_low);
        let mass = graph.mul(&mass, &sign);
        Self { low, high, sign, at_low, mass }
    }
}
