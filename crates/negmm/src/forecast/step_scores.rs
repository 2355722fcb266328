//! The scores of single forecasts, and their means.

use negmm_dist::Distribution;
use serde::Serialize;

use negmm_dist::{Interval, Predictions, Result};

/// Levels of the weighted interval score: eleven central intervals and the median.
const WIS_LEVELS: [f64; 23] = [
    0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9,
    0.95, 0.975, 0.99,
];
/// Levels of the weighted quantile loss.
const DECILES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
/// Nominal coverage of the interval whose coverage and width are reported.
pub(super) const COVERAGE: f64 = 0.95;

/// Bins of the PIT histogram.
pub const STEP_PIT_BINS: usize = 10;
/// The places of the 5 % and the 95 % quantile among the levels above.
const ENDS: [usize; 2] = [2, 20];
/// Sums per group of forecasts.
const NUMBERS: usize = 9;

/// Mean scores of a group of forecasts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StepScores {
    /// Name of the forecaster or baseline.
    pub name: String,
    /// Steps ahead; `None`: all together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// Number of forecasts.
    pub rows: usize,
    /// Mean CRPS.
    pub crps: f64,
    /// Mean NLL.
    pub nll: f64,
    /// Empirical coverage of the central 90 % interval.
    pub coverage90: f64,
    /// That of the central 95 % interval.
    pub coverage95: f64,
    /// Its mean width.
    pub width95: f64,
    /// Mean absolute scaled error of the median; the unit is the mean change over a season (or step) before the first
    /// origin.
    pub mase: f64,
    /// Mean weighted interval score over eleven intervals and the median.
    pub wis: f64,
    /// Quantile loss over the deciles, relative to the sum of absolute values.
    pub wql: f64,
    /// Fractions of values in the bins of the PIT histogram: equal for calibrated forecasts.
    pub pit: [f64; STEP_PIT_BINS],
}

/// The scores of one forecast.
pub(super) struct Scores {
    /// CRPS, NLL, whether the value lies in the 90 % and in the 95 % interval, the width of the latter, the scaled absolute error of the median, the
    /// weighted interval score, the quantile loss, the absolute value.
    numbers: [f64; NUMBERS],
    /// The bin of the PIT histogram.
    pit: usize,
}

/// Scores of the forecasts of some points; `units` scale their absolute errors.
pub(super) fn scored(predictions: &Predictions, y: &[f64], units: &[f64]) -> Result<Vec<Scores>> {
    let quantiles = predictions.each(|row| WIS_LEVELS.map(|level| row.quantile(level)));
    let pinball = |row: usize, at: usize| {
        let missed = y[row] - quantiles[row][at];
        (WIS_LEVELS[at] * missed).max((WIS_LEVELS[at] - 1.0) * missed)
    };
    let loss = |row: usize, levels: &[usize]| {
        2.0 * levels.iter().map(|at| pinball(row, *at)).sum::<f64>() / levels.len() as f64
    };
    let all: Vec<usize> = (0..WIS_LEVELS.len()).collect();
    let deciles: Vec<usize> = all.iter().copied().filter(|at| DECILES.contains(&WIS_LEVELS[*at])).collect();
    let Interval { lower, upper } = predictions.interval(COVERAGE)?;
    let (crps, nll, pit) = (predictions.crps(y)?, predictions.nll(y)?, predictions.pit(y)?);
    let median = WIS_LEVELS.len() / 2;
    let scores = |row: usize| Scores {
        numbers: [
            crps[row],
            nll[row],
            f64::from(u8::from(quantiles[row][ENDS[0]] <= y[row] && y[row] <= quantiles[row][ENDS[1]])),
            f64::from(u8::from(lower[row] <= y[row] && y[row] <= upper[row])),
            upper[row] - lower[row],
            (y[row] - quantiles[row][median]).abs() / units[row],
            loss(row, &all),
            loss(row, &deciles),
            y[row].abs(),
        ],
        pit: ((pit[row] * STEP_PIT_BINS as f64) as usize).min(STEP_PIT_BINS - 1),
    };
    Ok((0..y.len()).map(scores).collect())
}

/// Accumulated scores of many forecasts.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    pub(super) rows: usize,
    numbers: [f64; NUMBERS],
    pit: [usize; STEP_PIT_BINS],
}

impl Scores {
    pub(super) fn crps(&self) -> f64 {
        self.numbers[0]
    }
}

impl Sums {
    pub(super) fn add(&mut self, scores: &Scores) {
        self.rows += 1;
        self.numbers.iter_mut().zip(scores.numbers).for_each(|(sum, number)| *sum += number);
        self.pit[scores.pit] += 1;
    }

    pub(super) fn means(&self, name: &str, step: Option<usize>) -> StepScores {
        let [crps, nll, coverage90, coverage95, width95, mase, wis, loss, size] =
            self.numbers.map(|sum| sum / self.rows as f64);
        // Summed in order like every other score.
        let fraction = |count: usize| (0..count).fold(0.0, |sum, _| sum + 1.0 / self.rows as f64);
        StepScores {
            name: name.into(),
            step,
            rows: self.rows,
            crps,
            nll,
            coverage90,
            coverage95,
            width95,
            mase,
            wis,
            wql: loss / if size > 0.0 { size } else { 1.0 },
            pit: self.pit.map(fraction),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::Mixtures;

    #[test]
    fn intervals_have_their_ends() {
        assert_eq!(ENDS.map(|at| WIS_LEVELS[at]), [0.05, 0.95]);
        let normal = Predictions::from(Mixtures::new(1, vec![1.0; 3], vec![0.0; 3], vec![1.0; 3]).unwrap());
        // The 90 % interval ends at 1.645, the 95 % interval at 1.960.
        let scores = scored(&normal, &[1.6, -1.7, 2.0], &[1.0; 3]).unwrap();
        let mut sums = Sums::default();
        scores.iter().for_each(|scores| sums.add(scores));
        let means = sums.means("", None);
        assert_eq!((means.coverage90, means.coverage95), (1.0 / 3.0, 2.0 / 3.0));
    }
}
