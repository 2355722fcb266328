//! Responsible for mixtures in a graph, in units of the standardised target: those of a head, put together, widened, matched.

use negmm::data::Target;
use negmm::net::{GaussianHead, MixtureHead};

use crate::graph::{Attribute, Graph, Value};

/// ln(e - 1): the variance of a Gaussian head is 1 where its raw number is 0. As the library has it, a float.
const RAW_OF_ONE: f32 = 0.541_324_85;

/// A mixture for each row.
#[derive(Clone)]
pub struct Law {
    /// rows × components.
    pub weights: Value,
    pub means: Value,
    pub sds: Value,
    /// What each component is.
    pub kinds: Vec<Kind>,
}

/// What a component is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Gaussian,
    /// All of its weight at that of the target's atoms.
    Atom(usize),
}

impl Law {
    /// The number of the target's atom that is nearest to a standardised place.
    fn atom_at(place: f64, target: &Target) -> Kind {
        let places = places(target);
        let distance = |at: &usize| (places[*at] - place).abs();
        let nearest = (0..places.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map_or(Kind::Gaussian, Kind::Atom)
    }

    /// The same mixture for every row.
    pub fn constant(graph: &mut Graph, law: &negmm::Mixtures, target: &Target, rows: &Value) -> Self {
        let kinds: Vec<Kind> = (law.sds().iter().zip(law.means()))
            .map(|(sd, mean)| if *sd > 0.0 { Kind::Gaussian } else { Self::atom_at(*mean, target) })
            .collect();
        let means = kinds.iter().zip(law.means()).map(|(kind, mean)| match kind {
            Kind::Gaussian => *mean,
            Kind::Atom(atom) => places(target)[*atom],
        });
        let shape = [1, law.components()];
        let [weights, means, sds] = [law.weights(), &means.collect::<Vec<_>>(), law.sds()].map(|list| {
            let list = graph.doubles(&shape, list);
            graph.repeated(&list, rows)
        });
        Self { weights, means, sds, kinds }
    }

    /// What raw outputs mean to a head of mixtures; its sds are multiplied by `sd_factor`.
    pub fn of_mixture_head(
        graph: &mut Graph,
        head: &MixtureHead,
        raw: &Value,
        sd_factor: f64,
        target: &Target,
    ) -> Self {
        let (gaussians, atoms) = (head.components, head.atoms.list());
        let every = gaussians + atoms.len();
        let logits = slice(graph, raw, 0, every);
        let weights = graph.op_with("Softmax", &[&logits], &[("axis", Attribute::Integer(1))]);
        let means = slice(graph, raw, every, every + gaussians);
        let mut means = bounded(graph, &means, head.mean_bound.map(f64::from));
        let spreads = slice(graph, raw, every + gaussians, every + 2 * gaussians);
        let spreads = softplus(graph, &spreads);
        let spreads = bounded(graph, &spreads, head.sd_ceiling.map(|ceiling| f64::from(ceiling - head.sd_floor)));
        let sds = graph.plus(&spreads, f64::from(head.sd_floor));
        let mut sds = graph.times(&sds, sd_factor);
        let mut kinds = vec![Kind::Gaussian; gaussians];
        if !atoms.is_empty() {
            kinds.extend(atoms.iter().map(|atom| Self::atom_at(f64::from(atom.place), target)));
            let at = kinds[gaussians..].iter().zip(atoms).map(|(kind, atom)| match kind {
                Kind::Atom(number) => places(target)[*number],
                Kind::Gaussian => f64::from(atom.place),
            });
            for (list, constant) in [(&mut means, at.collect::<Vec<_>>()), (&mut sds, vec![0.0; atoms.len()])] {
                let constant = graph.doubles(&[1, atoms.len()], &constant);
                let constant = graph.repeated(&constant, raw);
                *list = graph.concat(&[list, &constant], 1);
            }
        }
        Self { weights, means, sds, kinds }
    }

    /// What raw outputs mean to a Gaussian head.
    pub fn of_gaussian_head(graph: &mut Graph, head: &GaussianHead, raw: &Value, sd_factor: f64) -> Self {
        let means = slice(graph, raw, 0, 1);
        let raw_variances = slice(graph, raw, 1, 2);
        let shifted = graph.plus(&raw_variances, f64::from(RAW_OF_ONE));
        let variances = softplus(graph, &shifted);
        let variances = graph.plus(&variances, f64::from(head.variance_floor));
        let variances = graph.at_most(&variances, f64::from(head.variance_ceiling));
        let sds = graph.op("Sqrt", &[&variances]);
        let sds = graph.times(&sds, sd_factor);
        Self::normal(graph, means, sds)
    }

    /// One normal distribution for each row, of rows × 1.
    pub fn normal(graph: &mut Graph, means: Value, sds: Value) -> Self {
        let one = graph.doubles(&[1, 1], &[1.0]);
        let weights = graph.repeated(&one, &means);
        Self { weights, means, sds, kinds: vec![Kind::Gaussian] }
    }

    /// The components of all, each part with its share of the weight.
    pub fn side_by_side(graph: &mut Graph, parts: &[(f64, Self)]) -> Self {
        if let [(_, alone)] = parts {
            return alone.clone();
        }
        let weights: Vec<Value> = parts.iter().map(|(share, law)| graph.times(&law.weights, *share)).collect();
        let weights = graph.concat(&weights.iter().collect::<Vec<_>>(), 1);
        let means = graph.concat(&parts.iter().map(|(_, law)| &law.means).collect::<Vec<_>>(), 1);
        let sds = graph.concat(&parts.iter().map(|(_, law)| &law.sds).collect::<Vec<_>>(), 1);
        Self { weights, means, sds, kinds: parts.iter().flat_map(|(_, law)| law.kinds.iter().copied()).collect() }
    }

    /// Each Gaussian with so much more variance, rows × 1.
    pub fn widened(mut self, graph: &mut Graph, variance: &Value) -> Self {
        let counts: Vec<f64> = self.kinds.iter().map(|kind| f64::from(*kind == Kind::Gaussian)).collect();
        let counts = graph.doubles(&[1, counts.len()], &counts);
        let more = graph.mul(variance, &counts);
        let variances = graph.mul(&self.sds, &self.sds);
        let variances = graph.add2(&variances, &more);
        self.sds = graph.op("Sqrt", &[&variances]);
        self
    }

    /// One Gaussian with the mixture's mean and variance.
    pub fn matched(self, graph: &mut Graph) -> Self {
        let variances = graph.mul(&self.sds, &self.sds);
        let (mean, sd) = moments(graph, &self.weights, &self.means, &variances);
        Self::normal(graph, mean, sd)
    }

    /// Some of the components.
    fn select(&self, graph: &mut Graph, wanted: impl Fn(&Kind) -> bool) -> [Value; 3] {
        let places = (0..self.kinds.len()).filter(|place| wanted(&self.kinds[*place])).map(|place| place as i64);
        let places = graph.integers(&places.collect::<Vec<_>>());
        [&self.weights, &self.means, &self.sds].map(|list| graph.gather(list, &places, 1))
    }

    /// The Gaussians alone, and the weight of each of the target's atoms, rows × atoms, where there are some.
    pub fn split(&self, graph: &mut Graph, target: &Target) -> (Self, Option<Value>) {
        let count = places(target).len();
        if self.kinds.iter().all(|kind| *kind == Kind::Gaussian) {
            return (self.clone(), None);
        }
        let [weights, means, sds] = self.select(graph, |kind| *kind == Kind::Gaussian);
        let kinds = self.kinds.iter().copied().filter(|kind| *kind == Kind::Gaussian).collect();
        // Atoms of several members at the same place are one.
        let mut which = vec![0.0; self.kinds.len() * count];
        for (component, kind) in self.kinds.iter().enumerate() {
            if let Kind::Atom(atom) = kind {
                which[component * count + atom] = 1.0;
            }
        }
        let which = graph.doubles(&[self.kinds.len(), count], &which);
        let atoms = graph.op("MatMul", &[&self.weights, &which]);
        (Self { weights, means, sds, kinds }, Some(atoms))
    }
}

/// Where the target's atoms lie, standardised.
pub fn places(target: &Target) -> Vec<f64> {
    target.atoms.iter().flat_map(|atoms| &atoms.values).map(|value| (value - target.mean) / target.scale).collect()
}

/// rows × 1 each: mean and sd of mixtures of rows × components.
pub fn moments(graph: &mut Graph, weights: &Value, means: &Value, variances: &Value) -> (Value, Value) {
    let weighed = graph.mul(weights, means);
    let mean = graph.sum(&weighed, 1);
    let distance = graph.sub(means, &mean);
    let square = graph.mul(&distance, &distance);
    let spread = graph.add2(variances, &square);
    let weighed = graph.mul(weights, &spread);
    let variance = graph.sum(&weighed, 1);
    (mean, graph.op("Sqrt", &[&variance]))
}

/// The columns from `start` up to but not `end`.
fn slice(graph: &mut Graph, value: &Value, start: usize, end: usize) -> Value {
    let [start, end, axis] = [start as i64, end as i64, 1].map(|number| graph.integers(&[number]));
    graph.op("Slice", &[value, &start, &end, &axis])
}

/// `bound` tanh(x / bound); x itself without a bound.
fn bounded(graph: &mut Graph, x: &Value, bound: Option<f64>) -> Value {
    let Some(bound) = bound else { return x.clone() };
    let share = graph.times(x, 1.0 / bound);
    let share = graph.op("Tanh", &[&share]);
    graph.times(&share, bound)
}

/// ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|)
fn softplus(graph: &mut Graph, x: &Value) -> Value {
    let linear = graph.at_least(x, 0.0);
    let distance = graph.op("Abs", &[x]);
    let exponent = graph.op("Neg", &[&distance]);
    let small = graph.op("Exp", &[&exponent]);
    let sum = graph.plus(&small, 1.0);
    let logarithm = graph.op("Log", &[&sum]);
    graph.add2(&linear, &logarithm)
}
