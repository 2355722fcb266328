//! Training points of a forecaster, and their blocks of time.

use super::{ForecastPoint, Series, SeriesTransform};
use negmm_dist::math::rng::Rng;
use negmm_dist::streams;

/// Maximum number of training rows, and of steps ahead per origin.
const MOST_ROWS: usize = 40_000;
const STEPS_OF_ORIGIN: usize = 3;
/// Of more series than this many rows allow with a few origins each, evenly spaced ones are trained on.
const LEAST_ORIGINS: usize = 4;
/// At most the first 1/WARM_UP_PART of a series is skipped as warm-up for seasonal lags.
const WARM_UP_PART: usize = 4;
/// Origins that forecasts are scored from: over all series (more, where a season asks for them), at least and at most of
/// each; steps ahead of each.
const ALL_SCORED: usize = 2_000;
const MOST_OF_SEASON: usize = 6_000;
const LEAST_SCORED: usize = 2;
const MOST_SCORED: usize = 40;
const STEPS_SCORED: usize = 8;
/// They lie in the last 1/SCORED_PART of a series, or at most its half.
const SCORED_PART: usize = 4;

/// The last part of each series, from whose origins forecasts are scored.
#[derive(Clone, Debug)]
pub(super) struct LastParts {
    /// The first step of each; the number of steps of the series where it is too short.
    pub(super) first: Vec<usize>,
    /// Steps between origins.
    stride: usize,
}

impl LastParts {
    pub(super) fn new(series: &[Series], seasonal_periods: &[usize], horizon: usize) -> Self {
        let stride = horizon.div_ceil(2);
        // Of origins with few steps ahead there are more. In a part of a season one member may be the better one, and
        // another in the next: where series are long enough, they are compared in all of it.
        let most = MOST_SCORED * STEPS_SCORED / horizon.clamp(1, STEPS_SCORED);
        let season = seasonal_periods.iter().max().map_or(0, |period| period.div_ceil(stride));
        let each = |all: usize| all / series.len().max(1);
        let most = each(ALL_SCORED).max(season.min(each(MOST_OF_SEASON))).clamp(LEAST_SCORED, most);
        let first = |series: &Series| {
            let origins = (series.len() / SCORED_PART / stride).clamp(LEAST_SCORED, most);
            series.len() - stride * origins.min(series.len() / 2 / stride)
        };
        Self { first: series.iter().map(first).collect(), stride }
    }

    /// The series before their last parts; without those that have no known value there.
    pub(super) fn before(&self, series: &[Series]) -> Vec<Series> {
        let known = series.iter().zip(&self.first).filter(|(series, first)| series.first < **first);
        known.map(|(series, first)| series.until(*first)).collect()
    }

    /// Whether the step that is forecast lies in the last part of its series.
    pub(super) fn has_target(&self, point: &ForecastPoint) -> bool {
        point.step() >= self.first[point.series]
    }

    /// Whether the origin does, too: a point that is scored.
    pub(super) fn is_scored(&self, point: &ForecastPoint) -> bool {
        point.origin + 1 >= self.first[point.series]
    }

    /// The origins of a series.
    fn origins(&self, series: usize, steps: usize) -> impl Iterator<Item = usize> {
        (self.first[series]..steps).step_by(self.stride).map(|step| step - 1)
    }
}

/// Training points: evenly spaced origins of each series up to the row limit, with some steps ahead of each, and the
/// points that are scored.
pub(super) fn training_points(
    series: &[Series],
    transform: &SeriesTransform,
    last_parts: &LastParts,
    seed: u64,
) -> Vec<ForecastPoint> {
    let horizon = transform.spec.horizon;
    let ahead_each = horizon.min(STEPS_OF_ORIGIN);
    let each_series = series.len().div_ceil(MOST_ROWS / ahead_each / LEAST_ORIGINS).max(1);
    let most = (MOST_ROWS / ahead_each / series.len().div_ceil(each_series).max(1)).max(1);
    let mut rng = Rng::new(seed, streams::HORIZONS);
    let mut points = Vec::new();
    for (number, one) in series.iter().enumerate().step_by(each_series) {
        let origins = first_origin(one, transform)..one.len().saturating_sub(1);
        let every = origins.len().div_ceil(most).max(1);
        let mut steps: Vec<usize> = (1..=horizon).collect();
        let known = |origin: usize, ahead: &usize| one.values.get(origin + ahead).is_some_and(|value| !value.is_nan());
        let point = |origin: usize, ahead: usize| ForecastPoint { series: number, origin, ahead };
        for origin in origins.step_by(every).take_while(|origin| origin + 1 < last_parts.first[number]) {
            if horizon > ahead_each {
                rng.shuffle(&mut steps);
            }
            let mut chosen = steps[..ahead_each].to_vec();
            chosen.sort_unstable();
            points.extend(chosen.into_iter().filter(|ahead| known(origin, ahead)).map(|ahead| point(origin, ahead)));
        }
        for (turn, origin) in last_parts.origins(number, one.len()).enumerate() {
            let steps = horizon.min(one.len() - 1 - origin);
            let every = steps.div_ceil(STEPS_SCORED).max(1);
            let chosen = (1 + turn % every..=steps).step_by(every);
            points.extend(chosen.filter(|ahead| known(origin, ahead)).map(|ahead| point(origin, ahead)));
        }
    }
    points
}

/// The first origin used for training.
fn first_origin(series: &Series, transform: &SeriesTransform) -> usize {
    transform.reach().min(series.len() / WARM_UP_PART)
}

/// The index of the time block that a point belongs to, out of `blocks`; the block after them has the targets in the
/// last parts, so that whoever does not learn from it has learnt only from what came before.
pub(super) fn block(
    series: &Series,
    point: ForecastPoint,
    (transform, last_parts): (&SeriesTransform, &LastParts),
    blocks: usize,
) -> usize {
    if last_parts.has_target(&point) {
        return blocks;
    }
    let first = first_origin(series, transform);
    let origins = last_parts.first[point.series].saturating_sub(first + 1).max(1);
    (blocks * (point.origin - first) / origins).min(blocks - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_has_a_whole_season_where_series_are_long_enough() {
        let series = |steps: usize| Series { values: vec![1.0; steps], filled: vec![1.0; steps], ..Series::default() };
        let many: Vec<Series> = (0..400).map(|number| series(if number == 0 { 200 } else { 800 })).collect();
        // A week of hours: 7 origins, half a horizon of 48 apart, and no more than a quarter of a short series.
        let parts = LastParts::new(&many, &[24, 168], 48);
        assert_eq!((parts.first[1], parts.first[0]), (800 - 168, 200 - 48));
        // Without the season as many as all series together need.
        let parts = LastParts::new(&many, &[24], 48);
        assert_eq!(parts.first[1], 800 - 5 * 24);
    }
}
