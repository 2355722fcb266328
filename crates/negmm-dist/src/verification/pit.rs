//! Calibration by the probability integral transform: a histogram and a test of uniformity.

use crate::distribution::Distribution;
use crate::distribution_ref::{DistributionKind, DistributionRef};
use crate::math::gamma::cdf_and_survival;
use crate::math::rng::Rng;
use crate::metrics::PIT_BINS;
use crate::streams;

/// The randomised PIT of `y`: P(Y < y) + U P(Y = y) with U uniform from the seed and the number of the row; uniform for
/// calibrated predictions whatever atoms they have. A target has M + 1 equally likely ranks among M samples.
pub fn randomised_pit(row: DistributionRef<'_>, y: f64, seed: u64, number: u64) -> f64 {
    let (below, own) = match row.kind {
        DistributionKind::Samples(samples) => {
            let below = samples.values.partition_point(|value| *value < y);
            let equal = samples.values.partition_point(|value| *value <= y) - below;
            let ranks = samples.values.len() as f64 + 1.0;
            (below as f64 / ranks, (equal + 1) as f64 / ranks)
        }
        _ => {
            let own = row.point_probability(y);
            ((row.cdf(y) - own).max(0.0), own)
        }
    };
    if own == 0.0 {
        return below;
    }
    (below + own * Rng::new(seed, streams::JUMPS.wrapping_add(number)).uniform()).min(1.0)
}

/// A histogram of PIT values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PitHistogram {
    /// The weight in each twentieth of (0, 1).
    pub bins: [f64; PIT_BINS],
    weight: f64,
    squared_weight: f64,
    mean: f64,
    square: f64,
}

/// A test of uniformity of the PIT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PitTest {
    /// Pearson's chi-squared statistic of the histogram.
    pub statistic: f64,
    /// Degrees of freedom: bins - 1.
    pub df: f64,
    /// The probability of a statistic at least as large if predictions are calibrated and rows independent.
    pub p_value: f64,
    /// Mean of the PIT: 1/2 if calibrated, larger where targets are larger than predicted.
    pub mean: f64,
    /// Variance of the PIT times 12: 1 if calibrated, larger where predictions are too narrow.
    pub dispersion: f64,
}

impl PitHistogram {
    /// Adds a value.
    pub fn add(&mut self, pit: f64, weight: f64) {
        self.bins[((pit * PIT_BINS as f64) as usize).min(PIT_BINS - 1)] += weight;
        self.weight += weight;
        self.squared_weight += weight * weight;
        self.mean += weight * pit;
        self.square += weight * pit * pit;
    }

    /// The test; with weights for the effective number of rows (Kish). None without a row.
    pub fn test(&self) -> Option<PitTest> {
        if self.weight <= 0.0 {
            return None;
        }
        let rows = self.weight * self.weight / self.squared_weight;
        let expected = 1.0 / PIT_BINS as f64;
        let distance = |bin: &f64| (bin / self.weight - expected) * (bin / self.weight - expected) / expected;
        let statistic = rows * self.bins.iter().map(distance).sum::<f64>();
        let (df, mean) = ((PIT_BINS - 1) as f64, self.mean / self.weight);
        Some(PitTest {
            statistic,
            df,
            p_value: cdf_and_survival(0.5 * df, 0.5 * statistic).1,
            mean,
            dispersion: 12.0 * (self.square / self.weight - mean * mean).max(0.0),
        })
    }
}
