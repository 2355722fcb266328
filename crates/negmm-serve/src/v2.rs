//! Responsible for the Open Inference Protocol, version 2: its requests, and what a model says of itself there.

use negmm::data::Encoding;
use negmm::forecast::Forecaster;
use negmm::{Loaded, Model, Questions};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::failure::Failure;
use crate::rows::{Columns, Used};

/// The body of a request to infer.
#[derive(Debug, Deserialize)]
pub struct Request {
    /// Comes back with the answer.
    #[serde(default)]
    pub id: Option<String>,
    /// The questions.
    #[serde(default)]
    pub parameters: Map<String, Json>,
    inputs: Vec<Tensor>,
    /// The outputs that are wanted; all unless said.
    #[serde(default)]
    outputs: Vec<Wanted>,
}

#[derive(Debug, Deserialize)]
struct Tensor {
    name: String,
    shape: Vec<u64>,
    datatype: String,
    data: Json,
}

#[derive(Debug, Deserialize)]
struct Wanted {
    name: String,
}

impl Request {
    /// Reads a body.
    pub fn read(body: &[u8]) -> Result<Self, Failure> {
        serde_json::from_slice(body).map_err(|error| Failure::bad(format!("no request of the protocol: {error}")))
    }

    /// The names of the outputs that are wanted; empty: all.
    pub fn wanted(&self) -> Vec<String> {
        self.outputs.iter().map(|wanted| wanted.name.clone()).collect()
    }

    /// The rows: each tensor is a column of a shape [rows] or [rows, 1].
    pub fn columns(&self, used: &Used) -> Result<Columns, Failure> {
        let lists = self.inputs.iter().map(Tensor::cells).collect::<Result<Vec<_>, _>>()?;
        Columns::of_lists(&lists, used)
    }
}

impl Tensor {
    fn cells(&self) -> Result<(&str, Vec<&Json>), Failure> {
        let Self { name, shape, datatype, data } = self;
        let wrong = |message: String| Failure::bad(format!("input {name:?}: {message}"));
        let (rows, flat) = match &shape[..] {
            [rows] | [rows, 1] => (*rows, flattened(data)),
            _ => return Err(wrong(format!("expected the shape [rows] or [rows, 1], found {shape:?}"))),
        };
        let Some(flat) = flat else { return Err(wrong("data must be a list".into())) };
        if flat.len() as u64 != rows {
            return Err(wrong(format!("{} cells do not have the shape {shape:?}", flat.len())));
        }
        let fits: fn(&Json) -> bool = match datatype.as_str() {
            "BYTES" => |cell| cell.is_string() || cell.is_null(),
            "BOOL" => |cell| cell.is_boolean() || cell.is_null(),
            "FP16" | "FP32" | "FP64" | "INT8" | "INT16" | "INT32" | "INT64" | "UINT8" | "UINT16" | "UINT32"
            | "UINT64" => |cell| cell.is_number() || cell.is_null(),
            other => return Err(wrong(format!("there is no datatype {other:?}"))),
        };
        match flat.iter().position(|cell| !fits(cell)) {
            Some(at) => Err(wrong(format!("cell {at} is no {datatype}: {}", flat[at]))),
            None => Ok((name, flat)),
        }
    }
}

/// The cells of a list, or of a list of lists of one.
fn flattened(data: &Json) -> Option<Vec<&Json>> {
    let list = data.as_array()?;
    let inner = |cell: &'_ Json| matches!(cell, Json::Array(_));
    if !list.is_empty() && list.iter().all(inner) {
        return Some(list.iter().flat_map(|cell| cell.as_array().into_iter().flatten()).collect());
    }
    Some(list.iter().collect())
}

/// What a model says of itself: its inputs, and the outputs that are always there.
pub fn metadata(name: &str, loaded: &Loaded) -> Json {
    let (inputs, outputs, parameters) = match loaded {
        Loaded::Model(model) => of_rows(model),
        Loaded::Forecaster(forecaster) => of_series(forecaster),
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

fn of_rows(model: &Model) -> Metadata {
    let encoder = model.encoder();
    let inputs = encoder.inputs().iter().filter(|input| input.encoding.features() > 0).map(|input| {
        let datatype = match input.encoding {
            Encoding::Number(_) => "FP64",
            Encoding::Text(_) | Encoding::Time(_) => "BYTES",
        };
        let mut described = tensor(&input.name, datatype);
        described["parameters"] = json!({"read_as": input.reading().to_string()});
        described
    });
    let outputs = Questions::default().names(model).unwrap_or_default();
    let parameters = json!({
        "method": model.method().name(),
        "target": encoder.target().name,
        "window": encoder.sequence().map(|sequence| sequence.window),
    });
    (inputs.collect(), outputs.iter().map(|name| tensor(name, "FP64")).collect(), parameters)
}

/// Rows are steps of the past; there is an output for each step ahead of each series.
fn of_series(forecaster: &Forecaster) -> Metadata {
    let roles = &forecaster.recipe().roles;
    let places = [roles.series.as_ref(), roles.time.as_ref()].into_iter().flatten();
    let places: Vec<Json> = places.map(|name| tensor(name, "BYTES")).collect();
    let numbers = [&roles.target].into_iter().chain(&roles.past).chain(&roles.known);
    let inputs = places.iter().cloned().chain(numbers.map(|name| tensor(name, "FP64"))).collect();
    let outputs = [("step", "INT64"), ("mean", "FP64"), ("sd", "FP64")].map(|(name, kind)| tensor(name, kind));
    let parameters = json!({"method": "auto", "target": roles.target, "horizon": roles.horizon});
    (inputs, places.into_iter().chain(outputs).collect(), parameters)
}
