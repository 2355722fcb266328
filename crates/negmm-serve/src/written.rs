//! Responsible for how answers are written: as tensors of the inference protocol, as MLflow's records, as CSV, as an Arrow stream.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema};
use negmm::{Answers, Cell, Error, Result};
use serde_json::{Value as Json, json};

use crate::failure::Failure;

/// The type of Arrow streams.
pub const ARROW: &str = "application/vnd.apache.arrow.stream";
/// The type of CSV.
pub const CSV: &str = "text/csv";
/// The type of JSON.
pub const JSON: &str = "application/json";

/// How an answer is to be written.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Tensors of the inference protocol, of these names (none: of all).
    Tensors {
        /// The model's name.
        model: String,
        /// What the request was called.
        id: Option<String>,
        /// The outputs that are wanted.
        wanted: Vec<String>,
    },
    /// `{"predictions": [{"mean": …}, …]}`
    Records,
    Csv,
    Arrow,
}

impl Form {
    /// Its type.
    pub fn content_type(&self) -> &'static str {
        match self {
            Self::Tensors { .. } | Self::Records => JSON,
            Self::Csv => CSV,
            Self::Arrow => ARROW,
        }
    }
}

/// A column of answers.
enum Values {
    Numbers(Vec<f64>),
    Whole(Vec<i64>),
    Text(Vec<String>),
}

impl Values {
    fn json(&self, row: usize) -> Json {
        match self {
            // What JSON has no word for is null.
            Self::Numbers(numbers) => json!(numbers[row]),
            Self::Whole(numbers) => json!(numbers[row]),
            Self::Text(texts) => json!(texts[row]),
        }
    }

    fn list(&self) -> Json {
        match self {
            Self::Numbers(numbers) => json!(numbers),
            Self::Whole(numbers) => json!(numbers),
            Self::Text(texts) => json!(texts),
        }
    }

    fn datatype(&self) -> &'static str {
        match self {
            Self::Numbers(_) => "FP64",
            Self::Whole(_) => "INT64",
            Self::Text(_) => "BYTES",
        }
    }

    fn array(self) -> (DataType, ArrayRef) {
        match self {
            Self::Numbers(numbers) => (DataType::Float64, Arc::new(Float64Array::from(numbers))),
            Self::Whole(numbers) => (DataType::Int64, Arc::new(Int64Array::from(numbers))),
            Self::Text(texts) => (DataType::Utf8, Arc::new(StringArray::from(texts))),
        }
    }
}

/// The columns of answers.
fn columns(answers: &Answers<'_>) -> Vec<(String, Values)> {
    let count = answers.rows();
    let mut columns: Vec<(String, Values)> = Vec::new();
    for row in 0..count {
        for (at, cell) in answers.row(row).enumerate() {
            if row == 0 {
                let values = match cell {
                    Cell::Number(_) => Values::Numbers(Vec::with_capacity(count)),
                    Cell::Whole(_) => Values::Whole(Vec::with_capacity(count)),
                    Cell::Text(_) => Values::Text(Vec::with_capacity(count)),
                };
                columns.push((answers.names()[at].clone(), values));
            }
            match (&mut columns[at].1, cell) {
                (Values::Numbers(list), Cell::Number(number)) => list.push(number),
                (Values::Whole(list), Cell::Whole(number)) => list.push(number),
                (Values::Text(list), Cell::Text(text)) => list.push(text.to_string()),
                // A column has cells of one kind.
                _ => {}
            }
        }
    }
    if count == 0 {
        columns.extend(answers.names().iter().map(|name| (name.clone(), Values::Numbers(Vec::new()))));
    }
    columns
}

/// The bytes of answers.
///
/// # Errors
/// When an output is wanted that is not there.
pub fn written(form: &Form, answers: &Answers<'_>) -> std::result::Result<Vec<u8>, Failure> {
    let mut columns = columns(answers);
    let rows = answers.rows();
    Ok(match form {
        Form::Tensors { model, id, wanted } => {
            if let Some(other) = wanted.iter().find(|name| !columns.iter().any(|(column, _)| column == *name)) {
                let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
                return Err(Failure::bad(format!("there is no output {other:?}; there are {}", names.join(", "))));
            }
            columns.retain(|(name, _)| wanted.is_empty() || wanted.contains(name));
            let tensor = |(name, values): &(String, Values)| json!({"name": name, "shape": [rows], "datatype": values.datatype(), "data": values.list()});
            let outputs: Vec<Json> = columns.iter().map(tensor).collect();
            let mut answer = json!({"model_name": model, "model_version": "1", "outputs": outputs});
            if let Some(id) = id {
                answer["id"] = json!(id);
            }
            answer.to_string().into_bytes()
        }
        Form::Records => {
            // By hand, so that columns stand in their order.
            let names: Vec<String> = columns.iter().map(|(name, _)| json!(name).to_string()).collect();
            let record = |row: usize| {
                let cells =
                    names.iter().zip(&columns).map(|(name, (_, values))| format!("{name}:{}", values.json(row)));
                format!("{{{}}}", cells.collect::<Vec<_>>().join(","))
            };
            let records: Vec<String> = (0..rows).map(record).collect();
            format!("{{\"predictions\":[{}]}}", records.join(",")).into_bytes()
        }
        Form::Csv => csv(&columns, rows),
        Form::Arrow => arrow(columns)?,
    })
}

fn csv(columns: &[(String, Values)], rows: usize) -> Vec<u8> {
    let quoted = |text: &str| match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    };
    let names: Vec<String> = columns.iter().map(|(name, _)| quoted(name)).collect();
    let mut out = names.join(",") + "\n";
    for row in 0..rows {
        for (at, (_, values)) in columns.iter().enumerate() {
            out.push_str(if at > 0 { "," } else { "" });
            match values {
                Values::Numbers(numbers) => out.push_str(&numbers[row].to_string()),
                Values::Whole(numbers) => out.push_str(&numbers[row].to_string()),
                Values::Text(texts) => out.push_str(&quoted(&texts[row])),
            }
        }
        out.push('\n');
    }
    out.into_bytes()
}

fn arrow(columns: Vec<(String, Values)>) -> Result<Vec<u8>> {
    let failed = |error: arrow_schema::ArrowError| Error::data(error.to_string());
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (name, values) in columns {
        let (kind, array) = values.array();
        fields.push(Field::new(name, kind, true));
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(failed)?;
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &schema).map_err(failed)?;
    writer.write(&batch).and_then(|()| writer.finish()).map_err(failed)?;
    drop(writer);
    Ok(bytes)
}
