//! The status of a monitor: alarm, empirical coverage and sharpness.

use serde::Serialize;

use super::Monitor;
use super::coverage::COVERAGES;

/// That predictions are not calibrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Alarm {
    /// The row, from 1, with which the evidence was enough.
    pub row: u64,
    /// The row, from 1, since which predictions are probably not calibrated, as it was estimated then.
    pub since: u64,
}

/// How often intervals of one coverage held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EmpiricalCoverage {
    /// What they say.
    pub coverage: f64,
    /// The share of targets that lay in them.
    pub held: f64,
    /// Their probability lies between these two, at all moments together with probability 1 - alpha, while rows are alike.
    pub lower: f64,
    /// See `lower`.
    pub upper: f64,
}

/// What was seen so far.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// Rows that were seen.
    pub rows: u64,
    /// The probability of a false alarm, at most.
    pub alpha: f64,
    /// What is no reason for an alarm.
    pub tolerance: f64,
    /// The alarm; it stays on.
    pub alarm: Option<Alarm>,
    /// Logarithm to base 10 of the evidence against calibration: the alarm goes on above -log10(alpha).
    pub evidence: f64,
    /// The highest that it was.
    pub highest_evidence: f64,
    /// Mean of the normal scores: 0 when calibrated, above where targets are larger than predicted.
    pub score_mean: Option<f64>,
    /// Their sd: 1 when calibrated, above where predictions are too narrow.
    pub score_sd: Option<f64>,
    /// How often central intervals held.
    pub coverage: Vec<EmpiricalCoverage>,
    /// Mean CRPS.
    pub crps: Option<f64>,
    /// That of a constant prediction.
    pub constant_crps: Option<f64>,
}

impl Monitor {
    /// What was seen so far.
    pub fn verdict(&self) -> Verdict {
        let rows = self.rows as f64;
        let mean = |sum: f64| (self.rows > 0).then(|| sum / rows);
        let alpha = self.watching.alpha;
        let coverage = self.hits.iter().zip(COVERAGES).map(|(hits, coverage)| {
            let (lower, upper) = hits.bounds(alpha);
            let held = hits.held as f64 / (hits.rows as f64).max(1.0);
            EmpiricalCoverage { coverage, held, lower, upper }
        });
        let score_mean = mean(self.scores[0]);
        let variance = mean(self.scores[1]).zip(score_mean).map(|(square, mean)| (square - mean * mean).max(0.0));
        Verdict {
            rows: self.rows,
            alpha,
            tolerance: self.watching.tolerance,
            alarm: self.alarm.map(|(row, since)| Alarm { row: row + 1, since: since + 1 }),
            evidence: if self.rows > 0 { self.evidence.log() / std::f64::consts::LN_10 } else { 0.0 },
            highest_evidence: self.highest / std::f64::consts::LN_10,
            score_mean,
            score_sd: variance.map(f64::sqrt),
            coverage: coverage.collect(),
            crps: mean(self.crps[0]),
            constant_crps: mean(self.crps[1]),
        }
    }
}
