//! Coherent forecasts of a hierarchy: joint draws of all series through the steps ahead, whose sums are the forecasts of
//! the sums.
//!
//! The normal scores of two series are correlated by what they share: a factor for all of them, one for each group of a
//! level, each with the dependence between steps of the [`Copula`],
//!
//! ```text
//! z_i = Σ_level sqrt(shared_level) f_(group of i) + sqrt(1 - Σ shared) e_i
//! ```
//!
//! A draw takes each series' quantile at its score, and sums add draws up. Where that had the lower energy score on
//! held-out origins, draws are moved so that their means are those that MinT reconciles from the forecasts of all series
//! and sums.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::atoms::{has_atoms, is_discrete};
use super::copula::{Copula, score};
use super::reconciliation::Reconciliation;
use super::shared_support::support_of_draws;
use super::{ForecastPoint, Forecasts, Series};
use negmm_dist::joint::energy_of_draws;
use negmm_dist::math::normal;
use negmm_dist::math::rng::Rng;
use negmm_dist::samples::SampleSets;
use negmm_dist::{Distribution, Predictions, Result, Support, streams};

/// Draws of a forecast, and those that scores are computed from.
pub(super) const DRAWS: usize = 1_000;
const SCORED_DRAWS: usize = 200;
/// What all levels share at most.
const MOST_SHARED: f64 = 0.95;
/// Normal scores at which quantiles of continuous distributions are computed; between them they are interpolated.
const LARGEST_SCORE: f64 = 4.0;
const KNOTS: usize = 161;
/// Range of the factor that moves the draws of targets that are not negative.
const MOST_FACTOR: f64 = 5.0;
/// Held-out groups that comparing ways of reconciliation takes at least.
const LEAST_GROUPS: usize = 4;

/// What is fitted for coherent forecasts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Coherent {
    /// The variance of normal scores that all series share, that which the groups of the first level share beside it, …
    pub(super) shared: Vec<f64>,
    /// Where MinT was better than sums of the series' own forecasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reconciliation: Option<Reconciliation>,
    /// Energy scores of held-out origins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scores: Option<EnergyScores>,
}

/// Mean energy scores of all series and sums together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct EnergyScores {
    /// Number of origins.
    pub origins: usize,
    /// Of sums of joint draws.
    pub bottom_up: f64,
    /// Of draws that are moved to reconciled means; `None` where that was not possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_t: Option<f64>,
    /// Of sums of independent draws of each series and step.
    pub independent: f64,
}

/// The forecast points of one origin, counted from the end of the series: for each series its rows.
pub(super) struct Group {
    /// Rows among the forecasts by series; each list has the same steps ahead.
    rows: Vec<Vec<usize>>,
    /// Steps from the origin to the last known one.
    back: usize,
}

/// What draws depend on beside the forecasts of each series.
#[derive(Clone, Copy)]
pub(super) struct Sampling {
    pub(super) copula: Copula,
    pub(super) support: Support,
    pub(super) horizon: usize,
    pub(super) seed: u64,
}

/// Draws of each row: rows × draws.
pub(super) struct Drawn {
    pub(super) values: Vec<f64>,
    pub(super) count: usize,
}

/// The points of all series at the origins and steps of these ones, by origin, the earliest first.
pub(super) fn complete(points: &[ForecastPoint], series: &[&Series]) -> Vec<ForecastPoint> {
    let mut wanted: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for point in points {
        let steps = wanted.entry(series[point.series].len() - 1 - point.origin).or_default();
        steps.push(point.ahead);
    }
    let mut all = Vec::new();
    for (back, mut steps) in wanted.into_iter().rev() {
        steps.sort_unstable();
        steps.dedup();
        for (number, one) in series.iter().enumerate() {
            let Some(origin) = (one.len() - 1).checked_sub(back) else { continue };
            all.extend(steps.iter().map(|ahead| ForecastPoint { series: number, origin, ahead: *ahead }));
        }
    }
    all
}

/// The points by origin; those of origins that not all series have, or not with the same steps, are left out.
pub(super) fn groups(points: &[ForecastPoint], series: &[&Series]) -> Vec<Group> {
    let mut by_back: BTreeMap<usize, Vec<Vec<usize>>> = BTreeMap::new();
    for (row, point) in points.iter().enumerate() {
        let back = series[point.series].len() - 1 - point.origin;
        by_back.entry(back).or_insert_with(|| vec![Vec::new(); series.len()])[point.series].push(row);
    }
    let steps = |rows: &[usize]| rows.iter().map(|row| points[*row].ahead).collect::<Vec<_>>();
    let same = |rows: &Vec<Vec<usize>>| rows.iter().all(|own| steps(own) == steps(&rows[0]));
    by_back.into_iter().filter(|(_, rows)| same(rows)).map(|(back, rows)| Group { rows, back }).collect()
}

