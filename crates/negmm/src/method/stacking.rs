//! Stacking weights: they minimise a mix of the logarithmic score and the CRPS of the pool as it will predict.
//!
//! The CRPS of a pool with weights w is Σ w_m a_m - ½ Σ w_m w_n b_mn, where a_m = E|X_m - y| and b_mn = E|X_m - X'_n|.
//! A member of J models predicts their mean, so b_mm = b_same / J + (1 - 1/J) b_other, where b_same is of one model
//! and b_other of two different ones. Two out-of-fold predictions of each row are enough to estimate both: the CRPS is
//! that of all J models, though only two of them have not seen the row. The logarithmic score is that of the mean of
//! the out-of-fold predictions.
//!
//! The objective is L ln-score + (1 - L) ln CRPS, which does not depend on the unit of the target, plus a symmetric
//! Dirichlet prior worth a few rows.
//!
//! The pool must beat the simple members, the constant and the linear model, by more than one standard error of the
//! difference of logarithmic scores; otherwise the simple one predicts (the one-standard-error rule of Breiman et al.,
//! 1984). Where the inputs say nothing, weights that chance gives to flexible members would cost.

use negmm_dist::mixture::log_sum_exp;

/// Weight L of the logarithmic score.
const LOG_SCORE_WEIGHT: f64 = 0.5;
/// Strength of the prior, in rows.
const PRIOR_ROWS: f64 = 5.0;
/// Members with a smaller weight are dropped.
const MIN_WEIGHT: f64 = 0.03;
/// Maximum number of descent steps, and the decrease of the objective that counts as convergence.
const MAX_STEPS: usize = 400;
const TOLERANCE: f64 = 1e-10;
/// The smallest step size, pooled likelihood (relative to the best member's) and CRPS.
const MIN_STEP: f64 = 1e-9;
const MIN_LIKELIHOOD: f64 = 1e-300;
const MIN_CRPS: f64 = 1e-12;
/// The smallest log likelihood of a row where weights are compared.
const MIN_LOG_LIKELIHOOD: f64 = -1e3;
/// Bound of the exponent of one step.
const MAX_EXPONENT: f64 = 30.0;

/// The scores of the members' out-of-fold predictions, row by row.
pub(super) struct Stacking {
    members: usize,
    /// The simple members, the simplest first.
    simple: Vec<usize>,
    rows: Vec<RowScores>,
}

/// The scores of one row.
pub(super) struct RowScores {
    pub(super) fold: u32,
    /// Row weight.
    pub(super) weight: f64,
    /// Log likelihood under each member.
    pub(super) log_likelihoods: Vec<f64>,
    /// Mean distance of each member from the target; none where the target is censored.
    pub(super) distances: Vec<f64>,
    /// Mean distances between members, members × members; none where the target is censored.
    pub(super) pairs: Vec<f64>,
}

/// Sums over some rows.
struct Sums {
    /// Weight, and likelihood under each member relative to the best.
    likelihoods: Vec<(f64, Vec<f64>)>,
    total: f64,
    /// Means over the rows that are not censored; empty without such rows.
    distances: Vec<f64>,
    pairs: Vec<f64>,
}

impl Stacking {
    /// From the scores of rows; rows without weight, or that no member expects, do not count.
    pub(super) fn new(members: usize, simple: Vec<usize>, mut rows: Vec<RowScores>) -> Self {
        rows.retain(|row| row.weight > 0.0 && row.log_likelihoods.iter().any(|score| score.is_finite()));
        Self { members, simple, rows }
    }

