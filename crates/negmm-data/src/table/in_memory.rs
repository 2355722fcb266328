//! Type inference of tables that are in memory already: their text is read as that of a CSV file.

use crate::infer::as_text;
use crate::infer::table_types::TypeInference;
use crate::infer::{CellReader, Inference, TypeHint, is_code};
use crate::{Column, ColumnType, Dialect, Kind, Table, TypedColumn};
use negmm_dist::{Error, Result};

/// Programs write tables as CSV with commas between cells, which are then no decimal marks.
pub(crate) const SEPARATOR: u8 = b',';

/// The table with its text columns parsed as their inferred types.
pub(crate) fn infer_types(table: Table, dialect: &Dialect) -> Result<Table> {
    let mut types = TypeInference::new(dialect, table.names(), SEPARATOR).map_err(|error| table.locate(error))?;
    for (hint, name) in types.hints.iter_mut().zip(table.names()) {
        if *hint == TypeHint::Nothing
            && table.typed_column(name).is_some_and(|read| read.column_type.kind() == Kind::Text)
        {
            *hint = TypeHint::Text;
        }
    }
    let reader = CellReader::new(&ColumnType::number().with_missing(dialect.missing.iter().cloned()));
    let mut plain = Vec::with_capacity(table.names().len());
    for ((name, column), hint) in table.columns().zip(&types.hints) {
        let numbers = match column {
            Column::Text { codes, levels } if is_plain(levels, &reader, *hint) => Some(reader.numbers(codes, levels)),
            _ => None,
        };
        let numbers = numbers.transpose().map_err(|(row, error)| table.at_cell(error, row, name))?;
        plain.push(numbers.map(|(numbers, _)| numbers));
    }
    let texts = || table.columns().map(|(_, column)| column).enumerate().filter(|(_, column)| is_text(column));
    let mut inferences = types.decide(texts().filter(|(position, _)| plain[*position].is_none()));
    if types.has_commas(&inferences) {
        let dotted = |(position, column): &(usize, &Column)| plain[*position].is_some() && has_point(column);
        inferences.extend(types.decide(texts().filter(dotted)));
    }
    let decimal = types.decimal(&inferences);
    let column_types: Vec<Option<ColumnType>> =
        table.names().iter().map(|name| table.typed_column(name).map(|read| read.column_type.clone())).collect();
    table.map_columns(|position, column| {
        let plain = plain[position].take();
        match (is_text(column), inferences.remove(&position), plain) {
            (true, None, Some(numbers)) => Ok(Some((Column::Numbers(numbers), types.plain_type(decimal)))),
            (true, inference, plain) => {
                types.finish(plain, column.clone(), inference.unwrap_or(Inference::Text), decimal).map(Some)
            }
            (false, ..) => typed(column, column_types[position].clone(), types.hints[position], dialect),
        }
    })
}

/// A typed column with a hint for another type.
pub(crate) fn typed(
    column: &Column,
    column_type: Option<ColumnType>,
    hint: TypeHint,
    dialect: &Dialect,
) -> Result<Option<(Column, Option<TypedColumn>)>> {
    match (column, hint) {
        (_, TypeHint::Text) => Ok(Some((as_text(column).into_owned(), Some(TypedColumn::of(ColumnType::text(), ""))))),
        (Column::Times(_), TypeHint::Number) => Err(Error::options("declared as numbers, but its cells are times")),
        (Column::Numbers(_), _) if !dialect.missing.is_empty() => {
            let column_type =
                column_type.unwrap_or_else(ColumnType::number).with_missing(dialect.missing.iter().cloned());
            let (read, _) = column.read_as(&column_type).map_err(|(_, error)| error)?;
            Ok(Some((read.into_owned(), Some(TypedColumn::of(column_type, "")))))
        }
        _ => Ok(None),
    }
}

fn is_text(column: &Column) -> bool {
    matches!(column, Column::Text { .. })
}

/// Whether every text is a plain number or missing, and none a code.
pub(crate) fn is_plain(levels: &[String], reader: &CellReader, hint: TypeHint) -> bool {
    let plain = |level: &String| {
        reader.number(level.as_bytes()).is_some() && !(hint == TypeHint::Nothing && is_code(level.as_bytes()))
    };
    hint != TypeHint::Text && levels.iter().all(plain)
}

pub(crate) fn has_point(column: &Column) -> bool {
    matches!(column, Column::Text { levels, .. } if levels.iter().any(|level| level.contains('.')))
}
