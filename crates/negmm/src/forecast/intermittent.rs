//! Intermittent demand: series with many zeros, forecast by distributions with an atom at zero.
//!
//! As in the method of Teunter, Syntetos and Babai, rates are exponentially weighted means over all steps, zeros included.
//! A member has a decay and a form: on a grid of values the negative binomial distribution of the weighted mean and of a
//! shrunk dispersion, or the weighted empirical distribution smoothed by it; without a grid a zero and the past sizes,
//! each as a narrow normal. Further members shrink a series' empirical distribution towards that of all series. Their
//! stacking weights maximise the likelihood of what followed earlier origins. Steps ahead have the same distribution:
//! nothing is known about them that is not known about the next.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::atoms::{Components, leave_rest};
use super::stacking::Stacking;
use super::{ForecastPoint, Series};
use negmm_dist::math::normal;
use negmm_dist::{Distribution, Mixtures};

/// Minimum number of steps of an intermittent series, and fraction of zeros.
const LEAST_STEPS: usize = 4;
const LEAST_ZEROS: f64 = 0.15;
/// Decays of the weights per step.
const DECAYS: [f64; 4] = [0.8, 0.9, 0.96, 1.0];
/// Steps that the distribution of all series counts as among those of a series.
const COMMON_STEPS: [f64; 2] = [10.0, 100.0];
/// Members: each decay in both forms, which earlier versions had alone, and the shrunk ones.
const OF_DECAYS: usize = 2 * DECAYS.len();
const MEMBERS: usize = OF_DECAYS + COMMON_STEPS.len();
/// Sizes of all series, where they are not on a grid: the means of so many parts of them.
const COMMON_SIZES: usize = 20;
/// Pseudo-steps: of the mean over all series in that of a series, of the latter in a weighted mean, of the shared
/// dispersion, and of the negative binomial distribution in an empirical one.
const SHARED_MEAN_STEPS: f64 = 1.0;
const OWN_MEAN_STEPS: f64 = 2.0;
const DISPERSION_STEPS: f64 = 8.0;
const SMOOTHING_STEPS: f64 = 3.0;
/// Smallest ratio of variance and mean, and smallest mean in grid steps.
const LEAST_DISPERSION: f64 = 1.02;
const LEAST_MEAN: f64 = 1e-4;
/// Points of a grid at most, how far it goes beyond the largest value, and the tolerance of values on it.
const MOST_POINTS: usize = 400;
const BEYOND: f64 = 1.5;
const MORE_POINTS: usize = 8;
const OFF_GRID: f64 = 1e-6;
/// Past sizes in use, and the sd of each relative to itself: narrow enough for no negative size.
const MOST_SIZES: usize = 40;
const SIZE_SD: f64 = 0.15;
/// Components with less weight are dropped.
const LEAST_WEIGHT: f64 = 1e-5;
/// Origins that stacking weights come from: over all series, at least and at most of each; and series at most.
const ALL_ORIGINS: usize = 4_000;
const LEAST_ORIGINS: usize = 4;
const MOST_ORIGINS: usize = 100;
const MOST_SERIES: usize = 1_000;
/// Likelihood of a value that a member excludes.
const LEAST_LIKELIHOOD: f64 = 1e-12;

/// What intermittent series share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Intermittent {
    /// Distance of values on a grid from zero on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<f64>,
    mean: f64,
    /// Fraction of steps above zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate: Option<f64>,
    /// Ratio of variance and mean, in grid steps.
    dispersion: f64,
    /// Stacking weights of the members.
    weights: Vec<f64>,
    /// The distribution of all series, zero first: values and probabilities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    common: Vec<[f64; 2]>,
}

/// Whether a history has zeros, no negative values, and zeros are common.
pub(super) fn is_intermittent(history: &[f64]) -> bool {
    let zeros = history.iter().filter(|value| **value == 0.0).count();
    history.len() >= LEAST_STEPS
        && zeros as f64 >= LEAST_ZEROS * history.len() as f64
        && history.iter().all(|value| *value >= 0.0)
}

