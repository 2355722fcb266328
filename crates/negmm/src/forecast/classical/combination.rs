//! The combination of the members after a history: weights by their earlier errors, and its scale.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::calendar::{YEAR, leap_days};
use super::members::{Member, Paths};
use super::{Classical, LEAST_HISTORY, LEAST_SCALE};
use crate::forecast::local_scale::LocationScale;
use crate::forecast::{ForecastPoint, Series};

/// How sharply weights prefer members with small errors.
const SHARPNESS: f64 = 4.0;
/// The errors of all series count as so many steps of a series' own.
const SHARED_STEPS: f64 = 5.0;
/// The factor of a series counts as one with so many steps; errors of one origin are dependent, so that only each third
/// counts.
const SHARED_FACTOR_STEPS: f64 = 6.0;
const DEPENDENT: f64 = 3.0;
/// Scaled errors count up to this size.
const MOST_ERROR: f64 = 8.0;
/// Steps that one-step errors need beyond the parameters of a method, and the strength of the shared ratio of scale and
/// level in steps.
const FITTED_STEPS: usize = 3;
const SHARED_SCALE_STEPS: f64 = 2.0;

/// A combined forecast.
pub(super) struct Combined {
    pub(super) path: Vec<f64>,
    /// The scale of errors, without growth.
    pub(super) scale: f64,
}

/// The fits of one series by the number of steps before their origin, and its steps that are 29 Februaries.
#[derive(Clone, Default)]
pub(super) struct Fits {
    pub(super) by_end: HashMap<usize, Arc<Paths>>,
    leap_days: Vec<usize>,
}

impl Fits {
    pub(super) fn new(series: &Series, periods: &[usize], horizon: usize) -> Self {
        let leap_days = if periods.contains(&YEAR) { leap_days(series, horizon) } else { Vec::new() };
        Self { by_end: HashMap::new(), leap_days }
    }
}

impl Classical {
    /// Location and scale of these points.
    pub(super) fn location_scales(
        &self,
        series: &[&Series],
        points: &[ForecastPoint],
        each: &(impl Fn() -> bool + Sync),
    ) -> Vec<LocationScale> {
        let stopped = AtomicBool::new(false);
        let of_series: Vec<&[ForecastPoint]> = points.chunk_by(|a, b| a.series == b.series).collect();
        let located = of_series.into_par_iter().map(|points| {
            let mut fits = Fits::new(series[points[0].series], &self.periods, self.horizon());
            let mut scaling = Vec::with_capacity(points.len());
            if stopped.load(Ordering::Relaxed) {
                return vec![LocationScale { location: 0.0, scale: 1.0 }; points.len()];
            }
            for origin in points.chunk_by(ForecastPoint::is_beside) {
                let history = series[origin[0].series].history(origin[0].origin);
                let Combined { path, scale } = self.combined(history, &mut fits);
                let at = |point: &ForecastPoint| LocationScale {
                    location: path[point.ahead - 1],
                    scale: scale * self.growth[point.ahead - 1],
                };
                scaling.extend(origin.iter().map(at));
                // Fits of origins that later ones do not need.
                let needed = history.len().saturating_sub((self.own_origins + 1) * self.stride());
                fits.by_end.retain(|end, _| *end >= needed);
            }
            stopped.fetch_or(!each(), Ordering::Relaxed);
            scaling
        });
        located.collect::<Vec<_>>().concat()
    }

    /// The members' forecasts after the first `end` steps.
    pub(super) fn at(&self, history: &[f64], end: usize, fits: &mut Fits) -> Arc<Paths> {
        let members = Member::all(&self.periods, self.week);
        let Fits { by_end, leap_days } = fits;
        let fit = || Arc::new(Paths::of(&history[..end], &self.periods, &members, self.horizon(), leap_days));
        by_end.entry(end).or_insert_with(fit).clone()
    }

