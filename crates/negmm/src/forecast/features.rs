//! Forecast features: one row of lags for each origin and step ahead, in units of recent changes.

use std::borrow::Cow;

use super::holidays::OwnEffects;
use super::local_scale::LocationScale;
use super::supports::OwnSupport;
use super::{Frequency, Naive, Series, SeriesTransform};
use negmm_data::{Column, MISSING, Table};

/// Names of the target column and of the column of time blocks.
pub(super) const CHANGE: &str = "change";
pub(super) const BLOCK: &str = "block";
/// Number of lags: for a horizon of one step, and for longer horizons.
const RECENT: usize = 30;
const RECENT_AHEAD: usize = 10;
/// Half-lives of the moving averages of absolute changes, in steps.
const HALF_LIVES: [f64; 4] = [2.0, 6.0, 20.0, 60.0];
/// Number of last absolute changes among the features.
const SIZES: usize = 3;
/// Maximum number of past seasons, and neighbours of each seasonal lag.
const MOST_SEASONS_BACK: usize = 6;
const NEIGHBOURS: isize = 2;
/// Features are clipped to this absolute value.
const LARGEST: f64 = 1e4;

/// A forecast point: a series, an origin and a step ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ForecastPoint {
    /// Index of the series.
    pub series: usize,
    /// The last known step, from 0.
    pub origin: usize,
    /// Steps ahead, from 1.
    pub ahead: usize,
}

impl ForecastPoint {
    /// The step that is forecast.
    pub fn step(self) -> usize {
        self.origin + self.ahead
    }

    /// Whether both have the same series and origin.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        (self.series, self.origin) == (other.series, other.origin)
    }
}

/// A series with precomputed quantities for its features.
pub(super) struct Past<'a> {
    series: Cow<'a, Series>,
    /// What holidays do to it.
    effects: Option<OwnEffects<'a>>,
    /// The values that it can take.
    pub(super) own: OwnSupport,
    /// Scale at each step, without the factor for the level.
    scales: Vec<f64>,
    /// Scaled absolute changes from the previous step, and their moving average for each half-life.
    sizes: Vec<f64>,
    volatility: [Vec<f64>; HALF_LIVES.len()],
    /// Cumulative sums: of the values before each step.
    sums: Vec<f64>,
}

impl<'a> Past<'a> {
    /// Of a series without the effects of holidays.
    pub(super) fn new(series: impl Into<Cow<'a, Series>>, transform: &SeriesTransform) -> Self {
        let series = series.into();
        let scales = transform.local_scale.scale.at_each(&series);
        let mut sizes = Vec::with_capacity(series.len());
        for (step, value) in series.filled.iter().enumerate() {
            let before = series.filled[step.saturating_sub(1)];
            sizes.push((value - before).abs() / (scales[step] * transform.local_scale.scale.level(*value)));
        }
        let volatility = HALF_LIVES.map(|half_life| {
            let decay = libm::exp2(-1.0 / half_life);
            let (mut mean, mut weight) = (0.0, 0.0);
            let each = sizes.iter().map(|size| {
                (mean, weight) = (decay * mean + (1.0 - decay) * size, decay * weight + 1.0 - decay);
                mean / weight
            });
            each.collect()
        });
        let sums = series.filled.iter().scan(0.0, |sum, value| {
            *sum += value;
            Some(*sum)
        });
        let sums = [0.0].into_iter().chain(sums).collect();
        Self { scales, sums, sizes, volatility, series, effects: None, own: OwnSupport::default() }
    }

    /// Of a series that is affected by holidays: without their effects, which come back in forecasts.
    pub(super) fn affected(series: &'a Series, effects: Option<OwnEffects<'a>>, transform: &SeriesTransform) -> Self {
        match effects {
            Some(effects) => {
                let plain = effects.removed(series, transform.frequency);
                Self { effects: Some(effects), ..Self::new(plain, transform) }
            }
            None => Self::new(series, transform),
        }
    }

