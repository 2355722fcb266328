//! Mixtures in a graph, in units of the standardised target: from network heads, concatenated, widened, moment-matched.

use negmm::data::Target;
use negmm::method::{Centre, Tail, Tilt};
use negmm::net::{GaussianHead, MixtureHead};

use crate::between::Between;
use crate::graph::{Attribute, Graph, Value};

/// ln(e - 1), which makes the variance of a Gaussian head 1 at a raw output of 0; a float, as in the library.
const RAW_OF_ONE: f32 = 0.541_324_85;

/// The smallest probability between the bounds that a model is divided by, as in the library.
const LEAST_INSIDE: f64 = 1e-9;

/// A mixture for each row.
#[derive(Clone)]
pub struct Mixture {
    /// rows × components.
    pub weights: Value,
    pub means: Value,
    pub sds: Value,
    /// The kind of each component.
    pub kinds: Vec<ComponentKind>,
}

/// The kind of a component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ComponentKind {
    Gaussian,
    /// A point mass at this atom of the target.
    Atom(usize),
}

impl Mixture {
    /// The atom of the target nearest to a standardised value.
    fn atom_at(value: f64, target: &Target) -> ComponentKind {
        let atoms = standardised_atoms(target);
        let distance = |at: &usize| (atoms[*at] - value).abs();
        let nearest = (0..atoms.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map_or(ComponentKind::Gaussian, ComponentKind::Atom)
    }

    /// The same mixture for every row.
    pub fn constant(graph: &mut Graph, mixture: &negmm::Mixtures, target: &Target, rows: &Value) -> Self {
        let weights = graph.doubles(&[1, mixture.components()], mixture.weights());
        let weights = graph.repeated(&weights, rows);
        Self::of_weights(graph, weights, mixture.means(), mixture.sds(), target)
    }

    /// Components that are the same for every row, with weights of rows × components. An sd of 0 is an atom.
    pub fn of_weights(graph: &mut Graph, weights: Value, means: &[f64], sds: &[f64], target: &Target) -> Self {
        let kinds: Vec<ComponentKind> = (sds.iter().zip(means))
            .map(|(sd, mean)| if *sd > 0.0 { ComponentKind::Gaussian } else { Self::atom_at(*mean, target) })
            .collect();
        let means = kinds.iter().zip(means).map(|(kind, mean)| match kind {
            ComponentKind::Gaussian => *mean,
            ComponentKind::Atom(atom) => standardised_atoms(target)[*atom],
        });
        let shape = [1, sds.len()];
        let [means, sds] = [&means.collect::<Vec<_>>()[..], sds].map(|list| {
            let list = graph.doubles(&shape, list);
            graph.repeated(&list, &weights)
        });
        Self { weights, means, sds, kinds }
    }

    /// The mixture of a mixture head's raw outputs, with sds multiplied by `sigma_scale`.
    pub fn of_mixture_head(
        graph: &mut Graph,
        head: &MixtureHead,
        raw: &Value,
        sigma_scale: f64,
        target: &Target,
    ) -> Self {
        let (gaussians, atoms) = (head.components, head.atoms.list());
        let components = gaussians + atoms.len();
        let logits = slice(graph, raw, 0, components);
        let weights = graph.op_with("Softmax", &[&logits], &[("axis", Attribute::Integer(1))]);
        let means = slice(graph, raw, components, components + gaussians);
        let mut means = bounded(graph, &means, head.mean_bound.map(f64::from));
        let scales = slice(graph, raw, components + gaussians, components + 2 * gaussians);
        let scales = softplus(graph, &scales);
        let scales = bounded(graph, &scales, head.sd_ceiling.map(|ceiling| f64::from(ceiling - head.sd_floor)));
        let sds = graph.plus(&scales, f64::from(head.sd_floor));
        let mut sds = graph.times(&sds, sigma_scale);
        let mut kinds = vec![ComponentKind::Gaussian; gaussians];
        if !atoms.is_empty() {
            kinds.extend(atoms.iter().map(|atom| Self::atom_at(f64::from(atom.value), target)));
            let at = kinds[gaussians..].iter().zip(atoms).map(|(kind, atom)| match kind {
                ComponentKind::Atom(number) => standardised_atoms(target)[*number],
                ComponentKind::Gaussian => f64::from(atom.value),
            });
            for (list, constant) in [(&mut means, at.collect::<Vec<_>>()), (&mut sds, vec![0.0; atoms.len()])] {
                let constant = graph.doubles(&[1, atoms.len()], &constant);
                let constant = graph.repeated(&constant, raw);
                *list = graph.concat(&[list, &constant], 1);
            }
        }
        Self { weights, means, sds, kinds }
    }

    /// The normal distribution of a Gaussian head's raw outputs.
    pub fn of_gaussian_head(graph: &mut Graph, head: &GaussianHead, raw: &Value, sigma_scale: f64) -> Self {
        let means = slice(graph, raw, 0, 1);
        let raw_variances = slice(graph, raw, 1, 2);
        let shifted = graph.plus(&raw_variances, f64::from(RAW_OF_ONE));
        let variances = softplus(graph, &shifted);
        let variances = graph.plus(&variances, f64::from(head.variance_floor));
        let variances = graph.at_most(&variances, f64::from(head.variance_ceiling));
        let sds = graph.op("Sqrt", &[&variances]);
        let sds = graph.times(&sds, sigma_scale);
        Self::normal(graph, means, sds)
    }

    /// One normal distribution for each row, of rows × 1.
    pub fn normal(graph: &mut Graph, means: Value, sds: Value) -> Self {
        let one = graph.doubles(&[1, 1], &[1.0]);
        let weights = graph.repeated(&one, &means);
        Self { weights, means, sds, kinds: vec![ComponentKind::Gaussian] }
    }

    /// The components of all mixtures, scaled by their weights.
    pub fn concatenated(graph: &mut Graph, mixtures: &[(f64, Self)]) -> Self {
        if let [(_, single)] = mixtures {
            return single.clone();
        }
        let weights: Vec<Value> =
            mixtures.iter().map(|(weight, mixture)| graph.times(&mixture.weights, *weight)).collect();
        let weights = graph.concat(&weights.iter().collect::<Vec<_>>(), 1);
        let means = graph.concat(&mixtures.iter().map(|(_, mixture)| &mixture.means).collect::<Vec<_>>(), 1);
        let sds = graph.concat(&mixtures.iter().map(|(_, mixture)| &mixture.sds).collect::<Vec<_>>(), 1);
        Self {
            weights,
            means,
            sds,
            kinds: mixtures.iter().flat_map(|(_, mixture)| mixture.kinds.iter().copied()).collect(),
        }
    }

    /// Divides the weights by the probability between the bounds, as in the library's pools of truncated models.
    pub fn divided_by_inside(mut self, graph: &mut Graph, bounds: [f64; 2]) -> Self {
        let is_atom: Vec<f64> = self.kinds.iter().map(|kind| f64::from(*kind != ComponentKind::Gaussian)).collect();
        let shape = [1, is_atom.len()];
        let is_gaussian: Vec<f64> = is_atom.iter().map(|atom| 1.0 - atom).collect();
        let (is_gaussian, is_atom) = (graph.doubles(&shape, &is_gaussian), graph.doubles(&shape, &is_atom));
        // An atom has an sd of 0, and lies between the bounds.
        let sds = graph.add2(&self.sds, &is_atom);
        let Between { mass, .. } = Between::new(graph, &self.means, &sds, bounds);
        let mass = graph.mul(&mass, &is_gaussian);
        let mass = graph.add2(&mass, &is_atom);
        let inside = graph.mul(&self.weights, &mass);
        let inside = graph.sum(&inside, 1);
        let inside = graph.at_least(&inside, LEAST_INSIDE);
        self.weights = graph.div(&self.weights, &inside);
        self
    }

    /// The same with weights that sum to 1.
    pub fn normalised(mut self, graph: &mut Graph) -> Self {
        let total = graph.sum(&self.weights, 1);
        self.weights = graph.div(&self.weights, &total);
        self
    }

    /// Whether each component is Gaussian, as numbers.
    fn is_gaussian(&self) -> Vec<f64> {
        self.kinds.iter().map(|kind| f64::from(*kind == ComponentKind::Gaussian)).collect()
    }

    /// The weights of the Gaussian components, their sum, mean and sd. A row may have atoms alone: the sum is 0 then, and
    /// the sd 1.
    fn gaussian_moments(&self, graph: &mut Graph) -> [Value; 4] {
        let is_gaussian = self.is_gaussian();
        let gaussians = graph.doubles(&[1, is_gaussian.len()], &is_gaussian);
        let own = graph.mul(&self.weights, &gaussians);
        let total = graph.sum(&own, 1);
        let divisor = graph.at_least(&total, f64::MIN_POSITIVE);
        let shares = graph.div(&own, &divisor);
        let variances = graph.mul(&self.sds, &self.sds);
        let (mean, sd) = moments(graph, &shares, &self.means, &variances);
        let (zero, one) = (graph.number(0.0), graph.number(1.0));
        let some = graph.op("Greater", &[&total, &zero]);
        let sd = graph.op("Where", &[&some, &sd, &one]);
        [own, total, mean, sd]
    }

    /// Tilts each row towards its centre: the components of each model, `sizes` of them, are followed by their products
    /// with the bump.
    pub fn tilted(mut self, graph: &mut Graph, tilt: &Tilt, sizes: &[usize]) -> Self {
        let [own, total, mean, sd] = self.gaussian_moments(graph);
        let is_gaussian = self.is_gaussian();
        let shape = [1, is_gaussian.len()];
        let is_atom: Vec<f64> = is_gaussian.iter().map(|gaussian| 1.0 - gaussian).collect();
        let (gaussians, atoms) = (graph.doubles(&shape, &is_gaussian), graph.doubles(&shape, &is_atom));
        // An atom has an sd of 0, and no part in what follows.
        let sds = graph.add2(&self.sds, &atoms);
        let variances = graph.mul(&sds, &sds);
        let (centre, scale) = match tilt.centre {
            Centre::Mean => (mean, sd),
            Centre::Peak => {
                let heights = graph.div(&own, &sds);
                let (first, scale) = self.centred(graph, &heights, &total);
                let square = graph.mul(&scale, &scale);
                let variances = graph.add2(&variances, &square);
                let distances = graph.sub(&self.means, &first);
                let bells = bells(graph, &distances, &variances);
                let spreads = graph.op("Sqrt", &[&variances]);
                let weighted = graph.mul(&own, &bells);
                let densities = graph.div(&weighted, &spreads);
                self.centred(graph, &densities, &total)
            }
        };
        let sd = graph.times(&scale, tilt.width);
        let square = graph.mul(&sd, &sd);
        let sums = graph.add2(&variances, &square);
        let roots = graph.op("Sqrt", &[&sums]);
        let distances = graph.sub(&self.means, &centre);
        let bells = bells(graph, &distances, &sums);
        let ratios = graph.div(&sd, &roots);
        let bumps = graph.mul(&ratios, &bells);
        let weights = graph.mul(&own, &bumps);
        let weights = graph.times(&weights, tilt.amplitude);
        let nearer = graph.div(&square, &sums);
        let nearer = graph.mul(&distances, &nearer);
        let means = graph.add2(&centre, &nearer);
        let sds = graph.mul(&sds, &ratios);
        let sds = graph.mul(&sds, &gaussians);
        let more = graph.sum(&weights, 1);
        let all = graph.add2(&total, &more);
        let all = graph.at_least(&all, f64::MIN_POSITIVE);
        let factor = graph.div(&total, &all);
        let weights = graph.mul(&weights, &factor);
        let factors = graph.mul(&gaussians, &factor);
        let factors = graph.add2(&factors, &atoms);
        let remaining = graph.mul(&self.weights, &factors);
        let count = self.kinds.len();
        let (mut order, mut first) = (Vec::with_capacity(2 * count), 0);
        for size in sizes {
            let model = first..first + size;
            order.extend(model.clone().chain(model.map(|component| count + component)));
            first += size;
        }
        let indices = graph.integers(&order.iter().map(|at| *at as i64).collect::<Vec<_>>());
        let [weights, means, sds] =
            [(&remaining, &weights), (&self.means, &means), (&self.sds, &sds)].map(|(own, products)| {
                let both = graph.concat(&[own, products], 1);
                graph.gather(&both, &indices, 1)
            });
        self.kinds = order.into_iter().map(|at| self.kinds[at % count]).collect();
        Self { weights, means, sds, kinds: self.kinds }
    }

    /// The mean of the components' means with these weights, and the sum of weights `total` divided by theirs, which is the
    /// scale of densities relative to that of a standard normal distribution at 0; 0 and 1 without weights.
    fn centred(&self, graph: &mut Graph, weights: &Value, total: &Value) -> (Value, Value) {
        let sum = graph.sum(weights, 1);
        let weighted = graph.mul(weights, &self.means);
        let weighted = graph.sum(&weighted, 1);
        let divisor = graph.at_least(&sum, f64::MIN_POSITIVE);
        let centre = graph.div(&weighted, &divisor);
        let scale = graph.div(total, &divisor);
        let (zero, one) = (graph.number(0.0), graph.number(1.0));
        let some = graph.op("Greater", &[&sum, &zero]);
        (centre, graph.op("Where", &[&some, &scale, &one]))
    }

    /// Adds wide copies of each row's own distribution. They share the weight of the Gaussian components.
    pub fn with_tails(mut self, graph: &mut Graph, tails: &[Tail]) -> Self {
        if tails.is_empty() {
            return self;
        }
        let is_gaussian = self.is_gaussian();
        let [_, total, mean, sd] = self.gaussian_moments(graph);
        let taken: f64 = tails.iter().map(|tail| tail.weight).sum();
        let remaining: Vec<f64> = is_gaussian.iter().map(|gaussian| 1.0 - taken * gaussian).collect();
        let remaining = graph.doubles(&[1, remaining.len()], &remaining);
        let remaining = graph.mul(&self.weights, &remaining);
        let of_tails = |of: fn(&Tail) -> f64| tails.iter().map(of).collect::<Vec<f64>>();
        let [weights, scales, same] = [of_tails(|tail| tail.weight), of_tails(|tail| tail.scale), of_tails(|_| 1.0)]
            .map(|list| graph.doubles(&[1, tails.len()], &list));
        let [weights, means, sds] =
            [(&total, weights), (&mean, same), (&sd, scales)].map(|(of_row, factors)| graph.mul(of_row, &factors));
        self.weights = graph.concat(&[&remaining, &weights], 1);
        self.means = graph.concat(&[&self.means, &means], 1);
        self.sds = graph.concat(&[&self.sds, &sds], 1);
        self.kinds.extend(vec![ComponentKind::Gaussian; tails.len()]);
        self
    }

    /// Adds variance, rows × 1, to each Gaussian component.
    pub fn widened(mut self, graph: &mut Graph, variance: &Value) -> Self {
        let is_gaussian: Vec<f64> = self.kinds.iter().map(|kind| f64::from(*kind == ComponentKind::Gaussian)).collect();
        let is_gaussian = graph.doubles(&[1, is_gaussian.len()], &is_gaussian);
        let more = graph.mul(variance, &is_gaussian);
        let variances = graph.mul(&self.sds, &self.sds);
        let variances = graph.add2(&variances, &more);
        self.sds = graph.op("Sqrt", &[&variances]);
        self
    }

    /// The normal distribution with the mean and variance of the mixture.
    pub fn moment_matched(self, graph: &mut Graph) -> Self {
        let variances = graph.mul(&self.sds, &self.sds);
        let (mean, sd) = moments(graph, &self.weights, &self.means, &variances);
        Self::normal(graph, mean, sd)
    }

    /// The selected components.
    fn select(&self, graph: &mut Graph, wanted: impl Fn(&ComponentKind) -> bool) -> [Value; 3] {
        let indices = (0..self.kinds.len()).filter(|at| wanted(&self.kinds[*at])).map(|at| at as i64);
        let indices = graph.integers(&indices.collect::<Vec<_>>());
        [&self.weights, &self.means, &self.sds].map(|list| graph.gather(list, &indices, 1))
    }

    /// The Gaussian components, and the weights of the target's atoms, rows × atoms, if any.
    pub fn split(&self, graph: &mut Graph, target: &Target) -> (Self, Option<Value>) {
        let count = standardised_atoms(target).len();
        if self.kinds.iter().all(|kind| *kind == ComponentKind::Gaussian) {
            return (self.clone(), None);
        }
        let [weights, means, sds] = self.select(graph, |kind| *kind == ComponentKind::Gaussian);
        let kinds = self.kinds.iter().copied().filter(|kind| *kind == ComponentKind::Gaussian).collect();
        // Atoms of several members at the same value are added.
        let mut indicator = vec![0.0; self.kinds.len() * count];
        for (component, kind) in self.kinds.iter().enumerate() {
            if let ComponentKind::Atom(atom) = kind {
                indicator[component * count + atom] = 1.0;
            }
        }
        let indicator = graph.doubles(&[self.kinds.len(), count], &indicator);
        let atoms = graph.op("MatMul", &[&self.weights, &indicator]);
        (Self { weights, means, sds, kinds }, Some(atoms))
    }
}

/// exp(-distance² / (2 variance)).
fn bells(graph: &mut Graph, distances: &Value, variances: &Value) -> Value {
    let squares = graph.mul(distances, distances);
    let squares = graph.div(&squares, variances);
    let exponents = graph.times(&squares, -0.5);
    graph.op("Exp", &[&exponents])
}

/// The values of the target's atoms, standardised.
pub fn standardised_atoms(target: &Target) -> Vec<f64> {
    target.atoms.iter().flat_map(|atoms| &atoms.values).map(|value| (value - target.mean) / target.scale).collect()
}

/// rows × 1 each: mean and sd of mixtures of rows × components.
pub fn moments(graph: &mut Graph, weights: &Value, means: &Value, variances: &Value) -> (Value, Value) {
    let weighted = graph.mul(weights, means);
    let mean = graph.sum(&weighted, 1);
    let distance = graph.sub(means, &mean);
    let square = graph.mul(&distance, &distance);
    let second_moment = graph.add2(variances, &square);
    let weighted = graph.mul(weights, &second_moment);
    let variance = graph.sum(&weighted, 1);
    (mean, graph.op("Sqrt", &[&variance]))
}

/// The columns `start..end`.
pub fn slice(graph: &mut Graph, value: &Value, start: usize, end: usize) -> Value {
    let [start, end, axis] = [start as i64, end as i64, 1].map(|number| graph.integers(&[number]));
    graph.op("Slice", &[value, &start, &end, &axis])
}

/// `bound` tanh(x / bound); x itself without a bound.
fn bounded(graph: &mut Graph, x: &Value, bound: Option<f64>) -> Value {
    let Some(bound) = bound else { return x.clone() };
    let scaled = graph.times(x, 1.0 / bound);
    let tanh = graph.op("Tanh", &[&scaled]);
    graph.times(&tanh, bound)
}

/// ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|)
pub fn softplus(graph: &mut Graph, x: &Value) -> Value {
    let linear = graph.at_least(x, 0.0);
    let distance = graph.op("Abs", &[x]);
    let exponent = graph.op("Neg", &[&distance]);
    let small = graph.op("Exp", &[&exponent]);
    let sum = graph.plus(&small, 1.0);
    let logarithm = graph.op("Log", &[&sum]);
    graph.add2(&linear, &logarithm)
}
