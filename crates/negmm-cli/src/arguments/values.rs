//! Value parsers: the types that the texts of flags are read as.

use std::convert::Infallible;
use std::fmt;
#[cfg(feature = "serve")]
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;
#[cfg(feature = "serve")]
use std::time::Duration;

use negmm::Error;
use negmm::data::{Sequence, TimeFormat};
use negmm::forecast::Aggregate;
use negmm::predict::MOST_PATHS;
use negmm::prediction_table::FormKind;
use negmm::recalibration::RecalibrationMethod;
use negmm::tune::Dimension;
use negmm::verification::QuantileWeight;

use crate::renamed;

/// Threads at most: far more than any machine has, and few enough to start.
const MOST_THREADS: usize = 1024;

/// Digits that any number reads back from.
const MOST_DIGITS: usize = 17;

/// A value other than what was expected. The name of the flag is put before it where the message is made.
#[derive(Clone, Debug)]
pub struct Unexpected {
    expected: String,
    found: String,
}

impl Unexpected {
    fn new(expected: impl Into<String>, found: &str) -> Self {
        Self { expected: expected.into(), found: format!("{found:?}") }
    }

    fn out_of_range(expected: impl Into<String>, found: impl fmt::Display) -> Self {
        Self { expected: expected.into(), found: found.to_string() }
    }
}

impl fmt::Display for Unexpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "must be {}, found {}", self.expected, self.found)
    }
}

impl std::error::Error for Unexpected {}

/// A whole number.
pub fn whole<T: FromStr>(text: &str) -> Result<T, Unexpected> {
    text.trim().parse().map_err(|_| Unexpected::new("a whole number, at least 0", text))
}

/// A whole number, at least 1.
pub fn positive(text: &str) -> Result<usize, Unexpected> {
    match whole(text)? {
        0 => Err(Unexpected::out_of_range("at least 1", 0)),
        number => Ok(number),
    }
}

/// Significant digits of a number in 64 bits.
pub fn digits(text: &str) -> Result<usize, Unexpected> {
    match whole(text)? {
        digits if (1..=MOST_DIGITS).contains(&digits) => Ok(digits),
        digits => Err(Unexpected::out_of_range(format!("from 1 to {MOST_DIGITS}"), digits)),
    }
}

/// Any number.
pub fn number(text: &str) -> Result<f64, Unexpected> {
    text.trim().parse().map_err(|_| Unexpected::new("a number", text))
}

/// Threads to use.
pub fn threads(text: &str) -> Result<usize, Unexpected> {
    match whole(text)? {
        threads if threads > MOST_THREADS => Err(Unexpected::out_of_range(format!("at most {MOST_THREADS}"), threads)),
        threads => Ok(threads),
    }
}

/// Joint sample paths.
pub fn paths(text: &str) -> Result<usize, Unexpected> {
    match whole(text)? {
        paths if (1..=MOST_PATHS).contains(&paths) => Ok(paths),
        paths => Err(Unexpected::out_of_range(format!("from 1 to {MOST_PATHS}"), paths)),
    }
}

/// Steps of a window.
pub fn window(text: &str) -> Result<usize, Box<dyn std::error::Error + Send + Sync>> {
    let window = whole(text)?;
    Sequence { column: String::new(), window }.check()?;
    Ok(window)
}

/// A duration in seconds.
#[cfg(feature = "serve")]
pub fn seconds(text: &str) -> Result<Duration, Unexpected> {
    let seconds = text.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| Unexpected::new("a number of seconds", text))
}

/// One character.
pub fn character(text: &str) -> Result<char, Unexpected> {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => Ok(character),
        _ => Err(Unexpected::new("one character", text)),
    }
}

/// A field delimiter: one character, or the word `tab`.
pub fn delimiter(text: &str) -> Result<char, Unexpected> {
    if text == "tab" { Ok('\t') } else { character(text) }
}

/// A network address to listen at.
#[cfg(feature = "serve")]
pub fn address(text: &str) -> Result<SocketAddr, Unexpected> {
    let found = text.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    found.ok_or_else(|| Unexpected::new("HOST:PORT such as 127.0.0.1:8080", text))
}

/// The form of a file of predictions.
pub fn form(text: &str) -> Result<FormKind, Unexpected> {
    let names = FormKind::ALL.map(FormKind::name).join(", ");
    FormKind::by_name(text).ok_or_else(|| Unexpected::new(format!("one of {names}"), text))
}

