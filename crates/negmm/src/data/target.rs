//! Responsible for the target column: its numbers, its scale and whether it is discrete.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::message::quoted;
use super::moments::mean_and_sd;
use super::weights::weight_of;
use super::{ENCODED_LIMIT, Outcome, Reading, Table, grid};
use crate::{Error, Result};

/// A constant target is given this scale, relative to its size (absolute below 1), so that scaling stays defined.
const CONSTANT_TARGET_SCALE: f64 = 1e-6;
/// Larger targets are refused: squares of errors, in any sd, would overflow.
const LARGEST_TARGET: f64 = 1e100;

/// The target column and its scale: networks see (y - mean) / scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The name of the column.
    pub name: String,
    /// Mean in training.
    pub mean: f64,
    /// Standard deviation in training (of the population); a small positive number for a constant target.
    pub scale: f64,
    /// Whether the target was the same in all rows of training.
    pub constant: bool,
    /// The step of the grid that the targets of training lie on, where they are discrete: most rows share their value with
    /// others. A density says little about them, see [`crate::Predictions::mass_nll`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<f64>,
    /// The column that says which targets are only known to be larger than what stands there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub censored: Option<String>,
    /// The column of upper ends, where the target's own has lower ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper_end: Option<String>,
    /// How its cells are understood, where that is more than plain numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_as: Option<Reading>,
}

impl Target {
    /// Learns from the training table; `weights` say how much each row counts.
    pub(super) fn learn(table: &Table, name: &str, outcome: &Outcome, weights: Option<&[f64]>) -> Result<Self> {
        let numbers = numbers(table, name)?;
        let Some((mean, sd)) = mean_and_sd(&numbers, weights) else {
            return Err(table.blame(Error::data("there is no row to learn from")));
        };
        let constant = sd == 0.0;
        let scale = if constant { CONSTANT_TARGET_SCALE * mean.abs().max(1.0) } else { sd };
        let counting = numbers.iter().enumerate().filter(|(row, _)| weight_of(weights, *row) > 0.0);
        let grid = grid::step(counting.map(|(_, number)| *number).collect());
        Ok(Self {
            name: name.to_string(),
            mean,
            scale,
            constant,
            grid,
            censored: outcome.censored.clone(),
            upper_end: outcome.upper_end.clone(),
            read_as: table.numbers_reading(name),
        })
    }

    /// The target of every row in its own unit; one that is missing, or too large to compute with, is an error.
    pub(super) fn of_rows<'a>(&self, table: &'a Table) -> Result<Cow<'a, [f64]>> {
        let numbers = numbers(table, &self.name)?;
        match numbers.iter().position(|number| number.abs() > LARGEST_TARGET) {
            Some(row) => {
                let range = format!("between -{LARGEST_TARGET:e} and {LARGEST_TARGET:e}");
                let message = format!("the target must lie {range}, found {:e}", numbers[row]);
                Err(table.blame_cell(Error::data(message), row, &self.name))
            }
            None => Ok(numbers),
        }
    }

    /// The target of every row in the network's unit; 0 where the table does not have the column.
    pub(super) fn encode(&self, table: &Table) -> Result<Vec<f32>> {
        match table.column(&self.name) {
            Some(_) => Ok(numbers(table, &self.name)?.iter().map(|y| self.scaled(*y) as f32).collect()),
            None => Ok(vec![0.0; table.rows()]),
        }
    }

    /// From the target's own unit to the network's, cut off at ±[`ENCODED_LIMIT`].
    pub fn scaled(&self, y: f64) -> f64 {
        ((y - self.mean) / self.scale).clamp(-ENCODED_LIMIT, ENCODED_LIMIT)
    }

    /// From the network's unit to the target's own.
    pub fn unscaled(&self, y: f64) -> f64 {
        y * self.scale + self.mean
    }

    /// Says what is wrong with a target that came from a file.
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |what: &str| Err(Error::model(format!("target {}: {what}", quoted(&self.name))));
        if !(self.mean.is_finite() && self.scale.is_finite() && self.scale > 0.0) {
            return wrong("mean and scale must be finite and scale positive");
        }
        if self.grid.is_some_and(|step| !(step.is_finite() && step > 0.0)) {
            return wrong("the step of its grid must be finite and positive");
        }
        self.read_as.as_ref().map_or(Ok(()), |reading| reading.check())
    }
}

/// The target of every row in its own unit; a missing one is an error.
fn numbers<'a>(table: &'a Table, name: &str) -> Result<Cow<'a, [f64]>> {
    let absent = || table.blame(Error::data(table.absent(&[name])));
    let numbers = table.numbers(name).ok_or_else(absent)??;
    match numbers.iter().position(|number| number.is_nan()) {
        Some(row) => Err(table.blame_cell(Error::data("the target is missing"), row, name)),
        None => Ok(numbers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Column;

    #[test]
    fn rows_that_do_not_count_do_not_hide_a_grid() {
        let y: Vec<f64> = (0..40).map(|row| f64::from(row % 4)).chain([0.123]).collect();
        let table = Table::new(vec![("y", Column::Numbers(y))]).unwrap();
        let mut weights = vec![2.0; 41];
        assert_eq!(Target::learn(&table, "y", &Outcome::default(), Some(&weights)).unwrap().grid, None);
        weights[40] = 0.0;
        assert_eq!(Target::learn(&table, "y", &Outcome::default(), Some(&weights)).unwrap().grid, Some(1.0));
    }
}
