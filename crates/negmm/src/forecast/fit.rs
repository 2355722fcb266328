//! Fitting of forecasters: series to training jobs, and their results to a forecaster.

use super::baseline::Baseline;
use super::copula::Copula;
use super::features::{BLOCK, CHANGE, Past, inputs};
use super::forecaster::{Rest, Score};
use super::held_out::HeldOutPoints;
use super::local_scale::LocationScale;
use super::points::{block, training_points};
use super::scale::FAR;
use super::{ForecastPoint, Forecaster, Histories, Series, SeriesSpec, SeriesTransform};
use crate::FitOptions;
use crate::method::{Auto, LEAST_TRAINED, Method, Preset};
use crate::model::{FitPlan, Fitted, HeldOut, plan};
use negmm_data::{Column, ColumnRoles, Table, TargetSpec};
use negmm_dist::quote::quoted;
use negmm_dist::{Error, Predictions, Result, Support, Warning};
use negmm_nn::train::{Job, Trained, train};

/// Folds of time; each consists of two blocks. With a horizon of one step there are half as many folds from
/// `FEWEST_ROWS` rows on, with two networks per fold below `FEW_ROWS` rows (at no extra cost) and one above. These
/// settings had the best held-out scores.
const FOLDS: usize = 10;
const FEWEST_ROWS: usize = 2_000;
const FEW_ROWS: usize = 3_000;
/// Dropout and embedding frequency for horizons of several steps: up to three rows have the same origin, so that networks
/// overfit more easily, and distant steps depend smoothly on the past. Both had the best held-out scores.
const DROPOUT_AHEAD: f64 = 0.2;
const FREQUENCY_AHEAD: f64 = 0.1;
/// Optimiser steps for horizons of several steps, and the number of rows from which they apply (with a fourth layer):
/// with dropout, training takes longer.
const STEPS_AHEAD: usize = 5_000;
const ROWS_AHEAD: usize = 5_000;
/// Units per layer with which the settings above were tuned.
const UNITS: usize = 128;
/// Number of rows from which batches are larger.
const MANY_ROWS: usize = 15_000;
/// Dropout for a horizon of one step with few rows; with many rows there is none.
const DROPOUT_OF_FEW: f64 = 0.1;

/// The result of a fit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FittedForecaster {
    /// The forecaster.
    pub forecaster: Forecaster,
    /// Warnings about the data, for the caller to pass on.
    pub warnings: Vec<Warning>,
}

/// Everything that fitting a forecaster needs except the training itself.
#[derive(Clone, Debug)]
pub struct ForecastPlan {
    learning: FitPlan,
    transform: SeriesTransform,
    series: Vec<Series>,
    points: Vec<ForecastPoint>,
    scaling: Vec<LocationScale>,
    changes: Vec<f64>,
    outcome: TargetSpec,
    warnings: Vec<Warning>,
}

/// Fits a forecaster in one call: plan, train, finish. `auto` has the training settings.
///
/// # Errors
/// When the data or the settings are invalid, or the caller asked to stop.
pub fn fit_forecaster(
    table: &Table,
    spec: &SeriesSpec,
    auto: &Auto,
    options: &FitOptions<'_>,
) -> Result<FittedForecaster> {
    let plan = ForecastPlan::new(table, spec, auto, &options.inputs.target_spec, options.seed)?;
    let trained = train(options.engine, &plan.jobs(), &options.watch);
    plan.finish(trained)
}

impl ForecastPlan {
    /// Plans the fit of a forecaster to the series in `table`.
    ///
    /// # Errors
    /// When the data or the settings are invalid.
    pub fn new(table: &Table, spec: &SeriesSpec, auto: &Auto, outcome: &TargetSpec, seed: u64) -> Result<Self> {
        spec.check()?;
        if outcome.is_censored() {
            return Err(Error::options("the steps of a sequence cannot be censored"));
        }
        let histories = Histories::read(table, spec, None)?;
        let transform = SeriesTransform::choose(spec, &histories);
        let Histories { series, mut warnings, .. } = histories;
        let points = training_points(&series, &transform, seed);
        let pasts: Vec<Past<'_>> = series.iter().map(|series| Past::new(series, &transform)).collect();
        let scaling: Vec<LocationScale> =
            points.iter().map(|point| pasts[point.series].location_scale(&transform, *point)).collect();
        let change = |(point, scaling): (&ForecastPoint, &LocationScale)| {
            ((series[point.series].values[point.step()] - scaling.location) / scaling.scale).clamp(-FAR, FAR)
        };
        let changes: Vec<f64> = points.iter().zip(&scaling).map(change).collect();
        if points.is_empty() {
            return Err(table.locate(Error::data(format!(
                "no step of {} comes after another one: a forecast needs at least two known values",
                quoted(&spec.target)
            ))));
        }
        let mut columns = inputs(&transform, &pasts, table, &points);
        let blocks = points.iter().map(|point| block(&series[point.series], *point, &transform, 2 * FOLDS) as f64);
        columns.push((CHANGE.into(), Column::Numbers(changes.clone())));
        columns.push((BLOCK.into(), Column::Numbers(blocks.collect())));
        let inputs = ColumnRoles::default().group(BLOCK).target_spec(TargetSpec::default().continuous(true));
        let method = Method::Auto(sized(auto, points.len(), spec.horizon));
        let learning = plan(&Table::new(columns)?, CHANGE, &method, &inputs, seed)?.without_extrapolation();
        if points.len() < LEAST_TRAINED {
            warnings.push(Warning::new(format!(
                "{} steps are too few to learn from: forecasts are the naive ones, as wide as changes were",
                points.len()
            )));
        }
        Ok(Self { learning, transform, series, points, scaling, changes, outcome: outcome.clone(), warnings })
    }

