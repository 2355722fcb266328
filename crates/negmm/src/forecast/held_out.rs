//! Forecasts of the last part of each series: the stacking weights of the pool, and the copula.

use super::copula::{Copula, Products, score};
use super::own_weights::OwnWeights;
use super::shared_errors::SharedErrors;
use super::spread::centred;
use super::stacking::Stacking;
use super::supports::{OwnSupport, jitter};
use super::{ForecastPoint, Series};
use negmm_dist::Distribution;
use negmm_dist::Mixtures;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Parts of the points whose weights are fitted on the others.
const PARTS: usize = 5;

/// Points that stacking weights need at least.
const FEW: f64 = 30.0;
/// Candidates for the factor of a member's weight, the relative gain in CRPS that it needs, and the points that decide.
const ODDS: [f64; 6] = [0.5, 0.25, 0.125, 2.0, 4.0, 8.0];
const LEAST_GAIN: f64 = 1e-3;
const MOST_ODDS_ROWS: usize = 800;
/// Coverage of the interval that the spread is fitted to, the number of points that decide at most, that at which the
/// factor is shrunk by half, and its range.
const COVERAGE: f64 = 0.8;
const MOST_SPREAD_ROWS: usize = 4_000;
const SPREAD_ROWS: f64 = 20.0;
const LEAST_SPREAD: f64 = 0.6;
const MOST_SPREAD: f64 = 1.5;

/// Scored points with their values, in the order of series and origins.
pub(super) struct HeldOutPoints {
    pub(super) points: Vec<ForecastPoint>,
    pub(super) y: Vec<f64>,
    /// 1 for the points that weights are fitted to, 0 for those that the pool does not forecast.
    pub(super) counts: Vec<f64>,
    /// The support of each series.
    pub(super) own: Vec<OwnSupport>,
}

/// The pool of the members at held-out points.
pub(super) struct Pooled {
    /// The stacking weights of the members.
    pub(super) weights: Vec<f64>,
    /// Those of single series, where they have their own.
    pub(super) of_series: Vec<(usize, Vec<f64>)>,
    /// Each part of the points with the weights of the others.
    pub(super) mixtures: Mixtures,
}

impl HeldOutPoints {
    /// The pool of these members, the classical one first. All mixtures are in the target's unit.
    pub(super) fn pooled(&self, members: Vec<Mixtures>) -> Pooled {
        let likelihoods: Vec<Vec<f64>> = members
            .iter()
            .map(|mixtures| {
                let row = |(row, y): (usize, &f64)| self.own(row).log_likelihood(mixtures, row, *y);
                self.y.iter().enumerate().map(row).collect()
            })
            .collect();
        // Points of an origin stay together, and with many series all of a series.
        let several =
            self.points.first().zip(self.points.last()).is_some_and(|(first, last)| first.series != last.series);
        let mut parts: Vec<u32> = Vec::with_capacity(self.points.len());
        let beside = |a: &ForecastPoint, b: &ForecastPoint| if several { a.series == b.series } else { a.is_beside(b) };
        for (number, group) in self.points.chunk_by(beside).enumerate() {
            parts.extend(vec![(number % PARTS) as u32; group.len()]);
        }
        // The first member is the classical one: it predicts alone where too few points could say otherwise.
        let few = self.counts.iter().sum::<f64>() < FEW;
        let alone: Vec<f64> = (0..members.len()).map(|member| f64::from(u8::from(member == 0))).collect();
        let stacking = Stacking::new(&likelihoods, &parts, &self.counts);
        let fitted = |weights: Vec<f64>| if few { alone.clone() } else { weights };
        let without: Vec<Vec<f64>> = (0..PARTS as u32).map(|part| fitted(stacking.weights_without(part))).collect();
        let order: Vec<usize> = (0..self.points.len()).collect();
        let weights = fitted(stacking.weights());
        let without = |row: usize| without[parts[row] as usize].clone();
        let relative = |row: usize| -> Vec<f64> {
            let largest = likelihoods.iter().map(|part| part[row]).fold(f64::NEG_INFINITY, f64::max);
            let each = likelihoods.iter().map(|part| libm::exp(part[row] - largest));
            // Points that do not count, or that all exclude, say nothing.
            each.map(|each| if self.counts[row] > 0.0 && largest.is_finite() { each } else { 1.0 }).collect()
        };
        let relative: Vec<Vec<f64>> = order.iter().map(|row| relative(*row)).collect();
        let own = (several && !few).then(|| OwnWeights::fit(&self.points, &relative, &weights, without)).flatten();
        let of_point: Vec<Vec<f64>> = match &own {
            Some(own) => own.of_points.clone(),
            None => order.iter().map(|row| without(*row)).collect(),
        };
        let odds = if few { vec![1.0; members.len()] } else { self.odds(&members, &of_point) };
        let with_odds = |weights: &[f64]| {
            let each: Vec<f64> = weights.iter().zip(&odds).map(|(weight, odds)| weight * odds).collect();
            let sum: f64 = each.iter().sum();
            each.into_iter().map(|weight| weight / sum).collect::<Vec<f64>>()
        };
        let of_point: Vec<Vec<f64>> = of_point.iter().map(|weights| with_odds(weights)).collect();
        let weights = with_odds(&weights);
        let weighted = members
            .into_iter()
            .enumerate()
            .map(|(member, mixtures)| mixtures.take(&order, |row| (of_point[row][member], 1.0)));
        let mixtures = centred(&weighted.collect::<Vec<_>>());
        let own = own.map_or_else(Vec::new, |own| own.of_series);
        let of_series = own.into_iter().map(|(number, weights)| (number, with_odds(&weights))).collect();
        Pooled { weights, of_series, mixtures }
    }

