//! Forecasters: a series transform and a fitted model, which together forecast the steps ahead.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::baseline::Baseline;
use super::classical::Classical;
use super::coherent::{Coherent, EnergyScores, Sampling, complete};
use super::copula::Copula;
use super::features::{Past, inputs};
use super::holidays::HolidayEffects;
use super::intermittent::{Components, Intermittent};
use super::supports::{Ends, OwnSupport};
use super::{ForecastPoint, Histories, Series, SeriesTransform};
use crate::model::{bytes_of, read, read_back, save, write};
use crate::{Accelerator, Model};
use negmm_data::Table;
use negmm_dist::quote::quoted;
use negmm_dist::{Distribution, Error, Mixtures, Predictions, Result, Skill, Support};

/// Sd of what may follow a constant history, relative to its value.
const CONSTANT_SD: f64 = 0.3;
/// Weights that sum to 1 do so up to this.
const WEIGHT_ROUNDING: f64 = 1e-9;

/// A fitted forecaster: a pool of networks on lag features, of a combination of classical methods, and of the naive
/// forecast with the empirical distribution of recent changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecaster {
    pub(super) transform: SeriesTransform,
    model: Model,
    rest: Rest,
}

/// The parts of a forecaster in a model file, beside the networks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ForecastParts {
    #[serde(rename = "recipe")]
    transform: SeriesTransform,
    rest: Rest,
}

/// The fitted parts beside the networks and the series transform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Rest {
    /// Stacking weight of the networks.
    #[serde(rename = "share")]
    pub(super) network_weight: f64,
    /// That of the classical combination; the remainder belongs to the baseline of recent changes.
    #[serde(default)]
    pub(super) classical_weight: f64,
    /// Weights of the classical combination and of the networks in series that have their own, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) own_weights: BTreeMap<String, [f64; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) classical: Option<Classical>,
    /// Distributions of intermittent series, where they are better than the pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) intermittent: Option<Intermittent>,
    /// The probabilities of zeros and of bounds, where series have them and the pool forecasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ends: Option<Ends>,
    /// Whether series may have grids of their own; `None` in models of earlier versions, in which none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) own_grids: Option<bool>,
    /// Whether a constant history is forecast by an atom; not so in models of earlier versions.
    #[serde(default)]
    pub(super) constants: bool,
    /// Factor of the spread of each pooled distribution around its mean.
    #[serde(default = "no_factor")]
    pub(super) spread: f64,
    pub(super) recent: Baseline,
    #[serde(rename = "rivals")]
    pub(super) baselines: Vec<Baseline>,
    pub(super) copula: Copula,
    /// Effects of holidays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) holidays: Option<HolidayEffects>,
    /// The dependence between the series of a hierarchy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) coherent: Option<Coherent>,
    #[serde(default)]
    pub(super) support: Support,
    /// The origins of the scores; `None` where there are none, or the file is of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scored: Option<ScoredOrigins>,
    /// Mean CRPS and NLL on the last parts of the series, of the forecaster first and then of the baselines.
    pub(super) scores: Vec<Score>,
}

impl Rest {
    /// The pooled distributions with those of intermittent and of constant histories in their place.
    pub(super) fn with_atoms(&self, pooled: Mixtures, series: &[&Series], points: &[ForecastPoint]) -> Mixtures {
        let mut replaced = match &self.intermittent {
            Some(intermittent) => intermittent.components(series, points),
            None => vec![None; points.len()],
        };
        if self.constants {
            for (point, replaced) in points.iter().zip(&mut replaced).filter(|(_, replaced)| replaced.is_none()) {
                *replaced = constant(series[point.series].history(point.origin));
            }
        }
        replace_rows(pooled, &replaced)
    }

