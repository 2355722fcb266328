//! Comparison of methods and hyperparameter search, with scores as JSON.

use std::path::PathBuf;
use std::sync::Arc;

use negmm::compare::{CompareOptions, Metric, Summary};
use negmm::train::Callbacks;
use negmm::tune::{Candidate, Dimension, Journal, MetricSummary, RunOptions, Search, Shard, Space, Strategy, choosers};
use negmm::{Error, Method};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::error::exception;
use crate::progress::ProgressTracker;
use crate::task::{Described, Splitting, Task, method};
use crate::threads::interruptible_with;
use crate::trainer::Trainer;

/// Fits every method on every split: for each method a list with the scores of each split, and for each score the method that is best
/// by more than chance.
#[pyfunction]
#[pyo3(signature = (task, methods, splitting, *, threads, exchange, progress, engine))]
#[allow(clippy::too_many_arguments, reason = "what a comparison needs to know; Python names each")]
pub fn compare(
    py: Python<'_>,
    task: Task,
    methods: Vec<Described>,
    splitting: Splitting,
    threads: usize,
    exchange: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    engine: String,
) -> PyResult<String> {
    let task = task.resolve()?;
    let methods = methods.iter().map(method).collect::<PyResult<Vec<Method>>>()?;
    let tracker = Arc::new(ProgressTracker::default());
    let tracked = tracker.clone();
    let report = |py: Python<'_>| tracker.report(py, progress.as_ref());
    let comparison = interruptible_with(py, threads, report, move |cancel| {
        let trainer = Trainer::new(exchange, &engine, threads).map_err(crate::error::exception)?;
        let run = || {
            let table = task.table()?;
            let splits = splitting.splits(&table, &task)?;
            tracked.set_total(methods.len() * splits.len());
            let increment = || tracked.increment();
            let options = CompareOptions::new(&task.inputs)
                .seed(task.seed)
                .engine(&trainer)
                .watch(Callbacks { cancel, ..Callbacks::nothing() })
                .fitted(&increment);
            negmm::compare::compare(&table, &task.target, &methods, &splits, &options)
        };
        let compared = run();
        trainer.outcome(compared)
    })??;
    tracker.report(py, progress.as_ref())?;
    let metrics = comparison.metrics();
    let named = |value: &dyn Fn(Metric) -> Value| -> Value {
        Value::Object(metrics.iter().map(|metric| (metric.name().into(), value(*metric))).collect())
    };
    let scores: Vec<Vec<Value>> = comparison
        .scores
        .iter()
        .map(|splits| splits.iter().map(|score| named(&|metric| json!(score.get(metric)))).collect())
        .collect();
    let best = named(&|metric| json!(comparison.best(metric)));
    Ok(json!({ "scores": scores, "best": best }).to_string())
}

/// The splits that a comparison of this task uses, as training and test rows, and the step of a discrete target.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "a pair of lists for each split")]
pub fn comparison_splits(task: Task, splitting: Splitting) -> PyResult<(Vec<(Vec<usize>, Vec<usize>)>, Option<f64>)> {
    let task = task.resolve()?;
    let found = || {
        let table = task.table()?;
        let encoder = negmm::data::Encoder::fit(&table, &task.target, &task.inputs)?;
        let splits = splitting.splits(&table, &task)?;
        Ok((splits.into_iter().map(|split| (split.train, split.test)).collect(), encoder.target().grid))
    };
    found().map_err(exception)
}

/// The settings of a search beside its task.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct SearchSettings {
    /// `OPTION=VALUES`, as on the command line; empty: the options that most often matter.
    tries: Vec<String>,
    search: Option<String>,
    trials: Option<usize>,
    factor: usize,
    by: String,
    /// The folder of the journal; None: no journal.
    journal: Option<PathBuf>,
}

impl SearchSettings {
    fn space(&self, methods: Vec<Method>) -> negmm::Result<Space> {
        if self.tries.is_empty() {
            return Space::usual(methods);
        }
        Space::new(methods, self.tries.iter().map(|text| Dimension::parse(text)).collect::<negmm::Result<_>>()?)
    }

