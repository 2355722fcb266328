//! Responses of a forecaster: the history of each series in, its next steps out, as `negmm predict` gives them.

use negmm::conformal::ConformalPredictor;
use negmm::forecast::{Forecaster, Forecasts, Histories};
use negmm::{Questions, Table};

use crate::failure::Failure;
use crate::written::{Form, written};

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
        questions: &Questions,
        max_numbers: usize,
    ) -> Result<Self, Failure> {
        if questions.novelty {
            return Err(Failure::bad("a forecaster's answers have no novelty"));
        }
        let histories = forecaster.histories(table)?;
        let (series, horizon) = (histories.series.len(), forecaster.recipe().roles.horizon);
        let names = questions.names(forecaster.model())?.len();
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
        self.forecasts.places.len()
    }

    /// The body of the response.
    pub fn encode(&self, questions: &Questions, form: &Form) -> Result<Vec<u8>, Failure> {
        let Self { forecaster, table, histories, forecasts } = self;
        let Forecasts { places, predictions, .. } = forecasts;
        let answers = match questions.guaranteed {
            true => {
                let mut adaptive = forecaster.adaptive(table, histories, &questions.sets())?;
                forecaster.adapt(&mut adaptive, histories, forecasts)?;
                questions.answer_guaranteed(predictions, 0, ConformalPredictor::AdaptiveConformal(&adaptive))?
            }
            false => questions.answer(predictions, 0)?,
        };
        written(form, &forecaster.placed(answers, histories, places, true, false))
    }
}
