//! Training points of a forecaster, and their blocks of time.

use super::{ForecastPoint, Series, SeriesTransform};
use negmm_dist::math::rng::Rng;
use negmm_dist::streams;

/// Maximum number of training rows, and of steps ahead per origin.
const MOST_ROWS: usize = 40_000;
const STEPS_OF_ORIGIN: usize = 3;
/// At most the first 1/WARM_UP_PART of a series is skipped as warm-up for seasonal lags.
const WARM_UP_PART: usize = 4;

/// Training points: evenly spaced origins of each series up to the row limit, with some steps ahead of each.
pub(super) fn training_points(series: &[Series], transform: &SeriesTransform, seed: u64) -> Vec<ForecastPoint> {
    let horizon = transform.spec.horizon;
    let ahead_each = horizon.min(STEPS_OF_ORIGIN);
    let most = (MOST_ROWS / ahead_each / series.len().max(1)).max(1);
    let mut rng = Rng::new(seed, streams::HORIZONS);
    let mut points = Vec::new();
    for (number, one) in series.iter().enumerate() {
        let origins = first_origin(one, transform)..one.len().saturating_sub(1);
        let every = origins.len().div_ceil(most).max(1);
        let mut steps: Vec<usize> = (1..=horizon).collect();
        for origin in origins.step_by(every) {
            if horizon > ahead_each {
                rng.shuffle(&mut steps);
            }
            let mut chosen = steps[..ahead_each].to_vec();
            chosen.sort_unstable();
            let known = |ahead: &usize| one.values.get(origin + ahead).is_some_and(|value| !value.is_nan());
            let point = |ahead: usize| ForecastPoint { series: number, origin, ahead };
            points.extend(chosen.into_iter().filter(known).map(point));
        }
    }
    points
}

/// The first origin used for training.
fn first_origin(series: &Series, transform: &SeriesTransform) -> usize {
    transform.reach().min(series.len() / WARM_UP_PART)
}

/// The index of the time block that a point belongs to, out of `blocks`.
pub(super) fn block(series: &Series, point: ForecastPoint, transform: &SeriesTransform, blocks: usize) -> usize {
    let first = first_origin(series, transform);
    let origins = (series.len() - 1).saturating_sub(first).max(1);
    blocks * (point.origin - first) / origins
}
