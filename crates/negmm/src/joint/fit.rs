//! Fitting of joint models.

use std::sync::Arc;

use super::targets::EncodedTargets;
use super::{JointForm, JointMetrics, JointModel, JointPart, JointPredictions, JointRecord};
use crate::method::{JointNetworks, Member, Method};
use crate::model::FitOptions;
use negmm_data::Table;
use negmm_dist::{Error, JointMixtures, Result, Warning};
use negmm_nn::train::{History, Job, Trained, TrainedNetwork, train};

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
    let networks = train_networks(&encoded, method, options)?;
    finish(encoded, method.clone(), options.seed, networks)
}

/// Fewer rows are refused.
const LEAST_ROWS: usize = 10;

/// The form of joint networks, with held-out predictions of standardised targets.
struct NetworkForm {
    form: JointForm,
    /// The held-out rows, in order.
    rows: Vec<usize>,
    held_out: JointMixtures,
    histories: Vec<History>,
}

/// Trains the joint networks of a method. Held-out rows are predicted by the networks that did not learn from them.
fn train_networks(encoded: &EncodedTargets, method: &Method, options: &FitOptions<'_>) -> Result<NetworkForm> {
    let JointNetworks { jobs, statistics, head } = method.joint_networks(&encoded.data, options.seed)?;
    let list: Vec<Job> = jobs.iter().cloned().map(Job::from).collect();
    let trained = train(options.engine, &list, &options.watch).into_iter().collect::<Result<Vec<_>>>()?;
    let (mut members, mut histories) = (Vec::new(), Vec::new());
    let mut held_out: Vec<Vec<JointMixtures>> = vec![Vec::new(); encoded.data.len()];
    // Networks with the same validation rows predict them as a pool; those of folds each their own.
    for ((job, statistics), trained) in jobs.iter().zip(statistics).zip(trained) {
        let Trained::Network(TrainedNetwork { parameters, history, cross_fitted, .. }) = trained else {
            return Err(Error::options("the results are not those of the plan's jobs"));
        };
        let member = |parameters| Member {
            network: job.network.clone(),
            parameters,
            sigma_scale: 1.0,
            statistics: statistics.clone(),
        };
        let halves = match cross_fitted {
            Some([first, second]) => {
                let (one, other) = job.validation.split_at(job.plan.cross_fitting_split);
                vec![(one, member(first)), (other, member(second))]
            }
            None => vec![(&job.validation[..], member(parameters.clone()))],
        };
        for (rows, member) in halves {
            let own = super::networks(&[member], &head, &encoded.data.select(rows))?;
            for (at, row) in rows.iter().enumerate() {
                held_out[*row as usize].push(own.select(&[at]));
            }
        }
        members.push(member(parameters));
        histories.push(history);
    }
    let rows: Vec<usize> = (0..held_out.len()).filter(|row| !held_out[*row].is_empty()).collect();
    let pooled: Vec<JointMixtures> = rows
        .iter()
        .map(|row| {
            let weight = 1.0 / held_out[*row].len() as f64;
            JointMixtures::pool(&held_out[*row].iter().map(|one| (weight, one)).collect::<Vec<_>>())
        })
        .collect();
    if pooled.is_empty() {
        return Err(Error::options("there are no validation rows: leave validation-fraction above 0"));
    }
    Ok(NetworkForm {
        form: JointForm::Networks { members, head },
        rows,
        held_out: JointMixtures::concatenate_rows(&pooled),
        histories,
    })
}

/// The model with its scores on the held-out rows.
fn finish(
    encoded: EncodedTargets,
    method: Method,
    seed: u64,
    NetworkForm { form, rows, held_out, histories }: NetworkForm,
) -> Result<FittedJoint> {
    let covariance = encoded.covariance();
    let EncodedTargets { table, encoder, targets, y, weights, mut warnings, .. } = encoded;
    let d = targets.len();
    let record = JointRecord {
        version: env!("CARGO_PKG_VERSION").into(),
        seed,
        rows: table.rows(),
        validation_rows: rows.len(),
        validation: None,
        baseline: None,
        forms: Vec::new(),
        histories,
    };
    let targets: Arc<[_]> = targets.into();
    let parts = vec![JointPart { weight: 1.0, form }];
    let mut model = JointModel { method, encoder, targets, parts, covariance, record };
    let held_out = if model.method.is_moment_matched() { held_out.moment_matched() } else { held_out };
    let predictions = model.in_units(held_out);
    let y: Vec<f64> = rows.iter().flat_map(|row| &y[row * d..][..d]).copied().collect();
    let weights: Option<Vec<f64>> = weights.map(|list| rows.iter().map(|row| list[*row]).collect());
    let scores = |predictions: &JointPredictions| {
        JointMetrics::new(predictions, &y, weights.as_deref()).ok().filter(JointMetrics::is_finite)
    };
    model.record.validation = scores(&predictions);
    model.record.baseline = scores(&model.baseline(rows.len()));
    if let (Some(own), Some(constant)) = (&model.record.validation, &model.record.baseline)
        && own.energy >= constant.energy
    {
        warnings.push(Warning::new(format!(
            "no better than the constant baseline: the inputs say nothing of the targets that {} held-out rows could show",
            rows.len()
        )));
    }
    Ok(FittedJoint { model, warnings, held_out: rows, predictions })
}
