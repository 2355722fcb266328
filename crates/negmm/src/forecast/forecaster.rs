//! Responsible for forecasters: a recipe, what was learnt by it, and what both say of what comes.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::copula::{Copula, Products, score};
use super::lags::{BLOCK, CHANGE, Past, inputs};
use super::measure::Frame;
use super::rival::Rival;
use super::scale::FAR;
use super::{Clock, Histories, Place, Recipe, Roles, Series};
use crate::data::{Column, Inputs, Outcome, Table, quoted};
use crate::math::rng::Rng;
use crate::method::{Auto, Method, Stacking};
use crate::model::{FitPlan, Fitted, HeldOut, Loaded, forecaster_to_bytes, plan};
use crate::samples::SampleSets;
use crate::train::{Job, Trained, train};
use crate::{Error, FitOptions, Mixtures, Model, Predictions, Result, Support, streams};

/// Rows of the table of the past, at most, and steps ahead of each origin among them.
const MOST_ROWS: usize = 40_000;
const STEPS_OF_ORIGIN: usize = 3;
/// Parts of time, each held out once together with another (twice as many blocks); half as many from so many rows on, one step
/// ahead and several.
const FOLDS: usize = 10;
const FEW_ROWS: usize = 3_000;
const MANY_ROWS: usize = 20_000;
/// Units that networks do without at each step: windows overlap, and what they say twice would be learnt by heart.
const DROPOUT: f64 = 0.2;
/// Frequencies of the embeddings: what follows changes smoothly with the past.
const FREQUENCY: f64 = 0.1;
/// The first of so many parts of a series has no origins that are learnt from, where its seasons reach further than that.
const WARM_UP_PART: usize = 4;

/// What forecasts: networks on the past, and the naive forecast with the law of recent changes beside them.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecaster {
    pub(super) recipe: Recipe,
    model: Model,
    rest: Rest,
}

/// What a forecaster has beside its networks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ForecastParts {
    recipe: Recipe,
    rest: Rest,
}

/// What it has beside those and its recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Rest {
    /// How much the networks count; the rest is the law of recent changes.
    share: f64,
    recent: Rival,
    rivals: Vec<Rival>,
    copula: Copula,
    #[serde(default)]
    support: Support,
    /// Out of fold, each with its mean CRPS and NLL; the forecaster comes first.
    scores: Vec<Score>,
}

/// How well something forecast what it had not learnt from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Score {
    /// What it is called.
    pub name: String,
    /// Mean CRPS, in the target's unit.
    pub crps: f64,
    /// Mean NLL.
    pub nll: f64,
}

/// What a fit gives.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FittedForecaster {
    /// The forecaster.
    pub forecaster: Forecaster,
    /// Sentences about the data that the caller should pass on.
    pub warnings: Vec<String>,
}

/// Forecasts of some places, in the order of series, origins and steps ahead.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Forecasts {
    /// Which.
    pub places: Vec<Place>,
    /// One prediction for each.
    pub predictions: Predictions,
}

/// Everything that fitting a forecaster needs but the training itself.
#[derive(Clone, Debug)]
pub struct ForecastPlan {
    learning: FitPlan,
    recipe: Recipe,
    series: Vec<Series>,
    places: Vec<Place>,
    frames: Vec<Frame>,
    changes: Vec<f64>,
    outcome: Outcome,
    warnings: Vec<String>,
}

/// Fits a forecaster in one call: plan, train, finish. `auto` says how much is trained.
///
/// # Errors
/// When the data or the settings are at fault, or the caller asked to stop.
pub fn fit_forecaster(table: &Table, roles: &Roles, auto: &Auto, options: &FitOptions<'_>) -> Result<FittedForecaster> {
    let plan = ForecastPlan::new(table, roles, auto, &options.inputs.outcome, options.seed)?;
    let trained = train(options.engine, &plan.jobs(), &options.watch);
    plan.finish(trained)
}