    /// The weights fitted to all rows, and for each of `folds` folds those fitted to the others that inform it: of the
    /// pool, unless a simple member is as good within a standard error.
    pub(super) fn weights(&self, folds: usize, informs: impl Fn(u32, u32) -> bool) -> (Vec<f64>, Vec<Vec<f64>>) {
        let all = self.fitted(|_| true);
        let without: Vec<Vec<f64>> = (0..folds as u32).map(|fold| self.fitted(|other| informs(other, fold))).collect();
        let alone = |member: usize| (0..self.members).map(|other| f64::from(other == member)).collect::<Vec<f64>>();
        let Some((simplest, others)) = self.simple.split_first() else { return (all, without) };
        let mut best = vec![alone(*simplest); folds];
        for weights in others.iter().map(|member| vec![alone(*member); folds]).chain([without.clone()]) {
            if self.beats(&weights, &best) {
                best = weights;
            }
        }
        if best == without { (all, without) } else { (best[0].clone(), best) }
    }

    /// Whether the logarithmic score with some weights, of each fold, is better than with others by more than a standard
    /// error.
    fn beats(&self, weights: &[Vec<f64>], others: &[Vec<f64>]) -> bool {
        let gain = |row: &RowScores| {
            let log_likelihood = |weights: &[Vec<f64>]| {
                let weights = weights[row.fold as usize].iter().zip(&row.log_likelihoods);
                log_sum_exp(
                    weights.filter(|(weight, _)| **weight > 0.0).map(|(weight, score)| libm::log(*weight) + score),
                )
            };
            log_likelihood(weights).max(MIN_LOG_LIKELIHOOD) - log_likelihood(others).max(MIN_LOG_LIKELIHOOD)
        };
        let total: f64 = self.rows.iter().map(|row| row.weight).sum();
        let gains: Vec<(f64, f64)> = self.rows.iter().map(|row| (row.weight / total, gain(row))).collect();
        let mean: f64 = gains.iter().map(|(weight, gain)| weight * gain).sum();
        let square = |(weight, gain): &(f64, f64)| (weight * (gain - mean)) * (weight * (gain - mean));
        mean > gains.iter().map(square).sum::<f64>().sqrt()
    }

    /// The weights of the pool; equal ones without rows. Members with too small a weight are dropped, and the others fitted again.
    fn fitted(&self, counts: impl Fn(u32) -> bool) -> Vec<f64> {
        let mut weights = vec![1.0 / self.members as f64; self.members];
        let sums = self.sums(counts);
        if sums.likelihoods.is_empty() {
            return weights;
        }
        loop {
            sums.minimise(&mut weights);
            let positive = (0..self.members).filter(|member| weights[*member] > 0.0);
            match positive.min_by(|a, b| weights[*a].total_cmp(&weights[*b])) {
                Some(least) if weights[least] < MIN_WEIGHT => {
                    weights[least] = 0.0;
                    normalise(&mut weights);
                }
                _ => return weights,
            }
        }
    }

    fn sums(&self, counts: impl Fn(u32) -> bool) -> Sums {
        let members = self.members;
        let (mut likelihoods, mut total, mut known) = (Vec::new(), 0.0, 0.0);
        let (mut distances, mut pairs) = (vec![0.0; members], vec![0.0; members * members]);
        for row in self.rows.iter().filter(|row| counts(row.fold)) {
            let largest = row.log_likelihoods.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            likelihoods
                .push((row.weight, row.log_likelihoods.iter().map(|score| libm::exp(score - largest)).collect()));
            total += row.weight;
            if !row.distances.is_empty() {
                known += row.weight;
                distances.iter_mut().zip(&row.distances).for_each(|(sum, more)| *sum += row.weight * more);
                pairs.iter_mut().zip(&row.pairs).for_each(|(sum, more)| *sum += row.weight * more);
            }
        }
        if known > 0.0 {
            distances.iter_mut().chain(&mut pairs).for_each(|sum| *sum /= known);
        } else {
            distances.clear();
        }
        Sums { likelihoods, total, distances, pairs }
    }
}