    /// The series, without the effects of holidays.
    pub(super) fn series(&self) -> &Series {
        &self.series
    }

    /// The shift and the factor of holidays at a step.
    pub(super) fn effect(&self, step: usize, frequency: Frequency) -> (f64, f64) {
        self.effects.as_ref().map_or((0.0, 1.0), |effects| effects.at(self.series.time(step, frequency)))
    }

    pub(super) fn location_scale(&self, transform: &SeriesTransform, point: ForecastPoint) -> LocationScale {
        transform.local_scale.location_scale(&self.series, &self.scales, point)
    }

    /// The mean of the `steps` values up to `step`.
    fn mean(&self, step: usize, steps: usize) -> f64 {
        let first = (step + 1).saturating_sub(steps);
        (self.sums[step + 1] - self.sums[first]) / (step + 1 - first) as f64
    }

    /// Calls `visit` with the name and value of each feature, always in the same order.
    fn inputs(
        &self,
        transform: &SeriesTransform,
        target: ForecastPoint,
        visit: &mut dyn FnMut(&dyn Fn() -> String, f64),
    ) {
        let ForecastPoint { origin, ahead, .. } = target;
        let LocationScale { location, scale } = transform.local_scale.one_step(&self.series, &self.scales, target);
        let naive = transform.naive();
        let last = self.series.filled[origin];
        let at = |step: isize| {
            usize::try_from(step).ok().filter(|step| *step <= origin).map(|step| self.series.filled[step])
        };
        let mut give = |name: &dyn Fn() -> String, value: f64| {
            visit(name, if value.is_nan() { 0.0 } else { value.clamp(-LARGEST, LARGEST) });
        };
        // Scaled difference of a value from another; 0 where the value is absent.
        let from = |value: Option<f64>, base: f64| value.map_or(0.0, |value| (value - base) / scale);
        let recent = if transform.spec.horizon == 1 { RECENT } else { RECENT_AHEAD };
        for back in 1..=recent {
            give(&|| format!("past {back}"), from(at(origin as isize - back as isize), last));
        }
        if naive != Naive::Last {
            give(&|| "naive".into(), (location - last) / scale);
        }
        for (index, season) in transform.seasonal_periods.iter().copied().enumerate() {
            let first = ahead.div_ceil(season);
            // As many as fit into the next longer season, or two.
            let backs = match transform.seasonal_periods.get(index + 1) {
                Some(longer) => (longer / season).saturating_sub(1).clamp(2, MOST_SEASONS_BACK),
                None => 2,
            };
            for back in 0..backs {
                let step = (origin + ahead) as isize - ((first + back) * season) as isize;
                let neighbours = if back == 0 || transform.spec.horizon == 1 && back == 1 { NEIGHBOURS } else { 0 };
                for beside in -neighbours..=neighbours {
                    let is_naive = naive == Naive::Season(season) && back == 0 && beside == 0;
                    if !is_naive {
                        give(
                            &|| format!("season {season} back {back} beside {beside}"),
                            from(at(step + beside), location),
                        );
                    }
                }
            }
            let before = at(origin as isize - season as isize);
            give(&|| format!("season {season} gap"), before.map_or(0.0, |before| (last - before) / scale));
            let (now, then) =
                (self.mean(origin, season), origin.checked_sub(season).map(|step| self.mean(step, season)));
            give(&|| format!("season {season} rise"), then.map_or(0.0, |then| (now - then) / scale));
        }
        give(&|| "height".into(), (last - self.mean(origin, origin + 1)) / scale);
        give(&|| "scale".into(), libm::log(self.scales[origin]));
        for (index, pair) in self.volatility.windows(2).enumerate() {
            let log = |volatility: &[f64]| libm::log(volatility[origin] + 1e-3);
            give(&|| format!("calm {}", HALF_LIVES[index]), log(&pair[0]) - log(&pair[1]));
        }
        for back in 0..SIZES {
            give(&|| format!("size {back}"), origin.checked_sub(back).map_or(0.0, |step| self.sizes[step]));
        }
        if transform.spec.horizon > 1 {
            give(&|| "ahead".into(), ahead as f64);
        }
        if !transform.frequency.has_dates() {
            for season in &transform.seasonal_periods {
                let turn = (target.step() % season) as f64 / *season as f64;
                let angle = std::f64::consts::TAU * turn;
                give(&|| format!("phase {season}"), turn);
                give(&|| format!("phase {season} sine"), libm::sin(angle));
                give(&|| format!("phase {season} cosine"), libm::cos(angle));
            }
        }
    }
}