impl ForecastPlan {
    /// Decides everything that fitting a forecaster of the series in `table` takes.
    ///
    /// # Errors
    /// When the data or the settings are at fault.
    pub fn new(table: &Table, roles: &Roles, auto: &Auto, outcome: &Outcome, seed: u64) -> Result<Self> {
        roles.check()?;
        if outcome.is_censored() {
            return Err(Error::options("the steps of a sequence cannot be censored"));
        }
        let histories = Histories::read(table, roles, None)?;
        let recipe = Recipe::choose(roles, &histories);
        let Histories { series, mut warnings, .. } = histories;
        let places = training_places(&series, &recipe, seed);
        let pasts: Vec<Past<'_>> = series.iter().map(|series| Past::new(series, &recipe)).collect();
        let frames: Vec<Frame> = places.iter().map(|place| pasts[place.series].frame(&recipe, *place)).collect();
        let change = |(place, frame): (&Place, &Frame)| {
            ((series[place.series].values[place.step()] - frame.point) / frame.unit).clamp(-FAR, FAR)
        };
        let changes: Vec<f64> = places.iter().zip(&frames).map(change).collect();
        if places.is_empty() {
            return Err(table.blame(Error::data(format!(
                "no step of {} comes after another one: a forecast needs at least two known values",
                quoted(&roles.target)
            ))));
        }
        let mut columns = inputs(&recipe, &pasts, table, &places)?;
        let blocks = places.iter().map(|place| block(&series[place.series], *place, &recipe) as f64);
        columns.push((CHANGE.into(), Column::Numbers(changes.clone())));
        columns.push((BLOCK.into(), Column::Numbers(blocks.collect())));
        let inputs = Inputs {
            group: Some(BLOCK.into()),
            outcome: Outcome { continuous: true, ..Outcome::default() },
            ..Inputs::default()
        };
        let method = Method::Auto(sized(auto, places.len(), roles.horizon));
        let learning = plan(&Table::new(columns)?, CHANGE, &method, &inputs, seed)?.without_extrapolation();
        if places.len() < 10 {
            warnings.push(format!(
                "{} steps are too few to learn from: forecasts are the naive ones, as wide as changes were",
                places.len()
            ));
        }
        Ok(Self { learning, recipe, series, places, frames, changes, outcome: outcome.clone(), warnings })
    }

    /// What is to be trained; [`ForecastPlan::finish`] takes the results in this order.
    pub fn jobs(&self) -> Vec<Job> {
        self.learning.jobs()
    }

    /// Makes a forecaster of what was trained.
    ///
    /// # Errors
    /// When a job failed, or the results are not those of the plan's jobs.
    pub fn finish(self, trained: Vec<Result<Trained>>) -> Result<FittedForecaster> {
        let Self { learning, recipe, series, places, frames, changes, outcome, mut warnings } = self;
        let Fitted { model, held_out, .. } = learning.finish(trained)?;
        let model = model.extrapolating(None);
        let recent = Rival::recent(&recipe, &changes);
        let HeldOut { rows, folds, predictions, .. } = held_out;
        let support = Support { lower: outcome.lower, upper: outcome.upper, ..Support::default() };
        support.check()?;
        let mut rest = Rest {
            share: 1.0,
            rivals: Rival::all(&recipe, &series),
            recent,
            copula: Copula::default(),
            support,
            scores: Vec::new(),
        };
        let Some(networks) = predictions.mixtures().cloned() else {
            return Ok(FittedForecaster { forecaster: Forecaster { recipe, model, rest }, warnings });
        };
        let held = Held {
            places: rows.iter().map(|row| places[*row]).collect(),
            frames: rows.iter().map(|row| frames[*row]).collect(),
            changes: rows.iter().map(|row| changes[*row]).collect(),
            folds,
        };
        let of_law = held.by_law(&recipe);
        let (share, pooled) = held.pooled(networks, of_law)?;
        rest.share = share;
        rest.copula = held.copula(&pooled)?;
        let y: Vec<f64> = held.places.iter().map(|place| series[place.series].values[place.step()]).collect();
        let scored = |name: &str, predictions: &Predictions| -> Result<Score> {
            let mean = |list: Vec<f64>| list.iter().sum::<f64>() / list.len().max(1) as f64;
            Ok(Score { name: name.into(), crps: mean(predictions.crps(&y)?), nll: mean(predictions.nll(&y)?) })
        };
        let own = pooled.rescaled_by_row(held.frames.iter().map(|Frame { point, unit }| (*point, *unit)));
        rest.scores.push(scored("forecast", &Predictions::from(own).with_sound_support(support))?);
        for rival in rest.rivals.iter().chain([&rest.recent]) {
            let predictions = Predictions::from(rival.predict(&series, &held.places)).with_sound_support(support);
            rest.scores.push(scored(&rival.name, &predictions)?);
        }
        let forecaster = Forecaster { recipe, model, rest };
        if let Some(best) = forecaster.best_rival().filter(|best| best.crps <= forecaster.rest.scores[0].crps) {
            warnings.push(format!(
                "no better than the naive forecast {:?} on steps that were held out: CRPS {:.4} against {:.4}",
                best.name, forecaster.rest.scores[0].crps, best.crps
            ));
        }
        Ok(FittedForecaster { forecaster, warnings })
    }
}

