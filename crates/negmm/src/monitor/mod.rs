//! Monitoring of a model in use: whether its predictions are calibrated, since when not, how often
//! intervals hold, and how sharp they still are.
//!
//! ```
//! use negmm::monitor::{Monitor, MonitorConfig};
//! use negmm::{Mixtures, Predictions};
//!
//! let normal = |sd: f64| Predictions::from(Mixtures::new(1, vec![1.0; 2000], vec![0.0; 2000], vec![sd; 2000]).unwrap());
//! let mut monitor = Monitor::new(MonitorConfig::default())?;
//! // What happens is a fifth wider than what is said.
//! monitor.see(&normal(1.0), &normal(3.0), &normal(1.2).sample(1, 1, 0))?;
//! let verdict = monitor.verdict();
//! assert!(verdict.alarm.is_some() && verdict.coverage[1].held < 0.89);
//! # Ok::<(), negmm::Error>(())
//! ```
//!
//! A [`Monitor`] is fed as rows become known, in order, keeps a few hundred numbers whatever the rows are, and can be written and read
//! ([`serde`]) between two rows.

mod coverage;
mod e_process;
mod score;
mod status;

use serde::{Deserialize, Serialize};

use coverage::{COVERAGES, Hits};
use e_process::EProcess;
use negmm_dist::{Error, Predictions, Result};
use score::normal_score;
pub use status::{Alarm, EmpiricalCoverage, Verdict};

/// Points of the course of the evidence that are kept, at most.
const MOST_POINTS: usize = 600;

/// How a model is watched.
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `alpha` | 0.01 | above 0, below 1 | the probability of an alarm at any time while predictions are calibrated, at most |
/// | `tolerance` | 0 | 0 … 0.5 | how many sds normal scores may be off, and by what share too wide or too narrow, without an alarm |
/// | `seed` | 0 | any | starts the random places in jumps of the distribution function |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MonitorConfig {
    /// The probability of a false alarm.
    pub alpha: f64,
    /// What is no reason for an alarm.
    pub tolerance: f64,
    /// Starts the random choices.
    pub seed: u64,
}

impl Default for MonitorConfig {
    fn default() -> Self {
        Self { alpha: 0.01, tolerance: 0.0, seed: 0 }
    }
}

impl MonitorConfig {
    /// Says what is out of range, if something is.
    ///
    /// # Errors
    /// When something is.
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

/// What was seen of a model at work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Monitor {
    watching: MonitorConfig,
    rows: u64,
    evidence: EProcess,
    /// The row, from 0, with which the evidence first passed 1/α, and that since which it speaks against calibration.
    alarm: Option<(u64, u64)>,
    /// Highest logarithm of the evidence.
    highest: f64,
    hits: [Hits; COVERAGES.len()],
    /// Sums of CRPS: of the model, and of a constant prediction.
    crps: [f64; 2],
    /// Sums of normal scores and their squares, over all rows.
    scores: [f64; 2],
    /// Rows from one kept point to the next; and the points: how many rows were seen, and the logarithm of the evidence.
    every: u64,
    course: Vec<(u64, f64)>,
}

impl Monitor {
    /// One that has seen nothing.
    ///
    /// # Errors
    /// When [`MonitorConfig::check`] finds something wrong.
    pub fn new(watching: MonitorConfig) -> Result<Self> {
        watching.check()?;
        Ok(Self {
            watching,
            rows: 0,
            evidence: EProcess::new(watching.tolerance),
            alarm: None,
            highest: 0.0,
            hits: [Hits { rows: 0, held: 0 }; COVERAGES.len()],
            crps: [0.0; 2],
            scores: [0.0; 2],
            every: 1,
            course: Vec::new(),
        })
    }

    /// Sees what was predicted of rows, what a constant prediction says of them ([`crate::Model::baseline`]), and what really happened, in
    /// the order of time.
    ///
    /// # Errors
    /// When there is not one constant prediction and one number for each row: then nothing is seen.
    pub fn see(&mut self, predictions: &Predictions, constant: &Predictions, y: &[f64]) -> Result<()> {
        let (first, seed) = (self.rows, self.watching.seed);
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
            self.see_score(score);
        }
        Ok(())
    }

    fn see_score(&mut self, score: f64) {
        self.evidence.see(score);
        self.scores[0] += score;
        self.scores[1] += score * score;
        for (hits, coverage) in self.hits.iter_mut().zip(COVERAGES) {
            hits.see(score.abs() <= negmm_dist::math::normal::quantile(0.5 * (1.0 + coverage)));
        }
        self.rows += 1;
        let log = self.evidence.log();
        self.highest = self.highest.max(log);
        if self.alarm.is_none() && log >= -libm::log(self.watching.alpha) {
            self.alarm = Some((self.rows - 1, self.evidence.since()));
        }
        if self.rows.is_multiple_of(self.every) {
            self.course.push((self.rows, log));
        }
        if self.course.len() > MOST_POINTS {
            self.every *= 2;
            self.course.retain(|(rows, _)| rows.is_multiple_of(self.every));
        }
    }

    /// Rows that were seen.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// How it watches.
    pub fn watching(&self) -> MonitorConfig {
        self.watching
    }

    /// How many rows were seen and the logarithm of the evidence then, at some hundred moments.
    pub fn course(&self) -> &[(u64, f64)] {
        &self.course
    }
}