    /// Factors of the members' weights with which the centred pool has the lowest CRPS, each series in units of its values:
    /// of the last member, the networks, then of the first. The likelihood, by which weights are found, heeds most where
    /// errors are smallest.
    fn odds(&self, members: &[Mixtures], weights: &[Vec<f64>]) -> Vec<f64> {
        let counting: Vec<usize> = (0..self.y.len()).filter(|row| self.counts[*row] > 0.0).collect();
        let rows: Vec<usize> =
            counting.iter().copied().step_by(counting.len().div_ceil(MOST_ODDS_ROWS).max(1)).collect();
        let mut units: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (point, y) in self.points.iter().zip(&self.y) {
            let (sum, count) = units.entry(point.series).or_default();
            (*sum, *count) = (*sum + y.abs(), *count + 1.0);
        }
        let own: Vec<Mixtures> = members.iter().map(|member| member.clone().take(&rows, |_| (1.0, 1.0))).collect();
        let order: Vec<usize> = (0..rows.len()).collect();
        let loss = |odds: &[f64]| -> [f64; 2] {
            let sum = |row: usize| weights[rows[row]].iter().zip(odds).map(|(weight, odds)| weight * odds).sum::<f64>();
            let weighted = own.iter().enumerate().map(|(member, mixtures)| {
                let weight = |row: usize| weights[rows[row]][member] * odds[member] / sum(row);
                mixtures.clone().take(&order, |row| (weight(row), 1.0))
            });
            let pooled = centred(&weighted.collect::<Vec<_>>());
            let of_row = |row: &usize| {
                let (sum, count) = units[&self.points[rows[*row]].series];
                // A series of zeros has no unit, and says nothing.
                if sum > 0.0 { pooled.row(*row).crps(self.y[rows[*row]]) * (count / sum) } else { 0.0 }
            };
            let losses: Vec<f64> = order.par_iter().map(of_row).collect();
            let (first, second) = losses.split_at(losses.len() / 2);
            [first.iter().sum(), second.iter().sum()]
        };
        let mut best = vec![1.0; members.len()];
        let mut lowest = loss(&best);
        for member in [members.len() - 1, 0] {
            for odds in ODDS {
                let mut next = best.clone();
                next[member] = odds;
                let found = loss(&next);
                // What is better must be so in both halves.
                if (0..2).all(|half| found[half] < (1.0 - LEAST_GAIN) * lowest[half]) {
                    (lowest, best) = (found, next);
                }
            }
        }
        best
    }

    /// The factor of the pool's spread with which its central interval covers what it should.
    pub(super) fn spread(&self, pooled: &Mixtures) -> f64 {
        let counting: f64 = self.counts.iter().sum();
        let every = (counting as usize).div_ceil(MOST_SPREAD_ROWS).max(1);
        let rows = (0..self.y.len()).filter(|row| self.counts[*row] > 0.0).step_by(every);
        // The factor from which on the interval of a row covers its value: quantiles move in proportion to it.
        let needed = |row: usize| {
            let (distribution, y) = (pooled.row(row), self.y[row] + self.own(row).resolution * jitter(row));
            let (mean, tail) = (distribution.mean(), 0.5 * (1.0 - COVERAGE));
            let end = distribution.quantile(if y > mean { 1.0 - tail } else { tail });
            if y == mean { 0.0 } else { ((y - mean) / (end - mean)).max(0.0) }
        };
        let mut factors: Vec<f64> = rows.map(needed).filter(|factor| factor.is_finite()).collect();
        factors.sort_by(f64::total_cmp);
        let Some(factor) = factors.get((COVERAGE * factors.len() as f64) as usize) else { return 1.0 };
        // With few values it is hardly known.
        let count = factors.len() as f64;
        let shrunk = libm::exp(libm::log(factor.max(f64::MIN_POSITIVE)) * count / (count + SPREAD_ROWS));
        shrunk.clamp(LEAST_SPREAD, MOST_SPREAD)
    }

