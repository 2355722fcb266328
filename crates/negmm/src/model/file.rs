//! Responsible for the model file: safetensors with the networks as named tensors and everything else as JSON.
//!
//! `__metadata__` has one entry, `negmm`, a JSON text with the format's version, method, encoder, head, network shapes and
//! record. Network `n` has tensors `network.n.layer.l.weight` (outputs × inputs) and `network.n.layer.l.bias`, as any
//! framework lays out a linear layer. The tensor `checksum` covers the text and all other tensors, so a damaged file is
//! refused instead of predicting nonsense.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::{Model, Record};
use crate::data::Encoder;
use crate::math::lanes::{Chunk, WIDTH};
use crate::method::{Method, Predictor, TrainedNetwork};
use crate::net::{Head, Network};
use crate::{Error, Result};

/// The newest format this version writes; it reads all up to it.
const FORMAT: u32 = 1;
const METADATA_KEY: &str = "negmm";
const CHECKSUM: &str = "checksum";

/// Read first, so that a file of a later format is named as such.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

#[derive(Serialize, Deserialize)]
struct Metadata {
    format: u32,
    method: Method,
    encoder: Encoder,
    networks: Vec<Network>,
    head: Option<Head>,
    record: Record,
}

/// A tensor: name, shape, little-endian bytes.
type Tensor = (String, Vec<usize>, Vec<u8>);

pub(super) fn to_bytes(model: &Model) -> Result<Vec<u8>> {
    let (networks, head): (&[TrainedNetwork], _) = match &model.predictor {
        Predictor::Constant => (&[], None),
        Predictor::Networks { networks, head } => (networks, Some(*head)),
    };
    let metadata = Metadata {
        format: FORMAT,
        method: model.method.clone(),
        encoder: model.encoder.clone(),
        networks: networks.iter().map(|trained| trained.network.clone()).collect(),
        head,
        record: model.record.clone(),
    };
    let unwritable = |error: &dyn std::fmt::Display| Error::model(format!("the model cannot be written: {error}"));
    let text = serde_json::to_string(&metadata).map_err(|error| unwritable(&error))?;
    let mut tensors = Vec::new();
    for (number, trained) in networks.iter().enumerate() {
        for (index, layer) in trained.network.layers().iter().enumerate() {
            let rows = || trained.weights[layer.range()].chunks_exact(layer.stride);
            let number_at = |row: &[Chunk], input: usize| row[input / WIDTH].0[input % WIDTH].to_le_bytes();
            let weight = rows().flat_map(|row| (0..layer.inputs).flat_map(move |input| number_at(row, input)));
            tensors.push((weight_name(number, index), vec![layer.outputs, layer.inputs], weight.collect::<Vec<u8>>()));
            let bias = rows().flat_map(|row| number_at(row, layer.inputs));
            tensors.push((bias_name(number, index), vec![layer.outputs], bias.collect()));
        }
    }
    let sum = checksum(&text, tensors.iter().map(|(name, shape, bytes)| (name.as_str(), &shape[..], &bytes[..])));
    tensors.push((CHECKSUM.into(), vec![1], sum.to_le_bytes().to_vec()));
    let views = tensors.iter().map(|tensor: &Tensor| {
        let dtype = if tensor.0 == CHECKSUM { Dtype::U64 } else { Dtype::F32 };
        TensorView::new(dtype, tensor.1.clone(), &tensor.2).map(|view| (tensor.0.as_str(), view))
    });
    let views = views.collect::<std::result::Result<Vec<_>, _>>().map_err(|error| unwritable(&error))?;
    let metadata = HashMap::from([(METADATA_KEY.to_string(), text)]);
    safetensors::serialize(views, Some(metadata)).map_err(|error| unwritable(&error))
}

pub(super) fn load(path: &Path) -> Result<Model> {
    let bytes = fs::read(path).map_err(|error| Error::io(path, &error))?;
    from_bytes(&bytes).map_err(|error| error.at(path.display().to_string()))
}

