//! Index columns of forecasts: series, origin, time and step.

use super::{ForecastPoint, Forecaster, Histories};
use crate::Answers;
use negmm_data::infer::datetime::iso;

impl Forecaster {
    /// The answers about forecasts of these places, after the columns that say which they are of: the series and the time, where the
    /// table has them, the origin where forecasts begin `inside` the series, and where each is of one of the `steps` ahead, which.
    ///
    /// # Panics
    /// When there is not one place for each row, or one lies in no series.
    #[must_use]
    pub fn placed<'a>(
        &self,
        mut answers: Answers<'a>,
        histories: &Histories,
        places: &[ForecastPoint],
        steps: bool,
        inside: bool,
    ) -> Answers<'a> {
        let recipe = &self.recipe;
        let time = |place: &ForecastPoint, step: usize| {
            let time = histories.series[place.series].time(step, recipe.clock);
            if recipe.clock.has_dates() { iso(time) } else { time.to_string() }
        };
        if steps {
            answers = answers.after_whole("step", places.iter().map(|place| place.ahead as i64).collect());
        }
        if let Some(name) = &recipe.roles.time {
            answers = answers.after_text(name, places.iter().map(|place| time(place, place.step())).collect());
            if inside {
                answers = answers.after_text("origin", places.iter().map(|place| time(place, place.origin)).collect());
            }
        } else if inside {
            let row = |place: &ForecastPoint| histories.series[place.series].rows[place.origin] as i64 + 1;
            answers = answers.after_whole("origin_row", places.iter().map(row).collect());
        }
        if let Some(name) = &recipe.roles.series {
            let series = |place: &ForecastPoint| histories.series[place.series].name.clone();
            answers = answers.after_text(name, places.iter().map(series).collect());
        }
        answers
    }
}
