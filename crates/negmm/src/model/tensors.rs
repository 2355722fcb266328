//! A predictor as named tensors, with validation on reading.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::method::{Member, MemberKind, Method, Part, Predictor, PredictorKind, Tail, Tilt};
use negmm_dist::Mixtures;
use negmm_dist::math::lanes::{Chunk, WIDTH};
use negmm_nn::dataset::{STATISTICS, TargetEncoding};
use negmm_nn::forest::{read_forest, write_forest};
use negmm_nn::net::{Head, Network, ParameterView, Stem};
use negmm_nn::ngboost::Boosted;
use negmm_nn::ngboost::{read_trees, write_trees};
use negmm_nn::tensors::{Flaw, Tensor, Tensors, numbers_of};

/// The shape of a predictor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shape {
    kind: PredictorKind,
    /// Sd of a constant normal predictor around the target's mean, in sds of the target; in older files.
    #[serde(default, skip_serializing)]
    sd: Option<f64>,
    /// Weight, mean and sd of each component of a constant predictor, in units of the standardised target.
    #[serde(rename = "law", default, skip_serializing_if = "Vec::is_empty")]
    components: Vec<[f64; 3]>,
    /// The shapes of the networks, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    networks: Vec<Network>,
    /// The kind of their outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<Head>,
    /// The sigma scale of each; 1 where the list is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sd_factors: Vec<f64>,
    /// The stacking weight of each part of a stack.
    #[serde(rename = "shares", default, skip_serializing_if = "Vec::is_empty")]
    stacking_weights: Vec<f64>,
    /// The parts of a stack; the names of their tensors begin with that of the part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Shape>,
    /// The kinds of members of the parts; in older files there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    kinds: Vec<MemberKind>,
    /// The tilt of a stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tilt: Option<Tilt>,
    /// The wide copies of a stack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tails: Vec<Tail>,
    /// The bounds between which the models of a stack are truncated; missing ends are infinite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bounds: Option<[Option<f64>; 2]>,
}

impl Shape {
    fn new(kind: PredictorKind) -> Self {
        Self {
            kind,
            sd: None,
            components: Vec::new(),
            networks: Vec::new(),
            head: None,
            sd_factors: Vec::new(),
            stacking_weights: Vec::new(),
            parts: Vec::new(),
            kinds: Vec::new(),
            tilt: None,
            tails: Vec::new(),
            bounds: None,
        }
    }
}

/// The predictor's shape and its tensors.
pub(crate) fn write(predictor: &Predictor) -> (Shape, Vec<Tensor>) {
    match predictor {
        Predictor::Constant { distribution } => {
            let parts = distribution.weights().iter().zip(distribution.means()).zip(distribution.sds());
            let components = parts.map(|((weight, mean), sd)| [*weight, *mean, *sd]).collect();
            (Shape { components, ..Shape::new(PredictorKind::Constant) }, Vec::new())
        }
        Predictor::Networks { members, head, .. } => {
            let factors = members.iter().map(|member| member.sigma_scale);
            let sd_factors = if factors.clone().all(|factor| factor == 1.0) { Vec::new() } else { factors.collect() };
            let samples = matches!(head, Head::Samples(_));
            let kind = if samples { PredictorKind::Samplers } else { PredictorKind::Networks };
            let (networks, mut tensors) = write_networks(members);
            tensors.extend(
                members
                    .iter()
                    .enumerate()
                    .flat_map(|(number, member)| write_statistics(&network_levels(number), &member.statistics)),
            );
            (Shape { networks, head: Some(*head), sd_factors, ..Shape::new(kind) }, tensors)
        }
        Predictor::Trees { boosted, statistics } => {
            let mut tensors = write_trees(&boosted.to_parts());
            tensors.extend(write_statistics(TREES_LEVELS, statistics));
            (Shape::new(PredictorKind::Trees), tensors)
        }
        Predictor::Forest { forest, statistics } => {
            let mut tensors = write_forest(forest);
            tensors.extend(write_statistics(TREES_LEVELS, statistics));
            (Shape::new(PredictorKind::Forest), tensors)
        }
        Predictor::Stack { parts, tilt, tails, bounds } => {
            let bounds = bounds.map(|ends| ends.map(|end| Some(end).filter(|end| end.is_finite())));
            let mut shape = Shape { tilt: *tilt, tails: tails.clone(), bounds, ..Shape::new(PredictorKind::Stack) };
            let mut all = Vec::new();
            for (number, part) in parts.iter().enumerate() {
                let (part_shape, tensors) = write(&part.predictor);
                shape.stacking_weights.push(part.weight);
                shape.kinds.push(part.kind);
                shape.parts.push(part_shape);
                let renamed = |tensor: Tensor| Tensor { name: part_name(number) + &tensor.name, ..tensor };
                all.extend(tensors.into_iter().map(renamed));
            }
            (shape, all)
        }
    }
}

