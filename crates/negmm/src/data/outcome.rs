//! Responsible for what somebody says of the target beside its column: bounds, that it is continuous, what is censored.

use serde::{Deserialize, Serialize};

use super::message::quoted;
use super::{Table, Target};
use crate::{Error, Result};

/// What somebody says of the target. Without a word a grid and atoms are recognised, and nothing is censored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Outcome {
    /// Neither grid nor atoms: a density is what is asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub continuous: bool,
    /// It cannot be smaller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// It cannot be larger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// The column that says with 1 that the target is only known to be larger than what stands there, with 0 that it is that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub censored: Option<String>,
    /// The column of upper ends, where the target's own column has lower ends; an empty cell: the target is what stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper_end: Option<String>,
}

impl Outcome {
    /// The columns that say something of the target, which are no inputs.
    pub fn columns(&self) -> impl Iterator<Item = &String> {
        self.censored.iter().chain(&self.upper_end)
    }

    /// The same with the table's own names.
    pub(super) fn named_as_in(&self, table: &Table) -> Self {
        let own = |name: &String| table.own_name(name).unwrap_or(name).to_string();
        Self { censored: self.censored.as_ref().map(own), upper_end: self.upper_end.as_ref().map(own), ..self.clone() }
    }

    /// Whether it does not contradict itself.
    ///
    /// # Errors
    /// When it does, or a bound is not finite.
    pub fn check(&self) -> Result<()> {
        if let Some(bound) = self.lower.iter().chain(&self.upper).find(|bound| !bound.is_finite()) {
            return Err(Error::options(format!("a bound must be a finite number, found {bound}")));
        }
        match (self.lower, self.upper) {
            (Some(lower), Some(upper)) if lower >= upper => {
                Err(Error::options(format!("lower must be below upper, found {lower} and {upper}")))
            }
            _ => Ok(()),
        }
    }
}

/// What is known of each row's target, in its own unit: between which two numbers it lies. Both are the same where it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// Lower ends.
    pub lower: Vec<f64>,
    /// Upper ends, infinite where there is none.
    pub upper: Vec<f64>,
}

impl Known {
    /// As the columns say that the target was learnt with; nothing where it has none.
    ///
    /// # Errors
    /// When a column is not there, or a cell does not say what it must.
    pub(super) fn of_rows(table: &Table, target: &Target, y: &[f64]) -> Result<Option<Self>> {
        if target.censored.is_none() && target.upper_end.is_none() {
            return Ok(None);
        }
        let mut known = Self { lower: y.to_vec(), upper: y.to_vec() };
        if let Some(name) = &target.upper_end {
            for (row, end) in numbers(table, name)?.iter().enumerate().filter(|(_, end)| !end.is_nan()) {
                if *end < y[row] {
                    let message = format!("the upper end {end} is below the target {}", y[row]);
                    return Err(table.blame_cell(Error::data(message), row, name));
                }
                known.upper[row] = *end;
            }
        }
        if let Some(name) = &target.censored {
            for (row, mark) in numbers(table, name)?.iter().enumerate() {
                match mark {
                    0.0 => {}
                    1.0 => known.upper[row] = f64::INFINITY,
                    _ => {
                        let message = format!("expected 1 (censored) or 0, found {mark}");
                        return Err(table.blame_cell(Error::data(message), row, name));
                    }
                }
            }
        }
        Ok(Some(known))
    }

    /// Whether the target of a row is known.
    pub fn is_value(&self, row: usize) -> bool {
        self.lower[row] == self.upper[row]
    }

    /// Rows whose target is not known.
    pub fn censored(&self) -> usize {
        (0..self.lower.len()).filter(|row| !self.is_value(*row)).count()
    }
}

fn numbers<'a>(table: &'a Table, name: &str) -> Result<std::borrow::Cow<'a, [f64]>> {
    let absent = || table.blame(Error::data(format!("there is no column {}", quoted(name))));
    table.numbers(name).ok_or_else(absent)?
}