    /// The distributions with the probabilities of zeros and bounds, and on the grids of single series. Those that have
    /// atoms already keep them.
    pub(super) fn on_supports(
        &self,
        mixtures: Mixtures,
        (series, own): (&[&Series], &[&OwnSupport]),
        points: &[ForecastPoint],
        periods: &[usize],
    ) -> Mixtures {
        let each = |replace: &(dyn Fn(usize, &ForecastPoint) -> Option<Components> + Sync)| -> Vec<_> {
            points.par_iter().enumerate().map(|(row, point)| replace(row, point)).collect()
        };
        let mut mixtures = mixtures;
        if let Some(ends) = &self.ends {
            let replaced = each(&|row, point| match has_atoms(&mixtures, row) {
                true => None,
                false => ends.components(own[point.series], (series, periods), *point, &mixtures, row),
            });
            mixtures = replace_rows(mixtures, &replaced);
        }
        if own.iter().any(|own| own.grid.is_some()) {
            let replaced = each(&|row, point| own[point.series].on_grid(&mixtures, row));
            mixtures = replace_rows(mixtures, &replaced);
        }
        mixtures
    }
}

/// Whether a row has atoms.
pub(super) fn has_atoms(mixtures: &Mixtures, row: usize) -> bool {
    let row = mixtures.row(row);
    row.sds.iter().zip(row.weights).any(|(sd, weight)| *sd == 0.0 && *weight > 0.0)
}

/// Whether a row has nothing but atoms.
pub(super) fn is_discrete(mixtures: &Mixtures, row: usize) -> bool {
    let row = mixtures.row(row);
    row.sds.iter().zip(row.weights).all(|(sd, weight)| *sd == 0.0 || *weight == 0.0)
}

/// The distribution after a history of at least two equal values: by the rule of succession an atom with weight
/// n / (n + 1), and a wide normal.
fn constant(history: &[f64]) -> Option<Components> {
    let value = history[0];
    if history.len() < 2 || history.iter().any(|other| *other != value) {
        return None;
    }
    let sd = if value == 0.0 { 1.0 } else { CONSTANT_SD * value.abs() };
    let steps = history.len() as f64;
    Some(vec![(steps / (steps + 1.0), value, 0.0), (1.0 / (steps + 1.0), value, sd)])
}

/// The mixtures with some rows replaced.
fn replace_rows(mixtures: Mixtures, replaced: &[Option<Components>]) -> Mixtures {
    let Some(most) = replaced.iter().flatten().map(Vec::len).max() else { return mixtures };
    let padded = mixtures.padded_to(most);
    let components = padded.components();
    let (mut weights, mut means, mut sds) = (padded.weights().to_vec(), padded.means().to_vec(), padded.sds().to_vec());
    for (row, own) in replaced.iter().enumerate().filter_map(|(row, own)| own.as_ref().map(|own| (row, own))) {
        let filling = (0.0, own[0].1, 1.0);
        for (at, (weight, mean, sd)) in
            own.iter().copied().chain(std::iter::repeat(filling)).take(components).enumerate()
        {
            let at = row * components + at;
            (weights[at], means[at], sds[at]) = (weight, mean, sd);
        }
    }
    Mixtures::from_parts_unchecked(components, weights, means, sds)
}

/// Distributions with this factor of their spread around the mean.
pub(super) fn spread_by(mixtures: Mixtures, factor: f64) -> Mixtures {
    if factor == 1.0 {
        return mixtures;
    }
    let means: Vec<f64> = mixtures.rows().map(|row| row.mean()).collect();
    mixtures.rescaled_by_row(means.into_iter().map(|mean| (mean * (1.0 - factor), factor)))
}

/// The spread factor of models without one.
fn no_factor() -> f64 {
    1.0
}

/// The origins that held-out scores come from: in the last part of each series, forecast by what was learnt before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct ScoredOrigins {
    /// Number of forecasts.
    pub forecasts: usize,
    /// Number of origins, over all series.
    pub origins: usize,
    /// Number of series with such origins.
    pub series: usize,
    /// Shortest and longest last part, in steps.
    pub shortest: usize,
    /// See `shortest`.
    pub longest: usize,
}

impl ScoredOrigins {
    /// Those of these points; `first` has the first step of the last part of each series.
    pub(super) fn of(points: &[ForecastPoint], first: &[usize], series: &[Series]) -> Self {
        let lengths = points.chunk_by(|a, b| a.series == b.series).map(|points| {
            let number = points[0].series;
            series[number].len() - first[number]
        });
        Self {
            forecasts: points.len(),
            origins: points.chunk_by(ForecastPoint::is_beside).count(),
            series: lengths.clone().count(),
            shortest: lengths.clone().min().unwrap_or(0),
            longest: lengths.max().unwrap_or(0),
        }
    }
}

