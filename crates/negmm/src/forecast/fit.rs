//! Fitting of forecasters: series to training jobs, and their results to a forecaster.

use super::baseline::Baseline;
use super::classical::Classical;
use super::coherent::{Coherent, Sampling};
use super::copula::Copula;
use super::features::{BLOCK, CHANGE, Past, inputs};
use super::forecaster::{Rest, Score, ScoredOrigins, spread_by};
use super::held_out::{HeldOutPoints, Pooled};
use super::holidays::HolidayEffects;
use super::intermittent::{Intermittent, is_intermittent};
use super::local_scale::LocationScale;
use super::origin_skill::OriginSkill;
use super::points::{LastParts, block, training_points};
use super::scale::FAR;
use super::supports::{Ends, OwnSupport, jitter, shared_support};
use super::{ForecastPoint, Forecaster, Histories, Series, SeriesSpec, SeriesTransform, seen};
use crate::FitOptions;
use crate::method::{Auto, LEAST_TRAINED, Method, Preset};
use crate::model::{FitPlan, Fitted, plan};
use negmm_data::{Column, ColumnRoles, Table, TargetSpec};
use negmm_dist::{Error, Hint, Interval, Mixtures, Predictions, Result, Support, Warning};
use negmm_nn::train::{Callbacks, Job, Trained, train};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Folds of time; each consists of two blocks. With a horizon of one step there are half as many folds from
/// `FEWEST_ROWS` rows on, with two networks per fold below `FEW_ROWS` rows (at no extra cost) and one above. These
/// settings had the best held-out scores.
const FOLDS: usize = 10;
/// Blocks of time before the last part of a series.
const BLOCKS: usize = 19;
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

/// What is called while classical methods are fitted to series, before networks are trained.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct SeriesWatch<'a> {
    /// Called with the number of series that are done, and of all, from the thread that fitted one.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Set to true to stop within a few series.
    pub cancel: &'a AtomicBool,
}

impl<'a> SeriesWatch<'a> {
    /// Calls `progress`, and stops when `cancel` is set.
    pub fn new(progress: &'a (dyn Fn(usize, usize) + Sync), cancel: &'a AtomicBool) -> Self {
        Self { progress, cancel }
    }
}

/// Everything that fitting a forecaster needs except the training itself.
#[derive(Clone, Debug)]
pub struct ForecastPlan {
    learning: FitPlan,
    recipe: Recipe,
    series: Vec<Series>,
    last_parts: LastParts,
    points: Vec<ForecastPoint>,
    /// The points that networks learn from.
    learnt: Vec<usize>,
    scaling: Vec<LocationScale>,
    changes: Vec<f64>,
    before: Before,
    warnings: Vec<Warning>,
}

/// What was learnt from the series without their last parts, for the forecasts that are scored there.
#[derive(Clone, Debug)]
struct Before {
    /// The classical forecasts of the points that are scored.
    of_classical: Mixtures,
    intermittent: Option<Intermittent>,
    baselines: Vec<Baseline>,
}

/// What is decided before the networks are trained.
#[derive(Clone, Debug)]
struct Recipe {
    transform: SeriesTransform,
    classical: Classical,
    intermittent: Option<Intermittent>,
    support: Support,
    /// What each series has beside it, and whether it may have a grid of its own.
    own: Vec<OwnSupport>,
    own_grids: bool,
    holidays: Option<HolidayEffects>,
    /// The series with the effects of holidays, where there are holidays.
    original: Option<Vec<Series>>,
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
    let watch = SeriesWatch::new(&|_, _| {}, options.watch.cancel);
    let plan = ForecastPlan::watched(table, spec, auto, &options.inputs.target_spec, options.seed, &watch)?;
    let trained = train(options.engine, &plan.jobs(), &options.watch);
    plan.finish(trained)
}

impl ForecastPlan {
    /// Plans the fit of a forecaster to the series in `table`.
    ///
    /// # Errors
    /// When the data or the settings are invalid.
    pub fn new(table: &Table, spec: &SeriesSpec, auto: &Auto, outcome: &TargetSpec, seed: u64) -> Result<Self> {
        Self::watched(table, spec, auto, outcome, seed, &SeriesWatch::new(&|_, _| {}, Callbacks::nothing().cancel))
    }

