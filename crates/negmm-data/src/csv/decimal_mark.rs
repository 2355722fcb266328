//! The decimal mark of new data, where its first rows clearly use another than the training data.

use crate::column::dictionary::Dictionary;
use crate::csv::records::Records;
use crate::infer::table_types::TypeInference;
use crate::infer::{CellReader, CellType};
use crate::{Column, ColumnType, Dialect, Schema};

/// The schema for a file that begins with these bytes. Errors in them are reported when they are read.
pub(crate) fn with_own_mark(schema: &Schema, head: &[u8], name: &str) -> Schema {
    let mark = if schema.decimal.is_some() { None } else { certain_mark(schema, head, name) };
    let dialect = Dialect { decimal: mark, separator: schema.separator, ..Dialect::default() };
    schema.clone().in_dialect(&dialect).unwrap_or_else(|_| schema.clone())
}

/// The mark that some columns of numbers can have alone, and no other column rules out.
fn certain_mark(schema: &Schema, head: &[u8], name: &str) -> Option<char> {
    let mut records = Records::new(head, name, schema.separator).ok()?;
    let (positions, _) = schema.find(records.header()).ok()?;
    let is_number = |column_type: &ColumnType| matches!(column_type.cells, CellType::Number(_));
    let columns = positions.iter().zip(&schema.columns).filter(|(_, (_, column_type))| is_number(column_type));
    let mut columns: Vec<(usize, Dictionary)> =
        columns.map(|(position, _)| (*position, Dictionary::default())).collect();
    let reader = CellReader::new(&ColumnType::text());
    while let Ok(true) = records.advance() {
        for (position, dictionary) in &mut columns {
            records.push_text(*position, &reader, dictionary).ok()?;
        }
    }
    let columns: Vec<(usize, Column)> =
        columns.into_iter().map(|(position, dictionary)| (position, dictionary.finish())).collect();
    let dialect = Dialect::default();
    let types = TypeInference::new(&dialect, records.header(), records.separator()).ok()?;
    let inferences = types.decide(columns.iter().map(|(position, column)| (*position, column)));
    types.decimal(&inferences)
}