/// The predictor of that shape, for rows with `features` features and text columns with these numbers of levels.
pub(crate) fn read(
    shape: Shape,
    method: &Method,
    (features, levels): (usize, &[usize]),
    tensors: &Tensors<'_>,
) -> Result<Predictor, Flaw> {
    if !method.makes(shape.kind) {
        return Err("what predicts is not of its method".into());
    }
    let Shape { kind, sd, components, networks, head, sd_factors, stacking_weights, parts, kinds, tilt, tails, bounds } =
        shape;
    check_factors(&sd_factors)?;
    match (kind, head) {
        (PredictorKind::Constant, _) => {
            let components = if components.is_empty() { vec![[1.0, 0.0, sd.unwrap_or(1.0)]] } else { components };
            let list = |at: usize| components.iter().map(|component| component[at]).collect::<Vec<f64>>();
            if components.iter().any(|[_, mean, sd]| mean.abs() > 1e9 || !(*sd == 0.0 || (1e-9..=1e9).contains(sd))) {
                return Err("its constant is out of range".into());
            }
            let distribution =
                Mixtures::new(components.len(), list(0), list(1), list(2)).map_err(|error| error.to_string())?;
            Ok(Predictor::Constant { distribution })
        }
        (PredictorKind::Networks | PredictorKind::Samplers, Some(head)) => {
            if matches!(head, Head::Samples(_)) != (kind == PredictorKind::Samplers) {
                return Err("its head is not of its kind".into());
            }
            head.check()?;
            if !sd_factors.is_empty() && sd_factors.len() != networks.len() {
                return Err("it does not have one sd factor for each network".into());
            }
            let mut members = read_networks(tensors, networks, (features, head.outputs()))?;
            for (member, factor) in members.iter_mut().zip(sd_factors) {
                member.sigma_scale = factor;
            }
            for (number, member) in members.iter_mut().enumerate() {
                member.statistics = read_statistics(tensors, &network_levels(number), levels)?.into();
            }
            Ok(Predictor::Networks { members, head, pool: method.pool() })
        }
        (PredictorKind::Networks | PredictorKind::Samplers, None) => Err("its networks have no head".into()),
        (PredictorKind::Trees, _) => {
            let parts = read_trees(tensors)?;
            let boosted = Boosted::from_parts(&parts, features).map_err(|error| error.to_string())?;
            let statistics = read_statistics(tensors, TREES_LEVELS, levels)?.into();
            Ok(Predictor::Trees { boosted, statistics })
        }
        (PredictorKind::Forest, _) => {
            let forest = read_forest(tensors, features)?;
            let statistics = read_statistics(tensors, TREES_LEVELS, levels)?.into();
            Ok(Predictor::Forest { forest, statistics })
        }
        (PredictorKind::Stack, _) => {
            let sound = !parts.is_empty()
                && tilt.is_none_or(|tilt| tilt.is_sound())
                && tails.iter().all(|tail| tail.weight > 0.0 && (1e-3..=1e3).contains(&tail.scale))
                && tails.iter().map(|tail| tail.weight).sum::<f64>() < 1.0
                && (kinds.is_empty() || kinds.len() == parts.len())
                && stacking_weights.len() == parts.len()
                && stacking_weights.iter().all(|weight| (0.0..=1.0).contains(weight))
                && (stacking_weights.iter().sum::<f64>() - 1.0).abs() < 1e-9
                && parts.iter().all(|part| part.kind != PredictorKind::Stack);
            if !sound {
                return Err("the parts of its stack are out of range".into());
            }
            let read_part = |(number, (weight, part)): (usize, (f64, Shape))| {
                let of_predictor = match part.kind {
                    PredictorKind::Constant => MemberKind::Constant,
                    PredictorKind::Trees => MemberKind::BoostedTrees,
                    PredictorKind::Forest => MemberKind::Forest,
                    _ => MemberKind::Networks,
                };
                let kind = kinds.get(number).copied().unwrap_or(of_predictor);
                let predictor = read(part, method, (features, levels), &tensors.of(&part_name(number)))?;
                Ok(Part { weight, kind, predictor })
            };
            let parts =
                stacking_weights.into_iter().zip(parts).enumerate().map(read_part).collect::<Result<_, Flaw>>()?;
            let bounds =
                bounds.map(|[lower, upper]| [lower.unwrap_or(f64::NEG_INFINITY), upper.unwrap_or(f64::INFINITY)]);
            if bounds.is_some_and(|[lower, upper]| lower.is_nan() || upper.is_nan() || lower >= upper) {
                return Err("the bounds of its stack are out of range".into());
            }
            Ok(Predictor::Stack { parts, tilt, tails, bounds })
        }
    }
}

