//! A linear model of several targets: ridge regression of each, and one Gaussian of their errors.

use serde::{Deserialize, Serialize};

use negmm_dist::{JointMixtures, Result};
use negmm_nn::dataset::Dataset;
use negmm_nn::linear::Linear;

/// Folds whose errors are those of new rows.
const FOLDS: usize = 5;

/// Ridge regression of standardised targets with jointly normal errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointLinear {
    /// The intercept of each target.
    pub intercepts: Vec<f64>,
    /// targets × features.
    pub coefficients: Vec<f64>,
    /// The covariance of the errors of held-out rows, targets × targets.
    pub covariance: Vec<f64>,
}

impl JointLinear {
    /// Fits all rows; the errors are those of rows that were held out in turn.
    pub(super) fn fit(data: &Dataset) -> Self {
        Self::fit_with_held_out(data).0
    }

    /// The same with the means of each row by the model that did not learn from it, rows × targets.
    pub(super) fn fit_with_held_out(data: &Dataset) -> (Self, Vec<f64>) {
        let targets = data.joint_targets().map_or(0, |targets| targets.targets());
        let rows: Vec<u32> = (0..data.len() as u32).collect();
        let (mut errors, mut held_out_means) = (vec![f64::NAN; data.len() * targets], vec![0.0; data.len() * targets]);
        for fold in 0..FOLDS.min(data.len()) {
            let (held_out, train): (Vec<u32>, Vec<u32>) = rows.iter().partition(|row| **row as usize % FOLDS == fold);
            let (intercepts, coefficients) = ridge(data, &train, targets);
            for row in held_out {
                let predicted = means(&intercepts, &coefficients, data, row as usize);
                for (target, mean) in predicted.into_iter().enumerate() {
                    errors[row as usize * targets + target] = observed(data, row, target) - mean;
                    held_out_means[row as usize * targets + target] = mean;
                }
            }
        }
        let (intercepts, coefficients) = ridge(data, &rows, targets);
        (Self { intercepts, coefficients, covariance: covariance(&errors, targets) }, held_out_means)
    }

    /// The mixtures of each row: one Gaussian.
    pub(super) fn predict(&self, data: &Dataset) -> Result<JointMixtures> {
        let d = self.intercepts.len();
        let all = (0..data.len()).flat_map(|row| means(&self.intercepts, &self.coefficients, data, row)).collect();
        around(d, all, &self.covariance)
    }

    /// Whether it fits a number of targets and features.
    pub(super) fn is_sound(&self, targets: usize, features: usize) -> bool {
        let lists = [&self.intercepts, &self.coefficients, &self.covariance];
        self.intercepts.len() == targets
            && self.coefficients.len() == targets * features
            && self.covariance.len() == targets * targets
            && lists.iter().all(|list| list.iter().all(|number| number.is_finite()))
    }
}

/// Gaussians with these means, rows × targets, and one covariance.
pub(super) fn around(targets: usize, means: Vec<f64>, covariance: &[f64]) -> Result<JointMixtures> {
    let rows = means.len() / targets;
    JointMixtures::from_covariances(targets, 1, vec![1.0; rows], means, &covariance.repeat(rows))
}

fn observed(data: &Dataset, row: u32, target: usize) -> f64 {
    data.joint_targets().map_or(f64::NAN, |all| f64::from(all.values()[row as usize * all.targets() + target]))
}

/// Intercepts and coefficients, each target from the rows that have it.
fn ridge(data: &Dataset, train: &[u32], targets: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut intercepts, mut coefficients) = (Vec::new(), Vec::new());
    for target in 0..targets {
        let known: Vec<u32> = train.iter().copied().filter(|row| !observed(data, *row, target).is_nan()).collect();
        let one = Linear::fit(&data.of_joint_target(target), &known, 1);
        intercepts.push(one.intercept);
        coefficients.extend(one.coefficients);
    }
    (intercepts, coefficients)
}

fn means(intercepts: &[f64], coefficients: &[f64], data: &Dataset, row: usize) -> Vec<f64> {
    let x = &data.x()[row * data.stride()..][..data.features()];
    let dot = |of: &[f64]| of.iter().zip(x).map(|(coefficient, x)| coefficient * f64::from(*x)).sum::<f64>();
    let of_target =
        |target: usize| intercepts[target] + dot(&coefficients[target * data.features()..][..data.features()]);
    (0..intercepts.len()).map(of_target).collect()
}

/// The second moments of errors, from the rows that have both of a pair.
fn covariance(errors: &[f64], targets: usize) -> Vec<f64> {
    let entry = |at: usize| {
        let products = errors.chunks_exact(targets).map(|row| row[at / targets] * row[at % targets]);
        let (mut sum, mut count) = (0.0, 0.0f64);
        for product in products.filter(|product| !product.is_nan()) {
            sum += product;
            count += 1.0;
        }
        sum / count.max(1.0)
    };
    (0..targets * targets).map(entry).collect()
}
