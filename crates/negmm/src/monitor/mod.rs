//! Monitoring of a model in use: tests of calibration, change points, empirical coverage and sharpness.
//!
//! ```
//! use negmm::monitor::{Monitor, MonitorConfig};
//! use negmm::{Mixtures, Predictions};
//!
//! let normal = |sd: f64| Predictions::from(Mixtures::new(1, vec![1.0; 2000], vec![0.0; 2000], vec![sd; 2000]).unwrap());
//! let mut monitor = Monitor::new(MonitorConfig::default())?;
//! // Targets vary a fifth more than predicted.
//! monitor.update(&normal(1.0), &normal(3.0), &normal(1.2).sample(1, 1, 0))?;
//! let status = monitor.status();
//! assert!(status.alarm.is_some() && status.coverage[1].empirical < 0.89);
//! # Ok::<(), negmm::Error>(())
//! ```
//!
//! A [`Monitor`] takes rows in order as their targets become known, uses constant memory, and can be serialised
//! ([`serde`]) between two rows.

mod coverage;
mod e_process;
mod joint;
mod score;
mod status;

use serde::{Deserialize, Serialize};

use coverage::{COVERAGES, Hits};
use e_process::EProcess;
pub use joint::{JointMonitor, JointMonitorPart, JointMonitorStatus};
use negmm_dist::{Error, Predictions, Result};
pub(crate) use score::normal_score;
pub use status::{Alarm, EmpiricalCoverage, MonitorStatus};

/// Maximum number of stored points of the evidence over time.
const MOST_POINTS: usize = 600;

/// Configuration of a monitor.
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `alpha` | 0.01 | above 0, below 1 | largest probability of ever raising a false alarm |
/// | `tolerance` | 0 | 0 … 0.5 | tolerated shift of normal scores in sds, and relative error of their sd |
/// | `seed` | 0 | any | seed of the randomised PIT at jumps of the distribution function |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct MonitorConfig {
    /// Probability of a false alarm, at most.
    pub alpha: f64,
    /// Tolerated deviation from calibration.
    pub tolerance: f64,
    /// Seed of the randomised PIT.
    pub seed: u64,
}

impl Default for MonitorConfig {
    fn default() -> Self {
        Self { alpha: 0.01, tolerance: 0.0, seed: 0 }
    }
}

/// Setters.
impl MonitorConfig {
    /// Sets `alpha`.
    #[must_use]
    pub fn alpha(self, alpha: f64) -> Self {
        Self { alpha, ..self }
    }

    /// Sets `tolerance`.
    #[must_use]
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// Sets `seed`.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}

impl MonitorConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// When a field is out of range.
    pub fn check(&self) -> Result<()> {
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return Err(Error::option("alpha", format!("must lie strictly between 0 and 1, found {}", self.alpha)));
        }
        if !(0.0..=0.5).contains(&self.tolerance) {
            return Err(Error::option("tolerance", format!("must lie between 0 and 0.5, found {}", self.tolerance)));
        }
        Ok(())
    }
}

/// The evidence against calibration after some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvidencePoint {
    /// Number of rows.
    pub rows: u64,
    /// Natural logarithm of the evidence.
    pub log: f64,
}

/// A monitor of a model in use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Monitor {
    #[serde(rename = "watching")]
    config: MonitorConfig,
    rows: u64,
    evidence: EProcess,
    /// The row, from 0, at which the evidence first exceeded 1/α, and the estimated change point.
    alarm: Option<(u64, u64)>,
    /// Largest logarithm of the evidence.
    highest: f64,
    hits: [Hits; COVERAGES.len()],
    /// Sums of CRPS: of the model, and of the constant baseline.
    crps: [f64; 2],
    /// Sums of normal scores and their squares, over all rows.
    scores: [f64; 2],
    /// Rows between stored points; and the points: number of rows, and logarithm of the evidence.
    every: u64,
    #[serde(rename = "course")]
    history: Vec<(u64, f64)>,
}

impl Monitor {
    /// A monitor before the first row.
    ///
    /// # Errors
    /// When [`MonitorConfig::check`] finds something wrong.
    pub fn new(config: MonitorConfig) -> Result<Self> {
        config.check()?;
        Ok(Self {
            config,
            rows: 0,
            evidence: EProcess::new(config.tolerance),
            alarm: None,
            highest: 0.0,
            hits: [Hits { rows: 0, covered: 0 }; COVERAGES.len()],
            crps: [0.0; 2],
            scores: [0.0; 2],
            every: 1,
            history: Vec::new(),
        })
    }

    /// Takes predictions of rows, those of the constant baseline ([`crate::Model::baseline`]) and the observed
    /// targets, in time order.
    ///
    /// # Errors
    /// When their numbers differ: then the monitor is unchanged.
    pub fn update(&mut self, predictions: &Predictions, constant: &Predictions, y: &[f64]) -> Result<()> {
        let (first, seed) = (self.rows, self.config.seed);
        let crps = predictions.crps(y)?;
        let by_constant = constant.crps(y)?;
        let scores: Vec<f64> = predictions
            .rows()
            .zip(y)
            .enumerate()
            .map(|(row, (prediction, y))| normal_score(prediction, *y, seed, first + row as u64))
            .collect();
        for ((score, crps), by_constant) in scores.into_iter().zip(crps).zip(by_constant) {
            self.crps[0] += crps;
            self.crps[1] += by_constant;
            self.update_score(score);
        }
        Ok(())
    }

    fn update_score(&mut self, score: f64) {
        self.evidence.update(score);
        self.scores[0] += score;
        self.scores[1] += score * score;
        for (hits, coverage) in self.hits.iter_mut().zip(COVERAGES) {
            hits.update(score.abs() <= negmm_dist::math::normal::quantile(0.5 * (1.0 + coverage)));
        }
        self.rows += 1;
        let log = self.evidence.log();
        self.highest = self.highest.max(log);
        if self.alarm.is_none() && log >= -libm::log(self.config.alpha) {
            self.alarm = Some((self.rows - 1, self.evidence.since()));
        }
        if self.rows.is_multiple_of(self.every) {
            self.history.push((self.rows, log));
        }
        if self.history.len() > MOST_POINTS {
            self.every *= 2;
            self.history.retain(|(rows, _)| rows.is_multiple_of(self.every));
        }
    }

    /// Number of rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Its configuration.
    pub fn config(&self) -> MonitorConfig {
        self.config
    }

    /// The evidence at some hundred points in time.
    pub fn evidence(&self) -> impl ExactSizeIterator<Item = EvidencePoint> {
        self.history.iter().map(|(rows, log)| EvidencePoint { rows: *rows, log: *log })
    }
}
