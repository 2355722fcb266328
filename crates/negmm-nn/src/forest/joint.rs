//! A random forest of several targets: each leaf is a Gaussian over vectors, and a row's mixture has one component for each tree.
//!
//! The covariance of a leaf is that of its rows, with a prior of [`PRIOR_ROWS`] rows that have the covariance within all leaves: a
//! leaf of few rows says little of its own spread.

use super::grow::{self, LeafMoments};
use super::{BLOCK, ForestConfig};
use crate::dataset::Dataset;
use crate::ngboost::Tree;
use negmm_dist::{JointMixtures, Result};

/// Rows' worth of the covariance within all leaves in that of one leaf.
const PRIOR_ROWS: f64 = 2.0;
/// The smallest sd of a leaf, in units of the standardised target.
const LEAST_SD: f64 = 1e-3;

/// A trained forest of several targets.
#[derive(Clone, Debug, PartialEq)]
pub struct JointForest {
    /// Features of a row.
    pub features: usize,
    /// Number of targets.
    pub targets: usize,
    /// The trees; the number of a leaf is its index in `means`.
    pub trees: Vec<Tree>,
    /// The mean of each leaf, leaves × targets.
    pub means: Vec<f32>,
    /// The Cholesky factor of each leaf's covariance, leaves × packed lower triangles.
    pub factors: Vec<f32>,
}

impl JointForest {
    /// Grows a forest on the rows of `train` that have all targets.
    pub fn grow(config: &ForestConfig, data: &Dataset, train: &[u32], seed: u64) -> Self {
        grow::joint_forest(config, data, train, seed)
    }

    pub(super) fn of_leaves(features: usize, targets: usize, trees: Vec<Tree>, leaves: &[LeafMoments]) -> Self {
        // The covariance within leaves, with the degrees of freedom that their means have taken.
        let mut within = vec![0.0; targets * targets];
        let freedom: f64 = leaves.iter().map(|leaf| leaf.rows.saturating_sub(1) as f64).sum();
        for leaf in leaves {
            let rows = leaf.rows as f64 / freedom.max(1.0);
            within.iter_mut().zip(&leaf.covariance).for_each(|(sum, entry)| *sum += rows * entry);
        }
        (0..targets).for_each(|target| within[target * (targets + 1)] += LEAST_SD * LEAST_SD);
        let covariances = leaves.iter().flat_map(|leaf| {
            let rows = leaf.rows as f64;
            let entry = |(own, within): (&f64, &f64)| (rows * own + PRIOR_ROWS * within) / (rows - 1.0 + PRIOR_ROWS);
            leaf.covariance.iter().zip(&within).map(entry).collect::<Vec<_>>()
        });
        let covariances: Vec<f64> = covariances.collect();
        let means: Vec<f64> = leaves.iter().flat_map(|leaf| leaf.mean.iter().copied()).collect();
        let all = JointMixtures::from_covariances(targets, 1, vec![1.0; leaves.len()], means, &covariances);
        let narrow = |list: &[f64]| list.iter().map(|number| *number as f32).collect::<Vec<f32>>();
        let (means, factors) = all.map(|all| (narrow(all.means()), narrow(all.factors()))).unwrap_or_default();
        // The smallest numbers of 32 bits must not make an atom of a pivot.
        let mut factors = factors;
        for factor in factors.chunks_exact_mut((targets * (targets + 1) / 2).max(1)) {
            (0..targets).for_each(|row| factor[row * (row + 3) / 2] = factor[row * (row + 3) / 2].max(1e-9));
        }
        Self { features, targets, trees, means, factors }
    }

    /// The mixtures of each row: the leaf of each tree, with equal weights.
    ///
    /// # Errors
    /// When the rows do not have the features of training.
    pub fn predict(&self, data: &Dataset) -> Result<JointMixtures> {
        data.check_features(self.features)?;
        let (rows, count, packed) = (data.len(), self.trees.len(), self.targets * (self.targets + 1) / 2);
        let mut means = vec![0.0; rows * count * self.targets];
        let mut factors = vec![0.0; rows * count * packed];
        let mut leaves = vec![0_u32; BLOCK];
        let copy = |into: &mut [f64], from: &[f32]| into.iter_mut().zip(from).for_each(|(a, b)| *a = f64::from(*b));
        for first in (0..rows).step_by(BLOCK) {
            let block = BLOCK.min(rows - first);
            let x = &data.x()[first * data.stride()..];
            for (number, tree) in self.trees.iter().enumerate() {
                tree.walk_rows(x, data.stride(), &mut leaves[..block]);
                for (row, node) in leaves[..block].iter().enumerate() {
                    let leaf = tree.nodes[*node as usize].number as usize;
                    let at = (first + row) * count + number;
                    copy(&mut means[at * self.targets..][..self.targets], &self.means[leaf * self.targets..]);
                    copy(&mut factors[at * packed..][..packed], &self.factors[leaf * packed..]);
                }
            }
        }
        JointMixtures::new(self.targets, count, vec![1.0 / count as f64; rows * count], means, factors)
    }

    /// Leaves of all trees.
    pub fn leaves(&self) -> usize {
        self.means.len() / self.targets
    }
}
