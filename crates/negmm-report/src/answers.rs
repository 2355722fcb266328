//! Responsible for everything that the pictures ask of the predictions: one number for each row, and the scores of all.

use negmm::data::split::blocks;
use negmm::metrics::Metrics;
use negmm::{Law, Model, Predictions, Result, Row};

use crate::cases::Cases;

/// The coverage of the interval that is shown.
pub const COVERAGE: f64 = 0.9;
/// Groups of rows by predicted width, at most, and rows in each, at least.
const GROUPS: usize = 10;
const GROUP_ROWS: usize = 10;

/// Answers about the rows of a report.
pub struct Answers {
    /// Scores of the model and of the constant baseline.
    pub metrics: Metrics,
    pub baseline: Metrics,
    /// Of each row.
    pub rows: Vec<RowAnswers>,
    /// As many rows of weight 1 tell as much: the rows themselves where no weights are given.
    pub effective_rows: f64,
    /// The positions of rows from the narrowest interval to the widest, in groups of equal size; one group where all
    /// intervals are equally wide.
    pub groups: Vec<Vec<usize>>,
    /// Share of each row's variance that members do not agree on; empty for one member.
    pub epistemic: Vec<f64>,
}

/// Answers about one row.
#[derive(Clone, Copy, Debug)]
pub struct RowAnswers {
    pub mean: f64,
    pub sd: f64,
    /// Ends of the interval with [`COVERAGE`].
    pub lower: f64,
    pub upper: f64,
    /// Probability of a target up to the observed one, of which half counts where it has a probability of its own.
    pub pit: f64,
    /// That probability of its own.
    pub jump: f64,
    /// How unlikely the target is, whatever the unit: its logarithmic score less that of a normal variable one sd away, or minus
    /// the logarithm of its probability, where it has one.
    pub surprise: f64,
    /// Share of the variance between components.
    pub between: f64,
}

impl RowAnswers {
    pub fn of(row: Row<'_>, y: f64) -> Self {
        let (lower, upper) = row.interval(COVERAGE);
        let variance = row.variance();
        let (sd, pit) = (row.normal_sd(), row.pit(y));
        Self {
            mean: row.mean(),
            sd,
            lower,
            upper,
            pit,
            jump: 2.0 * (row.cdf(y) - pit),
            surprise: surprise(row, y, sd),
            between: share(row.variance_between(), variance),
        }
    }

    pub fn width(&self) -> f64 {
        self.upper - self.lower
    }

    /// The share of its PIT below `level`. It is spread over its jump (Czado, Gneiting and Held, 2009): so calibrated predictions are
    /// uniform also where values have probabilities of their own.
    pub fn pit_below(&self, level: f64) -> f64 {
        if level >= 1.0 {
            1.0
        } else if self.jump > 0.0 {
            ((level - self.pit) / self.jump + 0.5).clamp(0.0, 1.0)
        } else {
            f64::from(self.pit < level)
        }
    }

    pub fn covers(&self, y: f64) -> bool {
        self.lower <= y && y <= self.upper
    }
}

impl Answers {
    /// About `cases`, whose targets are known; they are all rows, or those of `all` that have one.
    pub fn new(model: &Model, cases: &Cases, all: &Cases) -> Result<Self> {
        let weights = cases.weights.as_deref();
        let grid = model.encoder().target().grid;
        let score = |predictions: &Predictions| match &all.known {
            Some(known) => Metrics::of_known(predictions, known, all.weights.as_deref(), grid),
            None => Metrics::weighted(predictions, &all.y, all.weights.as_deref(), grid),
        };
        let (metrics, baseline) = (score(&all.predictions)?, score(&model.baseline(all.len()))?);
        let rows = cases.predictions.each_with(&cases.y, RowAnswers::of)?;
        let effective_rows = match weights {
            None => cases.len() as f64,
            Some(weights) => {
                let largest = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
                let sum: f64 = weights.iter().map(|weight| weight / largest).sum();
                sum * sum / weights.iter().map(|weight| weight / largest).map(|share| share * share).sum::<f64>()
            }
        };
        let epistemic = match cases.predictions.members() {
            1 => Vec::new(),
            _ => {
                let (within, between) = cases.predictions.variance_by_members();
                within.into_iter().zip(between).map(|(within, between)| share(between, within + between)).collect()
            }
        };
        let groups = groups(&rows);
        Ok(Self { metrics, baseline, rows, effective_rows, groups, epistemic })
    }
}

fn surprise(row: Row<'_>, y: f64, sd: f64) -> f64 {
    match (row.support.step, row.law) {
        (Some(step), _) => -row.log_mass(y, step),
        (None, Law::Mixture(_)) if row.mass(y) > 0.0 => -row.log_likelihood(y),
        _ => -row.log_pdf(y) - libm::log(sd),
    }
}

/// Rows from the narrowest interval to the widest, in groups.
fn groups(rows: &[RowAnswers]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| rows[*a].width().total_cmp(&rows[*b].width()));
    let width = |at: usize| order.get(at).map_or(0.0, |row| rows[*row].width());
    let (narrowest, widest) = (width(0), width(order.len().saturating_sub(1)));
    if widest - narrowest <= 1e-9 * widest.abs() {
        return vec![order];
    }
    let count = (rows.len() / GROUP_ROWS).clamp(1, GROUPS);
    blocks(order.len(), count).into_iter().map(|block| order[block].to_vec()).collect()
}

/// A part of a variance as a share of it, 0 where there is none.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { (part / whole).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm::{Mixtures, Predictions};

    #[test]
    fn the_pit_of_calibrated_zeros_is_uniform() {
        // As many rows at the atom as it is probable, the others at even quantiles above it.
        let law = Mixtures::new(2, vec![0.4, 0.6], vec![0.0, 50.0], vec![0.0, 1.0]).unwrap();
        let (law, rows) = (Predictions::from(law), 1000);
        let target = |at: usize| law.row(0).quantile((at as f64 + 0.5) / rows as f64);
        let answers: Vec<RowAnswers> = (0..rows).map(|at| RowAnswers::of(law.row(0), target(at))).collect();
        assert_eq!(answers.iter().filter(|row| row.jump > 0.0).count(), 400);
        for level in [0.0, 0.1, 0.25, 0.4, 0.6, 0.9, 1.0] {
            let below: f64 = answers.iter().map(|row| row.pit_below(level)).sum();
            assert!((below / rows as f64 - level).abs() < 1e-3, "{level}: {below}");
        }
    }
}
