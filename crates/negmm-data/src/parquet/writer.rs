//! A Parquet writer of numeric and passed-through columns, row group by row group.

use std::io::Write;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, new_null_array};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat;

use crate::KeptColumn;
use crate::arrow::arrow_error;
use negmm_dist::{Error, Result};

/// Rows of a row group, which are in memory until it is written.
const ROW_GROUP: usize = 1 << 17;

/// Cells of a column that is written.
pub enum Written<'a> {
    /// Numbers.
    Numbers(Vec<f64>),
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Texts; those that are empty are missing.
    Texts(Vec<String>),
    /// Those of a column that is carried over, from a row on; missing ones after its last.
    Kept(&'a KeptColumn, usize),
}

impl Written<'_> {
    /// `rows` cells.
    fn array(self, rows: usize) -> Result<ArrayRef> {
        match self {
            Self::Numbers(numbers) => Ok(Arc::new(Float64Array::from(numbers))),
            Self::Whole(numbers) => Ok(Arc::new(Int64Array::from(numbers))),
            Self::Texts(texts) => {
                let texts = texts.into_iter().map(|text| Some(text).filter(|text| !text.is_empty()));
                Ok(Arc::new(texts.collect::<StringArray>()))
            }
            Self::Kept(column, first) => {
                let mut arrays = column.arrays();
                let data_type = arrays.first().map_or(DataType::Utf8, |array| array.data_type().clone());
                arrays.push(new_null_array(&data_type, rows));
                let arrays: Vec<_> = arrays.iter().map(AsRef::as_ref).collect();
                let all = concat(&arrays).map_err(|error| arrow_error(&error).in_column(column.name()))?;
                Ok(all.slice(first, rows))
            }
        }
    }
}

/// A Parquet file that is being written.
pub struct ParquetWriter<W: Write + Send> {
    out: Option<W>,
    writer: Option<ArrowWriter<W>>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// An empty one; the first rows say what its columns are.
    pub fn new(out: W) -> Self {
        Self { out: Some(out), writer: None }
    }

    /// Writes so many rows of named columns, the same every time.
    pub fn write(&mut self, rows: usize, columns: Vec<(&str, Written<'_>)>) -> Result<()> {
        let mut fields = Vec::with_capacity(columns.len());
        let mut arrays = Vec::with_capacity(columns.len());
        for (name, column) in columns {
            let nullable = matches!(column, Written::Kept(..) | Written::Texts(_));
            let array = column.array(rows)?;
            fields.push(Field::new(name, array.data_type().clone(), nullable));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        if let Some(out) = self.out.take() {
            let properties = WriterProperties::builder()
                .set_compression(Compression::SNAPPY)
                .set_max_row_group_row_count(Some(ROW_GROUP))
                .build();
            let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties));
            self.writer = Some(writer.map_err(written)?);
        }
        let batch = RecordBatch::try_new(schema, arrays).map_err(|error| arrow_error(&error))?;
        self.writer.as_mut().map_or(Ok(()), |writer| writer.write(&batch).map_err(written))
    }

    /// The end: the directory is written. Gives back what was written to, if rows were.
    pub fn finish(self) -> Result<Option<W>> {
        match self.writer {
            Some(writer) => writer.into_inner().map(Some).map_err(written),
            None => Ok(self.out),
        }
    }
}

/// What went wrong; an error of what was written to is kept.
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