impl Coherent {
    /// Series that share nothing.
    pub(super) fn independent(levels: usize) -> Self {
        Self { shared: vec![0.0; levels], reconciliation: None, scores: None }
    }

    /// Learns from held-out forecasts of these points and their values.
    pub(super) fn fit(
        (points, predictions, y): (&[ForecastPoint], &Predictions, &[f64]),
        series: &[&Series],
        sampling: Sampling,
    ) -> Result<Self> {
        let support = sampling.support;
        let groups = groups(points, series);
        let shared = shared(&groups, (points, predictions, y), series);
        let mut fitted = Self { shared, reconciliation: None, scores: None };
        if groups.is_empty() {
            return Ok(fitted);
        }
        let mean = |drawn: &Drawn| groups.iter().map(|group| drawn.energy(group, y)).sum::<f64>() / groups.len() as f64;
        let draws = |shared: &[f64], sampling: Sampling| {
            drawn((points, predictions), series, &groups, (shared, sampling), SCORED_DRAWS)
        };
        let joint = draws(&fitted.shared, sampling);
        let alone = Sampling { copula: Copula::default(), ..sampling };
        let independent = mean(&draws(&vec![0.0; fitted.shared.len()], alone));
        let bottom_up = mean(&joint);
        let mut min_t = None;
        let whole = predictions.mixtures().is_some_and(|all| (0..all.len()).any(|row| is_discrete(all, row)));
        if support.step.is_none() && !whole && groups.len() >= LEAST_GROUPS {
            let means = predictions.mean();
            // Each half of the origins with the reconciliation of the other.
            let mut sum = Some(0.0);
            for half in 0..2 {
                let of = |other: usize| groups.iter().skip(other).step_by(2);
                let found = Reconciliation::fit(of(1 - half).map(|group| group.rows.as_slice()), &means, y, series);
                sum = sum.zip(found).map(|(sum, found)| {
                    let mut moved = Drawn { values: joint.values.clone(), count: joint.count };
                    of(half).for_each(|group| found.apply(group, &means, &mut moved, series, support));
                    sum + of(half).map(|group| moved.energy(group, y)).sum::<f64>()
                });
            }
            min_t = sum.map(|sum| sum / groups.len() as f64);
            if min_t.is_some_and(|min_t| min_t < bottom_up) {
                let all = groups.iter().map(|group| group.rows.as_slice());
                fitted.reconciliation = Reconciliation::fit(all, &means, y, series);
            }
        }
        fitted.scores = Some(EnergyScores { origins: groups.len(), bottom_up, min_t, independent });
        Ok(fitted)
    }

    /// Coherent forecasts of all series from their own ones, which have complete origins.
    pub(super) fn forecasts(
        &self,
        Forecasts { points, predictions, .. }: Forecasts,
        series: &[&Series],
        sampling: Sampling,
    ) -> Result<Forecasts> {
        let support = sampling.support;
        let groups = groups(&points, series);
        let mut drawn = drawn((&points, &predictions), series, &groups, (&self.shared, sampling), DRAWS);
        if let Some(reconciliation) = self.reconciliation.as_ref().filter(|found| found.is_of(series)) {
            let means = predictions.mean();
            groups.iter().for_each(|group| reconciliation.apply(group, &means, &mut drawn, series, support));
        }
        let sets = SampleSets::new(DRAWS, drawn.values.clone(), f64::MIN_POSITIVE)?;
        let support = support_of_draws(&predictions, support, true, &drawn.values);
        let predictions = Predictions::from(sets).with_sound_support(support);
        Ok(Forecasts { points, predictions, draws: Some(drawn.values.into()) })
    }

    /// Whether the parameters are valid.
    pub(super) fn is_sound(&self) -> bool {
        self.shared.iter().all(|shared| *shared >= 0.0)
            && self.shared.iter().sum::<f64>() <= MOST_SHARED + 1e-9
            && self.reconciliation.as_ref().is_none_or(Reconciliation::is_sound)
    }
}

