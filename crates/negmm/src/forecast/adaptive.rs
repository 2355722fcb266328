//! Responsible for forecasts whose sets adapt: each step ahead of each series by what was missed before its origin.

use serde::Serialize;

use super::{Forecaster, Forecasts, Histories, Origins, Place};
use crate::conformal::{Adaptive, Guard, Sets};
use crate::data::Table;
use crate::{Predictions, Result};

/// How adaptive intervals did.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AdaptiveScores {
    /// What was asked for.
    pub coverage: f64,
    /// The share of values that they held.
    pub held: f64,
    /// How far that share can be from what was asked for, at most.
    pub bound: f64,
    /// Mean width of those that are not the whole line.
    pub width: f64,
    /// The share of those that are.
    pub whole_line: f64,
}

impl Forecaster {
    /// What makes sets of these places adapt. Where they follow the end of a series, the sets of origins before it come first.
    ///
    /// # Errors
    /// When the table cannot be forecast.
    pub fn adaptive(&self, table: &Table, histories: &Histories, places: &[Place]) -> Result<Adaptive> {
        let follows = |place: &Place| place.step() >= histories.series[place.series].values.len();
        let mut all = match places.iter().any(follows) {
            true => self.places(histories, Origins::default()),
            false => Vec::new(),
        };
        all.extend_from_slice(places);
        let Forecasts { places: all, predictions } = self.predict(table, histories, all)?;
        Ok(self.adapting(histories, &all, &predictions)?.of_last(places.len()))
    }

    fn adapting(&self, histories: &Histories, places: &[Place], predictions: &Predictions) -> Result<Adaptive> {
        let horizon = self.recipe().roles.horizon;
        let value =
            |place: &Place| histories.series[place.series].values.get(place.step()).copied().unwrap_or(f64::NAN);
        let y: Vec<f64> = places.iter().map(value).collect();
        Adaptive::new(predictions, &y, |row| {
            let Place { series, origin, ahead } = places[row];
            (series * horizon + ahead - 1, origin, origin + ahead)
        })
    }

    /// How adaptive intervals of these forecasts do.
    ///
    /// # Errors
    /// When a quantile cannot be found.
    pub(super) fn adaptive_scores(
        &self,
        histories: &Histories,
        Forecasts { places, predictions }: &Forecasts,
        coverage: f64,
    ) -> Result<AdaptiveScores> {
        let adaptive = self.adapting(histories, places, predictions)?;
        let (_, kept) = adaptive.outside(Sets::Intervals, coverage);
        let (lower, upper) = Guard::Adaptive(&adaptive).intervals(predictions, coverage)?;
        let widths = lower.iter().zip(&upper).map(|(lower, upper)| upper - lower);
        let finite: Vec<f64> = widths.filter(|width| width.is_finite()).collect();
        Ok(AdaptiveScores {
            coverage,
            held: kept.held as f64 / kept.targets.max(1) as f64,
            bound: kept.bound,
            width: finite.iter().sum::<f64>() / finite.len().max(1) as f64,
            whole_line: 1.0 - finite.len() as f64 / places.len().max(1) as f64,
        })
    }
}
