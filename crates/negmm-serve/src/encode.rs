//! The formats of a response: tensors of the Open Inference Protocol, MLflow's records, CSV, an Arrow stream.

use arrow_ipc::writer::StreamWriter;
use negmm::predict::{Column, ValueType, to_json};
use negmm::{Columns, Error};
use serde::Serialize;

use crate::failure::Failure;
use crate::media_type::{ARROW, CSV, JSON};

/// The format of a response.
#[derive(Clone, Debug, PartialEq)]
pub enum ResponseFormat {
    /// Tensors of the Open Inference Protocol, of these names (none: of all).
    Tensors {
        /// The model's name.
        model: String,
        /// The id of the request.
        id: Option<String>,
        /// The requested outputs.
        wanted: Vec<String>,
    },
    /// `{"predictions": [{"mean": …}, …]}`
    Records,
    Csv,
    Arrow,
}

impl ResponseFormat {
    /// Its media type.
    pub fn content_type(&self) -> &'static str {
        match self {
            Self::Tensors { .. } | Self::Records => JSON,
            Self::Csv => CSV,
            Self::Arrow => ARROW,
        }
    }
}

/// A response of the Open Inference Protocol.
#[derive(Serialize)]
struct Inference<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    model_name: &'a str,
    model_version: &'a str,
    outputs: Vec<Tensor<'a>>,
}

#[derive(Serialize)]
struct Tensor<'a> {
    data: Column<'a>,
    datatype: &'static str,
    name: &'a str,
    shape: [usize; 1],
}

impl<'a> Tensor<'a> {
    fn new(column: Column<'a>, rows: usize) -> Self {
        Self { data: column, datatype: datatype(column.field().value_type), name: column.name(), shape: [rows] }
    }
}

/// The name of a type in the Open Inference Protocol.
pub fn datatype(value_type: ValueType) -> &'static str {
    match value_type {
        ValueType::Integer => "INT64",
        ValueType::Text => "BYTES",
        _ => "FP64",
    }
}

/// The body of a response.
///
/// # Errors
/// When an output is requested that does not exist.
pub fn encode(format: &ResponseFormat, columns: &Columns<'_>) -> Result<Vec<u8>, Failure> {
    match format {
        ResponseFormat::Tensors { model, id, wanted } => {
            let names = columns.names();
            if let Some(other) = wanted.iter().find(|name| !names.contains(&name.as_str())) {
                return Err(Failure::bad(format!("there is no output {other:?}; there are {}", names.join(", "))));
            }
            let outputs =
                columns.iter().filter(|column| wanted.is_empty() || wanted.iter().any(|name| name == column.name()));
            let outputs = outputs.map(|column| Tensor::new(column, columns.rows())).collect();
            Ok(to_json(&Inference { id: id.as_deref(), model_name: model, model_version: "1", outputs })?)
        }
        ResponseFormat::Records => Ok([&b"{\"predictions\":"[..], &columns.to_json_records()?, &b"}"[..]].concat()),
        ResponseFormat::Csv => Ok(columns.to_csv()?),
        ResponseFormat::Arrow => Ok(arrow(columns)?),
    }
}

fn arrow(columns: &Columns<'_>) -> negmm::Result<Vec<u8>> {
    let failed = |error: arrow_schema::ArrowError| Error::data(error.to_string());
    let (mut bytes, batch) = (Vec::new(), columns.to_record_batch()?);
    let mut writer = StreamWriter::try_new(&mut bytes, &batch.schema()).map_err(failed)?;
    writer.write(&batch).and_then(|()| writer.finish()).map_err(failed)?;
    drop(writer);
    Ok(bytes)
}
