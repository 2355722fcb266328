//! Responsible for what the target's support makes of a mixture, in a graph: mean and sd, and the curve whose quantiles are asked for.

use negmm::data::Target;

use crate::curve::{Curve, REACH};
use crate::graph::{Graph, Value};
use crate::law::{Law, moments, places};
use crate::normal::{self, DENSITY_AT_0, FINE};
use crate::rounded;

/// A bound that is not there lies so many sds away.
const NO_BOUND: f64 = 1e3;

/// rows × 1: mean and sd, in the target's own unit; and the curve, standardised.
pub struct Form {
    pub mean: Value,
    pub sd: Value,
    curve: Curve,
    /// rows × 1: whether a row has nothing between the bounds, and the bound where all of it then is.
    nowhere: Option<(Value, Value)>,
}

impl Form {
    pub fn new(graph: &mut Graph, law: &Law, target: &Target) -> Self {
        let (gaussians, atoms) = law.split(graph, target);
        let (lower, upper) = target.support.bounds();
        match target.support.step {
            Some(step) => Self::rounded(graph, &gaussians, target, step),
            None if lower.is_infinite() && upper.is_infinite() => Self::whole(graph, law, &gaussians, atoms, target),
            None => Self::between(graph, &gaussians, atoms, target),
        }
    }

    /// On the whole line.
    fn whole(graph: &mut Graph, law: &Law, gaussians: &Law, atoms: Option<Value>, target: &Target) -> Self {
        let variances = graph.mul(&law.sds, &law.sds);
        let (mean, sd) = moments(graph, &law.weights, &law.means, &variances);
        let atoms = atoms.map(|atoms| (atoms, places(target)));
        let curve = plain_curve(graph, gaussians, atoms);
        let (mean, sd) = in_unit(graph, target, &mean, &sd);
        Self { mean, sd, curve, nowhere: None }
    }

    /// On a grid.
    fn rounded(graph: &mut Graph, law: &Law, target: &Target, step: f64) -> Self {
        let (means, sds) = in_unit(graph, target, &law.means, &law.sds);
        let (means, variances) = rounded::moments(graph, &target.support, step, &means, &sds);
        let (mean, sd) = moments(graph, &law.weights, &means, &variances);
        let (lower, upper) = target.support.bounds();
        let mean = graph.within(&mean, lower, upper);
        Self { mean, sd, curve: plain_curve(graph, law, None), nowhere: None }
    }

