//! Fitting of models: a table to training jobs, and their results to a model with its training record.

use std::sync::Arc;

use super::background::{BACKGROUND, Background, MOST_BACKGROUND};
use super::encoding::{PreprocessingConfig, encode, encode_scratch};
use super::fingerprint::Fingerprint;
use super::notes::remarks;
use super::{Drift, Model, Record, slopes, time_check};
use crate::accelerator::Helper;
use crate::conformal::Calibration;
use crate::method::{self, FitOutput, Method, OutOfFold};
use negmm_data::{ColumnRoles, EncodedTable, ScratchTable, Table};
use negmm_dist::CensoredTargets;
use negmm_dist::metrics::Metrics;
use negmm_dist::weights::weight_of;
use negmm_dist::{Error, Predictions, Result, Rng, Skill, SkillAccumulator, Warning, streams};
use negmm_nn::train::{History, Job, Trained};

/// Maximum number of rows of a calibration from out-of-fold predictions: more would slow it down and hardly improve
/// it.
const MOST_CALIBRATION: usize = 4_000;

/// Everything that a fit needs except the training itself.
#[derive(Clone, Debug)]
pub struct FitPlan {
    method_plan: method::Plan,
    encoded: Arc<EncodedTable>,
    seed: u64,
    /// Whether the model gets what is known of its training rows: their fingerprint, and how they change in time.
    describes_rows: bool,
    /// Rows that explanations compare with.
    background: Option<Background>,
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
    /// Held-out predictions. For `auto` they cover all rows, or the last part of rows in the order of time; of more than a million
    /// rows they cover 200,000 that are drawn at random.
    pub held_out: HeldOut,
    /// How the oldest and the newest rows differ, where rows have an order in time and something differs.
    pub drift: Option<Drift>,
}

/// Held-out rows and their predictions.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HeldOut {
    /// The rows of the table, from 0.
    pub rows: Vec<usize>,
    /// The fold in which each was held out, from 0; a single one where all networks hold out the same rows.
    pub folds: Vec<u32>,
    /// The target of each, in the original unit; a substitute where it is censored.
    pub y: Vec<f64>,
    /// The censoring interval of each target, where some may be censored.
    pub censored: Option<CensoredTargets>,
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
        encode(table, target, inputs, PreprocessingConfig::of(method, inputs)).map(Arc::new)
    })
    .map(|plan| FitPlan { describes_rows: true, ..plan })?
    .with_background(table, BACKGROUND)
}

/// As [`plan`], where the caller chose the rows of the table for validation, which stop the training and select the checkpoint.
///
/// # Errors
/// As [`plan`], and when the method is `auto`, a row is not in the table, or no other is left.
pub fn plan_validated(
    table: &Table,
    target: &str,
    method: &Method,
    inputs: &ColumnRoles,
    seed: u64,
    validation: Vec<u32>,
) -> Result<FitPlan> {
    let known = validation.iter().all(|row| (*row as usize) < table.rows());
    if !known || validation.len() >= table.rows() || inputs.sequence.is_some() {
        return Err(Error::options("validation rows must be some of the rows of a table that is no sequence, not all"));
    }
    FitPlan::of(table, method, seed, || {
        let mut encoded = encode(table, target, inputs, PreprocessingConfig::of(method, inputs))?;
        encoded.data = Arc::new(Arc::unwrap_or_clone(encoded.data).with_held_out(validation));
        Ok(Arc::new(encoded))
    })
    .map(|plan| FitPlan { describes_rows: true, ..plan })?
    .with_background(table, BACKGROUND)
}

/// As [`plan`], for a table on disk: what is trained, and the model, have the same bits.
///
/// # Errors
/// As [`plan`], and when the disk is full, or the method needs all rows in memory.
pub fn plan_scratch(
    table: &ScratchTable,
    target: &str,
    method: &Method,
    inputs: &ColumnRoles,
    seed: u64,
) -> Result<FitPlan> {
    FitPlan::of(&table.header(), method, seed, || {
        encode_scratch(table, target, inputs, PreprocessingConfig::of(method, inputs)).map(Arc::new)
    })
    .map(|plan| FitPlan { describes_rows: true, ..plan })?
    .with_background_of_scratch(table, BACKGROUND)
}