/// The weight of a quantile-weighted CRPS.
pub fn quantile_weight(text: &str) -> Result<QuantileWeight, Unexpected> {
    QuantileWeight::by_name(text).ok_or_else(|| Unexpected::new("centre, tails, left, right or uniform", text))
}

/// A method of recalibration.
pub fn recalibration_method(text: &str) -> Result<RecalibrationMethod, Unexpected> {
    RecalibrationMethod::by_name(text).ok_or_else(|| Unexpected::new("pit, scale or conformal", text))
}

/// How the steps ahead of a forecast are aggregated.
pub fn over(text: &str) -> Result<Aggregate, Unexpected> {
    match text {
        "sum" => Ok(Aggregate::Sum),
        "max" => Ok(Aggregate::Max),
        "min" => Ok(Aggregate::Min),
        _ => Err(Unexpected::new("sum, max or min", text)),
    }
}

/// Names with commas between them; a name with a comma is quoted, and quotes inside it are doubled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl FromStr for Names {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let (mut names, mut name, mut quoted) = (Vec::new(), String::new(), false);
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '"' if quoted && characters.next_if_eq(&'"').is_some() => name.push('"'),
                '"' if quoted || name.trim().is_empty() => quoted = !quoted,
                ',' if !quoted => names.push(std::mem::take(&mut name).trim().to_string()),
                _ => name.push(character),
            }
        }
        names.push(name.trim().to_string());
        Ok(Self(names))
    }
}

/// A name as [`Names`] reads it.
pub fn quoted_name(name: &str) -> String {
    if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_string() }
}

/// Date columns, each alone or with its format: `when`, `when:dmy`.
#[derive(Clone, Debug, Default)]
pub struct Dates(pub Vec<(String, Option<TimeFormat>)>);

impl FromStr for Dates {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let date = |name: String| match name.rsplit_once(':').map(|(column, format)| (column, format.parse())) {
            Some((column, Ok(format))) => (column.to_string(), Some(format)),
            _ => (name, None),
        };
        let Names(names) = text.parse()?;
        Ok(Self(names.into_iter().map(date).collect()))
    }
}

/// Seasonal periods, with commas between them.
#[derive(Clone, Debug)]
pub struct Periods(pub Vec<usize>);

impl FromStr for Periods {
    type Err = Unexpected;

    fn from_str(text: &str) -> Result<Self, Unexpected> {
        text.split(',').map(whole).collect::<Result<_, _>>().map(Self)
    }
}

/// `OPTION=VALUE`: the setting of an option of a method.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The present name of the option.
    pub option: String,
    /// Its value.
    pub value: String,
    /// A notice where the option was typed by its former name.
    pub notice: Option<String>,
}

impl FromStr for Assignment {
    type Err = Unexpected;

    fn from_str(text: &str) -> Result<Self, Unexpected> {
        let (option, value) = text.split_once('=').ok_or_else(|| Unexpected::new("OPTION=VALUE", text))?;
        let (option, notice) = renamed::current(option);
        Ok(Self { option: option.to_string(), value: value.to_string(), notice })
    }
}

/// `OPTION=VALUES`: an option of a method and the values to try.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The option and its values.
    pub dimension: Dimension,
    /// A notice where the option was typed by its former name.
    pub notice: Option<String>,
}

impl FromStr for Trial {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let Some((option, values)) = text.split_once('=') else {
            return Dimension::parse(text).map(|dimension| Self { dimension, notice: None });
        };
        let (option, notice) = renamed::current(option.trim());
        Dimension::parse(&format!("{option}={values}")).map(|dimension| Self { dimension, notice })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.parse::<Names>().unwrap().0
    }

    #[test]
    fn names_with_commas_and_quotes() {
        assert_eq!(names("a, b"), ["a", "b"]);
        assert_eq!(names(r#""price, in €",b"#), ["price, in €", "b"]);
        let odd = ["5\" pipe", "a,b", "plain", "\"x\",y"];
        assert_eq!(names(&odd.map(quoted_name).join(",")), odd);
        assert_eq!(names("5\" pipe,b"), ["5\" pipe", "b"]);
    }

    #[test]
    fn dates_with_and_without_a_format() {
        let expected = [("a", Some(TimeFormat::Dmy)), ("b:c", None), ("d,e", Some(TimeFormat::Seconds))];
        let Dates(dates) = "a:dmy,b:c,\"d,e:seconds\"".parse().unwrap();
        assert_eq!(dates, expected.map(|(name, format)| (name.to_string(), format)));
    }
}