    /// The training jobs; [`ForecastPlan::finish`] takes their results in this order.
    pub fn jobs(&self) -> Vec<Job> {
        self.learning.jobs()
    }

    /// Makes a forecaster from the results of the jobs.
    ///
    /// # Errors
    /// When a job failed, or the results do not belong to the plan's jobs.
    pub fn finish(self, trained: Vec<Result<Trained>>) -> Result<FittedForecaster> {
        let Self { learning, transform, series, points, scaling, changes, outcome, mut warnings } = self;
        let Fitted { model, held_out: of_networks, .. } = learning.finish(trained)?;
        let model = model.extrapolating(None);
        let recent = Baseline::recent(&transform, &changes);
        let HeldOut { rows, folds, predictions, .. } = of_networks;
        let support = Support { lower: outcome.lower, upper: outcome.upper, ..Support::default() };
        support.check()?;
        let mut rest = Rest {
            network_weight: 1.0,
            baselines: Baseline::all(&transform, &series),
            recent,
            copula: Copula::default(),
            support,
            scores: Vec::new(),
        };
        let Some(networks) = predictions.mixtures().cloned() else {
            return Ok(FittedForecaster { forecaster: Forecaster::new(transform, model, rest), warnings });
        };
        let held_out = HeldOutPoints {
            points: rows.iter().map(|row| points[*row]).collect(),
            scaling: rows.iter().map(|row| scaling[*row]).collect(),
            changes: rows.iter().map(|row| changes[*row]).collect(),
            folds,
        };
        let recent = held_out.recent_changes(&transform);
        let (network_weight, pooled) = held_out.pooled(networks, recent);
        rest.network_weight = network_weight;
        rest.copula = held_out.copula(&pooled);
        let y: Vec<f64> = held_out.points.iter().map(|point| series[point.series].values[point.step()]).collect();
        let scored = |name: &str, predictions: &Predictions| -> Result<Score> {
            let mean = |list: Vec<f64>| list.iter().sum::<f64>() / list.len().max(1) as f64;
            Ok(Score { name: name.into(), crps: mean(predictions.crps(&y)?), nll: mean(predictions.nll(&y)?) })
        };
        let own = pooled.rescaled_by_row(held_out.scaling.iter().map(|scaling| scaling.shift_and_scale()));
        rest.scores.push(scored("forecast", &Predictions::from(own).with_sound_support(support))?);
        for baseline in rest.baselines.iter().chain([&rest.recent]) {
            let predictions = Predictions::from(baseline.of(&series)(&held_out.points)).with_sound_support(support);
            rest.scores.push(scored(&baseline.name, &predictions)?);
        }
        let forecaster = Forecaster::new(transform, model, rest);
        if let Some(best) = forecaster.best_baseline().filter(|best| best.crps <= forecaster.scores()[0].crps) {
            warnings.push(Warning::new(format!(
                "no better than the naive forecast {:?} on steps that were held out: CRPS {:.4} against {:.4}",
                best.name,
                forecaster.scores()[0].crps,
                best.crps
            )));
        }
        Ok(FittedForecaster { forecaster, warnings })
    }
}

/// Fills in the defaults for this number of rows and horizon.
fn sized(auto: &Auto, rows: usize, horizon: usize) -> Auto {
    let (folds, members, dropout, embedding) = match horizon {
        1 if rows < FEWEST_ROWS => (FOLDS, None, DROPOUT_OF_FEW, None),
        1 if rows < FEW_ROWS => (FOLDS / 2, Some(2), DROPOUT_OF_FEW, None),
        1 => (FOLDS / 2, None, 0.0, None),
        _ => (FOLDS, None, DROPOUT_AHEAD, Some(FREQUENCY_AHEAD)),
    };
    let (layers, batch_size) = match rows {
        MANY_ROWS.. => (4, 256),
        ROWS_AHEAD.. => (4, 64),
        _ => (3, 64),
    };
    let medium = auto.preset == Preset::Medium;
    let members = match auto.preset {
        Preset::Medium => members,
        Preset::Fast => None,
        Preset::Best => Some(2),
    };
    let longer = (medium && horizon > 1 && rows >= ROWS_AHEAD).then_some(STEPS_AHEAD);
    // Blocks of time are held out once, and only networks were compared with the baselines of series.
    Auto {
        folds: auto.folds.or(Some(folds)),
        n_repeats: auto.n_repeats.or(Some(1)),
        short_networks: auto.short_networks.or(Some(false)),
        dropout_networks: auto.dropout_networks.or(Some(false)),
        linear: auto.linear.or(Some(false)),
        forest: auto.forest.or(Some(false)),
        boosted_trees: auto.boosted_trees.or(Some(false)),
        ensemble_size: auto.ensemble_size.or(members),
        hidden: auto.hidden.clone().or_else(|| Some(vec![UNITS; layers])),
        batch_size: auto.batch_size.or(Some(batch_size)),
        steps: auto.steps.or(longer),
        dropout: auto.dropout.or(Some(dropout)),
        embedding: auto.embedding.or(embedding),
        ..auto.clone()
    }
}