impl FitPlan {
    /// Plans the fit to the rows of a table, if the method can be fitted to them.
    pub(crate) fn of(
        table: &Table,
        method: &Method,
        seed: u64,
        encode: impl FnOnce() -> Result<Arc<EncodedTable>>,
    ) -> Result<Self> {
        method.check()?;
        let encoded = encode()?;
        if encoded.rows < method.least_rows() {
            return Err(table.locate(Error::data(format!(
                "method {} needs at least {} rows, found {}",
                method.name(),
                method.least_rows(),
                encoded.rows
            ))));
        }
        let method_plan = method.plan(&encoded.data, seed)?;
        // A series may leave its range permanently: windows are not clipped, and neither are rows with times, whose
        // held-out predictions are made in the same way as those of new rows.
        let extrapolates = encoded.encoder.sequence().is_none() && encoded.data.times().is_none();
        Ok(Self { method_plan, encoded, seed, describes_rows: false, background: None, extrapolates })
    }

    /// The same with a background of so many rows of the training table for explanations; 0: none.
    ///
    /// # Errors
    /// When they are too many, or the table is not that of the plan.
    pub fn with_background(self, table: &Table, rows: usize) -> Result<Self> {
        self.with_background_from(|chosen| Ok(table.select_rows(chosen)), rows)
    }

    /// As [`FitPlan::with_background`], for a table on disk.
    ///
    /// # Errors
    /// When they are too many, or the disk fails.
    pub fn with_background_of_scratch(self, table: &ScratchTable, rows: usize) -> Result<Self> {
        self.with_background_from(|chosen| table.select_rows(chosen), rows)
    }

    fn with_background_from(self, select: impl FnOnce(&[usize]) -> Result<Table>, rows: usize) -> Result<Self> {
        if rows > MOST_BACKGROUND {
            return Err(Error::option("background", format!("must be from 0 to {MOST_BACKGROUND}, found {rows}")));
        }
        Ok(Self { background: Background::of_training(select, &self.encoded, rows, self.seed)?, ..self })
    }

    /// The method with every data-dependent setting filled in.
    pub fn method(&self) -> &Method {
        self.method_plan.method()
    }

    /// The same for the model of a forecaster, whose rows are not those of a table: it uses inputs unchanged outside the
    /// training ranges.
    pub(crate) fn without_extrapolation(self) -> Self {
        Self { extrapolates: false, describes_rows: false, background: None, ..self }
    }

    /// The same where the networks go on from those of a model, whose background stays.
    pub(super) fn going_on_from(self, model: &Model) -> Result<Self> {
        let method_plan = self.method_plan.going_on_from(&model.predictor, &model.method)?;
        Ok(Self { method_plan, describes_rows: true, background: model.background.clone(), ..self })
    }

    /// The training jobs; [`FitPlan::finish`] takes their results in this order.
    pub fn jobs(&self) -> Vec<Job> {
        self.method_plan.jobs()
    }

    /// Makes a model from the results of [`FitPlan::jobs`], in their order.
    ///
    /// # Errors
    /// When a job failed, or the results do not belong to the plan's jobs.
    pub fn finish(self, trained: Vec<Result<Trained>>) -> Result<Fitted> {
        let Self { method_plan, encoded, seed, describes_rows, background, extrapolates } = self;
        let FitOutput { method, predictor, histories, out_of_fold } = method_plan.finish(trained)?;
        encoded.data.check_read()?;
        let mut warnings = encoded.warnings.clone();
        warnings.extend(skipped_steps(&histories));
        let mut encoder = encoded.encoder.clone();
        if extrapolates {
            encoder = slopes::measured(encoder, &predictor, &encoded.data)?;
        }
        let mut record = record(seed, encoded.rows, out_of_fold.rows.len(), histories);
        record.time = encoded.time.as_ref().filter(|time| time.is_given).map(|time| time.name.clone());
        record.pool_ratio = out_of_fold.pool_ratio;
        let fingerprint = describes_rows.then(|| fingerprint(&encoded));
        let helper = Helper::default();
        let mut model =
            Model { method, encoder, predictor, record, calibration: None, fingerprint, background, helper };
        let (held_out, baseline) = held_out_predictions(&model, &encoded, out_of_fold);
        let scores = HeldOutScores::new(&model, &held_out, &baseline)?;
        if !model.method.is_baseline() {
            let rows = [&scores.model.rows[..], &scores.baseline.rows];
            warnings.extend(remarks(&held_out, rows, model.encoder.target())?);
        }
        let is_checked = describes_rows && !model.method.is_baseline();
        let (warning, drift) = if is_checked { time_check::check(&encoded, seed)? } else { (None, None) };
        warnings.extend(warning);
        model.record.validation = scores.model.metrics;
        model.record.baseline = scores.baseline.metrics;
        model.record.skill = scores.skill;
        // Steps of a series are not exchangeable.
        if extrapolates && model.method.as_auto().is_some() {
            model.calibration = held_out.calibration(seed)?;
        }
        encoded.data.check_read()?;
        Ok(Fitted { model, warnings, held_out, drift })
    }
}

