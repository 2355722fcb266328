//! Responsible for what really happened: rows with their targets come in, and the watch on a model's calibration says what it makes of
//! them, to whoever asks and to Prometheus.

use std::fmt::Write;
use std::sync::{Arc, MutexGuard, PoisonError};

use axum::Json as AxumJson;
use axum::body::{Body as HttpBody, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use negmm::monitor::{Monitor, Verdict};
use negmm::{Model, Table};
use serde_json::Value as Json;

use crate::app::{App, essence};
use crate::arrow_body::too_many;
use crate::csv_body;
use crate::failure::Failure;
use crate::metrics::escaped;
use crate::models::{Models, Served};
use crate::rows::{Used, of_mlflow};
use crate::written::{CSV, JSON};

/// Rows with their targets, as `/invocations` takes rows, or CSV; answered by what was seen so far.
pub async fn observed(
    State(app): State<Arc<App>>,
    Path(model): Path<String>,
    headers: HeaderMap,
    body: HttpBody,
) -> Result<AxumJson<Json>, Failure> {
    let served = app.served(&model)?;
    let csv = match essence(&headers, header::CONTENT_TYPE) {
        None | Some(JSON) => false,
        Some(CSV) => true,
        Some(other) => return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, no_type(other))),
    };
    let body = app.body(body).await?;
    let most = app.limits.rows;
    let seen = tokio::task::spawn_blocking(move || {
        let model = served.model()?;
        let table = table(model, &body, csv, most)?;
        see(&served, model, &table)
    });
    seen.await.unwrap_or_else(|_| Err(Failure::internal())).map(AxumJson)
}

/// What was seen so far.
pub async fn verdict(State(app): State<Arc<App>>, Path(model): Path<String>) -> Result<AxumJson<Json>, Failure> {
    let served = app.served(&model)?;
    let verdict = watch(&served).verdict();
    said(&verdict).map(AxumJson)
}

fn no_type(found: &str) -> String {
    format!("expected a body of the type {JSON} or {CSV}, found {found}")
}

/// The rows of a body.
fn table(model: &Model, body: &Bytes, csv: bool, most: usize) -> Result<Table, Failure> {
    let schema = model.encoder().schema_with_target();
    if csv {
        return Ok(csv_body::chunk(body, &schema, most)?.table);
    }
    let body = serde_json::from_slice(body).map_err(|error| Failure::bad(format!("no JSON object: {error}")))?;
    let names = schema.columns.into_iter().map(|(name, _)| name).collect();
    let (columns, parameters) = of_mlflow(body, &Used { names, groups: None })?;
    if let Some(name) = parameters.keys().next() {
        return Err(Failure::bad(format!("a watch is asked nothing: there is no parameter {name:?}")));
    }
    match columns.len() {
        0 => Err(Failure::bad("there is no row in the body")),
        rows if rows > most => Err(Failure::too_large(too_many(most))),
        _ => Ok(columns.table()?),
    }
}

fn see(served: &Served, model: &Model, table: &Table) -> Result<Json, Failure> {
    let encoder = model.encoder();
    if encoder.sequence().is_some() || encoder.target().is_censored() {
        return Err(Failure::bad("a watch needs rows that stand alone, with targets that are known"));
    }
    let (predictions, _) = model.predict_known(table)?;
    let y = encoder.targets(table)?;
    let mut watch = watch(served);
    watch.see(&predictions, &model.baseline(predictions.len()), &y)?;
    said(&watch.verdict())
}

fn watch(served: &Served) -> MutexGuard<'_, Monitor> {
    served.watch.lock().unwrap_or_else(PoisonError::into_inner)
}

fn said(verdict: &Verdict) -> Result<Json, Failure> {
    serde_json::to_value(verdict).map_err(|_| Failure::internal())
}

/// A number that Prometheus is told: its name, what it is, and how a verdict says it.
type Gauge = (&'static str, &'static str, fn(&Verdict) -> f64);

/// The watches, in Prometheus' text format.
pub fn gauges(models: &Models) -> String {
    let all = models.all();
    let verdicts: Vec<(&String, Verdict)> = all.iter().map(|(name, served)| (name, watch(served).verdict())).collect();
    let mut out = String::new();
    let gauges: [Gauge; 3] = [
        ("negmm_calibration_alarm", "Whether the alarm is on: 1, else 0.", |verdict| {
            f64::from(verdict.alarm.is_some())
        }),
        ("negmm_calibration_evidence", "Logarithm to base 10 of the evidence against calibration.", |verdict| {
            verdict.evidence
        }),
        ("negmm_observed_rows", "Rows whose targets were observed.", |verdict| verdict.rows as f64),
    ];
    for (name, help, value) in gauges {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} gauge");
        for (model, verdict) in &verdicts {
            let _ = writeln!(out, "{name}{{model=\"{}\"}} {}", escaped(model), value(verdict));
        }
    }
    out
}
