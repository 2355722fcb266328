//! Scores of draws of vectors: predictions of several targets at once.

use crate::joint::{dawid_sebastiani, energy_scores, variogram_of_draws};
use crate::{Error, Result};

/// The scores of a row, in the order of [`VectorScores::names`].
#[derive(Clone, Debug, PartialEq)]
pub struct VectorScores {
    /// Order of the variogram score.
    pub order: f64,
    /// What each target is divided by before it is scored; empty: nothing.
    pub scales: Vec<f64>,
}

impl Default for VectorScores {
    fn default() -> Self {
        Self { order: 0.5, scales: Vec::new() }
    }
}

impl VectorScores {
    /// Checks the options for vectors of this many targets.
    ///
    /// # Errors
    /// When the order or a scale is not a positive number, or there is not one scale for each target.
    pub fn check(&self, targets: usize) -> Result<()> {
        let positive = |number: f64| number > 0.0 && number.is_finite();
        if !positive(self.order) {
            return Err(Error::options(format!(
                "expected an order above 0 of the variogram score, found {}",
                self.order
            )));
        }
        if let Some(scale) = self.scales.iter().find(|scale| !positive(**scale)) {
            return Err(Error::options(format!("expected scales of targets above 0, found {scale}")));
        }
        match self.scales.len() {
            0 => Ok(()),
            found if found == targets => Ok(()),
            found => Err(Error::options(format!("expected {targets} scales, one for each target, found {found}"))),
        }
    }

    /// The names of the scores.
    pub fn names() -> [&'static str; 4] {
        ["energy_score", "fair_energy_score", "variogram_score", "dawid_sebastiani"]
    }

    /// The scores of `draws` (draws × targets) for the observed vector `y`.
    ///
    /// # Panics
    /// When `draws` is empty or not a whole number of vectors.
    pub fn score(&self, draws: &[f64], y: &[f64]) -> [f64; 4] {
        if self.scales.is_empty() {
            return score(draws, y, self.order);
        }
        let divided = |list: &[f64]| -> Vec<f64> {
            list.iter().zip(self.scales.iter().cycle()).map(|(number, scale)| number / scale).collect()
        };
        score(&divided(draws), &divided(y), self.order)
    }
}

fn score(draws: &[f64], y: &[f64], order: f64) -> [f64; 4] {
    let [own, fair] = energy_scores(draws, y);
    [own, fair, variogram_of_draws(draws, y, order), dawid_sebastiani_of_draws(draws, y)]
}

/// Dawid and Sebastiani's score by mean and covariance of the draws (divisor m - 1); infinite where there are no more draws than
/// targets, or a target is the same in all draws.
pub fn dawid_sebastiani_of_draws(draws: &[f64], y: &[f64]) -> f64 {
    let (size, count) = (y.len(), draws.len() / y.len());
    let vectors = || draws.chunks_exact(size);
    let mean: Vec<f64> = (0..size).map(|at| vectors().map(|draw| draw[at]).sum::<f64>() / count as f64).collect();
    let mut covariance = vec![0.0; size * size];
    for draw in vectors() {
        for row in 0..size {
            for column in 0..size {
                let product = (draw[row] - mean[row]) * (draw[column] - mean[column]);
                covariance[row * size + column] += product / (count as f64 - 1.0).max(1.0);
            }
        }
    }
    if count <= size || (0..size).any(|at| covariance[at * size + at] <= 0.0) {
        return f64::INFINITY;
    }
    dawid_sebastiani(&mean, &covariance, y)
}
