//! Fitting of models: a table to training jobs, and their results to a model with its training record.

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

/// Maximum number of rows of a calibration from out-of-fold predictions: more would slow it down and hardly improve
/// it.
const MOST_CALIBRATION: usize = 20_000;

/// Everything that a fit needs except the training itself.
#[derive(Clone, Debug)]
pub struct FitPlan {
    learning: method::Plan,
    prepared: Arc<EncodedTable>,
    seed: u64,
    /// Whether slopes are computed for extrapolation outside the training ranges.
    extrapolates: bool,
}

/// The result of a fit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// Warnings about the data, for the caller to pass on.
    pub warnings: Vec<Warning>,
    /// Held-out predictions. For `auto` they cover all rows, or the last third of a sequence.
    pub held_out: HeldOut,
}

/// Held-out rows and their predictions.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HeldOut {
    /// The rows of the table, from 0.
    pub rows: Vec<usize>,
    /// The fold in which each was held out, from 0; a single one where all networks hold out the same rows.
    pub folds: Vec<u32>,
    /// The target of each, in the original unit; a stand-in where it is censored.
    pub y: Vec<f64>,
    /// The censoring interval of each target, where some may be censored.
    pub known: Option<CensoredTargets>,
    /// Row weights; `None`: all equal.
    pub sample_weights: Option<Vec<f64>>,
    /// One prediction for each, in the target's unit.
    pub predictions: Predictions,
}

/// Plans the fit of `method` for `target`: features, networks, their training rows and seeds.
///
/// # Errors
/// When the data or the method's settings are invalid.
pub fn plan(table: &Table, target: &str, method: &Method, inputs: &ColumnRoles, seed: u64) -> Result<FitPlan> {
    FitPlan::of(table, method, seed, || {
        EncodedTable::new(table, target, inputs, PreprocessingConfig::of(method, inputs)).map(Arc::new)
    })
}

impl FitPlan {
    /// Plans the fit to the rows of a table, if the method can be fitted to them.
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
        // A series may leave its range permanently: windows are not clipped.
        let extrapolates = prepared.encoder.sequence().is_none();
        Ok(Self { learning, prepared, seed, extrapolates })
    }

    /// The method with every data-dependent setting filled in.
    pub fn method(&self) -> &Method {
        self.learning.method()
    }

    /// The same for a model that uses inputs unchanged outside the training ranges.
    pub(crate) fn without_extrapolation(self) -> Self {
        Self { extrapolates: false, ..self }
    }

    /// The training jobs; [`FitPlan::finish`] takes their results in this order.
    pub fn jobs(&self) -> Vec<Job> {
        self.learning.jobs()
    }

    /// Makes a model from the results of [`FitPlan::jobs`], in their order.
    ///
    /// # Errors
    /// When a job failed, or the results do not belong to the plan's jobs.
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
        // Steps of a series are not exchangeable.
        if extrapolates && model.method.as_auto().is_some() {
            model.calibration = held_out.calibration(seed)?;
        }
        Ok(Fitted { model, warnings, held_out })
    }
}

impl HeldOut {
    /// The conformal calibration, where there are several folds and no target is censored.
    fn calibration(&self, seed: u64) -> Result<Option<Calibration>> {
        if self.known.is_some() || self.folds.iter().all(|fold| *fold == self.folds[0]) {
            return Ok(None);
        }
        let mut rows: Vec<usize> = (0..self.y.len()).collect();
        Rng::new(seed, streams::CALIBRATION).shuffle(&mut rows);
        rows.truncate(MOST_CALIBRATION);
        let y: Vec<f64> = rows.iter().map(|row| self.y[*row]).collect();
        Calibration::of_out_of_fold(&self.predictions.select(&rows), &y).map(Some)
    }

    /// The scores of predictions for the rows.
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
    /// `None` where all weights are zero, or where a score is not finite.
    metrics: Option<Metrics>,
    /// CRPS of each row, or the logarithmic score where targets are censored; none where all weights are zero.
    rows: Vec<f64>,
}