impl Intermittent {
    /// Learns from the intermittent series among these; `None` where there is none with any value but zero.
    pub(super) fn fit(series: &[Series], horizon: usize) -> Option<Self> {
        let own =
            series.iter().map(|series| series.history(series.len() - 1)).filter(|history| is_intermittent(history));
        let own: Vec<&[f64]> = own.filter(|history| history.iter().any(|value| *value > 0.0)).collect();
        let every = own.len().div_ceil(MOST_SERIES).max(1);
        let own: Vec<&[f64]> = own.into_iter().step_by(every).collect();
        if own.is_empty() {
            return None;
        }
        let all = || own.iter().flat_map(|history| history.iter().copied());
        let step = grid_step(all());
        let unit = step.unwrap_or(1.0);
        let mean = all().sum::<f64>() / all().count() as f64;
        let rate = all().filter(|value| *value > 0.0).count() as f64 / all().count() as f64;
        let (mut squares, mut means) = (0.0, 0.0);
        for history in &own {
            let mean = history.iter().sum::<f64>() / history.len() as f64;
            squares += history.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
            means += mean * (history.len() - 1) as f64;
        }
        let dispersion = (squares / means.max(f64::MIN_POSITIVE) / unit).max(LEAST_DISPERSION);
        let common = distribution_of_all(all().collect(), step);
        let weights = vec![1.0 / MEMBERS as f64; MEMBERS];
        let mut shared = Self { step, mean, rate: Some(rate), dispersion, weights, common };
        let (stride, origins) = (horizon.div_ceil(2), (ALL_ORIGINS / own.len()).clamp(LEAST_ORIGINS, MOST_ORIGINS));
        let likelihoods: Vec<Vec<[f64; MEMBERS]>> = own
            .par_iter()
            .map(|history| {
                let ends = (1..=origins).filter_map(|back| history.len().checked_sub(back * stride));
                let known = |end: usize| &history[end..history.len().min(end + horizon)];
                let ends = ends.filter(|end| *end >= LEAST_STEPS.max(history.len() / 2));
                ends.flat_map(|end| shared.likelihoods(&history[..end], known(end))).collect()
            })
            .collect();
        let rows: Vec<[f64; MEMBERS]> = likelihoods.concat();
        if !rows.is_empty() {
            let lists: Vec<Vec<f64>> =
                (0..MEMBERS).map(|member| rows.iter().map(|row| libm::log(row[member])).collect()).collect();
            shared.weights = Stacking::new(&lists, &vec![0; rows.len()], &vec![1.0; rows.len()]).weights();
        }
        Some(shared)
    }

    /// Whether its CRPS at the points of intermittent series is lower than that of others' forecasts of all points, each
    /// series in units of its mean.
    pub(super) fn is_better_than(&self, others: &Mixtures, series: &[Series], points: &[ForecastPoint]) -> bool {
        let own = |row: &usize| is_intermittent(series[points[*row].series].history(points[*row].origin));
        let rows: Vec<usize> = (0..points.len()).filter(own).collect();
        let of_rows: Vec<ForecastPoint> = rows.iter().map(|row| points[*row]).collect();
        let of_series: Vec<&Series> = series.iter().collect();
        let components = self.components(&of_series, &of_rows);
        let (mut difference, mut count) = (0.0, 0);
        for (row, components) in rows.into_iter().zip(components) {
            let (point, Some(components)) = (points[row], components) else { continue };
            let one = &series[point.series];
            let mean = one.filled.iter().sum::<f64>() / one.len() as f64;
            let list = |part: fn(&(f64, f64, f64)) -> f64| components.iter().map(part).collect::<Vec<f64>>();
            let own = Mixtures::from_parts_unchecked(components.len(), list(|c| c.0), list(|c| c.1), list(|c| c.2));
            let y = one.values[point.step()];
            difference += (own.row(0).crps(y) - others.row(row).crps(y)) / (mean + self.mean);
            count += 1;
        }
        count == 0 || difference < 0.0
    }

    /// Whether the parameters are valid.
    pub(super) fn is_sound(&self) -> bool {
        let positive = |number: f64| number.is_finite() && number > 0.0;
        (self.weights.len() == MEMBERS || self.weights.len() == OF_DECAYS)
            && self.common.len() <= MOST_POINTS
            && self.common.iter().all(|[value, weight]| value.is_finite() && *value >= 0.0 && *weight >= 0.0)
            && self.weights.iter().all(|weight| *weight >= 0.0)
            && (self.weights.iter().sum::<f64>() - 1.0).abs() < 1e-6
            && positive(self.mean)
            && positive(self.dispersion)
            && self.rate.is_none_or(|rate| (0.0..=1.0).contains(&rate))
            && self.step.is_none_or(positive)
    }

