//! The JSON encoder.

use std::io;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer as _};
use serde_json::Serializer;
use serde_json::ser::Formatter;

use super::columns::{Columns, Value};
use crate::{Error, Result};

/// Writes numbers as CSV has them: the shortest text that reads back as the same number.
struct CsvNumbers;

impl Formatter for CsvNumbers {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        write!(writer, "{value:?}")
    }
}

/// Anything as JSON, with numbers as [`Columns`] has them.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn to_json(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, CsvNumbers)).map_err(failed)?;
    Ok(bytes)
}

impl Columns<'_> {
    /// A list with an object for each row, in the order of the columns. What is not finite or missing is null.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn to_json_records(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![b'['];
        self.write_records(&mut bytes, b",")?;
        bytes.truncate(bytes.len().saturating_sub(usize::from(self.rows() > 0)));
        bytes.push(b']');
        Ok(bytes)
    }

    /// An object for each row, one a line.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn to_json_lines(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write_records(&mut bytes, b"\n")?;
        Ok(bytes)
    }

    fn write_records(&self, bytes: &mut Vec<u8>, end: &[u8]) -> Result<()> {
        let mut rows = self.by_rows();
        while let Some(row) = rows.next() {
            self.write_record(bytes, row).map_err(failed)?;
            bytes.extend_from_slice(end);
        }
        Ok(())
    }

    fn write_record<'v>(
        &self,
        bytes: &mut Vec<u8>,
        row: impl Iterator<Item = Value<'v>>,
    ) -> std::result::Result<(), serde_json::Error> {
        let mut serializer = Serializer::with_formatter(bytes, CsvNumbers);
        let mut record = serializer.serialize_map(Some(self.fields().len()))?;
        for (field, value) in self.fields().iter().zip(row) {
            record.serialize_entry(&field.name, &value)?;
        }
        record.end()
    }
}

fn failed(error: serde_json::Error) -> Error {
    Error::data(format!("cannot be written as JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::columns::{Block, Field};

    fn columns() -> Columns<'static> {
        let fields = vec![Field::text("t", "text"), Field::float("x", "a number"), Field::integer("n\"", "a count")];
        let blocks = vec![
            Block::Text(vec!["a,\"b\"".into(), "".into()]),
            Block::float(vec![5e-5, f64::INFINITY]),
            Block::Integer(vec![-3, 7]),
        ];
        Columns::new(2, fields, blocks).unwrap()
    }

    #[test]
    fn rows_become_objects() {
        let lines = String::from_utf8(columns().to_json_lines().unwrap()).unwrap();
        let expected = "{\"t\":\"a,\\\"b\\\"\",\"x\":5e-5,\"n\\\"\":-3}\n{\"t\":null,\"x\":null,\"n\\\"\":7}\n";
        assert_eq!(lines, expected);
        let records = String::from_utf8(columns().to_json_records().unwrap()).unwrap();
        assert_eq!(records, format!("[{}]", lines.trim_end().replace('\n', ",")));
        let none = Columns::new(0, vec![Field::float("x", "a number")], vec![Block::float(Vec::new())]).unwrap();
        assert_eq!(none.to_json_records().unwrap(), b"[]");
    }

    #[test]
    fn a_column_becomes_a_list() {
        let columns = columns();
        let list = |name: &str| String::from_utf8(to_json(&columns.column(name).unwrap()).unwrap()).unwrap();
        assert_eq!((list("x"), list("t")), ("[5e-5,null]".into(), "[\"a,\\\"b\\\"\",null]".into()));
    }
}
