//! Responsible for CSV: rows of checked cells, what a cell means, and reading a whole file while learning its kinds.

use std::io::Read;

use ::csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};

use super::message::quoted;
use super::source::{Source, read_error};
use super::table::{Dictionary, Table, check_names, not_finite};
use super::time::iso;
use super::times::no_time;
use super::{Column, TimeForm};
use crate::{Error, Result};

const BUFFER_BYTES: usize = 1 << 16;
const MISSING_WORDS: [&[u8]; 4] = [b"NA", b"N/A", b"NaN", b"null"];

/// The rows of a CSV file, one after the other, each with as many cells as the header.
pub(super) struct Records<R> {
    reader: Reader<Source<R>>,
    record: ByteRecord,
    name: String,
    header: Vec<String>,
    carriage_return: bool,
    open_quote: bool,
    rows: usize,
}

impl<R: Read> Records<R> {
    /// Reads the header.
    pub fn new(reader: R, name: &str) -> Result<Self> {
        let source = Source::new(reader, name)?;
        let shape = source.header();
        let mut records = Self {
            reader: ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .delimiter(shape.delimiter)
                .buffer_capacity(BUFFER_BYTES)
                .from_reader(source),
            record: ByteRecord::new(),
            name: name.to_string(),
            header: Vec::new(),
            carriage_return: shape.carriage_return,
            open_quote: false,
            rows: 0,
        };
        if !records.read_record()? {
            return Err(Error::data("the file is empty").in_file(name));
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
            let name =
                std::str::from_utf8(name.trim_ascii()).map_err(|_| in_header(in_column(not_utf8(), position)))?;
            names.push(if name.is_empty() { format!("column {}", position + 1) } else { name.to_string() });
        }
        check_names(&names)?;
        Ok(names)
    }

    /// The names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
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

    /// Goes to the next row; whether there is one. A file without any is an error.
    #[inline]
    pub fn advance(&mut self) -> Result<bool> {
        if !self.read_record()? {
            return match self.rows {
                0 => Err(Error::data("there is a header but no row of data").in_file(&self.name)),
                _ => Ok(false),
            };
        }
        self.rows += 1;
        if self.record.len() != self.header.len() && !self.open_quote {
            let message = format!("expected {} cells, found {}", self.header.len(), self.record.len());
            return Err(self.blame_row(Error::data(message)));
        }
        let in_column = |error: Error, column: usize| error.in_column(&self.header[column]);
        self.check_text(in_column).map_err(|error| self.blame_row(error))?;
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
            return Err(in_column(Error::data("expected text in UTF-8, found a NUL byte"), column));
        }
        Ok(())
    }

    /// The line on which the row read last begins: the parser's line now, less the line feeds in the row and after it.
    fn line(&self) -> u64 {
        let inside = self.record.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64;
        let after = u64::from(!self.carriage_return && !self.open_quote);
        self.reader.position().line().saturating_sub(inside + after)
    }

    /// Says that `error` is about the row read last.
    fn blame_row(&self, error: Error) -> Error {
        error.at_line(self.line()).at_row(self.rows as u64).in_file(&self.name)
    }

    /// Says that `error` is about a cell of the row read last.
    pub fn blame(&self, error: Error, column: usize) -> Error {
        self.blame_row(error.in_column(&self.header[column]))
    }

    /// The number in a cell of the row read last, NaN where it is missing.
    #[inline]
    pub fn number(&self, column: usize) -> Result<f64> {
        match number(&self.record[column]) {
            Some(number) if !number.is_infinite() => Ok(number),
            other => Err(self.blame(number_error(&self.record[column], other), column)),
        }
    }

    /// The time in a cell of the row read last, written in that form; NaN where it is missing.
    pub fn time(&self, column: usize, form: TimeForm) -> Result<f64> {
        let text = self.text(column)?.trim_ascii();
        if is_missing(text.as_bytes()) {
            return Ok(f64::NAN);
        }
        form.read(text).ok_or_else(|| self.blame(no_time(form, text), column))
    }

    /// The text in a cell of the row read last, as it stands.
    pub fn text(&self, column: usize) -> Result<&str> {
        std::str::from_utf8(&self.record[column]).map_err(|_| self.blame(not_utf8(), column))
    }

    /// Adds a cell of the row read last to a text column.
    pub fn push_text(&self, column: usize, dictionary: &mut Dictionary) -> Result<()> {
        let text = self.text(column)?.trim_ascii();
        if is_missing(text.as_bytes()) {
            dictionary.push_missing();
        } else {
            dictionary.push(text);
        }
        Ok(())
    }
}