    /// The same, which says how many series are done.
    ///
    /// # Errors
    /// As [`ForecastPlan::new`], and when the caller asked to stop.
    pub fn watched(
        table: &Table,
        spec: &SeriesSpec,
        auto: &Auto,
        outcome: &TargetSpec,
        seed: u64,
        watch: &SeriesWatch<'_>,
    ) -> Result<Self> {
        spec.check()?;
        outcome.check()?;
        if outcome.is_censored() {
            return Err(Error::options("the steps of a sequence cannot be censored"));
        }
        if !spec.hierarchy.is_empty() && (outcome.upper.is_some() || outcome.lower.is_some_and(|lower| lower != 0.0)) {
            return Err(Error::options(
                "bounds of series are not those of their sums: with a hierarchy, lower can be 0 or absent, and upper absent",
            ));
        }
        let histories = Histories::read(table, spec, None)?;
        let bounds = Support { lower: outcome.lower, upper: outcome.upper, ..Support::default() };
        bounds.check()?;
        let support = match () {
            () if outcome.continuous => bounds,
            () if outcome.discrete => stated_support(outcome, bounds, &histories.series, table, &spec.target)?,
            () => shared_support(bounds, &histories.series),
        };
        let own = histories.series.iter().map(|series| OwnSupport::of(series, support, outcome.continuous));
        let own: Vec<OwnSupport> = own.collect();
        let (holidays, histories, original) = without_holidays(spec, histories).map_err(|error| table.locate(error))?;
        let transform = SeriesTransform::choose(spec, &histories);
        let Histories { series, mut warnings, .. } = histories;
        let last_parts = LastParts::new(&series, &transform.seasonal_periods, spec.horizon);
        let mut points = training_points(&series, &transform, &last_parts, seed);
        if points.is_empty() {
            // Networks learn nothing from a single point, and have no weight.
            points.push(ForecastPoint { series: 0, origin: 0, ahead: 1 });
        }
        let pasts: Vec<Past<'_>> = series.iter().map(|series| Past::new(series, &transform)).collect();
        let scaling: Vec<LocationScale> =
            points.iter().map(|point| pasts[point.series].location_scale(&transform, *point)).collect();
        let change = |(number, (point, scaling)): (usize, (&ForecastPoint, &LocationScale))| {
            let value = series[point.series].values.get(point.step()).copied().filter(|value| !value.is_nan());
            let value = value.unwrap_or(scaling.location);
            // Rounded numbers are spread over what they may have been: networks would learn nothing but spikes.
            let own = &own[point.series];
            let rounding = if own.is_apart(value) { 0.0 } else { own.resolution.min(scaling.scale) };
            let distance = value + rounding * jitter(number) - scaling.location;
            // Values that are all 0 have no scale, and no change.
            if distance == 0.0 { 0.0 } else { (distance / scaling.scale).clamp(-FAR, FAR) }
        };
        let changes: Vec<f64> = points.iter().zip(&scaling).enumerate().map(change).collect();
        let is_known =
            |point: &ForecastPoint| series[point.series].values.get(point.step()).is_some_and(|value| !value.is_nan());
        let scored = points.iter().copied().filter(|point| last_parts.is_scored(point) && is_known(point));
        let scored: Vec<ForecastPoint> = scored.collect();
        let scored_series = scored.chunk_by(|a, b| a.series == b.series).count();
        let before = if scored.is_empty() { Vec::new() } else { last_parts.before(&series) };
        let all = Classical::fitted(series.len()) + Classical::fitted(before.len()) + scored_series;
        let done = AtomicUsize::new(0);
        let each = || {
            (watch.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, all);
            !watch.cancel.load(Ordering::Relaxed)
        };
        let classical = Classical::fit(&series, &transform.seasonal_periods, spec.horizon, &each);
        let classical_before = Classical::fit(&before, &transform.seasonal_periods, spec.horizon, &each);
        let of_series: Vec<&Series> = series.iter().collect();
        let of_classical = classical_before.watched(&of_series, &scored, &each);
        Callbacks { cancel: watch.cancel, ..Callbacks::nothing() }.check_cancelled()?;
        let mut intermittent = Intermittent::fit(&series, spec.horizon);
        let mut intermittent_before = Intermittent::fit(&before, spec.horizon).or_else(|| intermittent.clone());
        if !intermittent_before.as_ref().is_some_and(|before| before.is_better_than(&of_classical, &series, &scored)) {
            (intermittent, intermittent_before) = (None, None);
        }
        let baselines = Baseline::all(&transform, &before);
        let before = Before { of_classical, intermittent: intermittent_before, baselines };
        let by_zeros: Vec<bool> = series
            .iter()
            .map(|series| intermittent.is_some() && is_intermittent(series.history(series.len() - 1)))
            .collect();
        let mut learnt: Vec<usize> = (0..points.len()).filter(|row| !by_zeros[points[*row].series]).collect();
        if learnt.is_empty() {
            learnt = (0..points.len().min(LEAST_TRAINED - 1)).collect();
        }
        let of_rows: Vec<ForecastPoint> = learnt.iter().map(|row| points[*row]).collect();
        let mut columns = inputs(&transform, &pasts, table, &of_rows);
        let of = (&transform, &last_parts);
        let blocks = of_rows.iter().map(|point| block(&series[point.series], *point, of, BLOCKS) as f64);
        columns.push((CHANGE.into(), Column::Numbers(learnt.iter().map(|row| changes[*row]).collect())));
        columns.push((BLOCK.into(), Column::Numbers(blocks.collect())));
        let inputs = ColumnRoles::default().group(BLOCK).target_spec(TargetSpec::default().continuous(true));
        let method = Method::Auto(sized(auto, learnt.len(), spec.horizon));
        let learning = plan(&Table::new(columns)?, CHANGE, &method, &inputs, seed)?.without_extrapolation();
        if learnt.len() < LEAST_TRAINED && !by_zeros.contains(&true) {
            warnings.push(Warning::new(format!(
                "{} too few for networks: classical methods forecast alone",
                if points.len() == 1 { "one step is".into() } else { format!("{} steps are", points.len()) },
            )));
        }
        let own_grids = !outcome.continuous;
        let recipe = Recipe { transform, classical, intermittent, support, own, own_grids, holidays, original };
        Ok(Self { learning, recipe, series, last_parts, points, learnt, scaling, changes, before, warnings })
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
        let Self { learning, recipe, series, last_parts, points, learnt, scaling, changes, before, mut warnings } =
            self;
        let Recipe { transform, classical, intermittent, support, own, own_grids, holidays, original } = recipe;
        let Fitted { model, held_out: of_networks, .. } = learning.finish(trained)?;
        let fingerprint = seen::fingerprint(original.as_ref().unwrap_or(&series));
        let model = model.extrapolating(None).with_fingerprint(fingerprint);
        let levels = series.first().map_or(0, |series| series.keys.len());
        let coherent = (!transform.spec.hierarchy.is_empty()).then(|| Coherent::independent(levels));
        let mut rest = Rest {
            network_weight: 0.0,
            classical_weight: 1.0,
            own_weights: BTreeMap::new(),
            baselines: Baseline::all(&transform, &series),
            recent: Baseline::recent(&transform, &changes),
            classical: Some(classical),
            intermittent,
            ends: None,
            own_grids: Some(own_grids),
            constants: true,
            spread: 1.0,
            copula: Copula::default(),
            coherent,
            holidays,
            support,
            scored: None,
            scores: Vec::new(),
        };
        let is_scored = |row: &usize| {
            let point = &points[*row];
            last_parts.is_scored(point)
                && series[point.series].values.get(point.step()).is_some_and(|value| !value.is_nan())
        };
        let rows: Vec<usize> = (0..points.len()).filter(is_scored).collect();
        let of_series: Vec<&Series> = series.iter().collect();
        let periods = transform.seasonal_periods.clone();
        if rows.is_empty() {
            rest.ends = Ends::fit((&[], &[], &rest.recent.error_distribution()), &of_series, &own, &periods);
            warnings.push(Warning::new(format!(
                "no series is long enough to hold out its end: forecasts {} ahead were not scored",
                steps_words(transform.spec.horizon)
            )));
            return Ok(FittedForecaster { forecaster: Forecaster::new(transform, model, rest), warnings });
        }
        let mut is_learnt = vec![false; points.len()];
        learnt.iter().for_each(|row| is_learnt[*row] = true);
        let is_apart = |point: &ForecastPoint| own[point.series].is_apart(series[point.series].values[point.step()]);
        let held_out = HeldOutPoints {
            points: rows.iter().map(|row| points[*row]).collect(),
            y: rows.iter().map(|row| series[points[*row].series].values[points[*row].step()]).collect(),
            counts: rows.iter().map(|row| f64::from(u8::from(is_learnt[*row] && !is_apart(&points[*row])))).collect(),
            own,
        };
        // Recent changes, too, are those of what came before the last parts.
        let earlier = points.iter().zip(&changes).filter(|(point, _)| !last_parts.has_target(point));
        let earlier: Vec<f64> = earlier.map(|(_, change)| *change).collect();
        let recent_before = Baseline::recent(&transform, &earlier);
        let recent = recent_before.error_distribution();
        let networks = of_networks.predictions.mixtures().filter(|networks| networks.len() == learnt.len());
        let networks = networks.map(|networks| {
            // Rows that networks do not learn have the recent changes in their place, and do not count.
            let components = networks.components().max(recent.components());
            let both = vec![networks.clone().padded_to(components), recent.clone().padded_to(components)];
            let mut at = vec![learnt.len(); points.len()];
            of_networks.rows.iter().enumerate().for_each(|(index, row)| at[learnt[*row]] = index);
            let order: Vec<usize> = rows.iter().map(|row| at[*row]).collect();
            Mixtures::concatenate_rows(both).take(&order, |_| (1.0, 1.0))
        });
        let has_networks = networks.is_some();
        let scaled = [recent.repeated(rows.len())].into_iter().chain(networks);
        let scaled =
            scaled.map(|mixtures| mixtures.rescaled_by_row(rows.iter().map(|row| scaling[*row].shift_and_scale())));
        let Pooled { weights, of_series: own_weights, mixtures: pooled } =
            held_out.pooled([before.of_classical].into_iter().chain(scaled).collect());
        rest.classical_weight = weights[0];
        rest.network_weight = if has_networks { weights[2] } else { 0.0 };
        let of_networks = |weights: &[f64]| if has_networks { weights[2] } else { 0.0 };
        let own_weights = own_weights.iter();
        rest.own_weights = own_weights
            .map(|(number, weights)| (series[*number].name.clone(), [weights[0], of_networks(weights)]))
            .collect();
        rest.spread = held_out.spread(&pooled);
        let pooled = spread_by(pooled, rest.spread);
        rest.copula = held_out.copula(&pooled);
        rest.scored = Some(ScoredOrigins::of(&held_out.points, &last_parts.first, &series));
        let of_all = std::mem::replace(&mut rest.intermittent, before.intermittent);
        let pooled = rest.with_atoms(pooled, &of_series, &held_out.points);
        rest.intermittent = of_all;
        let mean = |scores: Vec<f64>| scores.iter().sum::<f64>() / scores.len() as f64;
        // Scores are those of the values as they are, with the effects of holidays.
        let (mut pooled, mut y) = (pooled, held_out.y.clone());
        if let (Some(effects), Some(original)) = (&rest.holidays, &original) {
            let SeriesTransform { spec, frequency, .. } = &transform;
            let own: Vec<_> = original.iter().map(|series| effects.of(&spec.holidays, series, *frequency)).collect();
            let effect = |point: &ForecastPoint| {
                let time = original[point.series].time(point.step(), *frequency);
                own[point.series].as_ref().map_or((0.0, 1.0), |own| own.at(time))
            };
            pooled = pooled.rescaled_by_row(held_out.points.iter().map(effect));
            y = held_out.points.iter().map(|point| original[point.series].values[point.step()]).collect();
        }
        let own: Vec<&OwnSupport> = held_out.own.iter().collect();
        rest.ends = Ends::fit((&held_out.points, &y, &pooled), &of_series, &held_out.own, &periods);
        pooled = rest.on_supports(pooled, (&of_series, &own), &held_out.points, &periods);
        let mut of_points: Vec<Vec<f64>> = Vec::new();
        let mut scored = |name: &str, predictions: &Predictions| -> Result<Score> {
            let nll = Some(mean(predictions.nll(&y)?)).filter(|nll| nll.is_finite());
            let Interval { lower, upper } = predictions.interval(0.9)?;
            let covered = y.iter().zip(lower.iter().zip(&upper)).filter(|(y, (low, high))| *low <= *y && *y <= *high);
            let coverage90 = Some(covered.count() as f64 / y.len() as f64);
            let crps = predictions.crps(&y)?;
            of_points.push(crps.clone());
            Ok(Score { name: name.into(), crps: mean(crps), nll, coverage90, skill: None })
        };
        let forecasts = Predictions::from(pooled).with_sound_support(support);
        rest.scores.push(scored("forecast", &forecasts)?);
        if rest.coherent.is_some() {
            let known = (held_out.points.as_slice(), &forecasts, y.as_slice());
            let (horizon, seed) = (transform.spec.horizon, model.record().seed);
            let sampling = Sampling { copula: rest.copula, support, horizon, seed };
            rest.coherent = Some(Coherent::fit(known, &of_series, sampling)?);
        }
        for baseline in before.baselines.iter().chain([&recent_before]) {
            let predictions = Predictions::from(baseline.of(original.as_ref().unwrap_or(&series))(&held_out.points))
                .with_sound_support(support);
            rest.scores.push(scored(&baseline.name, &predictions)?);
        }
        let mut skill = OriginSkill::new(of_points.len() - 1);
        skill.add(&held_out.points, &of_points);
        rest.scores[0].skill = skill.finish();
        rest.scores.retain(|score| score.crps.is_finite());
        let forecaster = Forecaster::new(transform, model, rest);
        if let (Some(own), Some(best)) = (forecaster.scores().first(), forecaster.best_baseline())
            && best.crps <= own.crps
        {
            warnings.push(Warning::new(format!(
                "no better than the naive forecast {:?} on the last part of the series: CRPS {:.4} against {:.4}",
                best.name, own.crps, best.crps
            )));
        }
        Ok(FittedForecaster { forecaster, warnings })
    }
}

