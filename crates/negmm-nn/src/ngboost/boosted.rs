//! A boosted model: a sum of trees for the mean and one for the logarithm of the sd.

use super::parameters::NormalParameters;
use super::tree::{BLOCK, Tree};
use super::{BoostingScore, Columns};
use negmm_dist::math::lanes::{Isa, Kernel, Lanes};
use negmm_dist::{Error, Result};

/// Bound of means and sds, so that predictions of any trees are finite.
pub(super) const LARGEST: f64 = 1e120;

/// Predicts a normal distribution for every row: (mean, log sd) = `start` - `learning_rate` · sum of scale · tree(row).
#[derive(Clone, Debug, PartialEq)]
pub struct Boosted {
    /// Mean and logarithm of the sd before the first round.
    pub start: [f64; 2],
    /// Shrinkage of each step.
    pub learning_rate: f64,
    /// The smallest sd.
    pub sigma_min: f64,
    /// The number of features in training.
    pub features: usize,
    /// The rounds that predict.
    pub rounds: Vec<Round>,
    /// For mean and log sd the importance of each feature: its fraction of the variance of the gradients that the trees explain. Sums to
    /// 1, or all are 0 if there is no split. Empty if it is unknown.
    pub importance: [Vec<f64>; 2],
    /// The scores after each round, also of rounds that were dropped.
    pub history: Vec<RoundScore>,
}

/// One round of boosting.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The result of the line search: a power of two.
    pub scale: f64,
    /// Trees for the mean and for the logarithm of the sd.
    pub trees: [Tree; 2],
}

/// Mean scores after a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundScore {
    /// Over the training rows.
    pub train: f64,
    /// Over the validation rows, if there are any.
    pub validation: Option<f64>,
}

impl Boosted {
    /// Leaves of all trees.
    pub fn leaves(&self) -> usize {
        let trees = self.rounds.iter().flat_map(|round| &round.trees);
        trees.map(|tree| tree.nodes().iter().filter(|node| node.is_leaf()).count()).sum()
    }

    /// Mean and sd of every row.
    ///
    /// # Errors
    /// When there are not as many features as in training.
    pub fn predict(&self, columns: &Columns<'_>) -> Result<(Vec<f64>, Vec<f64>)> {
        self.check(columns)?;
        let rows = columns.rows();
        let (mut means, mut sds) = (vec![self.start[0]; rows], vec![self.start[1]; rows]);
        Isa::best().run(Sum { boosted: self, columns, parameters: [&mut means, &mut sds] });
        for log_sd in &mut sds {
            *log_sd = libm::exp(*log_sd).max(self.sigma_min).min(LARGEST);
        }
        means.iter_mut().for_each(|mean| *mean = mean.clamp(-LARGEST, LARGEST));
        Ok((means, sds))
    }

    /// The mean score of `columns` and `y` before the first round and after each round.
    ///
    /// # Errors
    /// When there are not as many features as in training, or not as many targets as rows.
    pub fn staged_scores(&self, columns: &Columns<'_>, y: &[f64], score: BoostingScore) -> Result<Vec<f64>> {
        self.check(columns)?;
        if y.len() != columns.rows() {
            return Err(Error::data(format!("expected {} targets, found {}", columns.rows(), y.len())));
        }
        let mut parameters = NormalParameters::new(y, self.start, self.sigma_min);
        let mut scores = vec![parameters.mean_score(score, None)];
        for round in &self.rounds {
            parameters.descend(columns, round, self.learning_rate);
            scores.push(parameters.mean_score(score, None));
        }
        Ok(scores)
    }

    fn check(&self, columns: &Columns<'_>) -> Result<()> {
        if columns.features() == self.features {
            return Ok(());
        }
        Err(Error::data(format!("expected {} features, found {}", self.features, columns.features())))
    }
}

/// Subtracts all trees, by blocks of rows.
struct Sum<'a, 'b> {
    boosted: &'a Boosted,
    columns: &'a Columns<'b>,
    parameters: [&'a mut [f64]; 2],
}

impl Kernel for Sum<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let mut leaves = [0; BLOCK];
        let mut values = Vec::new();
        for first in (0..self.columns.rows()).step_by(BLOCK) {
            let leaves = &mut leaves[..BLOCK.min(self.columns.rows() - first)];
            for round in &self.boosted.rounds {
                let step = self.boosted.learning_rate * round.scale;
                for (tree, parameter) in round.trees.iter().zip(self.parameters.iter_mut()) {
                    tree.leaves(self.columns, first, leaves);
                    values.clear();
                    values.extend(tree.nodes().iter().map(|node| step * f64::from(node.number)));
                    for (parameter, &leaf) in parameter[first..].iter_mut().zip(leaves.iter()) {
                        *parameter -= values[leaf as usize];
                    }
                }
            }
        }
    }
}
