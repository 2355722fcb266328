//! Formats of dates and times: detection for a column, and parsing of cells to seconds since 1970.
//!
//! A format is the order of the parts of a date, which a single cell may not show. In every format of a date the time of day
//! may follow (`09:00`, `T09:00:30.25`, `9:30 pm`), and after it the zone (`Z`, `+02:00`); with a zone the seconds are
//! those of UTC, without one those of the clock on the wall.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::calendar::Date;
use super::cursor::Cursor;
use negmm_dist::Error;

/// Seconds of a day.
pub(crate) const DAY: f64 = 86_400.0;
/// Years of two digits are 1969 to 2068, as POSIX has them.
const FIRST_OF_TWO_DIGITS: i64 = 69;
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// How the times of a column are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeFormat {
    /// Year, month, day: `2012-10-02`, `2012/10/2`, `2012-10`; without marks, `20121002` or `201210`, only where the column is
    /// declared as dates.
    #[default]
    Ymd,
    /// Day, month, year: `02/10/2012`, `2.10.12`.
    Dmy,
    /// Month, day, year: `10/02/2012`, `10-2-12`.
    Mdy,
    /// With the month's English name: `2 Oct 2012`, `October 2, 2012`, `02-Oct-12`, `Oct 2012`.
    Named,
    /// The time of day alone: `09:30`, `9:30:15 pm`.
    #[serde(rename = "clock")]
    TimeOfDay,
    /// Numbers: seconds since 1970. Only where declared.
    Seconds,
    /// Numbers: milliseconds since 1970. Only where declared.
    Milliseconds,
}

/// The error of a column whose cells fit several formats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ambiguous {
    /// A cell that fits all of them.
    pub cell: String,
    /// The formats that fit.
    pub formats: Vec<TimeFormat>,
}

impl TimeFormat {
    const ALL: [Self; 7] =
        [Self::Ymd, Self::Dmy, Self::Mdy, Self::Named, Self::TimeOfDay, Self::Seconds, Self::Milliseconds];

    /// The format that fits all of these different cells of a column; none where one of them is no time (or there is none), and
    /// where all of them are plain numbers.
    ///
    /// # Errors
    /// When day and month can be exchanged in all of them.
    pub fn decide<'a>(levels: impl Iterator<Item = &'a str>) -> std::result::Result<Option<Self>, Ambiguous> {
        let mut fitting = vec![Self::Ymd, Self::Dmy, Self::Mdy, Self::Named, Self::TimeOfDay];
        let mut first = None;
        for level in levels {
            if level.bytes().all(|byte| byte.is_ascii_digit()) {
                return Ok(None);
            }
            fitting.retain(|format| format.read(level).is_some());
            if fitting.is_empty() {
                return Ok(None);
            }
            first.get_or_insert(level);
        }
        match (first, &fitting[..]) {
            (None, _) => Ok(None),
            (Some(_), [format]) => Ok(Some(*format)),
            (Some(cell), _) => Err(Ambiguous { cell: cell.to_string(), formats: fitting }),
        }
    }

    /// Seconds since 1970-01-01 00:00, or since midnight for a time of day alone; none where the text is not of this format.
    pub fn read(self, text: &str) -> Option<f64> {
        let text = text.trim_ascii();
        match self {
            Self::Seconds => text.parse().ok().filter(|seconds: &f64| seconds.is_finite()),
            Self::Milliseconds => Some(Self::Seconds.read(text)? / 1000.0),
            Self::TimeOfDay => {
                let mut cursor = Cursor::new(text);
                let seconds = time_of_day(&mut cursor)?;
                cursor.is_at_end().then_some(seconds)
            }
            Self::Ymd | Self::Dmy | Self::Mdy | Self::Named => {
                let mut cursor = Cursor::new(text);
                let midnight = self.date(&mut cursor)?.days() as f64 * DAY;
                if cursor.is_at_end() {
                    return Some(midnight);
                }
                cursor.eat(b",");
                if !(cursor.blanks() || cursor.eat(b"Tt").is_some()) {
                    return None;
                }
                let seconds = time_of_day(&mut cursor)?;
                let ahead = zone(&mut cursor)?;
                cursor.is_at_end().then_some(midnight + seconds - ahead)
            }
        }
    }

    /// The same of a column that holds numbers, `20121002` among them.
    pub fn read_number(self, number: f64) -> Option<f64> {
        match self {
            Self::Seconds => Some(number),
            Self::Milliseconds => Some(number / 1000.0),
            _ => self.read(&number.to_string()),
        }
    }

    /// How such a time looks, for messages.
    pub fn example(self) -> &'static str {
        match self {
            Self::Ymd => "2012-12-31 23:50",
            Self::Dmy => "31/12/2012 23:50",
            Self::Mdy => "12/31/2012 23:50",
            Self::Named => "31 Dec 2012 23:50",
            Self::TimeOfDay => "23:50",
            Self::Seconds => "1356997800",
            Self::Milliseconds => "1356997800000",
        }
    }

    /// Its name in options.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ymd => "ymd",
            Self::Dmy => "dmy",
            Self::Mdy => "mdy",
            Self::Named => "named",
            Self::TimeOfDay => "clock",
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
        }
    }

    fn date(self, cursor: &mut Cursor<'_>) -> Option<Date> {
        match self {
            Self::Ymd => year_first(cursor),
            Self::Named => with_month_name(cursor),
            _ => {
                let digits = cursor.digits();
                let first = cursor.number(1..=2)?;
                let mark = cursor.eat(b"/-.")?;
                let digits = digits.min(cursor.digits());
                let second = cursor.number(1..=2)?;
                cursor.eat(&[mark])?;
                // 1.2.13 is more often a version, 3-5-12 a size.
                if cursor.digits() == 2 && digits == 1 && mark != b'/' {
                    return None;
                }
                let year = year(cursor)?;
                let (day, month) = if self == Self::Dmy { (first, second) } else { (second, first) };
                Date::new(year, month, day)
            }
        }
    }
}

