//! CSV records of checked cells, and the conversion of cells.

use std::io::Read;
use std::sync::Arc;

use ::csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};

use crate::TimeFormat;
use crate::column::dictionary::Dictionary;
use crate::infer::time_columns::no_time;
use crate::infer::{self, CellReader, number_error};
use crate::source::{Source, read_error};
use crate::table::check_names;
use negmm_dist::{Error, Result};

const BUFFER_BYTES: usize = 1 << 16;

/// The rows of a CSV file, one after the other, each with as many cells as the header.
pub(crate) struct Records<R> {
    reader: Reader<Source<R>>,
    record: ByteRecord,
    name: String,
    header: Vec<String>,
    separator: u8,
    carriage_return: bool,
    open_quote: bool,
    /// The row and the line of each record in the file that they were taken from.
    lines: Option<Arc<[(u64, u64)]>>,
    rows: usize,
    /// Whether a header alone is no error.
    may_be_empty: bool,
}

impl<R: Read> Records<R> {
    /// Reads the header. Cells are separated as the first lines show, or by `separator`.
    pub fn new(reader: R, name: &str, separator: Option<char>) -> Result<Self> {
        let source = Source::new(reader, name, separator)?;
        let shape = source.header();
        let mut records = Self {
            reader: ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .delimiter(shape.separator)
                .buffer_capacity(BUFFER_BYTES)
                .from_reader(source),
            record: ByteRecord::new(),
            name: name.to_string(),
            header: Vec::new(),
            separator: shape.separator,
            carriage_return: shape.carriage_return,
            open_quote: false,
            lines: None,
            rows: 0,
            may_be_empty: false,
        };
        if !records.read_record()? {
            let empty = if records.reader.get_ref().is_empty() { "is empty" } else { "has only blank lines" };
            return Err(Error::data(format!("the file {empty}")).in_file(name));
        }
        records.header = records.read_header().map_err(|error| error.in_file(name))?;
        Ok(records)
    }

    fn read_header(&self) -> Result<Vec<String>> {
        let in_column = |error: Error, position: usize| error.at(format!("column {}", position + 1));
        let in_header = |error: Error| error.at_line(self.line()).at("header");
        self.check_text(in_column).map_err(in_header)?;
        let mut names = Vec::with_capacity(self.record.len());
        for (position, name) in self.record.iter().enumerate() {
            let name = std::str::from_utf8(name).map_err(|_| in_header(in_column(infer::not_utf8(), position)))?.trim();
            names.push(if name.is_empty() { format!("column {}", position + 1) } else { name.to_string() });
        }
        check_names(&names)?;
        Ok(names)
    }

    /// The same for records that were taken from a file, with the row and the line of each.
    pub fn taken_from(self, lines: Arc<[(u64, u64)]>) -> Self {
        Self { lines: Some(lines), ..self }
    }

    /// The names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// Field delimiter.
    pub fn separator(&self) -> u8 {
        self.separator
    }

    /// What messages call the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Rows read so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The cells of the row read last.
    pub fn cells(&self) -> &ByteRecord {
        &self.record
    }

    /// Accepts a file that has a header alone.
    pub fn allow_no_rows(&mut self) {
        self.may_be_empty = true;
    }

    /// Goes to the next row; whether there is one. A file without any is an error, unless it may be empty.
    #[inline]
    pub fn advance(&mut self) -> Result<bool> {
        if !self.read_record()? {
            return match self.rows {
                0 if !self.may_be_empty => Err(Error::data("there is a header but no row of data").in_file(&self.name)),
                _ => Ok(false),
            };
        }
        self.rows += 1;
        if self.record.len() != self.header.len() && !self.open_quote {
            let message = format!("expected {} cells, found {}", self.header.len(), self.record.len());
            return Err(self.at_row(Error::data(message)));
        }
        let in_column = |error: Error, column: usize| error.in_column(&self.header[column]);
        self.check_text(in_column).map_err(|error| self.at_row(error))?;
        Ok(true)
    }

    fn read_record(&mut self) -> Result<bool> {
        let there = self.reader.read_byte_record(&mut self.record).map_err(|error| {
            let message = error.to_string();
            match error.into_kind() {
                ErrorKind::Io(error) => read_error(&self.name, error),
                // Never where rows are bytes and may have any length.
                _ => Error::data(message).in_file(&self.name),
            }
        })?;
        let end = self.reader.position().byte();
        self.open_quote = there && self.reader.get_mut().row_reaches_the_end(end);
        Ok(there)
    }

    fn check_text(&self, in_column: impl Fn(Error, usize) -> Error) -> Result<()> {
        if self.open_quote {
            return Err(Error::data("a quote is opened and never closed"));
        }
        if self.record.as_slice().contains(&0) {
            let column = self.record.iter().position(|cell| cell.contains(&0)).unwrap_or(0);
            return Err(in_column(
                Error::data(
                    "expected text in UTF-8, found a NUL byte: convert it (of UTF-16: iconv -f UTF-16 -t UTF-8)",
                ),
                column,
            ));
        }
        Ok(())
    }

    /// The line on which the row read last begins: the parser's line now, less the line feeds in the row and after it.
    pub fn line(&self) -> u64 {
        let inside = self.record.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64;
        let after = u64::from(!self.carriage_return && !self.open_quote);
        self.reader.position().line().saturating_sub(inside + after)
    }

    /// Adds the row read last as the location of an error.
    fn at_row(&self, error: Error) -> Error {
        let row = (self.rows as u64).saturating_sub(1);
        let taken = self.lines.as_ref().and_then(|lines| lines.get(row as usize).copied());
        let (row, line) = taken.unwrap_or_else(|| (row, self.line()));
        error.at_line(line).at_row(row).in_file(&self.name)
    }

    /// Adds a cell of the row read last as the location of an error.
    pub fn locate(&self, error: Error, column: usize) -> Error {
        self.at_row(error.in_column(&self.header[column]))
    }

    /// The number in a cell of the row read last, NaN where it is missing; none where it does not fit and that means missing.
    #[inline]
    pub fn number(&self, column: usize, reader: &CellReader) -> Result<Option<f64>> {
        match reader.number(&self.record[column]) {
            Some(number) if !number.is_infinite() => Ok(Some(number)),
            None if reader.odd_are_missing() => self.text(column).map(|_| None),
            other => Err(self.locate(number_error(&self.record[column], other), column)),
        }
    }

    /// The time in a cell of the row read last, of that format; NaN where it is missing.
    pub fn time(&self, column: usize, format: TimeFormat, reader: &CellReader) -> Result<f64> {
        let text = self.text(column)?.trim_ascii();
        if reader.is_missing_text(text) {
            return Ok(f64::NAN);
        }
        format.read(text).ok_or_else(|| self.locate(no_time(format, text), column))
    }

    /// The text in a cell of the row read last.
    pub fn text(&self, column: usize) -> Result<&str> {
        std::str::from_utf8(&self.record[column]).map_err(|_| self.locate(infer::not_utf8(), column))
    }

    /// Adds a cell of the row read last to a text column.
    pub fn push_text(&self, column: usize, reader: &CellReader, dictionary: &mut Dictionary) -> Result<()> {
        let text = self.text(column)?.trim_ascii();
        if reader.is_missing_text(text) {
            dictionary.push_missing();
        } else {
            dictionary.push(text);
        }
        Ok(())
    }
}