    /// The distributions of points of these series whose history is intermittent.
    pub(super) fn components(&self, series: &[&Series], points: &[ForecastPoint]) -> Vec<Option<Components>> {
        let origins: Vec<&[ForecastPoint]> = points.chunk_by(ForecastPoint::is_beside).collect();
        let each = origins.into_par_iter().map(|origin| {
            let history = series[origin[0].series].history(origin[0].origin);
            let components = is_intermittent(history).then(|| self.pooled(history));
            vec![components; origin.len()]
        });
        each.collect::<Vec<_>>().concat()
    }

    /// The pool of the members after a history.
    fn pooled(&self, history: &[f64]) -> Components {
        let support = self.support(history);
        let mut pooled = vec![0.0; support.len()];
        for (member, weight) in self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            let probabilities = self.member(member, history, &support);
            pooled.iter_mut().zip(probabilities).for_each(|(sum, probability)| *sum += weight * probability);
        }
        let mut components: Components =
            pooled.iter().zip(&support).map(|(weight, value)| (*weight, *value, self.sd(*value))).collect();
        components.retain(|(weight, ..)| *weight >= LEAST_WEIGHT);
        let sum: f64 = components.iter().map(|(weight, ..)| weight).sum();
        components.iter_mut().for_each(|(weight, ..)| *weight /= sum);
        let mean = components.iter().map(|(weight, value, _)| weight * value).sum();
        leave_rest(&mut components, mean, support.iter().copied().fold(self.step.unwrap_or(mean), f64::max));
        components
    }

    /// The likelihood of each of these values under each member.
    fn likelihoods(&self, history: &[f64], values: &[f64]) -> Vec<[f64; MEMBERS]> {
        let support = self.support(history);
        let members: [Vec<f64>; MEMBERS] = std::array::from_fn(|member| self.member(member, history, &support));
        let likelihood = |probabilities: &[f64], value: f64| -> f64 {
            let each = probabilities.iter().zip(&support).map(|(probability, at)| match self.sd(*at) {
                0.0 => probability * f64::from(u8::from((at - value).abs() < OFF_GRID * value.max(1.0))),
                sd => probability * normal::pdf((value - at) / sd) / sd,
            });
            each.sum::<f64>().max(LEAST_LIKELIHOOD)
        };
        values.iter().map(|value| std::array::from_fn(|member| likelihood(&members[member], *value))).collect()
    }

    /// The values that have a probability: zero first, then the grid or the latest sizes.
    fn support(&self, history: &[f64]) -> Vec<f64> {
        let largest = history.iter().copied().fold(0.0, f64::max);
        match self.step {
            Some(step) => {
                let usual = BEYOND * largest.max(self.mean) / step;
                let points = (usual as usize + MORE_POINTS).max(self.common.len()).min(MOST_POINTS);
                (0..=points).map(|point| point as f64 * step).collect()
            }
            None => {
                let sizes = history.iter().rev().copied().filter(|value| *value > 0.0).take(MOST_SIZES);
                let own = [0.0].into_iter().chain(sizes).chain((largest == 0.0).then_some(self.mean));
                own.chain(self.common.iter().skip(1).map(|[value, _]| *value)).collect()
            }
        }
    }

    fn sd(&self, value: f64) -> f64 {
        if self.step.is_some() { 0.0 } else { SIZE_SD * value }
    }

    /// The probabilities of the support under a member.
    fn member(&self, member: usize, history: &[f64], support: &[f64]) -> Vec<f64> {
        let common_steps = member.checked_sub(OF_DECAYS).map(|at| COMMON_STEPS[at]);
        let decay = if common_steps.is_some() { 1.0 } else { DECAYS[member % DECAYS.len()] };
        let smooth = member < DECAYS.len();
        // Without a grid the sizes of all series come after its own.
        let own_points = if self.step.is_some() { support.len() } else { support.len() - self.common.len().max(1) + 1 };
        let steps = history.len() as f64;
        let (mut total, mut sum, mut squares, mut weight, mut positive) = (0.0, 0.0, 0.0, 1.0, 0.0);
        let mut counts = vec![0.0; support.len()];
        let mut size = 1;
        for value in history.iter().rev() {
            total += weight;
            sum += weight * value;
            squares += weight * value * value;
            positive += if *value > 0.0 { weight } else { 0.0 };
            let at = match self.step {
                Some(step) => ((value / step).round() as usize).min(support.len() - 1),
                None if *value == 0.0 => 0,
                // Sizes of the support are in this order; older ones fall on the last.
                None => {
                    size += 1;
                    (size - 1).min(own_points - 1)
                }
            };
            counts[at] += weight;
            weight *= decay;
        }
        if let Some(common_steps) = common_steps {
            let first = if self.step.is_some() { 1 } else { own_points };
            for (at, [_, probability]) in self.common.iter().enumerate() {
                counts[if at == 0 { 0 } else { first + at - 1 }] += common_steps * probability;
            }
            counts.iter_mut().for_each(|count| *count /= total + common_steps);
            return counts;
        }
        if self.step.is_none() {
            // A rate as the mean is on a grid, and sizes by their weights, or all alike.
            let rate = self.rate.map_or((positive + 0.5) / (total + 1.0), |shared| {
                let all = history.iter().filter(|value| **value > 0.0).count() as f64;
                let own = (SHARED_MEAN_STEPS * shared + all) / (SHARED_MEAN_STEPS + steps);
                if decay < 1.0 { (OWN_MEAN_STEPS * own + positive) / (OWN_MEAN_STEPS + total) } else { own }
            });
            let own = counts[1..own_points].iter();
            let sizes: Vec<f64> = own.map(|count| if smooth { 1.0 } else { *count }).collect();
            let all: f64 = sizes.iter().sum();
            let even = 1.0 / sizes.len() as f64;
            let shares = sizes.iter().map(|size| if all > 0.0 { size / all } else { even });
            let own = [1.0 - rate].into_iter().chain(shares.map(|share| rate * share));
            return own.chain(std::iter::repeat(0.0)).take(support.len()).collect();
        }
        let unit = self.step.unwrap_or(1.0);
        let own = (SHARED_MEAN_STEPS * self.mean + history.iter().sum::<f64>()) / (SHARED_MEAN_STEPS + steps);
        let mean = if decay < 1.0 { (OWN_MEAN_STEPS * own + sum) / (OWN_MEAN_STEPS + total) } else { own };
        let average = sum / total;
        let ratio = match average > 0.0 {
            true => (squares / total - average * average).max(0.0) / average / unit,
            false => self.dispersion,
        };
        let dispersion = (DISPERSION_STEPS * self.dispersion + total * ratio) / (DISPERSION_STEPS + total);
        let parametric = negative_binomial(mean / unit, dispersion, support.len());
        match smooth {
            true => parametric,
            false => counts
                .iter()
                .zip(parametric)
                .map(|(count, prior)| (count + SMOOTHING_STEPS * prior) / (total + SMOOTHING_STEPS))
                .collect(),
        }
    }
}

