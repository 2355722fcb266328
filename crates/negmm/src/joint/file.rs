//! The file of a joint model: safetensors with networks as named tensors and everything else as JSON, as that of a model of one
//! target.

use serde::{Deserialize, Serialize};

use safetensors::tensor::Dtype;

use super::scales::Scales;
use super::{Chain, Copula, JointForm, JointLinear, JointModel, JointPart, JointRecord, predictor};
use crate::conformal::{Calibration, CalibrationShape};
use crate::method::{Method, Predictor};
use crate::model::{
    Document, Fingerprint, FingerprintShape, JOINT_FORMAT, Model, PredictorShape, document, read_predictor,
    read_statistics, write_document, write_predictor, write_statistics,
};
use negmm_data::{Encoder, Target};
use negmm_dist::{Error, Result};
use negmm_nn::forest::{read_joint_forest, write_joint_forest};
use negmm_nn::net::Head;
use negmm_nn::tensors::{Flaw, Tensor, Tensors, numbers_of};

#[derive(Serialize, Deserialize)]
struct Metadata {
    format: u32,
    method: Method,
    encoder: Encoder,
    targets: Vec<Target>,
    parts: Vec<PartMetadata>,
    covariance: Vec<f64>,
    sigma_scales: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    direction_scales: Option<Vec<f64>>,
    record: JointRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<CalibrationShape>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fingerprint: Option<FingerprintShape>,
}

