//! Wide copies of a row's own distribution: the insurance of a pool against far targets.
//!
//! A copy is a normal distribution with the mean of the row's distribution and a multiple of its sd. It takes a part of
//! the weight of the components that are not atoms. The parts maximise the likelihood of out-of-fold predictions.

use serde::{Deserialize, Serialize};

use super::folds::HeldOutRows;
use super::sigma_scale::{LogDensity, score, score_of_row};
use negmm_dist::mixture::{Mixture, Mixtures, log_sum_exp};

/// The sds of the copies, in sds of the row's distribution.
const SCALES: [f64; 3] = [2.0, 4.0, 10.0];
/// The likelihood of a row under the pool and under each copy.
pub(super) type Likelihoods = [f64; 1 + SCALES.len()];
/// Iterations of expectation maximisation.
const ITERATIONS: usize = 100;
/// Prior rows of each copy.
const PRIOR_ROWS: f64 = 0.3;
/// The components themselves keep at least this much of their weight.
const LEAST_OWN: f64 = 0.01;
/// Weight and scale of the copy that robust scores assume before weights are fitted.
const ASSUMED: Tail = Tail { weight: 0.02, scale: 4.0 };

/// A wide copy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// Its part of the weight of the components that are not atoms.
    pub weight: f64,
    /// Its sd, in sds of the row's distribution.
    pub scale: f64,
}

/// Weight, mean and sd of the components that are not atoms.
pub(super) fn moments(mixture: Mixture<'_>) -> (f64, f64, f64) {
    let parts = || {
        let parts = mixture.weights.iter().zip(mixture.means.iter().zip(mixture.sds));
        parts.filter(|(_, (_, sd))| **sd > 0.0)
    };
    let total: f64 = parts().map(|(weight, _)| weight).sum();
    if total <= 0.0 {
        return (0.0, 0.0, 1.0);
    }
    let mean = parts().map(|(weight, (mean, _))| weight * mean).sum::<f64>() / total;
    let square = |center: f64, sd: f64| sd * sd + (center - mean) * (center - mean);
    let variance = parts().map(|(weight, (center, sd))| weight * square(*center, *sd)).sum::<f64>() / total;
    (total, mean, variance.sqrt())
}

/// The mixtures with the tails of each row, `count` for all, as further components.
pub(super) fn with_tails<'a>(mixtures: Mixtures, count: usize, tails: impl Fn(usize) -> &'a [Tail]) -> Mixtures {
    if count == 0 {
        return mixtures;
    }
    let components = mixtures.components() + count;
    let room = || Vec::with_capacity(mixtures.len() * components);
    let (mut weights, mut means, mut sds) = (room(), room(), room());
    for ((number, row), (total, mean, sd)) in mixtures.rows().enumerate().zip(mixtures.continuous_moments()) {
        let tails = tails(number);
        let taken: f64 = tails.iter().map(|tail| tail.weight).sum();
        let remaining = |(weight, sd): (&f64, &f64)| if *sd > 0.0 { weight * (1.0 - taken) } else { *weight };
        weights.extend(row.weights.iter().zip(row.sds).map(remaining));
        means.extend_from_slice(row.means);
        sds.extend_from_slice(row.sds);
        for tail in tails {
            weights.push(total * tail.weight);
            means.push(mean);
            sds.push(sd * tail.scale);
        }
    }
    Mixtures::from_parts_unchecked(components, weights, means, sds)
}

/// The logarithmic score of a row with a small weight of a wide copy, so that a few far rows do not decide, with all sds
/// times any factor.
pub(super) struct RobustScore<'a> {
    row: usize,
    mixture: Mixture<'a>,
    /// Weight, mean and sd of the components that are not atoms.
    moments: (f64, f64, f64),
    /// The densities of the mixture and of the copy at the target, where it is a number that is no atom.
    densities: Option<[LogDensity; 2]>,
}

impl<'a> RobustScore<'a> {
    pub(super) fn of(held_out: &HeldOutRows, mixtures: &'a Mixtures, row: usize) -> Self {
        let (mixture, y) = (mixtures.row(row), held_out.y[row]);
        let moments = moments(mixture);
        let is_atom = mixture.sds.iter().zip(mixture.means).any(|(sd, mean)| *sd == 0.0 && *mean == y);
        let is_number = held_out.bounds.is_none() && held_out.interval(row).is_none() && !is_atom;
        let densities =
            is_number.then(|| [LogDensity::of(mixture, y), LogDensity::of(copy_of(moments, &mut [0.0; 2]), y)]);
        Self { row, mixture, moments, densities }
    }