/// Places that were held out, and by which fold.
struct Held {
    places: Vec<Place>,
    frames: Vec<Frame>,
    changes: Vec<f64>,
    folds: Vec<u32>,
}

impl Held {
    /// The law of the other folds' changes.
    fn by_law(&self, recipe: &Recipe) -> Mixtures {
        let folds = self.folds.iter().max().map_or(0, |last| last + 1);
        let laws: Vec<Mixtures> = (0..folds)
            .map(|fold| {
                let others = self.changes.iter().zip(&self.folds).filter(|(_, other)| **other != fold);
                Rival::recent(recipe, &others.map(|(change, _)| *change).collect::<Vec<_>>()).law()
            })
            .collect();
        Mixtures::concatenated(self.folds.iter().map(|fold| laws[*fold as usize].clone()).collect())
    }

    /// How much networks count beside the law, and what both say of the held-out changes with the shares that suit the other folds.
    fn pooled(&self, networks: Mixtures, law: Mixtures) -> Result<(f64, Mixtures)> {
        let likelihoods = [&networks, &law].map(|mixtures| {
            let row = |(row, change): (usize, &f64)| mixtures.row(row).log_pdf(*change);
            self.changes.iter().enumerate().map(row).collect::<Vec<f64>>()
        });
        let stacking = Stacking::new(&likelihoods, &self.folds, &vec![1.0; self.folds.len()]);
        let folds = self.folds.iter().max().map_or(0, |last| last + 1);
        let without: Vec<Vec<f64>> = (0..folds).map(|fold| stacking.shares_without(fold)).collect();
        let order: Vec<usize> = (0..self.folds.len()).collect();
        let parts = [networks, law]
            .into_iter()
            .enumerate()
            .map(|(part, mixtures)| mixtures.reordered(&order, |row| (without[self.folds[row] as usize][part], 1.0)));
        Ok((stacking.shares()[0], Mixtures::side_by_side(&parts.collect::<Vec<_>>())))
    }

    /// The dependence between steps ahead of the same origins.
    fn copula(&self, pooled: &Mixtures) -> Result<Copula> {
        let mut products = Products::default();
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        order.sort_unstable_by_key(|at| (self.places[*at].series, self.places[*at].origin, self.places[*at].ahead));
        for origin in order.chunk_by(|a, b| {
            (self.places[*a].series, self.places[*a].origin) == (self.places[*b].series, self.places[*b].origin)
        }) {
            let scores =
                origin.iter().map(|at| (self.places[*at].ahead, score(pooled.row(*at).cdf(self.changes[*at]))));
            products.add(&scores.collect::<Vec<_>>());
        }
        Ok(Copula::nearest(&products))
    }
}