    /// Given that the target lies between its bounds.
    ///
    /// Of the two tails that make a component's probability there, those are taken that are smaller: with the sign s of -1 where the
    /// mean lies below the lower bound, and else 1, it is s (cdf(s high) - cdf(s low)), in sds from the mean.
    fn between(graph: &mut Graph, law: &Law, atoms: Option<Value>, target: &Target) -> Self {
        let (lower, upper) = target.support.bounds();
        let (lower, upper) = ((lower - target.mean) / target.scale, (upper - target.mean) / target.scale);
        let [low, high] = [(lower, -NO_BOUND), (upper, NO_BOUND)].map(|(bound, far)| {
            if bound.is_infinite() {
                let zero = graph.times(&law.sds, 0.0);
                return graph.plus(&zero, far);
            }
            let bound = graph.number(bound);
            let distance = graph.sub(&bound, &law.means);
            let z = graph.div(&distance, &law.sds);
            graph.within(&z, -NO_BOUND, NO_BOUND)
        });
        let zero = graph.number(0.0);
        let (plus, minus) = (graph.number(1.0), graph.number(-1.0));
        let beside = graph.op("Greater", &[&low, &zero]);
        let sign = graph.op("Where", &[&beside, &minus, &plus]);
        let [at_low, at_high] = [&low, &high].map(|z| {
            let z = graph.mul(&sign, z);
            normal::cdf(graph, &z, FINE)
        });
        let mass = graph.sub(&at_high, &at_low);
        let mass = graph.mul(&mass, &sign);
        let weighed = graph.mul(&law.weights, &mass);
        let mut inside = graph.sum(&weighed, 1);
        if let Some(atoms) = &atoms {
            let of_atoms = graph.sum(atoms, 1);
            inside = graph.add2(&inside, &of_atoms);
        }
        let nothing = graph.op("Equal", &[&inside, &zero]);
        let inside = graph.at_least(&inside, f64::MIN_POSITIVE);
        // Mean and variance of the pieces, in sds from the mean.
        let divisor = graph.at_least(&mass, f64::MIN_POSITIVE);
        let [(density_low, first_low), (density_high, first_high)] = [&low, &high].map(|z| {
            let bell = normal::bell(graph, z);
            let density = graph.times(&bell, DENSITY_AT_0);
            let first = graph.mul(z, &density);
            (density, first)
        });
        let fall = graph.sub(&density_low, &density_high);
        let shift = graph.div(&fall, &divisor);
        let second = graph.sub(&first_low, &first_high);
        let second = graph.div(&second, &divisor);
        let second = graph.plus(&second, 1.0);
        let of_shift = graph.mul(&shift, &shift);
        let spread = graph.sub(&second, &of_shift);
        let spread = graph.at_least(&spread, 0.0);
        let moved = graph.mul(&shift, &law.sds);
        let means = graph.add2(&law.means, &moved);
        let mut means = graph.within(&means, lower, upper);
        let squares = graph.mul(&law.sds, &law.sds);
        let mut variances = graph.mul(&spread, &squares);
        let mut weights = graph.div(&weighed, &inside);
        let atoms = atoms.map(|atoms| (graph.div(&atoms, &inside), places(target)));
        if let Some((shares, places)) = &atoms {
            let constant = graph.doubles(&[1, places.len()], places);
            let constant = graph.repeated(&constant, shares);
            let none = graph.times(&constant, 0.0);
            weights = graph.concat(&[&weights, shares], 1);
            means = graph.concat(&[&means, &constant], 1);
            variances = graph.concat(&[&variances, &none], 1);
        }
        let (mean, sd) = moments(graph, &weights, &means, &variances);
        let mean = graph.within(&mean, lower, upper);
        let centre = graph.mul(&law.weights, &law.means);
        let centre = graph.sum(&centre, 1);
        let bound = graph.within(&centre, lower, upper);
        let mean = graph.op("Where", &[&nothing, &bound, &mean]);
        let sd = graph.op("Where", &[&nothing, &zero, &sd]);

        let slopes = graph.div(&sign, &law.sds);
        let offsets = graph.mul(&slopes, &law.means);
        let offsets = graph.op("Neg", &[&offsets]);
        let signed = graph.mul(&law.weights, &sign);
        let signed = graph.div(&signed, &inside);
        let before = graph.mul(&signed, &at_low);
        let base = graph.sum(&before, 1);
        let place = graph.within(&law.means, lower, upper);
        let (low, high) = bracket(graph, &place, &law.sds);
        let (low, high) = (graph.within(&low, lower, upper), graph.within(&high, lower, upper));
        let curve = Curve { slopes, offsets, weights: signed, base: Some(base), atoms, low, high };
        let (mean, sd) = in_unit(graph, target, &mean, &sd);
        Self { mean, sd, curve, nowhere: Some((nothing, bound)) }
    }

    /// rows × levels, in the target's own unit.
    pub fn quantiles(&self, graph: &mut Graph, levels: &Value, target: &Target) -> Value {
        let mut found = self.curve.quantiles(graph, levels);
        if let Some((nowhere, bound)) = &self.nowhere {
            found = graph.op("Where", &[nowhere, bound, &found]);
        }
        let scaled = graph.times(&found, target.scale);
        let values = graph.plus(&scaled, target.mean);
        rounded::nearest(graph, &target.support, &values)
    }
}

/// The curve of a mixture of Gaussians and atoms.
fn plain_curve(graph: &mut Graph, law: &Law, atoms: Option<(Value, Vec<f64>)>) -> Curve {
    let slopes = graph.op("Reciprocal", &[&law.sds]);
    let offsets = graph.mul(&slopes, &law.means);
    let offsets = graph.op("Neg", &[&offsets]);
    let (mut low, mut high) = bracket(graph, &law.means, &law.sds);
    if let Some((_, places)) = &atoms {
        let least = places.iter().copied().fold(f64::INFINITY, f64::min);
        let most = places.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (low, high) = (graph.at_most(&low, least), graph.at_least(&high, most));
    }
    Curve { slopes, offsets, weights: law.weights.clone(), base: None, atoms, low, high }
}

/// rows × 1: where the lowest component begins and the highest ends.
fn bracket(graph: &mut Graph, means: &Value, sds: &Value) -> (Value, Value) {
    let reach = graph.times(sds, REACH);
    let (low, high) = (graph.sub(means, &reach), graph.add2(means, &reach));
    (graph.reduced("ReduceMin", &low, 1, true), graph.reduced("ReduceMax", &high, 1, true))
}

/// Means and sds in the target's own unit.
pub fn in_unit(graph: &mut Graph, target: &Target, means: &Value, sds: &Value) -> (Value, Value) {
    let scaled = graph.times(means, target.scale);
    (graph.plus(&scaled, target.mean), graph.times(sds, target.scale))
}
