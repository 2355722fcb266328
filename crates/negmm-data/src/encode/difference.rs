//! Differences of two time columns in seconds, such as the duration of a ride.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{ColumnEncoding, Encoding, Features, Input, NumberOptions, ParsedColumn};
use crate::{NumberEncoding, TimeFormat};
use negmm_dist::novelty::Beyond;
use negmm_dist::{Error, Result};

/// Maximum number of time columns whose pairs are all considered; with more of them, there are no differences.
pub(crate) const MOST_COLUMNS: usize = 4;

/// The seconds from one time column to another as a number, 0 where one of them is missing; the missing flags are features of the columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeDifference {
    /// The column that is subtracted.
    pub from: String,
    /// The column that it is subtracted from.
    pub to: String,
    /// How the seconds become a feature.
    pub seconds: NumberEncoding,
}

impl TimeDifference {
    /// The differences of the inputs that are times, each later column less each earlier one, where the difference varies.
    /// `columns` are the parsed cells of the inputs.
    pub(crate) fn learn(inputs: &[Input], columns: &[ParsedColumn<'_>], weights: Option<&[f64]>) -> Vec<Self> {
        let times: Vec<(&str, TimeFormat, &[f64])> = inputs
            .iter()
            .zip(columns)
            .filter_map(|(input, column)| {
                time_format(input).map(|format| (input.name.as_str(), format, column.numbers()))
            })
            .collect();
        let mut differences = Vec::new();
        if times.len() > MOST_COLUMNS {
            return differences;
        }
        for (at, (to, format, later)) in times.iter().enumerate() {
            for (from, other, earlier) in &times[..at] {
                differences.extend(Self::of_pair((from, *other, earlier), (to, *format, later), weights));
            }
        }
        differences
    }

    /// The difference of two inputs that are times, each with its name, format and cells, where it varies.
    pub(crate) fn of_pair(
        (from, other, earlier): (&str, TimeFormat, &[f64]),
        (to, format, later): (&str, TimeFormat, &[f64]),
        weights: Option<&[f64]>,
    ) -> Option<Self> {
        // A time of day and a date have no difference.
        if (format == TimeFormat::TimeOfDay) != (other == TimeFormat::TimeOfDay) {
            return None;
        }
        let numbers = subtract(later, earlier);
        let seconds = NumberEncoding { missing_flag: false, ..NumberEncoding::learn(&numbers, weights) };
        (seconds.sd > 0.0).then(|| Self { from: from.to_string(), to: to.to_string(), seconds })
    }

    /// The name of its feature.
    pub fn name(&self) -> String {
        format!("{} - {}", self.to, self.from)
    }

    /// The difference of each row, NaN where one of the two times is missing; `column` gives the parsed cells of an input.
    pub(crate) fn parse<'a>(&self, column: impl Fn(&str) -> Option<&'a [f64]>) -> ParsedColumn<'static> {
        let (from, to) = (column(&self.from).unwrap_or_default(), column(&self.to).unwrap_or_default());
        ParsedColumn::Numbers(Cow::Owned(subtract(to, from)))
    }

    /// Writes its one feature.
    pub(crate) fn encode(&self, column: &ParsedColumn<'_>, features: Features<'_>, options: NumberOptions) {
        self.seconds.encode(column, features, options);
    }

    /// Calls `note` for the rows, in order, that are outside the training range.
    pub(crate) fn beyond(&self, column: &ParsedColumn<'_>, note: &mut dyn FnMut(usize, Beyond)) {
        // A missing time is noted in its own column.
        self.seconds.beyond(column, &mut |row, beyond| {
            if beyond != Beyond::Unseen {
                note(row, beyond);
            }
        });
    }

    /// Validates a difference from a file.
    pub(crate) fn check(&self, inputs: &[Input]) -> Result<()> {
        let known = |name: &str| inputs.iter().any(|input| input.name == name && time_format(input).is_some());
        if !known(&self.from) || !known(&self.to) || self.seconds.features() != 1 {
            return Err(Error::model(format!("{} is no difference of two inputs that are times", self.name())));
        }
        self.seconds.check()
    }
}

/// The format of an input that is a time and has features.
pub(crate) fn time_format(input: &Input) -> Option<TimeFormat> {
    match &input.encoding {
        Encoding::Time(encoding) if input.is_used() => Some(encoding.format),
        _ => None,
    }
}

fn subtract(later: &[f64], earlier: &[f64]) -> Vec<f64> {
    later.iter().zip(earlier).map(|(later, earlier)| later - earlier).collect()
}
