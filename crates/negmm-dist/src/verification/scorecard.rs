//! A scorecard: named scores of rows in chunks, with weights; their means, standard errors, and the PIT histogram.

use rayon::prelude::*;

use super::means::ScoreMeans;
use super::pit::{PitHistogram, randomised_pit};
use super::{
    QuantileWeight, brier_score, cde_loss, dawid_sebastiani_score, interval_score, quantile_score,
    quantile_weighted_crps, threshold_weighted_crps, weighted_interval_score,
};
use crate::distribution::Distribution;
use crate::distribution_ref::{DistributionKind, DistributionRef};
use crate::predictive::Predictions;
use crate::weights::check_weights;
use crate::{Error, Result};

/// Levels of quantile scores and of the weighted interval score where the predictions are not quantiles themselves: those of the
/// forecast hubs.
const LEVELS: [f64; 23] = [
    0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9,
    0.95, 0.975, 0.99,
];

/// Which scores are computed.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreSpec {
    /// Coverages of central intervals: their empirical coverage, width and interval score.
    pub coverages: Vec<f64>,
    /// Levels of the quantile score, which also make the weighted interval score. Empty: those of the predictions, else 23 usual ones.
    pub levels: Vec<f64>,
    /// Thresholds of Brier scores.
    pub thresholds: Vec<f64>,
    /// The thresholds of a threshold-weighted CRPS; either may be infinite.
    pub between: Option<(f64, f64)>,
    /// The weight of a quantile-weighted CRPS.
    pub quantile_weight: Option<QuantileWeight>,
    /// The distance of values of a discrete target, for the mass log score.
    pub step: Option<f64>,
    /// The seed of the randomised PIT.
    pub seed: u64,
}

impl Default for ScoreSpec {
    fn default() -> Self {
        Self {
            coverages: vec![0.5, 0.9, 0.95],
            levels: Vec::new(),
            thresholds: Vec::new(),
            between: None,
            quantile_weight: None,
            step: None,
            seed: 0,
        }
    }
}

impl ScoreSpec {
    /// The levels of quantile scores of predictions that are not quantiles themselves; the same for all predictions where they are
    /// compared.
    pub fn usual_levels() -> Vec<f64> {
        LEVELS.to_vec()
    }

    /// The levels of the quantile score of these predictions.
    fn levels_for(&self, predictions: &Predictions) -> Vec<f64> {
        if !self.levels.is_empty() {
            return self.levels.clone();
        }
        let own = predictions.quantile_sets().and_then(|sets| sets.levels());
        let own = own.map(|levels| levels.iter().copied().filter(|level| *level > 0.0 && *level < 1.0).collect());
        own.filter(|levels: &Vec<f64>| !levels.is_empty()).unwrap_or_else(|| LEVELS.to_vec())
    }

    /// The names of the scores of a row, in order.
    pub fn names(&self) -> Vec<String> {
        let fixed = ["crps", "log_score", "squared_error", "absolute_error", "dawid_sebastiani", "cde_loss"];
        let mut names: Vec<String> = fixed.map(str::to_string).to_vec();
        names.extend(["quantile_score", "weighted_interval_score"].map(str::to_string));
        names.extend(self.step.map(|_| "mass_log_score".to_string()));
        for coverage in &self.coverages {
            names.extend(["coverage", "width", "interval_score"].map(|name| format!("{name}_{coverage}")));
        }
        names.extend(self.thresholds.iter().map(|threshold| format!("brier_{threshold}")));
        names.extend(self.between.map(|(lower, upper)| format!("crps_between_{lower}_{upper}")));
        names.extend(self.quantile_weight.map(|weight| format!("crps_quantiles_{}", weight.name())));
        names
    }

    /// The scores of a row, in the order of [`ScoreSpec::names`].
    fn score(&self, row: DistributionRef<'_>, y: f64, levels: &[f64]) -> Vec<f64> {
        let error = y - row.mean();
        let mut scores = vec![
            row.crps(y),
            row.nll(y),
            error * error,
            (y - row.quantile(0.5)).abs(),
            dawid_sebastiani_score(&row, y),
            cde_loss(row, y),
        ];
        let quantiles: Vec<f64> = match row.kind {
            DistributionKind::Quantiles(own) if own.levels == levels => own.values.to_vec(),
            _ => levels.iter().map(|level| row.quantile(*level)).collect(),
        };
        let each = quantiles.iter().zip(levels).map(|(q, level)| quantile_score(y, *q, *level));
        scores.push(each.sum::<f64>() / levels.len() as f64);
        scores.push(weighted_interval_score_of(y, levels, &quantiles, row));
        scores.extend(self.step.map(|step| 0.0 - row.log_mass(y, step)));
        for coverage in &self.coverages {
            let interval = row.interval(*coverage);
            let covered = f64::from(u8::from(interval.contains(y)));
            let score = interval_score(y, interval.lower, interval.upper, 1.0 - coverage);
            scores.extend([covered, interval.width(), score]);
        }
        scores.extend(self.thresholds.iter().map(|threshold| brier_score(&row, y, *threshold)));
        scores.extend(self.between.map(|(lower, upper)| threshold_weighted_crps(row, y, lower, upper)));
        scores.extend(self.quantile_weight.map(|weight| quantile_weighted_crps(row, y, weight)));
        scores
    }
}

