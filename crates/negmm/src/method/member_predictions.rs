//! Out-of-fold predictions of one member of a pool, with its sigma scales.

use super::few_rows::FEW;
use super::folds::HeldOutRows;
use super::pool_scale::log_scale;
use super::sigma_scale::SigmaScales;
use super::tails::{Tail, robust_score, with_tails};
use super::truncated_pool::pool_of_truncated;
use negmm_dist::Mixtures;
use negmm_dist::mixture::log_sum_exp;

/// With this many rows the logarithm of a sigma scale is half of what they say.
const PRIOR_ROWS: f64 = 20.0;
/// Range of the logarithm of the sigma scale of a member.
const LOG_SCALE: (f64, f64) = (-0.5, 1.0);
/// The smallest square of an extrapolated scale.
const LEAST_SQUARE: f64 = 0.1;
/// The power of the scale for one model that is assumed to suit the mean of many, where two were not compared.
const SINGLE_POWER: f64 = 0.5;

/// Out-of-fold predictions of a member of the pool.
pub(super) struct MemberPredictions {
    /// One or more lists, each with a prediction for every held-out row by a model that has not seen it. Different lists
    /// are of different models.
    pub(super) lists: Vec<Mixtures>,
    /// How many models predict together in the final pool.
    models: usize,
    /// Whether the spread is the member's own, so that it can be scaled.
    is_scaled: bool,
    /// Sigma scale of the mean of the lists, for each fold from the others.
    pub(super) out_of_fold_scales: Vec<f64>,
    /// Sigma scale in the final pool.
    pub(super) pooled_scale: f64,
}

impl MemberPredictions {
    /// Predictions that are not scaled.
    pub(super) fn unscaled(lists: Vec<Mixtures>, models: usize, folds: usize) -> Self {
        Self { lists, models, is_scaled: false, out_of_fold_scales: vec![1.0; folds], pooled_scale: 1.0 }
    }

    /// With sigma scales: those of one model and of the mean of two give that of all.
    pub(super) fn scaled(lists: Vec<Mixtures>, models: usize, held_out: &HeldOutRows) -> Self {
        let rows = held_out.rows.len() as f64;
        let shrunk = |log: f64| log * rows / (rows + PRIOR_ROWS);
        let pooled = match &lists[..] {
            [only] => SigmaScales::of(only, held_out),
            several => SigmaScales::of(&mean_of(several), held_out),
        };
        let one = || {
            let logs = lists.iter().map(|list| libm::log(SigmaScales::of_all(list, held_out)));
            logs.sum::<f64>() / lists.len() as f64
        };
        let all = libm::log(pooled.of_all);
        let power = match lists.len() {
            1 if models == 1 => all,
            1 => SINGLE_POWER * all,
            count => of_models(one(), (count, all), models),
        };
        // With few rows a pool is hardly better than its models.
        let power = if held_out.rows.len() < FEW { power.max(0.0) } else { power };
        let scale = |factor: f64| libm::exp(shrunk(libm::log(factor)));
        Self {
            lists,
            models,
            is_scaled: true,
            out_of_fold_scales: pooled.of_folds.into_iter().map(scale).collect(),
            pooled_scale: libm::exp(shrunk(power).clamp(LOG_SCALE.0, LOG_SCALE.1)),
        }
    }

    /// How many models predict together in the final pool.
    pub(super) fn models(&self) -> usize {
        self.models
    }

    /// Some rows of the lists, with the sigma scale of the final pool times that of the whole pool.
    pub(super) fn as_pooled(&self, rows: &[usize], pool_scale: f64) -> Vec<Mixtures> {
        let all: Vec<usize> = (0..rows.len()).collect();
        let scale = if self.is_scaled { pool_scale * self.pooled_scale } else { self.pooled_scale };
        let scaled = |list: &Mixtures| list.selected(rows).take(&all, |_| (1.0, scale));
        self.lists.iter().map(scaled).collect()
    }

