//! The state of rows during boosting: their parameters, scores and natural gradients.

use super::boosted::Round;
use super::score::{interval_natural_gradient, interval_value};
use super::tree::{BLOCK, Tree};
use super::{BoostingScore, Columns};

/// The current parameters of rows with known targets: y - mean, log sd and 1/sd of each.
pub(super) struct NormalParameters {
    pub residual: Vec<f64>,
    pub log_sd: Vec<f64>,
    pub inverse_sd: Vec<f64>,
    /// The ends of each row's interval minus y; empty if all targets are observed.
    ends: Vec<[f64; 2]>,
    least_log_sd: f64,
    most_inverse_sd: f64,
}

impl NormalParameters {
    pub fn new(y: &[f64], start: [f64; 2], sigma_min: f64) -> Self {
        Self {
            residual: y.iter().map(|y| y - start[0]).collect(),
            log_sd: vec![start[1]; y.len()],
            inverse_sd: vec![libm::exp(-start[1]); y.len()],
            ends: Vec::new(),
            least_log_sd: libm::log(sigma_min),
            most_inverse_sd: 1.0 / sigma_min,
        }
    }

    /// The same with censored targets: those whose `lower` and `upper` ends differ are intervals.
    pub fn within(mut self, y: &[f64], [lower, upper]: [&[f64]; 2]) -> Self {
        self.ends = (0..y.len()).map(|row| [lower[row] - y[row], upper[row] - y[row]]).collect();
        self
    }

    /// The ends of a row's interval minus its mean, if the row is censored.
    #[inline(always)]
    fn interval(&self, score: BoostingScore, row: usize, residual: f64) -> Option<[f64; 2]> {
        // The same for all rows, so that loops over rows without intervals have no branch.
        if self.ends.is_empty() || score != BoostingScore::Log {
            return None;
        }
        let [lower, upper] = self.ends[row];
        (lower < upper).then_some([residual + lower, residual + upper])
    }

    /// Takes the step of one round for rows whose leaves are still to be found.
    pub fn descend(&mut self, columns: &Columns<'_>, round: &Round, learning_rate: f64) {
        let mut leaves = [[0; BLOCK]; 2];
        let steps = Steps::new(&round.trees, learning_rate * round.scale);
        for first in (0..columns.rows()).step_by(BLOCK) {
            let rows = BLOCK.min(columns.rows() - first);
            for (tree, leaves) in round.trees.iter().zip(&mut leaves) {
                tree.leaves(columns, first, &mut leaves[..rows]);
            }
            for (at, (mean, log_sd)) in leaves[0][..rows].iter().zip(&leaves[1]).enumerate() {
                self.step(first + at, &steps, [*mean as usize, *log_sd as usize]);
            }
        }
    }

    /// Takes one step for a row in these leaves.
    #[inline(always)]
    pub fn step(&mut self, row: usize, steps: &Steps, leaves: [usize; 2]) {
        self.residual[row] += steps.mean[leaves[0]];
        let (log_sd, factor) = steps.log_sd[leaves[1]];
        self.log_sd[row] -= log_sd;
        self.inverse_sd[row] *= factor;
    }

    /// The mean score, weighted if there are weights.
    pub fn mean_score(&self, score: BoostingScore, weight: Option<&[f64]>) -> f64 {
        weighted_mean(self.residual.len(), weight, |row| self.score(score, row))
    }

    /// The score of a row.
    #[inline(always)]
    pub fn score(&self, score: BoostingScore, row: usize) -> f64 {
        self.value((score, row), self.residual[row], self.log_sd[row], self.inverse_sd[row])
    }

    /// The mean score after a step, for rows in these leaves.
    pub fn mean_score_after(
        &self,
        score: BoostingScore,
        weight: Option<&[f64]>,
        steps: &Steps,
        leaves: &[[u16; 2]],
    ) -> f64 {
        let value = |row: usize| {
            let [mean, log_sd] = leaves[row];
            let (change, factor) = steps.log_sd[log_sd as usize];
            let residual = self.residual[row] + steps.mean[mean as usize];
            self.value((score, row), residual, self.log_sd[row] - change, self.inverse_sd[row] * factor)
        };
        weighted_mean(leaves.len(), weight, value)
    }

    /// The natural gradient at a row. At the smallest sd its part for log sd is not positive.
    #[inline(always)]
    pub fn natural_gradient(&self, score: BoostingScore, row: usize) -> [f64; 2] {
        let (residual, inverse_sd) = (self.residual[row], self.inverse_sd[row].min(self.most_inverse_sd));
        let [mean, log_sd] = match self.interval(score, row, residual) {
            Some(ends) => interval_natural_gradient(ends, inverse_sd),
            None => score.natural_gradient(residual, inverse_sd),
        };
        [mean, if self.log_sd[row] > self.least_log_sd { log_sd } else { log_sd.min(0.0) }]
    }

    #[inline(always)]
    fn value(&self, (score, row): (BoostingScore, usize), residual: f64, log_sd: f64, inverse_sd: f64) -> f64 {
        let inverse_sd = inverse_sd.min(self.most_inverse_sd);
        match self.interval(score, row, residual) {
            Some(ends) => interval_value(ends, inverse_sd),
            None => score.value(residual, log_sd.max(self.least_log_sd), inverse_sd),
        }
    }
}

/// The step of each leaf of two trees: the decrease of the mean, the decrease of log sd, and the resulting factor of 1/sd.
pub(super) struct Steps {
    mean: Vec<f64>,
    log_sd: Vec<(f64, f64)>,
}

impl Steps {
    pub fn new(trees: &[Tree; 2], scale: f64) -> Self {
        let values =
            |tree: &Tree| -> Vec<f64> { tree.nodes().iter().map(|node| scale * f64::from(node.number)).collect() };
        Self {
            mean: values(&trees[0]),
            log_sd: values(&trees[1]).into_iter().map(|step| (step, libm::exp(step))).collect(),
        }
    }
}

/// The mean of `value` over rows, by four independent sums, which a processor computes at the same time.
#[inline(always)]
pub(super) fn weighted_mean(rows: usize, weight: Option<&[f64]>, value: impl Fn(usize) -> f64) -> f64 {
    let mut sums = [0.0; 4];
    match weight {
        None => {
            (0..rows).for_each(|row| sums[row % 4] += value(row));
            sums.iter().sum::<f64>() / rows as f64
        }
        Some(weight) => {
            // A row of weight 0 is ignored, even if its score is infinite.
            (0..rows).filter(|row| weight[*row] > 0.0).for_each(|row| sums[row % 4] += weight[row] * value(row));
            sums.iter().sum::<f64>() / weight.iter().sum::<f64>()
        }
    }
}
