//! Encoding of dates and times: the time as a number, and cyclic features of the year, the week and the day.
//!
//! With d the days of a time since 1970, a time within a period of length L becomes the phase (sin, cos)(2 pi k d / L), k = 1, 2:
//! 23:50 is as near to 00:10 as noon is to 12:20.

use std::collections::BTreeSet;
use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::{ColumnEncoding, Features, NumberEncoding, NumberOptions, ParsedColumn, Unseen};
use crate::infer::calendar::{Date, weekday};
use crate::infer::datetime::DAY;
use crate::{Kind, TimeFormat};
use negmm_dist::novelty::Beyond;
use negmm_dist::weights::weight_of;
use negmm_dist::{Error, Result};

/// Days of a year on average.
const YEAR: f64 = 365.2425;
/// Months of the year that must be seen before the time of year counts: in fewer it is the time itself once more.
const FEWEST_MONTHS: usize = 3;
/// Years after which the time of year has been seen before.
const YEARS_OF_A_SEASON: f64 = 2.0;
/// Harmonics of a phase: rush hours come twice a day, spring and autumn are not each other's opposite.
const HARMONICS: usize = 2;
/// Thirty million years from 1970: no time is so far away.
const LARGEST_TIME: f64 = 1e15;
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// The time as a number in standard deviations, then its parts that varied in training, then a 0/1 flag for missing cells if
/// training had some. All but the flag are 0 where the time is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeEncoding {
    /// How the times are written in files.
    #[serde(rename = "form")]
    pub format: TimeFormat,
    /// The seconds since 1970.
    pub seconds: NumberEncoding,
    /// What else is read from a time.
    pub parts: Vec<TimePart>,
}

/// A part of a time that becomes features of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimePart {
    /// The day of the year as a phase.
    TimeOfYear,
    /// A 0/1 feature for each day of the week that was seen, 0 is Monday.
    DayOfWeek(Vec<usize>),
    /// The time of day as a phase.
    TimeOfDay,
}

impl TimePart {
    /// Features that it becomes.
    fn features(&self) -> usize {
        match self {
            Self::TimeOfYear | Self::TimeOfDay => 2 * HARMONICS,
            Self::DayOfWeek(seen) => seen.len(),
        }
    }

    /// Whether its features are numbers, not 0 or 1.
    fn is_number(&self) -> bool {
        !matches!(self, Self::DayOfWeek(_))
    }

    fn names(&self, column: &str) -> Vec<String> {
        match self {
            Self::TimeOfYear => phase_names(&format!("{column} (time of year")),
            Self::DayOfWeek(seen) => seen.iter().map(|day| format!("{column} ({})", WEEKDAYS[*day])).collect(),
            Self::TimeOfDay => phase_names(&format!("{column} (time of day")),
        }
    }

    /// Gives `set` the features of a time, each with its number.
    fn encode(&self, seconds: f64, mut set: impl FnMut(usize, f32)) {
        let days = (seconds / DAY).floor();
        let mut phase = |turns: f64| {
            for harmonic in 1..=HARMONICS {
                let angle = TAU * harmonic as f64 * turns;
                set(2 * harmonic - 2, libm::sin(angle) as f32);
                set(2 * harmonic - 1, libm::cos(angle) as f32);
            }
        };
        match self {
            Self::TimeOfYear => {
                let of_day = seconds / DAY - days;
                phase((Date::of_days(days as i64).day_of_year() as f64 + of_day) / YEAR);
            }
            Self::TimeOfDay => phase(seconds / DAY - days),
            Self::DayOfWeek(seen) => {
                let day = weekday(days as i64);
                if let Some(feature) = seen.iter().position(|other| *other == day) {
                    set(feature, 1.0);
                }
            }
        }
    }
}

fn phase_names(of: &str) -> Vec<String> {
    let name = |harmonic: usize, wave: &str| match harmonic {
        1 => format!("{of}, {wave})"),
        harmonic => format!("{of}, {wave} {harmonic})"),
    };
    (1..=HARMONICS).flat_map(|harmonic| ["sin", "cos"].map(|wave| name(harmonic, wave))).collect()
}

