//! Decompositions of scores into miscalibration, discrimination and uncertainty, by some of the rows of a file.

use std::collections::BTreeMap;

use negmm::verification::{Decomposition, decompose_brier, decompose_crps};
use negmm::{Distribution, Predictions};
use serde_json::{Value, json};

use crate::format::{counted, number};

/// Rows of the decomposition, at most.
const MAX_ROWS: usize = 4_000;

/// Rows of a group, at least.
const MIN_GROUP_ROWS: usize = 20;

/// Rows that are kept: every `stride`-th.
pub struct Kept {
    stride: u64,
    rows: Vec<Row>,
}

/// A row: its predictions, target, weight and group.
type Row = (Predictions, f64, f64, Option<String>);

impl Default for Kept {
    fn default() -> Self {
        Self { stride: 1, rows: Vec::new() }
    }
}

/// The decomposition of the CRPS, and of the Brier score of each threshold.
pub struct Decompositions {
    rows: usize,
    crps: Option<Decomposition>,
    brier: Vec<(f64, Decomposition)>,
}

impl Kept {
    /// Adds a row by its number, or not.
    pub fn add(&mut self, number: u64, row: impl FnOnce() -> Row) {
        if !number.is_multiple_of(self.stride) {
            return;
        }
        self.rows.push(row());
        if self.rows.len() > MAX_ROWS {
            let mut keep = false;
            self.rows.retain(|_| {
                keep = !keep;
                keep
            });
            self.stride *= 2;
        }
    }

    /// Those of all rows.
    pub fn decompositions(&self, thresholds: &[f64]) -> Decompositions {
        decompositions(&self.rows.iter().collect::<Vec<_>>(), thresholds)
    }

    /// Those of groups with enough rows.
    pub fn of_groups(&self, thresholds: &[f64]) -> BTreeMap<String, Decompositions> {
        let mut groups: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
        for row in &self.rows {
            if let Some(group) = &row.3 {
                groups.entry(group).or_default().push(row);
            }
        }
        groups.retain(|_, rows| rows.len() >= MIN_GROUP_ROWS);
        groups.into_iter().map(|(name, rows)| (name.to_string(), decompositions(&rows, thresholds))).collect()
    }
}

fn decompositions(rows: &[&Row], thresholds: &[f64]) -> Decompositions {
    let y: Vec<f64> = rows.iter().map(|row| row.1).collect();
    let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
    let cdf = |row: usize, at: f64| rows[row].0.row(0).cdf(at);
    let brier = |at: &f64| Some((*at, decompose_brier(cdf, &y, Some(&weights), *at)?));
    Decompositions {
        rows: rows.len(),
        crps: decompose_crps(cdf, &y, Some(&weights)),
        brier: thresholds.iter().filter_map(brier).collect(),
    }
}

impl Decompositions {
    /// Lines for people, where `rows` were scored.
    pub fn text(&self, rows: u64) -> String {
        let of = match self.rows as u64 == rows {
            true => String::new(),
            false => format!(", by {}", counted(self.rows, "row")),
        };
        let line = |name: String, parts: &Decomposition| {
            format!(
                "\n{name}{of}: {} = {} miscalibration - {} discrimination + {} uncertainty",
                number(parts.score),
                number(parts.miscalibration),
                number(parts.discrimination),
                number(parts.uncertainty),
            )
        };
        let crps = self.crps.iter().map(|parts| line("CRPS within the range of the targets".into(), parts));
        let brier = self.brier.iter().map(|(at, parts)| line(format!("Brier score, target <= {at}"), parts));
        crps.chain(brier).collect()
    }

    /// Into the JSON object of the scores.
    pub fn write(&self, value: &mut Value) {
        let of = |parts: &Decomposition| {
            json!({
                "rows": self.rows, "score": parts.score, "miscalibration": parts.miscalibration,
                "discrimination": parts.discrimination, "uncertainty": parts.uncertainty,
            })
        };
        value["decomposition"] = json!(self.crps.as_ref().map(of));
        let brier = self.brier.iter().map(|(at, parts)| {
            let mut value = of(parts);
            value["threshold"] = json!(at);
            value
        });
        if !self.brier.is_empty() {
            value["decompositions_of_thresholds"] = brier.collect();
        }
    }
}