impl fmt::Display for TimeFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

impl FromStr for TimeFormat {
    type Err = Error;

    fn from_str(text: &str) -> negmm_dist::Result<Self> {
        let words = || Self::ALL.map(Self::word).join(", ");
        let format = Self::ALL.into_iter().find(|format| format.word() == text);
        format.ok_or_else(|| Error::options(format!("the format of a date must be one of {}, found {text:?}", words())))
    }
}

/// `2012-10-02`, `2012/10/2`, `2012-10`, `20121002`, `201210`.
fn year_first(cursor: &mut Cursor<'_>) -> Option<Date> {
    let digits = cursor.digits();
    if digits == 8 || digits == 6 {
        let (year, month) = (cursor.number(4..=4)?, cursor.number(2..=2)?);
        return Date::new(year, month, if digits == 8 { cursor.number(2..=2)? } else { 1 });
    }
    if digits != 4 {
        return None;
    }
    let year = cursor.number(4..=4)?;
    let mark = cursor.eat(b"-/.")?;
    let month = cursor.number(1..=2)?;
    let day = if cursor.eat(&[mark]).is_some() { cursor.number(1..=2)? } else { 1 };
    Date::new(year, month, day)
}

/// `2 Oct 2012`, `02-Oct-12`, `October 2, 2012`, `Oct 2012`, each also after the name of a day of the week.
fn with_month_name(cursor: &mut Cursor<'_>) -> Option<Date> {
    let mut word = cursor.word();
    if named(word, &WEEKDAYS).is_some() {
        cursor.marks();
        word = cursor.word();
    }
    let (month, day) = if word.is_empty() {
        let day = cursor.number(1..=2)?;
        cursor.marks();
        (named(cursor.word(), &MONTHS)?, day)
    } else {
        let month = named(word, &MONTHS)?;
        cursor.marks();
        (month, if cursor.digits() == 4 { 1 } else { cursor.number(1..=2)? })
    };
    if cursor.digits() != 4 && !cursor.marks() {
        return None;
    }
    cursor.marks();
    Date::new(year(cursor)?, month, day)
}

/// A year of four digits, or of two.
fn year(cursor: &mut Cursor<'_>) -> Option<i64> {
    match cursor.digits() {
        4 => cursor.number(4..=4),
        2 => {
            let year = cursor.number(2..=2)?;
            Some(if year < FIRST_OF_TWO_DIGITS { 2000 + year } else { 1900 + year })
        }
        _ => None,
    }
}

/// The position of a name in a list, from 1: written in full or by at least its first three letters.
fn named(word: &str, names: &[&str]) -> Option<i64> {
    let word = word.to_ascii_lowercase();
    let is = |name: &&str| word.len() >= 3 && name.starts_with(&word);
    names.iter().position(is).map(|at| at as i64 + 1)
}