    pub(super) fn value(&self, held_out: &HeldOutRows, factor: f64) -> f64 {
        let total = self.moments.0;
        let [own, far] = match &self.densities {
            Some([own, far]) => [own.score(factor), if total > 0.0 { far.score(factor) } else { f64::INFINITY }],
            None => [self.mixture, copy_of(self.moments, &mut [0.0; 2])]
                .map(|mixture| score_of_row(held_out, mixture, self.row, factor)),
        };
        if total <= 0.0 {
            return own;
        }
        -log_sum_exp([libm::log(1.0 - ASSUMED.weight) - own, libm::log(ASSUMED.weight * total) - far].into_iter())
    }
}

/// The wide copy that robust scores assume.
fn copy_of((_, mean, sd): (f64, f64, f64), room: &mut [f64; 2]) -> Mixture<'_> {
    *room = [mean, sd * ASSUMED.scale];
    Mixture { weights: &[1.0], means: &room[..1], sds: &room[1..] }
}

/// That score of one row.
pub(super) fn robust_score(held_out: &HeldOutRows, mixtures: &Mixtures, row: usize, factor: f64) -> f64 {
    RobustScore::of(held_out, mixtures, row).value(held_out, factor)
}

/// The likelihood of a row under its mixture and under each wide copy.
pub(super) fn likelihoods(held_out: &HeldOutRows, mixtures: &Mixtures, row: usize) -> Likelihoods {
    let (total, mean, sd) = moments(mixtures.row(row));
    let own = libm::exp(-score(held_out, mixtures, row, 1.0));
    std::array::from_fn(|at| match at {
        0 => own,
        _ if total <= 0.0 => own,
        _ => {
            let copy = Mixture { weights: &[1.0], means: &[mean], sds: &[sd * SCALES[at - 1]] };
            total * libm::exp(-score_of_row(held_out, copy, row, 1.0))
        }
    })
}

