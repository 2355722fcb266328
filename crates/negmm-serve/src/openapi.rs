//! Responsible for the description of the server's addresses, as OpenAPI 3.1.

use axum::Json as AxumJson;
use serde_json::{Map, Value as Json, json};

use crate::asked::PARAMETERS;
use crate::written::{ARROW, CSV, JSON};

/// The description.
pub async fn description() -> AxumJson<Json> {
    AxumJson(described())
}

fn described() -> Json {
    let model = json!({"name": "model", "in": "path", "required": true, "schema": {"type": "string"}});
    let questions: Vec<Json> = PARAMETERS.iter().map(|(name, help)| question(name, help)).collect();
    let with_model: Vec<Json> = [model.clone()].into_iter().chain(questions.clone()).collect();
    let which =
        json!({"name": "model", "in": "query", "description": "another than the first", "schema": {"type": "string"}});
    let mlflow: Vec<Json> = [which].into_iter().chain(questions).collect();
    let bodies = |json: Json| json!({JSON: {"schema": json}, CSV: {"schema": {"type": "string"}}, ARROW: {"schema": {"type": "string", "format": "binary"}}});
    json!({
        "openapi": "3.1.0",
        "info": {"title": "negmm", "version": env!("CARGO_PKG_VERSION"), "description": "A whole predictive distribution for every row."},
        "paths": {
            "/v2": {"get": plain("Name and version of the server")},
            "/v2/health/live": {"get": plain("Whether the server lives")},
            "/v2/health/ready": {"get": plain("Whether it takes requests")},
            "/v2/models": {"get": plain("The names of the models")},
            "/v2/models/{model}": {"parameters": [model], "get": plain("Inputs and outputs of a model")},
            "/v2/models/{model}/ready": {"parameters": [model], "get": plain("Whether a model is there")},
            "/v2/models/{model}/inputs": {"parameters": [model], "get": plain("Kinds, ranges and levels of its inputs")},
            "/v2/models/{model}/observe": {
                "parameters": [model],
                "get": plain("What the watch on the model's calibration makes of all that was observed"),
                "post": {
                    "summary": "What really happened: rows with their targets, for the watch on the model's calibration",
                    "requestBody": {"required": true, "content": {JSON: {"schema": records_in()}, CSV: {"schema": {"type": "string"}}}},
                    "responses": responses(json!({JSON: {"schema": {"type": "object"}}})),
                },
            },
            "/v2/models/{model}/explore": {"post": {
                "summary": "All about one row, as the page at / shows it",
                "parameters": [model],
                "requestBody": {"required": true, "content": {JSON: {"schema": {"type": "object", "required": ["row"], "properties": {"row": {"type": "object"}}}}}},
                "responses": responses(json!({JSON: {"schema": {"type": "object"}}})),
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
            "/health": {"get": plain("The same")},
            "/version": {"get": plain("The version of negmm")},
            "/metrics": {"get": plain("Counts for Prometheus")},
        },
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"token": []}],
    })
}

fn question(name: &str, help: &str) -> Json {
    json!({"name": name, "in": "query", "description": format!("{help}; in a JSON body by the same name"), "schema": {"type": "string"}})
}

fn plain(summary: &str) -> Json {
    json!({"summary": summary, "responses": {"200": {"description": "it is so"}, "401": failure("the token is missing")}})
}

fn failure(description: &str) -> Json {
    let schema = json!({"type": "object", "properties": {"error": {"type": "string"}}});
    json!({"description": description, "content": {JSON: {"schema": schema}}})
}

fn responses(content: Json) -> Json {
    let failures = [
        ("400", "the rows or questions make no sense; the sentence names the row and the column"),
        ("401", "the token is missing"),
        ("404", "there is no such model"),
        ("413", "too many bytes, rows or answers"),
        ("415", "the body is of no type that is known"),
        ("503", "too many requests are under way, or this one took too long: ask again after Retry-After seconds"),
    ];
    let mut all: Map<String, Json> = failures.iter().map(|(code, text)| (code.to_string(), failure(text))).collect();
    all.insert("200".into(), json!({"description": "the answers", "content": content}));
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

fn records_in() -> Json {
    json!({"type": "object", "properties": {
        "dataframe_split": {"type": "object", "properties": {"columns": {"type": "array"}, "data": {"type": "array"}}},
        "dataframe_records": {"type": "array", "items": {"type": "object"}},
        "instances": {"type": "array", "items": {"type": "object"}},
        "inputs": {"type": "object"}, "params": {"type": "object"}}})
}
