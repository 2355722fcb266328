//! Joint distributions of several targets: Gaussian mixtures over vectors, with marginals, conditionals, linear combinations,
//! densities and scores in closed form.
//!
//! A mixture over d targets has the density p(y) = sum_k weight_k N(y; mean_k, L_k L_kᵀ), y in R^d, with L_k a lower triangular
//! Cholesky factor. Marginals and linear combinations u·Y are mixtures of one variable with means u·mean_k and sds |L_kᵀ u|;
//! conditionals are mixtures over the other targets. A target whose row of L_k is zero is an atom of that component.

mod boxes;
pub(crate) mod cholesky;
mod conditional;
mod density;
mod directions;
mod pooling;
mod scores;

use crate::math::normal;
use crate::math::rng::Rng;
use crate::mixture::Mixtures;
use crate::{Error, Result};
use cholesky::{at, packed};

pub use boxes::BoxProbability;
pub use density::JointDensities;
pub use directions::{directions, draw_directions, energy_constant};
pub use scores::{dawid_sebastiani, energy_of_draws, energy_scores, log_det, squared_mahalanobis, variogram_of_draws};

/// Gaussian mixtures over vectors, one for each row, all with the same numbers of targets and components.
#[derive(Clone, Debug, PartialEq)]
pub struct JointMixtures {
    targets: usize,
    components: usize,
    /// rows × components
    weights: Vec<f64>,
    /// rows × components × targets
    means: Vec<f64>,
    /// rows × components × packed lower triangles, row after row
    factors: Vec<f64>,
}

/// One mixture over vectors: a row of [`JointMixtures`].
#[derive(Clone, Copy, Debug)]
pub struct JointMixture<'a> {
    /// Number of targets d.
    pub targets: usize,
    /// Weight of each component.
    pub weights: &'a [f64],
    /// Mean of each component: components × targets.
    pub means: &'a [f64],
    /// Cholesky factor of each component's covariance: components × packed lower triangle, d (d + 1) / 2 numbers.
    pub factors: &'a [f64],
}

impl JointMixtures {
    /// Checks the numbers and divides the weights of each row by their sum.
    ///
    /// `weights`: rows × components; `means`: rows × components × targets; `factors`: rows × components × lower triangles,
    /// packed row after row, with diagonals that are not negative.
    ///
    /// # Errors
    /// When a shape or a number is not as described.
    pub fn new(
        targets: usize,
        components: usize,
        mut weights: Vec<f64>,
        means: Vec<f64>,
        factors: Vec<f64>,
    ) -> Result<Self> {
        let total = weights.len();
        let fits = targets > 0
            && components > 0
            && total.is_multiple_of(components)
            && means.len() == total * targets
            && factors.len() == total * packed(targets);
        if !fits {
            return Err(Error::data(format!(
                "expected weights, means and factors of {components} components and {targets} targets; found {total}, {} and {}",
                means.len(),
                factors.len()
            )));
        }
        if !means.iter().chain(&factors).all(|number| number.is_finite()) {
            return Err(Error::data("expected means and factors that are finite"));
        }
        let diagonal = |factor: &[f64]| (0..targets).all(|row| factor[at(row, row)] >= 0.0);
        if !factors.chunks_exact(packed(targets)).all(diagonal) {
            return Err(Error::data("expected factors whose diagonals are not negative"));
        }
        for (row, weights) in weights.chunks_exact_mut(components).enumerate() {
            let sum: f64 = weights.iter().sum();
            if !(sum > 0.0 && sum.is_finite() && weights.iter().all(|weight| *weight >= 0.0)) {
                return Err(Error::data("expected weights that are not negative, with a positive finite sum")
                    .at(format!("mixture {row}")));
            }
            if (sum - 1.0).abs() > components as f64 * f64::EPSILON {
                weights.iter_mut().for_each(|weight| *weight /= sum);
            }
        }
        Ok(Self { targets, components, weights, means, factors })
    }

    /// Mixtures from covariance matrices instead of factors: `covariances` is rows × components × targets × targets.
    ///
    /// # Errors
    /// As [`JointMixtures::new`].
    pub fn from_covariances(
        targets: usize,
        components: usize,
        weights: Vec<f64>,
        means: Vec<f64>,
        covariances: &[f64],
    ) -> Result<Self> {
        let factors = covariances.chunks_exact((targets * targets).max(1));
        let factors = factors.flat_map(|covariance| cholesky::factorise(covariance, targets)).collect();
        Self::new(targets, components, weights, means, factors)
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.weights.len() / self.components
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Number of targets.
    pub fn targets(&self) -> usize {
        self.targets
    }

    /// Components of each row.
    pub fn components(&self) -> usize {
        self.components
    }

    /// Weights, rows × components.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Means, rows × components × targets.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// Cholesky factors, rows × components × packed lower triangles.
    pub fn factors(&self) -> &[f64] {
        &self.factors
    }

    /// The mixture of one row.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> JointMixture<'_> {
        let (components, targets) = (self.components, self.targets);
        let (mean, factor) = (components * targets, components * packed(targets));
        JointMixture {
            targets,
            weights: &self.weights[row * components..][..components],
            means: &self.means[row * mean..][..mean],
            factors: &self.factors[row * factor..][..factor],
        }
    }

