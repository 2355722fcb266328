//! Forecasters: a series transform and a fitted model, which together forecast the steps ahead.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::baseline::Baseline;
use super::copula::Copula;
use super::features::{Past, inputs};
use super::{ForecastPoint, Histories, SeriesTransform};
use crate::model::{bytes_of, read, save, write};
use crate::{Accelerator, Model};
use negmm_data::Table;
use negmm_dist::quote::quoted;
use negmm_dist::{Error, Mixtures, Predictions, Result, Support};

/// A fitted forecaster: a pool of networks on lag features and of the naive forecast with the empirical distribution
/// of recent changes.
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
    /// Stacking weight of the networks; the remainder belongs to the baseline of recent changes.
    #[serde(rename = "share")]
    pub(super) network_weight: f64,
    pub(super) recent: Baseline,
    #[serde(rename = "rivals")]
    pub(super) baselines: Vec<Baseline>,
    pub(super) copula: Copula,
    #[serde(default)]
    pub(super) support: Support,
    /// Mean out-of-fold CRPS and NLL, of the forecaster first and then of the baselines.
    pub(super) scores: Vec<Score>,
}

/// Mean scores on held-out steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Score {
    /// Name of the forecaster or baseline.
    pub name: String,
    /// Mean CRPS, in the target's unit.
    pub crps: f64,
    /// Mean NLL.
    pub nll: f64,
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

    /// The bytes of the model file: the same forecaster gives the same bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        write(&self.model, Some(ForecastParts { transform: self.transform.clone(), rest: self.rest.clone() }))
    }

    /// The forecaster from the parts of a model file, after validation.
    pub(crate) fn of_parts(model: Model, ForecastParts { transform, mut rest }: ForecastParts) -> Result<Self> {
        let damaged = |what: &str| Error::model(format!("the model file is damaged: {what}"));
        transform.check().map_err(|error| damaged(&error.to_string()))?;
        rest.support.check().map_err(|error| damaged(&error.to_string()))?;
        let horizon = transform.spec.horizon;
        let sound = (0.0..=1.0).contains(&rest.network_weight)
            && rest.copula.is_sound()
            && rest.baselines.iter().chain([&rest.recent]).all(|baseline| baseline.is_sound(horizon));
        if !sound || rest.scores.iter().any(|score| score.crps.is_nan() || score.nll.is_nan()) {
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

    /// Stacking weight of the networks; the remainder belongs to the naive forecast with the distribution of recent
    /// changes.
    pub fn network_weight(&self) -> f64 {
        self.rest.network_weight
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
    pub(super) fn pasts<'a>(&self, histories: &'a Histories) -> Vec<Past<'a>> {
        histories.series.iter().map(|series| Past::new(series, &self.transform)).collect()
    }

    /// Forecasts of these points from precomputed quantities.
    pub(super) fn by_pasts(&self, table: &Table, pasts: &[Past<'_>], points: Vec<ForecastPoint>) -> Result<Forecasts> {
        let rows = Table::new(inputs(&self.transform, pasts, table, &points))?;
        let predicted = self.model.predict(&rows)?;
        let networks = predicted.mixtures().ok_or_else(|| Error::model("a forecaster's networks predict mixtures"))?;
        let weight = self.rest.network_weight;
        let recent = self.rest.recent.error_distribution().repeated(points.len());
        let parts = [(networks.clone(), weight), (recent, 1.0 - weight)];
        let parts: Vec<Mixtures> = parts
            .into_iter()
            .filter(|(_, weight)| *weight > 0.0)
            .map(|(part, weight)| part.scale_weights(weight))
            .collect();
        let scaling =
            points.iter().map(|point| pasts[point.series].location_scale(&self.transform, *point).shift_and_scale());
        let mixtures = Mixtures::concatenate_components(&parts).rescaled_by_row(scaling);
        let predictions = Predictions::from(mixtures).with_sound_support(self.rest.support);
        Ok(Forecasts { points, predictions: self.model.helper().accelerating(predictions) })
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
