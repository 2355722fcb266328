//! Scores as JSON.

use negmm::Metrics;
use serde_json::{Value, json};

/// The scores; where no target is observed, those of censored targets alone.
pub fn metrics_json(metrics: &Metrics) -> Value {
    match &metrics.censored {
        Some(censored) if metrics.rows == 0 => json!({"rows": 0, "censored": censored}),
        _ => json!(metrics),
    }
}
