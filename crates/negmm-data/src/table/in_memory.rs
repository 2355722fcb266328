//! Type inference of tables that are in memory already: their text is read as that of a CSV file.

use crate::infer::as_text;
use crate::infer::table_types::TypeInference;
use crate::infer::{CellReader, Inference, TypeHint, is_code};
use crate::{Column, ColumnType, Dialect, Kind, Table, TypedColumn};
use negmm_dist::{Error, Result};

/// Programs write tables as CSV with commas between cells, which are then no decimal marks.
const SEPARATOR: u8 = b',';

/// The table with its text understood.
pub(crate) fn understood(table: Table, dialect: &Dialect) -> Result<Table> {
    let mut deciding = TypeInference::new(dialect, table.names(), SEPARATOR).map_err(|error| table.blame(error))?;
    for (wish, name) in deciding.wishes.iter_mut().zip(table.names()) {
        if *wish == TypeHint::Nothing && table.reading(name).is_some_and(|read| read.reading.kind() == Kind::Text) {
            *wish = TypeHint::Text;
        }
    }
    let reader = CellReader::new(&ColumnType::number().with_missing(dialect.missing.iter().cloned()));
    let mut plain = Vec::with_capacity(table.names().len());
    for ((name, column), wish) in table.columns().zip(&deciding.wishes) {
        let numbers = match column {
            Column::Text { codes, levels } if is_plain(levels, &reader, *wish) => Some(reader.numbers(codes, levels)),
            _ => None,
        };
        let numbers = numbers.transpose().map_err(|(row, error)| table.blame_cell(error, row, name))?;
        plain.push(numbers.map(|(numbers, _)| numbers));
    }
    let texts = || table.columns().map(|(_, column)| column).enumerate().filter(|(_, column)| is_text(column));
    let mut verdicts = deciding.decide(texts().filter(|(position, _)| plain[*position].is_none()));
    if deciding.has_commas(&verdicts) {
        let dotted = |(position, column): &(usize, &Column)| plain[*position].is_some() && has_point(column);
        verdicts.extend(deciding.decide(texts().filter(dotted)));
    }
    let decimal = deciding.decimal(&verdicts);
    let readings: Vec<Option<ColumnType>> =
        table.names().iter().map(|name| table.reading(name).map(|read| read.reading.clone())).collect();
    table.map_columns(|position, column| {
        let plain = plain[position].take();
        match (is_text(column), verdicts.remove(&position), plain) {
            (true, None, Some(numbers)) => Ok(Some((Column::Numbers(numbers), deciding.plain_reading(decimal)))),
            (true, verdict, plain) => {
                deciding.finish(plain, column.clone(), verdict.unwrap_or(Inference::Text), decimal).map(Some)
            }
            (false, ..) => typed(column, readings[position].clone(), deciding.wishes[position], dialect),
        }
    })
}

/// A column whose type says what it is, where somebody says something else.
fn typed(
    column: &Column,
    reading: Option<ColumnType>,
    wish: TypeHint,
    dialect: &Dialect,
) -> Result<Option<(Column, Option<TypedColumn>)>> {
    match (column, wish) {
        (_, TypeHint::Text) => Ok(Some((as_text(column).into_owned(), Some(TypedColumn::of(ColumnType::text(), ""))))),
        (Column::Times(_), TypeHint::Number) => Err(Error::options("said to be numbers, but its cells are times")),
        (Column::Numbers(_), _) if !dialect.missing.is_empty() => {
            let reading = reading.unwrap_or_else(ColumnType::number).with_missing(dialect.missing.iter().cloned());
            let (read, _) = column.read_as(&reading).map_err(|(_, error)| error)?;
            Ok(Some((read.into_owned(), Some(TypedColumn::of(reading, "")))))
        }
        _ => Ok(None),
    }
}

fn is_text(column: &Column) -> bool {
    matches!(column, Column::Text { .. })
}

/// Whether every text is a plain number or missing, and none a code.
fn is_plain(levels: &[String], reader: &CellReader, wish: TypeHint) -> bool {
    let plain = |level: &String| {
        reader.number(level.as_bytes()).is_some() && !(wish == TypeHint::Nothing && is_code(level.as_bytes()))
    };
    wish != TypeHint::Text && levels.iter().all(plain)
}

fn has_point(column: &Column) -> bool {
    matches!(column, Column::Text { levels, .. } if levels.iter().any(|level| level.contains('.')))
}
