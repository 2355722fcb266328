//! Adaptive conformal inference for forecasts: by step ahead and series.

use negmm_dist::Interval;
use serde::Serialize;

use super::{BacktestOrigins, ForecastPoint, Forecaster, Forecasts, Histories};
use crate::conformal::{AdaptiveConformal, ConformalPredictor, SequenceStep, SetSpec};
use negmm_data::Table;
use negmm_dist::Result;

/// Empirical coverage and width of adaptive intervals.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AdaptiveScores {
    /// Nominal coverage.
    pub coverage: f64,
    /// Empirical coverage: the fraction of values inside their interval.
    #[serde(rename = "held")]
    pub empirical: f64,
    /// Upper bound on the difference between empirical and nominal coverage.
    pub bound: f64,
    /// Mean width of the bounded intervals.
    pub width: f64,
    /// Fraction of unbounded intervals.
    #[serde(rename = "whole_line")]
    pub unbounded: f64,
}

impl Forecaster {
    /// Conformal sets adapted to the misses at origins within these series, ready for the steps after their end.
    ///
    /// # Errors
    /// When the table cannot be forecast.
    pub fn adaptive(&self, table: &Table, histories: &Histories, sets: &[SetSpec]) -> Result<AdaptiveConformal> {
        let mut adaptive = AdaptiveConformal::new(sets);
        for forecasts in self.batches(table, histories, Some(BacktestOrigins::default()))? {
            self.adapt(&mut adaptive, histories, &forecasts?)?;
        }
        Ok(adaptive)
    }

    /// Makes the sets of these forecasts, whose origins come after those of earlier calls.
    ///
    /// # Errors
    /// When the number of predictions differs from the number of forecast points.
    pub fn adapt(&self, adaptive: &mut AdaptiveConformal, histories: &Histories, forecasts: &Forecasts) -> Result<()> {
        let horizon = self.transform.spec.horizon;
        let value = |point: &ForecastPoint| {
            histories.series[point.series].values.get(point.step()).copied().unwrap_or(f64::NAN)
        };
        let y: Vec<f64> = forecasts.points.iter().map(value).collect();
        adaptive.update(&forecasts.predictions, &y, |row| {
            let ForecastPoint { series, origin, ahead } = forecasts.points[row];
            SequenceStep { sequence: series * horizon + ahead - 1, made: origin, known: origin + ahead }
        })
    }
}

/// Running scores of adaptive intervals.
pub(super) struct AdaptiveAccumulator {
    coverage: f64,
    adaptive: AdaptiveConformal,
    rows: usize,
    /// Number of bounded intervals, and the sum of their widths.
    finite: usize,
    width: f64,
}

impl AdaptiveAccumulator {
    pub(super) fn new(coverage: f64) -> Self {
        Self {
            coverage,
            adaptive: AdaptiveConformal::new(&[SetSpec::intervals(coverage)]),
            rows: 0,
            finite: 0,
            width: 0.0,
        }
    }

    /// Adds the next forecasts.
    pub(super) fn update(
        &mut self,
        forecaster: &Forecaster,
        histories: &Histories,
        forecasts: &Forecasts,
    ) -> Result<()> {
        forecaster.adapt(&mut self.adaptive, histories, forecasts)?;
        let Interval { lower, upper } =
            ConformalPredictor::Adaptive(&self.adaptive).intervals(&forecasts.predictions, self.coverage)?;
        self.rows += lower.len();
        for width in lower.iter().zip(&upper).map(|(lower, upper)| upper - lower).filter(|width| width.is_finite()) {
            self.finite += 1;
            self.width += width;
        }
        Ok(())
    }

    /// The scores so far.
    pub(super) fn scores(&self) -> Result<AdaptiveScores> {
        let found = self.adaptive.coverage(SetSpec::intervals(self.coverage))?;
        Ok(AdaptiveScores {
            coverage: self.coverage,
            empirical: found.covered as f64 / found.targets.max(1) as f64,
            bound: found.bound,
            width: self.width / self.finite.max(1) as f64,
            unbounded: 1.0 - self.finite as f64 / self.rows.max(1) as f64,
        })
    }
}
