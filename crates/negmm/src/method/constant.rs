//! Responsible for the baseline that every table needs: the training targets' own mean and sd.

use serde::{Deserialize, Serialize};

use crate::Mixtures;
use crate::data::Dataset;
use crate::options::{Options, Slot, Spec};

/// The sd of targets that are all the same, in sds of the target.
const LEAST_SD: f64 = 1e-3;

/// Predicts the same normal distribution for every row: mean and sd of the training targets. It has no settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constant {}

impl Options for Constant {
    fn each(&mut self, _: &mut dyn FnMut(&Spec, &mut dyn Slot)) {}
}

/// The distribution of the targets of some rows, standardised, as one mixture: normal with their mean and sd, the sd times `wider`.
pub(super) fn law(data: &Dataset, rows: &[u32], wider: f64) -> Mixtures {
    let (y, weights) = (data.y(), data.sample_weights());
    let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
        rows.iter().map(|row| f64::from(weights[*row as usize]) * of(f64::from(y[*row as usize]))).sum()
    };
    let total = sum(&|_| 1.0).max(f64::MIN_POSITIVE);
    let mean = sum(&|y| y) / total;
    let sd = (sum(&|y| (y - mean) * (y - mean)) / total).sqrt().max(LEAST_SD);
    Mixtures::from_parts_unchecked(1, vec![1.0], vec![mean], vec![sd * wider])
}
