//! Responsible for the distribution function of each row in a graph, and for finding its quantiles.
//!
//! Every form of mixture has one of the shape F(x) = sum_k c_k cdf(a_k x + b_k) - d + (the atoms up to x). A quantile is looked for by
//! halving the stretch in which it must lie, in steps that are written out: a graph without loops runs everywhere. The last stretch is
//! so short that F is a line there.

use crate::graph::{Graph, Value};
use crate::normal::{self, COARSE};

/// A component has nothing that a double would notice so many sds from its mean.
pub const REACH: f64 = 9.0;
/// Halvings: of a stretch of 100,000 sds of its narrowest component 0.006 are left, over which a line is off by 4e-6 sds at most.
const HALVINGS: usize = 24;

/// A distribution function for each row.
pub struct Curve {
    /// rows × components: a, b and c.
    pub slopes: Value,
    pub offsets: Value,
    pub weights: Value,
    /// rows × 1: d, where there is one.
    pub base: Option<Value>,
    /// rows × atoms: their probabilities; and where they lie.
    pub atoms: Option<(Value, Vec<f64>)>,
    /// rows × 1: between which numbers all quantiles lie.
    pub low: Value,
    pub high: Value,
}

impl Curve {
    /// rows × numbers: F(x) + d of x, rows (or 1) × numbers.
    fn up_to(&self, graph: &mut Graph, x: &Value) -> Value {
        let [slopes, offsets, weights] =
            [&self.slopes, &self.offsets, &self.weights].map(|list| graph.unsqueeze(list, 1));
        let x = graph.unsqueeze(x, 2);
        let product = graph.mul(&x, &slopes);
        let z = graph.add2(&product, &offsets);
        let shares = normal::cdf(graph, &z, COARSE);
        let shares = graph.mul(&shares, &weights);
        let sum = graph.reduced("ReduceSum", &shares, 2, false);
        let Some((atoms, places)) = &self.atoms else { return sum };
        let places = graph.doubles(&[1, 1, places.len()], places);
        let reached = graph.op("LessOrEqual", &[&places, &x]);
        let (atoms, zero) = (graph.unsqueeze(atoms, 1), graph.number(0.0));
        let reached = graph.op("Where", &[&reached, &atoms, &zero]);
        let of_atoms = graph.reduced("ReduceSum", &reached, 2, false);
        graph.add2(&sum, &of_atoms)
    }

    /// rows × levels.
    pub fn quantiles(&self, graph: &mut Graph, levels: &Value) -> Value {
        let levels = graph.unsqueeze(levels, 0);
        let levels = match &self.base {
            Some(base) => graph.add2(&levels, base),
            None => levels,
        };
        // As many as there are levels.
        let zero = graph.number(0.0);
        let nothing = graph.mul(&levels, &zero);
        let (mut low, mut high) = (graph.add2(&self.low, &nothing), graph.add2(&self.high, &nothing));
        for _ in 0..HALVINGS {
            let sum = graph.add2(&low, &high);
            let middle = graph.times(&sum, 0.5);
            let reached = self.up_to(graph, &middle);
            let below = graph.op("Less", &[&reached, &levels]);
            low = graph.op("Where", &[&below, &middle, &low]);
            high = graph.op("Where", &[&below, &high, &middle]);
        }
        let (at_low, at_high) = (self.up_to(graph, &low), self.up_to(graph, &high));
        let (rise, lacks) = (graph.sub(&at_high, &at_low), graph.sub(&levels, &at_low));
        let rise = graph.at_least(&rise, f64::MIN_POSITIVE);
        let share = graph.div(&lacks, &rise);
        let share = graph.within(&share, 0.0, 1.0);
        let width = graph.sub(&high, &low);
        let way = graph.mul(&width, &share);
        let found = graph.add2(&low, &way);
        self.at_atoms(graph, &found, &levels)
    }

    /// Where the curve jumps over a level it is the atom that makes it jump.
    fn at_atoms(&self, graph: &mut Graph, found: &Value, levels: &Value) -> Value {
        let Some((atoms, places)) = &self.atoms else { return found.clone() };
        let at = graph.doubles(&[1, places.len()], places);
        let up_to = self.up_to(graph, &at);
        let before = graph.sub(&up_to, atoms);
        let levels = graph.unsqueeze(levels, 2);
        let (up_to, before) = (graph.unsqueeze(&up_to, 1), graph.unsqueeze(&before, 1));
        let (starts, reaches) = (graph.op("Less", &[&before, &levels]), graph.op("GreaterOrEqual", &[&up_to, &levels]));
        let jumps = graph.op("And", &[&starts, &reaches]);
        let at = graph.doubles(&[1, 1, places.len()], places);
        let nowhere = graph.number(f64::NEG_INFINITY);
        let place = graph.op("Where", &[&jumps, &at, &nowhere]);
        let place = graph.reduced("ReduceMax", &place, 2, false);
        let none = graph.op("Equal", &[&place, &nowhere]);
        graph.op("Where", &[&none, found, &place])
    }
}