/// Seconds since midnight: `9:30`, `09:30:15.25`, `093015`, `9 pm`, `12:05 a.m.`; `24:00` is the end of the day.
fn time_of_day(cursor: &mut Cursor<'_>) -> Option<f64> {
    let digits = cursor.digits();
    let compact = digits == 4 || digits == 6;
    let hour = cursor.number(1..=2)?;
    let marked = !compact && cursor.eat(b":").is_some();
    let minute = if compact || marked { cursor.number(2..=2)? } else { 0 };
    let has_second = if compact { digits == 6 } else { marked && cursor.eat(b":").is_some() };
    let second = if has_second { cursor.number(2..=2)? } else { 0 };
    let fraction = if has_second { cursor.fraction()? } else { 0.0 };
    let half = half_of_day(cursor);
    let hour = match half {
        None if !(compact || marked) => return None,
        None => hour,
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(afternoon) => hour % 12 + if afternoon { 12 } else { 0 },
    };
    // A leap second is written as the 60th.
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = (hour * 3600 + minute * 60 + second) as f64 + fraction;
    (hour < 24 || seconds == DAY).then_some(seconds)
}

/// Whether `am` or `pm` follows, and if so whether it is `pm`.
fn half_of_day(cursor: &mut Cursor<'_>) -> Option<bool> {
    let here = *cursor;
    cursor.blanks();
    let half = cursor.eat(b"aApP").filter(|_| {
        let dotted = cursor.eat(b".").is_some();
        cursor.eat(b"mM").is_some() && (!dotted || cursor.eat(b".").is_some())
    });
    if half.is_none() {
        *cursor = here;
    }
    half.map(|letter| letter.eq_ignore_ascii_case(&b'p'))
}

/// Seconds that the zone is ahead of UTC, 0 where there is no zone.
fn zone(cursor: &mut Cursor<'_>) -> Option<f64> {
    cursor.blanks();
    let word = cursor.word();
    if ["", "Z", "UTC", "GMT"].iter().all(|zone| !zone.eq_ignore_ascii_case(word)) {
        return None;
    }
    let Some(sign) = cursor.eat(b"+-") else { return Some(0.0) };
    if word.eq_ignore_ascii_case("Z") {
        return None;
    }
    let hours = cursor.number(2..=2)?;
    let minutes = if cursor.eat(b":").is_some() || cursor.digits() == 2 { cursor.number(2..=2)? } else { 0 };
    let ahead = (hours * 3600 + minutes * 60) as f64;
    (hours < 24 && minutes < 60).then_some(if sign == b'+' { ahead } else { -ahead })
}

/// A time or a length of time, counted in parts of a second, in seconds. Every part is exact but the last sum, so that the same
/// length as text gives the same number.
pub fn seconds_of(time: i64, parts: i64) -> f64 {
    (time / parts) as f64 + (time % parts) as f64 / parts as f64
}

/// A time since 1970, counted in parts of a second, in seconds: the number of the same time as text, which is read as a date and
/// a time of day.
pub fn moment(time: i64, parts: i64) -> f64 {
    let (whole, rest) = (time.div_euclid(parts), time.rem_euclid(parts));
    let days = whole.div_euclid(DAY as i64);
    days as f64 * DAY + ((whole - days * DAY as i64) as f64 + rest as f64 / parts as f64)
}

/// A time as ISO 8601 writes it, without what is zero at its end: `2012-10-02`, `2012-10-02 09:00`.
pub fn iso(seconds: f64) -> String {
    let days = (seconds / DAY).floor();
    let Date { year, month, day } = Date::of_days(days as i64);
    let date = format!("{year:04}-{month:02}-{day:02}");
    match clock(seconds - days * DAY) {
        time if time == "00:00" => date,
        time => format!("{date} {time}"),
    }
}

/// Seconds since midnight as a clock shows them: `09:00`, `09:00:30`, `09:00:30.25`.
pub fn clock(seconds: f64) -> String {
    let whole = seconds.floor();
    let (hour, minute, second) = (whole as i64 / 3600, whole as i64 / 60 % 60, whole as i64 % 60);
    let fraction = format!("{:.6}", seconds - whole);
    let fraction = fraction.trim_start_matches(['0', '1']).trim_end_matches('0').trim_end_matches('.');
    match (second, fraction) {
        (0, "") => format!("{hour:02}:{minute:02}"),
        (second, fraction) => format!("{hour:02}:{minute:02}:{second:02}{fraction}"),
    }
}
