//! A stream of rows of a file in chunks, of any supported format.

use std::io::{Cursor, Read};
use std::path::Path;

use super::files_stream::FilesStream;
use crate::files::TableFiles;
#[cfg(feature = "parquet")]
use crate::parquet::{ParquetStream, whole_bytes};
#[cfg(feature = "parquet")]
use crate::source::format::PARQUET;
use crate::source::format::first_bytes;
use crate::source::open;
use crate::{Chunk, CsvStream, Schema};
use negmm_dist::Result;

/// A file that is read piece by piece, in memory that does not grow with it.
pub enum RowStream {
    /// CSV, plain, gzip or zstd.
    Csv(Box<CsvStream>),
    /// Parquet.
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetStream>),
    /// Several files, one after the other.
    Files(Box<FilesStream>),
}

impl RowStream {
    /// Opens a file, or the files of a pattern or a folder as in [`crate::Table::read`], and finds the columns.
    pub fn open(path: impl AsRef<Path>, schema: &Schema) -> Result<Self> {
        match TableFiles::of_path(path.as_ref())? {
            Some(files) => Ok(Self::Files(Box::new(FilesStream::new(files, schema)?))),
            None => Self::open_file(path, schema),
        }
    }

    /// Opens the files of a list of paths, patterns and folders, in the order of the list.
    pub fn open_files(paths: &[impl AsRef<Path>], schema: &Schema) -> Result<Self> {
        match paths {
            [path] => Self::open(path, schema),
            _ => Ok(Self::Files(Box::new(FilesStream::new(TableFiles::of_paths(paths)?, schema)?))),
        }
    }

    /// Opens one file.
    pub(crate) fn open_file(path: impl AsRef<Path>, schema: &Schema) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        let mut file = open(path.as_ref())?;
        let start = first_bytes(&mut file, &name)?;
        #[cfg(feature = "parquet")]
        if start == PARQUET && file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Ok(Self::Parquet(Box::new(ParquetStream::new(file, &name, schema)?)));
        }
        Self::after(start, file, &name, schema)
    }

    /// Reads from any reader, which messages call `name`. A Parquet file is held in memory: its directory is at its end.
    pub fn from_reader(mut reader: impl Read + Send + 'static, name: &str, schema: &Schema) -> Result<Self> {
        let start = first_bytes(&mut reader, name)?;
        Self::after(start, reader, name, schema)
    }

    /// `reader` after these bytes.
    fn after(start: Vec<u8>, reader: impl Read + Send + 'static, name: &str, schema: &Schema) -> Result<Self> {
        #[cfg(feature = "parquet")]
        if start == PARQUET {
            let bytes = whole_bytes(start, reader, name)?;
            return Ok(Self::Parquet(Box::new(ParquetStream::new(bytes, name, schema)?)));
        }
        let whole = Cursor::new(start).chain(reader);
        Ok(Self::Csv(Box::new(CsvStream::from_reader(whole, name, schema)?)))
    }

    /// Accepts a file without rows, which otherwise is an error.
    #[must_use]
    pub fn allow_no_rows(mut self) -> Self {
        match &mut self {
            Self::Csv(stream) => stream.allow_no_rows(),
            #[cfg(feature = "parquet")]
            Self::Parquet(stream) => stream.allow_no_rows(),
            Self::Files(stream) => stream.allow_no_rows(),
        }
        self
    }

    /// The names of all columns of the file.
    pub fn header(&self) -> &[String] {
        match self {
            Self::Csv(stream) => stream.header(),
            #[cfg(feature = "parquet")]
            Self::Parquet(stream) => stream.header(),
            Self::Files(stream) => stream.header(),
        }
    }

    /// The next rows, at most `max_rows` (and at least one), or none when the file is at its end.
    pub fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        match self {
            Self::Csv(stream) => stream.next_chunk(max_rows),
            #[cfg(feature = "parquet")]
            Self::Parquet(stream) => stream.next_chunk(max_rows),
            Self::Files(stream) => stream.next_chunk(max_rows),
        }
    }
}