/// The features of all points: lags, calendar, series and covariates from `table`.
pub(super) fn inputs(
    transform: &SeriesTransform,
    pasts: &[Past<'_>],
    table: &Table,
    points: &[ForecastPoint],
) -> Vec<(String, Column)> {
    let mut columns: Vec<(String, Vec<f64>)> = Vec::new();
    for (row, point) in points.iter().enumerate() {
        let mut at = 0;
        pasts[point.series].inputs(transform, *point, &mut |name, value| {
            if row == 0 {
                columns.push((name(), Vec::with_capacity(points.len())));
            }
            columns[at].1.push(value);
            at += 1;
        });
    }
    let mut columns: Vec<(String, Column)> =
        columns.into_iter().map(|(name, numbers)| (name, Column::Numbers(numbers))).collect();
    if transform.frequency.has_dates() {
        let time = |point: &ForecastPoint| pasts[point.series].series.time(point.step(), transform.frequency);
        columns.push(("time".into(), Column::Times(points.iter().map(time).collect())));
    }
    if transform.several {
        let name = |point: &ForecastPoint| Some(pasts[point.series].series.name.as_str());
        columns.push(("series".into(), Column::text(points.iter().map(name))));
    }
    let row_of = |number: usize, step: usize| {
        let rows = &pasts[number].series.rows;
        rows[step.min(rows.len() - 1)]
    };
    // The row of a step; of a sum that of one of its parts, if they have the same cell.
    let cell_of = |column: &Column, number: usize, step: usize| -> Option<usize> {
        let sum = &pasts[number].series;
        let Some((first, others)) = sum.parts.split_first() else { return Some(row_of(number, step)) };
        let of_part = |part: usize| row_of(part, (pasts[part].series.len() + step).saturating_sub(sum.len()));
        let row = of_part(*first);
        others.iter().all(|part| column.same_cell(row, of_part(*part))).then_some(row)
    };
    let cells = |name: &str, step: fn(&ForecastPoint) -> usize| {
        let column = table.column(name)?;
        let found: Vec<Option<usize>> = points.iter().map(|point| cell_of(column, point.series, step(point))).collect();
        let rows: Vec<usize> = found.iter().map(|row| row.unwrap_or(0)).collect();
        let selected = match column {
            // When the column has more levels than the batch has rows, only the levels in use are copied.
            Column::Text { codes, levels } if levels.len() > rows.len() => {
                Column::text(rows.iter().map(|row| levels.get(codes[*row] as usize).map(String::as_str)))
            }
            column => column.select(&rows),
        };
        Some(without(selected, &found))
    };
    for name in &transform.spec.past_covariates {
        columns.extend(cells(name, |point| point.origin).map(|column| (format!("at the origin: {name}"), column)));
    }
    for name in &transform.spec.future_covariates {
        columns.extend(cells(name, |point| point.step()).map(|column| (format!("ahead: {name}"), column)));
    }
    columns
}

/// The column with missing cells where no row was found.
fn without(mut column: Column, found: &[Option<usize>]) -> Column {
    let absent = (0..found.len()).filter(|row| found[*row].is_none());
    match &mut column {
        Column::Numbers(cells) | Column::Times(cells) => absent.for_each(|row| cells[row] = f64::NAN),
        Column::Text { codes, .. } => absent.for_each(|row| codes[row] = MISSING),
    }
    column
}