impl Sums {
    /// Exponentiated gradient descent from `weights`; the problem is convex but for the logarithm of the CRPS. Weights
    /// of 0 stay 0.
    fn minimise(&self, weights: &mut [f64]) {
        let (mut value, mut gradient) = self.objective(weights);
        let mut step = 1.0;
        for _ in 0..MAX_STEPS {
            let mean: f64 = weights.iter().zip(&gradient).map(|(weight, slope)| weight * slope).sum();
            let exponent = |slope: &f64| (-step * (slope - mean)).clamp(-MAX_EXPONENT, MAX_EXPONENT);
            let mut next: Vec<f64> =
                weights.iter().zip(&gradient).map(|(weight, slope)| weight * libm::exp(exponent(slope))).collect();
            normalise(&mut next);
            let (lower, slopes) = self.objective(&next);
            if lower <= value {
                let decrease = value - lower;
                weights.copy_from_slice(&next);
                (value, gradient) = (lower, slopes);
                step *= 1.5;
                if decrease < TOLERANCE {
                    return;
                }
            } else {
                step *= 0.5;
                if step < MIN_STEP {
                    return;
                }
            }
        }
    }

    /// The objective and its gradient.
    fn objective(&self, weights: &[f64]) -> (f64, Vec<f64>) {
        let members = weights.len();
        let log_score = if self.distances.is_empty() { 1.0 } else { LOG_SCORE_WEIGHT };
        let (mut value, mut gradient) = (0.0, vec![0.0; members]);
        for (weight, likelihoods) in &self.likelihoods {
            let pooled: f64 = likelihoods.iter().zip(weights).map(|(likelihood, weight)| likelihood * weight).sum();
            let pooled = pooled.max(MIN_LIKELIHOOD);
            value -= log_score * weight * libm::log(pooled) / self.total;
            let factor = log_score * weight / (pooled * self.total);
            gradient.iter_mut().zip(likelihoods).for_each(|(slope, likelihood)| *slope -= factor * likelihood);
        }
        if !self.distances.is_empty() {
            let of_pairs = |row: &[f64]| row.iter().zip(weights).map(|(pair, weight)| pair * weight).sum::<f64>();
            let spreads: Vec<f64> = self.pairs.chunks_exact(members).map(of_pairs).collect();
            let parts = weights.iter().zip(self.distances.iter().zip(&spreads));
            let crps: f64 = parts.map(|(weight, (distance, spread))| weight * (distance - 0.5 * spread)).sum();
            let crps = crps.max(MIN_CRPS);
            value += (1.0 - log_score) * libm::log(crps);
            for ((slope, distance), spread) in gradient.iter_mut().zip(&self.distances).zip(&spreads) {
                *slope += (1.0 - log_score) * (distance - spread) / crps;
            }
        }
        let active = weights.iter().filter(|weight| **weight > 0.0).count() as f64;
        let prior = PRIOR_ROWS / (active * self.likelihoods.len() as f64);
        for (slope, weight) in gradient.iter_mut().zip(weights).filter(|(_, weight)| **weight > 0.0) {
            value -= prior * libm::log(*weight);
            *slope -= prior / weight;
        }
        (value, gradient)
    }
}

