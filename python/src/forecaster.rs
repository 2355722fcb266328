//! Forecasters: forecasts, sample paths, backtest scores, serialisation.

use std::borrow::Cow;
use std::sync::Arc;

use negmm::FitOptions;
use negmm::Method;
use negmm::data::{ColumnRoles, Dialect, TargetSpec};
use negmm::forecast::{BacktestOrigins, ForecastPoint, Forecasts, SeriesSpec};
use negmm::train::{Callbacks, CpuEngine};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::json;

use crate::error::{exception, warnings};
use crate::predictions::Predictions;
use crate::table::Table;
use crate::threads::interruptible;

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
    past: Vec<String>,
    known: Vec<String>,
    horizon: usize,
    seasons: Option<Vec<usize>>,
    lower: Option<f64>,
    upper: Option<f64>,
}

/// Fits a forecaster of the series in `table` by `auto` with these options. Returns it and warnings about the data.
#[pyfunction]
#[pyo3(signature = (table, columns, options, *, seed, threads))]
pub fn fit_forecaster(
    py: Python<'_>,
    table: &Bound<'_, Table>,
    columns: Columns,
    options: Vec<(String, String)>,
    seed: u64,
    threads: usize,
) -> PyResult<(Forecaster, Vec<Py<PyDict>>)> {
    let mut method = Method::default();
    method.configure(&options).map_err(exception)?;
    let Columns { target, time, series, past, known, horizon, seasons, lower, upper } = columns;
    let mut roles = SeriesSpec::of(target)
        .past_covariates(past)
        .future_covariates(known)
        .horizon(horizon)
        .seasonal_periods(seasons);
    (roles.time, roles.series) = (time, series);
    let outcome = TargetSpec::default().lower(lower).upper(upper);
    let table = table.get().0.clone();
    let fitted = interruptible(py, threads, move |cancel| {
        let table = negmm::Table::clone(&table).infer_types(&Dialect::default())?;
        let Some(auto) = method.as_auto() else { return Err(negmm::Error::options("forecasts are made by auto")) };
        let (engine, watch) = (CpuEngine::new(threads), Callbacks { cancel, ..Callbacks::nothing() });
        let inputs = ColumnRoles::default().target_spec(outcome);
        let options = FitOptions::default().seed(seed).inputs(inputs).engine(&engine).watch(watch);
        negmm::forecast::fit_forecaster(&table, &roles, auto, &options)
    })?;
    let fitted = fitted.map_err(exception)?;
    let warnings = warnings(py, &fitted.warnings)?.into_iter().map(Bound::unbind).collect();
    Ok((Forecaster(Arc::new(fitted.forecaster)), warnings))
}

/// One number for each forecast point.
type Numbers<'py, T> = Bound<'py, PyArray1<T>>;
/// Predictions, and of each its series, its time in seconds (or its number), that of its origin, and its steps ahead.
type ForecastArrays<'py> = (Predictions, Vec<String>, Numbers<'py, f64>, Numbers<'py, f64>, Numbers<'py, i64>);

/// The forecasts of a table.
struct TableForecasts {
    forecasts: Forecasts,
    names: Vec<String>,
    times: Vec<f64>,
    origins: Vec<f64>,
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
        let clock = forecaster.transform().frequency;
        let time = |point: &ForecastPoint, step: usize| {
            let time = histories.series[point.series].time(step, clock);
            if time.is_nan() { step as f64 } else { time }
        };
        let names = forecasts.points.iter().map(|point| histories.series[point.series].name.clone()).collect();
        let times = forecasts.points.iter().map(|point| time(point, point.step())).collect();
        let origins = forecasts.points.iter().map(|point| time(point, point.origin)).collect();
        Ok(TableForecasts { forecasts, names, times, origins })
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
        let predicted = interruptible(py, threads, move |_| Self::forecasts(&forecaster, &table, origins))?;
        let TableForecasts { forecasts, names, times, origins } = predicted.map_err(exception)?;
        let steps: Vec<i64> = forecasts.points.iter().map(|point| point.ahead as i64).collect();
        let (times, origins, steps) = (times.into_pyarray(py), origins.into_pyarray(py), steps.into_pyarray(py));
        Ok((Predictions::new(forecasts.predictions), names, times, origins, steps))
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
            "held_out": self.0.scores(),
            "dates": self.0.transform().frequency.has_dates(),
        })
        .to_string()
    }
}