    /// The number of steps before the earlier origins of a history with this many steps, the latest first.
    pub(super) fn earlier(&self, steps: usize, origins: usize) -> Vec<usize> {
        let shortest = self.periods.first().copied().unwrap_or(1);
        let least = LEAST_HISTORY.max(2 * shortest + 4).min(steps / 2).max(1);
        let ends = (1..=origins).map(|back| steps.checked_sub(back * self.stride()));
        ends.map_while(|end| end.filter(|end| *end >= least)).collect()
    }

    /// The sums of each member's absolute errors from earlier origins of a history, their unit, and the number of steps.
    pub(super) fn own_errors(&self, history: &[f64], origins: usize, fits: &mut Fits) -> (Vec<f64>, f64, f64) {
        let members = Member::all(&self.periods, self.week);
        let (mut sums, mut steps) = (vec![0.0; members.len()], 0.0);
        for end in self.earlier(history.len(), origins) {
            let paths = self.at(history, end, fits);
            let known = &history[end..history.len().min(end + self.horizon())];
            steps += known.len() as f64;
            for (member, sum) in sums.iter_mut().enumerate() {
                *sum +=
                    known.iter().zip(paths.of_member(member)).map(|(value, path)| (value - path).abs()).sum::<f64>();
            }
        }
        let (mut unit, mut count) = (0.0, 0.0);
        for (_, sum) in members.iter().zip(&sums).filter(|(member, _)| member.is_reference()) {
            (unit, count) = (unit + sum, count + steps);
        }
        (sums, if count > 0.0 { unit / count } else { 0.0 }, steps)
    }

    /// The combined forecast after a history.
    pub(super) fn combined(&self, history: &[f64], fits: &mut Fits) -> Combined {
        let (sums, unit, steps) = self.own_errors(history, self.own_origins, fits);
        let errors: Vec<f64> = match unit > 0.0 {
            true => {
                let relative = sums.iter().zip(&self.errors);
                relative.map(|(sum, shared)| (sum / unit + SHARED_STEPS * shared) / (steps + SHARED_STEPS)).collect()
            }
            false => self.errors.clone(),
        };
        let weights = weights_of(&errors);
        let path_of = |paths: &Paths| {
            let mut path = vec![0.0; self.horizon()];
            for (member, weight) in weights.iter().enumerate() {
                path.iter_mut().zip(paths.of_member(member)).for_each(|(sum, value)| *sum += weight * value);
            }
            path
        };
        let (mut sum, mut count) = (SHARED_FACTOR_STEPS, SHARED_FACTOR_STEPS);
        for end in self.earlier(history.len(), self.own_origins) {
            let paths = self.at(history, end, fits);
            let (path, scale) = (path_of(&paths), self.scale(&paths, end));
            for ((value, forecast), growth) in history[end..].iter().zip(path).zip(&self.growth) {
                sum += ((value - forecast).abs() / (scale * growth)).min(MOST_ERROR) / DEPENDENT;
                count += 1.0 / DEPENDENT;
            }
        }
        let now = self.at(history, history.len(), fits);
        Combined { path: path_of(&now), scale: self.scale(&now, history.len()) * sum / count }
    }

    /// The scale of one-step errors, shrunk in its logarithm towards the shared ratio to the level.
    fn scale(&self, paths: &Paths, steps: usize) -> f64 {
        let level = if paths.level > 0.0 { paths.level } else { 1.0 };
        let own = steps.saturating_sub(FITTED_STEPS) as f64;
        let [rms, usual] = [paths.rms.max(LEAST_SCALE * level), self.ratio * level].map(libm::log);
        libm::exp((own * rms + SHARED_SCALE_STEPS * usual) / (own + SHARED_SCALE_STEPS))
    }
}

/// Weights by mean errors; they sum to 1.
pub(super) fn weights_of(errors: &[f64]) -> Vec<f64> {
    let lowest = errors.iter().copied().fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE);
    let each: Vec<f64> = errors.iter().map(|error| libm::exp(-SHARPNESS * (error / lowest - 1.0))).collect();
    let sum: f64 = each.iter().sum();
    each.into_iter().map(|weight| weight / sum).collect()
}
