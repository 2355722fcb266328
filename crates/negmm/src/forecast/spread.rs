//! Spread of forecasts: pools of members with a common mean, and factors of distributions around it.

use negmm_dist::{Distribution, Mixture, Mixtures, Predictions};

/// Smallest variance that is left of networks, relative to that of their pool.
const LEAST_VARIANCE: f64 = 0.3;

/// Distributions with this factor of their spread around the mean.
pub(super) fn spread_by(mixtures: Mixtures, factor: f64) -> Mixtures {
    if factor == 1.0 { mixtures } else { spread_by_row(mixtures, |_| factor) }
}

fn spread_by_row(mixtures: Mixtures, factor: impl Fn(usize) -> f64) -> Mixtures {
    let means: Vec<f64> = mixtures.rows().map(|row| row.mean()).collect();
    mixtures.rescaled_by_row(means.into_iter().enumerate().map(|(row, mean)| {
        let factor = factor(row);
        (mean * (1.0 - factor), factor)
    }))
}

/// The pool of networks, which are its first members and each have the spread of their own errors, with the spread of the
/// errors of their mean.
///
/// Where networks have the error variance s² = e + b, b of it their own, the variance of the means of J networks is
/// v = b (1 - 1/J), and the error of their mean has the variance e + b / J = s² - v. Their pool has s² + v: it is too wide
/// by 2 v.
pub(super) fn of_their_mean(pool: &Predictions, networks: usize) -> Option<Mixtures> {
    let (mixtures, members) = (pool.mixtures()?.clone(), pool.member_moments()?);
    let variance = pool.variance();
    Some(spread_by_row(mixtures, |row| {
        let networks = &members[row][..networks.min(members[row].len())];
        let weight: f64 = networks.iter().map(|one| one.weight).sum();
        let mean = networks.iter().map(|one| one.weight * one.mean).sum::<f64>() / weight.max(f64::MIN_POSITIVE);
        let between: f64 = networks.iter().map(|one| one.weight * (one.mean - mean) * (one.mean - mean)).sum();
        let ratio = 1.0 - 2.0 * between / variance[row].max(f64::MIN_POSITIVE);
        ratio.max(LEAST_VARIANCE).sqrt()
    }))
}

/// The members' distributions, each moved to the mean of all, in one pool; components have their stacking weights.
///
/// Members of a linear pool that disagree make it too wide. In a centred pool they do so only as far as their own spreads
/// differ (Knüppel and Krüger 2022, "Forecast uncertainty, disagreement, and the linear pool").
pub(super) fn centred(members: &[Mixtures]) -> Mixtures {
    let sums = |member: &Mixtures| -> Vec<(f64, f64)> {
        let of_row = |row: Mixture<'_>| {
            let each = row.weights.iter().zip(row.means);
            each.fold((0.0, 0.0), |(weights, sum), (weight, mean)| (weights + weight, sum + weight * mean))
        };
        member.rows().map(of_row).collect()
    };
    let sums: Vec<Vec<(f64, f64)>> = members.iter().map(sums).collect();
    let mean = |row: usize| {
        let (weights, sum) = sums.iter().fold((0.0, 0.0), |all, own| (all.0 + own[row].0, all.1 + own[row].1));
        sum / weights
    };
    let moved = members.iter().zip(&sums).map(|(member, own)| {
        let shift =
            |(row, (weight, sum)): (usize, &(f64, f64))| if *weight > 0.0 { mean(row) - sum / weight } else { 0.0 };
        member.clone().rescaled_by_row(own.iter().enumerate().map(|of| (shift(of), 1.0)))
    });
    Mixtures::concatenate_components(&moved.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_around_the_mean() {
        let pooled = Mixtures::new(1, vec![1.0; 2], vec![3.0, 4.0], vec![1.0; 2]).unwrap();
        let wide = spread_by(pooled, 2.0);
        assert!((wide.row(0).mean() - 3.0).abs() < 1e-12 && (wide.row(0).sd() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_centred_pool_has_the_mean_of_all_and_the_spreads_of_each() {
        let first = Mixtures::new(2, vec![0.5; 4], vec![0.0, 2.0, 7.0, 8.0], vec![1.0; 4]).unwrap();
        let second = Mixtures::new(1, vec![1.0; 2], vec![6.0, 3.0], vec![2.0; 2]).unwrap();
        let weighted = |member: Mixtures, weights: [f64; 2]| member.take(&[0, 1], |row| (weights[row], 1.0));
        let pooled = centred(&[weighted(first, [0.25, 0.0]), weighted(second, [0.75, 1.0])]);
        assert_eq!(pooled.row(0).means, [3.75, 5.75, 4.75]);
        assert!((pooled.row(0).variance() - (0.25 * 2.0 + 0.75 * 4.0)).abs() < 1e-12);
        // A member without weight moves nothing.
        assert_eq!((pooled.row(1).mean(), pooled.row(1).sd()), (3.0, 2.0));
    }

    #[test]
    fn disagreement_is_no_error_of_the_mean() {
        // Two networks with an sd of 1 around means that are 1 apart: s² = 1, v = 1/4.
        let two = Mixtures::new(2, vec![0.5; 4], vec![0.0, 1.0, 0.0, 9.0], vec![1.0; 4]).unwrap();
        let narrow = of_their_mean(&Predictions::from(two).of_members_of(vec![1, 1]), 2).unwrap();
        assert!((narrow.row(0).mean() - 0.5).abs() < 1e-12);
        assert!((narrow.row(0).sd() - 0.75_f64.sqrt()).abs() < 1e-12, "{}", narrow.row(0).sd());
        // Something is left where they disagree altogether.
        let variance = 1.0 + 4.5 * 4.5;
        assert!((narrow.row(1).sd() - (LEAST_VARIANCE * variance).sqrt()).abs() < 1e-9);
        // The third member is no network: what it says is no disagreement among them.
        let third = Mixtures::new(3, vec![0.25, 0.25, 0.5], vec![1.0, 1.0, 5.0], vec![1.0; 3]).unwrap();
        let same = of_their_mean(&Predictions::from(third.clone()).of_members_of(vec![1; 3]), 2).unwrap();
        assert!((same.row(0).sd() - third.row(0).sd()).abs() < 1e-12);
    }
}
