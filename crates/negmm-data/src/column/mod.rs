//! One column of a table: numbers, times or text, with missing cells.

pub(crate) mod dictionary;
pub(crate) mod missing;

use std::collections::HashSet;

use dictionary::Dictionary;

use negmm_dist::quote::quoted;
use negmm_dist::{Error, Result};

/// The code of a missing text cell.
pub const MISSING: u32 = u32::MAX;

/// One column.
#[derive(Clone, Debug)]
pub enum Column {
    /// Numbers; a missing one is NaN, none is infinite.
    Numbers(Vec<f64>),
    /// Dates and times: seconds since 1970-01-01 00:00, of UTC where the zone is known, else of the clock on the wall; a missing
    /// one is NaN, none is infinite.
    Times(Vec<f64>),
    /// Text: the cell of a row is `levels[codes[row]]`, or missing where the code is [`MISSING`]. No level occurs twice.
    Text {
        /// For each row the position of its text among the levels.
        codes: Vec<u32>,
        /// The different texts; some may be in no row.
        levels: Vec<String>,
    },
}

impl Column {
    /// Whether two rows have the same cell; missing ones are the same.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn same_cell(&self, one: usize, other: usize) -> bool {
        match self {
            Self::Numbers(numbers) | Self::Times(numbers) => {
                numbers[one] == numbers[other] || (numbers[one].is_nan() && numbers[other].is_nan())
            }
            Self::Text { codes, .. } => codes[one] == codes[other],
        }
    }

    /// The cells of these rows, in this order.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::Numbers(numbers) => Self::Numbers(rows.iter().map(|row| numbers[*row]).collect()),
            Self::Times(times) => Self::Times(rows.iter().map(|row| times[*row]).collect()),
            Self::Text { codes, levels } => {
                Self::Text { codes: rows.iter().map(|row| codes[*row]).collect(), levels: levels.clone() }
            }
        }
    }

    /// A text column of these cells (`None`: missing).
    pub fn text<'a>(cells: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut dictionary = Dictionary::default();
        for cell in cells {
            match cell {
                Some(text) => dictionary.push(text),
                None => dictionary.push_missing(),
            }
        }
        dictionary.finish()
    }

    /// A text column of cells as a file has them (`None`: missing): blanks around them are dropped, and words that mean missing
    /// are.
    pub fn of_cells<'a>(cells: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut dictionary = Dictionary::default();
        cells.into_iter().for_each(|cell| dictionary.push_cell(cell));
        dictionary.finish()
    }

    /// Rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) | Self::Times(numbers) => numbers.len(),
            Self::Text { codes, .. } => codes.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Validates a column made in code.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Self::Numbers(numbers) | Self::Times(numbers) => {
                match numbers.iter().position(|number| number.is_infinite()) {
                    Some(row) => Err(not_finite(&numbers[row].to_string()).at_row(row as u64)),
                    None => Ok(()),
                }
            }
            Self::Text { codes, levels } => {
                let mut seen = HashSet::new();
                if let Some(twice) = levels.iter().find(|level| !seen.insert(level.as_str())) {
                    return Err(Error::data(format!("the level {} occurs twice", quoted(twice))));
                }
                match codes.iter().position(|code| *code != MISSING && *code as usize >= levels.len()) {
                    Some(row) => {
                        Err(Error::data(format!("expected one of {} levels, found code {}", levels.len(), codes[row]))
                            .at_row(row as u64))
                    }
                    None => Ok(()),
                }
            }
        }
    }
}

/// The error of an infinite cell.
pub(crate) fn not_finite(cell: &str) -> Error {
    Error::data(format!("the number {} is not finite", quoted(cell)))
}
