//! The learning task from Python: a table, its target specification and its column roles.

use std::sync::Arc;

use negmm::Method;
use negmm::compare::Split;
use negmm::data::{ColumnRoles, Dialect, TargetSpec};
use pyo3::prelude::*;

use crate::error::exception;
use crate::table::Table;

/// The `target` is predicted from all columns of `table` but `weight`, `group` and those of `ignore`; the newest rows by `time` are
/// held out. Types of text columns are inferred as for a CSV file;
/// `dates` are date columns, each with its format where that is given. The target lies between `lower` and `upper`; a `continuous` one
/// gets neither grid nor atoms, a `discrete` one a grid of this `step`; `censored` and `upper_end` are the columns of censoring.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Task {
    table: Py<Table>,
    target: String,
    weight: Option<String>,
    group: Option<String>,
    time: Option<String>,
    ignore: Vec<String>,
    censored: Option<String>,
    upper_end: Option<String>,
    dates: Vec<(String, Option<String>)>,
    lower: Option<f64>,
    upper: Option<f64>,
    continuous: bool,
    discrete: bool,
    step: Option<f64>,
    seed: u64,
}

/// A [`Task`] in the types of the library.
pub struct TrainingTask {
    table: Arc<negmm::Table>,
    pub target: String,
    pub inputs: ColumnRoles,
    pub seed: u64,
}

impl Task {
    pub fn resolve(self) -> PyResult<TrainingTask> {
        let Self { table, target, weight, group, time, ignore, dates, lower, upper, continuous, seed, .. } = self;
        let format = |format: Option<String>| format.map(|format| format.parse()).transpose();
        let dates = dates.into_iter().map(|(name, word)| Ok((name, format(word)?))).collect::<negmm::Result<_>>();
        let mut outcome = TargetSpec::default().lower(lower).upper(upper).continuous(continuous);
        (outcome.discrete, outcome.step) = (self.discrete, self.step);
        (outcome.censored, outcome.upper_end) = (self.censored, self.upper_end);
        let mut inputs = ColumnRoles::default().dates(dates.map_err(exception)?).target_spec(outcome).ignore(ignore);
        (inputs.weight, inputs.group, inputs.time) = (weight, group, time);
        Ok(TrainingTask { table: table.get().0.clone(), target, inputs, seed })
    }
}

impl TrainingTask {
    /// The table with inferred column types.
    pub fn table(&self) -> negmm::Result<negmm::Table> {
        negmm::Table::clone(&self.table).infer_types(&Dialect::default())
    }
}

/// A method by its name, with options as text.
pub type Described = (String, Vec<(String, String)>);

/// A method by its description.
pub fn method((name, options): &Described) -> PyResult<Method> {
    let mut method = Method::by_name(name).map_err(exception)?;
    method.configure(options).map_err(exception)?;
    Ok(method)
}

/// How rows are split into training and test rows: `folds`, or `repeats` random test sets with a fraction `test` of the rows.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Splitting {
    folds: usize,
    repeats: Option<usize>,
    test: f64,
}

impl Splitting {
    /// The splits of a table.
    pub fn splits(&self, table: &negmm::Table, task: &TrainingTask) -> negmm::Result<Vec<Split>> {
        let (rows, seed) = (table.rows(), task.seed);
        match (self.repeats, &task.inputs.group) {
            (Some(_), Some(_)) => Err(negmm::Error::options(
                "repeats cannot be used with groups: random rows would split groups; use folds",
            )),
            (Some(_), None) if task.inputs.time.is_some() => Err(negmm::Error::options(
                "repeats cannot be used with time: random rows would be predicted from newer ones; use folds",
            )),
            (Some(repeats), None) => Split::repeats(rows, repeats, self.test, seed),
            (None, _) if task.inputs.time.is_some() => {
                Split::forward(&task.inputs.times(table)?.unwrap_or_default(), self.folds)
            }
            (None, Some(group)) => Split::grouped_folds(&table.groups(group)?, self.folds, seed),
            (None, None) => Split::folds(rows, self.folds, seed),
        }
    }
}
