//! Type inference of text columns on disk, one at a time, with one decimal mark for all: as that of tables in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cells::{Cells, ScratchColumn};
use crate::infer::table_types::TypeInference;
use crate::infer::{CellReader, Inference, TypeHint};
use crate::table::in_memory::{SEPARATOR, has_point, is_plain, typed};
use crate::{Column, ColumnType, Dialect, Kind};
use negmm_dist::Result;
use negmm_nn::scratch::ScratchFile;

/// The columns with text parsed as its inferred type.
pub(super) fn infer_types(
    columns: Vec<ScratchColumn>,
    file: &Arc<ScratchFile>,
    dialect: &Dialect,
) -> Result<Vec<ScratchColumn>> {
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let mut types = TypeInference::new(dialect, &names, SEPARATOR)?;
    for (hint, column) in types.hints.iter_mut().zip(&columns) {
        let is_text = column.typed.as_ref().is_some_and(|typed| typed.column_type.kind() == Kind::Text);
        if *hint == TypeHint::Nothing && is_text {
            *hint = TypeHint::Text;
        }
    }
    let reader = CellReader::new(&ColumnType::number().with_missing(dialect.missing.iter().cloned()));
    let whole = |column: &ScratchColumn| column.read(file, 0..column.rows());
    let plain: Vec<bool> = columns
        .iter()
        .zip(&types.hints)
        .map(|(column, hint)| matches!(&column.cells, Cells::Text(_, levels) if is_plain(levels, &reader, *hint)))
        .collect();
    let mut inferences = BTreeMap::new();
    let mut decide = |types: &TypeInference<'_>, position: usize| -> Result<()> {
        inferences.extend(types.decide([(position, &whole(&columns[position])?)].into_iter()));
        Ok(())
    };
    let texts = || columns.iter().enumerate().filter(|(_, column)| matches!(column.cells, Cells::Text(..)));
    for (position, _) in texts().filter(|(position, _)| !plain[*position]) {
        decide(&types, position)?;
    }
    if types.has_commas(&inferences) {
        let mut dotted = Vec::new();
        for (position, column) in texts().filter(|(position, _)| plain[*position]) {
            if has_point(&column.empty_with_levels()) {
                dotted.push((position, whole(column)?));
            }
        }
        inferences.extend(types.decide(dotted.iter().map(|(position, column)| (*position, column))));
    }
    let decimal = types.decimal(&inferences);
    let mut made = Vec::with_capacity(columns.len());
    for (position, column) in columns.into_iter().enumerate() {
        let in_column = |error: negmm_dist::Error| error.in_column(&column.name);
        let hint = types.hints[position];
        let converted = match (&column.cells, plain[position]) {
            (Cells::Text(..), is_plain) => {
                let text = whole(&column)?;
                let numbers = match (&text, is_plain) {
                    (Column::Text { codes, levels }, true) => {
                        let numbers = reader.numbers(codes, levels);
                        Some(numbers.map_err(|(row, error)| in_column(error).at_row(row as u64))?.0)
                    }
                    _ => None,
                };
                match (inferences.remove(&position), numbers) {
                    (None, Some(numbers)) => Some((Column::Numbers(numbers), types.plain_type(decimal))),
                    (inference, numbers) => {
                        let inference = inference.unwrap_or(Inference::Text);
                        Some(types.finish(numbers, text, inference, decimal).map_err(in_column)?)
                    }
                }
            }
            _ if hint == TypeHint::Nothing && dialect.missing.is_empty() => None,
            _ => {
                let column_type = column.typed.as_ref().map(|typed| typed.column_type.clone());
                typed(&whole(&column)?, column_type, hint, dialect).map_err(in_column)?
            }
        };
        made.push(match converted {
            Some((cells, column_type)) => {
                ScratchColumn::write(file, &column.name, cells, column_type.or(column.typed))?
            }
            None => column,
        });
    }
    Ok(made)
}

impl ScratchColumn {
    /// None of its rows, and all levels of text.
    fn empty_with_levels(&self) -> Column {
        match &self.cells {
            Cells::Text(_, levels) => Column::Text { codes: Vec::new(), levels: levels.to_vec() },
            _ => self.empty(),
        }
    }
}
