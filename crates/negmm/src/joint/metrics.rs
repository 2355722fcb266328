//! Scores of joint predictions against observed vectors.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::predictions::JointPredictions;
use negmm_dist::joint::{dawid_sebastiani, directions, energy_of_draws, variogram_of_draws};
use negmm_dist::weights::weight_of;
use negmm_dist::{Error, Result, Rng, streams};

/// Draws of each row for scores of draws.
pub const SCORE_DRAWS: usize = 300;
/// Directions of the closed-form energy score, at least.
const DIRECTIONS: usize = 16;
/// Order of the variogram score.
const VARIOGRAM_ORDER: f64 = 0.5;
/// Coverages of highest-density regions.
pub const REGION_COVERAGES: [f64; 3] = [0.5, 0.9, 0.95];

/// Mean scores of joint predictions. Energy and variogram score are of standardised targets: each divided by its sd in training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JointMetrics {
    /// Rows in which all targets are known.
    pub rows: usize,
    /// Energy score, from 300 draws of each row (the fair estimator).
    pub energy: f64,
    /// Energy score by directions, in closed form.
    pub energy_by_directions: f64,
    /// Joint logarithmic score, in the units of the targets.
    pub nll: f64,
    /// Variogram score of order 0.5.
    pub variogram: f64,
    /// Dawid and Sebastiani's score.
    pub dawid_sebastiani: f64,
    /// CRPS of the sum of the standardised targets.
    pub crps_of_sum: f64,
    /// Fraction of rows whose sum of standardised targets lies in its central 90 % interval.
    pub coverage_of_sum: f64,
    /// Fraction of rows in the highest-density regions of [`REGION_COVERAGES`].
    pub coverage: [f64; REGION_COVERAGES.len()],
    /// CRPS of each target, in its unit.
    pub crps: Vec<f64>,
    /// Fraction of rows in the central 90 % interval of each target.
    pub coverage_of_targets: Vec<f64>,
}

/// The scores of one row.
struct RowScores {
    energy: f64,
    energy_by_directions: f64,
    nll: f64,
    variogram: f64,
    dawid_sebastiani: f64,
    crps_of_sum: f64,
    sum_inside: f64,
    level: f64,
}

impl JointMetrics {
    /// The scores of predictions for `y`, rows × targets; rows in which a target is unknown are left out.
    ///
    /// # Errors
    /// When no row has all targets, or their number is another.
    pub fn new(predictions: &JointPredictions, y: &[f64], weights: Option<&[f64]>) -> Result<Self> {
        let targets = predictions.targets();
        let d = targets.len();
        if y.len() != predictions.len() * d {
            return Err(Error::data(format!(
                "expected {d} targets for each of {} rows, found {}",
                predictions.len(),
                y.len()
            )));
        }
        let complete = |row: &usize| y[row * d..][..d].iter().all(|y| y.is_finite());
        let rows: Vec<usize> = (0..predictions.len()).filter(complete).collect();
        let total: f64 = rows.iter().map(|row| weight_of(weights, *row)).sum();
        if total <= 0.0 {
            return Err(Error::data("no row has all targets and a weight above 0: there is nothing to score"));
        }
        let y: Vec<f64> = rows.iter().flat_map(|row| &y[row * d..][..d]).copied().collect();
        let weights: Vec<f64> = rows.iter().map(|row| weight_of(weights, *row) / total).collect();
        let predictions = predictions.select(&rows);
        let scores = row_scores(&predictions, &y);
        let mean =
            |of: &dyn Fn(&RowScores) -> f64| scores.iter().zip(&weights).map(|(row, w)| w * of(row)).sum::<f64>();
        let weighted = |list: &[f64]| list.iter().zip(&weights).map(|(x, w)| w * x).sum::<f64>();
        let (mut crps, mut coverage_of_targets) = (Vec::new(), Vec::new());
        for target in 0..d {
            let own: Vec<f64> = y.iter().skip(target).step_by(d).copied().collect();
            let marginal = predictions.marginal(target);
            crps.push(weighted(&marginal.crps(&own)?));
            let interval = marginal.interval(0.9)?;
            let inside = own.iter().zip(interval.lower.iter().zip(&interval.upper));
            let inside: Vec<f64> = inside.map(|(y, (low, high))| f64::from(u8::from(low <= y && y <= high))).collect();
            coverage_of_targets.push(weighted(&inside));
        }
        Ok(Self {
            rows: rows.len(),
            energy: mean(&|row| row.energy),
            energy_by_directions: mean(&|row| row.energy_by_directions),
            nll: mean(&|row| row.nll),
            variogram: mean(&|row| row.variogram),
            dawid_sebastiani: mean(&|row| row.dawid_sebastiani),
            crps_of_sum: mean(&|row| row.crps_of_sum),
            coverage_of_sum: mean(&|row| row.sum_inside),
            coverage: REGION_COVERAGES.map(|coverage| mean(&|row| f64::from(u8::from(row.level <= coverage)))),
            crps,
            coverage_of_targets,
        })
    }

    /// Whether all scores are numbers.
    pub fn is_finite(&self) -> bool {
        let all =
            [self.energy, self.energy_by_directions, self.nll, self.variogram, self.dawid_sebastiani, self.crps_of_sum];
        all.iter().chain(&self.crps).all(|score| score.is_finite())
    }
}

/// The scores of each row; those of draws do not depend on the number of threads.
fn row_scores(predictions: &JointPredictions, y: &[f64]) -> Vec<RowScores> {
    let d = predictions.targets().len();
    let (shifts, scales): (Vec<f64>, Vec<f64>) =
        predictions.targets().iter().map(|target| (-target.mean / target.scale, 1.0 / target.scale)).unzip();
    let along = directions(d, DIRECTIONS);
    (0..predictions.len())
        .into_par_iter()
        .map(|row| {
            let own = predictions.mixtures().select(&[row]);
            let y = &y[row * d..][..d];
            let rng = &mut Rng::new(0, streams::JOINT_DRAWS + row as u64);
            let level = own.row(0).highest_density_level(y, SCORE_DRAWS, rng);
            let nll = -own.row(0).log_pdf(y);
            let dawid_sebastiani = dawid_sebastiani(&own.row(0).mean(), &own.row(0).covariance(), y);
            let z: Vec<f64> = (0..d).map(|target| y[target] * scales[target] + shifts[target]).collect();
            let standardised = own.rescale(&shifts, &scales);
            let draws = standardised.row(0).samples(SCORE_DRAWS, rng);
            let sum = standardised.linear(&vec![1.0; d], 0.0);
            let of_sum: f64 = z.iter().sum();
            let level_of_sum = negmm_dist::Distribution::cdf(&sum.row(0), of_sum);
            RowScores {
                energy: energy_of_draws(&draws, &z),
                energy_by_directions: standardised.row(0).energy_score(&z, &along),
                nll,
                variogram: variogram_of_draws(&draws, &z, VARIOGRAM_ORDER),
                dawid_sebastiani,
                crps_of_sum: negmm_dist::Distribution::crps(&sum.row(0), of_sum),
                sum_inside: f64::from(u8::from((0.05..=0.95).contains(&level_of_sum))),
                level,
            }
        })
        .collect()
}
