//! The prediction on the target's support, in a graph: mean, sd and the distribution function for quantiles.

use negmm::data::Target;

use crate::between::Between;
use crate::cdf::{Cdf, REACH};
use crate::graph::{Graph, Value};
use crate::mixture::{Mixture, moments, standardised_atoms};
use crate::normal::{self, DENSITY_AT_0};
use crate::rounded;

/// Mean and sd, rows × 1, in the target's unit; and the distribution function, standardised.
pub struct TargetDistribution {
    pub mean: Value,
    pub sd: Value,
    cdf: Cdf,
    /// rows × 1: whether a row has no probability between the bounds, and the bound that is then its value.
    outside: Option<(Value, Value)>,
}

impl TargetDistribution {
    pub fn new(graph: &mut Graph, mixture: &Mixture, target: &Target) -> Self {
        let (gaussians, atoms) = mixture.split(graph, target);
        let (lower, upper) = target.support.bounds();
        match target.support.step {
            Some(step) => Self::rounded(graph, &gaussians, target, step),
            None if lower.is_infinite() && upper.is_infinite() => {
                Self::unbounded(graph, mixture, &gaussians, atoms, target)
            }
            None => Self::truncated(graph, &gaussians, atoms, target),
        }
    }

    /// Without bounds or grid.
    fn unbounded(
        graph: &mut Graph,
        mixture: &Mixture,
        gaussians: &Mixture,
        atoms: Option<Value>,
        target: &Target,
    ) -> Self {
        let variances = graph.mul(&mixture.sds, &mixture.sds);
        let (mean, sd) = moments(graph, &mixture.weights, &mixture.means, &variances);
        let atoms = atoms.map(|atoms| (atoms, standardised_atoms(target)));
        let cdf = mixture_cdf(graph, gaussians, atoms);
        let (mean, sd) = in_unit(graph, target, &mean, &sd);
        Self { mean, sd, cdf, outside: None }
    }

    /// Rounded to the grid.
    fn rounded(graph: &mut Graph, mixture: &Mixture, target: &Target, step: f64) -> Self {
        let (means, sds) = in_unit(graph, target, &mixture.means, &mixture.sds);
        let (means, variances) = rounded::moments(graph, &target.support, step, &means, &sds);
        let (mean, sd) = moments(graph, &mixture.weights, &means, &variances);
        let (lower, upper) = target.support.bounds();
        let mean = graph.within(&mean, lower, upper);
        Self { mean, sd, cdf: mixture_cdf(graph, mixture, None), outside: None }
    }

    /// Truncated at the bounds.
    fn truncated(graph: &mut Graph, mixture: &Mixture, atoms: Option<Value>, target: &Target) -> Self {
        let (lower, upper) = target.support.bounds();
        let (lower, upper) = ((lower - target.mean) / target.scale, (upper - target.mean) / target.scale);
        let Between { low, high, sign, at_low, mass } =
            Between::new(graph, &mixture.means, &mixture.sds, [lower, upper]);
        let zero = graph.number(0.0);
        let weighted = graph.mul(&mixture.weights, &mass);
        let mut inside = graph.sum(&weighted, 1);
        if let Some(atoms) = &atoms {
            let of_atoms = graph.sum(atoms, 1);
            inside = graph.add2(&inside, &of_atoms);
        }
        let outside = graph.op("Equal", &[&inside, &zero]);
        let inside = graph.at_least(&inside, f64::MIN_POSITIVE);
        // Mean and variance of the truncated components, in sds from the mean.
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
        let moved = graph.mul(&shift, &mixture.sds);
        let means = graph.add2(&mixture.means, &moved);
        let mut means = graph.within(&means, lower, upper);
        let squares = graph.mul(&mixture.sds, &mixture.sds);
        let mut variances = graph.mul(&spread, &squares);
        let mut weights = graph.div(&weighted, &inside);
        let atoms = atoms.map(|atoms| (graph.div(&atoms, &inside), standardised_atoms(target)));
        if let Some((probabilities, values)) = &atoms {
            let constant = graph.doubles(&[1, values.len()], values);
            let constant = graph.repeated(&constant, probabilities);
            let none = graph.times(&constant, 0.0);
            weights = graph.concat(&[&weights, probabilities], 1);
            means = graph.concat(&[&means, &constant], 1);
            variances = graph.concat(&[&variances, &none], 1);
        }
        let (mean, sd) = moments(graph, &weights, &means, &variances);
        let mean = graph.within(&mean, lower, upper);
        let centre = graph.mul(&mixture.weights, &mixture.means);
        let centre = graph.sum(&centre, 1);
        let bound = graph.within(&centre, lower, upper);
        let mean = graph.op("Where", &[&outside, &bound, &mean]);
        let sd = graph.op("Where", &[&outside, &zero, &sd]);

        let slopes = graph.div(&sign, &mixture.sds);
        let offsets = graph.mul(&slopes, &mixture.means);
        let offsets = graph.op("Neg", &[&offsets]);
        let signed = graph.mul(&mixture.weights, &sign);
        let signed = graph.div(&signed, &inside);
        let before = graph.mul(&signed, &at_low);
        let base = graph.sum(&before, 1);
        let position = graph.within(&mixture.means, lower, upper);
        let (low, high) = bracket(graph, &position, &mixture.sds);
        let (low, high) = (graph.within(&low, lower, upper), graph.within(&high, lower, upper));
        let cdf = Cdf { slopes, offsets, weights: signed, base: Some(base), atoms, low, high };
        let (mean, sd) = in_unit(graph, target, &mean, &sd);
        Self { mean, sd, cdf, outside: Some((outside, bound)) }
    }

    /// rows × levels, in the target's unit.
    pub fn quantiles(&self, graph: &mut Graph, levels: &Value, target: &Target) -> Value {
        let mut found = self.cdf.quantiles(graph, levels);
        if let Some((outside, bound)) = &self.outside {
            found = graph.op("Where", &[outside, bound, &found]);
        }
        let scaled = graph.times(&found, target.scale);
        let values = graph.plus(&scaled, target.mean);
        rounded::nearest(graph, &target.support, &values)
    }
}

/// The distribution function of a mixture of Gaussians and atoms.
fn mixture_cdf(graph: &mut Graph, mixture: &Mixture, atoms: Option<(Value, Vec<f64>)>) -> Cdf {
    let slopes = graph.op("Reciprocal", &[&mixture.sds]);
    let offsets = graph.mul(&slopes, &mixture.means);
    let offsets = graph.op("Neg", &[&offsets]);
    let (mut low, mut high) = bracket(graph, &mixture.means, &mixture.sds);
    if let Some((_, values)) = &atoms {
        let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (low, high) = (graph.at_most(&low, smallest), graph.at_least(&high, largest));
    }
    Cdf { slopes, offsets, weights: mixture.weights.clone(), base: None, atoms, low, high }
}

/// rows × 1: a bracket of all quantiles.
fn bracket(graph: &mut Graph, means: &Value, sds: &Value) -> (Value, Value) {
    let reach = graph.times(sds, REACH);
    let (low, high) = (graph.sub(means, &reach), graph.add2(means, &reach));
    (graph.reduced("ReduceMin", &low, 1, true), graph.reduced("ReduceMax", &high, 1, true))
}

/// Means and sds in the target's unit.
pub fn in_unit(graph: &mut Graph, target: &Target, means: &Value, sds: &Value) -> (Value, Value) {
    let scaled = graph.times(means, target.scale);
    (graph.plus(&scaled, target.mean), graph.times(sds, target.scale))
}
