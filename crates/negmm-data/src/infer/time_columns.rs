//! Columns as times: which columns hold times, and the seconds of their cells.

use std::borrow::Cow;

use crate::{Column, MISSING, TimeFormat};
use negmm_dist::quote::quoted;
use negmm_dist::{Error, Hint, Result};

/// The format of the times of a column; `None` where it has none. `declared`: the column is declared as times, perhaps with
/// their format.
pub(crate) fn format_of(
    name: &str,
    column: &Column,
    declared: Option<Option<TimeFormat>>,
) -> Result<Option<TimeFormat>> {
    if let Some(Some(format)) = declared {
        return Ok(Some(format));
    }
    let date_format = |formats: &[TimeFormat]| Hint::DateFormat {
        column: name.to_string(),
        formats: formats.iter().map(|format| format.word()).collect(),
    };
    match column {
        Column::Times(_) => Ok(Some(TimeFormat::default())),
        Column::Numbers(numbers) if declared.is_some() => {
            let odd = numbers.iter().find(|number| !number.is_nan() && TimeFormat::Ymd.read_number(**number).is_none());
            match odd {
                None => Ok(Some(TimeFormat::Ymd)),
                Some(number) => Err(Error::options(format!("{number} is not a date such as 20121231 or 201212"))
                    .with_hint(date_format(&[TimeFormat::Seconds, TimeFormat::Milliseconds]))),
            }
        }
        Column::Numbers(_) => Ok(None),
        Column::Text { levels, .. } => match TimeFormat::decide(levels.iter().map(String::as_str)) {
            Ok(None) if declared.is_some() => {
                Err(Error::options("not all cells are dates of one format").with_hint(date_format(&[])))
            }
            Ok(format) => Ok(format),
            Err(ambiguous) => {
                let words: Vec<&str> = ambiguous.formats.iter().map(|format| format.word()).collect();
                Err(Error::options(format!(
                    "{} may be {}, and no cell of the column decides",
                    quoted(&ambiguous.cell),
                    words.join(" or ")
                ))
                .with_hint(date_format(&ambiguous.formats)))
            }
        },
    }
}

/// The seconds of all cells, NaN where one is missing. The error comes with its row.
pub(crate) fn seconds(column: &Column, format: TimeFormat) -> std::result::Result<Cow<'_, [f64]>, (usize, Error)> {
    #[cfg(test)]
    crate::infer::conversions::add();
    let mut seconds = Vec::with_capacity(column.len());
    match column {
        Column::Times(times) => return Ok(times.into()),
        Column::Numbers(numbers) => {
            for (row, number) in numbers.iter().enumerate() {
                let read = if number.is_nan() { Some(f64::NAN) } else { format.read_number(*number) };
                seconds.push(read.ok_or_else(|| (row, no_time(format, &number.to_string())))?);
            }
        }
        Column::Text { codes, levels } => {
            let of_levels: Vec<Option<f64>> = levels.iter().map(|level| format.read(level)).collect();
            for (row, code) in codes.iter().enumerate() {
                let read = if *code == MISSING { Some(f64::NAN) } else { of_levels[*code as usize] };
                seconds.push(read.ok_or_else(|| (row, no_time(format, &levels[*code as usize])))?);
            }
        }
    }
    Ok(seconds.into())
}

/// The error of a cell that is no time of that format.
pub(crate) fn no_time(format: TimeFormat, cell: &str) -> Error {
    Error::data(format!("expected a time such as {}, found {}", format.example(), quoted(cell)))
}