/// Mean scores on held-out steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Score {
    /// Name of the forecaster or baseline.
    pub name: String,
    /// Mean CRPS, in the target's unit.
    pub crps: f64,
    /// Mean NLL; `None` where it is not finite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nll: Option<f64>,
    /// Coverage of central 90 % intervals; `None` in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage90: Option<f64>,
    /// Of the forecaster: how much lower its CRPS is than that of the best baseline, with a standard error by origins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<Skill>,
}

/// The forecasts of a baseline.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BaselineForecast {
    /// Name of the baseline.
    pub name: String,
    /// One prediction per point.
    pub predictions: Predictions,
}

/// Forecasts in the order of series, origins and steps ahead.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Forecasts {
    /// The forecast points.
    pub points: Vec<ForecastPoint>,
    /// One prediction per point.
    pub predictions: Predictions,
    /// Of a hierarchy: draws of each point, of which those with the same number belong together.
    pub(super) draws: Option<Arc<[f64]>>,
}

impl Forecasts {
    /// Those of these points, all of which are there.
    fn select(self, points: Vec<ForecastPoint>) -> Self {
        if self.points == points {
            return self;
        }
        let at: HashMap<ForecastPoint, usize> =
            self.points.iter().enumerate().map(|(row, point)| (*point, row)).collect();
        let rows: Vec<usize> = points.iter().map(|point| at[point]).collect();
        let each = self.draws.as_ref().map_or(0, |draws| draws.len() / self.points.len());
        let draws = self.draws.map(|draws| rows.iter().flat_map(|row| draws[row * each..][..each].to_vec()).collect());
        Self { points, predictions: self.predictions.select(&rows), draws }
    }
}

impl Forecaster {
    pub(super) fn new(transform: SeriesTransform, model: Model, rest: Rest) -> Self {
        Self { transform, model, rest }
    }

    /// The dependence between steps ahead.
    pub(super) fn copula(&self) -> Copula {
        self.rest.copula
    }

