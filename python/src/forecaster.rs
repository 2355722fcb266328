//! Forecasters: forecasts, sample paths, backtest scores, serialisation.

use std::borrow::Cow;
use std::sync::Arc;

use negmm::Method;
use negmm::data::{Dialect, TargetSpec};
use negmm::forecast::{
    ALL, BacktestOrigins, ForecastPlan, ForecastPoint, Forecasts, Histories, Holiday, SeriesSpec, SeriesWatch,
};
use negmm::train::{Callbacks, train};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::json;

use crate::error::{exception, warnings};
use crate::predictions::Predictions;
use crate::progress::ProgressTracker;
use crate::table::Table;
use crate::threads::{interruptible, interruptible_with};
use crate::trainer::Trainer;

/// A fitted forecaster.
#[pyclass(frozen, module = "negmm._native")]
pub struct Forecaster(Arc<negmm::forecast::Forecaster>);

/// The roles of columns, and the horizon.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Columns {
    target: String,
    time: Option<String>,
    series: Option<String>,
    hierarchy: Vec<String>,
    past: Vec<String>,
    known: Vec<String>,
    horizon: usize,
    seasons: Option<Vec<usize>>,
    /// Days since 1970, names, and series of those that are not of all.
    holidays: Vec<(i64, String, Option<String>)>,
    sort: bool,
    lower: Option<f64>,
    upper: Option<f64>,
    continuous: bool,
    discrete: bool,
    step: Option<f64>,
}

/// Fits a forecaster of the series in `table` by `auto` with these options; `exchange` sends jobs to an executor, and
/// `progress` is called back. Returns it and warnings about the data.
#[pyfunction]
#[pyo3(signature = (table, columns, options, *, seed, threads, exchange, progress, engine))]
#[expect(clippy::too_many_arguments, reason = "arguments of Python")]
pub fn fit_forecaster(
    py: Python<'_>,
    table: &Bound<'_, Table>,
    columns: Columns,
    options: Vec<(String, String)>,
    seed: u64,
    threads: usize,
    exchange: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    engine: String,
) -> PyResult<(Forecaster, Vec<Py<PyDict>>)> {
    let mut method = Method::default();
    method.configure(&options).map_err(exception)?;
    let Columns { target, time, series, hierarchy, past, known, horizon, seasons, .. } = columns;
    let holiday = |(day, name, series): (i64, String, Option<String>)| Holiday::new(day, name, series);
    let mut roles = SeriesSpec::of(target)
        .hierarchy(hierarchy)
        .past_covariates(past)
        .future_covariates(known)
        .horizon(horizon)
        .seasonal_periods(seasons)
        .holidays(columns.holidays.into_iter().map(holiday).collect::<Vec<_>>())
        .sort(columns.sort);
    (roles.time, roles.series) = (time, series);
    let outcome = TargetSpec::default().lower(columns.lower).upper(columns.upper).continuous(columns.continuous);
    let outcome = outcome.discrete(columns.discrete).step(columns.step);
    let table = table.get().0.clone();
    let tracker = Arc::new(ProgressTracker::default());
    let tracked = tracker.clone();
    let report = |py: Python<'_>| tracker.report(py, progress.as_ref());
    let fitted = interruptible_with(py, threads, report, move |cancel| {
        let trainer = Trainer::new(exchange, &engine, threads).map_err(exception)?;
        let fit = || {
            let table = negmm::Table::clone(&table).infer_types(&Dialect::default())?;
            let Some(auto) = method.as_auto() else { return Err(negmm::Error::options("forecasts are made by auto")) };
            let of_series = |done: usize, of: usize| tracked.at("series", done, of);
            let watch = SeriesWatch::new(&of_series, cancel);
            let plan = ForecastPlan::watched(&table, &roles, auto, &outcome, seed, &watch)?;
            let jobs = plan.jobs();
            tracked.begin("networks", jobs.len());
            plan.finish(train(&trainer, &jobs, &Callbacks { cancel, progress: &|progress| tracked.update(progress) }))
        };
        let fitted = fit();
        trainer.outcome(fitted)
    })??;
    tracker.report(py, progress.as_ref())?;
    let warnings = warnings(py, &fitted.warnings)?.into_iter().map(Bound::unbind).collect();
    Ok((Forecaster(Arc::new(fitted.forecaster)), warnings))
}

/// One number for each forecast point.
type Numbers<'py, T> = Bound<'py, PyArray1<T>>;
/// Predictions, and of each a row of its series, how many of its columns name it (of a sum fewer than of a series), its
/// time in seconds (or its number), that of its origin, its steps ahead and the observed value; last, warnings, and
/// whether times are those of the clock on the wall.
type ForecastArrays<'py> = (
    Predictions,
    (Numbers<'py, i64>, Numbers<'py, i64>),
    (Numbers<'py, f64>, Numbers<'py, f64>),
    Numbers<'py, i64>,
    Numbers<'py, f64>,
    (Vec<Py<PyDict>>, bool),
);

/// The forecasts of a table.
struct TableForecasts {
    forecasts: Forecasts,
    histories: Histories,
}

