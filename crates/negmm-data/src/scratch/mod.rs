//! Tables on disk: files that are read once, in pieces, into columns in a scratch file, with the types that they have in memory.
//!
//! One column at a time fits into memory, and so do some rows of all columns. What an encoder learns of a column is learnt from all its
//! cells, as in memory, so that the bits are the same.

mod cells;
mod csv;
mod fit;
mod levels;
#[cfg(feature = "parquet")]
mod parquet;
mod size;
mod types;

use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::files::whole::divided;
use crate::files::{TableFile, TableFiles};
use crate::source::{format, open};
use crate::table::FileRows;
use crate::{Column, Dialect, Table};
use cells::ScratchColumn;
use levels::LevelLimit;
use negmm_dist::{Error, Result};
use negmm_nn::scratch::{Scratch, ScratchFile};
pub use size::{TableSize, table_size};

/// A table whose columns are in a scratch file.
#[derive(Clone, Debug)]
pub struct ScratchTable {
    name: String,
    columns: Vec<ScratchColumn>,
    rows: usize,
    /// The files that the rows come from, where there are several.
    files: Option<Arc<[FileRows]>>,
    /// The position of each row in the files, where some are left out.
    kept: Option<Arc<[usize]>>,
    file: Arc<ScratchFile>,
    scratch: Scratch,
}

impl ScratchTable {
    /// Reads the files of a list of paths, patterns and folders as [`Table::read_files`] does; the different texts of text columns may
    /// take so many `bytes` of memory.
    ///
    /// # Errors
    /// As [`Table::read_files`], and when the disk is full, or CSV and Parquet are mixed.
    pub fn read_files(paths: &[impl AsRef<Path>], dialect: &Dialect, scratch: &Scratch, bytes: usize) -> Result<Self> {
        let several = match paths {
            [path] => TableFiles::of_path(path.as_ref())?,
            _ => None,
        };
        let several = several.map_or_else(|| TableFiles::of_paths(paths), Ok)?;
        let mut formats = Vec::with_capacity(several.files.len());
        for TableFile { path, name, .. } in &several.files {
            formats.push(format::first_bytes(&mut open(path)?, name)? == format::PARQUET);
        }
        let is_parquet = formats[0];
        if let Some(other) = formats.iter().position(|format| *format != is_parquet) {
            let kind = |is_parquet: bool| if is_parquet { "Parquet" } else { "CSV" };
            let (first, found) = (&several.files[0].name, kind(!is_parquet));
            let message =
                format!("expected {} as in {first}, found {found}: a scratch file has one format", kind(is_parquet));
            return Err(Error::data(message).in_file(&several.files[other].name));
        }
        let file = Arc::new(scratch.file()?);
        let mut limit = LevelLimit::new(bytes);
        let names = Self::first_names(&several.files[0], is_parquet, dialect)?;
        let partitions = several.partitions_beside(&names)?;
        let (of_folders, of_files) = divided(dialect, &partitions);
        let (mut columns, rows) = match is_parquet {
            #[cfg(feature = "parquet")]
            true => {
                let (columns, rows) = parquet::read(&several.files, &file, &mut limit)?;
                let columns = types::infer_types(columns, &file, &of_files);
                (columns.map_err(|error| error.in_file(&several.name))?, rows)
            }
            _ => csv::read(&several.files, &several.name, &file, &of_files, &mut limit)?,
        };
        let rows: Vec<(usize, usize)> = rows.into_iter().enumerate().collect();
        let count = rows.iter().map(|(_, rows)| rows).sum();
        if count == 0 {
            return Err(Error::data("there is no row of data").in_file(&several.name));
        }
        if !partitions.is_empty() {
            let own = partitions.iter().map(|name| (name.as_str(), several.partition(name, &rows)));
            let more = Table::new(own.collect())?.with_name(&several.name).infer_types(&of_folders)?;
            for (name, column) in more.columns() {
                columns.push(ScratchColumn::write(&file, name, column.clone(), more.typed_column(name).cloned())?);
            }
        }
        let is_single = several.files.len() == 1 && several.name == several.files[0].name;
        let files = (!is_single).then(|| several.starts(&rows).into());
        let scratch = scratch.clone();
        Ok(Self { name: several.name, columns, rows: count, files, kept: None, file, scratch })
    }

