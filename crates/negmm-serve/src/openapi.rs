//! The OpenAPI 3.1 description of the endpoints.

use axum::Json as AxumJson;
use negmm::predict::{JOINT_PARAMETERS, PARAMETERS};
use serde_json::{Map, Value as Json, json};

use crate::media_type::{ARROW, CSV, JSON};

/// The description.
pub async fn description() -> AxumJson<Json> {
    AxumJson(document())
}

fn document() -> Json {
    let model = json!({"name": "model", "in": "path", "required": true, "schema": {"type": "string"}});
    let parameters: Vec<Json> =
        PARAMETERS.iter().chain(&JOINT_PARAMETERS).map(|known| parameter(known.name, known.help)).collect();
    let with_model: Vec<Json> = [model.clone()].into_iter().chain(parameters.clone()).collect();
    let which = json!({"name": "model", "in": "query", "description": "name of the model; the first by default", "schema": {"type": "string"}});
    let mlflow: Vec<Json> = [which].into_iter().chain(parameters).collect();
    let bodies = |json: Json| json!({JSON: {"schema": json}, CSV: {"schema": {"type": "string"}}, ARROW: {"schema": {"type": "string", "format": "binary"}}});
    json!({
        "openapi": "3.1.0",
        "info": {"title": "negmm", "version": env!("CARGO_PKG_VERSION"), "description": "A whole predictive distribution for every row."},
        "paths": {
            "/v2": {"get": plain("Name and version of the server")},
            "/v2/health/live": {"get": plain("Liveness of the server")},
            "/v2/health/ready": {"get": plain("Readiness of the server")},
            "/v2/models": {"get": plain("Names of the models")},
            "/v2/models/{model}": {"parameters": [model], "get": plain("Inputs and outputs of a model")},
            "/v2/models/{model}/ready": {"parameters": [model], "get": plain("Readiness of a model")},
            "/v2/models/{model}/inputs": {"parameters": [model], "get": plain("Types, ranges and categories of its inputs")},
            "/v2/models/{model}/observe": {
                "parameters": [model],
                "get": plain("State of the calibration monitor"),
                "post": {
                    "summary": "Report outcomes: rows with their observed targets, for the calibration monitor",
                    "requestBody": {"required": true, "content": {JSON: {"schema": records_in()}, CSV: {"schema": {"type": "string"}}}},
                    "responses": responses(json!({JSON: {"schema": {"type": "object"}}})),
                },
            },
            "/v2/models/{model}/explore": {"post": {
                "summary": "The prediction of one row, as the page at / shows it",
                "parameters": [model],
                "requestBody": {"required": true, "content": {JSON: {"schema": {"type": "object", "required": ["row"], "properties": {"row": {"type": "object"}}}}}},
                "responses": responses(json!({JSON: {"schema": {"type": "object"}}})),
            }},
            "/v2/models/{model}/explain": {"post": {
                "summary": "What each input contributes to answers about rows, such as the mean, the sd or q0.95",
                "parameters": [model],
                "requestBody": {"required": true, "content": {JSON: {"schema": question()}}},
                "responses": responses(json!({JSON: {"schema": explanations()}})),
            }},
            "/v2/models/{model}/infer": {"post": {
                "summary": "The Open Inference Protocol, version 2: each input is a column",
                "parameters": with_model,
                "requestBody": {"required": true, "content": bodies(tensors_in())},
                "responses": responses(bodies(tensors_out())),
            }},
            "/invocations": {"post": {
                "summary": "MLflow's scoring protocol",
                "parameters": mlflow,
                "requestBody": {"required": true, "content": bodies(records_in())},
                "responses": responses(bodies(json!({"type": "object", "properties": {"predictions": {"type": "array", "items": {"type": "object"}}}}))),
            }},
            "/ping": {"get": plain("As /v2/health/ready, for MLflow's clients")},
            "/health": {"get": plain("As /ping")},
            "/version": {"get": plain("The version of negmm")},
            "/metrics": {"get": plain("Metrics for Prometheus")},
        },
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"token": []}],
    })
}

fn parameter(name: &str, help: &str) -> Json {
    json!({"name": name, "in": "query", "description": format!("{help}; in a JSON body by the same name"), "schema": {"type": "string"}})
}

fn plain(summary: &str) -> Json {
    json!({"summary": summary, "responses": {"200": {"description": "success"}, "401": failure("the token is missing")}})
}

fn failure(description: &str) -> Json {
    let schema = json!({"type": "object", "properties": {"error": {"type": "string"}}});
    json!({"description": description, "content": {JSON: {"schema": schema}}})
}

fn responses(content: Json) -> Json {
    let failures = [
        ("400", "invalid rows or parameters; the message names the row and the column"),
        ("401", "the token is missing"),
        ("404", "there is no such model"),
        ("413", "too many bytes or rows, or too large a response"),
        ("415", "unsupported content type"),
        ("503", "too many requests in flight, or this one timed out: retry after Retry-After seconds"),
    ];
    let mut all: Map<String, Json> = failures.iter().map(|(code, text)| (code.to_string(), failure(text))).collect();
    all.insert("200".into(), json!({"description": "the predictions", "content": content}));
    Json::Object(all)
}

fn tensors_in() -> Json {
    let tensor = json!({"type": "object", "required": ["name", "shape", "datatype", "data"], "properties": {
        "name": {"type": "string"}, "shape": {"type": "array", "items": {"type": "integer"}},
        "datatype": {"enum": ["FP64", "FP32", "INT64", "INT32", "BOOL", "BYTES"]}, "data": {"type": "array"}}});
    json!({"type": "object", "required": ["inputs"], "properties": {
        "id": {"type": "string"}, "parameters": {"type": "object"}, "inputs": {"type": "array", "items": tensor},
        "outputs": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}}})
}

fn tensors_out() -> Json {
    json!({"type": "object", "properties": {"model_name": {"type": "string"}, "id": {"type": "string"}, "outputs": {"type": "array"}}})
}

fn question() -> Json {
    json!({"type": "object", "properties": {
        "row": {"type": "object", "description": "the inputs of a row by column"},
        "rows": {"type": "array", "items": {"type": "object"}, "description": "instead of row: several"},
        "of": {"type": "string", "description": "answers with commas between them, mean,sd by default; also q0.95, width_0.9, p_above_50, epistemic …"},
        "permutations": {"type": "integer", "minimum": 1, "description": "permutations of the columns for each background row"},
        "top": {"type": "integer", "minimum": 1, "description": "contributions in the sentence of each answer"}}})
}

fn explanations() -> Json {
    let numbers = json!({"type": "array", "items": {"type": "number"}});
    let answer = json!({"type": "object", "properties": {
        "answer": {"type": "string"}, "value": {"type": "number"}, "base": {"type": "number"},
        "contributions": numbers, "errors": numbers, "sentence": {"type": "string"}}});
    json!({"type": "object", "properties": {
        "columns": {"type": "array", "items": {"type": "string"}}, "background": {"type": "integer"},
        "exact": {"type": "boolean"},
        "rows": {"type": "array", "items": {"type": "object", "properties": {
            "answers": {"type": "array", "items": answer}, "verdict": {"type": ["string", "null"]}}}}}})
}

fn records_in() -> Json {
    json!({"type": "object", "properties": {
        "dataframe_split": {"type": "object", "properties": {"columns": {"type": "array"}, "data": {"type": "array"}}},
        "dataframe_records": {"type": "array", "items": {"type": "object"}},
        "instances": {"type": "array", "items": {"type": "object"}},
        "inputs": {"type": "object"}, "params": {"type": "object"}}})
}
