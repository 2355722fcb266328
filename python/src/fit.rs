//! Fitting a method to a table, with local threads or an executor.

use std::sync::Arc;

use negmm::Method;
use negmm::model::FitPlan;
use negmm::options::{OptionInfo, RENAMED, ValueKind};
use negmm::train::{Callbacks, train};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

use crate::error::{exception, warnings};
use crate::model::Model;
use crate::predictions::Predictions;
use crate::progress::ProgressTracker;
use crate::task::{Described, Task, method};
use crate::threads::interruptible_with;
use crate::trainer::Trainer;

/// A model, its held-out predictions, warnings about the data, and the drift of rows in the order of time as JSON.
type Fitted = (Model, HeldOut, Vec<Py<PyDict>>, Option<String>);

/// Held-out rows, their targets, and their predictions by models that were not trained on them.
type HeldOut = (Vec<usize>, Vec<f64>, Predictions);

/// Fits a method to a task; `exchange` sends jobs to an executor, and `progress` is called back. So many rows at the end are for
/// validation, where `validation` is given.
#[pyfunction]
#[pyo3(signature = (task, described, validation, *, threads, exchange, progress, engine))]
#[allow(clippy::too_many_arguments, reason = "what a fit needs to know; Python names each")]
pub fn fit(
    py: Python<'_>,
    task: Task,
    described: Described,
    validation: Option<usize>,
    threads: usize,
    exchange: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    engine: String,
) -> PyResult<Fitted> {
    let (task, chosen) = (task.resolve()?, method(&described)?);
    fit_by(py, threads, exchange, progress, engine, move || {
        let table = task.table()?;
        let (target, inputs, seed) = (&task.target, &task.inputs, task.seed);
        match validation {
            None => negmm::model::plan(&table, target, &chosen, inputs, seed),
            Some(rows) => {
                let first = table.rows().saturating_sub(rows);
                let validation = (first as u32..table.rows() as u32).collect();
                negmm::model::plan_validated(&table, target, &chosen, inputs, seed, validation)
            }
        }
    })
}

/// Goes on learning: the rows of a task, of which so many at the end are `replayed`. Returns what [`fit`] returns.
#[pyfunction]
#[pyo3(signature = (model, task, replayed, epochs, learning_rate, *, threads, exchange, progress, engine))]
#[allow(clippy::too_many_arguments, reason = "what an update needs to know; Python names each")]
pub fn update(
    py: Python<'_>,
    model: PyRef<'_, Model>,
    task: Task,
    replayed: usize,
    epochs: Option<usize>,
    learning_rate: Option<f64>,
    threads: usize,
    exchange: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    engine: String,
) -> PyResult<Fitted> {
    let (task, model) = (task.resolve()?, model.shared());
    fit_by(py, threads, exchange, progress, engine, move || {
        let mut options = negmm::UpdateOptions::default();
        (options.inputs, options.seed, options.replayed) = (task.inputs.clone(), task.seed, replayed);
        (options.epochs, options.learning_rate) = (epochs, learning_rate);
        model.plan_update(&task.table()?, &options)
    })
}

/// Trains what `plan` plans.
fn fit_by(
    py: Python<'_>,
    threads: usize,
    exchange: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    engine: String,
    plan: impl Fn() -> negmm::Result<FitPlan> + Send + 'static,
) -> PyResult<Fitted> {
    let tracker = Arc::new(ProgressTracker::default());
    let tracked = tracker.clone();
    let report = |py: Python<'_>| tracker.report(py, progress.as_ref());
    let fitted = interruptible_with(py, threads, report, move |cancel| {
        let trainer = Trainer::new(exchange, &engine, threads).map_err(exception)?;
        let fit = || {
            let plan = plan()?;
            let jobs = plan.jobs();
            tracked.set_total(jobs.len());
            plan.finish(train(&trainer, &jobs, &Callbacks { cancel, progress: &|progress| tracked.update(progress) }))
        };
        let fitted = fit();
        trainer.outcome(fitted)
    })??;
    tracker.report(py, progress.as_ref())?;
    let warnings = warnings(py, &fitted.warnings)?.into_iter().map(Bound::unbind).collect();
    let drift = fitted.drift.map(|drift| json!(drift).to_string());
    let held_out = fitted.held_out;
    let held_out = (held_out.rows, held_out.y, Predictions::new(held_out.predictions));
    Ok((Model::new(fitted.model), held_out, warnings, drift))
}

/// Every method as JSON: its name, the table of its options, its settings, and the number of rows it needs.
#[pyfunction]
pub fn methods() -> PyResult<String> {
    let all: Vec<_> = Method::all()
        .iter()
        .map(|method| {
            let options: Vec<_> = method.options().iter().map(self::described).collect();
            json!({"name": method.name(), "options": options, "settings": method.to_json(), "least_rows": method.least_rows()})
        })
        .collect();
    serde_json::to_string(&all).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The options that have a new name: pairs of the former and the current one.
#[pyfunction]
pub fn renamed_options() -> Vec<(&'static str, &'static str)> {
    RENAMED.to_vec()
}

/// One option as JSON.
fn described(option: &OptionInfo) -> Value {
    let (kind, words): (_, &[&str]) = match option.kind {
        ValueKind::Integer => ("integer", &[]),
        ValueKind::Float => ("float", &[]),
        ValueKind::IntegerList => ("integer list", &[]),
        ValueKind::Bool => ("bool", &[]),
        ValueKind::Choice(words) => ("choice", words),
    };
    json!({
        "name": option.name,
        "kind": kind,
        "words": words,
        "none_word": option.none_word,
        "range": option.range,
        "help": option.help,
        "default": option.value,
    })
}