/// The weighted interval score of the intervals between levels u and 1 - u, and of the median.
fn weighted_interval_score_of(y: f64, levels: &[f64], quantiles: &[f64], row: DistributionRef<'_>) -> f64 {
    // Levels of tables are decimal: 0.05 and 0.95 belong together though their sum is not exactly 1.
    let (mut upper, mut intervals) = (levels.len(), Vec::new());
    for (at, level) in levels.iter().enumerate().take_while(|(_, level)| **level < 0.5) {
        while upper > 0 && levels[upper - 1] > 1.0 - level + 1e-9 {
            upper -= 1;
        }
        if upper > 0 && (levels[upper - 1] - (1.0 - level)).abs() < 1e-9 {
            intervals.push((quantiles[at], quantiles[upper - 1], 2.0 * level));
        }
    }
    weighted_interval_score(y, row.quantile(0.5), intervals)
}

/// Sums of scores over rows.
#[derive(Clone, Debug)]
pub struct Scorecard {
    spec: ScoreSpec,
    means: ScoreMeans,
    pit: PitHistogram,
}

/// Mean scores.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreSummary {
    /// Number of rows.
    pub rows: u64,
    /// Name, mean and standard error of each score, in order.
    pub scores: Vec<(String, f64, f64)>,
    /// The PIT histogram.
    pub pit: PitHistogram,
    /// How many rows have an infinite score, by name; those means are infinite.
    pub infinite: Vec<(String, u64)>,
}

impl ScoreSummary {
    /// The mean of the score of this name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.scores.iter().find(|(own, _, _)| own == name).map(|(_, mean, _)| *mean)
    }
}

impl Scorecard {
    /// An empty scorecard.
    ///
    /// # Errors
    /// When a coverage or level is not strictly between 0 and 1, or a step not positive.
    pub fn new(spec: ScoreSpec) -> Result<Self> {
        let inside = |number: &f64| *number > 0.0 && *number < 1.0;
        if let Some(wrong) = spec.coverages.iter().chain(&spec.levels).find(|number| !inside(number)) {
            return Err(Error::options(format!(
                "expected a coverage or level strictly between 0 and 1, found {wrong}"
            )));
        }
        if spec.levels.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(Error::options("expected levels of quantiles in ascending order"));
        }
        spec.step.map_or(Ok(()), crate::predictive::check_step)?;
        Ok(Self { means: ScoreMeans::new(spec.names()), spec, pit: PitHistogram::default() })
    }

    /// The names of the scores.
    pub fn names(&self) -> &[String] {
        self.means.names()
    }

    /// The scores of each row: rows × names.
    ///
    /// # Errors
    /// When there is not one finite target for each row.
    pub fn scores(&self, predictions: &Predictions, y: &[f64]) -> Result<Vec<Vec<f64>>> {
        if let Some(row) = y.iter().position(|y| !y.is_finite()) {
            return Err(Error::data(format!("expected a finite target, found {}", y[row])).at_row(row as u64));
        }
        let levels = self.spec.levels_for(predictions);
        predictions.each_with(y, |row, y| self.spec.score(row, y, &levels))
    }

    /// Adds rows with their numbers from `first` on, which randomise the PIT; returns the scores of each row.
    ///
    /// # Errors
    /// When there is not one finite target for each row, or a weight is negative; then nothing is added.
    pub fn add(
        &mut self,
        predictions: &Predictions,
        y: &[f64],
        weights: Option<&[f64]>,
        first: u64,
    ) -> Result<Vec<Vec<f64>>> {
        weights.map_or(Ok(()), |weights| check_weights(weights, y.len()))?;
        let scores = self.scores(predictions, y)?;
        let seed = self.spec.seed;
        let pits: Vec<f64> = (0..y.len())
            .into_par_iter()
            .map(|row| randomised_pit(predictions.row(row), y[row], seed, first + row as u64))
            .collect();
        // In order, so that neither threads nor chunks change a bit.
        for (row, (scores, pit)) in scores.iter().zip(pits).enumerate() {
            self.add_row(scores, pit, weights.map_or(1.0, |weights| weights[row]));
        }
        Ok(scores)
    }

    /// Adds the scores and the PIT of one row.
    pub fn add_row(&mut self, scores: &[f64], pit: f64, weight: f64) {
        self.means.add(scores, weight);
        self.pit.add(pit, weight);
    }

    /// The means over all rows added.
    ///
    /// # Errors
    /// When there is no row, or all weights are 0.
    pub fn finish(&self) -> Result<ScoreSummary> {
        Ok(ScoreSummary {
            rows: self.means.rows(),
            scores: self.means.means()?,
            pit: self.pit.clone(),
            infinite: self.means.infinite(),
        })
    }
}
