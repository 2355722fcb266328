//! Responsible for how much each row of a table counts.

use std::borrow::Cow;

use super::Table;
use super::message::quoted;
use crate::{Error, Result};

/// How much a row counts.
pub(crate) fn weight_of(weights: Option<&[f64]>, row: usize) -> f64 {
    weights.map_or(1.0, |weights| weights[row])
}

/// The weight of every row: finite, not negative, not all zero.
pub(super) fn weights<'a>(table: &'a Table, name: &str) -> Result<Cow<'a, [f64]>> {
    let absent = || table.blame(Error::options(table.absent(&[name])));
    let numbers = table.numbers(name).ok_or_else(absent)??;
    if let Some(row) = numbers.iter().position(|weight| weight.is_nan() || *weight < 0.0) {
        let found = if numbers[row].is_nan() { "a missing cell".into() } else { numbers[row].to_string() };
        let message = format!("expected a weight, at least 0, found {found}");
        return Err(table.blame_cell(Error::data(message), row, name));
    }
    if numbers.iter().all(|weight| *weight == 0.0) {
        return Err(table.blame(Error::data(format!("all weights in column {} are 0", quoted(name)))));
    }
    Ok(numbers)
}

/// Whether there is one weight for each of so many rows: finite and not negative.
pub(crate) fn check_weights(weights: &[f64], rows: usize) -> Result<()> {
    if weights.len() != rows {
        return Err(Error::data(format!("expected {rows} weights, found {}", weights.len())));
    }
    match weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
        Some(row) => {
            let message = format!("expected a weight, at least 0, found {}", weights[row]);
            Err(Error::data(message).at_row(row as u64))
        }
        None => Ok(()),
    }
}
