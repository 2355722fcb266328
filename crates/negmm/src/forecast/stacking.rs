//! Stacking weights, which maximise the likelihood of out-of-fold predictions.

/// Maximum number of rows used: more would not change the weights.
const MOST_ROWS: usize = 20_000;
/// Maximum number of iterations, and the change of a weight that counts as convergence.
const ITERATIONS: usize = 300;
const TOLERANCE: f64 = 1e-9;
/// Parts with a smaller weight are dropped.
const LEAST_WEIGHT: f64 = 0.02;

/// The likelihood of each row under each part, relative to the row's best part, ordered by fold.
pub(crate) struct Stacking {
    parts: usize,
    /// For each row used: its fold, its row weight, and the likelihood under each part.
    rows: Vec<(u32, f64, Vec<f64>)>,
}

impl Stacking {
    /// From log likelihoods, one list for each part; `folds` and `row_weights` have one entry for each row.
    pub(crate) fn new(log_likelihoods: &[Vec<f64>], folds: &[u32], row_weights: &[f64]) -> Self {
        let every = folds.len().div_ceil(MOST_ROWS).max(1);
        let relative = |row: usize| {
            let largest = log_likelihoods.iter().map(|part| part[row]).fold(f64::NEG_INFINITY, f64::max);
            let each = log_likelihoods.iter().map(|part| libm::exp(part[row] - largest)).collect();
            (folds[row], row_weights[row], each)
        };
        let possible = |row: &usize| log_likelihoods.iter().any(|part| part[*row].is_finite());
        let rows = (0..folds.len()).step_by(every).filter(possible).map(relative).collect();
        Self { parts: log_likelihoods.len(), rows }
    }

    /// The weights fitted to all rows.
    pub(crate) fn weights(&self) -> Vec<f64> {
        self.weights_by(|_| true)
    }

    /// The weights fitted to the rows of all other folds.
    pub(crate) fn weights_without(&self, fold: u32) -> Vec<f64> {
        self.weights_by(|other| other != fold)
    }

    /// Expectation maximisation; the problem is concave. Parts with too small a weight are dropped, and the others
    /// fitted again.
    fn weights_by(&self, counts: impl Fn(u32) -> bool) -> Vec<f64> {
        let rows: Vec<&(u32, f64, Vec<f64>)> =
            self.rows.iter().filter(|(fold, row_weight, _)| counts(*fold) && *row_weight > 0.0).collect();
        let mut weights = vec![1.0 / self.parts as f64; self.parts];
        loop {
            maximise(&rows, &mut weights);
            let least =
                (0..self.parts).filter(|part| weights[*part] > 0.0).min_by(|a, b| weights[*a].total_cmp(&weights[*b]));
            match least {
                Some(least) if weights[least] < LEAST_WEIGHT => weights[least] = 0.0,
                _ => return weights,
            }
        }
    }
}

/// Iterates from `weights`; weights of 0 stay 0.
fn maximise(rows: &[&(u32, f64, Vec<f64>)], weights: &mut [f64]) {
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
    for _ in 0..ITERATIONS {
        let mut sums = vec![0.0; weights.len()];
        for (_, row_weight, likelihoods) in rows {
            let likelihood: f64 =
                likelihoods.iter().zip(&*weights).map(|(likelihood, weight)| likelihood * weight).sum();
            if likelihood > 0.0 {
                for ((sum, part), weight) in sums.iter_mut().zip(likelihoods).zip(&*weights) {
                    *sum += row_weight * weight * part / likelihood;
                }
            }
        }
        let total: f64 = sums.iter().sum();
        if total == 0.0 || total.is_nan() {
            return;
        }
        let mut change = 0.0_f64;
        for (weight, sum) in weights.iter_mut().zip(sums) {
            let next = sum / total;
            change = change.max((next - *weight).abs());
            *weight = next;
        }
        if change < TOLERANCE {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::math::normal;
    use negmm_dist::math::rng::Rng;

    #[test]
    fn weights_are_those_of_the_mixture_that_the_rows_are_from() {
        let mut rng = Rng::new(3, 0);
        let y: Vec<f64> =
            (0..20_000).map(|row| normal::quantile(rng.uniform()) + if row % 10 < 3 { 4.0 } else { 0.0 }).collect();
        let of = |mean: f64, sd: f64| y.iter().map(|y| normal::log_pdf((y - mean) / sd) - libm::log(sd)).collect();
        let parts: [Vec<f64>; 3] = [of(0.0, 1.0), of(4.0, 1.0), of(-9.0, 1.0)];
        let folds: Vec<u32> = (0..20_000).map(|row| row % 5).collect();
        let stacking = Stacking::new(&parts, &folds, &[1.0; 20_000]);
        let weights = stacking.weights();
        assert!((weights[0] - 0.7).abs() < 0.02 && (weights[1] - 0.3).abs() < 0.02 && weights[2] == 0.0, "{weights:?}");
        // Fold 0 has the rows 0 and 5 of each ten.
        let without = stacking.weights_without(0);
        assert!((without[1] - 0.25).abs() < 0.02, "{without:?}");
    }

    #[test]
    fn impossible_rows_change_nothing() {
        let never = f64::NEG_INFINITY;
        let parts = [vec![0.0, never, -1.0], vec![never, never, -1.0]];
        let weights = Stacking::new(&parts, &[0, 0, 1], &[1.0, 1.0, 1.0]).weights();
        assert_eq!(weights, [1.0, 0.0]);
        let nothing = Stacking::new(&[vec![never], vec![never]], &[0], &[1.0]).weights();
        assert_eq!(nothing, [0.5, 0.5]);
    }
}