/// The fingerprint of the rows that count.
fn fingerprint(encoded: &EncodedTable) -> Fingerprint {
    let hashes = encoded.data.row_hashes(&encoded.targets).into_iter().zip(encoded.data.sample_weights());
    Fingerprint::new(hashes.filter(|(_, weight)| **weight > 0.0).map(|(hash, _)| hash).collect())
}

/// A warning about training steps whose gradient was not finite.
fn skipped_steps(histories: &[History]) -> Option<Warning> {
    let skipped: usize = histories.iter().map(|history| history.skipped()).sum();
    (skipped > 0).then(|| Warning::new(format!("{skipped} training steps were not finite and were not taken")))
}

/// The training record, without scores.
fn record(seed: u64, rows: usize, validation_rows: usize, histories: Vec<History>) -> Record {
    let version = env!("CARGO_PKG_VERSION").into();
    Record {
        version,
        seed,
        rows,
        validation_rows,
        validation: None,
        baseline: None,
        skill: None,
        pool_ratio: None,
        time: None,
        histories,
    }
}

/// The held-out rows with their predictions in the target's unit, and the predictions of the constant baseline for them.
fn held_out_predictions(model: &Model, encoded: &EncodedTable, out_of_fold: OutOfFold) -> (HeldOut, Predictions) {
    let OutOfFold { rows, folds, predictions, baseline, .. } = out_of_fold;
    let rows: Vec<usize> = rows.into_iter().map(|row| row as usize).collect();
    let take = |list: &[f64]| rows.iter().map(|row| list[*row]).collect::<Vec<_>>();
    let held_out = HeldOut {
        y: take(&encoded.targets),
        censored: encoded.censored.as_ref().map(|censored| censored.select(&rows)),
        sample_weights: encoded.weights.as_deref().map(take),
        rows: rows.iter().map(|row| encoded.predicted.step(*row)).collect(),
        folds,
        predictions: model.in_target_unit(predictions),
    };
    let baseline = model.encoder.target().baseline(model.without_support(baseline));
    (held_out, baseline)
}

/// Scores of a model and of the constant baseline on the held-out rows.
struct HeldOutScores {
    model: Scores,
    baseline: Scores,
    /// Where targets are observed.
    skill: Option<Skill>,
}

impl HeldOutScores {
    fn new(model: &Model, held_out: &HeldOut, baseline: &Predictions) -> Result<Self> {
        let grid = model.encoder.target().grid;
        let (model, baseline) = (held_out.scores(&held_out.predictions, grid)?, held_out.scores(baseline, grid)?);
        let mut skill = SkillAccumulator::default();
        if held_out.censored.is_none() {
            skill.add(&model.rows, &baseline.rows, held_out.sample_weights.as_deref());
        }
        Ok(Self { model, baseline, skill: skill.finish() })
    }
}

impl HeldOut {
    /// The conformal calibration, where there are several folds and no target is censored.
    fn calibration(&self, seed: u64) -> Result<Option<Calibration>> {
        if self.censored.is_some() || self.folds.iter().all(|fold| *fold == self.folds[0]) {
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
        let Self { y, censored, sample_weights, .. } = self;
        let weights = sample_weights.as_deref();
        let counts = (0..y.len()).any(|row| weight_of(weights, row) > 0.0);
        let (metrics, rows) = match censored {
            Some(censored) => {
                let metrics = counts.then(|| Metrics::of_known(predictions, censored, weights, grid)).transpose()?;
                (metrics, predictions.censored_nll(censored)?)
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
