//! The parameters of a prediction query: names, help, and reading from text.

use crate::{Error, Result};

/// A number with its text, which is part of the column name: `0.90` and `0.9` give two names of the same column.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// The text as written.
    pub text: String,
    /// Its value.
    pub value: f64,
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self { text: value.to_string(), value }
    }
}

impl Number {
    /// Numbers with commas between them; `name` is used in messages.
    ///
    /// # Errors
    /// When one is not a finite number.
    pub fn list(name: &str, text: &str) -> Result<Vec<Self>> {
        numbers(name, text)
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// A parameter of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name: an option of `negmm predict`, a parameter of a request, an argument in Python.
    pub name: &'static str,
    /// Its values and columns.
    pub help: &'static str,
}

/// All parameters, in the order of their columns.
pub const PARAMETERS: [Parameter; 13] = {
    const fn parameter(name: &'static str, help: &'static str) -> Parameter {
        Parameter { name, help }
    }
    [
        parameter("quantiles", "levels between 0 and 1: columns q0.05 …"),
        parameter("interval", "coverages between 0 and 1: columns lower_0.9 and upper_0.9 …"),
        parameter(
            "region",
            "coverages between 0 and 1: columns region_0.9, the highest-density region as text, and region_0.9_length",
        ),
        parameter("conformal", "true: intervals and regions are conformal prediction sets"),
        parameter("above", "values: columns p_above_50 …, the probability of a target above the value"),
        parameter("below", "values: columns p_below_50 …, the probability of a target below the value"),
        parameter("equal", "values: columns p_equal_0 …, the point probability of the value"),
        parameter("shortfall", "fractions between 0 and 1: columns shortfall_0.05 …, the mean of that lowest fraction"),
        parameter("parts", "true: the parts of the variance"),
        parameter("novelty", "true: how far a row lies outside the ranges of training, and by which input"),
        parameter("components", "true: the mixture itself, weight_1 …, mean_1 …, sd_1 …"),
        parameter("draws", "a count: random draws, draw_1 …"),
        parameter("seed", "a count: the random seed of the draws, 0 by default"),
    ]
};

/// Former names of parameters, which are still read, each with its present name.
pub const RENAMED: [(&str, &str); 2] = [("mass", "equal"), ("guaranteed", "conformal")];

/// Numbers with commas between them; `name` is used in messages.
pub(super) fn numbers(name: &str, text: &str) -> Result<Vec<Number>> {
    let read = |part: &str| match part.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Number { text: part.trim().to_string(), value }),
        _ => Err(Error::option(name, format!("must be numbers with commas between them, found {part:?}"))),
    };
    text.split(',').map(read).collect()
}

/// `true` (or nothing) or `false`.
pub(super) fn switch(name: &str, text: &str) -> Result<bool> {
    match text {
        "true" | "" => Ok(true),
        "false" => Ok(false),
        _ => Err(Error::option(name, format!("must be true or false, found {text}"))),
    }
}

/// A whole number.
pub(super) fn count(name: &str, text: &str) -> Result<u64> {
    text.trim().parse().map_err(|_| Error::option(name, format!("must be a whole number, at least 0, found {text:?}")))
}