/// The series without the effects of holidays, these, and the series as they are where there are holidays.
fn without_holidays(
    spec: &SeriesSpec,
    histories: Histories,
) -> Result<(Option<HolidayEffects>, Histories, Option<Vec<Series>>)> {
    if spec.holidays.is_empty() {
        return Ok((None, histories, None));
    }
    let frequency = histories.frequency;
    let effects = HolidayEffects::fit(&spec.holidays, &histories.series, frequency)?;
    let plain = |series: &Series| match effects.of(&spec.holidays, series, frequency) {
        Some(own) => own.removed(series, frequency),
        None => series.clone(),
    };
    let series = histories.series.iter().map(plain).collect();
    Ok((Some(effects), Histories { series, ..histories.clone() }, Some(histories.series)))
}

/// The support of a target that is declared discrete.
fn stated_support(
    outcome: &TargetSpec,
    bounds: Support,
    series: &[Series],
    table: &Table,
    target: &str,
) -> Result<Support> {
    let values: Vec<f64> =
        series.iter().flat_map(|series| &series.values).copied().filter(|value| !value.is_nan()).collect();
    let zeros = values.iter().filter(|value| **value == 0.0).count();
    let lower = (zeros > 1 && values.iter().all(|value| *value >= 0.0)).then_some(0.0);
    let origin = values.iter().copied().fold(f64::INFINITY, f64::min);
    let step = outcome.step.or_else(|| negmm_data::common_step(values)).ok_or_else(|| {
        let error = Error::data("the targets share no step of a grid");
        table.locate(error.with_hint(Hint::RelatedOption { option: "step" }))
    })?;
    for series in series.iter().filter(|series| series.parts.is_empty()) {
        let off = |value: &f64| !(value.is_nan() || negmm_data::on_grid(*value, origin, step));
        if let Some(at) = series.values.iter().position(off) {
            let expected = format!("the target must be a whole number of steps of {step} from {origin}");
            let error = Error::data(format!("{expected}, found {}", series.values[at]));
            return Err(table.at_cell(error, series.rows[at], target));
        }
    }
    let gridded = Support { lower: bounds.lower.or(lower), step: Some(step), origin, ..bounds };
    gridded.check().map(|()| gridded)
}

