//! Differences of two time columns in seconds, such as the duration of a ride.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::encode::{ColumnEncoding, Encoding, Features, Input, NumberOptions};
use crate::infer::time_columns::seconds;
use crate::{Column, NumberEncoding, Table, TimeForm};
use negmm_dist::novelty::Beyond;
use negmm_dist::{Error, Result};

/// Columns of times whose pairs are all looked at; of more than these, none.
const MOST_COLUMNS: usize = 4;

/// The seconds from one column of times to another as a number, 0 where one of them is missing: their own flags say so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeDifference {
    /// The column that is taken away.
    pub from: String,
    /// The column that it is taken from.
    pub to: String,
    /// How the seconds become a feature.
    pub seconds: NumberEncoding,
}

impl TimeDifference {
    /// Those of the inputs that are times, each later column less each earlier one, where the difference varies.
    pub(crate) fn learn(table: &Table, inputs: &[Input], weights: Option<&[f64]>) -> Result<Vec<Self>> {
        let times: Vec<(&str, TimeForm)> = inputs.iter().filter_map(time).collect();
        let mut differences = Vec::new();
        if times.len() > MOST_COLUMNS {
            return Ok(differences);
        }
        for (at, (to, form)) in times.iter().enumerate() {
            for (from, other) in &times[..at] {
                // A time of day and a date have nothing between them.
                if (*form == TimeForm::TimeOfDay) != (*other == TimeForm::TimeOfDay) {
                    continue;
                }
                let numbers = between(table, (from, *other), (to, *form))?;
                let seconds = NumberEncoding { missing_flag: false, ..NumberEncoding::learn(&numbers, weights) };
                if seconds.sd > 0.0 {
                    differences.push(Self { from: from.to_string(), to: to.to_string(), seconds });
                }
            }
        }
        Ok(differences)
    }

    /// The name of its feature.
    pub fn name(&self) -> String {
        format!("{} - {}", self.to, self.from)
    }

    /// Writes its one feature.
    pub(crate) fn encode(
        &self,
        table: &Table,
        inputs: &[Input],
        features: Features<'_>,
        options: NumberOptions,
    ) -> Result<()> {
        let form = |name: &str| inputs.iter().filter_map(time).find(|(time, _)| *time == name);
        let (Some(from), Some(to)) = (form(&self.from), form(&self.to)) else {
            return Err(Error::model(format!("{} is no difference of two inputs that are times", self.name())));
        };
        let numbers = Column::Numbers(between(table, from, to)?);
        self.seconds.encode(&numbers, features, options).map(|_| ()).map_err(|(_, error)| error)
    }

    /// Notes the rows, in order, that lie outside the range of training.
    pub(crate) fn beyond(&self, table: &Table, inputs: &[Input], note: &mut dyn FnMut(usize, Beyond)) {
        let form = |name: &str| inputs.iter().filter_map(time).find(|(time, _)| *time == name);
        let (Some(from), Some(to)) = (form(&self.from), form(&self.to)) else { return };
        // A missing time is noted in its own column.
        let mut numbers_alone = |row, beyond| {
            if beyond != Beyond::Unseen {
                note(row, beyond);
            }
        };
        if let Ok(numbers) = between(table, from, to) {
            self.seconds.beyond(&Column::Numbers(numbers), &mut numbers_alone);
        }
    }

    /// Says what is wrong with a difference that came from a file.
    pub(crate) fn check(&self, inputs: &[Input]) -> Result<()> {
        let known = |name: &str| inputs.iter().filter_map(time).any(|(time, _)| time == name);
        if !known(&self.from) || !known(&self.to) || self.seconds.features() != 1 {
            return Err(Error::model(format!("{} is no difference of two inputs that are times", self.name())));
        }
        self.seconds.check()
    }
}

/// The name and form of an input that is a time, and used.
fn time(input: &Input) -> Option<(&str, TimeForm)> {
    match &input.encoding {
        Encoding::Time(encoding) if input.is_used() => Some((input.name.as_str(), encoding.form)),
        _ => None,
    }
}

/// The seconds from one column to another, NaN where one of them is missing.
fn between(table: &Table, from: (&str, TimeForm), to: (&str, TimeForm)) -> Result<Vec<f64>> {
    let of = |(name, form): (&str, TimeForm)| -> Result<Cow<'_, [f64]>> {
        let column = table.column(name).ok_or_else(|| table.blame(Error::data(table.absent(&[name]))))?;
        seconds(column, form).map_err(|(row, error)| table.blame_cell(error, row, name))
    };
    Ok(of(to)?.iter().zip(of(from)?.iter()).map(|(to, from)| to - from).collect())
}
