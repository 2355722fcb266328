//! Observed targets of another file than the predictions, found by a key.

use std::collections::{HashMap, HashSet};

use negmm_data::{Column, MISSING, Table};
use negmm_dist::{Error, Result};

/// Targets by key.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    by_key: HashMap<String, f64>,
    found: HashSet<String>,
    repeated: usize,
}

impl Targets {
    /// The targets of a table: its column `target`, by the text of its column `key`. Rows without a target are left out.
    ///
    /// # Errors
    /// When there is no such column, a key is missing, or two rows have the same key.
    pub fn new(table: &Table, target: &str, key: &str) -> Result<Self> {
        let numbers = table.numbers(target).ok_or_else(|| table.locate(Error::options(table.absent(&[target]))))??;
        let keys = texts(table, key, "key")?;
        let mut by_key = HashMap::with_capacity(keys.len());
        for (row, (key_of_row, y)) in keys.into_iter().zip(numbers.iter()).enumerate() {
            if y.is_nan() {
                continue;
            }
            if by_key.contains_key(&key_of_row) {
                let message = format!("the key {key_of_row:?} occurs twice");
                return Err(table.at_cell(Error::data(message), row, key));
            }
            by_key.insert(key_of_row, *y);
        }
        Ok(Self { by_key, ..Self::default() })
    }

    /// The target of this key, which is now found.
    pub fn find(&mut self, key: &str) -> Option<f64> {
        let y = *self.by_key.get(key)?;
        if self.found.contains(key) {
            self.repeated += 1;
        } else {
            self.found.insert(key.to_string());
        }
        Some(y)
    }

    /// How often a key was asked for again: rows of predictions whose target had counted before.
    pub fn repeated(&self) -> usize {
        self.repeated
    }

    /// How many keys were not asked for: rows without predictions.
    pub fn not_found(&self) -> usize {
        self.by_key.len() - self.found.len()
    }
}

/// The cells of a column of a `kind`, such as keys, as text, none of them missing; numbers as they are usually written.
pub(super) fn texts(table: &Table, name: &str, kind: &str) -> Result<Vec<String>> {
    let missing = |row: usize| table.at_cell(Error::data(format!("the {kind} is missing")), row, name);
    let number =
        |(row, number): (usize, &f64)| if number.is_nan() { Err(missing(row)) } else { Ok(number.to_string()) };
    match table.column(name) {
        None => Err(table.locate(Error::options(table.absent(&[name])))),
        Some(Column::Numbers(numbers) | Column::Times(numbers)) => numbers.iter().enumerate().map(number).collect(),
        Some(Column::Text { codes, levels }) => {
            let text = |(row, code): (usize, &u32)| match *code {
                MISSING => Err(missing(row)),
                code => Ok(canonical(&levels[code as usize])),
            };
            codes.iter().enumerate().map(text).collect()
        }
    }
}

/// A number in its usual text, so that 1 and 1.0 are one key; other text as it is.
fn canonical(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number.abs() < 1e15 => number.to_string(),
        _ => text.to_string(),
    }
}
