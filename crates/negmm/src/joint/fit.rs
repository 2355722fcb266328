//! Fitting of joint models.

use std::sync::Arc;

use super::networks::{NetworkForm, train_networks};
use super::pool::{self, Pool};
use super::scales::Scales;
use super::targets::EncodedTargets;
use super::{JointMetrics, JointModel, JointPart, JointPredictions, JointRecord};
use crate::method::Method;
use crate::model::{Fingerprint, FitOptions};
use negmm_data::Table;
use negmm_dist::{Error, Result, Warning};

/// The result of a joint fit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FittedJoint {
    /// The model.
    pub model: JointModel,
    /// Warnings about the data.
    pub warnings: Vec<Warning>,
    /// The held-out rows of the table, from 0.
    pub held_out: Vec<usize>,
    /// Their predictions by models that were not trained on them.
    pub predictions: JointPredictions,
}

/// Fits `method` to predict the joint distribution of `targets` from all other columns, with default options.
///
/// # Errors
/// When the data or the method's settings are invalid.
pub fn fit_joint(table: &Table, targets: &[&str], method: &Method) -> Result<JointModel> {
    fit_joint_with(table, targets, method, &FitOptions::default()).map(|fitted| fitted.model)
}

/// Fits `method` to predict the joint distribution of `targets`.
///
/// # Errors
/// When the data or the options are invalid, or the caller asked to stop.
pub fn fit_joint_with(
    table: &Table,
    targets: &[&str],
    method: &Method,
    options: &FitOptions<'_>,
) -> Result<FittedJoint> {
    method.check()?;
    method.check_several_targets()?;
    let names: Vec<String> = targets.iter().map(|name| name.to_string()).collect();
    let encoded = EncodedTargets::new(table, &names, method, &options.inputs, options.seed)?;
    if encoded.table.rows() < LEAST_ROWS {
        return Err(encoded.table.locate(Error::data(format!(
            "a joint model needs at least {LEAST_ROWS} rows, found {}",
            encoded.table.rows()
        ))));
    }
    let complete = encoded.complete_rows();
    if complete < LEAST_ROWS {
        return Err(encoded.table.locate(Error::data(format!(
            "a joint model needs at least {LEAST_ROWS} rows that have all targets, found {complete}"
        ))));
    }
    let pool = match method {
        Method::Auto(auto) => pool::fit(&encoded, auto, options)?,
        _ => {
            let NetworkForm { form, rows, held_out, histories } = train_networks(&encoded, method, options)?;
            let parts = vec![JointPart { weight: 1.0, form }];
            Pool { parts, rows, held_out, histories, energies: Vec::new(), scales: Scales::none(names.len()) }
        }
    };
    finish(encoded, method.clone(), options.seed, pool)
}

/// Held-out rows that are scored at most.
const MOST_SCORED: usize = 2_000;
/// Fewer rows are refused.
const LEAST_ROWS: usize = 10;

/// The model with its scores on the held-out rows.
fn finish(
    encoded: EncodedTargets,
    method: Method,
    seed: u64,
    Pool { parts, rows, held_out, histories, energies, scales }: Pool,
) -> Result<FittedJoint> {
    let covariance = encoded.covariance();
    let EncodedTargets { table, given_rows, encoder, targets, y, weights, mut warnings, .. } = encoded;
    let d = targets.len();
    let record = JointRecord {
        version: env!("CARGO_PKG_VERSION").into(),
        seed,
        rows: table.rows(),
        validation_rows: rows.len(),
        validation: None,
        baseline: None,
        forms: energies,
        histories,
    };
    let targets: Arc<[_]> = targets.into();
    let mut model = JointModel {
        method,
        encoder,
        targets,
        parts,
        covariance,
        scales,
        record,
        calibration: None,
        fingerprint: None,
    };
    let hashes = model.row_hashes(&table)?.into_iter().enumerate();
    let counts = |row: usize| weights.as_ref().is_none_or(|weights| weights[row] > 0.0);
    model.fingerprint = Some(Fingerprint::new(hashes.filter(|(row, _)| counts(*row)).map(|(_, hash)| hash).collect()));
    let held_out = if model.method.is_moment_matched() { held_out.moment_matched() } else { held_out };
    let predictions = model.in_units(held_out);
    let scored: Vec<usize> = (0..rows.len()).step_by(rows.len().div_ceil(MOST_SCORED).max(1)).collect();
    let y: Vec<f64> = scored.iter().flat_map(|at| &y[rows[*at] * d..][..d]).copied().collect();
    let weights: Option<Vec<f64>> = weights.map(|list| scored.iter().map(|at| list[rows[*at]]).collect());
    let scores = |predictions: &JointPredictions| {
        JointMetrics::new(predictions, &y, weights.as_deref()).ok().filter(JointMetrics::is_finite)
    };
    model.record.validation = scores(&predictions.select(&scored));
    model.record.baseline = scores(&model.baseline(scored.len()));
    if let (Some(own), Some(constant)) = (&model.record.validation, &model.record.baseline)
        && own.energy >= constant.energy
    {
        warnings.push(Warning::new(format!(
            "no better than the constant baseline: the inputs say nothing of the targets that {} held-out rows could show",
            rows.len()
        )));
    }
    let held_out = rows.into_iter().map(|row| given_rows[row]).collect();
    Ok(FittedJoint { model, warnings, held_out, predictions })
}
