//! Rows that are drawn at random from files, of which no others are kept.

use std::io::{Cursor, Read};
use std::sync::Arc;

use super::{TableFile, TableFiles};
use crate::csv::reader::CsvPart;
use crate::csv::records::Records;
use crate::source::{Decoded, format, open};
use crate::{Dialect, Table};
use negmm_dist::{Error, Result, Rng, streams};

/// The rows that are drawn.
pub(crate) struct Sample {
    /// Rows of each file.
    pub counts: Vec<usize>,
    /// Those of each file that are drawn, in their order.
    pub rows: Vec<Vec<usize>>,
}

impl Sample {
    /// Draws `rows` rows of all files, each set of them as probable as any other; `None` where there are not more.
    pub fn draw(files: &TableFiles, rows: usize, seed: u64, dialect: &Dialect) -> Result<Option<Self>> {
        let counts: Vec<usize> = files.files.iter().map(|file| count(file, dialect)).collect::<Result<_>>()?;
        let drawn = drawn(counts.iter().sum(), rows, seed);
        let Some(mut drawn) = drawn.map(|rows| rows.into_iter().peekable()) else { return Ok(None) };
        let mut before = 0;
        let of_file = |count: &usize| {
            let first = before;
            before += count;
            std::iter::from_fn(|| drawn.next_if(|row| *row < before)).map(|row| row - first).collect()
        };
        let rows = counts.iter().map(of_file).collect();
        Ok(Some(Self { counts, rows }))
    }
}

/// `wanted` of `rows` rows in order, by selection sampling (Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S); `None`
/// where there are not more.
pub(crate) fn drawn(rows: usize, wanted: usize, seed: u64) -> Option<Vec<usize>> {
    if rows <= wanted {
        return None;
    }
    let mut rng = Rng::new(seed, streams::SAMPLE);
    let mut drawn = Vec::with_capacity(wanted);
    for row in 0..rows {
        if rng.below(rows - row) < wanted - drawn.len() {
            drawn.push(row);
        }
    }
    Some(drawn)
}

/// The rows of a file.
fn count(TableFile { path, name, .. }: &TableFile, dialect: &Dialect) -> Result<usize> {
    let mut file = open(path)?;
    let start = format::first_bytes(&mut file, name)?;
    #[cfg(feature = "parquet")]
    if start == format::PARQUET {
        return crate::parquet::count(file, name);
    }
    let decoded = Decoded::new(Cursor::new(start).chain(file), name)?;
    let mut records = Records::new(decoded, name, dialect.separator)?;
    records.allow_no_rows();
    while records.advance()? {}
    Ok(records.rows())
}

/// The header and some rows of a CSV file.
pub(crate) fn csv_part(reader: impl Read, name: &str, rows: &[usize], dialect: &Dialect) -> Result<CsvPart> {
    let mut records = Records::new(reader, name, dialect.separator)?;
    records.allow_no_rows();
    let mut writer = ::csv::WriterBuilder::new().delimiter(records.separator()).from_writer(Vec::new());
    // Memory can be written to, and each record has the length of the header.
    let unwritten = |error: ::csv::Error| Error::data(error.to_string()).in_file(name);
    writer.write_record(records.header()).map_err(unwritten)?;
    let (mut wanted, mut lines) = (rows.iter().peekable(), Vec::with_capacity(rows.len()));
    while wanted.peek().is_some() && records.advance()? {
        if wanted.next_if(|row| **row + 1 == records.rows()).is_some() {
            writer.write_byte_record(records.cells()).map_err(unwritten)?;
            lines.push((records.rows() as u64 - 1, records.line()));
        }
    }
    let bytes = writer.into_inner().map_err(|error| Error::io(name, error.into_error()))?;
    let separator = Some(char::from(records.separator()));
    Ok(CsvPart { name: name.to_string(), bytes, separator, lines: Some(Arc::from(lines)) })
}

impl Table {
    /// `rows` of its rows, drawn at random; all where there are not more.
    #[must_use]
    pub fn sample(&self, rows: usize, seed: u64) -> Self {
        drawn(self.rows(), rows, seed).map_or_else(|| self.clone(), |drawn| self.select_rows(&drawn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_drawn_as_often_as_any_other() {
        let mut often = [0; 20];
        for seed in 0..2000 {
            let rows = drawn(20, 7, seed).unwrap();
            assert!(rows.len() == 7 && rows.is_sorted_by(|a, b| a < b));
            rows.iter().for_each(|row| often[*row] += 1);
        }
        // 700 each; the standard deviation is 21.
        assert!(often.iter().all(|count| (600..800).contains(count)), "{often:?}");
        assert_eq!((drawn(7, 7, 0), drawn(20, 7, 1)), (None, drawn(20, 7, 1)));
    }
}
