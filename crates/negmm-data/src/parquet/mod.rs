//! Parquet files: read whole, or row group by row group by a schema that names the wanted columns.

pub(crate) mod writer;

use std::io::Read;
use std::panic::AssertUnwindSafe;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::reader::ChunkReader;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType};
use bytes::Bytes;

use super::table::check_names;
use super::{Chunk, ColumnType, Dialect, Schema, Table, Warnings};
use crate::arrow::{ArrowColumn, arrow_error, names};
use crate::pass_through::KeptColumn;
use crate::source::read_error;
use negmm_dist::{Error, Result};

/// Rows that are decoded at once.
const BATCH: usize = 8192;

/// All bytes of a reader after its first ones.
pub(crate) fn whole_bytes(mut start: Vec<u8>, mut reader: impl Read, name: &str) -> Result<Bytes> {
    reader.read_to_end(&mut start).map_err(|error| read_error(name, error))?;
    Ok(start.into())
}

/// Reads all rows; the types of text columns are inferred as for a CSV file.
pub(crate) fn read_whole(source: impl ChunkReader + 'static, name: &str, dialect: &Dialect) -> Result<Table> {
    let table = read_part(source, name, None)?;
    if table.rows() == 0 {
        return Err(no_row(name));
    }
    table.infer_types(dialect)
}

/// The rows of a file.
pub(crate) fn count(source: impl ChunkReader + 'static, name: &str) -> Result<usize> {
    let rows = open(source, name)?.metadata().file_metadata().num_rows();
    usize::try_from(rows).map_err(|_| parquet_error(&damaged(), name))
}

/// Reads all rows of one of several files, which may have none, or these alone. Text is left as it is.
pub(crate) fn read_part(source: impl ChunkReader + 'static, name: &str, rows: Option<&[usize]>) -> Result<Table> {
    let builder = open(source, name)?;
    let schema = builder.schema().clone();
    let builder = builder.with_batch_size(BATCH);
    let builder = match rows {
        Some(rows) => {
            let all = usize::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
            builder.with_row_selection(RowSelection::from_consecutive_ranges(rows.iter().map(|row| *row..row + 1), all))
        }
        None => builder,
    };
    let reader = builder.build().map_err(|error| parquet_error(&error, name))?;
    let mut reader = Batches(reader);
    let batches = std::iter::from_fn(|| reader.next().transpose());
    let table = Table::of_arrow(&schema, batches).map_err(|error| error.in_file(name))?;
    Ok(table.with_name(name))
}

/// The rows and columns of a file.
pub(crate) fn shape(source: impl ChunkReader + 'static, name: &str) -> Result<(usize, usize)> {
    let file = open(source, name)?;
    let rows =
        usize::try_from(file.metadata().file_metadata().num_rows()).map_err(|_| parquet_error(&damaged(), name))?;
    Ok((rows, file.schema().fields().len()))
}

/// The names of the columns of a file.
pub(crate) fn header(source: impl ChunkReader + 'static, name: &str) -> Result<Vec<String>> {
    let header = names(open(source, name)?.schema());
    check_names(&header).map_err(|error| error.in_file(name))?;
    Ok(header)
}

/// Visits all rows of a file in pieces: the names of the columns, and the cells of each with its type. Text is left as it is.
pub(crate) fn each_batch(
    source: impl ChunkReader + 'static,
    name: &str,
    mut visit: impl FnMut(&[String], Vec<(crate::Column, Option<ColumnType>)>) -> Result<()>,
) -> Result<()> {
    let builder = open(source, name)?;
    let schema = builder.schema().clone();
    let header = names(&schema);
    check_names(&header).map_err(|error| error.in_file(name))?;
    let reader = builder.with_batch_size(BATCH).build().map_err(|error| parquet_error(&error, name))?;
    let mut reader = Batches(reader);
    let mut rows = 0;
    while let Some(batch) = reader.next().map_err(|error| arrow_error(&error).in_file(name))? {
        let cells = |((field, own), array): ((&std::sync::Arc<arrow_schema::Field>, &String), &ArrayRef)| {
            let mut column = ArrowColumn::new(own, field.data_type())?.after(rows);
            column.push(array.as_ref())?;
            Ok(column.finish())
        };
        let columns = schema.fields().iter().zip(&header).zip(batch.columns()).map(cells);
        let columns = columns.collect::<Result<Vec<_>>>().map_err(|error| error.in_file(name))?;
        visit(&header, columns)?;
        rows += batch.num_rows();
    }
    Ok(())
}

/// Reads the directory of a file, and sees that all columns lie inside the file.
fn open<T: ChunkReader + 'static>(source: T, name: &str) -> Result<ParquetRecordBatchReaderBuilder<T>> {
    let length = source.len();
    let builder = unpanicked(|| ParquetRecordBatchReaderBuilder::try_new(source));
    let builder = builder.map_err(|error| parquet_error(&error, name))?;
    let columns = builder.metadata().row_groups().iter().flat_map(|group| group.columns());
    let sound = |column: &ColumnChunkMetaData| {
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let end = start.checked_add(column.compressed_size());
        start >= 0 && column.compressed_size() >= 0 && end.is_some_and(|end| end as u64 <= length)
    };
    match columns.into_iter().all(sound) {
        true => Ok(builder),
        false => Err(parquet_error(&damaged(), name)),
    }
}

/// Batches of rows, none of them empty.
struct Batches(ParquetRecordBatchReader);

impl Batches {
    fn next(&mut self) -> std::result::Result<Option<RecordBatch>, ArrowError> {
        let mut next = || self.0.find(|batch| !matches!(batch, Ok(batch) if batch.num_rows() == 0)).transpose();
        unpanicked(|| next().map_err(ParquetError::from)).map_err(ArrowError::from)
    }
}