/// Prefix of the tensor names of a part of a stack.
fn part_name(number: usize) -> String {
    format!("part.{number}.")
}

/// Whether sigma scales give valid sds.
fn check_factors(factors: &[f64]) -> Result<(), Flaw> {
    let sound = factors.iter().all(|factor| (1e-9..=1e9).contains(factor));
    if sound { Ok(()) } else { Err("an sd factor is out of range".into()) }
}

fn write_networks(networks: &[Member]) -> (Vec<Network>, Vec<Tensor>) {
    let tensors = networks.iter().enumerate().flat_map(|(number, trained)| write_network(number, trained));
    (networks.iter().map(|trained| trained.network.clone()).collect(), tensors.collect())
}

/// One or more networks, all with these numbers of inputs and outputs.
fn read_networks(
    tensors: &Tensors<'_>,
    networks: Vec<Network>,
    (inputs, outputs): (usize, usize),
) -> Result<Vec<Member>, Flaw> {
    if networks.is_empty() {
        return Err("it has no network".into());
    }
    let read_one = |(number, network): (usize, Network)| {
        if network.inputs != inputs || network.outputs != outputs {
            return Err("a network does not fit its inputs and outputs".to_string());
        }
        if let Some(stem) = &network.stem {
            stem.check().map_err(|error| error.to_string())?;
            if stem.inputs() != network.inputs {
                return Err("a network does not fit its stem".to_string());
            }
        }
        let weights = read_network(tensors, number, &network)?;
        Ok(Member { network, parameters: weights.into(), sigma_scale: 1.0, statistics: Arc::default() })
    };
    networks.into_iter().enumerate().map(read_one).collect()
}

/// Tensor names of the target encoding of network `number`, and of trees.
fn network_levels(number: usize) -> String {
    format!("network.{number}.levels")
}
const TREES_LEVELS: &str = "trees.levels";

/// A tensor of levels × statistics for each text column.
pub(crate) fn write_statistics(name: &str, statistics: &TargetEncoding) -> Vec<Tensor> {
    let tensor = |(number, column): (usize, &Vec<[f32; STATISTICS]>)| {
        Tensor::new(format!("{name}.{number}"), vec![column.len(), STATISTICS], column.iter().flatten().copied())
    };
    statistics.columns().iter().enumerate().map(tensor).collect()
}

pub(crate) fn read_statistics(tensors: &Tensors<'_>, name: &str, levels: &[usize]) -> Result<TargetEncoding, Flaw> {
    let column = |(number, levels): (usize, &usize)| {
        let name = format!("{name}.{number}");
        let numbers: Vec<f32> = numbers_of(tensors, &name, Some(&[*levels, STATISTICS]))?;
        if !numbers.iter().all(|number| number.is_finite()) {
            return Err(format!("tensor {name:?} is not finite"));
        }
        Ok(numbers.as_chunks().0.to_vec())
    };
    levels.iter().enumerate().map(column).collect::<Result<Vec<_>, Flaw>>().map(TargetEncoding::from_columns)
}

fn weight_name(number: usize, layer: usize) -> String {
    format!("network.{number}.layer.{layer}.weight")
}

fn bias_name(number: usize, layer: usize) -> String {
    format!("network.{number}.layer.{layer}.bias")
}

/// The tensors of the stem of network `number`, with their names in the file.
fn stem_tensors(number: usize, network: &Network) -> Vec<(String, ParameterView)> {
    let tensors = network.stem.iter().flat_map(Stem::tensors);
    tensors.map(|tensor| (format!("network.{number}.{}", tensor.name), tensor)).collect()
}

