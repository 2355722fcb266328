//! A stream of CSV rows in chunks, by a schema that names the wanted columns.

use std::io::{Chain, Cursor, Read};
use std::path::Path;

use crate::column::dictionary::Dictionary;
use crate::csv::decimal_mark::with_own_mark;
use crate::csv::records::Records;
use crate::infer::CellReader;
use crate::pass_through::KeptColumn;
use crate::source::open;
use crate::source::{Decoded, HEAD_BYTES, read_error};
use crate::{Chunk, Column, Kind, Schema, Table, TimeFormat, Warnings};
use negmm_dist::Result;

/// Rows whose memory is reserved at the start of a chunk.
const ROWS_AT_ONCE: usize = 1 << 13;

/// The bytes of a CSV file.
type Bytes = Decoded<Box<dyn Read + Send>>;

/// A CSV file that is read piece by piece, in memory that does not grow with the file.
/// Files are parsed as by [`Table::read`], with the column types of the schema.
pub struct CsvStream {
    records: Records<Chain<Cursor<Vec<u8>>, Bytes>>,
    columns: Vec<(usize, CellReader)>,
    keep: Vec<usize>,
}

impl CsvStream {
    /// Opens a file and finds the columns.
    pub fn open(path: impl AsRef<Path>, schema: &Schema) -> Result<Self> {
        Self::from_reader(open(path.as_ref())?, &path.as_ref().display().to_string(), schema)
    }

    /// Reads the header from any reader and finds the columns; messages call the reader `name`.
    pub fn from_reader(reader: impl Read + Send + 'static, name: &str, schema: &Schema) -> Result<Self> {
        let mut reader = Decoded::new(Box::new(reader) as Box<dyn Read + Send>, name)?;
        let mut head = Vec::new();
        (&mut reader).take(HEAD_BYTES).read_to_end(&mut head).map_err(|error| read_error(name, error))?;
        let schema = with_own_mark(schema, &head, name);
        let records = Records::new(Cursor::new(head).chain(reader), name, schema.separator)?;
        let (positions, keep) = schema.find(records.header()).map_err(|error| error.in_file(name))?;
        let columns =
            positions.into_iter().zip(schema.columns.iter().map(|(_, column_type)| CellReader::new(column_type)));
        Ok(Self { columns: columns.collect(), records, keep })
    }

    /// The names of all columns of the file.
    pub fn header(&self) -> &[String] {
        self.records.header()
    }

    /// Accepts a file that has a header alone.
    pub fn allow_no_rows(&mut self) {
        self.records.allow_no_rows();
    }

    /// The next rows, at most `max_rows` (and at least one), or none when the file is at its end.
    pub fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let before = self.records.rows();
        let capacity = max_rows.min(ROWS_AT_ONCE);
        let mut builders: Vec<Builder> =
            self.columns.iter().map(|(_, reader)| Builder::new(reader, capacity)).collect();
        let header = self.records.header();
        let mut kept: Vec<KeptColumn> =
            self.keep.iter().map(|position| KeptColumn::of_text(&header[*position])).collect();
        while self.records.rows() - before < max_rows.max(1) && self.records.advance()? {
            for ((position, reader), builder) in self.columns.iter().zip(&mut builders) {
                match builder {
                    Builder::Numbers { numbers, odd } => {
                        let number = self.records.number(*position, reader)?;
                        *odd += u64::from(number.is_none());
                        numbers.push(number.unwrap_or(f64::NAN));
                    }
                    Builder::Times(times, format) => times.push(self.records.time(*position, *format, reader)?),
                    Builder::Text(dictionary) => self.records.push_text(*position, reader, dictionary)?,
                }
            }
            for (position, column) in self.keep.iter().zip(&mut kept) {
                column.push(self.records.text(*position)?);
            }
        }
        let rows = self.records.rows() - before;
        if rows == 0 {
            return Ok(None);
        }
        let header = self.records.header();
        let mut warnings = Warnings::default();
        let columns = self.columns.iter().zip(builders).map(|((position, _), builder)| {
            let name = header[*position].clone();
            if let Builder::Numbers { odd, .. } = builder {
                warnings.count_odd(&name, odd);
            }
            (name, builder.finish())
        });
        let table = Table::of_checked(self.records.name(), columns, before, rows);
        Ok(Some(Chunk { table, kept, warnings }))
    }
}

enum Builder {
    /// And how many cells did not fit.
    Numbers {
        numbers: Vec<f64>,
        odd: u64,
    },
    Times(Vec<f64>, TimeFormat),
    Text(Dictionary),
}

impl Builder {
    fn new(reader: &CellReader, capacity: usize) -> Self {
        match reader.kind() {
            Kind::Number => Self::Numbers { numbers: Vec::with_capacity(capacity), odd: 0 },
            Kind::Text => Self::Text(Dictionary::default()),
            Kind::Time(format) => Self::Times(Vec::with_capacity(capacity), format),
        }
    }

    fn finish(self) -> Column {
        match self {
            Self::Numbers { numbers, .. } => Column::Numbers(numbers),
            Self::Times(times, _) => Column::Times(times),
            Self::Text(dictionary) => dictionary.finish(),
        }
    }
}
