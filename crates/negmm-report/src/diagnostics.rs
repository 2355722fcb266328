//! Statistics of every evaluated row and scores of all, which the plots are drawn from.

use negmm::Distribution;
use negmm::data::split::blocks;
use negmm::metrics::Metrics;
use negmm::{DistributionKind, DistributionRef, Interval, Model, Predictions, Result};

use crate::evaluation_set::EvaluationSet;

/// The coverage of the interval that is shown.
pub const COVERAGE: f64 = 0.9;
/// Groups of rows by interval width, at most, and rows in each, at least.
const MAX_GROUPS: usize = 10;
const MIN_GROUP_ROWS: usize = 10;

/// Diagnostics of an evaluation set.
pub struct Diagnostics {
    /// Scores of the model and of the constant baseline.
    pub metrics: Metrics,
    pub baseline: Metrics,
    /// Of each row.
    pub rows: Vec<RowDiagnostics>,
    /// The effective sample size (Kish) of weighted rows; the number of rows without weights.
    pub effective_rows: f64,
    /// The positions of rows in groups of equal size, from the narrowest intervals to the widest; one group where all intervals are
    /// equally wide.
    pub groups: Vec<Vec<usize>>,
    /// The epistemic fraction of each row's variance, between ensemble members; empty for one member.
    pub epistemic: Vec<f64>,
}

/// Diagnostics of one row.
#[derive(Clone, Copy, Debug)]
pub struct RowDiagnostics {
    pub mean: f64,
    pub sd: f64,
    /// Ends of the interval with [`COVERAGE`].
    pub lower: f64,
    pub upper: f64,
    /// The PIT: the cdf at the target, minus half of its point probability.
    pub pit: f64,
    /// The point probability of the target.
    pub point_probability: f64,
    /// The log score of the target relative to the sd, which is free of units; or the log score of its point probability.
    pub surprise: f64,
    /// The fraction of the variance between components.
    pub between: f64,
}

impl RowDiagnostics {
    pub fn of(row: DistributionRef<'_>, y: f64) -> Self {
        let Interval { lower, upper } = row.interval(COVERAGE);
        let variance = row.variance();
        let (sd, pit) = (row.normal_sd(), row.pit(y));
        Self {
            mean: row.mean(),
            sd,
            lower,
            upper,
            pit,
            point_probability: 2.0 * (row.cdf(y) - pit),
            surprise: surprise(row, y, sd),
            between: fraction(row.variance_between(), variance),
        }
    }

    pub fn width(&self) -> f64 {
        self.upper - self.lower
    }

    /// The nonrandomized PIT (Czado, Gneiting and Held, 2009): the fraction of the PIT below `level`, spread over the point probability.
    /// Calibrated predictions are uniform with it also where values have point probabilities.
    pub fn pit_below(&self, level: f64) -> f64 {
        if level >= 1.0 {
            1.0
        } else if self.point_probability > 0.0 {
            ((level - self.pit) / self.point_probability + 0.5).clamp(0.0, 1.0)
        } else {
            f64::from(self.pit < level)
        }
    }

    pub fn covers(&self, y: f64) -> bool {
        self.lower <= y && y <= self.upper
    }
}

impl Diagnostics {
    /// Of `evaluation`, the rows of `all` with uncensored targets. Scores are of `all`.
    pub fn new(model: &Model, evaluation: &EvaluationSet, all: &EvaluationSet) -> Result<Self> {
        Self::against(&model.baseline(all.len()), model.encoder().target().grid, evaluation, all)
    }

    /// The same against the baseline of each row of `all`; `grid` is the step of a discrete target.
    pub fn against(
        baseline: &Predictions,
        grid: Option<f64>,
        evaluation: &EvaluationSet,
        all: &EvaluationSet,
    ) -> Result<Self> {
        let weights = evaluation.weights.as_deref();
        let score = |predictions: &Predictions| match &all.known {
            Some(known) => Metrics::of_known(predictions, known, all.weights.as_deref(), grid),
            None => Metrics::weighted(predictions, &all.y, all.weights.as_deref(), grid),
        };
        let (metrics, baseline) = (score(&all.predictions)?, score(baseline)?);
        let rows = evaluation.predictions.each_with(&evaluation.y, RowDiagnostics::of)?;
        let effective_rows = match weights {
            None => evaluation.len() as f64,
            Some(weights) => {
                let largest = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
                let sum: f64 = weights.iter().map(|weight| weight / largest).sum();
                sum * sum / weights.iter().map(|weight| weight / largest).map(|weight| weight * weight).sum::<f64>()
            }
        };
        let epistemic = match evaluation.predictions.members() {
            1 => Vec::new(),
            _ => {
                let (within, between) = evaluation.predictions.variance_by_members();
                within.into_iter().zip(between).map(|(within, between)| fraction(between, within + between)).collect()
            }
        };
        let groups = groups(&rows);
        Ok(Self { metrics, baseline, rows, effective_rows, groups, epistemic })
    }
}

fn surprise(row: DistributionRef<'_>, y: f64, sd: f64) -> f64 {
    match (row.support.step, row.kind) {
        (Some(step), _) => -row.log_mass(y, step),
        (None, DistributionKind::Samples(_)) => -row.log_pdf(y) - libm::log(sd),
        (None, _) if row.point_probability(y) > 0.0 => -row.log_likelihood(y),
        _ => -row.log_pdf(y) - libm::log(sd),
    }
}

/// Positions of rows in groups by interval width.
fn groups(rows: &[RowDiagnostics]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| rows[*a].width().total_cmp(&rows[*b].width()));
    let width = |at: usize| order.get(at).map_or(0.0, |row| rows[*row].width());
    let (narrowest, widest) = (width(0), width(order.len().saturating_sub(1)));
    if widest - narrowest <= 1e-9 * widest.abs() {
        return vec![order];
    }
    let count = (rows.len() / MIN_GROUP_ROWS).clamp(1, MAX_GROUPS);
    blocks(order.len(), count).into_iter().map(|block| order[block].to_vec()).collect()
}

/// A part of a variance as a fraction of it, 0 where there is none.
fn fraction(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { (part / whole).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm::{Mixtures, Predictions};

    #[test]
    fn the_pit_of_calibrated_zeros_is_uniform() {
        // Targets at equally spaced quantiles: the atom has as many rows as its probability.
        let mixtures = Mixtures::new(2, vec![0.4, 0.6], vec![0.0, 50.0], vec![0.0, 1.0]).unwrap();
        let (predictions, rows) = (Predictions::from(mixtures), 1000);
        let target = |at: usize| predictions.row(0).quantile((at as f64 + 0.5) / rows as f64);
        let diagnostics: Vec<RowDiagnostics> =
            (0..rows).map(|at| RowDiagnostics::of(predictions.row(0), target(at))).collect();
        assert_eq!(diagnostics.iter().filter(|row| row.point_probability > 0.0).count(), 400);
        for level in [0.0, 0.1, 0.25, 0.4, 0.6, 0.9, 1.0] {
            let below: f64 = diagnostics.iter().map(|row| row.pit_below(level)).sum();
            assert!((below / rows as f64 - level).abs() < 1e-3, "{level}: {below}");
        }
    }
}
