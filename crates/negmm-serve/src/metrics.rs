//! Metrics of the server, in Prometheus' text format.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of the buckets of request durations, in seconds.
const SECONDS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// Counters since the start.
#[derive(Default)]
pub struct Metrics {
    /// By route and status.
    requests: Mutex<BTreeMap<(String, u16), u64>>,
    /// By model.
    rows: Mutex<BTreeMap<String, u64>>,
    /// Requests in each bucket of durations, not cumulative.
    seconds: [AtomicU64; SECONDS.len() + 1],
    microseconds: AtomicU64,
    in_flight: AtomicU64,
    rejected: AtomicU64,
    batches: AtomicU64,
    batched: AtomicU64,
    reloads: AtomicU64,
    failed_reloads: AtomicU64,
}

/// Counts a request as in flight until it is dropped.
pub struct InFlight<'a>(&'a Metrics);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

fn add<K: Ord>(counts: &Mutex<BTreeMap<K, u64>>, key: K, count: u64) {
    *counts.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default() += count;
}

impl Metrics {
    /// A request was answered.
    pub fn answered(&self, route: &str, status: u16, took: Duration) {
        add(&self.requests, (route.to_string(), status), 1);
        let seconds = took.as_secs_f64();
        let bucket = SECONDS.iter().position(|end| seconds <= *end).unwrap_or(SECONDS.len());
        self.seconds[bucket].fetch_add(1, Ordering::Relaxed);
        self.microseconds.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
    }

    /// A request was rejected because too many were in flight.
    pub fn rejected(&self) {
        self.rejected.fetch_add(1, Ordering::Relaxed);
    }

    /// A batch was predicted: its requests and rows.
    pub fn predicted(&self, model: &str, requests: usize, rows: usize) {
        add(&self.rows, model.to_string(), rows as u64);
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.batched.fetch_add(requests as u64, Ordering::Relaxed);
    }

    /// Models were reloaded; `failed` of them could not be.
    pub fn reloaded(&self, failed: usize) {
        self.reloads.fetch_add(1, Ordering::Relaxed);
        self.failed_reloads.fetch_add(failed as u64, Ordering::Relaxed);
    }

    /// A request arrived. It is in flight until the guard is dropped, also when the client disconnects.
    pub fn in_flight(&self) -> InFlight<'_> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(self)
    }

    /// All metrics in Prometheus' text format.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, lines: &[(String, f64)]| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in lines {
                let _ = writeln!(out, "{name}{labels} {value}");
            }
        };
        let of = |count: &AtomicU64| vec![(String::new(), count.load(Ordering::Relaxed) as f64)];
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<(String, f64)> = requests
            .iter()
            .map(|((route, status), count)| {
                (format!("{{route=\"{}\",status=\"{status}\"}}", escaped(route)), *count as f64)
            })
            .collect();
        drop(requests);
        metric("negmm_requests_total", "counter", "Requests answered.", &lines);
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<(String, f64)> =
            rows.iter().map(|(model, count)| (format!("{{model=\"{}\"}}", escaped(model)), *count as f64)).collect();
        drop(rows);
        metric("negmm_rows_total", "counter", "Rows predicted.", &lines);
        metric("negmm_batches_total", "counter", "Batches predicted, each of one request or more.", &of(&self.batches));
        metric("negmm_batched_requests_total", "counter", "Requests in all batches.", &of(&self.batched));
        metric(
            "negmm_refused_total",
            "counter",
            "Requests rejected because too many were in flight.",
            &of(&self.rejected),
        );
        metric("negmm_in_flight", "gauge", "Requests in flight.", &of(&self.in_flight));
        metric("negmm_reloads_total", "counter", "Reloads of all models.", &of(&self.reloads));
        metric(
            "negmm_failed_reloads_total",
            "counter",
            "Models that could not be reloaded.",
            &of(&self.failed_reloads),
        );
        if let Some(bytes) = resident_bytes() {
            metric("process_resident_memory_bytes", "gauge", "Resident memory.", &[(String::new(), bytes)]);
        }
        let name = "negmm_request_seconds";
        let _ = writeln!(out, "# HELP {name} Duration of requests.\n# TYPE {name} histogram");
        let mut total = 0;
        for (at, count) in self.seconds.iter().enumerate() {
            total += count.load(Ordering::Relaxed);
            let end = SECONDS.get(at).map_or("+Inf".to_string(), f64::to_string);
            let _ = writeln!(out, "{name}_bucket{{le=\"{end}\"}} {total}");
        }
        let seconds = self.microseconds.load(Ordering::Relaxed) as f64 * 1e-6;
        let _ = writeln!(out, "{name}_sum {seconds}\n{name}_count {total}");
        out
    }
}

/// An escaped label value.
pub fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Resident memory, on Linux.
fn resident_bytes() -> Option<f64> {
    /// The usual page size, in which Linux counts.
    const PAGE: f64 = 4096.0;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split_whitespace().nth(1)?.parse::<f64>().ok()? * PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_in_the_text_format_of_prometheus() {
        let metrics = Metrics::default();
        metrics.answered("/v2/models/{model}/infer", 200, Duration::from_millis(3));
        metrics.answered("/v2/models/{model}/infer", 200, Duration::from_secs(9));
        metrics.predicted("a \"b\"", 2, 5);
        let text = metrics.text();
        for line in [
            "negmm_requests_total{route=\"/v2/models/{model}/infer\",status=\"200\"} 2",
            "negmm_rows_total{model=\"a \\\"b\\\"\"} 5",
            "negmm_request_seconds_bucket{le=\"0.005\"} 1",
            "negmm_request_seconds_bucket{le=\"+Inf\"} 2",
            "negmm_request_seconds_count 2",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
    }
}