/// The energy scores of coherent forecasts, one for each origin that is complete: of their joint draws, and of sums of the
/// same draws in random order.
pub(super) fn whole_scores(forecasts: &Forecasts, series: &[&Series], y: &[f64], seed: u64) -> Vec<[f64; 2]> {
    let Some(draws) = &forecasts.draws else { return Vec::new() };
    let rows = forecasts.points.len();
    let each = draws.len() / rows.max(1);
    let count = each.min(SCORED_DRAWS);
    let values = (0..rows).flat_map(|row| draws[row * each..][..count].to_vec()).collect();
    let joint = Drawn { values, count };
    let mut independent = Drawn { values: joint.values.clone(), count };
    let mut rng = Rng::new(seed, streams::PATHS);
    let groups = groups(&forecasts.points, series);
    let score = |group: &Group| {
        for rows in group.rows.iter().zip(series).filter(|(_, series)| series.parts.is_empty()).map(|(rows, _)| rows) {
            rows.iter().for_each(|row| rng.shuffle(independent.row_mut(*row)));
        }
        independent.add_up(group, series);
        [joint.energy(group, y), independent.energy(group, y)]
    };
    groups.iter().map(score).collect()
}

impl Drawn {
    /// The draws of a row.
    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.count..][..self.count]
    }

    /// The same, to change.
    pub(super) fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.count..][..self.count]
    }

    /// The energy score of a group: of all its rows together.
    fn energy(&self, group: &Group, y: &[f64]) -> f64 {
        let rows: Vec<usize> = group.rows.concat();
        let truth: Vec<f64> = rows.iter().map(|row| y[*row]).collect();
        let draw = |draw: usize| rows.iter().map(move |row| self.values[row * self.count + draw]);
        energy_of_draws(&(0..self.count).flat_map(draw).collect::<Vec<f64>>(), &truth)
    }

    /// Makes the draws of sums those of their parts.
    pub(super) fn add_up(&mut self, group: &Group, series: &[&Series]) {
        for (number, sum) in series.iter().enumerate().filter(|(_, series)| !series.parts.is_empty()) {
            for (at, row) in group.rows[number].iter().enumerate() {
                let mut total = vec![0.0; self.count];
                for part in &sum.parts {
                    let values = self.row(group.rows[*part][at]);
                    total.iter_mut().zip(values).for_each(|(total, value)| *total += value);
                }
                self.row_mut(*row).copy_from_slice(&total);
            }
        }
    }
}

/// Joint draws of all rows of these groups.
pub(super) fn drawn(
    (points, predictions): (&[ForecastPoint], &Predictions),
    series: &[&Series],
    groups: &[Group],
    (shared, sampling): (&[f64], Sampling),
    count: usize,
) -> Drawn {
    let levels = shared.len();
    let mut drawn = Drawn { values: vec![0.0; points.len() * count], count };
    let parts: Vec<usize> = (0..series.len()).filter(|number| series[*number].parts.is_empty()).collect();
    // The sums whose factors each series has, the coarsest first.
    let above = |part: usize| -> Vec<usize> {
        let sums = (0..series.len()).filter(|number| series[*number].parts.contains(&part));
        sums.take(levels).collect()
    };
    let above: Vec<Vec<usize>> = parts.iter().map(|part| above(*part)).collect();
    let own = (1.0 - shared.iter().sum::<f64>()).max(0.0).sqrt();
    for group in groups {
        let paths = |number: usize| -> Vec<Vec<f64>> {
            let stream = streams::PATHS + ((number as u64) << 32) + group.back as u64;
            let mut rng = Rng::new(sampling.seed, stream);
            // All steps up to the horizon: the draws of a step do not depend on which others are asked for.
            (0..count).map(|_| sampling.copula.scores(sampling.horizon, &mut rng)).collect()
        };
        let needed: Vec<usize> = (0..series.len())
            .filter(|number| !series[*number].parts.is_empty() && shared.iter().any(|shared| *shared > 0.0))
            .collect();
        let factors: BTreeMap<usize, Vec<Vec<f64>>> =
            needed.into_par_iter().map(|number| (number, paths(number))).collect();
        let of_parts: Vec<Vec<Vec<f64>>> = parts
            .par_iter()
            .zip(&above)
            .map(|(part, above)| {
                let mut scores = paths(*part);
                scores.iter_mut().flatten().for_each(|score| *score *= own);
                for (shared, sum) in shared.iter().zip(above).filter(|(shared, _)| **shared > 0.0) {
                    for (scores, factor) in scores.iter_mut().zip(&factors[sum]) {
                        scores.iter_mut().zip(factor).for_each(|(score, factor)| *score += shared.sqrt() * factor);
                    }
                }
                let of_row = |row: &usize| {
                    let ahead = points[*row].ahead - 1;
                    let at_step: Vec<f64> = scores.iter().map(|scores| scores[ahead]).collect();
                    quantiles(predictions, *row, &at_step)
                };
                group.rows[*part].iter().map(of_row).collect()
            })
            .collect();
        for (part, values) in parts.iter().zip(of_parts) {
            for (row, values) in group.rows[*part].iter().zip(values) {
                drawn.row_mut(*row).copy_from_slice(&values);
            }
        }
        drawn.add_up(group, series);
    }
    drawn
}