/// The distribution of these values: on the grid, or zero and sizes.
fn distribution_of_all(mut values: Vec<f64>, step: Option<f64>) -> Vec<[f64; 2]> {
    let each = 1.0 / values.len() as f64;
    if let Some(step) = step {
        let mut common: Vec<[f64; 2]> = Vec::new();
        for value in values {
            let at = (value / step).round() as usize;
            (common.len()..=at).for_each(|point| common.push([point as f64 * step, 0.0]));
            common[at][1] += each;
        }
        return common;
    }
    values.sort_by(f64::total_cmp);
    let zeros = values.partition_point(|value| *value == 0.0);
    let (sizes, rate) = (&values[zeros..], 1.0 - zeros as f64 * each);
    // Means of as many parts, so that the mean of all stays.
    let mean_of = |part: usize| {
        let first = part * sizes.len() / COMMON_SIZES;
        let own = &sizes[first..((part + 1) * sizes.len() / COMMON_SIZES).max(first + 1)];
        own.iter().sum::<f64>() / own.len() as f64
    };
    let sizes = (0..COMMON_SIZES).map(|part| [mean_of(part), rate / COMMON_SIZES as f64]);
    [[0.0, 1.0 - rate]].into_iter().chain(sizes).collect()
}

/// The step of the grid that the values lie on, if it has few points: 1, or the smallest value.
fn grid_step(values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let positive = values.filter(|value| *value > 0.0);
    let smallest = positive.clone().fold(f64::INFINITY, f64::min);
    let largest = positive.clone().fold(0.0, f64::max);
    [1.0, smallest].into_iter().find(|step| {
        let off = |value: f64| (value / step - (value / step).round()).abs() > OFF_GRID * (value / step).max(1.0);
        BEYOND * largest / step + MORE_POINTS as f64 <= MOST_POINTS as f64 && !positive.clone().any(off)
    })
}

