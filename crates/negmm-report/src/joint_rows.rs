//! The rows of a report of several targets: predictions, observed vectors, PIT values of projections, levels of regions.

use negmm::joint::{FittedJoint, RegionKind, directions};
use negmm::{Error, JointModel, JointPredictions, Result, Table};

use crate::text::name;

/// Rows that are evaluated at most.
const MOST_ROWS: usize = 2_000;
/// Rows that are shown one by one.
const SINGLE_ROWS: usize = 3;
/// Pairs of targets that are drawn at most.
const MOST_PAIRS: usize = 6;
/// Directions of projections at least.
const DIRECTIONS: usize = 4;

/// The rows of a report: predictions, observed vectors, and what is asked of each.
pub struct JointRows {
    pub predictions: JointPredictions,
    /// rows × targets
    pub y: Vec<f64>,
    /// The number of each row in the file, from 1.
    pub numbers: Vec<usize>,
    /// PIT values of each target and each direction, with its name.
    pub projections: Vec<(String, Vec<f64>)>,
    /// For both kinds of regions the smallest coverage whose region contains the row.
    pub levels: [(&'static str, Vec<f64>); 2],
}

impl JointRows {
    pub fn new(model: &JointModel, table: &Table) -> Result<Self> {
        let y = model.observed(table)?;
        let d = model.targets().len();
        let complete = |row: &usize| y[row * d..][..d].iter().all(|y| y.is_finite());
        let known: Vec<usize> = (0..table.rows()).filter(complete).collect();
        if known.is_empty() {
            return Err(table.locate(Error::data("no row has all targets: there is nothing to report")));
        }
        let chosen: Vec<usize> = spaced(known.len(), MOST_ROWS).into_iter().map(|at| known[at]).collect();
        let predictions = model.predict(&table.select_rows(&chosen))?;
        Self::of(predictions, &y, &chosen, table)
    }

    /// Those of the held-out rows of a fit.
    pub fn of_fit(fitted: &FittedJoint, table: &Table) -> Result<Self> {
        let FittedJoint { model, held_out, predictions, .. } = fitted;
        let y = model.observed(table)?;
        let d = model.targets().len();
        let complete = |at: &usize| y[held_out[*at] * d..][..d].iter().all(|y| y.is_finite());
        let known: Vec<usize> = (0..held_out.len()).filter(complete).collect();
        if known.is_empty() {
            return Err(table.locate(Error::data("no held-out row has all targets: there is nothing to report")));
        }
        let chosen: Vec<usize> = spaced(known.len(), MOST_ROWS).into_iter().map(|at| known[at]).collect();
        let rows: Vec<usize> = chosen.iter().map(|at| held_out[*at]).collect();
        Self::of(predictions.select(&chosen), &y, &rows, table)
    }

    /// `y` is of all rows of the table, and the predictions are of the rows that are chosen.
    fn of(predictions: JointPredictions, y: &[f64], chosen: &[usize], table: &Table) -> Result<Self> {
        let d = predictions.targets().len();
        let y: Vec<f64> = chosen.iter().flat_map(|row| &y[row * d..][..d]).copied().collect();
        let mut projections = Vec::new();
        for (target, of_target) in predictions.targets().iter().enumerate() {
            let own: Vec<f64> = y.iter().skip(target).step_by(d).copied().collect();
            projections.push((name(&of_target.name), predictions.marginal(target).pit(&own)?));
        }
        for (number, direction) in directions(d, DIRECTIONS).chunks_exact(d).enumerate() {
            let along: Vec<f64> =
                direction.iter().zip(predictions.targets()).map(|(u, target)| u / target.scale).collect();
            let dot = |row: &[f64]| row.iter().zip(&along).map(|(y, u)| y * u).sum::<f64>();
            let own: Vec<f64> = y.chunks_exact(d).map(dot).collect();
            let predicted = negmm::Predictions::from(predictions.mixtures().linear(&along, 0.0));
            projections.push((format!("direction {}", number + 1), predicted.pit(&own)?));
        }
        let level = |kind| {
            let tails = predictions.region_tails(kind, &y, 0)?;
            Ok::<Vec<f64>, Error>(tails.into_iter().map(|tail| 1.0 - tail).collect())
        };
        let levels = [
            ("highest-density regions", level(RegionKind::HighestDensity)?),
            ("ellipsoids", level(RegionKind::Ellipsoid)?),
        ];
        let numbers = chosen.iter().map(|row| table.row_number(*row)).collect();
        Ok(Self { predictions, y, numbers, projections, levels })
    }

    /// Pairs of targets that are drawn.
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        let d = self.predictions.targets().len();
        (0..d).flat_map(|first| (first + 1..d).map(move |second| (first, second))).take(MOST_PAIRS).collect()
    }

    /// The observed values of a target.
    pub fn of_target(&self, target: usize) -> Vec<f64> {
        self.y.iter().skip(target).step_by(self.predictions.targets().len()).copied().collect()
    }

    /// Rows that are shown one by one: from a likely to an unlikely observation.
    pub fn singles(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.numbers.len()).collect();
        order.sort_by(|a, b| self.levels[0].1[*a].total_cmp(&self.levels[0].1[*b]));
        let middle = |at: usize| order[(2 * at + 1) * order.len() / (2 * SINGLE_ROWS)];
        let mut rows: Vec<usize> = (0..SINGLE_ROWS.min(order.len())).map(middle).collect();
        rows.dedup();
        rows
    }
}

/// At most `most` of the numbers below `count`, evenly spaced.
fn spaced(count: usize, most: usize) -> Vec<usize> {
    (0..count.min(most)).map(|at| at * count / count.min(most)).collect()
}