fn not_utf8() -> Error {
    Error::data("expected text in UTF-8, found other bytes")
}

#[cold]
fn number_error(cell: &[u8], number: Option<f64>) -> Error {
    match (std::str::from_utf8(cell.trim_ascii()), number) {
        (Err(_), _) => not_utf8(),
        (Ok(cell), Some(_)) => not_finite(cell),
        (Ok(cell), None) => Error::data(format!("expected a number, found {}", quoted(cell))),
    }
}

/// The number in a cell: NaN where it is missing, infinite where it says so or is too large, none where it is text.
#[inline]
fn number(cell: &[u8]) -> Option<f64> {
    let cell = cell.trim_ascii();
    match std::str::from_utf8(cell).ok().and_then(|cell| cell.parse().ok()) {
        None if is_missing(cell) => Some(f64::NAN),
        number => number,
    }
}

/// Whether a cell (without blanks around it) counts as missing.
fn is_missing(cell: &[u8]) -> bool {
    cell.is_empty() || MISSING_WORDS.iter().any(|word| word.eq_ignore_ascii_case(cell))
}

/// A column as numbers, also where it is text that consists of numbers.
/// The error comes with the row that is at fault.
pub(super) fn column_numbers(column: &Column) -> std::result::Result<std::borrow::Cow<'_, [f64]>, (usize, Error)> {
    let (codes, levels) = match column {
        Column::Numbers(numbers) => return Ok(numbers.into()),
        Column::Times(times) => {
            let row = times.iter().position(|time| !time.is_nan()).unwrap_or(0);
            return Err((row, number_error(iso(times[row]).as_bytes(), None)));
        }
        Column::Text { codes, levels } => (codes, levels),
    };
    let of_levels: Vec<Option<f64>> = levels.iter().map(|level| number(level.as_bytes())).collect();
    let mut numbers = Vec::with_capacity(codes.len());
    for (row, code) in codes.iter().enumerate() {
        numbers.push(match of_levels.get(*code as usize) {
            None => f64::NAN,
            Some(Some(number)) if !number.is_infinite() => *number,
            Some(other) => return Err((row, number_error(levels[*code as usize].as_bytes(), *other))),
        });
    }
    Ok(numbers.into())
}

/// Reads all rows. The bytes are held in memory and gone through twice when there is text: only at the end of a column
/// is it known that it is numeric, and the text of its first cells must then still be there.
pub(super) fn read_whole(mut reader: impl Read, name: &str) -> Result<Table> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(|error| read_error(name, error))?;

    let mut records = Records::new(&bytes[..], name)?;
    let width = records.header().len();
    let mut numbers: Vec<Option<Vec<f64>>> = vec![Some(Vec::new()); width];
    let mut infinities: Vec<Option<Error>> = vec![None; width];
    while records.advance()? {
        for (position, column) in numbers.iter_mut().enumerate() {
            let Some(values) = column else { continue };
            match number(&records.cells()[position]) {
                Some(value) => {
                    if value.is_infinite() && infinities[position].is_none() {
                        infinities[position] = records.number(position).err();
                    }
                    values.push(value);
                }
                None => *column = None,
            }
        }
    }
    let infinite = numbers.iter().zip(infinities).find_map(|(column, error)| column.as_ref().and(error));
    if let Some(error) = infinite {
        return Err(error);
    }

    let texts: Vec<usize> = (0..width).filter(|position| numbers[*position].is_none()).collect();
    let mut dictionaries: Vec<Dictionary> = texts.iter().map(|_| Dictionary::default()).collect();
    if !texts.is_empty() {
        let mut again = Records::new(&bytes[..], name)?;
        while again.advance()? {
            for (position, dictionary) in texts.iter().zip(&mut dictionaries) {
                again.push_text(*position, dictionary)?;
            }
        }
    }
    let mut dictionaries = dictionaries.into_iter();
    let columns = numbers.into_iter().map(|numbers| match numbers {
        Some(numbers) => Column::Numbers(numbers),
        None => dictionaries.next().unwrap_or_default().finish(),
    });
    Ok(Table::of_checked(name, records.header().iter().cloned().zip(columns), 0, records.rows()))
}
