//! Responsible for the two ends of a fit: a table becomes a plan, and what was trained by it a model with its record.

use std::sync::Arc;

use super::remarks::remarks;
use super::{Model, Record, slopes};
use crate::accelerator::Helper;
use crate::conformal::Calibration;
use crate::data::split::repeated;
use crate::data::{Dataset, Encoder, Inputs, Known, PredictedRows, Table, weight_of};
use crate::method::{self, Learnt, Method, OutOfFold};
use crate::metrics::Metrics;
use crate::train::{Job, Trained};
use crate::{Error, Predictions, Result, Rng, streams};

/// More rows than this share with equal inputs are worth a word, where there are more inputs than this.
const FEW_REPEATS: f64 = 0.05;
const FEW_INPUTS: usize = 3;

/// Rows of a calibration by what was predicted out of fold: more would make it slower, and hardly more exact.
const MOST_CALIBRATION: usize = 20_000;

/// Everything that a fit needs but the training itself.
#[derive(Clone, Debug)]
pub struct FitPlan {
    learning: method::Plan,
    /// The encoded rows.
    data: Arc<Dataset>,
    encoder: Encoder,
    seed: u64,
    /// Rows of the table.
    rows: usize,
    /// Which of them are encoded.
    predicted: PredictedRows,
    /// Targets of the encoded rows, in their own unit.
    targets: Vec<f64>,
    /// What is known of them, where that is not all.
    known: Option<Known>,
    /// How much each counts, where that differs.
    weights: Option<Vec<f64>>,
    /// Whether the model is to know how predictions change beyond the ranges of training.
    extrapolates: bool,
    warnings: Vec<String>,
}

/// What a fit gives.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// Sentences about the data that the caller should pass on.
    pub warnings: Vec<String>,
    /// What is said of rows by what has not learnt from them. Of `auto` these are all rows, or the last third of a sequence.
    pub held_out: HeldOut,
}

/// Rows that were set aside, and what is said of them by what has not learnt from them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HeldOut {
    /// The rows of the table, from 0.
    pub rows: Vec<usize>,
    /// For each the fold that it was held out in, from 0; all in one where the same rows are held out by all networks.
    pub folds: Vec<u32>,
    /// The target of each, in its own unit; where it is not known, what stands in its place.
    pub y: Vec<f64>,
    /// What is known of each target, where the model was told that not all are known.
    pub known: Option<Known>,
    /// How much each counts; `None`: all alike.
    pub sample_weights: Option<Vec<f64>>,
    /// One prediction for each, in the target's own unit.
    pub predictions: Predictions,
}

/// Decides everything that fitting `method` to predict `target` takes: which columns become which features, which networks are
/// trained on which rows from which seeds.
///
/// # Errors
/// When the data or the method's settings are at fault.
pub fn plan(table: &Table, target: &str, method: &Method, inputs: &Inputs, seed: u64) -> Result<FitPlan> {
    method.check()?;
    let soft_clip = method.soft_clip().filter(|_| inputs.sequence.is_none());
    let mut encoder =
        Encoder::fit(table, target, inputs)?.keeping_missing(method.keeps_missing()).soft_clipping(soft_clip);
    if inputs.sequence.is_none() && method.normal_scores() {
        encoder = encoder.adding_normal_scores(table, inputs)?;
    }
    let (targets, known) = (encoder.targets(table)?.into_owned(), encoder.known(table)?);
    if table.rows() < method.least_rows() {
        return Err(table.blame(Error::data(format!(
            "method {} needs at least {} rows, found {}",
            method.name(),
            method.least_rows(),
            table.rows()
        ))));
    }
    let mut warnings = encoder.oddities(table);
    let guessed = table.rows() == 1 && matches!(method, Method::Auto(_));
    if guessed {
        warnings.push("a single row says nothing of the spread: the sd is a guess, the target's own size".into());
    }
    if encoder.target().constant && !guessed {
        warnings.push(format!(
            "the target {target:?} is {} in every row: every prediction will be that, with a tiny sd",
            encoder.target().mean
        ));
    }
    if encoder.features() == 0 {
        warnings.push("no input column varies: every row will get the same prediction".into());
    }
    let weights = encoder.sample_weights(table, inputs.weight.as_deref())?.map(|weights| weights.into_owned());
    let (mut data, _) = encoder.encode(table)?;
    data = data.with_atoms(encoder.target().scaled_atoms()).with_bounds(encoder.target().scaled_bounds());
    if let Some((lower, upper)) = encoder.target().intervals(&targets, known.as_ref()) {
        data = data.with_intervals(lower, upper);
    }
    if let Some(weights) = &weights {
        data = data.with_sample_weights(weights);
    }
    if let Some(group) = &inputs.group {
        data = data.with_groups(table.groups(group)?.into_iter());
    } else if inputs.sequence.is_none() && encoder.inputs().len() > FEW_INPUTS {
        // Fewer inputs are the same by chance.
        let repeats = repeated(&data.equal_inputs());
        if repeats > FEW_REPEATS {
            warnings.push(format!(
                "{:.0} % of the rows have the inputs of another row: if rows of one person, machine or batch are alike, name its column \
                 by the option group, and they are held out together",
                100.0 * repeats
            ));
        }
    }
    let data = Arc::new(data);
    let learning = method.plan(&data, seed)?;
    let predicted = encoder.predicted_rows(table.rows());
    // A series may leave its range for good: its windows are as they are.
    let extrapolates = encoder.sequence().is_none();
    let rows = table.rows();
    Ok(FitPlan { learning, data, encoder, seed, rows, predicted, targets, known, weights, extrapolates, warnings })
}