    /// Mean of |X - X'| for two independent predictions of a row by the final member, where `lists` are
    /// [`MemberPredictions::as_pooled`].
    pub(super) fn mean_distance(&self, lists: &[Mixtures], row: usize) -> f64 {
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let same = mean(lists.iter().map(|list| list.row(row).mean_distance(list.row(row))).collect());
        if lists.len() == 1 {
            return same;
        }
        let of_others = |at: usize| (0..at).map(move |other| (at, other));
        let pairs = (1..lists.len()).flat_map(of_others);
        let other = mean(pairs.map(|(a, b)| lists[a].row(row).mean_distance(lists[b].row(row))).collect());
        let models = self.models as f64;
        same / models + (1.0 - 1.0 / models) * other
    }
}

/// A pool of members: the mixtures of held-out rows.
pub(super) struct PooledRows {
    pub(super) mixtures: Mixtures,
    /// Number of components of each model.
    pub(super) sizes: Vec<usize>,
    /// Whether each component can be scaled.
    pub(super) scaled: Vec<bool>,
}

/// The pool of all lists of members, or of one list of each. `weights` and `scales` are of a fold and a member.
pub(super) fn pooled(
    members: &[MemberPredictions],
    held_out: &HeldOutRows,
    list: Option<usize>,
    weights: impl Fn(usize, usize) -> f64,
    scales: impl Fn(usize, usize) -> f64,
) -> PooledRows {
    let folds = &held_out.folds;
    let all: Vec<usize> = (0..folds.len()).collect();
    let (mut parts, mut sizes, mut scaled) = (Vec::new(), Vec::new(), Vec::new());
    let has_weight = |number: usize| folds.iter().any(|fold| weights(*fold as usize, number) > 0.0);
    for (number, member) in members.iter().enumerate().filter(|(number, _)| has_weight(*number)) {
        let lists = match list {
            Some(at) => &member.lists[at % member.lists.len()..][..1],
            None => &member.lists[..],
        };
        for own in lists {
            sizes.push(own.components());
            scaled.extend(vec![member.is_scaled; own.components()]);
            parts.push(own.clone().take(&all, |row| {
                let fold = folds[row] as usize;
                let scale = if member.is_scaled { scales(fold, number) } else { 1.0 };
                (weights(fold, number) / lists.len() as f64, scale)
            }));
        }
    }
    let mut mixtures = Mixtures::concatenate_components(&parts);
    if let Some(bounds) = held_out.bounds {
        mixtures = pool_of_truncated(mixtures, &sizes, bounds);
    }
    PooledRows { mixtures, sizes, scaled }
}

/// The logarithm of the pool's scale in the final pool with these tails, from pools of one list and of all lists of each
/// member.
pub(super) fn log_pool_scale(
    members: &[MemberPredictions],
    weights: &[f64],
    tails: &[Tail],
    held_out: &HeldOutRows,
) -> f64 {
    let scale = |list: Option<usize>| {
        let scales = |_, at: usize| members[at].pooled_scale;
        let PooledRows { mixtures, mut scaled, .. } = pooled(members, held_out, list, |_, at| weights[at], scales);
        scaled.extend(vec![true; tails.len()]);
        log_scale(&with_tails(mixtures, tails.len(), |_| tails), &scaled, held_out)
    };
    let with_weight = || members.iter().zip(weights).filter(|(_, weight)| **weight > 0.0).map(|(member, _)| member);
    let lists = with_weight().map(|member| member.lists.len()).max().unwrap_or(1);
    let models = with_weight().map(|member| member.models).max().unwrap_or(1);
    let one = (0..lists).map(|list| scale(Some(list))).sum::<f64>() / lists as f64;
    let several = if lists > 1 { scale(None) } else { one };
    of_models(one, (lists, several), models)
}

/// The logarithm of a scale for the mean of `models` models, from that for one and for `count`.
///
/// Where models have the error variance e + b, b of it their own, the error of the mean of J has the variance e + b / J.
/// The spread of that mean is s² + b (1 - 1/J), where s is the scaled sd of each: s² is linear in 1/J.
fn of_models(one: f64, (count, several): (usize, f64), models: usize) -> f64 {
    if count == 1 {
        return one;
    }
    let [one, several] = [one, several].map(|log| libm::exp(2.0 * log));
    let slope = (one - several) / (1.0 - 1.0 / count as f64);
    0.5 * libm::log((one - slope + slope / models as f64).max(LEAST_SQUARE))
}