    /// Reads a model file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_bytes(&bytes_of(path)?).map_err(|error| error.in_file(path))
    }

    /// Writes a model file, whole or not at all, as [`Model::save`] does.
    ///
    /// # Errors
    /// When the folder cannot be written to, or the disk is full.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        save(&self.to_bytes()?, path.as_ref())
    }

    /// Reads the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        match read(bytes)? {
            (model, Some(parts)) => Self::of_parts(model, parts),
            (_, None) => Err(Error::model("this file has a model of rows, not a forecaster of series")),
        }
    }

    /// The bytes of the model file: the same forecaster gives the same bytes. They are read back before.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let parts = ForecastParts { transform: self.transform.clone(), rest: self.rest.clone() };
        read_back(write(&self.model, Some(parts))?, Self::from_bytes)
    }

    /// The forecaster from the parts of a model file, after validation.
    pub(crate) fn of_parts(model: Model, ForecastParts { transform, mut rest }: ForecastParts) -> Result<Self> {
        let damaged = |what: &str| Error::model(format!("the model file is damaged: {what}"));
        transform.check().map_err(|error| damaged(&error.to_string()))?;
        rest.support.check().map_err(|error| damaged(&error.to_string()))?;
        let horizon = transform.spec.horizon;
        let weight = rest.network_weight + rest.classical_weight;
        let sound = (0.0..=1.0).contains(&rest.network_weight)
            && (0.0..=1.0 + WEIGHT_ROUNDING).contains(&weight)
            && rest.classical_weight >= 0.0
            && rest.own_weights.values().all(|[classical, networks]| {
                *classical >= 0.0 && *networks >= 0.0 && classical + networks <= 1.0 + WEIGHT_ROUNDING
            })
            && rest.spread > 0.0
            && rest.spread.is_finite()
            && (rest.classical_weight == 0.0 || rest.classical.is_some())
            && rest.intermittent.as_ref().is_none_or(Intermittent::is_sound)
            && rest.ends.as_ref().is_none_or(|ends| ends.is_sound(&transform.seasonal_periods))
            && rest.classical.as_ref().is_none_or(|classical| classical.is_sound(horizon))
            && rest.copula.is_sound()
            && rest.holidays.as_ref().is_none_or(HolidayEffects::is_sound)
            && rest.coherent.as_ref().is_none_or(Coherent::is_sound)
            && rest.coherent.is_some() != transform.spec.hierarchy.is_empty()
            && rest.baselines.iter().chain([&rest.recent]).all(|baseline| baseline.is_sound(horizon));
        if !sound || rest.scores.iter().any(|score| score.crps.is_nan()) {
            return Err(damaged("a number of its forecasts is out of range"));
        }
        let baselines = rest.baselines.iter_mut().chain([&mut rest.recent]);
        let names = baselines.map(|baseline| &mut baseline.name);
        for name in names.chain(rest.scores.iter_mut().map(|score| &mut score.name)) {
            *name = Baseline::present_name(name);
        }
        Ok(Self { transform, model, rest })
    }

    /// The forecaster with an accelerator for predictions: [`Model::accelerated`].
    #[must_use]
    pub fn accelerated(mut self, accelerator: Arc<dyn Accelerator>) -> Self {
        self.model = self.model.accelerated(accelerator);
        self
    }

    /// The series transform.
    pub fn transform(&self) -> &SeriesTransform {
        &self.transform
    }

    /// The model of scaled changes.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Stacking weight of the networks.
    pub fn network_weight(&self) -> f64 {
        self.rest.network_weight
    }

    /// Stacking weight of the classical combination; what the networks and it leave belongs to the naive forecast with
    /// the distribution of recent changes.
    pub fn classical_weight(&self) -> f64 {
        self.rest.classical_weight
    }

    /// The classical members with their mean weights in the combination, the largest first; empty in models of versions
    /// without them.
    pub fn classical_members(&self) -> Vec<(String, f64)> {
        self.rest.classical.as_ref().map_or_else(Vec::new, Classical::member_weights)
    }

    /// Held-out energy scores of all series and sums of a hierarchy together; `None` where there are none.
    pub fn energy_scores(&self) -> Option<EnergyScores> {
        self.rest.coherent.as_ref().and_then(|coherent| coherent.scores)
    }

    /// Whether means of a hierarchy are reconciled by MinT; otherwise sums are those of the series' own forecasts.
    pub fn is_reconciled(&self) -> bool {
        self.rest.coherent.as_ref().is_some_and(|coherent| coherent.reconciliation.is_some())
    }

    /// Where the held-out scores come from; `None` where there are none, or where an earlier version fitted the model and
    /// scored blocks of time between known ones.
    pub fn scored_origins(&self) -> Option<ScoredOrigins> {
        self.rest.scored
    }

    /// Held-out scores of the forecaster, which comes first, and of its baselines.
    pub fn scores(&self) -> &[Score] {
        &self.rest.scores
    }

    /// The baseline with the best held-out CRPS.
    pub fn best_baseline(&self) -> Option<&Score> {
        self.rest.scores.iter().skip(1).min_by(|a, b| a.crps.total_cmp(&b.crps))
    }

    /// The support of the target.
    pub fn support(&self) -> Support {
        self.rest.support
    }

    /// Whether it predicts densities also where values lie on a grid: [`TargetSpec::continuous`]. Unknown, and taken as
    /// false, in models of earlier versions.
    ///
    /// [`TargetSpec::continuous`]: negmm_data::TargetSpec::continuous
    pub fn is_continuous(&self) -> bool {
        self.rest.own_grids == Some(false)
    }

    /// The series of a table, with the frequency of the training data.
    ///
    /// # Errors
    /// When the table lacks a column, or its times are not increasing.
    pub fn histories(&self, table: &Table) -> Result<Histories> {
        Histories::read(table, &self.transform.spec, Some(self.transform.frequency))
    }

    /// Forecasts of the steps after the end of each series.
    ///
    /// # Errors
    /// When the table cannot be read, or a future covariate ends too early.
    pub fn future(&self, table: &Table, histories: &Histories) -> Result<Forecasts> {
        self.predict(table, histories, self.each_point(histories, None).collect())
    }

    /// Forecasts of these points, each from what is known at its origin.
    ///
    /// # Errors
    /// When a future covariate ends too early.
    pub fn predict(&self, table: &Table, histories: &Histories, points: Vec<ForecastPoint>) -> Result<Forecasts> {
        self.check_future_covariates(table, histories, points.iter().copied())?;
        self.by_pasts(table, &self.pasts(histories), points)
    }

    /// The series with precomputed quantities for their features.
    pub(super) fn pasts<'a>(&'a self, histories: &'a Histories) -> Vec<Past<'a>> {
        let SeriesTransform { spec, frequency, .. } = &self.transform;
        let effects =
            |series| self.rest.holidays.as_ref().and_then(|effects| effects.of(&spec.holidays, series, *frequency));
        let of_series = |series| {
            let mut past = Past::affected(series, effects(series), &self.transform);
            if self.rest.own_grids.is_some() {
                past.own = OwnSupport::of(series, self.rest.support, self.is_continuous());
            }
            past
        };
        histories.series.iter().map(of_series).collect()
    }

    /// Forecasts of these points from precomputed quantities; of a hierarchy coherent ones.
    pub(super) fn by_pasts(&self, table: &Table, pasts: &[Past<'_>], points: Vec<ForecastPoint>) -> Result<Forecasts> {
        let Some(coherent) = &self.rest.coherent else { return self.each_alone(table, pasts, points) };
        let series: Vec<&Series> = pasts.iter().map(Past::series).collect();
        let alone = self.each_alone(table, pasts, complete(&points, &series))?;
        let (Rest { copula, support, .. }, seed) = (&self.rest, self.model.record().seed);
        let sampling = Sampling { copula: *copula, support: *support, horizon: self.transform.spec.horizon, seed };
        Ok(coherent.forecasts(alone, &series, sampling)?.select(points))
    }

    /// Forecasts of each series by itself.
    fn each_alone(&self, table: &Table, pasts: &[Past<'_>], points: Vec<ForecastPoint>) -> Result<Forecasts> {
        let Rest { network_weight, classical_weight, recent, classical, .. } = &self.rest;
        let recent_weight = (1.0 - network_weight - classical_weight).max(0.0);
        let shared = [*classical_weight, *network_weight];
        let own: Vec<[f64; 2]> = pasts
            .iter()
            .map(|past| self.rest.own_weights.get(&past.series().name).copied().unwrap_or(shared))
            .collect();
        let order: Vec<usize> = (0..points.len()).collect();
        let weighted = |mixtures: Mixtures, weight: &dyn Fn([f64; 2]) -> f64| {
            mixtures.take(&order, |row| (weight(own[points[row].series]), 1.0))
        };
        let mut scaled: Vec<Mixtures> = Vec::new();
        if *network_weight > 0.0 {
            let rows = Table::new(inputs(&self.transform, pasts, table, &points))?;
            let predicted = self.model.predict(&rows)?;
            let networks =
                predicted.mixtures().ok_or_else(|| Error::model("a forecaster's networks predict mixtures"))?;
            scaled.push(weighted(networks.clone(), &|[_, networks]| networks));
        }
        if recent_weight > WEIGHT_ROUNDING {
            let recent = recent.error_distribution().repeated(points.len());
            scaled.push(weighted(recent, &|[classical, networks]| (1.0 - classical - networks).max(0.0)));
        }
        let scaling =
            points.iter().map(|point| pasts[point.series].location_scale(&self.transform, *point).shift_and_scale());
        let mut parts = Vec::new();
        if !scaled.is_empty() {
            parts.push(Mixtures::concatenate_components(&scaled).rescaled_by_row(scaling));
        }
        let series: Vec<&Series> = pasts.iter().map(Past::series).collect();
        if let Some(classical) = classical.as_ref().filter(|_| *classical_weight > 0.0) {
            parts.push(weighted(classical.mixtures(&series, &points), &|[classical, _]| classical));
        }
        let pooled = spread_by(Mixtures::concatenate_components(&parts), self.rest.spread);
        let mut mixtures = self.rest.with_atoms(pooled, &series, &points);
        if self.rest.holidays.is_some() {
            let effect = |point: &ForecastPoint| pasts[point.series].effect(point.step(), self.transform.frequency);
            mixtures = mixtures.rescaled_by_row(points.iter().map(effect));
        }
        let own: Vec<&OwnSupport> = pasts.iter().map(|past| &past.own).collect();
        mixtures = self.rest.on_supports(mixtures, (&series, &own), &points, &self.transform.seasonal_periods);
        let predictions = Predictions::from(mixtures).with_sound_support(self.rest.support);
        Ok(Forecasts { points, predictions: self.model.helper().accelerating(predictions), draws: None })
    }

    /// The baselines' forecasts of the same points.
    pub fn baselines(&self, histories: &Histories, points: &[ForecastPoint]) -> Vec<BaselineForecast> {
        let baselines = self.each_baseline(histories);
        baselines.map(|(name, predict)| BaselineForecast { name, predictions: predict(points) }).collect()
    }

    /// The name of each baseline, and a function that forecasts points of these series.
    pub(super) fn each_baseline<'a>(
        &'a self,
        histories: &'a Histories,
    ) -> impl Iterator<Item = (String, impl Fn(&[ForecastPoint]) -> Predictions + use<'a>)> {
        self.rest.baselines.iter().chain([&self.rest.recent]).map(move |baseline| {
            let mixtures = baseline.of(&histories.series);
            let predict = move |points: &[ForecastPoint]| {
                Predictions::from(mixtures(points)).with_sound_support(self.rest.support)
            };
            (baseline.name.clone(), predict)
        })
    }

    /// Checks that the future covariates cover the horizon.
    pub(super) fn check_future_covariates(
        &self,
        table: &Table,
        histories: &Histories,
        mut points: impl Iterator<Item = ForecastPoint>,
    ) -> Result<()> {
        let Some(name) = self.transform.spec.future_covariates.first() else { return Ok(()) };
        let short = points.find(|point| point.step() >= histories.series[point.series].rows.len());
        let Some(point) = short else { return Ok(()) };
        let series = &histories.series[point.series];
        let of =
            if series.name.is_empty() { String::new() } else { format!(" of the series {}", quoted(&series.name)) };
        Err(table.locate(Error::data(format!(
            "{} must be known {} steps ahead, and the rows{of} end {} steps after the last known value: add rows whose {} is empty",
            quoted(name),
            self.transform.spec.horizon,
            series.rows.len() - series.len(),
            quoted(&self.transform.spec.target)
        ))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_that_an_earlier_version_wrote_as_null_is_missing() {
        let score: Score = serde_json::from_str(r#"{"name":"drift","crps":1.5,"nll":null}"#).unwrap();
        assert_eq!((score.crps, score.nll), (1.5, None));
        assert_eq!(serde_json::to_string(&score).unwrap(), r#"{"name":"drift","crps":1.5}"#);
    }

    #[test]
    fn what_could_not_be_read_is_not_written() {
        let values = (0..40).map(|step| f64::from(step).sin()).collect();
        let table = Table::new(vec![("y".to_string(), negmm_data::Column::Numbers(values))]).unwrap();
        let auto = crate::method::Auto::default().hidden(vec![4]).steps(5).folds(2);
        let spec = super::super::SeriesSpec::of("y").horizon(2);
        let fitted = super::super::fit_forecaster(&table, &spec, &auto, &crate::FitOptions::default()).unwrap();
        let mut forecaster = fitted.forecaster;
        assert!(forecaster.to_bytes().is_ok());
        forecaster.rest.spread = 0.0;
        let error = forecaster.to_bytes().unwrap_err().to_string();
        assert!(error.contains("cannot be written") && error.contains("out of range"), "{error}");
    }

    #[test]
    fn rows_are_replaced_and_the_others_padded() {
        let pooled = Mixtures::new(1, vec![1.0; 2], vec![3.0, 4.0], vec![1.0; 2]).unwrap();
        let atoms = vec![(0.25, 0.0, 0.0), (0.75, 2.0, 0.0)];
        let replaced = replace_rows(pooled.clone(), &[None, Some(atoms)]);
        assert_eq!((replaced.row(0).mean(), replaced.row(1).mean()), (3.0, 1.5));
        assert_eq!(replaced.row(1).point_probability(0.0), 0.25);
        assert_eq!(replace_rows(pooled.clone(), &[None, None]), pooled);
        let wide = spread_by(pooled, 2.0);
        assert!((wide.row(0).mean() - 3.0).abs() < 1e-12 && (wide.row(0).sd() - 2.0).abs() < 1e-12);
    }
}
