//! The Arrow encoder, which Parquet files, Arrow streams and Python are written from.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field as ArrowField, Schema};

use super::columns::{Block, Column, Columns, Field, ValueType};
use crate::{Error, Result};

/// The Arrow schema of columns that are not kept ones: those have the type that they have in the data.
pub fn schema(fields: &[Field]) -> Schema {
    let of = |field: &Field| match field.value_type {
        ValueType::Float => ArrowField::new(&field.name, DataType::Float64, false),
        ValueType::Integer => ArrowField::new(&field.name, DataType::Int64, false),
        ValueType::Text => ArrowField::new(&field.name, DataType::Utf8, true),
    };
    Schema::new(fields.iter().map(of).collect::<Vec<_>>())
}

impl Columns<'_> {
    /// A batch of Arrow arrays. Text that is missing is null; kept columns have the type that they have in the data.
    ///
    /// # Errors
    /// When kept columns are of several types.
    pub fn to_record_batch(&self) -> Result<RecordBatch> {
        let arrays = self.iter().map(|column| array(column, self.rows())).collect::<Result<Vec<_>>>()?;
        let fields = schema(self.fields()).fields;
        let typed = fields
            .iter()
            .zip(&arrays)
            .map(|(field, array)| ArrowField::new(field.name(), array.data_type().clone(), field.is_nullable()));
        let schema = Arc::new(Schema::new(typed.collect::<Vec<_>>()));
        RecordBatch::try_new(schema, arrays).map_err(|error| Error::data(error.to_string()))
    }
}

fn array(column: Column<'_>, rows: usize) -> Result<ArrayRef> {
    Ok(match column.block() {
        Block::Float { .. } => Arc::new(Float64Array::from(column.floats().unwrap_or_default())),
        Block::Integer(values) => Arc::new(Int64Array::from(values.clone())),
        Block::Text(texts) => {
            let texts = texts.iter().map(|text| Some(text).filter(|text| !text.is_empty()));
            Arc::new(texts.collect::<StringArray>())
        }
        Block::Kept { column, first } => column.array(*first, rows)?,
    })
}
