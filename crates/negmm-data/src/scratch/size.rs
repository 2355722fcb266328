//! How large a table is, before it is read: what a fit needs of memory and of the disk.

use std::io::{Cursor, Read};
use std::path::Path;

use crate::Dialect;
use crate::csv::records::Records;
use crate::files::TableFiles;
use crate::source::{Decoded, GZIP, HEAD_BYTES, format, open};
use negmm_dist::Result;

/// Bytes that a compressed byte of CSV becomes, about.
const UNPACKED: u64 = 6;
/// Bytes of a cell of a table in memory or in a scratch file, and of its features: a number has two.
const CELL: u64 = 8;
const FEATURES: u64 = 8;
/// Bytes of a row beside its cells: its target, its weight, and its places in the lists of rows of five folds and of two networks.
const ROW: u64 = 64;

/// The size of a table. Of CSV files it is an estimate from their first rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableSize {
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub columns: u64,
    /// Bytes of CSV files, unpacked.
    pub text: u64,
}

impl TableSize {
    /// Bytes of the table and of its encoded rows in memory.
    pub fn in_memory(&self) -> u64 {
        self.text + self.rows * (self.columns * (CELL + FEATURES) + ROW)
    }

    /// Bytes of memory that grow with the rows where table and encoded rows are on disk: lists of rows, and one column at a time with a
    /// sorted copy.
    pub fn beside_scratch(&self) -> u64 {
        self.rows * (ROW + 3 * CELL)
    }

    /// Bytes of the scratch files.
    pub fn on_disk(&self) -> u64 {
        self.rows * self.columns * (CELL + FEATURES)
    }
}

/// The size of the table in the files of a list of paths, patterns and folders.
///
/// # Errors
/// When a file cannot be read.
pub fn table_size(paths: &[impl AsRef<Path>], dialect: &Dialect) -> Result<TableSize> {
    let several = TableFiles::of_paths(paths)?;
    let mut size = TableSize { rows: 0, columns: 0, text: 0 };
    for file in &several.files {
        let mut source = open(&file.path)?;
        let bytes = source.metadata().map_or(0, |metadata| metadata.len());
        let start = format::first_bytes(&mut source, &file.name)?;
        #[cfg(feature = "parquet")]
        if start == format::PARQUET {
            let (rows, columns) = crate::parquet::shape(source, &file.name)?;
            size.rows += rows as u64;
            size.columns = size.columns.max((columns + file.partitions.len()) as u64);
            continue;
        }
        let packed = start.starts_with(&GZIP) || start == format::ZSTD;
        let mut head = Vec::new();
        let decoded = Decoded::new(Cursor::new(start).chain(source), &file.name)?;
        let read = decoded.take(HEAD_BYTES).read_to_end(&mut head);
        read.map_err(|error| crate::source::read_error(&file.name, error))?;
        let unpacked = if packed { UNPACKED * bytes } else { bytes };
        // The last row may be cut off, and blank lines are none.
        let rows = head.windows(2).filter(|pair| pair[1] == b'\n' && pair[0] != b'\n').count().max(1) as u64;
        size.text += unpacked;
        size.rows += (rows * unpacked).div_ceil(head.len().max(1) as u64);
        if let Ok(records) = Records::new(&*head, &file.name, dialect.separator) {
            size.columns = size.columns.max((records.header().len() + file.partitions.len()) as u64);
        }
    }
    Ok(size)
}
