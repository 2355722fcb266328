//! Classical forecasts of single series: a combination of smoothing, Theta, naive methods and autoregressions.
//!
//! From an origin each [`Member`] forecasts the steps ahead. The forecast is their weighted mean,
//!
//! ```text
//! weight_m ∝ exp(-SHARPNESS (error_m / lowest error - 1))
//! ```
//!
//! with the mean absolute errors of the same members, refitted at earlier origins of the series, shrunk towards their
//! errors in all series. The scale of its error at step h is s · growth_h · f: s is the root mean square of one-step
//! errors, growth_h their growth over all series, and f how much larger the errors of this series were. The distribution
//! of scaled errors is shared by all series; it comes from origins at which the combination used only what came before.

mod autoregression;
mod calendar;
mod combination;
mod decomposition;
mod members;
mod simplex;
mod smoothing;
mod theta;
mod year;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::changes::error_distribution;
use super::scale::FAR;
use super::{ForecastPoint, Frequency, Series};
use combination::{Combined, Fits, weights_of};
use members::{LONGEST_PERIOD, Member};
use negmm_dist::Mixtures;
use negmm_dist::math::normal;

/// Earlier origins that the weights and the factor of a series come from; fewer where there are very many series, of which
/// each says less about itself than all the others do, and a forecast is wanted in a fraction of a millisecond.
const OWN_ORIGINS: usize = 6;
const OWN_ORIGINS_OF_MANY: usize = 2;
const VERY_MANY_SERIES: usize = 20_000;
/// Origins and series that the shared parameters come from: over all series, at least and at most of each.
const ALL_ORIGINS: usize = 4_000;
const LEAST_ORIGINS: usize = 4;
const MOST_ORIGINS: usize = 40;
const MANY_STEPS: usize = 8;
const MOST_SERIES: usize = 1_000;
/// Shortest history before an earlier origin, beside two periods.
const LEAST_HISTORY: usize = 8;
/// Ratio of scale and level where no series shows one.
const UNKNOWN_RATIO: f64 = 0.3;
/// Smallest scale relative to the level.
const LEAST_SCALE: f64 = 1e-9;
/// The sd of scaled errors without any to learn from. Quantiles of it, and errors that grow like those of a random walk,
/// count as so many errors.
const UNKNOWN_SD: f64 = 1.5;
const USUAL_QUANTILES: usize = 10;
const USUAL_ERRORS: f64 = 2.0;

/// The parameters that all series share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Classical {
    periods: Vec<usize>,
    /// Mean relative error of each member.
    errors: Vec<f64>,
    /// Mean absolute error at each step ahead, in units of the scale.
    growth: Vec<f64>,
    /// Ratio of scale and level.
    ratio: f64,
    /// The distribution of scaled errors: weights and sds of normals around 0.
    weights: Vec<f64>,
    sds: Vec<f64>,
    /// Earlier origins that the weights of a series come from.
    #[serde(default = "usual_origins", skip_serializing_if = "is_usual")]
    own_origins: usize,
    /// Steps of a week, where a year is known by whole weeks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    week: Option<usize>,
}