    /// The support of a point's series.
    fn own(&self, row: usize) -> &OwnSupport {
        &self.own[self.points[row].series]
    }

    /// The normal score of a point's PIT, in the middle of a jump.
    fn normal_score(&self, pooled: &Mixtures, row: usize) -> f64 {
        let (distribution, y) = (self.own(row).rounded(pooled, row), self.y[row]);
        score(distribution.cdf(y) - 0.5 * distribution.point_probability(y))
    }

    /// How alike the errors of different series are at the same time, where they are; `times` has those of the targets, and
    /// series that are sums of others do not count.
    pub(super) fn shared_errors(&self, pooled: &Mixtures, series: &[Series], times: &[f64]) -> Option<SharedErrors> {
        let counts = |row: usize| self.counts[row] > 0.0 && series[self.points[row].series].parts.is_empty();
        let score = |row: usize| if counts(row) { self.normal_score(pooled, row) } else { f64::NAN };
        let scores: Vec<f64> = (0..self.y.len()).map(score).collect();
        SharedErrors::of(&self.points, times, &scores).filter(|shared| shared.are_alike())
    }

    /// The copula between steps ahead of the same origin.
    pub(super) fn copula(&self, pooled: &Mixtures) -> Copula {
        let mut products = Products::default();
        let mut row = 0;
        for origin in self.points.chunk_by(ForecastPoint::is_beside) {
            let scores =
                origin.iter().enumerate().map(|(at, point)| (point.ahead, self.normal_score(pooled, row + at)));
            products.add(&scores.collect::<Vec<_>>());
            row += origin.len();
        }
        Copula::nearest(&products)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::Support;
    use negmm_dist::math::normal;

    /// The spread of standard normal forecasts whose errors have an sd.
    fn spread(sd: f64, count: usize) -> f64 {
        let points = (0..count).map(|origin| ForecastPoint { series: 0, origin, ahead: 1 }).collect();
        // Points that do not count have absurd values.
        let counts = (0..count).map(|row| f64::from(u8::from(row % 10 > 0))).collect();
        let quantile = |row: usize| normal::quantile((row as f64 + 0.5) / count as f64);
        let y = (0..count).map(|row| if row % 10 > 0 { 5.0 + sd * quantile(row) } else { 1e6 }).collect();
        let pooled = Mixtures::from_parts_unchecked(1, vec![1.0; count], vec![5.0; count], vec![1.0; count]);
        let series = Series { values: vec![0.1234567, 1.5], ..Series::default() };
        let own = vec![OwnSupport::of(&series, Support::default(), true)];
        HeldOutPoints { points, y, counts, own }.spread(&pooled)
    }

    #[test]
    fn a_member_that_is_far_off_loses_weight() {
        let count = 400;
        let points: Vec<_> = (0..count).map(|origin| ForecastPoint { series: 0, origin, ahead: 1 }).collect();
        let level = |row: usize| ((row * 171 % count) as f64 + 0.5) / count as f64;
        let y: Vec<f64> = (0..count).map(|row| 9.0 + normal::quantile(level(row))).collect();
        let of = |mean: f64| Mixtures::from_parts_unchecked(1, vec![1.0; count], vec![mean; count], vec![1.0; count]);
        let held_out = HeldOutPoints { points, y, counts: vec![1.0; count], own: Vec::new() };
        let even = vec![vec![0.5; 2]; count];
        let found = held_out.odds(&[of(9.0), of(12.0)], &even);
        assert!(found[0] > 1.0 && found[1] == 0.125, "{found:?}");
        assert_eq!(held_out.odds(&[of(9.0), of(9.0)], &even), [1.0, 1.0]);
        // Errors on both sides cancel in the mean of all.
        assert_eq!(held_out.odds(&[of(8.0), of(10.0)], &even), [1.0, 1.0]);
    }

    #[test]
    fn the_spread_makes_intervals_cover_and_is_shrunk_and_bounded() {
        for sd in [0.75, 1.0, 1.3] {
            assert!((spread(sd, 4_000) / sd - 1.0).abs() < 0.05, "{sd}: {}", spread(sd, 4_000));
        }
        assert_eq!((spread(0.1, 4_000), spread(9.0, 4_000)), (LEAST_SPREAD, MOST_SPREAD));
        // Of 20 points 18 count: ln(1.301) is multiplied by 18 / 38.
        let few = spread(1.45, 20);
        assert!((1.12..1.15).contains(&few), "{few}");
        assert_eq!(spread(1.3, 0), 1.0);
    }
}
