//! `negmm export`: a model as an ONNX graph.

use negmm::{Error, Loaded};
use serde_json::json;

use crate::arguments::{Export, Shared};
use crate::console::print_json;
use crate::output_paths::{OutputPath, check_distinct};
use crate::{input, output};

/// Runs it.
pub fn run(export: &Export, shared: &Shared) -> Result<(), Error> {
    let path = &export.output;
    let graph = OutputPath { what: "graph", path, option: "-o FILE" };
    check_distinct(shared.json, &[graph], &[("model", &export.model)])?;
    let bytes = match input::model(&export.model, None)? {
        Loaded::Model(model) => negmm_onnx::export(&model),
        Loaded::Joint(model) => negmm_onnx::export_joint(&model),
        Loaded::Forecaster(_) => {
            let message = "forecasters cannot be exported: their features are computed by the library";
            return Err(Error::options(message).in_file(&export.model));
        }
    };
    let bytes = bytes.map_err(|error| error.in_file(&export.model))?;
    output::write(path, &bytes)?;
    match shared.json {
        true => print_json(&json!({"output": path, "bytes": bytes.len()})),
        false => Ok(()),
    }
}
