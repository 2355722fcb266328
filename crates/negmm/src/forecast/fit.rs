//! Fits of forecasters: results of training jobs to a forecaster.

use super::baseline::Baseline;
use super::coherent::{Coherent, Sampling};
use super::copula::Copula;
use super::ends::Ends;
use super::held_out::{HeldOutPoints, Pooled};
use super::origin_skill::OriginSkill;
use super::parts::Rest;
use super::plan::Recipe;
use super::spread::spread_by;
use super::supports::OwnSupport;
use super::{ForecastPlan, ForecastPoint, Forecaster, Score, ScoredOrigins, Series, SeriesSpec, SeriesTransform, seen};
use crate::FitOptions;
use crate::method::Auto;
use crate::model::Fitted;
use negmm_data::Table;
use negmm_dist::{Interval, Mixtures, Predictions, Result, Warning};
use negmm_nn::train::{Trained, train};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

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
    /// Makes a forecaster from the results of the jobs.
    ///
    /// # Errors
    /// When a job failed, or the results do not belong to the plan's jobs.
    pub fn finish(self, trained: Vec<Result<Trained>>) -> Result<FittedForecaster> {
        let Self { learning, recipe, series, last_parts, points, learnt, scaling, changes, before, mut warnings } =
            self;
        let Recipe { transform, classical, intermittent, support, own, own_grids, holidays, original, single_networks } =
            recipe;
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
            single_networks,
            centred: true,
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
        // A single series has no other at the same time.
        let time = |point: &ForecastPoint, step: usize| series[point.series].time(step, transform.frequency);
        let targets: Vec<f64> = held_out.points.iter().map(|point| time(point, point.step())).collect();
        let alike = held_out.shared_errors(&pooled, &series, &targets);
        let origins: Vec<f64> = held_out.points.iter().map(|point| time(point, point.origin)).collect();
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
        skill.add((&held_out.points, |row| origins[row]), &of_points);
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
        if let (Some(alike), Some(origins)) = (alike, forecaster.scored_origins()) {
            let steps = steps_words(origins.longest);
            warnings.push(Warning::new(format!(
                "errors of different series at the same time are alike (correlation {:.2}): the scores are those of the last {steps}, \
                 which the series share, and may not hold for other times",
                alike.correlation
            )));
        }
        Ok(FittedForecaster { forecaster, warnings })
    }
}

/// A number of steps in words.
fn steps_words(steps: usize) -> String {
    if steps == 1 { "one step".into() } else { format!("{steps} steps") }
}