    fn first_names(first: &TableFile, is_parquet: bool, dialect: &Dialect) -> Result<Vec<String>> {
        let mut file = open(&first.path)?;
        #[cfg(feature = "parquet")]
        if is_parquet {
            return crate::parquet::header(file, &first.name);
        }
        let _ = is_parquet;
        let start = format::first_bytes(&mut file, &first.name)?;
        let whole = std::io::Cursor::new(start).chain(file);
        let decoded = crate::source::Decoded::new(whole, &first.name)?;
        Ok(crate::csv::records::Records::new(decoded, &first.name, dialect.separator)?.header().to_vec())
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The folder of scratch files.
    pub fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Bytes in the scratch file.
    pub fn bytes(&self) -> u64 {
        self.file.len()
    }

    /// The table without rows: names, types and levels.
    pub fn header(&self) -> Table {
        let columns = self.columns.iter().map(|column| (column.name.clone(), column.empty()));
        self.typed(Table::of_checked(&self.name, columns, 0, 0), &self.columns)
    }

    /// A table of one of its columns, in memory; without columns where it has none of that name.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn column(&self, name: &str) -> Result<Table> {
        self.columns(&[name])
    }

    /// The number of a row in the files, from 1; of several files they are numbered one after the other.
    pub fn row_number(&self, row: usize) -> usize {
        self.kept.as_ref().map_or(row, |kept| kept[row]) + 1
    }

    /// All rows of the columns of these names, which the table has.
    pub(crate) fn columns(&self, names: &[&str]) -> Result<Table> {
        let wanted = |column: &&ScratchColumn| names.contains(&column.name.as_str());
        let columns: Vec<ScratchColumn> = self.columns.iter().filter(wanted).cloned().collect();
        let read = |column: &ScratchColumn| Ok((column.name.clone(), column.read(&self.file, 0..self.rows)?));
        let read: Vec<(String, Column)> = columns.iter().map(read).collect::<Result<_>>()?;
        Ok(self
            .typed(self.located(Table::of_checked(&self.name, read.into_iter(), 0, self.rows), 0..self.rows), &columns))
    }

    /// Some rows that follow each other.
    pub(crate) fn part(&self, rows: Range<usize>) -> Result<Table> {
        let read = |column: &ScratchColumn| Ok((column.name.clone(), column.read_some(&self.file, rows.clone())?));
        let columns: Vec<(String, Column)> = self.columns.iter().map(read).collect::<Result<_>>()?;
        let table = Table::of_checked(&self.name, columns.into_iter(), rows.start, rows.len());
        Ok(self.typed(self.located(table, rows), &self.columns))
    }

    /// Some rows, in this order, as a table in memory.
    ///
    /// # Errors
    /// When the disk fails.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn select_rows(&self, rows: &[usize]) -> Result<Table> {
        let mut columns = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            columns.push((column.name.clone(), column.read(&self.file, 0..self.rows)?.select(rows)));
        }
        let table = Table::of_checked(&self.name, columns.into_iter(), 0, rows.len());
        let in_files = rows.iter().map(|row| self.kept.as_ref().map_or(*row, |kept| kept[*row])).collect();
        Ok(self.typed(table.in_files(self.files.clone(), Some(in_files)), &self.columns))
    }

    /// The rows in which the column called `name`, of numbers, is not missing, and how many others there are. All rows where there is
    /// no such column, or where it is missing throughout.
    ///
    /// # Errors
    /// When the column is not of numbers, or the disk is full.
    pub fn rows_with(self, name: &str) -> Result<(Self, usize)> {
        let Some(name) = self.header().own_name(name).map(str::to_string) else { return Ok((self, 0)) };
        let rows = self.columns(&[&name])?.rows_with(&name)?;
        if rows.is_empty() || rows.len() == self.rows {
            return Ok((self, 0));
        }
        let select = |column: &ScratchColumn| {
            let cells = column.read(&self.file, 0..self.rows)?.select(&rows);
            ScratchColumn::write(&self.file, &column.name, cells, column.typed.clone())
        };
        let columns = self.columns.iter().map(select).collect::<Result<_>>()?;
        let left_out = self.rows - rows.len();
        let (count, kept) = (rows.len(), Some(rows.into()));
        Ok((Self { columns, rows: count, kept, ..self }, left_out))
    }

    /// The rows of a part, each with its position in the files.
    fn located(&self, table: Table, rows: Range<usize>) -> Table {
        let kept = self.kept.as_ref().map(|kept| kept[rows].to_vec());
        table.in_files(self.files.clone(), kept)
    }

    fn typed(&self, table: Table, columns: &[ScratchColumn]) -> Table {
        let typed = |column: &ScratchColumn| Some((column.name.clone(), column.typed.clone()?));
        table.with_typed_columns(columns.iter().filter_map(typed).collect())
    }
}
