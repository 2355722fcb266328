//! Backtests: rolling origins, with scores by step ahead.

use std::ops::Range;

use serde::Serialize;

use super::adaptive::AdaptiveAccumulator;
use super::coherent::whole_scores;
use super::origin_skill::OriginSkill;
use super::step_scores::{COVERAGE, Scores, Sums, scored};
use super::{
    AdaptiveScores, ForecastPoint, Forecaster, Forecasts, Histories, Series, SeriesSpec, StepScores, fit_forecaster,
};
use crate::FitOptions;
use crate::method::Auto;
use negmm_data::Table;
use negmm_dist::{Error, Result, Skill};

/// The origins of a backtest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BacktestOrigins {
    /// Only origins whose forecasts lie within this many last steps of each series; by default all origins with
    /// enough history.
    pub test_size: Option<usize>,
    /// Steps between consecutive origins; by default the horizon.
    pub stride: Option<usize>,
}

/// Setters.
impl BacktestOrigins {
    /// Sets `test_size`.
    #[must_use]
    pub fn test_size(self, test_size: impl Into<Option<usize>>) -> Self {
        Self { test_size: test_size.into(), ..self }
    }

    /// Sets `stride`.
    #[must_use]
    pub fn stride(self, stride: impl Into<Option<usize>>) -> Self {
        Self { stride: stride.into(), ..self }
    }
}

/// Backtest scores of a forecaster and its baselines.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Backtest {
    /// Number of origins.
    pub origins: usize,
    /// Scores over all steps: the forecaster first, then the baselines.
    pub scores: Vec<StepScores>,
    /// Scores of the forecaster at each step ahead.
    pub steps: Vec<StepScores>,
    /// How much lower its CRPS is than that of the best baseline, with a standard error by origins.
    pub skill: Option<Skill>,
    /// Scores of its adaptive conformal intervals.
    pub adaptive: AdaptiveScores,
    /// Mean energy scores of all series and sums of a hierarchy together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<WholeScores>,
}

/// Mean energy scores of the forecasts of a hierarchy, each of all series, sums and steps ahead of an origin together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WholeScores {
    /// Number of origins.
    pub origins: usize,
    /// Of the forecasts.
    pub energy_score: f64,
    /// As if their series and steps were independent.
    pub independent: f64,
}

impl Backtest {
    /// The baseline with the best CRPS.
    pub fn best_baseline(&self) -> Option<&StepScores> {
        self.scores.iter().skip(1).min_by(|a, b| a.crps.total_cmp(&b.crps))
    }
}

