//! Reporting outcomes: rows with their observed targets update the monitor of a model's calibration, whose state is a JSON
//! response and gauges for Prometheus.

use std::fmt::Write;
use std::sync::{Arc, MutexGuard, PoisonError};

use axum::Json as AxumJson;
use axum::body::{Body as HttpBody, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use negmm::data::Schema;
use negmm::{JointModel, Loaded, Model, Table};
use serde::Serialize;
use serde_json::Value as Json;

use crate::arrow_body::too_many;
use crate::csv_body;
use crate::failure::Failure;
use crate::media_type::{CSV, JSON, media_type};
use crate::metrics::escaped;
use crate::models::{Models, ServedModel, ServedMonitor, joint_schema};
use crate::rows::{Used, of_mlflow};
use crate::state::AppState;

/// Takes rows with their targets, as JSON of `/invocations` or as CSV; returns the state of the monitor.
pub async fn report(
    State(app): State<Arc<AppState>>,
    Path(model): Path<String>,
    headers: HeaderMap,
    body: HttpBody,
) -> Result<AxumJson<Json>, Failure> {
    let served = app.served(&model)?;
    let csv = match media_type(&headers, header::CONTENT_TYPE) {
        None | Some(JSON) => false,
        Some(CSV) => true,
        Some(other) => return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, unsupported(other))),
    };
    let body = app.body(body).await?;
    let max_rows = app.limits.rows;
    let updated = tokio::task::spawn_blocking(move || {
        if let Loaded::Joint(model) = &served.loaded {
            let table = table(joint_schema(model), &body, csv, max_rows)?;
            return update_joint(&served, model, &table);
        }
        let model = served.model()?;
        let table = table(model.encoder().schema_with_target(), &body, csv, max_rows)?;
        update(&served, model, &table)
    });
    updated.await.unwrap_or_else(|_| Err(Failure::internal())).map(AxumJson)
}

/// The state of the monitor.
pub async fn status(State(app): State<Arc<AppState>>, Path(model): Path<String>) -> Result<AxumJson<Json>, Failure> {
    let served = app.served(&model)?;
    let status = match &*monitor(&served) {
        ServedMonitor::OneTarget(monitor) => to_json(&monitor.status()),
        ServedMonitor::SeveralTargets(monitor) => to_json(&monitor.status()),
    };
    status.map(AxumJson)
}

fn unsupported(found: &str) -> String {
    format!("expected a body of the type {JSON} or {CSV}, found {found}")
}

/// The rows of a body.
fn table(schema: Schema, body: &Bytes, csv: bool, max_rows: usize) -> Result<Table, Failure> {
    if csv {
        return Ok(csv_body::chunk(body, &schema, max_rows)?.table);
    }
    let body = serde_json::from_slice(body).map_err(|error| Failure::bad(format!("not a JSON object: {error}")))?;
    let names = schema.columns.into_iter().map(|(name, _)| name).collect();
    let (columns, parameters) = of_mlflow(body, &Used { names, groups: None })?;
    if let Some(name) = parameters.keys().next() {
        return Err(Failure::bad(format!("this endpoint takes no parameters, found {name:?}")));
    }
    match columns.len() {
        0 => Err(Failure::bad("there are no rows in the body")),
        rows if rows > max_rows => Err(Failure::too_large(too_many(max_rows))),
        _ => Ok(columns.table()?),
    }
}

fn update(served: &ServedModel, model: &Model, table: &Table) -> Result<Json, Failure> {
    let encoder = model.encoder();
    if encoder.sequence().is_some() || encoder.target().is_censored() {
        return Err(Failure::bad("monitoring needs independent rows with uncensored targets, no sequence"));
    }
    let (predictions, _) = model.predict_known(table)?;
    let y = encoder.targets(table)?;
    let ServedMonitor::OneTarget(monitor) = &mut *monitor(served) else { return Err(Failure::internal()) };
    monitor.update(&predictions, &model.baseline(predictions.len()), &y)?;
    to_json(&monitor.status())
}

fn update_joint(served: &ServedModel, model: &JointModel, table: &Table) -> Result<Json, Failure> {
    let (predictions, y) = (model.predict(table)?, model.observed(table)?);
    let ServedMonitor::SeveralTargets(monitor) = &mut *monitor(served) else { return Err(Failure::internal()) };
    monitor.update(&predictions, &model.baseline(predictions.len()), &y)?;
    to_json(&monitor.status())
}

fn monitor(served: &ServedModel) -> MutexGuard<'_, ServedMonitor> {
    served.monitor.lock().unwrap_or_else(PoisonError::into_inner)
}

fn to_json(verdict: &impl Serialize) -> Result<Json, Failure> {
    serde_json::to_value(verdict).map_err(|_| Failure::internal())
}

/// What the gauges of a monitor say.
struct Verdict {
    alarm: bool,
    evidence: f64,
    rows: u64,
}

impl Verdict {
    fn of(monitor: &ServedMonitor) -> Self {
        match monitor {
            ServedMonitor::OneTarget(monitor) => {
                let status = monitor.status();
                Self { alarm: status.alarm.is_some(), evidence: status.evidence, rows: status.rows }
            }
            ServedMonitor::SeveralTargets(monitor) => {
                let status = monitor.status();
                Self { alarm: !status.alarms.is_empty(), evidence: status.evidence, rows: status.rows }
            }
        }
    }
}

/// A gauge: its name, its help text, and its value of a verdict.
type Gauge = (&'static str, &'static str, fn(&Verdict) -> f64);

/// The gauges of all monitors, in Prometheus' text format.
pub fn gauges(models: &Models) -> String {
    let all = models.all();
    let verdicts: Vec<(&String, Verdict)> =
        all.iter().map(|(name, served)| (name, Verdict::of(&monitor(served)))).collect();
    let mut out = String::new();
    let gauges: [Gauge; 3] = [
        ("negmm_calibration_alarm", "Whether the alarm is on: 1, else 0.", |verdict| {
            f64::from(u8::from(verdict.alarm))
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
