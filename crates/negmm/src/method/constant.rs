//! The constant baseline: the empirical distribution of the training targets, whatever the inputs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::PredictorKind;
use super::plan::{Plan, Work};
use super::settings::MethodSettings;
use negmm_dist::{Mixtures, Result};
use negmm_nn::dataset::Dataset;
use negmm_nn::empirical::empirical_distribution;
use negmm_nn::options::{Options, option_list};

/// The sd for constant targets, in units of the target's scale.
const LEAST_SD: f64 = 1e-3;

/// Predicts the empirical distribution of the training targets for every row, as a Gaussian mixture. It has no settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constant {}

impl Options for Constant {
    option_list! {}
}

impl MethodSettings for Constant {
    fn name(&self) -> &'static str {
        "constant"
    }

    fn plan(&self, data: &Arc<Dataset>, _seed: u64) -> Result<Plan> {
        Ok(Plan { method: (*self).into(), work: Work::Constant { distribution: empirical_of_all(data) } })
    }

    fn makes(&self, kind: PredictorKind) -> bool {
        kind == PredictorKind::Constant
    }

    fn is_baseline(&self) -> bool {
        true
    }
}

/// The empirical distribution of the targets of all rows.
pub(super) fn empirical_of_all(data: &Dataset) -> Mixtures {
    empirical_distribution(data, &(0..data.len() as u32).collect::<Vec<_>>())
}

/// The distribution of the targets of all rows, as by [`distribution`]; without atoms it is exactly their standardisation.
pub(super) fn distribution_of_all(data: &Dataset, widening: f64) -> Mixtures {
    if data.atoms().is_empty() {
        return Mixtures::from_parts_unchecked(1, vec![1.0], vec![0.0], vec![widening]);
    }
    distribution(data, &(0..data.len() as u32).collect::<Vec<_>>(), widening)
}

/// The distribution of the standardised targets of some rows, as one mixture: their atoms, and a normal distribution
/// with the mean and sd of the others, the sd times `widening`.
pub(super) fn distribution(data: &Dataset, rows: &[u32], widening: f64) -> Mixtures {
    let (y, weights, atoms) = (data.y(), data.sample_weights(), data.atoms());
    let sum = |of: &dyn Fn(f32) -> f64| -> f64 {
        rows.iter().map(|row| f64::from(weights[*row as usize]) * of(y[*row as usize])).sum()
    };
    let total = sum(&|_| 1.0).max(f64::MIN_POSITIVE);
    let probability = |atom: &f32| sum(&|y| f64::from(u8::from(y == *atom))) / total;
    let mut probabilities: Vec<f64> = atoms.iter().map(probability).collect();
    let rest = |y: f32| if atoms.contains(&y) { 0.0 } else { 1.0 };
    let others = sum(&rest).max(f64::MIN_POSITIVE);
    let mean = sum(&|y| rest(y) * f64::from(y)) / others;
    let sd = (sum(&|y| rest(y) * (f64::from(y) - mean) * (f64::from(y) - mean)) / others).sqrt().max(LEAST_SD);
    probabilities.push((1.0 - probabilities.iter().sum::<f64>()).max(0.0));
    let with = |list: Vec<f64>, last: f64| list.into_iter().chain([last]).collect::<Vec<f64>>();
    let means = with(atoms.iter().map(|atom| f64::from(*atom)).collect(), mean);
    Mixtures::from_parts_unchecked(
        probabilities.len(),
        probabilities,
        means,
        with(vec![0.0; atoms.len()], sd * widening),
    )
}
