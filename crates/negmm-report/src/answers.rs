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
        let sd = row.normal_sd();
        Self {
            mean: row.mean(),
            sd,
            lower,
            upper,
            pit: row.pit(y),
            surprise: surprise(row, y, sd),
            between: share(row.variance_between(), variance),
        }
    }

    pub fn width(&self) -> f64 {
        self.upper - self.lower
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
