//! Batches of forecasts: long series are forecast some thousands of points at a time, in bounded memory.

use std::iter::from_fn;

use super::{BacktestOrigins, ForecastPoint, Forecaster, Forecasts, Histories};
use negmm_data::Table;
use negmm_dist::Result;

/// Points per batch; a batch ends with a complete origin.
const PORTION: usize = 4096;

impl Forecaster {
    /// Forecasts from these origins, or without origins of the steps after the end of each series, in batches of
    /// complete origins. The result equals a single call, in bounded memory.
    ///
    /// # Errors
    /// When a column that must be known ahead ends too early.
    pub fn portions<'a>(
        &'a self,
        table: &'a Table,
        histories: &'a Histories,
        origins: Option<BacktestOrigins>,
    ) -> Result<impl Iterator<Item = Result<Forecasts>> + Send + use<'a>> {
        self.in_portions(table, histories, self.each_place(histories, origins))
    }

    /// Forecasts of these points.
    pub(super) fn in_portions<'a, P: Iterator<Item = ForecastPoint> + Clone + Send + 'a>(
        &'a self,
        table: &'a Table,
        histories: &'a Histories,
        places: P,
    ) -> Result<impl Iterator<Item = Result<Forecasts>> + Send + use<'a, P>> {
        self.check_known(table, histories, places.clone())?;
        let (pasts, mut places) = (self.pasts(histories), places.peekable());
        Ok(from_fn(move || {
            let mut portion: Vec<ForecastPoint> = Vec::with_capacity(PORTION);
            let belongs = |portion: &[ForecastPoint], next: &ForecastPoint| {
                portion.len() < PORTION || portion.last().is_some_and(|last| last.is_beside(next))
            };
            while let Some(place) = places.next_if(|next| belongs(&portion, next)) {
                portion.push(place);
            }
            (!portion.is_empty()).then(|| self.by_pasts(table, &pasts, portion))
        }))
    }
}