/// A number of steps in words.
fn steps_words(steps: usize) -> String {
    if steps == 1 { "one step".into() } else { format!("{steps} steps") }
}

/// Fills in the defaults for this number of rows and horizon.
fn sized(auto: &Auto, rows: usize, horizon: usize) -> Auto {
    let (folds, members, dropout, embedding) = match horizon {
        1 if rows < FEWEST_ROWS => (FOLDS, None, DROPOUT_OF_FEW, None),
        1 if rows < FEW_ROWS => (FOLDS / 2, Some(2), DROPOUT_OF_FEW, None),
        1 => (FOLDS / 2, None, 0.0, None),
        _ => (FOLDS / 2, None, DROPOUT_AHEAD, Some(FREQUENCY_AHEAD)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::math::rng::Rng;
    use negmm_nn::dataset::Dataset;
    use negmm_nn::train::CpuEngine;
    use std::sync::Arc;

    const STEPS: usize = 240;

    /// The plan for a random walk with a season, whose last steps are moved.
    fn planned(moved: usize) -> ForecastPlan {
        let mut rng = Rng::new(5, 0);
        let mut level = 0.0;
        let value = |step: usize| {
            level += rng.uniform() - 0.5;
            let season = (std::f64::consts::TAU * step as f64 / 12.0).sin();
            level + 2.0 * season + if step + moved >= STEPS { 40.0 * rng.uniform() } else { 0.0 }
        };
        let table = Table::new(vec![("y", Column::Numbers((0..STEPS).map(value).collect()))]).unwrap();
        let spec = SeriesSpec::of("y").horizon(4).seasonal_periods(vec![12]);
        let auto = Auto::default().hidden(vec![16]).steps(100);
        ForecastPlan::new(&table, &spec, &auto, &TargetSpec::default(), 1).unwrap()
    }

    #[test]
    fn networks_that_are_scored_have_learnt_nothing_of_the_last_part() {
        let plan = planned(0);
        let is_last: Vec<bool> = plan.learnt.iter().map(|row| plan.last_parts.has_target(&plan.points[*row])).collect();
        // The targets of the last part are others, so that whoever learns from one of them is another.
        let moved = |job: Job| {
            let Job::Network(mut job) = job else { panic!("{job:?}") };
            let y = job.data.y().iter().zip(&is_last).map(|(y, last)| if *last { 3.0 - y } else { *y });
            let data = Dataset::from_parts(job.data.features(), job.data.x().to_vec(), y.collect());
            job.data = Arc::new(data.with_numbers(job.data.numbers().to_vec()));
            Job::Network(job)
        };
        let jobs = plan.jobs();
        let trained = |jobs: &[Job]| -> Vec<_> {
            let parameters = |trained| match trained {
                Ok(Trained::Network(network)) => network.parameters,
                other => panic!("{other:?}"),
            };
            train(CpuEngine::all_cores(), jobs, &Callbacks::nothing()).into_iter().map(parameters).collect()
        };
        let (before, after) = (trained(&jobs), trained(&jobs.iter().cloned().map(moved).collect::<Vec<Job>>()));
        // Those that neither train on the last part nor select a checkpoint by it predict it; the others learn from it.
        let mut scored = 0;
        for (job, (before, after)) in jobs.iter().zip(before.iter().zip(&after)) {
            let Job::Network(job) = job else { panic!("{job:?}") };
            let sees_last = job.train.iter().chain(&*job.validation).any(|row| is_last[*row as usize]);
            assert_eq!(before != after, sees_last);
            scored += usize::from(!sees_last);
        }
        assert!(scored >= 1 && scored < jobs.len(), "{scored} of {}", jobs.len());
    }

    #[test]
    fn classical_methods_that_are_scored_have_learnt_nothing_of_the_last_part() {
        let (plan, moved) = (planned(0), planned(20));
        let first = plan.last_parts.first[0];
        assert!(first < STEPS - 20);
        let of = |plan: &ForecastPlan| {
            let points = plan.points.iter().filter(|point| plan.last_parts.is_scored(point));
            let known: Vec<usize> =
                points.enumerate().filter(|(_, point)| point.origin < STEPS - 20).map(|(row, _)| row).collect();
            (known.len(), plan.before.of_classical.clone().take(&known, |_| (1.0, 1.0)))
        };
        assert!(of(&plan).0 > 40, "{}", of(&plan).0);
        assert_eq!(of(&plan), of(&moved));
        // What will forecast the future has learnt from them.
        assert_ne!(plan.recipe.classical, moved.recipe.classical);
    }
}
