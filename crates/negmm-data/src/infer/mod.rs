//! Column types and their inference: numbers in some format, truth values, durations, times, or text.
//! A kind of cells is a line in [`CellType`], one in `CellReader::number` and one in `decide`.

pub mod calendar;
mod column_types;
#[cfg(test)]
pub(crate) mod conversions;
mod cursor;
pub mod datetime;
pub(crate) mod dialect;
mod duration;
mod kind;
mod number;
pub(crate) mod table_types;
pub(crate) mod time_columns;
mod values;

use serde::{Deserialize, Serialize};

use crate::column::Column;
use datetime::TimeFormat;
pub use kind::Kind;
pub(crate) use values::{as_text, column_numbers, not_utf8, number_error};

pub(crate) use crate::column::missing::{MissingWords, is_mark_in_text, is_missing, is_missing_number};
pub(crate) use column_types::{Inference, Levels, TypeHint, is_code};
pub use number::NumberFormat;

use negmm_dist::{Error, Result};

/// What the cells of a column are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellType {
    /// Numbers of one format.
    Number(NumberFormat),
    /// True and false, or yes and no: the numbers 1 and 0, as Python has them.
    Truth,
    /// Lengths of time, `0 days 00:10:00` or `PT10M`: their seconds.
    Duration,
    /// Dates and times of one format.
    Time(TimeFormat),
    /// Text.
    Text,
}

/// The type of a column. It is inferred from all cells of the training table and stored in the model, so that new files are
/// parsed in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnType {
    /// What the cells are.
    pub cells: CellType,
    /// Missing-value markers beside the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Whether cells that do not fit are missing. Else they are an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub odd_are_missing: bool,
}

impl ColumnType {
    /// Numbers as every program writes them.
    pub fn number() -> Self {
        Self { cells: CellType::Number(NumberFormat::default()), missing: Vec::new(), odd_are_missing: false }
    }

    /// Text.
    pub fn text() -> Self {
        Self { cells: CellType::Text, ..Self::number() }
    }

    /// Truth values; other cells are missing.
    pub fn truth() -> Self {
        Self { cells: CellType::Truth, odd_are_missing: true, ..Self::number() }
    }

    /// Lengths of time.
    pub fn duration() -> Self {
        Self { cells: CellType::Duration, ..Self::number() }
    }

    /// Whether its cells are truth values.
    pub fn is_truth(&self) -> bool {
        self.cells == CellType::Truth
    }

    /// Whether it is plain numbers or plain text.
    pub fn is_plain(&self) -> bool {
        *self == Self::number() || *self == Self::text()
    }

    /// The kind of a column of this type.
    pub(crate) fn kind(&self) -> Kind {
        match self.cells {
            CellType::Number(_) | CellType::Truth | CellType::Duration => Kind::Number,
            CellType::Time(format) => Kind::Time(format),
            CellType::Text => Kind::Text,
        }
    }

    /// Validates a type from a file.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.cells {
            CellType::Number(format)
                if !matches!(format.decimal, '.' | ',') || format.thousands == Some(format.decimal) =>
            {
                Err(Error::model("the decimal mark must be . or , and no separator of thousands"))
            }
            _ => Ok(()),
        }
    }
}

impl From<Kind> for ColumnType {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Number => Self::number(),
            Kind::Text => Self::text(),
            Kind::Time(format) => Self { cells: CellType::Time(format), ..Self::number() },
        }
    }
}

impl std::fmt::Display for ColumnType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.cells {
            CellType::Number(format) => format.fmt(f),
            CellType::Truth => f.write_str("boolean (1 or 0)"),
            CellType::Duration => f.write_str("lengths of time (seconds)"),
            CellType::Time(format) => write!(f, "times such as {}", format.example()),
            CellType::Text => f.write_str("text"),
        }
    }
}

/// A parser of cells of one type.
pub(crate) struct CellReader {
    column_type: ColumnType,
    words: MissingWords,
    /// Whether cells are plain numbers and no word is missing but the usual ones.
    plain: bool,
}

impl CellReader {
    pub fn new(column_type: &ColumnType) -> Self {
        let plain = matches!(&column_type.cells, CellType::Number(format) if format.is_plain())
            && column_type.missing.is_empty();
        Self { words: MissingWords::new(&column_type.missing), column_type: column_type.clone(), plain }
    }