    fn strategy(&self, space: &Space) -> negmm::Result<Strategy> {
        /// Configurations that are drawn by default.
        const DRAWS: usize = 30;
        if self.trials == Some(0) || self.factor < 2 {
            return Err(Error::option("trials", "must be at least 1 and factor at least 2"));
        }
        let usual = if space.has_range() || self.trials.is_some() { "random" } else { "grid" };
        match self.search.as_deref().unwrap_or(usual) {
            "grid" if self.trials.is_some() => {
                Err(Error::options("a grid has all combinations: trials is for random and halving"))
            }
            "grid" => Ok(Strategy::Grid),
            "random" => Ok(Strategy::Random { draws: self.trials.unwrap_or(DRAWS) }),
            "halving" => {
                let draws = self.trials.or(space.has_range().then_some(DRAWS));
                Ok(Strategy::Halving { draws, factor: self.factor })
            }
            other => Err(Error::option("search", format!("must be grid, random or halving, found {other:?}"))),
        }
    }
}

/// The default search space as JSON: the methods, and each option with its values or its range.
#[pyfunction]
pub fn usual_space(methods: Vec<Described>) -> PyResult<String> {
    let methods = methods.iter().map(method).collect::<PyResult<Vec<Method>>>()?;
    Ok(Space::usual(methods).map_err(exception)?.describe().to_string())
}

/// Tries settings of methods: all of them, the best first, as JSON.
#[pyfunction]
#[pyo3(signature = (task, methods, splitting, settings, *, threads, exchange, progress, engine))]
#[allow(clippy::too_many_arguments, reason = "what a search needs to know; Python names each")]
pub fn tune(
    py: Python<'_>,
    task: Task,
    methods: Vec<Described>,
    splitting: Splitting,
    settings: SearchSettings,
    threads: usize,
    exchange: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    engine: String,
) -> PyResult<String> {
    let task = task.resolve()?;
    let space = settings.space(methods.iter().map(method).collect::<PyResult<_>>()?).map_err(exception)?;
    let strategy = settings.strategy(&space).map_err(exception)?;
    let known = choosers(&task.inputs);
    let by = known.iter().copied().find(|metric| metric.name() == settings.by).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|metric| metric.name()).collect();
        exception(Error::option("by", format!("must be one of {}, found {:?}", names.join(", "), settings.by)))
    })?;
    let tracker = Arc::new(ProgressTracker::default());
    let tracked = tracker.clone();
    let report = |py: Python<'_>| tracker.report(py, progress.as_ref());
    let ranking = interruptible_with(py, threads, report, move |cancel| {
        let trainer = Trainer::new(exchange, &engine, threads).map_err(crate::error::exception)?;
        let run = || {
            let table = task.table()?;
            let splits = splitting.splits(&table, &task)?;
            let (target, inputs, seed) = (&task.target, &task.inputs, task.seed);
            let search = Search::new(&table, target, inputs, &space, &splits).strategy(strategy).by(by).seed(seed);
            let mut journal = match &settings.journal {
                Some(folder) => Journal::open(folder, &search.plan(), Shard::WHOLE)?,
                None => Journal::in_memory(),
            };
            let progress = |done: usize, of: usize| {
                tracked.set_total(of);
                tracked.set_done(done);
            };
            let options = RunOptions::default().engine(&trainer).cancel(cancel).progress(&progress);
            Ok(search.run(&mut journal, &options)?.unwrap_or_default())
        };
        let ranking = run();
        trainer.outcome(ranking)
    })??;
    tracker.report(py, progress.as_ref())?;
    Ok(Value::from(ranking.iter().map(entry).collect::<Vec<_>>()).to_string())
}

/// A line of the ranking.
fn entry(candidate: &Candidate) -> Value {
    let mut scores = Map::new();
    for MetricSummary { metric, summary: Summary { mean, se, .. } } in &candidate.scores {
        scores.insert(metric.name().into(), json!({ "mean": mean, "se": se }));
    }
    json!({
        "method": candidate.configuration.method.name(),
        "settings": candidate.configuration.settings,
        "row_fraction": candidate.fraction,
        "failed": candidate.failed,
        "scores": scores,
    })
}