    /// The mixtures, one after the other.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = JointMixture<'_>> {
        (0..self.len()).map(|row| self.row(row))
    }

    /// The exact distribution of `offset` + sum_j coefficients_j Y_j in each row.
    ///
    /// # Panics
    /// When there is not one coefficient for each target.
    pub fn linear(&self, coefficients: &[f64], offset: f64) -> Mixtures {
        assert_eq!(coefficients.len(), self.targets, "one coefficient for each target");
        let dot = |mean: &[f64]| offset + mean.iter().zip(coefficients).map(|(mean, c)| mean * c).sum::<f64>();
        let means = self.means.chunks_exact(self.targets).map(dot).collect();
        let sd = |factor: &[f64]| cholesky::projected_sd(factor, coefficients);
        let sds = self.factors.chunks_exact(packed(self.targets)).map(sd).collect();
        Mixtures::from_parts_unchecked(self.components, self.weights.clone(), means, sds)
    }

    /// The exact distribution of one target in each row.
    ///
    /// # Panics
    /// When there is no such target.
    pub fn marginal(&self, target: usize) -> Mixtures {
        assert!(target < self.targets, "there is no such target");
        let means = self.means.iter().skip(target).step_by(self.targets).copied().collect();
        let row = |factor: &[f64]| norm(&factor[at(target, 0)..=at(target, target)]);
        let sds = self.factors.chunks_exact(packed(self.targets)).map(row).collect();
        Mixtures::from_parts_unchecked(self.components, self.weights.clone(), means, sds)
    }

    /// The joint distribution of some of the targets, in this order.
    ///
    /// # Panics
    /// When there is no such target, or none is named.
    pub fn of_targets(&self, order: &[usize]) -> Self {
        assert!(!order.is_empty() && order.iter().all(|target| *target < self.targets), "there is no such target");
        let means = self.means.chunks_exact(self.targets);
        let means = means.flat_map(|mean| order.iter().map(|target| mean[*target])).collect();
        let factors = self.factors.chunks_exact(packed(self.targets)).flat_map(|factor| {
            let whole = cholesky::covariance(factor, self.targets);
            cholesky::factorise(&block(&whole, self.targets, order, order), order.len())
        });
        Self {
            targets: order.len(),
            components: self.components,
            weights: self.weights.clone(),
            means,
            factors: factors.collect(),
        }
    }

    /// The mean vector of each row: rows × targets.
    pub fn mean(&self) -> Vec<f64> {
        self.rows().flat_map(|row| row.mean()).collect()
    }

    /// The covariance matrix of each row: rows × targets × targets.
    pub fn covariance(&self) -> Vec<f64> {
        self.rows().flat_map(|row| row.covariance()).collect()
    }
}

impl JointMixture<'_> {
    /// (weight, mean, factor) of the components of positive weight.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (f64, &[f64], &[f64])> {
        let means = self.means.chunks_exact(self.targets);
        let factors = self.factors.chunks_exact(packed(self.targets));
        let parts = self.weights.iter().zip(means).zip(factors);
        parts.map(|((weight, mean), factor)| (*weight, mean, factor)).filter(|(weight, ..)| *weight > 0.0)
    }

    /// The mean vector.
    pub fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.targets];
        for (weight, of_component, _) in self.parts() {
            mean.iter_mut().zip(of_component).for_each(|(sum, mean)| *sum += weight * mean);
        }
        mean
    }

    /// The covariance matrix, targets × targets: within the components plus between them.
    pub fn covariance(&self) -> Vec<f64> {
        let (size, centre) = (self.targets, self.mean());
        let mut sum = vec![0.0; size * size];
        for (weight, mean, factor) in self.parts() {
            let within = cholesky::covariance(factor, size);
            for row in 0..size {
                for column in 0..size {
                    let between = (mean[row] - centre[row]) * (mean[column] - centre[column]);
                    sum[row * size + column] += weight * (within[row * size + column] + between);
                }
            }
        }
        sum
    }

    /// The correlation matrix, targets × targets; 0 where a target is constant.
    pub fn correlation(&self) -> Vec<f64> {
        let (size, covariance) = (self.targets, self.covariance());
        let entry = |at: usize| {
            let (row, column) = (at / size, at % size);
            let spread = (covariance[row * size + row] * covariance[column * size + column]).sqrt();
            match () {
                () if row == column => 1.0,
                () if spread > 0.0 => (covariance[at] / spread).clamp(-1.0, 1.0),
                () => 0.0,
            }
        };
        (0..size * size).map(entry).collect()
    }

    /// One random vector, into `draw`: a component by its weight, then mean + L z.
    ///
    /// # Panics
    /// When `draw` does not have one element for each target.
    pub fn sample(&self, rng: &mut Rng, draw: &mut [f64]) {
        assert_eq!(draw.len(), self.targets, "one element for each target");
        let pick = rng.uniform();
        let mut cumulative = 0.0;
        let mut chosen = (&self.means[..self.targets], &self.factors[..packed(self.targets)]);
        for (weight, mean, factor) in self.parts() {
            chosen = (mean, factor);
            cumulative += weight;
            if pick < cumulative {
                break;
            }
        }
        let z: Vec<f64> = (0..self.targets).map(|_| normal::quantile(rng.uniform())).collect();
        for (row, (draw, mean)) in draw.iter_mut().zip(chosen.0).enumerate() {
            *draw = mean + (0..=row).map(|k| chosen.1[at(row, k)] * z[k]).sum::<f64>();
        }
    }

    /// `count` random vectors: count × targets.
    pub fn samples(&self, count: usize, rng: &mut Rng) -> Vec<f64> {
        let mut draws = vec![0.0; count * self.targets];
        draws.chunks_exact_mut(self.targets).for_each(|draw| self.sample(rng, draw));
        draws
    }
}

/// Rows `rows` and columns `columns` of a size × size matrix.
fn block(matrix: &[f64], size: usize, rows: &[usize], columns: &[usize]) -> Vec<f64> {
    rows.iter().flat_map(|row| columns.iter().map(move |column| matrix[row * size + column])).collect()
}

fn norm(list: &[f64]) -> f64 {
    list.iter().map(|number| number * number).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests;
