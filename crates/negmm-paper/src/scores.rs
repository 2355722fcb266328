//! The scores of the paper's tables.

use negmm::compare::{Metric, Score};
use negmm::{Interval, Predictions, Result};
use serde::{Deserialize, Serialize};

/// The coverage of the intervals.
const COVERAGE: f64 = 0.95;

/// Scores of test rows, in the target's own unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Root mean squared error of the mean.
    pub rmse: f64,
    /// Logarithmic score.
    pub nll: f64,
    /// Continuous ranked probability score.
    pub crps: f64,
    /// Coverage of the 95 % interval.
    pub picp: f64,
    /// Mean width of that interval.
    pub mpiw: f64,
    /// The same in sds of the training targets.
    pub mpiw_standardised: f64,
}

impl Scores {
    /// The metrics of a table.
    pub const METRICS: [&'static str; 6] = ["rmse", "nll", "crps", "picp", "mpiw", "mpiw_standardised"];

    /// Of predictions; `scale` is the sd of the training targets.
    pub fn of(predictions: &Predictions, y: &[f64], scale: f64) -> Result<Self> {
        let count = y.len() as f64;
        let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / count;
        let squares: Vec<f64> = predictions.mean().iter().zip(y).map(|(mean, y)| (mean - y) * (mean - y)).collect();
        let Interval { lower, upper } = predictions.interval(COVERAGE)?;
        let inside = lower.iter().zip(&upper).zip(y).filter(|((lower, upper), y)| lower <= y && y <= upper).count();
        let mpiw = mean(&lower.iter().zip(&upper).map(|(lower, upper)| upper - lower).collect::<Vec<_>>());
        Ok(Self {
            rmse: mean(&squares).sqrt(),
            nll: mean(&predictions.nll(y)?),
            crps: mean(&predictions.crps(y)?),
            picp: inside as f64 / count,
            mpiw,
            mpiw_standardised: mpiw / scale,
        })
    }

    /// From the scores of a comparison.
    pub fn from_score(score: &Score, scale: f64) -> Self {
        let mpiw = score.get(Metric::Width);
        Self {
            rmse: score.get(Metric::Rmse),
            nll: score.get(Metric::Nll),
            crps: score.get(Metric::Crps),
            picp: score.get(Metric::Coverage),
            mpiw,
            mpiw_standardised: mpiw / scale,
        }
    }

    /// The score of that name, one of [`Scores::METRICS`].
    pub fn get(&self, metric: &str) -> f64 {
        match metric {
            "rmse" => self.rmse,
            "nll" => self.nll,
            "crps" => self.crps,
            "picp" => self.picp,
            "mpiw" => self.mpiw,
            "mpiw_standardised" => self.mpiw_standardised,
            _ => f64::NAN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm::Mixtures;

    #[test]
    fn scores_match_a_hand_computation() {
        let normal: Predictions = Mixtures::new(1, vec![1.0; 2], vec![0.0; 2], vec![2.0; 2]).unwrap().into();
        let scores = Scores::of(&normal, &[0.0, 6.0], 4.0).unwrap();
        assert!((scores.rmse - 18f64.sqrt()).abs() < 1e-12);
        // ln 2 + ln(2 pi) / 2 + mean of z² / 2, with z = 0 and 3.
        assert!((scores.nll - (2f64.ln() + 0.918_938_533_204_672_7 + 2.25)).abs() < 1e-12);
        assert_eq!(scores.picp, 0.5);
        assert!((scores.mpiw - 2.0 * 2.0 * 1.959_963_984_540_054).abs() < 1e-9);
        assert!((scores.mpiw_standardised - scores.mpiw / 4.0).abs() < 1e-12);
    }
}
