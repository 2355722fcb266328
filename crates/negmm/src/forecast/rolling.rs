//! Responsible for scores as forecasters have them: origins roll forward through time, and each step ahead has its own.

use serde::Serialize;

use super::{AdaptiveScores, Forecaster, Forecasts, Histories, Place, Roles, Series, fit_forecaster};
use crate::data::Table;
use crate::method::Auto;
use crate::{Error, FitOptions, Predictions, Result};

/// Levels of the weighted interval score: eleven central intervals and the median.
const WIS_LEVELS: [f64; 23] = [
    0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9,
    0.95, 0.975, 0.99,
];
/// Levels of the weighted quantile loss.
const DECILES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
/// The interval whose coverage and width are counted.
const COVERAGE: f64 = 0.95;

/// Bins of the histogram of where values fell within their forecasts.
pub const STEP_PIT_BINS: usize = 10;

/// Which origins of a table are scored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// Those whose forecasts lie within so many last steps of each series; all that have a past, where it is not given.
    pub last: Option<usize>,
    /// Steps from one to the next; as many as are forecast, where it is not given.
    pub every: Option<usize>,
}

/// Scores of some forecasts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StepScores {
    /// What forecast.
    pub name: String,
    /// Steps ahead; none: all together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// Forecasts.
    pub rows: usize,
    /// Mean CRPS.
    pub crps: f64,
    /// Mean negative logarithm of the density.
    pub nll: f64,
    /// Share of values in the central 95 % interval.
    pub coverage95: f64,
    /// Its mean width.
    pub width95: f64,
    /// Mean distance from the median, in units of the mean change over a season (or step) before the first origin.
    pub mase: f64,
    /// Mean weighted interval score over eleven intervals and the median.
    pub wis: f64,
    /// Quantile loss over the deciles, as a share of the values' size.
    pub wql: f64,
    /// Share of values in each tenth of their forecasts: equal where they are calibrated.
    pub pit: [f64; STEP_PIT_BINS],
}

/// Scores of a forecaster and its rivals.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Rolling {
    /// Origins that were forecast from.
    pub origins: usize,
    /// The forecaster over all steps, then its rivals.
    pub scores: Vec<StepScores>,
    /// The forecaster at each step ahead.
    pub steps: Vec<StepScores>,
    /// Its intervals where they adapt to what was missed before.
    pub adaptive: AdaptiveScores,
}

impl Rolling {
    /// The rival with the best CRPS.
    pub fn best_rival(&self) -> Option<&StepScores> {
        self.scores.iter().skip(1).min_by(|a, b| a.crps.total_cmp(&b.crps))
    }
}

/// Scores of forecasters that are fitted again and again: the last half of each series is cut into `folds` blocks, and each is forecast
/// by a forecaster that learnt from all before it.
///
/// # Errors
/// When the data or the settings are at fault, no block is as long as the horizon, or the caller asked to stop.
pub fn backtest(
    table: &Table,
    roles: &Roles,
    auto: &Auto,
    (folds, every): (usize, Option<usize>),
    options: &FitOptions<'_>,
) -> Result<Vec<Rolling>> {
    let histories = Histories::read(table, roles, None)?;
    let shortest = histories.series.iter().map(Series::len).min().unwrap_or(0);
    if folds == 0 || shortest / 2 / folds < roles.horizon.max(1) {
        return Err(table.blame(Error::data(format!(
            "half of the shortest series, {} steps, does not hold {folds} blocks of {} steps: say fewer folds",
            shortest / 2,
            roles.horizon
        ))));
    }
    let mut all = Vec::with_capacity(folds);
    for fold in 0..folds {
        let (mut learnt, mut scored, mut block) = (Vec::new(), Vec::new(), 0);
        for series in &histories.series {
            let half = series.len() / 2;
            let cut = |fold: usize| series.len() - half + half * fold / folds;
            let (start, end) = (cut(fold), cut(fold + 1));
            learnt.extend_from_slice(&series.rows[..start]);
            scored.extend_from_slice(&series.rows[..end]);
            block = block.max(end - start);
        }
        let rows = |mut rows: Vec<usize>| {
            rows.sort_unstable();
            rows.dedup();
            table.select_rows(&rows)
        };
        let forecaster = fit_forecaster(&rows(learnt), roles, auto, options)?.forecaster;
        let scored = rows(scored);
        let histories = forecaster.histories(&scored)?;
        all.push(forecaster.rolling(&scored, &histories, Origins { last: Some(block), every })?);
    }
    Ok(all)
}

impl Forecaster {
    /// The places that `origins` asks for, all steps ahead of each origin being known or missing, not beyond the end.
    pub fn places(&self, histories: &Histories, origins: Origins) -> Vec<Place> {
        let horizon = self.recipe.roles.horizon;
        let every = origins.every.unwrap_or(horizon).max(1);
        let mut places = Vec::new();
        for (series, one) in histories.series.iter().enumerate() {
            let origins = self.first_origin(one, origins.last)..one.len().saturating_sub(horizon);
            let origins = origins.step_by(every);
            places.extend(origins.flat_map(|origin| (1..=horizon).map(move |ahead| Place { series, origin, ahead })));
        }
        places
    }

