//! Responsible for requests to a forecaster: the past of each series in, the steps after its end out, as `negmm predict` gives them.

use negmm::conformal::Guard;
use negmm::forecast::{Forecaster, Forecasts, Histories};
use negmm::{Questions, Table};

use crate::failure::Failure;
use crate::written::{Form, written};

/// The forecasts for the rows of a request.
pub struct Ahead<'a> {
    forecaster: &'a Forecaster,
    table: &'a Table,
    histories: Histories,
    forecasts: Forecasts,
}

impl<'a> Ahead<'a> {
    /// What follows the end of each series of a table.
    ///
    /// # Errors
    /// When the rows are no series, or the answers would have more numbers than `most`.
    pub fn of(
        forecaster: &'a Forecaster,
        table: &'a Table,
        questions: &Questions,
        most: usize,
    ) -> Result<Self, Failure> {
        if questions.novelty {
            return Err(Failure::bad("a forecaster's answers have no novelty"));
        }
        let histories = forecaster.histories(table)?;
        let (series, horizon) = (histories.series.len(), forecaster.recipe().roles.horizon);
        let names = questions.names(forecaster.model())?.len();
        if names.saturating_mul(series).saturating_mul(horizon) > most {
            let message =
                format!("{horizon} steps of {series} series with {names} answers are more than {most} numbers");
            return Err(Failure::too_large(message));
        }
        let forecasts = forecaster.future(table, &histories)?;
        Ok(Self { forecaster, table, histories, forecasts })
    }

    /// Forecasts, one for each step of each series.
    pub fn len(&self) -> usize {
        self.forecasts.places.len()
    }

    /// The answers about them.
    pub fn answer(&self, questions: &Questions, form: &Form) -> Result<Vec<u8>, Failure> {
        let Self { forecaster, table, histories, forecasts } = self;
        let Forecasts { places, predictions, .. } = forecasts;
        let answers = match questions.guaranteed {
            true => {
                let mut adaptive = forecaster.adaptive(table, histories, &questions.sets())?;
                forecaster.adapt(&mut adaptive, histories, forecasts)?;
                questions.answer_guaranteed(predictions, 0, Guard::Adaptive(&adaptive))?
            }
            false => questions.answer(predictions, 0)?,
        };
        written(form, &forecaster.placed(answers, histories, places, true, false))
    }
}