pub(super) fn from_bytes(bytes: &[u8]) -> Result<Model> {
    let foreign = |_| Error::model("this is not a negmm model file, or it is damaged");
    let tensors = SafeTensors::deserialize(bytes).map_err(foreign)?;
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(foreign)?;
    let text = header
        .metadata()
        .as_ref()
        .and_then(|entries| entries.get(METADATA_KEY))
        .ok_or_else(|| Error::model("this safetensors file is not a negmm model: it has no entry \"negmm\""))?;
    let damaged = |what: &str| Error::model(format!("the model file is damaged: {what}"));
    let version: Version = serde_json::from_str(text).map_err(|_| damaged("its description cannot be read"))?;
    if version.format == 0 || version.format > FORMAT {
        return Err(Error::model(format!(
            "the model file has format {}, and this version of negmm reads formats up to {FORMAT}: use a newer negmm",
            version.format
        )));
    }
    let stored = tensors.tensor(CHECKSUM).map_err(|_| damaged("it has no checksum"))?;
    let others = tensors.iter().filter(|(name, _)| *name != CHECKSUM);
    let views: Vec<_> = others.collect();
    let sum = checksum(text, views.iter().map(|(name, view)| (*name, view.shape(), view.data())));
    if stored.data() != sum.to_le_bytes() {
        return Err(damaged("its checksum does not fit"));
    }
    let metadata: Metadata =
        serde_json::from_str(text).map_err(|error| damaged(&format!("its description cannot be read ({error})")))?;
    metadata.encoder.validate()?;
    metadata.method.check().map_err(|error| damaged(&error.to_string()))?;
    let predictor = match metadata.head {
        None => Predictor::Constant,
        Some(head) => {
            head.check().map_err(&damaged)?;
            if metadata.networks.is_empty() {
                return Err(damaged("it has no network"));
            }
            let features = metadata.encoder.features();
            let mut networks = Vec::new();
            for (number, network) in metadata.networks.into_iter().enumerate() {
                if network.inputs != features || head.outputs() != network.outputs {
                    return Err(damaged("a network does not fit its inputs and outputs"));
                }
                let weights = read_weights(&tensors, number, &network).map_err(|what| damaged(&what))?;
                networks.push(TrainedNetwork { network, weights });
            }
            Predictor::Networks { networks, head }
        }
    };
    Ok(Model { method: metadata.method, encoder: metadata.encoder, predictor, record: metadata.record })
}

/// The weights of network `number`, its tensors checked against its shape before room is made for them.
fn read_weights(
    tensors: &SafeTensors<'_>,
    number: usize,
    network: &Network,
) -> std::result::Result<Vec<Chunk>, String> {
    let mut inputs = network.inputs;
    for (index, &outputs) in network.hidden.iter().chain([&network.outputs]).enumerate() {
        for (name, shape) in
            [(weight_name(number, index), vec![outputs, inputs]), (bias_name(number, index), vec![outputs])]
        {
            let view = tensors.tensor(&name).map_err(|_| format!("it has no tensor {name:?}"))?;
            if view.dtype() != Dtype::F32 || view.shape() != shape {
                return Err(format!("tensor {name:?} has the wrong shape"));
            }
        }
        inputs = outputs;
    }
    let mut weights = vec![Chunk::ZERO; network.chunks()];
    for (index, layer) in network.layers().iter().enumerate() {
        let numbers = |name: String| -> std::result::Result<Vec<f32>, String> {
            let view = tensors.tensor(&name).map_err(|error| error.to_string())?;
            let read = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let numbers: Vec<f32> = view.data().chunks_exact(4).map(read).collect();
            if numbers.iter().all(|x| x.is_finite()) { Ok(numbers) } else { Err(format!("{name:?} is not finite")) }
        };
        let (weight, bias) = (numbers(weight_name(number, index))?, numbers(bias_name(number, index))?);
        for (output, row) in weights[layer.range()].chunks_exact_mut(layer.stride).enumerate() {
            let inputs = &weight[output * layer.inputs..][..layer.inputs];
            for (input, x) in inputs.iter().chain([&bias[output]]).enumerate() {
                row[input / WIDTH].0[input % WIDTH] = *x;
            }
        }
    }
    Ok(weights)
}

fn weight_name(number: usize, layer: usize) -> String {
    format!("network.{number}.layer.{layer}.weight")
}

fn bias_name(number: usize, layer: usize) -> String {
    format!("network.{number}.layer.{layer}.bias")
}

/// FNV-1a (64 bits) of the text, then of every tensor's name, shape and bytes. Changing any one byte changes it.
fn checksum<'a>(text: &str, tensors: impl Iterator<Item = (&'a str, &'a [usize], &'a [u8])>) -> u64 {
    let mut tensors: Vec<_> = tensors.collect();
    tensors.sort_by_key(|(name, ..)| *name);
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    add(text.as_bytes());
    for (name, shape, bytes) in tensors {
        add(name.as_bytes());
        shape.iter().for_each(|size| add(&(*size as u64).to_le_bytes()));
        add(bytes);
    }
    sum
}
