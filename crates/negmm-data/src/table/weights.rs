//! The sample weights of a table's rows.

use std::borrow::Cow;

use negmm_dist::quote::quoted;
use negmm_dist::{Error, Result};

use crate::Table;

/// The weight of every row: finite, not negative, not all zero.
pub(crate) fn weights<'a>(table: &'a Table, name: &str) -> Result<Cow<'a, [f64]>> {
    let absent = || table.locate(Error::options(table.absent(&[name])));
    let numbers = table.numbers(name).ok_or_else(absent)??;
    if let Some(row) = numbers.iter().position(|weight| weight.is_nan() || *weight < 0.0) {
        let found = if numbers[row].is_nan() { "a missing cell".into() } else { numbers[row].to_string() };
        let message = format!("expected a weight, at least 0, found {found}");
        return Err(table.at_cell(Error::data(message), row, name));
    }
    if numbers.iter().all(|weight| *weight == 0.0) {
        return Err(table.locate(Error::data(format!("all weights in column {} are 0", quoted(name)))));
    }
    Ok(numbers)
}
