//! The model file: safetensors with the predictor as named tensors and everything else as JSON.
//!
//! `__metadata__` has one entry, `negmm`, a JSON text with the format's version, method, encoder, shape of the
//! predictor and training record. Network `n` has tensors `network.n.layer.l.weight` (outputs × inputs) and
//! `network.n.layer.l.bias`, in the usual layout of a linear layer. A network for sequences also has
//! `network.n.lstm.l.weight_ih` (4 hidden × inputs), `weight_hh` (4 hidden × hidden) and `bias`, with the gates in
//! PyTorch's order (its two biases added up). Its target encoding of text columns is in `network.n.levels.c` (levels
//! × mean, spread and rows), one for each `statistics` of the encoder's inputs, in their order. A model with a
//! conformal calibration has `calibration.g.intervals` and `calibration.g.regions` (scores × score and weight) for
//! each group g, the fingerprint of its training rows is in `training_rows`, and the background of explanations in
//! `background.weights`, `features`, `codes` and `times`; versions that do not know them ignore them, so the format version is the same. The tensor `checksum` covers the text and all other tensors, so that a damaged file is refused.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use super::background::{Background, BackgroundShape};
use super::fingerprint::{Fingerprint, FingerprintShape};
use super::tensors::{self, Shape};
use super::{Model, Record};
use crate::accelerator::Helper;
use crate::conformal::{Calibration, CalibrationShape};
use crate::method::{Method, Predictor};
use negmm_data::Encoder;
use negmm_dist::{Error, Result};
use negmm_nn::atomic_file;
use negmm_nn::net::{Head, Stem};
use negmm_nn::tensors::{Tensor, Tensors, text_of};

/// The format versions written, for models and for forecasters; all up to that of models of several targets are read.
const FORMAT: u32 = 1;
const FORECASTER_FORMAT: u32 = 2;
/// The format version of models of several targets.
pub(crate) const JOINT_FORMAT: u32 = 3;
const METADATA_KEY: &str = "negmm";
const CHECKSUM: &str = "checksum";
/// The leading bytes that identify a file, and the maximum size: a hundred times the largest model ever fitted.
const BEGINNING: u64 = 9;
const MOST_BYTES: u64 = 4 << 30;
const FOREIGN: &str = "this is not a negmm model file, or it is damaged";

/// Parsed first, so that a file of a later format is reported as such.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// The description of a model; `F` is what makes a forecaster of it.
#[derive(Serialize, Deserialize)]
struct Metadata<F> {
    format: u32,
    method: Method,
    encoder: Encoder,
    predictor: Shape,
    record: Record,
    /// The parts of a forecaster beside its model.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    forecast: Option<F>,
    /// The conformal calibration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<CalibrationShape>,
    /// The fingerprint of the training rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fingerprint: Option<FingerprintShape>,
    /// The background rows of explanations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    background: Option<BackgroundShape>,
}

pub(super) fn to_bytes(model: &Model) -> Result<Vec<u8>> {
    write::<()>(model, None)
}

/// The bytes of a model, and of what makes a forecaster of it.
pub(crate) fn write<F: Serialize + DeserializeOwned>(model: &Model, forecast: Option<F>) -> Result<Vec<u8>> {
    let (shape, mut tensors) = tensors::write(&model.predictor);
    let (calibration, tails) = model.calibration.as_ref().map(Calibration::write).unzip();
    tensors.extend(tails.into_iter().flatten());
    let (fingerprint, hashes) = model.fingerprint.as_ref().map(Fingerprint::write).unzip();
    tensors.extend(hashes);
    let (background, rows) = model.background.as_ref().map(Background::write).unzip();
    tensors.extend(rows.into_iter().flatten());
    let metadata = Metadata {
        format: if forecast.is_some() { FORECASTER_FORMAT } else { FORMAT },
        method: model.method.clone(),
        encoder: model.encoder.clone(),
        predictor: shape,
        record: model.record.clone(),
        forecast,
        calibration,
        fingerprint,
        background,
    };
    write_document(&metadata, tensors)
}

/// The bytes of a model file: a description and tensors, with a checksum.
///
/// The description is read back: a number that is not finite has no JSON, and the file could not be loaded.
pub(crate) fn write_document<M: Serialize + DeserializeOwned>(
    metadata: &M,
    mut tensors: Vec<Tensor>,
) -> Result<Vec<u8>> {
    let unwritable = |error: &dyn std::fmt::Display| Error::model(format!("the model cannot be written: {error}"));
    let text = serde_json::to_string(metadata).map_err(|error| unwritable(&error))?;
    serde_json::from_str::<M>(&text).map_err(|error| unwritable(&error))?;
    let sum = checksum(&text, tensors.iter().map(|tensor| (&tensor.name[..], &tensor.shape[..], &tensor.bytes[..])));
    let bytes = sum.to_le_bytes().to_vec();
    tensors.push(Tensor { name: CHECKSUM.into(), dtype: Dtype::U64, shape: vec![1], bytes });
    negmm_nn::tensors::to_bytes(METADATA_KEY, text, &tensors).map_err(|error| unwritable(&error))
}

/// The bytes of a model that can be read, by all checks that reading has; otherwise what is wrong with it.
pub(crate) fn read_back<M>(bytes: Vec<u8>, read: impl Fn(&[u8]) -> Result<M>) -> Result<Vec<u8>> {
    match read(&bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(Error::model(format!("the model cannot be written: read back, {error}"))),
    }
}

pub(super) fn load(path: &Path) -> Result<Model> {
    from_bytes(&bytes_of(path)?).map_err(|error| error.in_file(path))
}