fn usual_origins() -> usize {
    OWN_ORIGINS
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_usual(origins: &usize) -> bool {
    *origins == OWN_ORIGINS
}

impl Classical {
    /// The number of series that the shared parameters come from, out of so many.
    pub(super) fn fitted(series: usize) -> usize {
        series.div_ceil(series.div_ceil(MOST_SERIES).max(1))
    }

    /// Learns the shared parameters. `each` is called after each series, and says whether to go on.
    pub(super) fn fit(
        series: &[Series],
        (periods, frequency): (&[usize], Frequency),
        horizon: usize,
        each: &(impl Fn() -> bool + Sync),
    ) -> Self {
        let periods: Vec<usize> = periods.iter().copied().filter(|period| *period <= LONGEST_PERIOD).collect();
        let week = frequency.steps_of_week().filter(|week| periods.contains(week));
        let members = Member::all(&periods, week).len();
        let mut shared = Self {
            periods,
            errors: vec![1.0; members],
            growth: vec![1.0; horizon],
            ratio: UNKNOWN_RATIO,
            weights: vec![1.0],
            sds: vec![UNKNOWN_SD],
            week,
            own_origins: if series.len() > VERY_MANY_SERIES { OWN_ORIGINS_OF_MANY } else { OWN_ORIGINS },
        };
        let every = series.len().div_ceil(MOST_SERIES).max(1);
        let used: Vec<&Series> = series.iter().step_by(every).collect();
        // Of origins with few steps ahead there are more.
        let most = MOST_ORIGINS * MANY_STEPS / horizon.clamp(1, MANY_STEPS);
        let origins = (ALL_ORIGINS / used.len().max(1)).clamp(LEAST_ORIGINS, most);
        let fits: Vec<Fits> = used
            .par_iter()
            .map(|series| {
                let mut fits = Fits::new(series, &shared.periods, horizon);
                let history = series.history(series.len() - 1);
                for end in shared.earlier(history.len(), origins + shared.own_origins) {
                    shared.at(history, end, &mut fits);
                }
                each().then_some(fits)
            })
            .collect::<Option<_>>()
            .unwrap_or_else(|| vec![Fits::default(); used.len()]);
        shared.ratio = shared.ratio_of(&used, &fits);
        shared.errors = shared.errors_of(&used, &fits, origins);
        // Growth by the errors of combinations without it, then the distribution of the errors in units of all that.
        let errors = |shared: &Self| -> Vec<(usize, f64)> {
            let of_series = |(series, fits): (&&Series, &Fits)| shared.scaled_errors(series, fits.clone(), origins);
            used.par_iter().zip(&fits).map(of_series).collect::<Vec<_>>().concat()
        };
        // As if a few errors had been those of a random walk.
        let usual = |index: usize| (USUAL_ERRORS * ((index + 1) as f64).sqrt(), USUAL_ERRORS);
        let mut sums: Vec<(f64, f64)> = (0..horizon).map(usual).collect();
        for (index, error) in errors(&shared) {
            let (sum, count) = &mut sums[index];
            (*sum, *count) = (*sum + error.abs().min(FAR * ((index + 1) as f64).sqrt()), *count + 1.0);
        }
        shared.growth = grown(&sums);
        let mut scaled: Vec<f64> = errors(&shared).into_iter().map(|(_, error)| error.clamp(-FAR, FAR)).collect();
        let level = |index: usize| (index as f64 + 0.5) / USUAL_QUANTILES as f64;
        scaled.extend((0..USUAL_QUANTILES).map(|index| UNKNOWN_SD * normal::quantile(level(index))));
        let distribution = error_distribution(&scaled);
        shared.weights = distribution.weights().to_vec();
        shared.sds = distribution.sds().to_vec();
        shared
    }

    /// The distributions of these points of `series`.
    pub(super) fn mixtures(&self, series: &[&Series], points: &[ForecastPoint]) -> Mixtures {
        self.watched(series, points, &|| true)
    }

    /// The same; `each` is called after each series, and says whether to go on.
    pub(super) fn watched(
        &self,
        series: &[&Series],
        points: &[ForecastPoint],
        each: &(impl Fn() -> bool + Sync),
    ) -> Mixtures {
        let scaling = self.location_scales(series, points, each);
        let means = vec![0.0; self.sds.len()];
        let errors = Mixtures::from_parts_unchecked(self.sds.len(), self.weights.clone(), means, self.sds.clone());
        errors.repeated(points.len()).rescaled_by_row(scaling.iter().map(|scaling| scaling.shift_and_scale()))
    }

    /// The names of the members with their shared weights, the largest first.
    pub(super) fn member_weights(&self) -> Vec<(String, f64)> {
        let names = Member::all(&self.periods, self.week).into_iter().map(Member::name);
        let mut weights: Vec<(String, f64)> = names.zip(weights_of(&self.errors)).collect();
        weights.sort_by(|a, b| b.1.total_cmp(&a.1));
        weights
    }

    /// Whether the parameters are valid for this horizon.
    pub(super) fn is_sound(&self, horizon: usize) -> bool {
        let positive = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite() && *number > 0.0);
        let sum: f64 = self.weights.iter().sum();
        self.periods.iter().all(|period| (2..=LONGEST_PERIOD).contains(period))
            && self.periods.is_sorted()
            && self.week.is_none_or(|week| self.periods.contains(&week))
            && self.errors.len() == Member::all(&self.periods, self.week).len()
            && self.growth.len() == horizon
            && self.weights.len() == self.sds.len()
            && positive(&self.errors)
            && positive(&self.growth)
            && positive(&self.sds)
            && positive(&[self.ratio])
            && (1..=OWN_ORIGINS).contains(&self.own_origins)
            && (sum - 1.0).abs() < 1e-6
            && self.weights.iter().all(|weight| *weight >= 0.0)
    }

    fn horizon(&self) -> usize {
        self.growth.len()
    }

    /// Steps between the origins of a series: half the horizon.
    fn stride(&self) -> usize {
        self.horizon().div_ceil(2)
    }

    /// Errors of the combination from the origins of a series, each with its step ahead less one, in units of its scale.
    fn scaled_errors(&self, series: &Series, mut fits: Fits, origins: usize) -> Vec<(usize, f64)> {
        let mut errors = Vec::new();
        let history = series.history(series.len() - 1);
        for end in self.earlier(history.len(), origins) {
            let Combined { path, scale } = self.combined(&history[..end], &mut fits);
            for (index, (forecast, growth)) in path.iter().zip(&self.growth).enumerate() {
                match series.values.get(series.first + end + index) {
                    Some(value) if !value.is_nan() => errors.push((index, (value - forecast) / (scale * growth))),
                    Some(_) => {}
                    None => break,
                }
            }
        }
        errors
    }

    /// Each member's mean error over all series, each series in its own unit.
    fn errors_of(&self, series: &[&Series], fits: &[Fits], origins: usize) -> Vec<f64> {
        let (mut sums, mut count) = (vec![0.0; self.errors.len()], 0.0);
        for (series, fits) in series.iter().zip(fits) {
            let history = series.history(series.len() - 1);
            let (own, unit, steps) = self.own_errors(history, origins, &mut fits.clone());
            if unit > 0.0 {
                sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own / unit);
                count += steps;
            }
        }
        if count > 0.0 { sums.iter().map(|sum| (sum / count).max(LEAST_SCALE)).collect() } else { self.errors.clone() }
    }

    /// The geometric mean of the ratios of scale and level.
    fn ratio_of(&self, series: &[&Series], fits: &[Fits]) -> f64 {
        let latest = |(series, fits): (&&Series, &Fits)| {
            let paths =
                fits.by_end.iter().max_by_key(|(end, _)| **end).map(|(end, paths)| (*end, paths.rms / paths.level));
            let history = series.history(series.len() - 1);
            let changes = history.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum::<f64>();
            let level = history.iter().map(|value| value.abs()).sum::<f64>();
            match paths {
                Some((end, ratio)) if end > LEAST_HISTORY => ratio,
                _ => changes / level * history.len() as f64 / (history.len().max(2) - 1) as f64,
            }
        };
        let logs: Vec<f64> = series
            .iter()
            .zip(fits)
            .map(latest)
            .filter(|ratio| ratio.is_finite() && *ratio > LEAST_SCALE)
            .map(libm::log)
            .collect();
        if logs.is_empty() { UNKNOWN_RATIO } else { libm::exp(logs.iter().sum::<f64>() / logs.len() as f64) }
    }
}

/// Mean errors by step ahead; without any at a step, that before grows like a random walk.
fn grown(sums: &[(f64, f64)]) -> Vec<f64> {
    let mut growth: Vec<f64> = Vec::with_capacity(sums.len());
    for (index, (sum, count)) in sums.iter().enumerate() {
        let usual = growth.last().map_or(1.0, |before| before * ((index + 1) as f64 / index as f64).sqrt());
        growth.push(if *count > 0.0 && *sum > 0.0 { sum / count } else { usual });
    }
    growth
}