impl FitPlan {
    /// The method with every setting that follows from the data filled in.
    pub fn method(&self) -> &Method {
        self.learning.method()
    }

    /// The same for a model that takes inputs as they are also beyond the ranges of training.
    pub(crate) fn without_extrapolation(self) -> Self {
        Self { extrapolates: false, ..self }
    }

    /// What is to be trained; [`FitPlan::finish`] takes the results in this order.
    pub fn jobs(&self) -> Vec<Job> {
        self.learning.jobs()
    }

    /// Makes a model of what was trained: the results of [`FitPlan::jobs`], in their order.
    ///
    /// # Errors
    /// When a job failed, or the results are not those of the plan's jobs.
    pub fn finish(self, trained: Vec<Result<Trained>>) -> Result<Fitted> {
        let Self {
            learning,
            data,
            encoder,
            seed,
            rows,
            predicted,
            targets,
            known,
            weights,
            extrapolates,
            mut warnings,
        } = self;
        let Learnt { method, predictor, histories, out_of_fold } = learning.finish(trained)?;
        let skipped: usize = histories.iter().map(|history| history.skipped()).sum();
        if skipped > 0 {
            warnings.push(format!("{skipped} training steps were not finite and were not taken"));
        }
        let record = Record {
            version: env!("CARGO_PKG_VERSION").into(),
            seed,
            rows,
            validation_rows: out_of_fold.rows.len(),
            validation: None,
            baseline: None,
            histories,
        };
        let encoder = if extrapolates { slopes::measured(encoder, &predictor, &data)? } else { encoder };
        let mut model = Model { method, encoder, predictor, record, calibration: None, helper: Helper::default() };
        let OutOfFold { rows, folds, predictions, baseline } = out_of_fold;
        let pick = |list: &[f64]| rows.iter().map(|row| list[*row as usize]).collect::<Vec<_>>();
        let held_out = HeldOut {
            y: pick(&targets),
            known: known.map(|known| known.select(&rows.iter().map(|row| *row as usize).collect::<Vec<_>>())),
            sample_weights: weights.as_deref().map(pick),
            rows: rows.iter().map(|row| predicted.step(*row as usize)).collect(),
            folds,
            predictions: model.in_target_unit(predictions),
        };
        let baseline = model.encoder.target().baseline(model.without_support(baseline));
        let grid = model.encoder.target().grid;
        let (ours, theirs) = (held_out.scores(&held_out.predictions, grid)?, held_out.scores(&baseline, grid)?);
        if !matches!(model.method, Method::Constant(_)) {
            warnings.extend(remarks(&held_out, [&ours.rows, &theirs.rows], model.encoder.target())?);
        }
        (model.record.validation, model.record.baseline) = (ours.metrics, theirs.metrics);
        // Steps of a series follow each other: what was is not as likely as what will be.
        if extrapolates && matches!(model.method, Method::Auto(_)) {
            model.calibration = held_out.calibration(seed)?;
        }
        Ok(Fitted { model, warnings, held_out })
    }
}

impl HeldOut {
    /// What makes sets guaranteed ones, where rows were held out in several folds and all their targets are known.
    fn calibration(&self, seed: u64) -> Result<Option<Calibration>> {
        if self.known.is_some() || self.folds.iter().all(|fold| *fold == self.folds[0]) {
            return Ok(None);
        }
        let mut rows: Vec<usize> = (0..self.y.len()).collect();
        Rng::new(seed, streams::CALIBRATION).shuffle(&mut rows);
        rows.truncate(MOST_CALIBRATION);
        let y: Vec<f64> = rows.iter().map(|row| self.y[*row]).collect();
        Calibration::crossed(&self.predictions.select(&rows), &y).map(Some)
    }

    /// The scores of predictions for its rows.
    fn scores(&self, predictions: &Predictions, grid: Option<f64>) -> Result<Scores> {
        let Self { y, known, sample_weights, .. } = self;
        let weights = sample_weights.as_deref();
        let is_known = |row: usize| known.as_ref().is_none_or(|known| known.is_value(row));
        let counts = (0..y.len()).any(|row| is_known(row) && weight_of(weights, row) > 0.0);
        let (metrics, rows) = match known {
            Some(known) => {
                let metrics = counts.then(|| Metrics::of_known(predictions, known, weights, grid)).transpose()?;
                (metrics, predictions.known_nll(known)?)
            }
            None if counts => {
                let (metrics, crps) = Metrics::with_crps(predictions, y, weights, grid)?;
                (Some(metrics), crps)
            }
            None => (None, Vec::new()),
        };
        Ok(Scores { metrics: metrics.filter(Metrics::is_finite), rows })
    }
}

/// The scores of held-out rows.
struct Scores {
    /// Nothing where no row counts, or where a score is not finite.
    metrics: Option<Metrics>,
    /// CRPS of each row, or, where not all targets are known, the logarithmic score; none where no row counts.
    rows: Vec<f64>,
}
