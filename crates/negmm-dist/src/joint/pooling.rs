//! Pools and changes of unit of joint mixtures.

use super::cholesky::{at, packed};
use super::{JointMixtures, cholesky};

impl JointMixtures {
    /// The distributions of `shifts` + `scales` · Y, target by target, with positive scales: from standardised targets to their
    /// units.
    ///
    /// # Panics
    /// When there is not one shift and one scale for each target.
    #[must_use]
    pub fn rescale(mut self, shifts: &[f64], scales: &[f64]) -> Self {
        assert!(shifts.len() == self.targets && scales.len() == self.targets, "one shift and scale for each target");
        for mean in self.means.chunks_exact_mut(self.targets) {
            mean.iter_mut()
                .zip(shifts.iter().zip(scales))
                .for_each(|(mean, (shift, scale))| *mean = *mean * scale + shift);
        }
        self.scale_sds(scales)
    }

    /// All sds times the factor of their target, with the same correlations.
    ///
    /// # Panics
    /// When there is not one factor for each target.
    #[must_use]
    pub fn scale_sds(mut self, by: &[f64]) -> Self {
        assert_eq!(by.len(), self.targets, "one factor for each target");
        for factor in self.factors.chunks_exact_mut(packed(self.targets)) {
            for (row, scale) in by.iter().enumerate() {
                factor[at(row, 0)..=at(row, row)].iter_mut().for_each(|entry| *entry *= scale);
            }
        }
        self
    }

    /// Each component's covariance S becomes A S Aᵀ, with `matrix` A (targets × targets).
    ///
    /// # Panics
    /// When the matrix does not have targets × targets numbers.
    #[must_use]
    pub fn transform_covariances(mut self, matrix: &[f64]) -> Self {
        let size = self.targets;
        assert_eq!(matrix.len(), size * size, "targets × targets numbers");
        for factor in self.factors.chunks_exact_mut(packed(size)) {
            let covariance = cholesky::covariance(factor, size);
            let times = |a: &[f64], b: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
                let entry = |at: usize| (0..size).map(|k| a[at / size * size + k] * b(k, at % size)).sum();
                (0..size * size).map(entry).collect()
            };
            let left = times(matrix, &|row, column| covariance[row * size + column]);
            let both = times(&left, &|row, column| matrix[column * size + row]);
            factor.copy_from_slice(&cholesky::factorise(&both, size));
        }
        self
    }

    /// One Gaussian for each row, with the mean and covariance of its mixture.
    #[must_use]
    pub fn moment_matched(&self) -> Self {
        let factors = self.rows().flat_map(|row| cholesky::factorise(&row.covariance(), self.targets));
        Self {
            targets: self.targets,
            components: 1,
            weights: vec![1.0; self.len()],
            means: self.mean(),
            factors: factors.collect(),
        }
    }

    /// The pool of several predictions of the same rows, with these weights, which sum to 1. Parts of weight 0 are left out.
    ///
    /// # Panics
    /// When there is no part of positive weight, or the parts have other rows or targets.
    pub fn pool(parts: &[(f64, &Self)]) -> Self {
        let parts: Vec<_> = parts.iter().filter(|(weight, _)| *weight > 0.0).collect();
        let (_, first) = parts.first().expect("a pool has a part");
        let (rows, targets) = (first.len(), first.targets);
        assert!(parts.iter().all(|(_, part)| part.len() == rows && part.targets == targets), "the same rows");
        let components = parts.iter().map(|(_, part)| part.components).sum();
        let mut pool = Self { targets, components, weights: Vec::new(), means: Vec::new(), factors: Vec::new() };
        for row in 0..rows {
            for (weight, part) in &parts {
                let part = part.row(row);
                pool.weights.extend(part.weights.iter().map(|own| own * weight));
                pool.means.extend_from_slice(part.means);
                pool.factors.extend_from_slice(part.factors);
            }
        }
        pool
    }

    /// The rows of several parts, one after the other, padded to the same number of components.
    ///
    /// # Panics
    /// When there is no part, or the parts have different targets.
    pub fn concatenate_rows(parts: &[Self]) -> Self {
        let targets = parts.first().expect("there is a part").targets;
        assert!(parts.iter().all(|part| part.targets == targets), "the same targets");
        let components = parts.iter().map(|part| part.components).max().unwrap_or(1);
        let mut all = Self { targets, components, weights: Vec::new(), means: Vec::new(), factors: Vec::new() };
        for row in parts.iter().flat_map(Self::rows) {
            let more = components - row.weights.len();
            all.weights.extend_from_slice(row.weights);
            all.weights.resize(all.weights.len() + more, 0.0);
            all.means.extend_from_slice(row.means);
            all.factors.extend_from_slice(row.factors);
            for _ in 0..more {
                all.means.extend_from_slice(&row.means[..targets]);
                all.factors.extend_from_slice(&row.factors[..packed(targets)]);
            }
        }
        all
    }

    /// Some of the rows, in this order.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let (targets, components) = (self.targets, self.components);
        let mut some = Self { targets, components, weights: Vec::new(), means: Vec::new(), factors: Vec::new() };
        for row in rows.iter().map(|row| self.row(*row)) {
            some.weights.extend_from_slice(row.weights);
            some.means.extend_from_slice(row.means);
            some.factors.extend_from_slice(row.factors);
        }
        some
    }
}
