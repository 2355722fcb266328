//! Adaptive conformal inference for forecasts: by step ahead and series.

use serde::Serialize;

use super::{BacktestOrigins, ForecastPoint, Forecaster, Forecasts, Histories};
use crate::conformal::{AdaptiveConformal, ConformalPredictor, SetKind};
use negmm_data::Table;
use negmm_dist::Result;

/// Empirical coverage and width of adaptive intervals.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AdaptiveScores {
    /// Nominal coverage.
    pub coverage: f64,
    /// Empirical coverage: the fraction of values inside their interval.
    pub held: f64,
    /// Upper bound on the difference between empirical and nominal coverage.
    pub bound: f64,
    /// Mean width of the bounded intervals.
    pub width: f64,
    /// Fraction of unbounded intervals.
    pub whole_line: f64,
}

impl Forecaster {
    /// Conformal sets adapted to the misses at origins within these series, ready for the steps after their end.
    ///
    /// # Errors
    /// When the table cannot be forecast.
    pub fn adaptive(&self, table: &Table, histories: &Histories, sets: &[(SetKind, f64)]) -> Result<AdaptiveConformal> {
        let mut adaptive = AdaptiveConformal::new(sets);
        for forecasts in self.portions(table, histories, Some(BacktestOrigins::default()))? {
            self.adapt(&mut adaptive, histories, &forecasts?)?;
        }
        Ok(adaptive)
    }

    /// Makes the sets of these forecasts, whose origins come after those of earlier calls.
    ///
    /// # Errors
    /// When the number of predictions differs from the number of forecast points.
    pub fn adapt(&self, adaptive: &mut AdaptiveConformal, histories: &Histories, forecasts: &Forecasts) -> Result<()> {
        let horizon = self.recipe.roles.horizon;
        let value = |place: &ForecastPoint| {
            histories.series[place.series].values.get(place.step()).copied().unwrap_or(f64::NAN)
        };
        let y: Vec<f64> = forecasts.places.iter().map(value).collect();
        adaptive.follow(&forecasts.predictions, &y, |row| {
            let ForecastPoint { series, origin, ahead } = forecasts.places[row];
            (series * horizon + ahead - 1, origin, origin + ahead)
        })
    }
}

/// Running scores of adaptive intervals.
pub(super) struct Adapting {
    coverage: f64,
    adaptive: AdaptiveConformal,
    rows: usize,
    /// Number of bounded intervals, and the sum of their widths.
    finite: usize,
    width: f64,
}

impl Adapting {
    pub(super) fn new(coverage: f64) -> Self {
        Self {
            coverage,
            adaptive: AdaptiveConformal::new(&[(SetKind::Intervals, coverage)]),
            rows: 0,
            finite: 0,
            width: 0.0,
        }
    }

    /// Adds the next forecasts.
    pub(super) fn see(&mut self, forecaster: &Forecaster, histories: &Histories, forecasts: &Forecasts) -> Result<()> {
        forecaster.adapt(&mut self.adaptive, histories, forecasts)?;
        let (lower, upper) =
            ConformalPredictor::AdaptiveConformal(&self.adaptive).intervals(&forecasts.predictions, self.coverage)?;
        self.rows += lower.len();
        for width in lower.iter().zip(&upper).map(|(lower, upper)| upper - lower).filter(|width| width.is_finite()) {
            self.finite += 1;
            self.width += width;
        }
        Ok(())
    }

    /// The scores so far.
    pub(super) fn scores(&self) -> Result<AdaptiveScores> {
        let kept = self.adaptive.kept(SetKind::Intervals, self.coverage)?;
        Ok(AdaptiveScores {
            coverage: self.coverage,
            held: kept.held as f64 / kept.targets.max(1) as f64,
            bound: kept.bound,
            width: self.width / self.finite.max(1) as f64,
            whole_line: 1.0 - self.finite as f64 / self.rows.max(1) as f64,
        })
    }
}
