//! Responsible for what really happened: rows with their targets come in, and the watch on a model's calibration says what it makes of
//! them, to whoever asks and to Prometheus.

use std::fmt::Write;
use std::io::Cursor;
use std::sync::{Arc, MutexGuard, PoisonError};

use axum::Json as AxumJson;
use axum::body::Body as HttpBody;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use negmm::Table;
use negmm::data::CsvStream;
use negmm::monitor::{Monitor, Verdict};
use serde_json::Value as Json;

use crate::app::{App, essence};
use crate::arrow_body::too_many;
use crate::failure::Failure;
use crate::metrics::escaped;
use crate::models::{Models, Served};
use crate::rows::of_mlflow;
use crate::written::CSV;

/// Rows with their targets, as `/invocations` takes rows, or CSV; answered by what was seen so far.
pub async fn observed(
    State(app): State<Arc<App>>,
    Path(model): Path<String>,
    headers: HeaderMap,
    body: HttpBody,
) -> Result<AxumJson<Json>, Failure> {
    let served = app.served(&model)?;
    let csv = essence(&headers, header::CONTENT_TYPE) == Some(CSV);
    let body = app.body(body).await?;
    let most = app.limits.rows;
    let seen = tokio::task::spawn_blocking(move || {
        let table = table(&served, &body, csv)?;
        if table.rows() > most {
            return Err(Failure::too_large(too_many(most)));
        }
        see(&served, &table)
    });
    seen.await.unwrap_or_else(|_| Err(Failure::internal())).map(AxumJson)
}

/// What was seen so far.
pub async fn verdict(State(app): State<Arc<App>>, Path(model): Path<String>) -> Result<AxumJson<Json>, Failure> {
    let served = app.served(&model)?;
    let verdict = watch(&served).verdict();
    said(&verdict).map(AxumJson)
}

/// The rows of a body.
fn table(served: &Served, body: &[u8], csv: bool) -> Result<Table, Failure> {
    let encoder = served.model.encoder();
    if csv {
        let body = Cursor::new(body.to_vec());
        let mut stream = CsvStream::from_reader(body, "body", &encoder.schema_with_target())?;
        let chunk = stream.next_chunk(usize::MAX)?.ok_or_else(|| Failure::bad("there is no row to observe"))?;
        return Ok(chunk.table);
    }
    let body = serde_json::from_slice(body).map_err(|error| Failure::bad(format!("no JSON object: {error}")))?;
    let wanted: Vec<String> = served.used.iter().chain([&encoder.target().name]).cloned().collect();
    Ok(of_mlflow(body, &wanted)?.0.table()?)
}

fn see(served: &Served, table: &Table) -> Result<Json, Failure> {
    let (model, encoder) = (&served.model, served.model.encoder());
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
