//! Responsible for reading CSV files of any size piece by piece, by a schema that says which columns are wanted.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use super::csv::Records;
use super::message::absent_columns;
use super::reading::CellReader;
use super::source::Decoded;
use super::table::{Dictionary, open};
use super::{Column, Reading, Table, TimeForm, Warnings};
use crate::{Error, Result};

/// Room that is made at once for the rows of a chunk; more is made when they come.
const ROWS_AT_ONCE: usize = 1 << 13;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers.
    Number,
    /// Text.
    Text,
    /// Dates and times, written in that form.
    Time(TimeForm),
}

/// Which columns of a file are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    /// Columns for the table, with how their cells are understood.
    pub columns: Vec<(String, Reading)>,
    /// Columns to carry over as they stand; they may be among the others too.
    pub keep: Vec<String>,
    /// What stands between cells, where it should not be recognised from the first lines.
    pub separator: Option<char>,
}

/// Some rows of a file.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// The columns of the schema.
    pub table: Table,
    /// The columns to carry over.
    pub kept: Vec<KeptColumn>,
    /// Cells that did not fit and are missing.
    pub warnings: Warnings,
}

/// A column carried over: every cell as it stands in the file, one after the other.
#[derive(Clone, Debug)]
pub struct KeptColumn {
    name: String,
    text: String,
    ends: Vec<usize>,
}

impl KeptColumn {
    /// The name of the column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The cells from the first row to the last.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let cell = &self.text[start..*end];
            start = *end;
            cell
        })
    }

    fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.ends.push(self.text.len());
    }
}

/// A CSV file that is read piece by piece, in memory that does not grow with the file.
/// Files are understood as by [`Table::read`], but the schema says how the cells of each column are.
pub struct CsvStream {
    records: Records<Decoded<Box<dyn Read + Send>>>,
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
        let reader = Decoded::new(Box::new(reader) as Box<dyn Read + Send>, name)?;
        let records = Records::new(reader, name, schema.separator)?;
        let wanted: Vec<&str> = schema.columns.iter().map(|(column, _)| column.as_str()).collect();
        let keep: Vec<&str> = schema.keep.iter().map(String::as_str).collect();
        let positions = find(records.header(), &wanted).map_err(|message| Error::data(message).in_file(name))?;
        let keep = find(records.header(), &keep).map_err(|message| Error::options(message).in_file(name))?;
        let columns = positions.into_iter().zip(schema.columns.iter().map(|(_, reading)| CellReader::new(reading)));
        Ok(Self { columns: columns.collect(), records, keep })
    }

    /// The names of all columns of the file.
    pub fn header(&self) -> &[String] {
        self.records.header()
    }

    /// The next rows, at most `max_rows` (and at least one), or none when the file is at its end.
    pub fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let before = self.records.rows();
        let room = max_rows.min(ROWS_AT_ONCE);
        let mut builders: Vec<Builder> = self.columns.iter().map(|(_, reader)| Builder::new(reader, room)).collect();
        let header = self.records.header();
        let mut kept: Vec<KeptColumn> = self
            .keep
            .iter()
            .map(|position| KeptColumn { name: header[*position].clone(), text: String::new(), ends: Vec::new() })
            .collect();
        while self.records.rows() - before < max_rows.max(1) && self.records.advance()? {
            for ((position, reader), builder) in self.columns.iter().zip(&mut builders) {
                match builder {
                    Builder::Numbers { numbers, odd } => {
                        let number = self.records.number(*position, reader)?;
                        *odd += u64::from(number.is_none());
                        numbers.push(number.unwrap_or(f64::NAN));
                    }
                    Builder::Times(times, form) => times.push(self.records.time(*position, *form, reader)?),
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
    Times(Vec<f64>, TimeForm),
    Text(Dictionary),
}

impl Builder {
    fn new(reader: &CellReader, room: usize) -> Self {
        match reader.kind() {
            Kind::Number => Self::Numbers { numbers: Vec::with_capacity(room), odd: 0 },
            Kind::Text => Self::Text(Dictionary::default()),
            Kind::Time(form) => Self::Times(Vec::with_capacity(room), form),
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

/// Where the wanted columns stand, or a sentence about those that are not there.
fn find(header: &[String], wanted: &[&str]) -> std::result::Result<Vec<usize>, String> {
    let positions: HashMap<&str, usize> = header.iter().map(String::as_str).zip(0..).collect();
    let position = |name: &str| positions.get(name).or_else(|| positions.get(name.trim())).copied();
    let absent: Vec<&str> = wanted.iter().copied().filter(|name| position(name).is_none()).collect();
    if !absent.is_empty() {
        return Err(absent_columns(&absent, header.iter().map(String::as_str)));
    }
    Ok(wanted.iter().filter_map(|name| position(name)).collect())
}
