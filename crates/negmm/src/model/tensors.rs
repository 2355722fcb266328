//! Responsible for a predictor as named tensors, and for refusing tensors that are none.

use safetensors::tensor::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use crate::math::lanes::{Chunk, WIDTH};
use crate::method::ngboost::{Boosted, Parts};
use crate::method::{Method, Predictor, TrainedNetwork};
use crate::net::{Head, Network, Placement, SampleHead, Stem};

/// What is wrong with a file, for a person.
type Flaw = String;

/// What the tensors are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum Shape {
    /// There are none.
    Constant {
        /// Its sd, in sds of the target.
        #[serde(default = "one")]
        sd: f64,
    },
    /// Networks of these shapes.
    Networks {
        /// First to last.
        networks: Vec<Network>,
        /// What their outputs mean.
        head: Head,
        /// What the sds of each are multiplied by; by nothing where the list is empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sd_factors: Vec<f64>,
    },
    /// Networks of these shapes.
    Samplers {
        /// First to last.
        networks: Vec<Network>,
        /// What their outputs mean.
        head: SampleHead,
    },
    /// Boosted trees.
    Trees,
}

fn one() -> f64 {
    1.0
}

/// A named tensor: little-endian numbers.
pub(super) struct Tensor {
    pub(super) name: String,
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    pub(super) bytes: Vec<u8>,
}

impl Tensor {
    fn new<T: Number>(name: impl Into<String>, shape: Vec<usize>, numbers: impl IntoIterator<Item = T>) -> Self {
        let bytes = numbers.into_iter().flat_map(|number| number.bytes().into_iter()).collect();
        Self { name: name.into(), dtype: T::DTYPE, shape, bytes }
    }

    fn list<T: Number>(name: &str, numbers: &[T]) -> Self {
        Self::new(name, vec![numbers.len()], numbers.iter().copied())
    }
}

/// A number that tensors hold.
trait Number: Copy {
    const DTYPE: Dtype;
    fn bytes(self) -> Vec<u8>;
    fn read(bytes: &[u8]) -> Vec<Self>;
}

/// The same three lines for every kind of number.
macro_rules! number {
    ($type:ty, $dtype:expr) => {
        impl Number for $type {
            const DTYPE: Dtype = $dtype;
            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn read(bytes: &[u8]) -> Vec<Self> {
                let (chunks, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
                chunks.iter().map(|chunk| <$type>::from_le_bytes(*chunk)).collect()
            }
        }
    };
}

number!(f32, Dtype::F32);
number!(f64, Dtype::F64);
number!(u16, Dtype::U16);
number!(u32, Dtype::U32);

/// The predictor's shape and its tensors.
pub(super) fn write(predictor: &Predictor) -> (Shape, Vec<Tensor>) {
    match predictor {
        Predictor::Constant { sd } => (Shape::Constant { sd: *sd }, Vec::new()),
        Predictor::Networks { networks, head } => {
            let factors = networks.iter().map(|trained| trained.sd_factor);
            let sd_factors = if factors.clone().all(|factor| factor == 1.0) { Vec::new() } else { factors.collect() };
            let (networks, tensors) = write_networks(networks);
            (Shape::Networks { networks, head: *head, sd_factors }, tensors)
        }
        Predictor::Samplers { networks, head } => {
            let (networks, tensors) = write_networks(networks);
            (Shape::Samplers { networks, head: *head }, tensors)
        }
        Predictor::Trees(boosted) => (Shape::Trees, write_trees(&boosted.to_parts())),
    }
}

/// The predictor of that shape, for rows with `features` features.
pub(super) fn read(
    shape: Shape,
    method: &Method,
    features: usize,
    tensors: &SafeTensors<'_>,
) -> Result<Predictor, Flaw> {
    let fits = match (&shape, method) {
        (Shape::Constant { .. }, Method::Constant(_) | Method::Auto(_)) | (Shape::Trees, Method::NgBoost(_)) => true,
        (Shape::Networks { .. }, method) => {
            !matches!(method, Method::Constant(_) | Method::NgBoost(_)) && !predicts_samples(method)
        }
        (Shape::Samplers { .. }, method) => predicts_samples(method),
        _ => false,
    };
    if !fits {
        return Err("what predicts is not of its method".into());
    }
    match shape {
        Shape::Constant { sd } => {
            check_factors(&[sd])?;
            Ok(Predictor::Constant { sd })
        }
        Shape::Networks { networks, head, sd_factors } => {
            head.check()?;
            check_factors(&sd_factors)?;
            if !sd_factors.is_empty() && sd_factors.len() != networks.len() {
                return Err("it does not have one sd factor for each network".into());
            }
            let mut networks = read_networks(tensors, networks, (features, head.outputs()))?;
            for (trained, factor) in networks.iter_mut().zip(sd_factors) {
                trained.sd_factor = factor;
            }
            Ok(Predictor::Networks { networks, head })
        }
        Shape::Samplers { networks, head } => {
            head.check()?;
            let networks = read_networks(tensors, networks, (features, head.outputs()))?;
            Ok(Predictor::Samplers { networks, head })
        }
        Shape::Trees => {
            let parts = read_trees(tensors)?;
            Boosted::from_parts(&parts, features).map(Predictor::Trees).map_err(|error| error.to_string())
        }
    }
}

/// Whether factors of sds leave sds.
fn check_factors(factors: &[f64]) -> Result<(), Flaw> {
    let sound = factors.iter().all(|factor| (1e-9..=1e9).contains(factor));
    if sound { Ok(()) } else { Err("an sd factor is out of range".into()) }
}

fn predicts_samples(method: &Method) -> bool {
    match method {
        Method::SampleNet(_) => true,
        Method::Ensemble(ensemble) => predicts_samples(&ensemble.member),
        _ => false,
    }
}

fn write_networks(networks: &[TrainedNetwork]) -> (Vec<Network>, Vec<Tensor>) {
    let tensors = networks.iter().enumerate().flat_map(|(number, trained)| write_network(number, trained));
    (networks.iter().map(|trained| trained.network.clone()).collect(), tensors.collect())
}

/// One network or more, each with so many inputs and outputs.
fn read_networks(
    tensors: &SafeTensors<'_>,
    networks: Vec<Network>,
    (inputs, outputs): (usize, usize),
) -> Result<Vec<TrainedNetwork>, Flaw> {
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
        Ok(TrainedNetwork { network, weights, sd_factor: 1.0 })
    };
    networks.into_iter().enumerate().map(read_one).collect()
}