fn write_network(number: usize, trained: &Member) -> Vec<Tensor> {
    let stem = stem_tensors(number, &trained.network).into_iter();
    let mut tensors: Vec<Tensor> = stem
        .map(|(name, tensor)| Tensor::new(name, tensor.shape.clone(), tensor.read(trained.parameters.chunks())))
        .collect();
    for (index, layer) in trained.network.layers().iter().enumerate() {
        let rows = || trained.parameters.chunks()[layer.range()].chunks_exact(layer.stride);
        let at = |row: &[Chunk], input: usize| row[input / WIDTH].0[input % WIDTH];
        let weight = rows().flat_map(|row| (0..layer.inputs).map(move |input| at(row, input)));
        tensors.push(Tensor::new(weight_name(number, index), vec![layer.outputs, layer.inputs], weight));
        let bias = rows().map(|row| at(row, layer.inputs));
        tensors.push(Tensor::new(bias_name(number, index), vec![layer.outputs], bias));
    }
    tensors
}

/// The weights of network `number`; its tensors are checked against its shape before memory is allocated.
fn read_network(tensors: &Tensors<'_>, number: usize, network: &Network) -> Result<Vec<Chunk>, Flaw> {
    let mut stem = Vec::new();
    for (name, tensor) in stem_tensors(number, network) {
        let values: Vec<f32> = numbers_of(tensors, &name, Some(&tensor.shape))?;
        if !values.iter().all(|number| number.is_finite()) {
            return Err(format!("tensor {name:?} is not finite"));
        }
        stem.push((tensor, values));
    }
    let mut inputs = network.layer_inputs();
    let mut numbers = Vec::new();
    for (index, &outputs) in network.hidden.iter().chain([&network.outputs]).enumerate() {
        let weight: Vec<f32> = numbers_of(tensors, &weight_name(number, index), Some(&[outputs, inputs]))?;
        let bias: Vec<f32> = numbers_of(tensors, &bias_name(number, index), Some(&[outputs]))?;
        if !weight.iter().chain(&bias).all(|number| number.is_finite()) {
            return Err(format!("layer {index} of network {number} is not finite"));
        }
        numbers.push((weight, bias));
        inputs = outputs;
    }
    let mut weights = vec![Chunk::ZERO; network.chunks()];
    for (tensor, values) in &stem {
        tensor.write(&mut weights, values);
    }
    for (layer, (weight, bias)) in network.layers().iter().zip(&numbers) {
        for (output, row) in weights[layer.range()].chunks_exact_mut(layer.stride).enumerate() {
            let inputs = &weight[output * layer.inputs..][..layer.inputs];
            for (input, number) in inputs.iter().chain([&bias[output]]).enumerate() {
                row[input / WIDTH].0[input % WIDTH] = *number;
            }
        }
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Pool;
    use negmm_dist::math::rng::Rng;
    use negmm_nn::net::{Activation, Atom, Atoms, MixtureHead};
    use negmm_nn::tensors::to_bytes;

    #[test]
    fn networks_with_atoms_come_back() {
        let atoms = Atoms::new([(0.1, 0.2), (-3.0, 0.0)].map(|(value, probability)| Atom { value, probability }));
        let head = Head::Mixture(MixtureHead { atoms, ..MixtureHead::new(3, 1e-3) });
        let network = Network {
            inputs: 2,
            stem: None,
            hidden: vec![4],
            residual: false,
            activation: Activation::Silu,
            outputs: head.outputs(),
        };
        let parameters = network.initial_parameters(&mut Rng::new(3, 0)).into();
        let members = vec![Member { network, parameters, sigma_scale: 1.5, statistics: Arc::default() }];
        let predictor = Predictor::Networks { members, head, pool: Pool::Mixture };
        let (shape, tensors) = write(&predictor);
        let shape = serde_json::from_str(&serde_json::to_string(&shape).unwrap()).unwrap();
        let bytes = to_bytes("key", String::new(), &tensors).unwrap();
        let method = Method::by_name("mdn").unwrap();
        let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        let again = read(shape, &method, (2, &[]), &Tensors::new(&file, "")).unwrap();
        assert_eq!(again, predictor);
        assert_eq!(again.components(), Some(5));
    }
}
