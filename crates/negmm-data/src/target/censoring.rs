//! Censored and interval targets as columns of a table: between which two numbers the target of each row lies.

use std::borrow::Cow;

use negmm_dist::quote::quoted;
use negmm_dist::{CensoredTargets, Error, Result, censored_targets as censoring};

use crate::{Table, Target};

/// The censoring intervals of the targets, from the columns of the target specification; `None` without such columns.
///
/// # Errors
/// When a column is absent, or a cell is invalid.
pub(crate) fn censored_targets(table: &Table, target: &Target, y: &[f64]) -> Result<Option<CensoredTargets>> {
    if !target.is_censored() {
        return Ok(None);
    }
    let mut known = CensoredTargets { lower: y.to_vec(), upper: y.to_vec() };
    if let Some(name) = &target.upper_end {
        for (row, end) in numbers(table, name)?.iter().enumerate().filter(|(_, end)| !end.is_nan()) {
            if *end < y[row] {
                return Err(table.at_cell(censoring::below(*end, y[row]), row, name));
            }
            known.upper[row] = *end;
        }
    }
    if let Some(name) = &target.censored {
        for (row, mark) in numbers(table, name)?.iter().enumerate() {
            match mark {
                0.0 => {}
                1.0 => known.upper[row] = f64::INFINITY,
                -1.0 if known.upper[row] == y[row] => known.lower[row] = f64::NEG_INFINITY,
                _ => {
                    let message = match mark {
                        -1.0 => "-1 (left-censored) and an upper end in one row: the target itself is the limit".into(),
                        _ => format!("expected 1 (right-censored), -1 (left-censored) or 0 (observed), found {mark}"),
                    };
                    return Err(table.at_cell(Error::data(message), row, name));
                }
            }
        }
    }
    Ok(Some(known))
}

fn numbers<'a>(table: &'a Table, name: &str) -> Result<Cow<'a, [f64]>> {
    let absent = || table.locate(Error::data(format!("there is no column {}", quoted(name))));
    table.numbers(name).ok_or_else(absent)?
}
