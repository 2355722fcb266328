//! Fitting a method to a table, with local threads or an executor.

use std::sync::Arc;

use negmm::Method;
use negmm::options::{OptionInfo, RENAMED, ValueKind};
use negmm::train::{Callbacks, train};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

use crate::error::{exception, warnings};
use crate::following::Following;
use crate::model::Model;
use crate::outside::Trainer;
use crate::task::{Described, Task, method};
use crate::threads::followed;

/// Fits a method to a task; `exchange` takes jobs elsewhere, and `progress` is told how far it is. Gives the model and warnings about
/// the data.
#[pyfunction]
#[pyo3(signature = (task, described, *, threads, exchange, progress, engine))]
pub fn fit(
    py: Python<'_>,
    task: Task,
    described: Described,
    threads: usize,
    exchange: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    engine: String,
) -> PyResult<(Model, Vec<Py<PyDict>>)> {
    let (learning, chosen) = (task.learning()?, method(&described)?);
    let following = Arc::new(Following::default());
    let heard = following.clone();
    let look = |py: Python<'_>| following.tell(py, progress.as_ref());
    let fitted = followed(py, threads, look, move |cancel| {
        let trainer = Trainer::new(exchange, &engine, threads).map_err(exception)?;
        let fit = || {
            let table = learning.table()?;
            let plan = negmm::model::plan(&table, &learning.target, &chosen, &learning.inputs, learning.seed)?;
            let jobs = plan.jobs();
            heard.expect(jobs.len());
            plan.finish(train(&trainer, &jobs, &Callbacks { cancel, progress: &|progress| heard.hear(progress) }))
        };
        let fitted = fit();
        trainer.outcome(fitted)
    })??;
    following.tell(py, progress.as_ref())?;
    let warnings = warnings(py, &fitted.warnings)?.into_iter().map(Bound::unbind).collect();
    Ok((Model::new(fitted.model), warnings))
}

/// Every method as JSON: its name, the table of its options, its settings, and the rows it cannot do without.
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