#[derive(Serialize, Deserialize)]
struct PartMetadata {
    weight: f64,
    form: FormMetadata,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FormMetadata {
    Networks(Box<PredictorShape>),
    /// The correlation matrix; models are tensors of the bytes of their files.
    Copula {
        correlation: Vec<f64>,
    },
    Chain,
    Linear(JointLinear),
    Constant {
        covariance: Vec<f64>,
    },
    /// Trees, leaves and target encoding are tensors.
    Forest,
}

/// The name of a forest's target encoding.
const LEVELS: &str = "levels";

fn prefix(part: usize) -> String {
    format!("part.{part}.")
}

pub(super) fn write(model: &JointModel) -> Result<Vec<u8>> {
    let mut tensors: Vec<Tensor> = Vec::new();
    let mut parts = Vec::with_capacity(model.parts.len());
    for (number, JointPart { weight, form }) in model.parts.iter().enumerate() {
        let form = match form {
            JointForm::Networks { members, head } => {
                let (shape, own) = write_predictor(&predictor(members, *head));
                let renamed = |tensor: Tensor| Tensor { name: prefix(number) + &tensor.name, ..tensor };
                tensors.extend(own.into_iter().map(renamed));
                FormMetadata::Networks(Box::new(shape))
            }
            JointForm::Copula(Copula { models, correlation }) => {
                tensors.extend(write_models(number, models)?);
                FormMetadata::Copula { correlation: correlation.clone() }
            }
            JointForm::Chain(Chain { links }) => {
                tensors.extend(write_models(number, links)?);
                FormMetadata::Chain
            }
            JointForm::Linear(linear) => FormMetadata::Linear(linear.clone()),
            JointForm::Constant { covariance } => FormMetadata::Constant { covariance: covariance.clone() },
            JointForm::Forest { forest, statistics } => {
                let own = write_joint_forest(forest).into_iter().chain(write_statistics(LEVELS, statistics));
                tensors.extend(own.map(|tensor| Tensor { name: prefix(number) + &tensor.name, ..tensor }));
                FormMetadata::Forest
            }
        };
        parts.push(PartMetadata { weight: *weight, form });
    }
    let calibration = model.calibration.as_ref().map(|calibration| {
        let (shape, own) = calibration.write();
        tensors.extend(own);
        shape
    });
    let (fingerprint, hashes) = model.fingerprint.as_ref().map(Fingerprint::write).unzip();
    tensors.extend(hashes);
    let metadata = Metadata {
        format: JOINT_FORMAT,
        method: model.method.clone(),
        encoder: model.encoder.clone(),
        targets: model.targets.to_vec(),
        parts,
        covariance: model.covariance.clone(),
        sigma_scales: model.scales.of_targets.clone(),
        direction_scales: model.scales.of_directions.clone(),
        record: model.record.clone(),
        calibration,
        fingerprint,
    };
    write_document(&metadata, tensors)
}

/// The joint model in a file; `None` where it holds a model of another kind.
pub(super) fn read(bytes: &[u8]) -> Result<Option<JointModel>> {
    let document = document(bytes)?;
    if document.format() != JOINT_FORMAT {
        return Ok(None);
    }
    of_document(&document).map(Some)
}

fn of_document(document: &Document<'_>) -> Result<JointModel> {
    let damaged = |what: Flaw| Error::model(format!("the model file is damaged: {what}"));
    let Metadata {
        method,
        encoder,
        targets,
        parts,
        covariance,
        sigma_scales,
        direction_scales,
        record,
        calibration,
        fingerprint,
        ..
    } = document.metadata()?;
    encoder.validate()?;
    method.check().map_err(|error| damaged(error.to_string()))?;
    method.check_several_targets().map_err(|error| damaged(error.to_string()))?;
    let names: Vec<String> = targets.iter().map(|target| target.name.clone()).collect();
    super::targets::check_names(&names).map_err(|error| damaged(error.to_string()))?;
    targets.iter().try_for_each(Target::check)?;
    let d = targets.len();
    if !is_covariance(&covariance, d) {
        return Err(damaged("the covariance of its targets is out of range".into()));
    }
    if sigma_scales.len() != d || !sigma_scales.iter().all(|scale| (1e-3..=1e3).contains(scale)) {
        return Err(damaged("its sigma scales are out of range".into()));
    }
    let in_range = |matrix: &Vec<f64>| matrix.len() == d * d && matrix.iter().all(|entry| entry.abs() <= 1e3);
    if !direction_scales.as_ref().is_none_or(in_range) {
        return Err(damaged("the scales of its directions are out of range".into()));
    }
    let scales = Scales { of_targets: sigma_scales, of_directions: direction_scales };
    let total: f64 = parts.iter().map(|part| part.weight).sum();
    if !parts.iter().all(|part| part.weight > 0.0) || (total - 1.0).abs() > 1e-9 {
        return Err(damaged("the weights of its forms are out of range".into()));
    }
    let tensors = document.tensors();
    let read_part = |(number, PartMetadata { weight, form }): (usize, PartMetadata)| {
        let form = read_form(form, &names, (&method, &encoder), &tensors.of(&prefix(number)))?;
        Ok(JointPart { weight, form })
    };
    let parts = parts.into_iter().enumerate().map(read_part).collect::<std::result::Result<Vec<_>, Flaw>>();
    let parts = parts.map_err(damaged)?;
    let calibration = calibration.map(|shape| Calibration::read(shape, encoder.features(), &tensors)).transpose();
    let calibration = calibration.map_err(damaged)?;
    let fingerprint = fingerprint.map(|shape| Fingerprint::read(shape, &tensors)).transpose().map_err(damaged)?;
    let targets = targets.into();
    Ok(JointModel { method, encoder, targets, parts, covariance, scales, record, calibration, fingerprint })
}

/// Whether a list can be the covariance of this number of targets.
fn is_covariance(list: &[f64], targets: usize) -> bool {
    list.len() == targets * targets && list.iter().all(|entry| entry.is_finite())
}

fn model_name(number: usize) -> String {
    format!("model.{number}")
}

/// The files of models, as tensors of bytes.
fn write_models(part: usize, models: &[Model]) -> Result<Vec<Tensor>> {
    let tensor = |(number, model): (usize, &Model)| {
        let bytes = model.to_bytes()?;
        Ok(Tensor { name: prefix(part) + &model_name(number), dtype: Dtype::U8, shape: vec![bytes.len()], bytes })
    };
    models.iter().enumerate().map(tensor).collect()
}

/// The models of these targets.
fn read_models(targets: &[String], tensors: &Tensors<'_>) -> std::result::Result<Vec<Model>, Flaw> {
    let model = |(number, name): (usize, &String)| {
        let bytes: Vec<u8> = numbers_of(tensors, &model_name(number), None)?;
        let model = Model::from_bytes(&bytes).map_err(|error| error.to_string())?;
        let mixtures = model.components().is_some() && model.encoder().sequence().is_none();
        if model.encoder().target().name != *name || !mixtures {
            return Err("a model is not of its target".to_string());
        }
        Ok(model)
    };
    targets.iter().enumerate().map(model).collect()
}

fn read_form(
    form: FormMetadata,
    targets: &[String],
    (method, encoder): (&Method, &Encoder),
    tensors: &Tensors<'_>,
) -> std::result::Result<JointForm, Flaw> {
    match form {
        FormMetadata::Networks(shape) => {
            let sizes = (encoder.features(), &encoder.level_counts()[..]);
            match read_predictor(*shape, method, sizes, tensors)? {
                Predictor::Networks { members, head: Head::Joint(head), .. } if head.targets == targets.len() => {
                    Ok(JointForm::Networks { members, head })
                }
                _ => Err("its networks are not of its targets".into()),
            }
        }
        FormMetadata::Copula { correlation } => {
            let sound = correlation.len() == targets.len() * targets.len()
                && correlation.iter().all(|entry| (-1.0..=1.0).contains(entry));
            if !sound {
                return Err("its correlation matrix is out of range".into());
            }
            Ok(JointForm::Copula(Copula { models: read_models(targets, tensors)?, correlation }))
        }
        FormMetadata::Chain => Ok(JointForm::Chain(Chain { links: read_models(targets, tensors)? })),
        FormMetadata::Forest => {
            let forest = read_joint_forest(tensors, encoder.features(), targets.len())?;
            let statistics = read_statistics(tensors, LEVELS, &encoder.level_counts())?.into();
            Ok(JointForm::Forest { forest, statistics })
        }
        FormMetadata::Linear(linear) if linear.is_sound(targets.len(), encoder.features()) => {
            Ok(JointForm::Linear(linear))
        }
        FormMetadata::Linear(_) => Err("its linear model is out of range".into()),
        FormMetadata::Constant { covariance } if is_covariance(&covariance, targets.len()) => {
            Ok(JointForm::Constant { covariance })
        }
        FormMetadata::Constant { .. } => Err("the covariance of its constant is out of range".into()),
    }
}
