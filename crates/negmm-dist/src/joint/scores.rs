//! Scores of joint distributions: energy score by directions and by draws, variogram score, Dawid and Sebastiani's score.

use super::{JointMixture, JointMixtures, cholesky, energy_constant, norm};
use crate::Distribution;
use crate::mixture::Mixture;

impl JointMixture<'_> {
    /// Energy score E‖Y - y‖ - E‖Y - Y'‖ / 2 of the observation `y` by `directions` (directions × targets): c_d times the mean of the
    /// closed-form scores of the projections. Exact for one target; otherwise its only error is that of the mean over directions.
    ///
    /// # Panics
    /// When `y` or a direction does not have one number for each target.
    pub fn energy_score(&self, y: &[f64], directions: &[f64]) -> f64 {
        assert_eq!(y.len(), self.targets, "one number for each target");
        let (count, dot) =
            (self.weights.len(), |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>());
        let (mut means, mut sds) = (vec![0.0; count], vec![0.0; count]);
        let mut sum = 0.0;
        for direction in directions.chunks_exact(self.targets) {
            let factors = self.factors.chunks_exact(cholesky::packed(self.targets));
            for (k, (mean, factor)) in self.means.chunks_exact(self.targets).zip(factors).enumerate() {
                means[k] = dot(mean, direction);
                sds[k] = cholesky::projected_sd(factor, direction);
            }
            sum += Mixture { weights: self.weights, means: &means, sds: &sds }.crps(dot(y, direction));
        }
        energy_constant(self.targets) * sum / (directions.len() / self.targets) as f64
    }
}

impl JointMixtures {
    /// The energy score of each row by `directions`; `y` is rows × targets.
    ///
    /// # Panics
    /// When there is not one vector for each row.
    pub fn energy_scores(&self, y: &[f64], directions: &[f64]) -> Vec<f64> {
        assert_eq!(y.len(), self.len() * self.targets, "one vector for each row");
        self.rows().zip(y.chunks_exact(self.targets)).map(|(row, y)| row.energy_score(y, directions)).collect()
    }
}

/// The energy score of draws (draws × targets) as a distribution, sum_i ‖x_i - y‖ / m - sum_ij ‖x_i - x_j‖ / (2 m²), and the fair
/// one with m (m - 1) instead of m², whose mean is that of the distribution that the draws are from (Ferro, 2014). For one target
/// they are the CRPS.
///
/// ```
/// use negmm_dist::joint::energy_scores;
/// let [own, fair] = energy_scores(&[0.0, 0.0, 3.0, 4.0], &[0.0, 0.0]);
/// assert_eq!([own, fair], [1.25, 0.0]);
/// ```
///
/// # Panics
/// When `draws` is empty or not a whole number of vectors.
pub fn energy_scores(draws: &[f64], y: &[f64]) -> [f64; 2] {
    let size = y.len();
    assert!(!draws.is_empty() && draws.len().is_multiple_of(size), "one number for each draw and target");
    let count = (draws.len() / size) as f64;
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    let near: f64 = draws.chunks_exact(size).map(|draw| distance(draw, y)).sum::<f64>() / count;
    let mut apart = 0.0;
    for (number, draw) in draws.chunks_exact(size).enumerate() {
        apart += draws[(number + 1) * size..].chunks_exact(size).map(|other| distance(draw, other)).sum::<f64>();
    }
    [near - apart / (count * count), near - apart / (count * (count - 1.0).max(1.0))]
}

/// The fair energy score of draws (draws × targets) for the observation `y`: the second of [`energy_scores`].
pub fn energy_of_draws(draws: &[f64], y: &[f64]) -> f64 {
    energy_scores(draws, y)[1]
}

/// The variogram score of order `p` (Scheuerer and Hamill, 2015) with equal weights, from draws (draws × targets):
/// sum over pairs i, j (both orders) of (|y_i - y_j|^p - mean |x_i - x_j|^p)².
pub fn variogram_of_draws(draws: &[f64], y: &[f64], p: f64) -> f64 {
    let size = y.len();
    let count = (draws.len() / size) as f64;
    let mut score = 0.0;
    for i in 0..size {
        for j in 0..i {
            let predicted = draws.chunks_exact(size).map(|x| libm::pow((x[i] - x[j]).abs(), p)).sum::<f64>() / count;
            let apart = libm::pow((y[i] - y[j]).abs(), p) - predicted;
            score += 2.0 * apart * apart;
        }
    }
    score
}

/// Dawid and Sebastiani's score of a mean vector and a covariance matrix: ln det S + (y - mean)ᵀ S⁻¹ (y - mean).
pub fn dawid_sebastiani(mean: &[f64], covariance: &[f64], y: &[f64]) -> f64 {
    log_det(covariance, y.len()) + squared_mahalanobis(mean, covariance, y)
}

/// ln det S of a covariance matrix, targets × targets.
pub fn log_det(covariance: &[f64], targets: usize) -> f64 {
    let factor = cholesky::factorise(covariance, targets);
    (0..targets).map(|row| 2.0 * libm::log(factor[cholesky::at(row, row)])).sum()
}

/// (y - mean)ᵀ S⁻¹ (y - mean), the squared Mahalanobis distance.
pub fn squared_mahalanobis(mean: &[f64], covariance: &[f64], y: &[f64]) -> f64 {
    let factor = cholesky::factorise(covariance, y.len());
    let mut z: Vec<f64> = y.iter().zip(mean).map(|(y, mean)| y - mean).collect();
    cholesky::solve_lower(&factor, &mut z);
    norm(&z) * norm(&z)
}
