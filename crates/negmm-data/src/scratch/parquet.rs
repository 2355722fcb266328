//! Parquet files as columns in a scratch file, batch by batch.

use std::collections::HashMap;
use std::sync::Arc;

use super::cells::{CellWriter, Cells, ScratchColumn};
use super::levels::LevelLimit;
use crate::agreement::{class, is_missing, positions, what};
use crate::files::TableFile;
use crate::parquet::each_batch;
use crate::source::open;
use crate::{Column, ColumnType, MISSING, TypedColumn};
use negmm_dist::{Error, Result};
use negmm_nn::scratch::ScratchFile;

/// A column that is being written: of what kind is known from the first cell that is not missing.
struct Growing {
    name: String,
    file: Arc<ScratchFile>,
    /// Columns that are written together.
    columns: usize,
    cells: Open,
    /// The file, an example and the type of the first cells that are not missing; before that those of the first file.
    model: (String, Column, Option<ColumnType>),
    typed: Option<ColumnType>,
}

enum Open {
    /// This many missing cells.
    Unknown(usize),
    Numbers(CellWriter<f64>),
    Times(CellWriter<f64>),
    Text(CellWriter<u32>, HashMap<String, u32>),
}

impl Growing {
    fn open(&self, of: &Column, missing: usize) -> Result<Open> {
        let numbers = || -> Result<CellWriter<f64>> {
            let mut writer = CellWriter::new(&self.file, self.columns);
            writer.extend((0..missing).map(|_| f64::NAN))?;
            Ok(writer)
        };
        Ok(match of {
            Column::Numbers(_) => Open::Numbers(numbers()?),
            Column::Times(_) => Open::Times(numbers()?),
            Column::Text { .. } => {
                let mut writer = CellWriter::new(&self.file, self.columns);
                writer.extend((0..missing).map(|_| MISSING))?;
                Open::Text(writer, HashMap::new())
            }
        })
    }

    /// Adds the cells of a file.
    fn push(
        &mut self,
        name: &str,
        column: &Column,
        column_type: Option<&ColumnType>,
        limit: &mut LevelLimit,
    ) -> Result<()> {
        if is_missing(column) {
            let missing = 0..column.len();
            return match &mut self.cells {
                Open::Unknown(rows) => {
                    *rows += column.len();
                    Ok(())
                }
                Open::Numbers(writer) | Open::Times(writer) => writer.extend(missing.map(|_| f64::NAN)),
                Open::Text(writer, _) => writer.extend(missing.map(|_| MISSING)),
            };
        }
        if let Open::Unknown(missing) = self.cells {
            self.cells = self.open(column, missing)?;
            self.model = (name.to_string(), column.select(&[]), column_type.cloned());
            self.typed = column_type.cloned();
        }
        let (first, model, model_type) = &self.model;
        match (&mut self.cells, column) {
            (Open::Numbers(writer), Column::Numbers(cells)) if class(model_type.as_ref()) == class(column_type) => {
                writer.extend(cells.iter().copied())
            }
            (Open::Times(writer), Column::Times(cells)) => writer.extend(cells.iter().copied()),
            (Open::Text(writer, known), Column::Text { codes, levels }) => {
                self.typed = self.typed.take().or_else(|| column_type.cloned());
                limit.extend(writer, known, codes, levels).map_err(|error| error.in_column(&self.name))
            }
            _ => {
                let message = format!(
                    "expected {} as in {first}, found {}",
                    what(model, model_type.as_ref()),
                    what(column, column_type)
                );
                Err(Error::data(message).in_column(&self.name).in_file(name))
            }
        }
    }

    fn finish(self) -> Result<ScratchColumn> {
        let cells =
            if let Open::Unknown(missing) = self.cells { self.open(&self.model.1, missing)? } else { self.cells };
        let cells = match cells {
            Open::Unknown(_) => Cells::Numbers(super::cells::Parts::default()),
            Open::Numbers(writer) => Cells::Numbers(writer.finish()?),
            Open::Times(writer) => Cells::Times(writer.finish()?),
            Open::Text(writer, known) => Cells::Text(writer.finish()?, super::levels::in_order(known)),
        };
        let typed = self.typed.filter(|_| !matches!(cells, Cells::Times(_)));
        Ok(ScratchColumn { name: self.name, cells, typed: typed.map(|typed| TypedColumn::of(typed, "")) })
    }
}

/// The columns of all files, with text as it is, and the rows of each file.
pub(super) fn read(
    files: &[TableFile],
    file: &Arc<ScratchFile>,
    limit: &mut LevelLimit,
) -> Result<(Vec<ScratchColumn>, Vec<usize>)> {
    let mut columns: Vec<Growing> = Vec::new();
    let mut rows = Vec::with_capacity(files.len());
    for TableFile { path, name, .. } in files {
        let mut order: Vec<usize> = Vec::new();
        let mut of_file = 0;
        each_batch(open(path)?, name, |names, batch| {
            if columns.is_empty() {
                let growing = |(own, (column, column_type)): (&String, &(Column, Option<ColumnType>))| Growing {
                    name: own.clone(),
                    file: file.clone(),
                    columns: names.len(),
                    cells: Open::Unknown(0),
                    model: (name.clone(), column.select(&[]), column_type.clone()),
                    typed: column_type.clone(),
                };
                columns = names.iter().zip(&batch).map(growing).collect();
            }
            if order.is_empty() {
                let first: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
                order = positions((&files[0].name, &first), names).map_err(|error| error.in_file(name))?;
            }
            of_file += batch.first().map_or(0, |(column, _)| column.len());
            for (column, at) in columns.iter_mut().zip(&order) {
                let (cells, column_type) = &batch[*at];
                column.push(name, cells, column_type.as_ref(), limit)?;
            }
            Ok(())
        })?;
        rows.push(of_file);
    }
    Ok((columns.into_iter().map(Growing::finish).collect::<Result<_>>()?, rows))
}
