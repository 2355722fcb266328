//! Batches of forecasts: long series are forecast some thousands of points at a time, in bounded memory.

use std::iter::from_fn;

use super::{BacktestOrigins, ForecastPoint, Forecaster, Forecasts, Histories};
use negmm_data::Table;
use negmm_dist::Result;

/// Points per batch; a batch ends with a complete origin.
const BATCH: usize = 4096;

impl Forecaster {
    /// Forecasts from these origins, or without origins of the steps after the end of each series, in batches of
    /// complete origins. The result equals a single call, in bounded memory.
    ///
    /// # Errors
    /// When a future covariate ends too early.
    pub fn batches<'a>(
        &'a self,
        table: &'a Table,
        histories: &'a Histories,
        origins: Option<BacktestOrigins>,
    ) -> Result<impl Iterator<Item = Result<Forecasts>> + Send + use<'a>> {
        self.in_batches(table, histories, self.each_point(histories, origins))
    }

    /// Forecasts of these points.
    pub(super) fn in_batches<'a, P: Iterator<Item = ForecastPoint> + Clone + Send + 'a>(
        &'a self,
        table: &'a Table,
        histories: &'a Histories,
        points: P,
    ) -> Result<impl Iterator<Item = Result<Forecasts>> + Send + use<'a, P>> {
        self.check_future_covariates(table, histories, points.clone())?;
        let whole = !self.transform.spec.hierarchy.is_empty();
        let (pasts, mut points) = (self.pasts(histories), points.peekable());
        Ok(from_fn(move || {
            let mut batch: Vec<ForecastPoint> = Vec::with_capacity(BATCH);
            let back = |point: &ForecastPoint| histories.series[point.series].len() - point.origin;
            // Series of a hierarchy are forecast together.
            let together = |last: &ForecastPoint, next: &ForecastPoint| match whole {
                true => back(last) == back(next),
                false => last.is_beside(next),
            };
            let belongs = |batch: &[ForecastPoint], next: &ForecastPoint| {
                batch.len() < BATCH || batch.last().is_some_and(|last| together(last, next))
            };
            while let Some(point) = points.next_if(|next| belongs(&batch, next)) {
                batch.push(point);
            }
            (!batch.is_empty()).then(|| self.by_pasts(table, &pasts, batch))
        }))
    }
}