impl Forecaster {
    /// Reads a model file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::of(Loaded::load(path)?).map_err(|error| error.in_file(path))
    }

    /// Reads the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::of(Loaded::from_bytes(bytes)?)
    }

    fn of(loaded: Loaded) -> Result<Self> {
        match loaded {
            Loaded::Forecaster(forecaster) => Ok(*forecaster),
            Loaded::Model(_) => Err(Error::model("this file holds a model of rows, not a forecaster of series")),
        }
    }

    /// The bytes of the model file: the same forecaster gives the same bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        forecaster_to_bytes(&self.model, ForecastParts { recipe: self.recipe.clone(), rest: self.rest.clone() })
    }

    /// What a file has, if it can be.
    pub(crate) fn of_parts(model: Model, ForecastParts { recipe, rest }: ForecastParts) -> Result<Self> {
        let damaged = |what: &str| Error::model(format!("the model file is damaged: {what}"));
        recipe.check().map_err(|error| damaged(&error.to_string()))?;
        rest.support.check().map_err(|error| damaged(&error.to_string()))?;
        let horizon = recipe.roles.horizon;
        let sound = (0.0..=1.0).contains(&rest.share)
            && rest.copula.is_sound()
            && rest.rivals.iter().chain([&rest.recent]).all(|rival| rival.is_sound(horizon));
        if !sound || rest.scores.iter().any(|score| score.crps.is_nan() || score.nll.is_nan()) {
            return Err(damaged("a number of its forecasts is out of range"));
        }
        Ok(Self { recipe, model, rest })
    }

    /// How it forecasts.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The model of scaled changes.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// How much the networks count; the rest is the naive forecast with the law of recent changes.
    pub fn share(&self) -> f64 {
        self.rest.share
    }

    /// How well it and its rivals forecast steps that were held out; its own score comes first.
    pub fn scores(&self) -> &[Score] {
        &self.rest.scores
    }

    /// The rival with the best held-out CRPS.
    pub fn best_rival(&self) -> Option<&Score> {
        self.rest.scores.iter().skip(1).min_by(|a, b| a.crps.total_cmp(&b.crps))
    }

    /// What is possible at all.
    pub fn support(&self) -> Support {
        self.rest.support
    }

    /// The series of a table, by the clock of training.
    ///
    /// # Errors
    /// When the table lacks a column, or its times do not rise.
    pub fn histories(&self, table: &Table) -> Result<Histories> {
        let clock = self.recipe.roles.time.as_ref().map(|_| self.recipe.clock);
        Histories::read(table, &self.recipe.roles, clock.or(Some(Clock::Rows)))
    }

    /// What follows the end of each series.
    ///
    /// # Errors
    /// When the table cannot be read, or a column that must be known ahead ends too early.
    pub fn future(&self, table: &Table, histories: &Histories) -> Result<Forecasts> {
        let ends = histories.series.iter().enumerate().map(|(series, one)| (series, one.len() - 1));
        let horizon = self.recipe.roles.horizon;
        let places: Vec<Place> =
            ends.flat_map(|(series, origin)| (1..=horizon).map(move |ahead| Place { series, origin, ahead })).collect();
        self.predict(table, histories, places)
    }

    /// Forecasts of these places, each from what is known at its origin.
    ///
    /// # Errors
    /// When a column that must be known ahead ends too early.
    pub fn predict(&self, table: &Table, histories: &Histories, places: Vec<Place>) -> Result<Forecasts> {
        self.check_known(table, histories, &places)?;
        let series = &histories.series;
        let pasts: Vec<Past<'_>> = series.iter().map(|series| Past::new(series, &self.recipe)).collect();
        let rows = Table::new(inputs(&self.recipe, &pasts, table, &places)?)?;
        let predicted = self.model.predict(&rows)?;
        let networks = predicted.mixtures().ok_or_else(|| Error::model("a forecaster's networks predict mixtures"))?;
        let law = self.rest.recent.law().repeated(places.len());
        let parts = [(networks.clone(), self.rest.share), (law, 1.0 - self.rest.share)];
        let parts: Vec<Mixtures> =
            parts.into_iter().filter(|(_, share)| *share > 0.0).map(|(part, share)| part.weighed(share)).collect();
        let frames = places.iter().map(|place| {
            let Frame { point, unit } = pasts[place.series].frame(&self.recipe, *place);
            (point, unit)
        });
        let mixtures = Mixtures::side_by_side(&parts).rescaled_by_row(frames);
        Ok(Forecasts { places, predictions: Predictions::from(mixtures).with_sound_support(self.rest.support) })
    }

    /// What rivals say of the same places, with their names.
    pub fn rivals(&self, histories: &Histories, places: &[Place]) -> Vec<(String, Predictions)> {
        let all = self.rest.rivals.iter().chain([&self.rest.recent]);
        let predict = |rival: &Rival| {
            let mixtures = rival.predict(&histories.series, places);
            (rival.name.clone(), Predictions::from(mixtures).with_sound_support(self.rest.support))
        };
        all.map(predict).collect()
    }

    /// Joint paths through the steps ahead of each origin: for each place `count` values, the n-th of all steps of an origin being one
    /// path.
    ///
    /// # Errors
    /// When a quantile cannot be found.
    pub fn paths(&self, forecasts: &Forecasts, count: usize, seed: u64) -> Result<Vec<f64>> {
        let Forecasts { places, predictions } = forecasts;
        let mut values = vec![0.0; places.len() * count];
        let mut first = 0;
        for origin in places.chunk_by(|a, b| (a.series, a.origin) == (b.series, b.origin)) {
            let place = origin[0];
            let stream = streams::PATHS + ((place.series as u64) << 32) + place.origin as u64;
            let mut rng = Rng::new(seed, stream);
            let last = origin.iter().map(|place| place.ahead).max().unwrap_or(1);
            for path in 0..count {
                let probabilities = self.rest.copula.path(last, &mut rng);
                for (at, place) in origin.iter().enumerate() {
                    let row = first + at;
                    values[row * count + path] = predictions.row(row).quantile(probabilities[place.ahead - 1]);
                }
            }
            first += origin.len();
        }
        Ok(values)
    }

    /// One distribution for each origin, by paths: of what `over` makes of the steps ahead.
    ///
    /// # Errors
    /// When a quantile cannot be found.
    pub fn over(&self, forecasts: &Forecasts, over: Over, paths: usize, seed: u64) -> Result<Forecasts> {
        let values = self.paths(forecasts, paths, seed)?;
        let (mut samples, mut places, mut first) = (Vec::new(), Vec::new(), 0);
        for origin in forecasts.places.chunk_by(|a, b| (a.series, a.origin) == (b.series, b.origin)) {
            let of_path = |path: usize| {
                let steps = (0..origin.len()).map(|at| values[(first + at) * paths + path]);
                match over {
                    Over::Sum => steps.sum(),
                    Over::Max => steps.fold(f64::NEG_INFINITY, f64::max),
                    Over::Min => steps.fold(f64::INFINITY, f64::min),
                }
            };
            samples.extend((0..paths).map(of_path));
            places.push(origin[origin.len() - 1]);
            first += origin.len();
        }
        Ok(Forecasts { places, predictions: Predictions::from(SampleSets::new(paths, samples, f64::MIN_POSITIVE)?) })
    }

    /// Whether what must be known ahead is there.
    fn check_known(&self, table: &Table, histories: &Histories, places: &[Place]) -> Result<()> {
        let Some(name) = self.recipe.roles.known.first() else { return Ok(()) };
        let short = places.iter().find(|place| place.step() >= histories.series[place.series].rows.len());
        let Some(place) = short else { return Ok(()) };
        let series = &histories.series[place.series];
        let of =
            if series.name.is_empty() { String::new() } else { format!(" of the series {}", quoted(&series.name)) };
        Err(table.blame(Error::data(format!(
            "{} must be known {} steps ahead, and the rows{of} end {} steps after the last known value: add rows whose {} is empty",
            quoted(name),
            self.recipe.roles.horizon,
            series.rows.len() - series.len(),
            quoted(&self.recipe.roles.target)
        ))))
    }
}

