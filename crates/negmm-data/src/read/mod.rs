//! Reading of whole tables from files of any format, and streams of their rows.

pub(crate) mod drawn_rows;
pub(crate) mod files_stream;
pub(crate) mod row_stream;

use std::io::{Cursor, Read};
use std::path::Path;

use crate::csv::reader;
use crate::files::TableFiles;
use crate::files::sample::Sample;
use crate::source::{self, format, open};
use crate::{Dialect, Table};
use negmm_dist::Result;

impl Table {
    /// Reads a CSV file (plain or gzip), or with the feature `parquet` a Parquet file or CSV in zstd; the first bytes say which.
    ///
    /// Several files are read as one table, in the order of their names: all files below a folder, or those of a pattern such as
    /// `sales/*.parquet` (`*`, `?`, `[a-z]` inside a name, `**` for folders at any depth; a file of that very name comes first).
    /// They must have the same columns, in any order; folders called `year=2025` are a column `year` of what is in them.
    ///
    /// A Parquet file has types, and only those of text columns that are not categories are inferred as in CSV. In CSV the
    /// delimiter (comma, semicolon, tab or bar) is detected from the first lines, and the type of a column from all its cells ([`Table::typed_column`]): numbers, also with decimal commas, separators of
    /// thousands, percent or currency signs, or parentheses for negative ones; truth values; else text. Digits with leading zeros
    /// are text. A column of numbers in which one cell in twenty at most does not fit (and at most ten different texts) is one of
    /// numbers, and those cells are missing. Missing are empty cells and NA, N/A, NaN and null, whatever the case, `?` and what
    /// spreadsheets write (`#N/A`, `#DIV/0!` …), among numbers also `-`, `.` and None. Blanks around a cell are dropped, empty
    /// lines are skipped, and a column without a name is called by its position, `column 1`.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Self::read_with(path, &Dialect::default())
    }

    /// Reads like [`Table::read`], with the settings of `dialect`.
    pub fn read_with(path: impl AsRef<Path>, dialect: &Dialect) -> Result<Self> {
        if let Some(files) = TableFiles::of_path(path.as_ref())? {
            return crate::files::whole::read(&files, dialect, None);
        }
        let (mut file, name) = (open(path.as_ref())?, path.as_ref().display().to_string());
        let start = format::first_bytes(&mut file, &name)?;
        #[cfg(feature = "parquet")]
        if start == format::PARQUET && file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return crate::parquet::read_whole(file, &name, dialect);
        }
        Self::read_after(start, file, &name, dialect)
    }

    /// Reads the files of a list of paths, patterns and folders as one table, in the order of the list.
    pub fn read_files(paths: &[impl AsRef<Path>], dialect: &Dialect) -> Result<Self> {
        match paths {
            [path] => Self::read_with(path, dialect),
            _ => crate::files::whole::read(&TableFiles::of_paths(paths)?, dialect, None),
        }
    }

    /// Reads `rows` rows of the files of a list of paths, patterns and folders, drawn at random by `seed`, and says how many rows
    /// there are. Files are gone through twice, and only the drawn rows are held in memory: types are inferred from these.
    pub fn read_sample(paths: &[impl AsRef<Path>], dialect: &Dialect, rows: usize, seed: u64) -> Result<(Self, usize)> {
        let files = TableFiles::of_paths(paths)?;
        let sample = Sample::draw(&files, rows, seed, dialect)?;
        match &sample {
            Some(sample) => Ok((crate::files::whole::read(&files, dialect, Some(sample))?, sample.counts.iter().sum())),
            None => {
                let table = crate::files::whole::read(&files, dialect, None)?;
                let rows = table.rows();
                Ok((table, rows))
            }
        }
    }

    /// Reads like [`Table::read`] from any reader; messages call it `name`.
    pub fn read_from(reader: impl Read, name: &str) -> Result<Self> {
        Self::read_from_with(reader, name, &Dialect::default())
    }

    /// Reads like [`Table::read_with`] from any reader; messages call it `name`.
    pub fn read_from_with(mut reader: impl Read, name: &str, dialect: &Dialect) -> Result<Self> {
        let start = format::first_bytes(&mut reader, name)?;
        Self::read_after(start, reader, name, dialect)
    }

    /// Reads `reader` after these bytes.
    fn read_after(start: Vec<u8>, reader: impl Read, name: &str, dialect: &Dialect) -> Result<Self> {
        #[cfg(feature = "parquet")]
        if start == format::PARQUET {
            return crate::parquet::read_whole(crate::parquet::whole_bytes(start, reader, name)?, name, dialect);
        }
        reader::read_whole(source::Decoded::new(Cursor::new(start).chain(reader), name)?, name, dialect)
    }
}
