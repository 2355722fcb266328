//! The distribution function of each row in a graph, and its quantiles.
//!
//! Every distribution function is F(x) = sum_k c_k cdf(a_k x + b_k) - d + (the atoms up to x). Quantiles are found by unrolled
//! bisection, since a graph without loops runs everywhere. The last bracket is so short that F is linear in it.

use crate::graph::{Graph, Value};
use crate::normal::{self, COARSE};

/// The range of a component in sds: the probability beyond is below the precision of a double.
pub const REACH: f64 = 9.0;
/// Bisection steps: a bracket of 200,000 sds of the narrowest component becomes 0.012, over which linear interpolation has an error
/// of at most 2e-5 sds.
const BISECTIONS: usize = 24;

/// A distribution function for each row.
pub struct Cdf {
    /// rows × components: a, b and c.
    pub slopes: Value,
    pub offsets: Value,
    pub weights: Value,
    /// rows × 1: d, if there is one.
    pub base: Option<Value>,
    /// rows × atoms: their probabilities; and their values.
    pub atoms: Option<(Value, Vec<f64>)>,
    /// rows × 1: a bracket of all quantiles.
    pub low: Value,
    pub high: Value,
}

impl Cdf {
    /// rows × numbers: F(x) + d at x, rows (or 1) × numbers.
    fn evaluate(&self, graph: &mut Graph, x: &Value) -> Value {
        let [slopes, offsets, weights] =
            [&self.slopes, &self.offsets, &self.weights].map(|list| graph.unsqueeze(list, 1));
        let x = graph.unsqueeze(x, 2);
        let product = graph.mul(&x, &slopes);
        let z = graph.add2(&product, &offsets);
        let probabilities = normal::cdf(graph, &z, COARSE);
        let probabilities = graph.mul(&probabilities, &weights);
        let sum = graph.reduced("ReduceSum", &probabilities, 2, false);
        let Some((atoms, values)) = &self.atoms else { return sum };
        let values = graph.doubles(&[1, 1, values.len()], values);
        let reached = graph.op("LessOrEqual", &[&values, &x]);
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
        // Broadcast to one column per level.
        let zero = graph.number(0.0);
        let zeros = graph.mul(&levels, &zero);
        let (mut low, mut high) = (graph.add2(&self.low, &zeros), graph.add2(&self.high, &zeros));
        for _ in 0..BISECTIONS {
            let sum = graph.add2(&low, &high);
            let middle = graph.times(&sum, 0.5);
            let reached = self.evaluate(graph, &middle);
            let below = graph.op("Less", &[&reached, &levels]);
            low = graph.op("Where", &[&below, &middle, &low]);
            high = graph.op("Where", &[&below, &high, &middle]);
        }
        let (at_low, at_high) = (self.evaluate(graph, &low), self.evaluate(graph, &high));
        let (rise, missing) = (graph.sub(&at_high, &at_low), graph.sub(&levels, &at_low));
        let rise = graph.at_least(&rise, f64::MIN_POSITIVE);
        let fraction = graph.div(&missing, &rise);
        let fraction = graph.within(&fraction, 0.0, 1.0);
        let width = graph.sub(&high, &low);
        let offset = graph.mul(&width, &fraction);
        let found = graph.add2(&low, &offset);
        self.at_atoms(graph, &found, &levels)
    }

    /// If an atom makes F jump over a level, the quantile is that atom.
    fn at_atoms(&self, graph: &mut Graph, found: &Value, levels: &Value) -> Value {
        let Some((atoms, values)) = &self.atoms else { return found.clone() };
        let at = graph.doubles(&[1, values.len()], values);
        let up_to = self.evaluate(graph, &at);
        let before = graph.sub(&up_to, atoms);
        let levels = graph.unsqueeze(levels, 2);
        let (up_to, before) = (graph.unsqueeze(&up_to, 1), graph.unsqueeze(&before, 1));
        let (starts, reaches) = (graph.op("Less", &[&before, &levels]), graph.op("GreaterOrEqual", &[&up_to, &levels]));
        let jumps = graph.op("And", &[&starts, &reaches]);
        let at = graph.doubles(&[1, 1, values.len()], values);
        let none = graph.number(f64::NEG_INFINITY);
        let atom = graph.op("Where", &[&jumps, &at, &none]);
        let atom = graph.reduced("ReduceMax", &atom, 2, false);
        let no_jump = graph.op("Equal", &[&atom, &none]);
        graph.op("Where", &[&no_jump, found, &atom])
    }
}
