//! Fitting of models: a table to training jobs, and what was trained to a model with its record.

use std::sync::Arc;

use super::encoded_table::{EncodedTable, PreprocessingConfig};
use super::notes::remarks;
use super::{Model, Record, slopes};
use crate::accelerator::Helper;
use crate::conformal::Calibration;
use crate::method::{self, FitOutput, Method, OutOfFold};
use negmm_data::{ColumnRoles, Table};
use negmm_dist::CensoredTargets;
use negmm_dist::metrics::Metrics;
use negmm_dist::weights::weight_of;
use negmm_dist::{Error, Predictions, Result, Rng, Warning, streams};
use negmm_nn::train::{Job, Trained};

/// Rows of a calibration by what was predicted out of fold: more would make it slower, and hardly more exact.
const MOST_CALIBRATION: usize = 20_000;

/// Everything that a fit needs but the training itself.
#[derive(Clone, Debug)]
pub struct FitPlan {
    learning: method::Plan,
    prepared: Arc<EncodedTable>,
    seed: u64,
    /// Whether the model is to know how predictions change beyond the ranges of training.
    extrapolates: bool,
}

/// What a fit gives.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// Sentences about the data that the caller should pass on.
    pub warnings: Vec<Warning>,
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
    pub known: Option<CensoredTargets>,
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
pub fn plan(table: &Table, target: &str, method: &Method, inputs: &ColumnRoles, seed: u64) -> Result<FitPlan> {
    FitPlan::of(table, method, seed, || {
        EncodedTable::new(table, target, inputs, PreprocessingConfig::of(method, inputs)).map(Arc::new)
    })
}

impl FitPlan {
    /// Of the rows of a table, when the method can be fitted to them.
    pub(crate) fn of(
        table: &Table,
        method: &Method,
        seed: u64,
        prepare: impl FnOnce() -> Result<Arc<EncodedTable>>,
    ) -> Result<Self> {
        method.check()?;
        let prepared = prepare()?;
        if prepared.rows < method.least_rows() {
            return Err(table.blame(Error::data(format!(
                "method {} needs at least {} rows, found {}",
                method.name(),
                method.least_rows(),
                prepared.rows
            ))));
        }
        let learning = method.plan(&prepared.data, seed)?;
        // A series may leave its range for good: its windows are as they are.
        let extrapolates = prepared.encoder.sequence().is_none();
        Ok(Self { learning, prepared, seed, extrapolates })
    }

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
        let Self { learning, prepared, seed, extrapolates } = self;
        let EncodedTable { data, encoder, rows, predicted, targets, known, weights, warnings } = &*prepared;
        let (encoder, mut warnings) = (encoder.clone(), warnings.clone());
        let FitOutput { method, predictor, histories, out_of_fold } = learning.finish(trained)?;
        let skipped: usize = histories.iter().map(|history| history.skipped()).sum();
        if skipped > 0 {
            warnings.push(Warning::new(format!("{skipped} training steps were not finite and were not taken")));
        }
        let record = Record {
            version: env!("CARGO_PKG_VERSION").into(),
            seed,
            rows: *rows,
            validation_rows: out_of_fold.rows.len(),
            validation: None,
            baseline: None,
            histories,
        };
        let encoder = if extrapolates { slopes::measured(encoder, &predictor, data)? } else { encoder };
        let mut model = Model { method, encoder, predictor, record, calibration: None, helper: Helper::default() };
        let OutOfFold { rows, folds, predictions, baseline } = out_of_fold;
        let pick = |list: &[f64]| rows.iter().map(|row| list[*row as usize]).collect::<Vec<_>>();
        let held_out = HeldOut {
            y: pick(targets),
            known: known.as_ref().map(|known| known.select(&rows.iter().map(|row| *row as usize).collect::<Vec<_>>())),
            sample_weights: weights.as_deref().map(pick),
            rows: rows.iter().map(|row| predicted.step(*row as usize)).collect(),
            folds,
            predictions: model.in_target_unit(predictions),
        };
        let baseline = model.encoder.target().baseline(model.without_support(baseline));
        let grid = model.encoder.target().grid;
        let (ours, theirs) = (held_out.scores(&held_out.predictions, grid)?, held_out.scores(&baseline, grid)?);
        if !model.method.is_baseline() {
            warnings.extend(remarks(&held_out, [&ours.rows, &theirs.rows], model.encoder.target())?);
        }
        (model.record.validation, model.record.baseline) = (ours.metrics, theirs.metrics);
        // Steps of a series follow each other: what was is not as likely as what will be.
        if extrapolates && model.method.as_auto().is_some() {
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
                (metrics, predictions.censored_nll(known)?)
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
