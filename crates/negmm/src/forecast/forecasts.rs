//! Forecasts of points of series: the members' distributions, pooled, on the values that a series can take.

use std::collections::HashMap;
use std::sync::Arc;

use super::coherent::{Sampling, complete};
use super::features::{Past, inputs};
use super::parts::{Rest, WEIGHT_ROUNDING};
use super::spread::{centred, of_their_mean, spread_by};
use super::supports::OwnSupport;
use super::{ForecastPoint, Forecaster, Histories, Series, SeriesTransform};
use negmm_data::Table;
use negmm_dist::quote::quoted;
use negmm_dist::{Error, Mixtures, Predictions, Result};

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
        let scaling: Vec<(f64, f64)> = points
            .iter()
            .map(|point| pasts[point.series].location_scale(&self.transform, *point).shift_and_scale())
            .collect();
        let mut parts = Vec::new();
        if *network_weight > 0.0 {
            let rows = Table::new(inputs(&self.transform, pasts, table, &points))?;
            let predicted = self.model.predict(&rows)?;
            let networks = match self.rest.single_networks {
                Some(networks) => of_their_mean(&predicted, networks),
                None => predicted.into_mixtures(),
            };
            let networks = networks.ok_or_else(|| Error::model("a forecaster's networks predict mixtures"))?;
            parts.push(weighted(networks, &|[_, networks]| networks).rescaled_by_row(scaling.iter().copied()));
        }
        if recent_weight > WEIGHT_ROUNDING {
            let recent = recent.error_distribution().repeated(points.len());
            let weighted = weighted(recent, &|[classical, networks]| (1.0 - classical - networks).max(0.0));
            parts.push(weighted.rescaled_by_row(scaling.into_iter()));
        }
        let series: Vec<&Series> = pasts.iter().map(Past::series).collect();
        if let Some(classical) = classical.as_ref().filter(|_| *classical_weight > 0.0) {
            parts.push(weighted(classical.mixtures(&series, &points), &|[classical, _]| classical));
        }
        let pool = if self.rest.centred { centred(&parts) } else { Mixtures::concatenate_components(&parts) };
        let pooled = spread_by(pool, self.rest.spread);
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