impl Forecaster {
    /// Forecasts of the steps after the end of a table, or of its last steps.
    fn forecasts(
        forecaster: &negmm::forecast::Forecaster,
        table: &negmm::Table,
        origins: Option<BacktestOrigins>,
    ) -> negmm::Result<TableForecasts> {
        let table = table.clone().infer_types(&Dialect::default())?;
        let histories = forecaster.histories(&table)?;
        let forecasts = match origins {
            Some(origins) => forecaster.predict(&table, &histories, forecaster.points(&histories, origins))?,
            None => forecaster.future(&table, &histories)?,
        };
        Ok(TableForecasts { forecasts, histories })
    }
}

#[pymethods]
impl Forecaster {
    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: Cow<'_, [u8]>) -> PyResult<Self> {
        let forecaster = py.detach(|| negmm::forecast::Forecaster::from_bytes(&bytes)).map_err(exception)?;
        Ok(Self(Arc::new(forecaster)))
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.to_bytes()).map_err(exception)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }

    /// Forecasts after the end of each series, or, where `test_size` or `stride` is given, of the last steps.
    #[pyo3(signature = (table, *, test_size, stride, threads))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        table: &Bound<'py, Table>,
        test_size: Option<usize>,
        stride: Option<usize>,
        threads: usize,
    ) -> PyResult<ForecastArrays<'py>> {
        let (forecaster, table) = (self.0.clone(), table.get().0.clone());
        let origins = (test_size.is_some() || stride.is_some())
            .then_some(BacktestOrigins::default().test_size(test_size).stride(stride));
        let clock = self.0.transform().frequency;
        let predicted = interruptible(py, threads, move |_| Self::forecasts(&forecaster, &table, origins))?;
        let TableForecasts { forecasts, histories } = predicted.map_err(exception)?;
        let points = &forecasts.points;
        let time = |point: &ForecastPoint, step: usize| {
            let time = histories.series[point.series].time(step, clock);
            if time.is_nan() { step as f64 } else { time }
        };
        let of = |point: &ForecastPoint| &histories.series[point.series];
        let whole = |of: &dyn Fn(&ForecastPoint) -> usize| -> Numbers<'py, i64> {
            points.iter().map(|point| of(point) as i64).collect::<Vec<i64>>().into_pyarray(py)
        };
        let numbers = |of: &dyn Fn(&ForecastPoint) -> f64| -> Numbers<'py, f64> {
            points.iter().map(of).collect::<Vec<f64>>().into_pyarray(py)
        };
        let row = |point: &ForecastPoint| {
            let series = of(point);
            series.parts.first().map_or(series.rows[0], |part| histories.series[*part].rows[0])
        };
        let named = |point: &ForecastPoint| of(point).keys.iter().take_while(|key| *key != ALL).count();
        let observed = |point: &ForecastPoint| of(point).values.get(point.step()).copied().unwrap_or(f64::NAN);
        let positions = (whole(&row), whole(&named));
        let times = (numbers(&|point| time(point, point.step())), numbers(&|point| time(point, point.origin)));
        let (steps, observed) = (whole(&|point| point.ahead), numbers(&observed));
        let found = warnings(py, &histories.warnings)?.into_iter().map(Bound::unbind).collect();
        let predictions = Predictions::new(forecasts.predictions);
        Ok((predictions, positions, times, steps, observed, (found, histories.on_the_wall())))
    }

    /// Sample paths through the steps after the end of each series: for each step `count` values.
    #[pyo3(signature = (table, *, count, seed, threads))]
    fn paths<'py>(
        &self,
        py: Python<'py>,
        table: &Bound<'py, Table>,
        count: usize,
        seed: u64,
        threads: usize,
    ) -> PyResult<Numbers<'py, f64>> {
        let (forecaster, table) = (self.0.clone(), table.get().0.clone());
        let paths = interruptible(py, threads, move |_| {
            let predicted = Self::forecasts(&forecaster, &table, None)?;
            forecaster.paths(&predicted.forecasts, count, seed)
        })?;
        Ok(paths.map_err(exception)?.into_pyarray(py))
    }

    /// Scores of the forecasts of the last steps beside those of naive forecasts, as JSON.
    #[pyo3(signature = (table, *, test_size, stride, threads))]
    fn backtest(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Table>,
        test_size: Option<usize>,
        stride: Option<usize>,
        threads: usize,
    ) -> PyResult<String> {
        let (forecaster, table) = (self.0.clone(), table.get().0.clone());
        let backtest = interruptible(py, threads, move |_| {
            let table = negmm::Table::clone(&table).infer_types(&Dialect::default())?;
            let histories = forecaster.histories(&table)?;
            forecaster.backtest(&table, &histories, BacktestOrigins::default().test_size(test_size).stride(stride))
        })?;
        Ok(json!(backtest.map_err(exception)?).to_string())
    }

    /// A description of the forecaster, as JSON.
    fn describe(&self) -> String {
        json!({
            "transform": self.0.transform(),
            "network_weight": self.0.network_weight(),
            "classical_weight": self.0.classical_weight(),
            "held_out": self.0.scores(),
            "energy_scores": self.0.energy_scores(),
            "support": self.0.support(),
            "continuous": self.0.is_continuous(),
            "method": self.0.model().method().to_json(),
            "seed": self.0.model().record().seed,
            "dates": self.0.transform().frequency.has_dates(),
        })
        .to_string()
    }
}
