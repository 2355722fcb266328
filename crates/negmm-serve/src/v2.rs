//! The Open Inference Protocol, version 2: requests and model metadata.

use negmm::data::Encoding;
use negmm::forecast::Forecaster;
use negmm::{Encoder, JointModel, Loaded, Model, Query};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::encode::datatype;
use crate::failure::Failure;
use crate::rows::{InputColumns, Used};

/// The body of an inference request.
#[derive(Debug, Deserialize)]
pub struct Request {
    /// Repeated in the response.
    #[serde(default)]
    pub id: Option<String>,
    /// The query.
    #[serde(default)]
    pub parameters: Map<String, Json>,
    inputs: Vec<Tensor>,
    /// The requested outputs; empty: all.
    #[serde(default)]
    outputs: Vec<RequestedOutput>,
}

#[derive(Debug, Deserialize)]
struct Tensor {
    name: String,
    shape: Vec<u64>,
    datatype: String,
    data: Json,
}

#[derive(Debug, Deserialize)]
struct RequestedOutput {
    name: String,
}

impl Request {
    /// Parses a body.
    pub fn parse(body: &[u8]) -> Result<Self, Failure> {
        serde_json::from_slice(body)
            .map_err(|error| Failure::bad(format!("not a request of the Open Inference Protocol: {error}")))
    }

    /// Names of the requested outputs; empty: all.
    pub fn output_names(&self) -> Vec<String> {
        self.outputs.iter().map(|output| output.name.clone()).collect()
    }

    /// The rows: each tensor is a column of a shape [rows] or [rows, 1].
    pub fn columns(&self, used: &Used) -> Result<InputColumns, Failure> {
        let lists = self.inputs.iter().map(Tensor::cells).collect::<Result<Vec<_>, _>>()?;
        InputColumns::of_lists(&lists, used)
    }
}

impl Tensor {
    fn cells(&self) -> Result<(&str, Vec<&Json>), Failure> {
        let Self { name, shape, datatype, data } = self;
        let invalid = |message: String| Failure::bad(format!("input {name:?}: {message}"));
        let (rows, flat) = match &shape[..] {
            [rows] | [rows, 1] => (*rows, flattened(data)),
            _ => return Err(invalid(format!("expected the shape [rows] or [rows, 1], found {shape:?}"))),
        };
        let Some(flat) = flat else { return Err(invalid("data must be a list".into())) };
        if flat.len() as u64 != rows {
            return Err(invalid(format!("{} cells do not have the shape {shape:?}", flat.len())));
        }
        let fits: fn(&Json) -> bool = match datatype.as_str() {
            "BYTES" => |cell| cell.is_string() || cell.is_null(),
            "BOOL" => |cell| cell.is_boolean() || cell.is_null(),
            "FP16" | "FP32" | "FP64" | "INT8" | "INT16" | "INT32" | "INT64" | "UINT8" | "UINT16" | "UINT32"
            | "UINT64" => |cell| cell.is_number() || cell.is_null(),
            other => return Err(invalid(format!("unknown datatype {other:?}"))),
        };
        match flat.iter().position(|cell| !fits(cell)) {
            Some(at) => Err(invalid(format!("cell {at} is not of type {datatype}: {}", flat[at]))),
            None => Ok((name, flat)),
        }
    }
}

/// The cells of a list, or of a list of lists.
fn flattened(data: &Json) -> Option<Vec<&Json>> {
    let list = data.as_array()?;
    let inner = |cell: &'_ Json| matches!(cell, Json::Array(_));
    if !list.is_empty() && list.iter().all(inner) {
        return Some(list.iter().flat_map(|cell| cell.as_array().into_iter().flatten()).collect());
    }
    Some(list.iter().collect())
}

/// Metadata of a model: its inputs, and the outputs of the default query.
pub fn metadata(name: &str, loaded: &Loaded) -> Json {
    let (inputs, outputs, parameters) = match loaded {
        Loaded::Model(model) => metadata_of_model(model),
        Loaded::Joint(model) => metadata_of_joint(model),
        Loaded::Forecaster(forecaster) => metadata_of_forecaster(forecaster),
    };
    json!({
        "name": name,
        "versions": ["1"],
        "platform": "negmm",
        "inputs": inputs,
        "outputs": outputs,
        "parameters": parameters,
    })
}

type Metadata = (Vec<Json>, Vec<Json>, Json);

fn tensor(name: &str, datatype: &str) -> Json {
    json!({"name": name, "datatype": datatype, "shape": [-1]})
}

fn metadata_of_model(model: &Model) -> Metadata {
    let encoder = model.encoder();
    let inputs = inputs_of(encoder);
    let outputs = Query::default().output_fields(model, &[]).unwrap_or_default();
    let parameters = json!({
        "method": model.method().name(),
        "target": encoder.target().name,
        "window": encoder.sequence().map(|sequence| sequence.window),
    });
    let outputs = outputs.iter().map(|field| tensor(&field.name, datatype(field.value_type)));
    (inputs, outputs.collect(), parameters)
}

/// The inputs that have features.
fn inputs_of(encoder: &Encoder) -> Vec<Json> {
    let inputs = encoder.inputs().iter().filter(|input| input.encoding.features() > 0).map(|input| {
        let datatype = match input.encoding {
            Encoding::Number(_) => "FP64",
            Encoding::Text(_) | Encoding::Time(_) => "BYTES",
        };
        let mut described = tensor(&input.name, datatype);
        described["parameters"] = json!({"type": input.column_type().to_string()});
        described
    });
    inputs.collect()
}

fn metadata_of_joint(model: &JointModel) -> Metadata {
    let outputs = model.names().into_iter().flat_map(|name| [format!("{name}_mean"), format!("{name}_sd")]);
    let outputs = outputs.map(|name| tensor(&name, "FP64")).collect();
    let parameters = json!({"method": model.method().name(), "targets": model.names()});
    (inputs_of(model.encoder()), outputs, parameters)
}

/// Input rows are past steps; there is an output row for each future step of each series.
fn metadata_of_forecaster(forecaster: &Forecaster) -> Metadata {
    let roles = &forecaster.transform().spec;
    let keys = [roles.series.as_ref(), roles.time.as_ref()].into_iter().flatten();
    let keys: Vec<Json> = keys.map(|name| tensor(name, "BYTES")).collect();
    let numbers = [&roles.target].into_iter().chain(&roles.past_covariates).chain(&roles.future_covariates);
    let inputs = keys.iter().cloned().chain(numbers.map(|name| tensor(name, "FP64"))).collect();
    let outputs = [("step", "INT64"), ("mean", "FP64"), ("sd", "FP64")].map(|(name, kind)| tensor(name, kind));
    let parameters = json!({"method": "auto", "target": roles.target, "horizon": roles.horizon});
    (inputs, keys.into_iter().chain(outputs).collect(), parameters)
}
