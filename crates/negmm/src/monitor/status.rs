//! The status of a monitor: alarm, empirical coverage and sharpness.

use serde::Serialize;

use super::Monitor;
use super::coverage::COVERAGES;

/// An alarm: predictions are not calibrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Alarm {
    /// The row, from 1, at which the evidence exceeded the threshold.
    pub row: u64,
    /// The estimated change point, as a row from 1, at the time of the alarm.
    pub since: u64,
}

/// Empirical coverage of intervals of one nominal coverage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EmpiricalCoverage {
    /// Nominal coverage.
    pub coverage: f64,
    /// Fraction of targets inside their interval.
    #[serde(rename = "held")]
    pub empirical: f64,
    /// Lower end of a confidence sequence for the coverage probability: valid at all times simultaneously with
    /// probability 1 - alpha, as long as rows are identically distributed.
    pub lower: f64,
    /// Upper end of the confidence sequence.
    pub upper: f64,
}

/// The status of a monitor.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MonitorStatus {
    /// Number of rows.
    pub rows: u64,
    /// Probability of a false alarm, at most.
    pub alpha: f64,
    /// Tolerated deviation from calibration.
    pub tolerance: f64,
    /// The alarm; once raised it stays.
    pub alarm: Option<Alarm>,
    /// Logarithm to base 10 of the evidence against calibration; the alarm threshold is -log10(alpha).
    pub evidence: f64,
    /// Its maximum so far.
    pub highest_evidence: f64,
    /// Mean of the normal scores: 0 if calibrated, positive where targets are larger than predicted.
    pub score_mean: Option<f64>,
    /// Sd of the normal scores: 1 if calibrated, larger where predictions are too narrow.
    pub score_sd: Option<f64>,
    /// Empirical coverage of central intervals.
    pub coverage: Vec<EmpiricalCoverage>,
    /// Mean CRPS.
    pub crps: Option<f64>,
    /// Mean CRPS of the constant baseline.
    pub constant_crps: Option<f64>,
}

impl Monitor {
    /// The current status.
    pub fn status(&self) -> MonitorStatus {
        let rows = self.rows as f64;
        let mean = |sum: f64| (self.rows > 0).then(|| sum / rows);
        let alpha = self.config.alpha;
        let coverage = self.hits.iter().zip(COVERAGES).map(|(hits, coverage)| {
            let (lower, upper) = hits.bounds(alpha);
            let empirical = hits.covered as f64 / (hits.rows as f64).max(1.0);
            EmpiricalCoverage { coverage, empirical, lower, upper }
        });
        let score_mean = mean(self.scores[0]);
        let variance = mean(self.scores[1]).zip(score_mean).map(|(square, mean)| (square - mean * mean).max(0.0));
        MonitorStatus {
            rows: self.rows,
            alpha,
            tolerance: self.config.tolerance,
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
