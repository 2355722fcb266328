//! The learning task from Python: a table, its target specification and its column roles.

use std::sync::Arc;

use negmm::Method;
use negmm::compare::Split;
use negmm::data::{ColumnRoles, Dialect, TargetSpec};
use pyo3::prelude::*;

use crate::error::exception;
use crate::table::Table;

/// What is to be learnt: `target` from all other columns of `table` but `weight` and `group`. Text is understood as that of a CSV file,
/// and `dates` are columns that hold dates, perhaps with their form. The target lies between `lower` and `upper`, and where it is
/// `continuous` neither grid nor atoms are looked for; `censored` and `upper_end` are the columns that say what is known of targets that
/// are not.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Task {
    table: Py<Table>,
    target: String,
    weight: Option<String>,
    group: Option<String>,
    censored: Option<String>,
    upper_end: Option<String>,
    dates: Vec<(String, Option<String>)>,
    lower: Option<f64>,
    upper: Option<f64>,
    continuous: bool,
    seed: u64,
}

/// The same as the core has it.
pub struct Learning {
    table: Arc<negmm::Table>,
    pub target: String,
    pub inputs: ColumnRoles,
    pub seed: u64,
}

impl Task {
    pub fn learning(self) -> PyResult<Learning> {
        let Self { table, target, weight, group, censored, upper_end, dates, lower, upper, continuous, seed } = self;
        let form = |form: Option<String>| form.map(|form| form.parse()).transpose();
        let dates = dates.into_iter().map(|(name, word)| Ok((name, form(word)?))).collect::<negmm::Result<_>>();
        let outcome = TargetSpec { lower, upper, continuous, censored, upper_end };
        let inputs = ColumnRoles { weight, group, dates: dates.map_err(exception)?, outcome, ..ColumnRoles::default() };
        Ok(Learning { table: table.get().0.clone(), target, inputs, seed })
    }
}

impl Learning {
    /// The table with its text understood.
    pub fn table(&self) -> negmm::Result<negmm::Table> {
        negmm::Table::clone(&self.table).understood(&Dialect::default())
    }
}

/// A method by its name, with options as text.
pub type Described = (String, Vec<(String, String)>);

/// The method that is so described.
pub fn method((name, options): &Described) -> PyResult<Method> {
    let mut method = Method::by_name(name).map_err(exception)?;
    method.configure(options).map_err(|refused| exception(refused.into()))?;
    Ok(method)
}

/// How rows are divided into those to learn from and those to score on: into `folds`, or `repeats` times a share `test` of them at
/// random.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Splitting {
    folds: usize,
    repeats: Option<usize>,
    test: f64,
}

impl Splitting {
    /// The splits of a table.
    pub fn splits(&self, table: &negmm::Table, learning: &Learning) -> negmm::Result<Vec<Split>> {
        let (rows, seed) = (table.rows(), learning.seed);
        match (self.repeats, &learning.inputs.group) {
            (Some(_), Some(_)) => Err(negmm::Error::options("random rows would tear groups apart: say folds")),
            (Some(repeats), None) => Split::repeats(rows, repeats, self.test, seed),
            (None, Some(group)) => Split::grouped_folds(&table.groups(group)?, self.folds, seed),
            (None, None) => Split::folds(rows, self.folds, seed),
        }
    }
}
