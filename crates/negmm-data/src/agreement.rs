//! The columns of several files, which must agree: names, and what their cells are.

use std::collections::HashMap;

use negmm_dist::{Error, Result};

use crate::infer::time_columns::{format_of, seconds};
use crate::{CellType, Column, ColumnType, MISSING, Table};

/// The position in `names` of each column of the first file.
///
/// # Errors
/// When one is absent, or there are others.
pub(crate) fn positions(first: (&str, &[String]), names: &[String]) -> Result<Vec<usize>> {
    let (first, wanted) = first;
    if let Some(other) = names.iter().find(|name| !wanted.contains(name)) {
        return Err(Error::data(format!("{first} has no such column")).in_column(other));
    }
    let position = |name: &String| {
        let position = names.iter().position(|other| other == name);
        position.ok_or_else(|| Error::data(format!("is absent, but {first} has it")).in_column(name))
    };
    wanted.iter().map(position).collect()
}

/// One of the tables that are put together.
pub(super) struct Part<'a> {
    /// Its file.
    pub name: &'a str,
    pub table: &'a Table,
    /// The position of each column of the whole.
    pub positions: Vec<usize>,
}

/// One column of all parts, with its type where it is more than number, time or text.
///
/// # Errors
/// When its cells are of different kinds: the error names a file and the column.
pub(super) fn column(parts: &[Part<'_>], at: usize) -> Result<(Column, Option<ColumnType>)> {
    let columns = || parts.iter().map(|part| (part.name, part.of_column(at)));
    // What is missing everywhere agrees with everything.
    let model = columns().find(|(_, (_, column, _))| !is_missing(column)).or_else(|| columns().next());
    let Some((first, (name, model, model_type))) = model else { return Ok((Column::Numbers(Vec::new()), None)) };
    let mut whole = model.select(&[]);
    let mut column_type = model_type.cloned();
    let mut known: HashMap<String, u32> = match &whole {
        Column::Text { levels, .. } => levels.iter().cloned().zip(0..).collect(),
        _ => HashMap::new(),
    };
    for (file, (_, column, read_as)) in columns() {
        let error = |found: &str| {
            let message = format!("expected {} as in {first}, found {found}", what(model, model_type));
            Error::data(message).in_column(name).in_file(file)
        };
        if is_missing(column) {
            append_missing(&mut whole, column.len());
            continue;
        }
        match (&mut whole, column) {
            (Column::Numbers(all), Column::Numbers(more)) if class(model_type) == class(read_as) => all.extend(more),
            (Column::Times(all), Column::Times(more)) => all.extend(more),
            (Column::Text { codes, levels }, Column::Text { codes: more, levels: names }) => {
                append_text((codes, levels), &mut known, more, names);
                // Categories stay text.
                column_type = column_type.or_else(|| read_as.cloned());
            }
            // Dates of CSV beside times of Parquet.
            (whole @ (Column::Times(_) | Column::Text { .. }), column) => {
                let times = |column: &Column| {
                    let format = format_of(name, column, None).ok().flatten()?;
                    seconds(column, format).ok().map(|times| times.into_owned())
                };
                match (times(whole), times(column)) {
                    (Some(mut all), Some(more)) => {
                        all.extend(more);
                        *whole = Column::Times(all);
                    }
                    _ => return Err(error(&what(column, read_as))),
                }
            }
            (_, column) => return Err(error(&what(column, read_as))),
        }
    }
    if matches!(whole, Column::Times(_)) {
        column_type = None;
    }
    Ok((whole, column_type))
}

impl<'a> Part<'a> {
    fn of_column(&self, at: usize) -> (&'a str, &'a Column, Option<&'a ColumnType>) {
        let (name, column) = self.table.column_at(self.positions[at]);
        (name, column, self.table.typed_column(name).map(|read| &read.column_type))
    }
}

pub(crate) fn is_missing(column: &Column) -> bool {
    match column {
        Column::Numbers(numbers) | Column::Times(numbers) => numbers.iter().all(|number| number.is_nan()),
        Column::Text { codes, .. } => codes.iter().all(|code| *code == MISSING),
    }
}

fn append_missing(column: &mut Column, rows: usize) {
    match column {
        Column::Numbers(numbers) | Column::Times(numbers) => numbers.resize(numbers.len() + rows, f64::NAN),
        Column::Text { codes, .. } => codes.resize(codes.len() + rows, MISSING),
    }
}

fn append_text(
    (codes, levels): (&mut Vec<u32>, &mut Vec<String>),
    known: &mut HashMap<String, u32>,
    more: &[u32],
    names: &[String],
) {
    let mut translation = vec![MISSING; names.len()];
    for code in more {
        let Some(new) = translation.get_mut(*code as usize) else {
            codes.push(MISSING);
            continue;
        };
        if *new == MISSING {
            let name = &names[*code as usize];
            *new = *known.entry(name.clone()).or_insert_with(|| {
                levels.push(name.clone());
                levels.len() as u32 - 1
            });
        }
        codes.push(*new);
    }
}

/// What numbers are, whatever their format.
pub(crate) fn class(column_type: Option<&ColumnType>) -> u8 {
    match column_type.map(|column_type| &column_type.cells) {
        Some(CellType::Truth) => 1,
        Some(CellType::Duration) => 2,
        _ => 0,
    }
}

pub(crate) fn what(column: &Column, column_type: Option<&ColumnType>) -> String {
    match (column, class(column_type)) {
        (Column::Times(_), _) => "times".into(),
        (Column::Text { .. }, _) => "text".into(),
        (Column::Numbers(_), 1) => "truth values".into(),
        (Column::Numbers(_), 2) => "lengths of time".into(),
        (Column::Numbers(_), _) => "numbers".into(),
    }
}