    /// The step after each origin, as far as its value is known: what a watch looks at. Those of the `last` steps of each series, or of
    /// all that have a past.
    pub fn next_steps(&self, histories: &Histories, last: Option<usize>) -> Vec<Place> {
        let of_series = |(series, one): (usize, &Series)| {
            let origins = self.first_origin(one, last)..one.len().saturating_sub(1);
            let places = origins.map(move |origin| Place { series, origin, ahead: 1 });
            places.filter(|place| !one.values[place.step()].is_nan()).collect::<Vec<_>>()
        };
        histories.series.iter().enumerate().flat_map(of_series).collect()
    }

    fn first_origin(&self, series: &Series, last: Option<usize>) -> usize {
        match last {
            Some(last) => series.len().saturating_sub(last.saturating_add(1)),
            None => self.recipe.reach().min(series.len() / 4),
        }
    }

    /// Scores of the forecasts from these origins, beside its rivals.
    ///
    /// # Errors
    /// When the table cannot be forecast, or no origin has all its steps.
    pub fn rolling(&self, table: &Table, histories: &Histories, origins: Origins) -> Result<Rolling> {
        let mut places = self.places(histories, origins);
        let origins = places.len() / self.recipe.roles.horizon;
        places.retain(|place| !histories.value(place).is_nan());
        let y: Vec<f64> = places.iter().map(|place| histories.value(place)).collect();
        let lag = self.recipe.seasons.first().copied().unwrap_or(1);
        let changes: Vec<f64> = histories.series.iter().map(|series| series.mean_change(lag)).collect();
        let units: Vec<f64> = places.iter().map(|place| changes[place.series]).collect();
        let rivals = self.rivals(histories, &places);
        let forecasts = self.predict(table, histories, places)?;
        let adaptive = self.adaptive_scores(histories, &forecasts, COVERAGE)?;
        let Forecasts { places, predictions } = forecasts;
        let all: Vec<usize> = (0..places.len()).collect();
        let mut scores = vec![scored("forecast", None, &predictions, &y, &units, &all)?];
        for (name, predictions) in &rivals {
            scores.push(scored(name, None, predictions, &y, &units, &all)?);
        }
        let mut steps = Vec::new();
        for ahead in 1..=self.recipe.roles.horizon {
            let rows: Vec<usize> = all.iter().copied().filter(|row| places[*row].ahead == ahead).collect();
            if !rows.is_empty() {
                steps.push(scored("forecast", Some(ahead), &predictions, &y, &units, &rows)?);
            }
        }
        Ok(Rolling { origins, scores, steps, adaptive })
    }
}

/// Scores of some rows.
fn scored(
    name: &str,
    step: Option<usize>,
    predictions: &Predictions,
    y: &[f64],
    units: &[f64],
    rows: &[usize],
) -> Result<StepScores> {
    let predictions = if rows.len() == y.len() { predictions.clone() } else { predictions.select(rows) };
    let pick = |list: &[f64]| rows.iter().map(|row| list[*row]).collect::<Vec<f64>>();
    let (y, units) = (pick(y), pick(units));
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len().max(1) as f64;
    let quantiles = predictions.each(|row| WIS_LEVELS.map(|level| row.quantile(level)));
    let pinball = |row: usize, at: usize| {
        let missed = y[row] - quantiles[row][at];
        (WIS_LEVELS[at] * missed).max((WIS_LEVELS[at] - 1.0) * missed)
    };
    let loss = |row: usize, levels: &[usize]| {
        2.0 * levels.iter().map(|at| pinball(row, *at)).sum::<f64>() / levels.len() as f64
    };
    let all: Vec<usize> = (0..WIS_LEVELS.len()).collect();
    let deciles: Vec<usize> = all.iter().copied().filter(|at| DECILES.contains(&WIS_LEVELS[*at])).collect();
    let (lower, upper) = predictions.interval(COVERAGE)?;
    let inside = |row: usize| f64::from(u8::from(lower[row] <= y[row] && y[row] <= upper[row]));
    let of_each = |of: &dyn Fn(usize) -> f64| mean(&(0..y.len()).map(of).collect::<Vec<f64>>());
    let size = of_each(&|row| y[row].abs());
    let median = WIS_LEVELS.len() / 2;
    let mut pit = [0.0; STEP_PIT_BINS];
    for place in predictions.pit(&y)? {
        pit[((place * STEP_PIT_BINS as f64) as usize).min(STEP_PIT_BINS - 1)] += 1.0 / y.len() as f64;
    }
    Ok(StepScores {
        name: name.into(),
        step,
        rows: y.len(),
        crps: mean(&predictions.crps(&y)?),
        nll: mean(&predictions.nll(&y)?),
        coverage95: of_each(&inside),
        width95: of_each(&|row| upper[row] - lower[row]),
        mase: of_each(&|row| (y[row] - quantiles[row][median]).abs() / units[row]),
        wis: of_each(&|row| loss(row, &all)),
        wql: of_each(&|row| loss(row, &deciles)) / if size > 0.0 { size } else { 1.0 },
        pit,
    })
}