impl TimeEncoding {
    pub(crate) fn learn(seconds: &[f64], format: TimeFormat, weights: Option<&[f64]>) -> Self {
        let (mut times_of_day, mut weekdays, mut days, mut months) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (row, seconds) in seconds.iter().enumerate() {
            if seconds.is_nan() || weight_of(weights, row) <= 0.0 {
                continue;
            }
            let whole = (seconds / DAY).floor();
            if times_of_day.len() < 2 {
                times_of_day.insert((seconds - whole * DAY).to_bits());
            }
            if format == TimeFormat::TimeOfDay {
                continue;
            }
            let date = Date::of_days(whole as i64);
            weekdays.insert(weekday(whole as i64));
            days.insert(date.day);
            months.insert(date.month);
        }
        let mut parts = Vec::new();
        if months.len() >= FEWEST_MONTHS {
            parts.push(TimePart::TimeOfYear);
        }
        // Where every date is the first of a month, the day of the week is chance.
        if weekdays.len() > 1 && days.len() > 1 {
            parts.push(TimePart::DayOfWeek(weekdays.into_iter().collect()));
        }
        if times_of_day.len() > 1 {
            parts.push(TimePart::TimeOfDay);
        }
        Self { format, seconds: NumberEncoding::learn(seconds, weights), parts }
    }

    /// The features whose values do not come again: the time itself, and the time of year where training had less than two
    /// years.
    pub fn passing(&self) -> Vec<usize> {
        let years = self.seconds.range.map_or(0.0, |(first, last)| (last - first) / (YEAR * DAY));
        let passes = |part: &TimePart| matches!(part, TimePart::TimeOfYear) && years < YEARS_OF_A_SEASON;
        let parts = self.parts_with_first().filter(|(_, part)| passes(part));
        let parts = parts.flat_map(|(first, part)| first..first + part.features());
        (0..usize::from(self.seconds.varies())).chain(parts).collect()
    }

    /// The parts, each with the index of its first feature.
    fn parts_with_first(&self) -> impl Iterator<Item = (usize, &TimePart)> {
        let mut next = usize::from(self.seconds.varies());
        self.parts.iter().map(move |part| {
            let first = next;
            next += part.features();
            (first, part)
        })
    }
}

impl ColumnEncoding for TimeEncoding {
    fn kind(&self) -> Kind {
        Kind::Time(self.format)
    }

    fn features(&self) -> usize {
        self.seconds.features() + self.parts.iter().map(TimePart::features).sum::<usize>()
    }

    fn numbers(&self) -> Vec<usize> {
        let parts = self.parts_with_first().filter(|(_, part)| part.is_number());
        let parts = parts.flat_map(|(first, part)| first..first + part.features());
        self.seconds.numbers().into_iter().chain(parts).collect()
    }

    fn names(&self, column: &str) -> Vec<String> {
        let mut names = self.seconds.names(column);
        let flag = self.seconds.missing_flag.then(|| names.pop()).flatten();
        names.extend(self.parts.iter().flat_map(|part| part.names(column)));
        names.extend(flag);
        names
    }

    fn check(&self) -> Result<()> {
        let known = |part: &TimePart| match part {
            TimePart::DayOfWeek(seen) => {
                seen.windows(2).all(|pair| pair[0] < pair[1]) && seen.iter().all(|day| *day < 7)
            }
            _ => true,
        };
        if !self.parts.iter().all(known) {
            return Err(Error::model("the days of the week must be from 0 to 6, each once"));
        }
        if self.seconds.mean.abs() > LARGEST_TIME {
            return Err(Error::model("the times of its training are out of range"));
        }
        self.seconds.check()
    }

    fn beyond(&self, column: &ParsedColumn<'_>, note: &mut dyn FnMut(usize, Beyond)) {
        self.seconds.beyond(column, note);
    }

    fn knows_range(&self) -> bool {
        self.seconds.knows_range()
    }

    fn encode(&self, column: &ParsedColumn<'_>, mut features: Features<'_>, options: NumberOptions) -> Unseen {
        let flag = self.features() - 1;
        let mut unseen = Unseen::default();
        let (parts, missing): (Vec<_>, f32) = (self.parts_with_first().collect(), options.of_missing());
        let numbers = self.numbers();
        for (row, seconds) in column.numbers().iter().enumerate() {
            if seconds.is_nan() {
                numbers.iter().for_each(|number| features.set(row, *number, missing));
                match self.seconds.missing_flag {
                    true => features.set(row, flag, 1.0),
                    false => unseen.missing += 1,
                }
                continue;
            }
            if self.seconds.varies() {
                features.set(row, 0, self.seconds.standardised(*seconds, options));
            }
            for (first, part) in &parts {
                part.encode(*seconds, |feature, value| features.set(row, first + feature, value));
            }
        }
        unseen
    }
}