/// Probabilities of 0, 1, 2 … under the negative binomial distribution with this mean and ratio of variance and mean;
/// the rest counts as the last.
fn negative_binomial(mean: f64, dispersion: f64, points: usize) -> Vec<f64> {
    let (mean, dispersion) = (mean.max(LEAST_MEAN), dispersion.max(LEAST_DISPERSION));
    let size = mean / (dispersion - 1.0);
    let mut probability = libm::exp(-size * libm::log(dispersion));
    let mut probabilities = Vec::with_capacity(points);
    let mut sum = 0.0;
    for count in 0..points {
        probabilities.push(probability);
        sum += probability;
        probability *= (count as f64 + size) / (count as f64 + 1.0) * (1.0 - 1.0 / dispersion);
    }
    probabilities[points - 1] += (1.0 - sum).max(0.0);
    probabilities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_negative_binomial_distribution_has_its_moments() {
        let probabilities = negative_binomial(1.5, 2.5, 300);
        let moment = |power: i32| -> f64 {
            probabilities.iter().enumerate().map(|(count, p)| p * (count as f64).powi(power)).sum()
        };
        assert!((moment(0) - 1.0).abs() < 1e-12 && (moment(1) - 1.5).abs() < 1e-9, "{}", moment(1));
        assert!((moment(2) - 1.5 * 1.5 - 1.5 * 2.5).abs() < 1e-8, "{}", moment(2));
    }

    #[test]
    fn rates_without_a_grid_are_those_of_the_steps() {
        let history: Vec<f64> =
            (0..200).map(|step| if step % 20 == 7 { 1.5 + f64::from(step).sin() } else { 0.0 }).collect();
        let series = Series { values: history.clone(), filled: history.clone(), ..Series::default() };
        let fitted = Intermittent::fit(&[series], 1).unwrap();
        assert!(fitted.step.is_none());
        let support = fitted.support(&history);
        for member in [3, 7] {
            let probabilities = fitted.member(member, &history, &support);
            assert!((1.0 - probabilities[0] - 0.05).abs() < 1e-9, "{}", 1.0 - probabilities[0]);
        }
    }

    #[test]
    fn series_that_are_alike_learn_from_each_other() {
        // The same rate and sizes in all series, each of which has seen few of them.
        let mut rng = negmm_dist::Rng::new(4, 0);
        for grid in [true, false] {
            let mut one = || -> Vec<f64> {
                let size = |u: f64| if grid { (1.0 + 4.0 * u).floor() } else { libm::exp(u) };
                (0..40).map(|_| if rng.uniform() < 0.25 { size(rng.uniform()) } else { 0.0 }).collect()
            };
            let histories: Vec<Vec<f64>> = (0..80).map(|_| one()).collect();
            let of =
                |history: &Vec<f64>| Series { values: history.clone(), filled: history.clone(), ..Series::default() };
            let series: Vec<Series> = histories.iter().map(of).collect();
            let fitted = Intermittent::fit(&series, 4).unwrap();
            assert_eq!(fitted.step.is_some(), grid);
            assert!(fitted.weights[OF_DECAYS..].iter().sum::<f64>() > 0.5, "{:?}", fitted.weights);
            let off = |history: &Vec<f64>| {
                let zero = fitted.pooled(history).iter().find(|(_, value, _)| *value == 0.0).unwrap().0;
                let own = history.iter().filter(|value| **value == 0.0).count() as f64 / 40.0;
                [(zero - 0.75).abs(), (own - 0.75).abs()]
            };
            let sums = histories.iter().map(off).fold([0.0; 2], |sum, off| [sum[0] + off[0], sum[1] + off[1]]);
            assert!(sums[0] < 0.6 * sums[1], "{sums:?}");
            // Models of earlier versions have no such members.
            let earlier =
                Intermittent { weights: vec![1.0 / OF_DECAYS as f64; OF_DECAYS], common: Vec::new(), ..fitted.clone() };
            assert!(earlier.is_sound() && fitted.is_sound());
            let total: f64 = earlier.pooled(&histories[0]).iter().map(|(weight, ..)| weight).sum();
            assert!((total - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn grids_are_found() {
        assert_eq!(grid_step([0.0, 3.0, 5.0].into_iter()), Some(1.0));
        assert_eq!(grid_step([0.0, 0.5, 2.0].into_iter()), Some(0.5));
        assert_eq!(grid_step([0.0, 0.37, 2.011].into_iter()), None);
        assert_eq!(grid_step([0.0, 3.0, 1e6].into_iter()), None);
    }

    #[test]
    fn zeros_must_be_common_and_nothing_negative() {
        assert!(is_intermittent(&[0.0, 0.0, 3.0, 0.0]));
        assert!(!is_intermittent(&[0.0, 2.0, 3.0, 1.0, 4.0, 2.0, 1.0]) && !is_intermittent(&[0.0, 0.0, -1.0, 0.0]));
    }
}