/// The quantiles of a row at these normal scores.
fn quantiles(predictions: &Predictions, row: usize, scores: &[f64]) -> Vec<f64> {
    let distribution = predictions.row(row);
    let exact = |score: f64| distribution.quantile(normal::cdf(score).clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON));
    let atoms = predictions.mixtures().is_none_or(|mixtures| has_atoms(mixtures, row));
    if predictions.support().step.is_some() || atoms || scores.len() < 2 * KNOTS {
        return scores.iter().map(|score| exact(*score)).collect();
    }
    let width = 2.0 * LARGEST_SCORE / (KNOTS - 1) as f64;
    let knots: Vec<f64> = (0..KNOTS).map(|knot| exact(knot as f64 * width - LARGEST_SCORE)).collect();
    let between = |score: &f64| {
        let at = (score + LARGEST_SCORE) / width;
        if !(0.0..(KNOTS - 1) as f64).contains(&at) {
            return exact(*score);
        }
        let (knot, fraction) = (at as usize, at.fract());
        knots[knot] + fraction * (knots[knot + 1] - knots[knot])
    };
    scores.iter().map(between).collect()
}

/// What the scores of series share at each level: mean products of pairs that share a group, in units of their mean
/// square.
fn shared(
    groups: &[Group],
    (points, predictions, y): (&[ForecastPoint], &Predictions, &[f64]),
    series: &[&Series],
) -> Vec<f64> {
    let levels = series.iter().map(|series| series.keys.len()).max().unwrap_or(0);
    let of_row = |row: usize| {
        let distribution = predictions.row(row);
        // The middle of a jump.
        score(distribution.cdf(y[row]) - 0.5 * distribution.point_probability(y[row]))
    };
    let scores: Vec<f64> = (0..points.len()).into_par_iter().map(of_row).collect();
    let (mut square, mut count) = (0.0, 0.0);
    // For each level the sum and number of products of pairs.
    let mut products = vec![(0.0, 0.0); levels];
    for group in groups {
        for at in 0..group.rows[0].len() {
            for number in (0..series.len()).filter(|number| series[*number].parts.is_empty()) {
                let own = scores[group.rows[number][at]];
                (square, count) = (square + own * own, count + 1.0);
            }
            for one in series.iter().filter(|series| !series.parts.is_empty()) {
                let level = one.keys.iter().take_while(|key| *key != super::ALL).count();
                let own = one.parts.iter().map(|part| scores[group.rows[*part][at]]);
                let (sum, squares) = own.fold((0.0, 0.0), |(sum, squares), own| (sum + own, squares + own * own));
                let pairs = (one.parts.len() * (one.parts.len() - 1) / 2) as f64;
                let (total, number) = &mut products[level];
                (*total, *number) = (*total + 0.5 * (sum * sum - squares), *number + pairs);
            }
        }
    }
    let mean_square = if count > 0.0 { square / count } else { 1.0 };
    // Pairs of a level are those of the next finer one and others: what a level shares is the correlation of the latter.
    let mut shared = Vec::with_capacity(levels);
    let mut known: f64 = 0.0;
    for level in 0..levels {
        let (inner, pairs) = products.get(level + 1).copied().unwrap_or((0.0, 0.0));
        let (total, number) = products[level];
        let correlation = match number - pairs > 0.0 && mean_square > 0.0 {
            true => ((total - inner) / (number - pairs) / mean_square).clamp(0.0, MOST_SHARED),
            false => known,
        };
        shared.push((correlation - known).max(0.0));
        known = known.max(correlation);
    }
    shared
}

impl Reconciliation {
    /// Moves the draws of the series of a group so that their means are reconciled, and adds them up.
    fn apply(&self, group: &Group, means: &[f64], drawn: &mut Drawn, series: &[&Series], support: Support) {
        let parts: Vec<usize> = (0..series.len()).filter(|number| series[*number].parts.is_empty()).collect();
        for at in 0..group.rows[0].len() {
            let base: Vec<f64> = group.rows.iter().map(|rows| means[rows[at]]).collect();
            for (part, target) in parts.iter().zip(self.of(&base)) {
                let values = drawn.row_mut(group.rows[*part][at]);
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                if support.lower == Some(0.0) && mean > 0.0 {
                    let factor = (target / mean).clamp(0.0, MOST_FACTOR);
                    values.iter_mut().for_each(|value| *value *= factor);
                } else {
                    values.iter_mut().for_each(|value| *value = support.nearest(*value + target - mean));
                }
            }
        }
        drawn.add_up(group, series);
    }
}
