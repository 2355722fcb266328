//! The CSV encoder.

use std::fmt::Write;

use super::columns::{Columns, Value};
use crate::{Error, Result};

impl Columns<'_> {
    /// All of it: the header and a line for each row.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn to_csv(&self) -> Result<Vec<u8>> {
        Ok([self.csv_header()?, self.csv_rows()?].concat())
    }

    /// The header line.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn csv_header(&self) -> Result<Vec<u8>> {
        self.separated_header(b',')
    }

    /// A line for each row. A number is the shortest text that reads back as the same number.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn csv_rows(&self) -> Result<Vec<u8>> {
        self.separated_rows(b',')
    }

    /// The header line with this character between its cells.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn separated_header(&self, separator: u8) -> Result<Vec<u8>> {
        let mut writer = writer(separator);
        writer.write_record(self.names()).map_err(failed)?;
        finish(writer)
    }

    /// A line for each row, as [`Columns::csv_rows`], with this character between cells.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn separated_rows(&self, separator: u8) -> Result<Vec<u8>> {
        let (mut writer, mut number) = (writer(separator), String::new());
        let mut rows = self.by_rows();
        while let Some(row) = rows.next() {
            for value in row {
                number.clear();
                // Writing to memory does not fail.
                let _ = match &value {
                    Value::Float(value) => write!(number, "{value:?}"),
                    Value::Integer(value) => write!(number, "{value}"),
                    Value::Text(_) => Ok(()),
                };
                writer.write_field(if let Value::Text(text) = &value { text } else { &*number }).map_err(failed)?;
            }
            writer.write_record(None::<&[u8]>).map_err(failed)?;
        }
        finish(writer)
    }
}

fn writer(separator: u8) -> csv::Writer<Vec<u8>> {
    csv::WriterBuilder::new().delimiter(separator).from_writer(Vec::new())
}

fn finish(writer: csv::Writer<Vec<u8>>) -> Result<Vec<u8>> {
    writer.into_inner().map_err(|error| failed(error.into_error().into()))
}

fn failed(error: csv::Error) -> Error {
    Error::data(format!("cannot be written as CSV: {error}"))
}

#[cfg(test)]
mod tests {
    use crate::predict::columns::{Block, Columns, Field};

    #[test]
    fn values_become_cells() {
        let fields =
            vec![Field::text("t,\"x\"", "text"), Field::float("x", "a number"), Field::integer("n", "a count")];
        let blocks = vec![
            Block::Text(vec!["a,\"b\"".into(), "".into(), "c\rd".into()]),
            Block::float(vec![0.1, f64::INFINITY, 5e29 / 3.0]),
            Block::Integer(vec![-3, 7, 0]),
        ];
        let columns = Columns::new(3, fields, blocks).unwrap();
        let expected = "\"t,\"\"x\"\"\",x,n\n\"a,\"\"b\"\"\",0.1,-3\n,inf,7\n\"c\rd\",1.6666666666666666e29,0\n";
        assert_eq!(String::from_utf8(columns.to_csv().unwrap()).unwrap(), expected);
    }
}