/// Backtest with refitting: the last half of each series is cut into `folds` blocks, and each block is forecast by a
/// forecaster fitted to all steps before it. `stride` is that of [`BacktestOrigins`].
///
/// # Errors
/// When the data or the settings are invalid, no block is as long as the horizon, or the caller asked to stop.
pub fn backtest(
    table: &Table,
    spec: &SeriesSpec,
    auto: &Auto,
    folds: usize,
    stride: Option<usize>,
    options: &FitOptions<'_>,
) -> Result<Vec<Backtest>> {
    let histories = Histories::read(table, spec, None)?;
    let shortest = histories.series.iter().map(Series::len).min().unwrap_or(0);
    if folds == 0 || shortest / 2 / folds < spec.horizon.max(1) {
        return Err(table.locate(Error::data(format!(
            "half of the shortest series, {} steps, has no room for {folds} blocks of {} steps: use fewer folds",
            shortest / 2,
            spec.horizon
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
        let forecaster = fit_forecaster(&rows(learnt), spec, auto, options)?.forecaster;
        let scored = rows(scored);
        let histories = forecaster.histories(&scored)?;
        all.push(forecaster.backtest(&scored, &histories, BacktestOrigins { test_size: Some(block), stride })?);
    }
    Ok(all)
}

impl Forecaster {
    /// The forecast points of `origins`; all steps ahead of each origin lie within the series, though their values
    /// may be missing. With a test size smaller than the horizon, origins have as many steps as are left.
    pub fn points(&self, histories: &Histories, origins: BacktestOrigins) -> Vec<ForecastPoint> {
        self.each_point(histories, Some(origins)).collect()
    }

    /// As an iterator; without origins, the points after the end of each series.
    pub(super) fn each_point<'a>(
        &'a self,
        histories: &'a Histories,
        origins: Option<BacktestOrigins>,
    ) -> impl Iterator<Item = ForecastPoint> + Clone + Send + use<'a> {
        let horizon = self.transform.spec.horizon;
        let origins_of = move |one: &Series| match origins {
            Some(BacktestOrigins { test_size, stride }) => {
                let first = self.first_origin(one, test_size);
                // Of a test part shorter than the horizon, the steps that it has are forecast.
                let last = if test_size.is_some_and(|size| size < horizon) { 1 } else { horizon };
                (first..one.len().saturating_sub(last)).step_by(stride.unwrap_or(horizon).max(1))
            }
            None => (one.len() - 1..one.len()).step_by(1),
        };
        let series = &histories.series;
        // Series by series, or of a hierarchy origin by origin: each with the series and their distances from the end.
        let blocks: Vec<(Range<usize>, Option<usize>)> = match self.transform.spec.hierarchy.is_empty() {
            true => (0..series.len()).map(|number| (number..number + 1, None)).collect(),
            false => {
                let backs = origins_of(&series[0]).map(|origin| series[0].len() - 1 - origin);
                backs.map(|back| (0..series.len(), Some(back))).collect()
            }
        };
        blocks.into_iter().flat_map(move |(numbers, back)| {
            numbers.flat_map(move |number| {
                let one = &series[number];
                let range = match back.map(|back| (one.len() - 1).checked_sub(back)) {
                    None => origins_of(one),
                    Some(Some(origin)) => (origin..origin + 1).step_by(1),
                    Some(None) => (0..0).step_by(1),
                };
                let most = if origins.is_some() { one.len() - 1 } else { usize::MAX };
                range.flat_map(move |origin| {
                    let steps = horizon.min(most.saturating_sub(origin));
                    (1..=steps).map(move |ahead| ForecastPoint { series: number, origin, ahead })
                })
            })
        })
    }

    /// The points one step ahead whose value is known, as a monitor needs them: those of the `last` steps of each
    /// series, or of all origins with enough history.
    pub fn next_steps(&self, histories: &Histories, last: Option<usize>) -> Vec<ForecastPoint> {
        let of_series = |(series, one): (usize, &Series)| {
            let origins = self.first_origin(one, last)..one.len().saturating_sub(1);
            let points = origins.map(move |origin| ForecastPoint { series, origin, ahead: 1 });
            points.filter(|point| !one.values[point.step()].is_nan()).collect::<Vec<_>>()
        };
        histories.series.iter().enumerate().flat_map(of_series).collect()
    }

    fn first_origin(&self, series: &Series, last: Option<usize>) -> usize {
        match last {
            Some(last) => series.len().saturating_sub(last.saturating_add(1)),
            None => self.transform.reach().min(series.len() / 4),
        }
    }

    /// Scores of the forecasts from these origins, and of the baselines.
    ///
    /// # Errors
    /// When the table cannot be forecast, or no origin has all its steps within the series.
    pub fn backtest(&self, table: &Table, histories: &Histories, origins: BacktestOrigins) -> Result<Backtest> {
        let horizon = self.transform.spec.horizon;
        let points = self.each_point(histories, Some(origins));
        let origins = points.clone().filter(|point| point.ahead == 1).count();
        let lag = self.transform.seasonal_periods.first().copied().unwrap_or(1);
        let changes: Vec<f64> = histories.series.iter().map(|series| series.mean_change(lag)).collect();
        let mut all = Sums::default();
        let mut steps = vec![Sums::default(); horizon];
        let mut baselines: Vec<_> = self.each_baseline(histories).map(|baseline| (baseline, Sums::default())).collect();
        let mut skill = OriginSkill::new(baselines.len());
        let mut adaptive = AdaptiveAccumulator::new(COVERAGE);
        let series: Vec<&Series> = histories.series.iter().collect();
        let mut whole: Vec<[f64; 2]> = Vec::new();
        for forecasts in self.in_batches(table, histories, points.filter(|point| !histories.value(point).is_nan()))? {
            let forecasts = forecasts?;
            adaptive.update(self, histories, &forecasts)?;
            let y: Vec<f64> = forecasts.points.iter().map(|point| histories.value(point)).collect();
            whole.extend(whole_scores(&forecasts, &series, &y, self.model().record().seed));
            let Forecasts { points, predictions, .. } = forecasts;
            let units: Vec<f64> = points.iter().map(|point| changes[point.series]).collect();
            let own = scored(&predictions, &y, &units)?;
            for (point, scores) in points.iter().zip(&own) {
                all.add(scores);
                steps[point.ahead - 1].add(scores);
            }
            let mut crps = vec![own.iter().map(Scores::crps).collect()];
            for ((_, predict), sums) in &mut baselines {
                let scores = scored(&predict(&points), &y, &units)?;
                scores.iter().for_each(|scores| sums.add(scores));
                crps.push(scores.iter().map(Scores::crps).collect());
            }
            let time = |row: usize| {
                let ForecastPoint { series, origin, .. } = points[row];
                histories.series[series].time(origin, self.transform.frequency)
            };
            skill.add((&points, time), &crps);
        }
        if all.rows == 0 {
            return Err(table.locate(Error::data("no forecast has an observed value to be scored by")));
        }
        let baselines = baselines.iter().map(|((name, _), sums)| sums.means(name, None));
        let steps = steps.iter().enumerate().filter(|(_, sums)| sums.rows > 0);
        Ok(Backtest {
            origins,
            scores: [all.means("forecast", None)].into_iter().chain(baselines).collect(),
            steps: steps.map(|(step, sums)| sums.means("forecast", Some(step + 1))).collect(),
            skill: skill.finish(),
            adaptive: adaptive.scores()?,
            whole: (!whole.is_empty()).then(|| {
                let mean = |at: usize| whole.iter().map(|scores| scores[at]).sum::<f64>() / whole.len() as f64;
                WholeScores { origins: whole.len(), energy_score: mean(0), independent: mean(1) }
            }),
        })
    }
}