/// Writes a file completely or not at all.
pub(crate) fn save(bytes: &[u8], path: &Path) -> Result<()> {
    atomic_file::write(path, bytes).map_err(|error| Error::io(path, error))
}

/// The bytes of the model file at `path`.
pub(crate) fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    all_bytes(file).map_err(|error| error.in_file(path))
}

/// All bytes, if they begin like a model file and are not too many.
pub(crate) fn all_bytes(mut reader: impl Read) -> Result<Vec<u8>> {
    let unread = |error: std::io::Error| Error::unread(error);
    let mut bytes = Vec::new();
    (&mut reader).take(BEGINNING).read_to_end(&mut bytes).map_err(unread)?;
    // The length of the JSON text, and its opening brace: anything else is not read any further.
    let length = bytes.first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
    if bytes.len() < BEGINNING as usize || !(2..MOST_BYTES).contains(&length) || bytes[BEGINNING as usize - 1] != b'{' {
        return Err(Error::model(FOREIGN));
    }
    reader.take(MOST_BYTES).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Error::model(format!("this file is larger than any model ({} GiB)", MOST_BYTES >> 30)));
    }
    Ok(bytes)
}

pub(super) fn from_bytes(bytes: &[u8]) -> Result<Model> {
    match read::<IgnoredAny>(bytes)? {
        (model, None) => Ok(model),
        (_, Some(_)) => Err(Error::model("this file holds a forecaster of series, not a model of rows")),
    }
}

/// A model file whose checksum fits: its description and its tensors.
pub(crate) struct Document<'a> {
    format: u32,
    text: String,
    tensors: SafeTensors<'a>,
}

/// Reads a model file of any kind.
///
/// # Errors
/// When it is none, is damaged, or of a later format.
pub(crate) fn document(bytes: &[u8]) -> Result<Document<'_>> {
    let foreign = |_| Error::model(FOREIGN);
    let tensors = SafeTensors::deserialize(bytes).map_err(foreign)?;
    let text = text_of(bytes, METADATA_KEY)
        .ok_or_else(|| Error::model("this safetensors file is not a negmm model: it has no entry \"negmm\""))?;
    let version: Version = serde_json::from_str(&text).map_err(unreadable)?;
    if version.format == 0 || version.format > JOINT_FORMAT {
        return Err(Error::model(format!(
            "the model file has format {}, and this version of negmm reads formats up to {JOINT_FORMAT}: use a newer negmm",
            version.format
        )));
    }
    let stored = tensors.tensor(CHECKSUM).map_err(|_| damaged("it has no checksum".into()))?;
    let views: Vec<_> = tensors.iter().filter(|(name, _)| *name != CHECKSUM).collect();
    let sum = checksum(&text, views.iter().map(|(name, view)| (*name, view.shape(), view.data())));
    if stored.data() != sum.to_le_bytes() {
        return Err(damaged("its checksum does not fit".into()));
    }
    Ok(Document { format: version.format, text, tensors })
}

impl Document<'_> {
    /// The format version.
    pub(crate) fn format(&self) -> u32 {
        self.format
    }

    /// The description.
    pub(crate) fn metadata<M: DeserializeOwned>(&self) -> Result<M> {
        serde_json::from_str(&self.text).map_err(unreadable)
    }

    /// The tensors.
    pub(crate) fn tensors(&self) -> Tensors<'_> {
        Tensors::new(&self.tensors, "")
    }
}

fn damaged(what: String) -> Error {
    Error::model(format!("the model file is damaged: {what}"))
}

fn unreadable(error: serde_json::Error) -> Error {
    damaged(format!("its description cannot be read ({error})")).with_source(error)
}

/// The model, and the parts of a forecaster.
pub(crate) fn read<F: DeserializeOwned>(bytes: &[u8]) -> Result<(Model, Option<F>)> {
    let document = document(bytes)?;
    if document.format() == JOINT_FORMAT {
        return Err(Error::model("this file holds a model of several targets, not of one"));
    }
    let Metadata::<F> { method, encoder, predictor, record, forecast, calibration, fingerprint, background, .. } =
        document.metadata()?;
    if (document.format() == FORECASTER_FORMAT) != forecast.is_some() {
        return Err(damaged("its format is not that of what it holds".into()));
    }
    encoder.validate()?;
    method.check().map_err(|error| damaged(error.to_string()))?;
    let sizes = (encoder.features(), &encoder.level_counts()[..]);
    let tensors = document.tensors();
    let predictor = tensors::read(predictor, &method, sizes, &tensors).map_err(damaged)?;
    let calibration =
        calibration.map(|shape| Calibration::read(shape, encoder.features(), &tensors)).transpose().map_err(damaged)?;
    let fingerprint = fingerprint.map(|shape| Fingerprint::read(shape, &tensors)).transpose().map_err(damaged)?;
    let background =
        background.map(|shape| Background::read(shape, &encoder, &tensors)).transpose().map_err(damaged)?;
    if matches!(predictor, Predictor::Networks { head: Head::Joint(_), .. }) {
        return Err(damaged("its networks are of several targets".into()));
    }
    check_windows(&predictor, &encoder).map_err(damaged)?;
    record.check().map_err(damaged)?;
    let helper = Helper::default();
    Ok((Model { method, encoder, predictor, record, calibration, fingerprint, background, helper }, forecast))
}

/// Whether the networks' windows match the encoder's.
fn check_windows(predictor: &Predictor, encoder: &Encoder) -> std::result::Result<(), String> {
    let window = encoder.sequence().map(|sequence| sequence.window);
    if predictor.networks().any(|member| member.network.stem.as_ref().and_then(Stem::window) != window) {
        return Err("a network does not read the windows of its sequence".into());
    }
    Ok(())
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
