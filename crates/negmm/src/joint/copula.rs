//! A Gaussian copula over models of single targets.
//!
//! With F_j the predicted distribution of target j, the normal scores z_j = Φ⁻¹(F_j(Y_j)) have a joint normal distribution with
//! the correlation matrix of the held-out rows' scores. It is expanded into a mixture of [`NODES`] components: see
//! [`super::nodes`].

use rayon::prelude::*;

use super::nodes::{KernelNode, NODES, at_level, points, ranks};
use crate::model::Model;
use negmm_data::Table;
use negmm_dist::math::normal;
use negmm_dist::{Error, JointMixtures, Mixtures, Predictions, Result};

/// Normal scores are kept within this many sds.
const MOST_SCORE: f64 = 3.5;

/// Models of single targets and the correlation of their normal scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Copula {
    /// One model for each target.
    pub models: Vec<Model>,
    /// The correlation matrix, targets × targets.
    pub correlation: Vec<f64>,
}

impl Copula {
    /// The mixtures of each row, in the units of the targets.
    pub(super) fn predict(&self, table: &Table) -> Result<JointMixtures> {
        let marginals = self.models.iter().map(|model| model.predict(table)).collect::<Result<Vec<_>>>()?;
        expand(&marginals.iter().collect::<Vec<_>>(), &self.correlation)
    }
}

/// The normal scores of `y`; NaN where it is unknown.
pub(super) fn normal_scores(predictions: &Predictions, y: &[f64]) -> Result<Vec<f64>> {
    let known: Vec<f64> = y.iter().map(|y| if y.is_nan() { 0.0 } else { *y }).collect();
    let score = |(pit, y): (f64, &f64)| match y.is_nan() {
        true => f64::NAN,
        false => normal::quantile(pit.clamp(1e-9, 1.0 - 1e-9)).clamp(-MOST_SCORE, MOST_SCORE),
    };
    Ok(predictions.pit(&known)?.into_iter().zip(y).map(score).collect())
}

/// The correlation matrix of columns of normal scores, from the rows that have both of a pair, shrunk as few rows ask for.
pub(super) fn correlation(scores: &[Vec<f64>]) -> Vec<f64> {
    let d = scores.len();
    let mut matrix = vec![0.0; d * d];
    for first in 0..d {
        matrix[first * (d + 1)] = 1.0;
        for second in 0..first {
            let (mut sums, mut count) = ([0.0; 3], 0.0);
            for (a, b) in scores[first].iter().zip(&scores[second]).filter(|(a, b)| !(*a * *b).is_nan()) {
                [a * a, b * b, a * b].into_iter().zip(&mut sums).for_each(|(more, sum)| *sum += more);
                count += 1.0;
            }
            let spread = (sums[0] * sums[1]).sqrt();
            let found = if spread > 0.0 { sums[2] / spread } else { 0.0 };
            let shrunk = found * count / (count + SHRINKAGE);
            matrix[first * d + second] = shrunk;
            matrix[second * d + first] = shrunk;
        }
    }
    matrix
}

/// Rows' worth of independence that a correlation is shrunk by.
const SHRINKAGE: f64 = 5.0;

/// The joint mixtures of marginals (one for each target, of the same rows) with a Gaussian copula.
pub(super) fn expand(marginals: &[&Predictions], correlation: &[f64]) -> Result<JointMixtures> {
    let d = marginals.len();
    let not_mixtures = || Error::model("a copula needs mixtures");
    let mixtures: Vec<&Mixtures> =
        marginals.iter().map(|marginal| marginal.mixtures().ok_or_else(not_mixtures)).collect::<Result<_>>()?;
    let one = JointMixtures::from_covariances(d, 1, vec![1.0], vec![0.0; d], correlation)?;
    let factor = one.factors();
    let at = |row: usize, column: usize| factor[row * (row + 1) / 2 + column];
    // The rank of each node along each target: correlated normal scores of quasi-random points.
    let uniform = points(NODES, d);
    let score = |node: usize, target: usize| {
        let own = |k: usize| normal::quantile(uniform[node * d + k]);
        (0..=target).map(|k| at(target, k) * own(k)).sum::<f64>()
    };
    let levels: Vec<Vec<usize>> =
        (0..d).map(|target| ranks(&(0..NODES).map(|node| score(node, target)).collect::<Vec<_>>())).collect();
    let picks = points(NODES, d + 1);
    let rows = marginals.first().map_or(0, |marginal| marginal.len());
    let of_row = |row: usize| {
        let kernels: Vec<Vec<KernelNode>> = (0..d)
            .map(|target| {
                let own = mixtures[target].row(row);
                let node =
                    |rank: usize| at_level(own, (rank as f64 + 0.5) / NODES as f64, picks[rank * (d + 1) + target]);
                (0..NODES).map(node).collect()
            })
            .collect();
        let (mut means, mut factors) = (Vec::with_capacity(NODES * d), Vec::new());
        for node in 0..NODES {
            for target in 0..d {
                let KernelNode { centre, sd } = kernels[target][levels[target][node]];
                means.push(centre);
                factors.extend((0..=target).map(|k| sd * at(target, k)));
            }
        }
        (means, factors)
    };
    let (means, factors): (Vec<_>, Vec<_>) = (0..rows).into_par_iter().map(of_row).unzip();
    let weights = vec![1.0 / NODES as f64; rows * NODES];
    JointMixtures::new(d, NODES, weights, means.concat(), factors.concat())
}