fn normalise(weights: &mut [f64]) {
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::math::normal;
    use negmm_dist::math::rng::Rng;
    use negmm_dist::{Distribution, Mixture};

    /// Rows of normal members with these means and an sd of 1, for targets of the given distribution.
    fn rows(means: &[f64], count: usize, draw: impl Fn(usize, f64) -> f64) -> Vec<RowScores> {
        let mut rng = Rng::new(3, 0);
        let of = |mean: &f64| (vec![1.0], vec![*mean], vec![1.0]);
        let members: Vec<_> = means.iter().map(of).collect();
        let mixture = |at: usize| Mixture { weights: &members[at].0, means: &members[at].1, sds: &members[at].2 };
        let each = 0..means.len();
        let pairs: Vec<f64> = each
            .clone()
            .flat_map(|m| (0..means.len()).map(move |n| (m, n)))
            .map(|(m, n)| mixture(m).mean_distance(mixture(n)))
            .collect();
        (0..count)
            .map(|row| {
                let y = draw(row, normal::quantile(rng.uniform()));
                RowScores {
                    fold: (row % 5) as u32,
                    weight: 1.0,
                    log_likelihoods: means.iter().map(|mean| normal::log_pdf(y - mean)).collect(),
                    distances: each.clone().map(|member| mixture(member).mean_distance_from(y)).collect(),
                    pairs: pairs.clone(),
                }
            })
            .collect()
    }

    #[test]
    fn weights_are_those_of_the_mixture_that_the_rows_are_from() {
        let draw = |row: usize, z: f64| z + if row % 10 < 3 { 4.0 } else { 0.0 };
        let stacking = Stacking::new(3, Vec::new(), rows(&[0.0, 4.0, -9.0], 20_000, draw));
        let (weights, without) = stacking.weights(5, |other, fold| other != fold);
        assert!((weights[0] - 0.7).abs() < 0.02 && (weights[1] - 0.3).abs() < 0.02 && weights[2] == 0.0, "{weights:?}");
        // Fold 0 has the rows 0 and 5 of each ten.
        assert!((without[0][1] - 0.25).abs() < 0.02, "{without:?}");
    }

    #[test]
    fn the_gradient_is_that_of_the_objective() {
        let stacking = Stacking::new(3, Vec::new(), rows(&[0.0, 1.0, -0.5], 50, |_, z| 1.3 * z));
        let sums = stacking.sums(|_| true);
        let weights = [0.5, 0.2, 0.3];
        let (_, gradient) = sums.objective(&weights);
        for member in 0..3 {
            let at = |step: f64| {
                let mut weights = weights;
                weights[member] += step;
                sums.objective(&weights).0
            };
            let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((gradient[member] - difference).abs() < 1e-5, "{member}: {} {difference}", gradient[member]);
        }
    }

    #[test]
    fn the_crps_is_that_of_the_pool() {
        let scored = rows(&[0.0, 1.0, -0.5], 20, |_, z| z);
        let weights = [0.5, 0.2, 0.3];
        for row in &scored {
            let spread: f64 = (0..9).map(|at| weights[at / 3] * weights[at % 3] * row.pairs[at]).sum();
            let found = row.distances.iter().zip(weights).map(|(distance, weight)| distance * weight).sum::<f64>();
            let y = row.log_likelihoods[0];
            // The target again, from the likelihood of the first member, up to its sign.
            let y = (-2.0 * (y - normal::log_pdf(0.0))).max(0.0).sqrt();
            let pool = Mixture { weights: &weights, means: &[0.0, 1.0, -0.5], sds: &[1.0; 3] };
            let crps = found - 0.5 * spread;
            assert!([y, -y].iter().any(|y| (pool.crps(*y) - crps).abs() < 1e-6));
        }
    }

    #[test]
    fn a_pool_that_is_hardly_better_than_a_simple_member_is_not_used() {
        // Targets of the first member: what the second gets is chance.
        let stacking = |count: usize, draw: fn(usize, f64) -> f64| {
            Stacking::new(2, vec![0], rows(&[0.0, 0.3], count, draw)).weights(5, |other, fold| other != fold).0
        };
        assert_eq!(stacking(300, |_, z| z), [1.0, 0.0]);
        let weights = stacking(300, |row, z| z + if row % 2 == 0 { 0.6 } else { 0.0 });
        assert!(weights[1] > 0.5, "{weights:?}");
    }

    #[test]
    fn rows_that_no_member_expects_change_nothing() {
        let mut scored = rows(&[0.0, 2.0], 500, |_, z| z);
        let expected =
            Stacking::new(2, Vec::new(), rows(&[0.0, 2.0], 500, |_, z| z)).weights(5, |other, fold| other != fold).0;
        let last = scored.pop().unwrap();
        scored.push(RowScores { log_likelihoods: vec![f64::NEG_INFINITY; 2], ..last });
        let found = Stacking::new(2, Vec::new(), scored).weights(5, |other, fold| other != fold).0;
        assert!((found[0] - expected[0]).abs() < 0.01);
        assert_eq!(Stacking::new(2, Vec::new(), Vec::new()).weights(0, |_, _| true).0, [0.5, 0.5]);
    }
}