    pub fn kind(&self) -> Kind {
        self.column_type.kind()
    }

    pub fn odd_are_missing(&self) -> bool {
        self.column_type.odd_are_missing
    }

    /// The number in a cell: NaN where it is missing, infinite where it is written so or too large, none where it does not fit.
    #[inline]
    pub fn number(&self, cell: &[u8]) -> Option<f64> {
        if self.plain { plain_number(cell) } else { self.other_number(cell) }
    }

    fn other_number(&self, cell: &[u8]) -> Option<f64> {
        let cell = std::str::from_utf8(cell).ok()?.trim();
        if is_missing_number(cell.as_bytes()) || self.words.has(cell) {
            return Some(f64::NAN);
        }
        let number = match &self.column_type.cells {
            CellType::Number(format) if format.is_plain() => plain_number(cell.as_bytes()),
            CellType::Number(format) => format.read(cell),
            CellType::Truth => column_types::truth(cell).map(f64::from),
            CellType::Duration => duration::duration(cell).or_else(|| plain_number(cell.as_bytes())),
            CellType::Text | CellType::Time(_) => None,
        };
        number.map(|number| if self.words.has_number(number) { f64::NAN } else { number })
    }

    /// Whether numbers, too, may be missing by their value.
    pub fn is_missing_number(&self, number: f64) -> bool {
        self.words.has_number(number)
    }

    /// Whether the text of a cell, without blanks around it, is missing.
    pub fn is_missing_text(&self, cell: &str) -> bool {
        is_missing(cell.as_bytes()) || !self.words.is_empty() && self.words.has(cell)
    }

    /// The numbers of a text column and how many cells did not fit. The error comes with its row.
    pub fn numbers(&self, codes: &[u32], levels: &[String]) -> std::result::Result<(Vec<f64>, u64), (usize, Error)> {
        let of_levels: Vec<Option<f64>> = levels.iter().map(|level| self.number(level.as_bytes())).collect();
        let mut odd = 0;
        let mut numbers = Vec::with_capacity(codes.len());
        for (row, code) in codes.iter().enumerate() {
            numbers.push(match of_levels.get(*code as usize) {
                None => f64::NAN,
                Some(Some(number)) if !number.is_infinite() => *number,
                Some(_) if self.odd_are_missing() => {
                    odd += 1;
                    f64::NAN
                }
                Some(other) => return Err((row, number_error(levels[*code as usize].as_bytes(), *other))),
            });
        }
        Ok((numbers, odd))
    }
}

/// The number in a cell as every program writes it: NaN where it is missing, infinite where it is written so or too large, none where
/// it is text.
#[inline]
pub(crate) fn plain_number(cell: &[u8]) -> Option<f64> {
    let cell = std::str::from_utf8(cell.trim_ascii()).ok()?;
    cell.parse().ok().or_else(|| unusual_number(cell))
}

/// A missing cell, or a number with a typographer's minus or other blanks around it.
#[cold]
fn unusual_number(cell: &str) -> Option<f64> {
    let cell = cell.trim();
    if is_missing_number(cell.as_bytes()) { Some(f64::NAN) } else { NumberFormat::default().read(cell) }
}

/// The inferred type of a column of a file, where it is not plain numbers or text, with notes for the user.
#[derive(Clone, Debug)]
pub struct TypedColumn {
    /// Its type.
    pub column_type: ColumnType,
    /// Why it is text though its cells are numbers, or a number or truth value as the file writes it.
    pub note: String,
    /// The cells that did not fit and are missing, most frequent first, with how many there are of each.
    pub odd: Vec<(String, u64)>,
    /// Its cells as text, where they were parsed as numbers: a model may have been fitted to the text.
    pub(crate) text: Option<Column>,
}

impl TypedColumn {
    /// Of this type, without odd cells.
    pub(crate) fn of(column_type: ColumnType, note: &str) -> Self {
        Self { column_type, note: note.to_string(), odd: Vec::new(), text: None }
    }

    /// The same for these rows alone.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let text = self.text.as_ref().map(|text| text.select(rows));
        Self { column_type: self.column_type.clone(), note: self.note.clone(), odd: self.odd.clone(), text }
    }
}