/// The mean of lists of mixtures.
pub(super) fn mean_of(lists: &[Mixtures]) -> Mixtures {
    let weight = 1.0 / lists.len() as f64;
    Mixtures::concatenate_components(&lists.iter().map(|list| list.clone().scale_weights(weight)).collect::<Vec<_>>())
}

/// The robust log likelihood of a row under the mean of lists.
pub(super) fn log_likelihood(held_out: &HeldOutRows, lists: &[Mixtures], row: usize) -> f64 {
    let of_list = |list: &Mixtures| -robust_score(held_out, list, row, 1.0);
    log_sum_exp(lists.iter().map(of_list)) - libm::log(lists.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::math::normal;
    use negmm_dist::math::rng::Rng;
    use negmm_dist::{Distribution, Mixture};

    fn held_out(y: Vec<f64>) -> HeldOutRows {
        let rows = y.len();
        HeldOutRows {
            rows: (0..rows as u32).collect(),
            folds: (0..rows as u32).map(|row| row % 5).collect(),
            weights: vec![1.0; rows],
            censored: vec![false; rows],
            y,
            intervals: None,
            bounds: None,
            in_time_order: false,
        }
    }

    /// Models whose means have errors of their own: two lists, and targets.
    fn models(rows: usize, error: f64, sd: f64, count: usize) -> (Vec<Mixtures>, HeldOutRows) {
        let mut rng = Rng::new(5, 0);
        let mut draw = || normal::quantile(rng.uniform());
        let y: Vec<f64> = (0..rows).map(|_| draw()).collect();
        let lists = (0..count)
            .map(|_| {
                let means: Vec<f64> = (0..rows).map(|_| error * draw()).collect();
                Mixtures::new(1, vec![1.0; rows], means, vec![sd; rows]).unwrap()
            })
            .collect();
        (lists, held_out(y))
    }

    #[test]
    fn two_lists_give_the_crps_of_many_models() {
        let (lists, held_out) = models(3000, 0.8, 1.0, 10);
        let crps = |models: usize| {
            let two = MemberPredictions::unscaled(lists[..2].to_vec(), models, 5);
            let row = |row: usize| {
                let distance = |list: &Mixtures| list.row(row).mean_distance_from(held_out.y[row]);
                let distance = (distance(&lists[0]) + distance(&lists[1])) / 2.0;
                distance - 0.5 * two.mean_distance(&lists[..2], row)
            };
            (0..3000).map(row).sum::<f64>() / 3000.0
        };
        let pooled = mean_of(&lists);
        let truth = (0..3000).map(|row| pooled.row(row).crps(held_out.y[row])).sum::<f64>() / 3000.0;
        let single = (0..3000).map(|row| lists[0].row(row).crps(held_out.y[row])).sum::<f64>() / 3000.0;
        assert!((crps(10) / truth - 1.0).abs() < 0.02, "{} {truth}", crps(10));
        assert!((crps(1) / single - 1.0).abs() < 0.03 && crps(1) > 1.05 * crps(10));
    }

    #[test]
    fn the_scale_of_many_models_follows_from_one_and_two() {
        // Each model is sure of itself, and wrong by as much as the target varies.
        let (lists, held_out) = models(4000, 0.7, 0.7, 16);
        let two = MemberPredictions::scaled(lists[..2].to_vec(), 16, &held_out);
        let best = SigmaScales::of_all(&mean_of(&lists), &held_out);
        let one = SigmaScales::of_all(&lists[0], &held_out);
        assert!(one > 1.3 * best, "{one} {best}");
        assert!(
            (libm::log(two.pooled_scale / best)).abs() < 0.5 * libm::log(one / best),
            "{} {best}",
            two.pooled_scale
        );
    }

    #[test]
    fn likelihoods_are_of_the_mean() {
        let (lists, held_out) = models(3, 0.5, 1.0, 2);
        let density = |list: &Mixtures, row: usize| {
            let Mixture { means, sds, .. } = list.row(row);
            normal::pdf((held_out.y[row] - means[0]) / sds[0]) / sds[0]
        };
        for row in 0..3 {
            let expected = libm::log((density(&lists[0], row) + density(&lists[1], row)) / 2.0);
            let found = log_likelihood(&held_out, &lists, row) - libm::log(2.0 * std::f64::consts::PI) / 2.0;
            assert!((found - expected).abs() < 0.03, "{found} {expected}");
        }
    }
}