/// The tails that maximise the likelihood of rows, each with its weight; none without rows.
pub(super) fn fitted(rows: impl Iterator<Item = (f64, Likelihoods)>) -> Vec<Tail> {
    let rows: Vec<(f64, Likelihoods)> = rows.collect();
    let total: f64 = rows.iter().map(|(weight, _)| weight).sum();
    if total <= 0.0 {
        return Vec::new();
    }
    let prior = PRIOR_ROWS * total / rows.len() as f64;
    let mut weights: Likelihoods = std::array::from_fn(|at| if at == 0 { 0.97 } else { 0.01 });
    for _ in 0..ITERATIONS {
        let mut sums: Likelihoods = std::array::from_fn(|at| if at == 0 { 0.0 } else { prior });
        for (weight, likelihoods) in &rows {
            let parts: Likelihoods = std::array::from_fn(|at| weights[at] * likelihoods[at]);
            let sum: f64 = parts.iter().sum();
            if sum > 0.0 && sum.is_finite() {
                sums.iter_mut().zip(parts).for_each(|(total, part)| *total += weight * part / sum);
            } else if parts[0] == f64::INFINITY {
                // A density so narrow that its target has an infinite one.
                sums[0] += weight;
            } else {
                // Farther than any copy expects.
                sums[SCALES.len()] += weight;
            }
        }
        let total: f64 = sums.iter().sum();
        weights = sums.map(|sum| sum / total);
    }
    let taken: f64 = weights[1..].iter().sum();
    let kept = ((1.0 - LEAST_OWN) / taken).min(1.0);
    SCALES.iter().zip(&weights[1..]).map(|(scale, weight)| Tail { weight: kept * weight, scale: *scale }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::math::normal;

    fn held_out(y: Vec<f64>) -> HeldOutRows {
        let rows = y.len();
        HeldOutRows {
            rows: (0..rows as u32).collect(),
            folds: vec![0; rows],
            weights: vec![1.0; rows],
            censored: vec![false; rows],
            y,
            intervals: None,
            bounds: None,
            in_time_order: false,
        }
    }

    #[test]
    fn tails_take_weight_from_components_that_are_not_atoms() {
        let mixtures =
            Mixtures::from_parts_unchecked(3, vec![0.4, 0.4, 0.2], vec![-1.0, 1.0, 7.0], vec![1.0, 1.0, 0.0]);
        let tails = [Tail { weight: 0.1, scale: 2.0 }, Tail { weight: 0.05, scale: 10.0 }];
        let widened = with_tails(mixtures.clone(), 2, |_| &tails);
        let row = widened.row(0);
        assert!((row.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!((row.weights[2], row.means[2], row.sds[2]), (0.2, 7.0, 0.0));
        let sd = 2f64.sqrt();
        assert!((row.weights[3] - 0.08).abs() < 1e-12 && row.means[3].abs() < 1e-12);
        assert!((row.sds[3] - 2.0 * sd).abs() < 1e-12 && (row.sds[4] - 10.0 * sd).abs() < 1e-12);
        assert_eq!(with_tails(mixtures.clone(), 0, |_| &[]), mixtures);
    }

    #[test]
    fn weights_are_those_of_the_rows() {
        // One row in ten lies five sds away, on either side.
        let y: Vec<f64> = (0..1000).map(|row| if row % 10 == 0 { 5.0 - f64::from(row % 20) } else { 0.3 }).collect();
        let held_out = held_out(y);
        let mixtures = Mixtures::new(1, vec![1.0; 1000], vec![0.0; 1000], vec![1.0; 1000]).unwrap();
        let tails = fitted((0..1000).map(|row| (1.0, likelihoods(&held_out, &mixtures, row))));
        let total: f64 = tails.iter().map(|tail| tail.weight).sum();
        assert!((0.08..0.2).contains(&total), "{tails:?}");
        assert!(tails.iter().all(|tail| tail.weight > 0.0));
    }

    #[test]
    fn components_keep_some_weight_whatever_the_rows_are() {
        for likelihoods in [[0.0; 4], [f64::INFINITY, 1.0, 1.0, 1.0], [f64::NAN; 4]] {
            let tails = fitted((0..7).map(|_| (1.0, likelihoods)));
            let total: f64 = tails.iter().map(|tail| tail.weight).sum();
            assert!(total < 0.995 && tails.iter().all(|tail| tail.weight > 0.0), "{tails:?}");
        }
    }

    #[test]
    fn a_far_row_costs_little() {
        let held_out = held_out(vec![60.0, 0.0]);
        let mixtures = Mixtures::new(1, vec![1.0; 2], vec![0.0; 2], vec![1.0; 2]).unwrap();
        assert!(score(&held_out, &mixtures, 0, 1.0) > 1000.0);
        assert!(robust_score(&held_out, &mixtures, 0, 1.0) < 130.0);
        let near = robust_score(&held_out, &mixtures, 1, 1.0) - score(&held_out, &mixtures, 1, 1.0);
        assert!((0.0..0.02).contains(&near));
    }

    #[test]
    fn extreme_quantiles_of_heavy_tails_are_exceeded_as_often_as_they_say() {
        // Student's t with 2 degrees of freedom, whose distribution function is F(y) = (1 + y / sqrt(2 + y^2)) / 2.
        let above = |y: f64| 0.5 * (1.0 - y / (2.0 + y * y).sqrt());
        let quantile = |p: f64| (2.0 * p - 1.0) * (2.0 / (4.0 * p * (1.0 - p))).sqrt();
        let held_out = held_out((0..4000).map(|row| quantile((f64::from(row) + 0.5) / 4000.0)).collect());
        let mixtures = Mixtures::new(1, vec![1.0; 4000], vec![0.0; 4000], vec![1.3; 4000]).unwrap();
        let tails = fitted((0..4000).map(|row| (1.0, likelihoods(&held_out, &mixtures, row))));
        let beyond = |mixtures: &Mixtures| {
            let row = mixtures.row(0);
            let mass = |y: f64| {
                let parts = row.weights.iter().zip(row.means.iter().zip(row.sds));
                parts.map(|(weight, (mean, sd))| weight * normal::cdf((mean - y) / sd)).sum::<f64>()
            };
            let (mut low, mut high) = (0.0, 1e3);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if mass(middle) > 1e-3 { low = middle } else { high = middle }
            }
            above(low)
        };
        let (without, with) = (beyond(&mixtures), beyond(&with_tails(mixtures.clone(), tails.len(), |_| &tails)));
        assert!(without > 0.01 && (0.0005..0.002).contains(&with), "{without} {with}");
    }
}
