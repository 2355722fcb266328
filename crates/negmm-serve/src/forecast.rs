//! Responses of a forecaster: the history of each series in, its next steps out, as `negmm predict` gives them.

use negmm::forecast::{Forecaster, Forecasts, Histories};
use negmm::predict::{ForecastOptions, ForecastQuery};
use negmm::{Query, Table};

use crate::encode::{ResponseFormat, encode};
use crate::failure::Failure;

/// The forecasts for the rows of a request.
pub struct ForecastResponse<'a> {
    forecaster: &'a Forecaster,
    table: &'a Table,
    histories: Histories,
    forecasts: Forecasts,
}

impl<'a> ForecastResponse<'a> {
    /// Forecasts the steps after the end of each series of a table.
    ///
    /// # Errors
    /// When the rows are not valid series, or the response would have more than `max_numbers`.
    pub fn new(
        forecaster: &'a Forecaster,
        table: &'a Table,
        query: &Query,
        max_numbers: usize,
    ) -> Result<Self, Failure> {
        ForecastQuery::check(query, forecaster, ForecastOptions::default())?;
        let histories = forecaster.histories(table)?;
        let (series, horizon) = (histories.series.len(), forecaster.transform().spec.horizon);
        let names = query.names(forecaster.model())?.len();
        if names.saturating_mul(series).saturating_mul(horizon) > max_numbers {
            let message =
                format!("{horizon} steps of {series} series with {names} columns are more than {max_numbers} numbers");
            return Err(Failure::too_large(message));
        }
        let forecasts = forecaster.future(table, &histories)?;
        Ok(Self { forecaster, table, histories, forecasts })
    }

    /// Number of forecasts: one for each step of each series.
    pub fn len(&self) -> usize {
        self.forecasts.points.len()
    }

    /// The body of the response.
    ///
    /// # Errors
    /// When two columns would have one name.
    pub fn encode(&self, query: &Query, format: &ResponseFormat) -> Result<Vec<u8>, Failure> {
        let Self { forecaster, table, histories, forecasts } = self;
        let mut query = ForecastQuery::new(query, forecaster, table, histories, ForecastOptions::default())?;
        encode(format, &query.columns(forecasts)?)
    }
}
