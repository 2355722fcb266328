//! The Parquet writer: batches of Arrow arrays, row group by row group.

use std::io::Write;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use arrow_array::RecordBatch;

use negmm_dist::{Error, Result};

/// Rows of a row group, which are in memory until it is written.
const ROW_GROUP: usize = 1 << 17;

/// A Parquet file that is being written.
pub struct ParquetWriter<W: Write + Send> {
    out: Option<W>,
    writer: Option<ArrowWriter<W>>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// An empty one; the first batch determines its columns.
    pub fn new(out: W) -> Self {
        Self { out: Some(out), writer: None }
    }

    /// Writes a batch; all batches have one schema.
    ///
    /// # Errors
    /// When they do not, or it cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if let Some(out) = self.out.take() {
            let properties = WriterProperties::builder()
                .set_compression(Compression::SNAPPY)
                .set_max_row_group_row_count(Some(ROW_GROUP))
                .build();
            let writer = ArrowWriter::try_new(out, batch.schema(), Some(properties));
            self.writer = Some(writer.map_err(written)?);
        }
        self.writer.as_mut().map_or(Ok(()), |writer| writer.write(batch).map_err(written))
    }

    /// The end: the directory is written. Gives back what was written to, if rows were.
    pub fn finish(self) -> Result<Option<W>> {
        match self.writer {
            Some(writer) => writer.into_inner().map(Some).map_err(written),
            None => Ok(self.out),
        }
    }
}

/// The error of writing; an I/O error is kept as such.
fn written(error: ParquetError) -> Error {
    match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>().map(|error| error.downcast()) {
            Ok(Ok(error)) => error,
            Ok(Err(error)) => Error::data(error.to_string()),
            Err(error) => Error::data(error.to_string()),
        },
        error => Error::data(format!("cannot be written as Parquet: {error}")),
    }
}
