//! Local scale: the naive forecast that targets are differences from, and its recent error as their unit.

use std::iter::StepBy;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::scale::{FAR, Scale};
use super::{ForecastPoint, Naive, Series};

/// Maximum number of origins used for estimation, over all series.
const MOST_ORIGINS: usize = 2_000;
/// The first 1/WARM_UP_PART of a series has no origins.
const WARM_UP_PART: usize = 4;
/// Smallest growth factor.
const LEAST_GROWTH: f64 = 1e-3;

/// A naive forecast, the scale of its errors, and their growth with the step ahead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct LocalScale {
    pub(super) naive: Naive,
    pub(super) scale: Scale,
    /// For each step ahead, the rms of the scaled errors.
    growth: Vec<f64>,
}

/// Location and scale by which the target of a forecast point is standardised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LocationScale {
    pub(super) location: f64,
    pub(super) scale: f64,
}

impl LocationScale {
    /// Location and scale of the affine transform back to the target's unit.
    pub(super) fn shift_and_scale(self) -> (f64, f64) {
        (self.location, self.scale)
    }
}

impl LocalScale {
    /// Estimates the growth from these series.
    pub(super) fn new(naive: Naive, scale: Scale, series: &[Series], horizon: usize) -> Self {
        let mut squares = vec![(0.0, 0.0); horizon];
        for_each_origin(series, |series, origins| {
            let scales = scale.at_each(series);
            for origin in origins {
                for (index, (sum, count)) in squares.iter_mut().enumerate() {
                    let Some(value) = series.values.get(origin + index + 1).filter(|value| !value.is_nan()) else {
                        continue;
                    };
                    let point = naive.point(series, origin, index + 1);
                    let error = (value - point) / (scales[origin] * scale.level(point));
                    *sum += (error * error).min(FAR * FAR * (index + 1) as f64);
                    *count += 1.0;
                }
            }
        });
        let mut growth: Vec<f64> = Vec::with_capacity(horizon);
        for (index, (sum, count)) in squares.into_iter().enumerate() {
            growth.push(match (count > 0.0, growth.last()) {
                (true, _) => (sum / count).sqrt().max(LEAST_GROWTH),
                // No series is long enough for this step: extrapolate as a random walk.
                (false, Some(before)) => before * ((index + 1) as f64 / index as f64).sqrt(),
                (false, None) => 1.0,
            });
        }
        Self { naive, scale, growth }
    }

    /// Location and scale of a point, given the scale at each step of its series.
    pub(super) fn location_scale(&self, series: &Series, scales: &[f64], point: ForecastPoint) -> LocationScale {
        let LocationScale { location, scale } = self.one_step(series, scales, point);
        LocationScale { location, scale: scale * self.growth[point.ahead - 1] }
    }

    /// The same with the scale of one step, without growth.
    pub(super) fn one_step(&self, series: &Series, scales: &[f64], point: ForecastPoint) -> LocationScale {
        let location = self.naive.point(series, point.origin, point.ahead);
        LocationScale { location, scale: scales[point.origin] * self.scale.level(location) }
    }

    /// Whether the parameters are valid for this horizon.
    pub(super) fn is_sound(&self, horizon: usize) -> bool {
        let positive = |number: &f64| number.is_finite() && *number > 0.0;
        let seasonal = if let Naive::Season(season) = self.naive { season > 1 } else { true };
        self.growth.len() == horizon && self.growth.iter().all(positive) && seasonal && self.scale.is_sound()
    }
}

/// Mean absolute error of `naive`, each series in units of its own mean absolute change.
pub(super) fn mean_error(series: &[Series], naive: Naive, steps: &[usize]) -> f64 {
    let (mut total, mut counted) = (0.0, 0.0);
    for_each_origin(series, |series, origins| {
        let change = series.mean_change(1);
        for origin in origins {
            for step in steps {
                if let Some(value) = series.values.get(origin + step).filter(|value| !value.is_nan()) {
                    total += (value - naive.point(series, origin, *step)).abs() / change;
                    counted += 1.0;
                }
            }
        }
    });
    if counted > 0.0 { total / counted } else { f64::INFINITY }
}

/// Calls `visit` with each series and evenly spaced origins.
fn for_each_origin<'a>(series: &'a [Series], mut visit: impl FnMut(&'a Series, StepBy<Range<usize>>)) {
    let each = (MOST_ORIGINS / series.len().max(1)).max(4);
    for series in series {
        let origins = series.len() / WARM_UP_PART..series.len().saturating_sub(1);
        let every = origins.len().div_ceil(each).max(1);
        visit(series, origins.step_by(every));
    }
}
