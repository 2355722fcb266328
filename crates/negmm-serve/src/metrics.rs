//! Responsible for what the server counts, and for saying it in Prometheus' words.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper ends of the histogram of seconds.
const SECONDS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// Counts since the start.
#[derive(Default)]
pub struct Metrics {
    /// By route and status.
    requests: Mutex<BTreeMap<(String, u16), u64>>,
    /// By model.
    rows: Mutex<BTreeMap<String, u64>>,
    /// How many requests took at most so long, and more than the end before.
    seconds: [AtomicU64; SECONDS.len() + 1],
    microseconds: AtomicU64,
    in_flight: AtomicU64,
    refused: AtomicU64,
    batches: AtomicU64,
    batched: AtomicU64,
    reloads: AtomicU64,
    failed_reloads: AtomicU64,
}

/// A request that is counted as under way while this lives.
pub struct UnderWay<'a>(&'a Metrics);

impl Drop for UnderWay<'_> {
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

    /// A request was refused because too many were under way.
    pub fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// So many requests of a model, of so many rows in all, were predicted together.
    pub fn predicted(&self, model: &str, requests: usize, rows: usize) {
        add(&self.rows, model.to_string(), rows as u64);
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.batched.fetch_add(requests as u64, Ordering::Relaxed);
    }

    /// Models were loaded again, so many of them in vain.
    pub fn reloaded(&self, failed: usize) {
        self.reloads.fetch_add(1, Ordering::Relaxed);
        self.failed_reloads.fetch_add(failed as u64, Ordering::Relaxed);
    }

    /// A request came; it goes with what is given back, also where whoever asked has gone.
    pub fn under_way(&self) -> UnderWay<'_> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        UnderWay(self)
    }

    /// All of it, in Prometheus' text format.
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
        metric("negmm_batches_total", "counter", "Predictions made, each of one request or more.", &of(&self.batches));
        metric("negmm_batched_requests_total", "counter", "Requests in them.", &of(&self.batched));
        metric(
            "negmm_refused_total",
            "counter",
            "Requests refused because too many were under way.",
            &of(&self.refused),
        );
        metric("negmm_in_flight", "gauge", "Requests under way.", &of(&self.in_flight));
        metric("negmm_reloads_total", "counter", "Times that models were loaded again.", &of(&self.reloads));
        metric("negmm_failed_reloads_total", "counter", "Models that could not be.", &of(&self.failed_reloads));
        if let Some(bytes) = resident_bytes() {
            metric("process_resident_memory_bytes", "gauge", "Resident memory.", &[(String::new(), bytes)]);
        }
        let name = "negmm_request_seconds";
        let _ = writeln!(out, "# HELP {name} Time from a request's head to its answer.\n# TYPE {name} histogram");
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

/// A label as the format wants it.
pub fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Resident memory, where the system says it.
fn resident_bytes() -> Option<f64> {
    /// Linux counts in pages, of this size on the processors that matter here.
    const PAGE: f64 = 4096.0;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split_whitespace().nth(1)?.parse::<f64>().ok()? * PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_prometheus() {
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
