//! The CRPS that the pool of all models is expected to have, relative to that of held-out predictions.
//!
//! A row is held out by one or two models of each member, and predicted later by all of them. With weights w, J models of
//! each member, and two out-of-fold predictions of each row, the expected CRPS of the final pool is
//!
//! ```text
//! Σ w_m a_m - ½ Σ w_m w_n b_mn        b_mm = b_same / J + (1 - 1/J) b_other
//! ```
//!
//! where a_m = E|X_m - y|, b_same = E|X - X'| of one model and b_other of two: stacking has the same sums
//! ([decision 50](../../../../docs/decisions/0050-stacking-scores-the-pool-as-it-predicts.md)). Weights are those that the
//! other folds chose, sigma scales those of the final pool. That final models may learn from more rows is not in it.

use rayon::prelude::*;

use super::folds::HeldOutRows;
use super::member_predictions::MemberPredictions;
use negmm_dist::{Distribution, Mixtures};

/// Rows used at most: both scores are of the same rows, so that their ratio is known well.
const MOST_ROWS: usize = 500;
/// Ratios nearer to 1 are not worth saying.
const LEAST: f64 = 0.002;

/// The expected CRPS of the final pool over that of `held_out` predictions, with the weights of each fold and the scale of
/// the final pool. `None` where rows are held out once, where every model predicts alone, or where targets are no numbers.
pub(super) fn ratio(
    members: &[MemberPredictions],
    held_out: &HeldOutRows,
    (printed, scored): (&Mixtures, &[usize]),
    weights: &[Vec<f64>],
    pool_scale: f64,
) -> Option<f64> {
    let is_known = held_out.bounds.is_none() && !held_out.censored.contains(&true);
    let used = |member: usize| weights.iter().any(|weights| weights[member] > 0.0);
    let in_pairs =
        |(member, own): (usize, &MemberPredictions)| !used(member) || own.models() == 1 || own.lists.len() > 1;
    let pools = |(member, own): (usize, &MemberPredictions)| used(member) && own.models() > own.lists.len();
    let each = || members.iter().enumerate();
    if !is_known || !each().all(in_pairs) || !each().any(pools) {
        return None;
    }
    let at: Vec<usize> = (0..scored.len()).step_by(scored.len().div_ceil(MOST_ROWS).max(1)).collect();
    let rows: Vec<usize> = at.iter().map(|at| scored[*at]).filter(|row| held_out.weights[*row] > 0.0).collect();
    let lists: Vec<Vec<Mixtures>> = members.iter().map(|member| member.as_pooled(&rows, pool_scale)).collect();
    let expected = |at: usize| {
        let (y, weights) = (held_out.y[rows[at]], &weights[held_out.folds[rows[at]] as usize]);
        let used: Vec<usize> = (0..members.len()).filter(|member| weights[*member] > 0.0).collect();
        let mut crps = 0.0;
        for m in &used {
            let own = &lists[*m];
            let distance = own.iter().map(|list| list.row(at).mean_distance_from(y)).sum::<f64>() / own.len() as f64;
            crps += weights[*m] * (distance - 0.5 * weights[*m] * members[*m].mean_distance(own, at));
            for n in used.iter().filter(|n| *n < m) {
                let pair = own[0].row(at).mean_distance(lists[*n][lists[*n].len() - 1].row(at));
                crps -= weights[*m] * weights[*n] * pair;
            }
        }
        crps
    };
    let of_row = |at: usize| {
        let row = rows[at];
        let place = scored.partition_point(|other| *other < row);
        let weight = held_out.weights[row];
        (weight * expected(at), weight * printed.row(place).crps(held_out.y[row]))
    };
    let scores: Vec<(f64, f64)> = (0..rows.len()).into_par_iter().map(of_row).collect();
    let (expected, printed) = scores.into_iter().fold((0.0, 0.0), |sums, row| (sums.0 + row.0, sums.1 + row.1));
    let ratio = expected / printed;
    (ratio > 0.0 && ratio < 1.0 - LEAST).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::super::member_predictions::mean_of;
    use super::*;
    use negmm_dist::math::normal;
    use negmm_dist::math::rng::Rng;

    #[test]
    fn two_models_tell_the_crps_of_ten() {
        let mut rng = Rng::new(8, 0);
        let mut draw = || normal::quantile(rng.uniform());
        let rows = 2_000;
        let y: Vec<f64> = (0..rows).map(|_| draw()).collect();
        // Models whose means have errors of their own, with an sd of 0.8.
        let lists: Vec<Mixtures> = (0..10)
            .map(|_| {
                let means: Vec<f64> = (0..rows).map(|_| 0.8 * draw()).collect();
                Mixtures::new(1, vec![1.0; rows], means, vec![1.0; rows]).unwrap()
            })
            .collect();
        let crps = |count: usize| {
            let pool = mean_of(&lists[..count]);
            (0..rows).map(|row| pool.row(row).crps(y[row])).sum::<f64>()
        };
        let held_out = HeldOutRows {
            rows: (0..rows as u32).collect(),
            folds: vec![0; rows],
            weights: vec![1.0; rows],
            censored: vec![false; rows],
            y: y.clone(),
            intervals: None,
            bounds: None,
            in_time_order: false,
        };
        let of = |models: usize, lists: &[Mixtures]| {
            let members = [MemberPredictions::unscaled(lists.to_vec(), models, 1)];
            let scored: Vec<usize> = (0..rows).collect();
            ratio(&members, &held_out, (&mean_of(lists), &scored), &[vec![1.0]], 1.0)
        };
        let (found, truth) = (of(10, &lists[..2]).unwrap(), crps(10) / crps(2));
        assert!(truth < 0.95 && (found / truth - 1.0).abs() < 0.01, "{found} {truth}");
        // One model says nothing of the others, and a pool of two is what was held out.
        assert_eq!((of(10, &lists[..1]), of(2, &lists[..2])), (None, None));
    }
}
