//! A random forest whose leaves hold the distribution of their targets (Meinshausen, 2006), as a Gaussian mixture.
//!
//! Targets are put into bins once. A bin is a component: the mean and sd of its targets, or an atom where all are one
//! value. A leaf has the weight of each bin among its rows, and a row's mixture is the mean over the trees.

mod bins;
mod grow;
mod joint;
mod tensors;

pub use bins::TargetBins;
pub use joint::JointForest;
pub use tensors::{read_forest, read_joint_forest, write_forest, write_joint_forest};

use crate::dataset::Dataset;
use crate::ngboost::Tree;
use negmm_dist::Result;
use rayon::prelude::*;

/// A trained forest.
#[derive(Clone, Debug, PartialEq)]
pub struct Forest {
    /// Features of a row.
    pub features: usize,
    /// Mean and sd of each component.
    pub components: Vec<[f64; 2]>,
    /// The trees; the number of a leaf is its index in `starts`.
    pub trees: Vec<Tree>,
    /// Where the bins of each leaf begin, and the end of the last.
    pub starts: Vec<u32>,
    /// The bins of all leaves.
    pub bins: Vec<u16>,
    /// The weight of each of them in its leaf; they sum to 1.
    pub weights: Vec<f32>,
}

/// How a forest is grown.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ForestConfig {
    /// Number of trees.
    pub n_estimators: usize,
    /// Smallest number of rows in a leaf.
    pub min_samples_leaf: usize,
    /// Fraction of the features that are tried at each split.
    pub max_features: f64,
    /// Most rows that a tree is grown from; of more, each tree has a sample of its own.
    pub max_samples: usize,
}

impl Forest {
    /// Grows a forest on the rows `train`.
    pub fn grow(config: &ForestConfig, data: &Dataset, train: &[u32], bins: &TargetBins, seed: u64) -> Self {
        grow::forest(config, data, train, bins, seed)
    }

    /// Weights of the components of each row, rows × components.
    ///
    /// # Errors
    /// When the rows do not have the features of training.
    pub fn predict(&self, data: &Dataset) -> Result<Vec<f64>> {
        data.check_features(self.features)?;
        let (rows, width, stride) = (data.len(), self.components.len(), data.stride());
        let mut weights = vec![0.0; rows * width];
        weights.par_chunks_mut(BLOCK * width).enumerate().for_each(|(block, weights)| {
            let mut leaves = vec![0_u32; weights.len() / width];
            let x = &data.x()[block * BLOCK * stride..];
            for tree in &self.trees {
                tree.walk_rows(x, stride, &mut leaves);
                for (node, own) in leaves.iter().zip(weights.chunks_exact_mut(width)) {
                    let leaf = tree.nodes[*node as usize].number as usize;
                    let range = self.starts[leaf] as usize..self.starts[leaf + 1] as usize;
                    for (bin, weight) in self.bins[range.clone()].iter().zip(&self.weights[range]) {
                        own[usize::from(*bin)] += f64::from(*weight);
                    }
                }
            }
            weights.chunks_mut(ABREAST * width).for_each(|rows| divide_by_totals(rows, width));
        });
        Ok(weights)
    }

    /// Leaves of all trees.
    pub fn leaves(&self) -> usize {
        self.starts.len() - 1
    }
}

/// Rows that a tree visits together: enough that its nodes are read once for many rows, few enough that their weights stay in a cache.
const BLOCK: usize = 4096;
/// Rows whose weights are added up together: each sum has its own order, and waits for nothing of the others.
const ABREAST: usize = 8;

/// Divides the weights of each of up to [`ABREAST`] rows by their sum.
fn divide_by_totals(weights: &mut [f64], width: usize) {
    let rows = weights.len() / width;
    let mut totals = [-0.0; ABREAST];
    for at in 0..width {
        for (row, total) in totals[..rows].iter_mut().enumerate() {
            *total += weights[row * width + at];
        }
    }
    for (own, total) in weights.chunks_exact_mut(width).zip(totals) {
        own.iter_mut().for_each(|weight| *weight /= total);
    }
}