/// What steps ahead are put together to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Their sum.
    Sum,
    /// The largest of them.
    Max,
    /// The smallest of them.
    Min,
}

/// The settings that forecasts from so many rows have where nobody says something else.
fn sized(auto: &Auto, rows: usize, horizon: usize) -> Auto {
    let many = rows < FEW_ROWS || horizon > 1 && rows < MANY_ROWS;
    Auto {
        folds: auto.folds.or(Some(if many { FOLDS } else { FOLDS / 2 })),
        dropout: auto.dropout.or(Some(DROPOUT)),
        embedding: auto.embedding.or(Some(FREQUENCY)),
        ..auto.clone()
    }
}

/// Places to learn from: of each series as many origins as there is room for, evenly spread, and some steps ahead of each.
fn training_places(series: &[Series], recipe: &Recipe, seed: u64) -> Vec<Place> {
    let horizon = recipe.roles.horizon;
    let ahead_each = horizon.min(STEPS_OF_ORIGIN);
    let most = (MOST_ROWS / ahead_each / series.len().max(1)).max(1);
    let mut rng = Rng::new(seed, streams::PLACES);
    let mut places = Vec::new();
    for (number, one) in series.iter().enumerate() {
        let origins = first_origin(one, recipe)..one.len().saturating_sub(1);
        let every = origins.len().div_ceil(most).max(1);
        let mut steps: Vec<usize> = (1..=horizon).collect();
        for origin in origins.step_by(every) {
            if horizon > ahead_each {
                rng.shuffle(&mut steps);
            }
            let mut chosen = steps[..ahead_each].to_vec();
            chosen.sort_unstable();
            let known = |ahead: &usize| one.values.get(origin + ahead).is_some_and(|value| !value.is_nan());
            let place = |ahead: usize| Place { series: number, origin, ahead };
            places.extend(chosen.into_iter().filter(known).map(place));
        }
    }
    places
}

/// The first origin that is learnt from.
fn first_origin(series: &Series, recipe: &Recipe) -> usize {
    recipe.reach().min(series.len() / WARM_UP_PART)
}

/// The block of time that a place belongs to.
fn block(series: &Series, place: Place, recipe: &Recipe) -> usize {
    let first = first_origin(series, recipe);
    let origins = (series.len() - 1).saturating_sub(first).max(1);
    2 * FOLDS * (place.origin - first) / origins
}