/// What `read` gives; where it panics, which the decoder does on some damaged files, an error.
fn unpanicked<T>(read: impl FnOnce() -> std::result::Result<T, ParquetError>) -> std::result::Result<T, ParquetError> {
    std::panic::catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(damaged()))
}

fn damaged() -> ParquetError {
    ParquetError::General("the file is damaged".to_string())
}

/// A Parquet file that is read piece by piece, in memory that does not grow with the file.
pub struct ParquetStream {
    reader: Batches,
    name: String,
    header: Vec<String>,
    columns: Vec<Wanted>,
    keep: Vec<Wanted>,
    /// Rows that are decoded and not yet given.
    rest: Option<RecordBatch>,
    rows: usize,
    /// Whether no row is no error.
    may_be_empty: bool,
}

/// A column that is wanted.
struct Wanted {
    name: String,
    /// Its position in a batch.
    position: usize,
    data_type: DataType,
    column_type: ColumnType,
}

impl ParquetStream {
    /// Reads the directory of a file and finds the columns; messages call the file `name`.
    pub fn new(source: impl ChunkReader + 'static, name: &str, schema: &Schema) -> Result<Self> {
        let builder = open(source, name)?;
        let file = builder.schema().clone();
        let header = names(&file);
        check_names(&header).map_err(|error| error.in_file(name))?;
        let (columns, keep) = schema.find(&header).map_err(|error| error.in_file(name))?;
        // Batches have the columns that are read, in the order of the file.
        let mut read: Vec<usize> = columns.iter().chain(&keep).copied().collect();
        read.sort_unstable();
        read.dedup();
        let wanted = |position: usize, column_type: ColumnType| Wanted {
            name: header[position].clone(),
            position: read.partition_point(|other| *other < position),
            data_type: file.field(position).data_type().clone(),
            column_type,
        };
        let column_types = schema.columns.iter().map(|(_, column_type)| column_type.clone());
        let columns: Vec<Wanted> =
            columns.iter().zip(column_types).map(|(position, column_type)| wanted(*position, column_type)).collect();
        let keep = keep.iter().map(|position| wanted(*position, ColumnType::text())).collect();
        for column in &columns {
            ArrowColumn::new(&column.name, &column.data_type).map_err(|error| error.in_file(name))?;
        }
        let mask = ProjectionMask::roots(builder.parquet_schema(), read);
        let reader = builder.with_projection(mask).with_batch_size(BATCH).build();
        let reader = reader.map_err(|error| parquet_error(&error, name))?;
        let (name, reader) = (name.to_string(), Batches(reader));
        Ok(Self { reader, name, columns, keep, rest: None, rows: 0, may_be_empty: false, header })
    }

    /// Accepts a file without rows.
    pub fn allow_no_rows(&mut self) {
        self.may_be_empty = true;
    }

    /// The names of all columns of the file.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The next rows, at most `max_rows` (and at least one), or none when the file is at its end.
    pub fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let before = self.rows;
        let name = self.name.clone();
        let builder = |column: &Wanted| Ok(ArrowColumn::new(&column.name, &column.data_type)?.after(before));
        let mut builders = self.columns.iter().map(builder).collect::<Result<Vec<_>>>()?;
        let mut kept: Vec<Vec<ArrayRef>> = vec![Vec::new(); self.keep.len()];
        while self.rows - before < max_rows.max(1) {
            let Some(batch) = self.next_rows(max_rows.max(1) - (self.rows - before))? else { break };
            for (builder, column) in builders.iter_mut().zip(&self.columns) {
                let pushed = builder.push(batch.column(column.position).as_ref());
                pushed.map_err(|error| error.in_file(&name))?;
            }
            for (arrays, column) in kept.iter_mut().zip(&self.keep) {
                arrays.push(batch.column(column.position).clone());
            }
            self.rows += batch.num_rows();
        }
        let rows = self.rows - before;
        if rows == 0 {
            return if before == 0 && !self.may_be_empty { Err(no_row(&name)) } else { Ok(None) };
        }
        let mut warnings = Warnings::default();
        let mut columns = Vec::with_capacity(builders.len());
        for (builder, Wanted { name: column_name, column_type, .. }) in builders.into_iter().zip(&self.columns) {
            let (column, _) = builder.finish();
            let read = column
                .read_as(column_type)
                .map_err(|(row, error)| error.in_column(column_name).at_row((before + row) as u64).in_file(&name))?;
            warnings.count_odd(column_name, read.1);
            columns.push((column_name.clone(), read.0.into_owned()));
        }
        let kept = self.keep.iter().zip(kept).map(|(column, arrays)| KeptColumn::of_arrays(&column.name, arrays));
        let kept = kept.collect();
        Ok(Some(Chunk { table: Table::of_checked(&name, columns.into_iter(), before, rows), kept, warnings }))
    }

    /// The next rows, at most `max_rows`.
    fn next_rows(&mut self, at_most: usize) -> Result<Option<RecordBatch>> {
        let batch = match self.rest.take() {
            Some(batch) => Some(batch),
            None => self.reader.next().map_err(|error| arrow_error(&error).in_file(&self.name))?,
        };
        let Some(batch) = batch else { return Ok(None) };
        let taken = batch.num_rows().min(at_most);
        if taken < batch.num_rows() {
            self.rest = Some(batch.slice(taken, batch.num_rows() - taken));
        }
        Ok(Some(batch.slice(0, taken)))
    }
}

fn no_row(name: &str) -> Error {
    Error::data("there is no row of data").in_file(name)
}

fn parquet_error(error: &ParquetError, name: &str) -> Error {
    arrow_error(&ArrowError::ParquetError(error.to_string())).in_file(name)
}
