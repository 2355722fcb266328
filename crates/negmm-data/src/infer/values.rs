//! Columns read by their type: text as numbers, numbers as text, and the errors of cells that do not fit.

use std::borrow::Cow;

use super::datetime::iso;
use super::{CellReader, ColumnType, Kind};
use crate::column::{Column, MISSING, not_finite};
use negmm_dist::Error;
use negmm_dist::quote::quoted;

/// The error of bytes that are not text.
pub(crate) fn not_utf8() -> Error {
    Error::data("expected text in UTF-8, found other bytes: convert it (of Latin-1: iconv -f LATIN1 -t UTF-8)")
}

/// The error of a cell that is no finite number.
#[cold]
pub(crate) fn number_error(cell: &[u8], number: Option<f64>) -> Error {
    match (std::str::from_utf8(cell.trim_ascii()), number) {
        (Err(_), _) => not_utf8(),
        (Ok(cell), Some(_)) => not_finite(cell),
        (Ok(cell), None) => Error::data(format!("expected a number, found {}", quoted(cell))),
    }
}

/// A column as numbers, also where it is text that consists of numbers.
/// The error comes with its row.
pub(crate) fn column_numbers(column: &Column) -> std::result::Result<Cow<'_, [f64]>, (usize, Error)> {
    #[cfg(test)]
    super::conversions::add();
    match column {
        Column::Numbers(numbers) => Ok(numbers.into()),
        Column::Times(times) if times.is_empty() => Ok(Cow::default()),
        Column::Times(times) => {
            let row = times.iter().position(|time| !time.is_nan()).unwrap_or(0);
            Err((row, number_error(iso(times[row]).as_bytes(), None)))
        }
        Column::Text { codes, levels } => {
            CellReader::new(&ColumnType::number()).numbers(codes, levels).map(|(numbers, _)| numbers.into())
        }
    }
}

/// A column of text. Numbers or times where training had text (a file in which every postcode is a number) are as they are
/// usually written.
pub(crate) fn as_text(column: &Column) -> Cow<'_, Column> {
    #[cfg(test)]
    super::conversions::add();
    let (cells, write): (_, fn(f64) -> String) = match column {
        Column::Numbers(numbers) => (numbers, |number| number.to_string()),
        Column::Times(times) => (times, iso),
        Column::Text { .. } => return Cow::Borrowed(column),
    };
    let cells: Vec<Option<String>> = cells.iter().map(|cell| (!cell.is_nan()).then(|| write(*cell))).collect();
    Cow::Owned(Column::text(cells.iter().map(Option::as_deref)))
}

impl Column {
    /// The column as this type: text parsed as numbers, and missing-value markers applied; and the number of cells that did
    /// not fit. The error comes with its row.
    pub(crate) fn read_as(
        &self,
        column_type: &ColumnType,
    ) -> std::result::Result<(Cow<'_, Self>, u64), (usize, Error)> {
        if column_type.is_plain() {
            return Ok((Cow::Borrowed(self), 0));
        }
        let reader = CellReader::new(column_type);
        match (self, column_type.kind()) {
            (Self::Text { codes, levels }, Kind::Number) => {
                reader.numbers(codes, levels).map(|(numbers, odd)| (Cow::Owned(Self::Numbers(numbers)), odd))
            }
            (Self::Text { codes, levels }, _) if !column_type.missing.is_empty() => {
                let missing: Vec<bool> = levels.iter().map(|level| reader.is_missing_text(level)).collect();
                let code = |code: &u32| if missing.get(*code as usize) == Some(&true) { MISSING } else { *code };
                let codes = codes.iter().map(code).collect();
                Ok((Cow::Owned(Self::Text { codes, levels: levels.clone() }), 0))
            }
            (Self::Numbers(numbers), _) if !column_type.missing.is_empty() => {
                let number = |number: &f64| if reader.is_missing_number(*number) { f64::NAN } else { *number };
                Ok((Cow::Owned(Self::Numbers(numbers.iter().map(number).collect())), 0))
            }
            _ => Ok((Cow::Borrowed(self), 0)),
        }
    }
}