fn weight_name(number: usize, layer: usize) -> String {
    format!("network.{number}.layer.{layer}.weight")
}

fn bias_name(number: usize, layer: usize) -> String {
    format!("network.{number}.layer.{layer}.bias")
}

/// The tensors of the stem of network `number`, each with its name in the file.
fn stem_tensors(number: usize, network: &Network) -> Vec<(String, Placement)> {
    let tensors = network.stem.iter().flat_map(Stem::tensors);
    tensors.map(|tensor| (format!("network.{number}.{}", tensor.name), tensor)).collect()
}

fn write_network(number: usize, trained: &TrainedNetwork) -> Vec<Tensor> {
    let stem = stem_tensors(number, &trained.network).into_iter();
    let mut tensors: Vec<Tensor> =
        stem.map(|(name, tensor)| Tensor::new(name, tensor.shape.clone(), tensor.read(&trained.weights))).collect();
    for (index, layer) in trained.network.layers().iter().enumerate() {
        let rows = || trained.weights[layer.range()].chunks_exact(layer.stride);
        let at = |row: &[Chunk], input: usize| row[input / WIDTH].0[input % WIDTH];
        let weight = rows().flat_map(|row| (0..layer.inputs).map(move |input| at(row, input)));
        tensors.push(Tensor::new(weight_name(number, index), vec![layer.outputs, layer.inputs], weight));
        let bias = rows().map(|row| at(row, layer.inputs));
        tensors.push(Tensor::new(bias_name(number, index), vec![layer.outputs], bias));
    }
    tensors
}

/// The weights of network `number`, its tensors checked against its shape before room is made for them.
fn read_network(tensors: &SafeTensors<'_>, number: usize, network: &Network) -> Result<Vec<Chunk>, Flaw> {
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

fn write_trees(parts: &Parts) -> Vec<Tensor> {
    vec![
        Tensor::list("trees.start", &parts.start),
        Tensor::list("trees.scales", &parts.scales),
        Tensor::list("trees.sizes", &parts.sizes),
        Tensor::list("trees.features", &parts.features),
        Tensor::list("trees.numbers", &parts.numbers),
        Tensor::list("trees.children", &parts.children),
        Tensor::list("trees.missing", &parts.missing),
        Tensor::list("trees.importance", &parts.importance),
    ]
}

fn read_trees(tensors: &SafeTensors<'_>) -> Result<Parts, Flaw> {
    let start: Vec<f64> = numbers_of(tensors, "trees.start", Some(&[4]))?;
    Ok(Parts {
        start: start.try_into().map_err(|_| "its start is not four numbers")?,
        scales: numbers_of(tensors, "trees.scales", None)?,
        sizes: numbers_of(tensors, "trees.sizes", None)?,
        features: numbers_of(tensors, "trees.features", None)?,
        numbers: numbers_of(tensors, "trees.numbers", None)?,
        children: numbers_of(tensors, "trees.children", None)?,
        missing: numbers_of(tensors, "trees.missing", None)?,
        importance: numbers_of(tensors, "trees.importance", None)?,
    })
}

/// The numbers of a tensor, which must be of that kind and, where given, of that shape.
fn numbers_of<T: Number>(tensors: &SafeTensors<'_>, name: &str, shape: Option<&[usize]>) -> Result<Vec<T>, Flaw> {
    let view = tensors.tensor(name).map_err(|_| format!("it has no tensor {name:?}"))?;
    if view.dtype() != T::DTYPE || shape.is_some_and(|shape| view.shape() != shape) {
        return Err(format!("tensor {name:?} has the wrong shape"));
    }
    Ok(T::read(view.data()))
}
