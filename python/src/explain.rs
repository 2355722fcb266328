//! Explanations of predictions: contributions of columns to answers, explanations of whole tables, rows worth measuring.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use negmm::explain::{
    Answer, Background, Effort, Explainer, Explanation, GlobalOptions, Reference, acquire, explain_globally, verdict,
};
use negmm::{Error, Model};
use numpy::ndarray::Array3;
use numpy::{IntoPyArray, PyArray1, PyArray3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::model::check_cancelled;
use crate::predictions::in_rows;
use crate::progress::ProgressTracker;
use crate::table::Table;
use crate::threads::{interruptible, interruptible_with};

/// Rows that are explained between two looks at whether the call was interrupted.
const BATCH: usize = 64;

/// The answers that are explained (names with commas between them), the rows that they are compared with, of many a sample, and the
/// effort: all subsets, so many permutations, or what is chosen for the number of rows.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Request {
    answers: String,
    background: Option<Py<Table>>,
    background_rows: usize,
    exact: bool,
    permutations: Option<usize>,
    seed: u64,
}

/// How much of a table is looked at.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Sizes {
    rows: usize,
    permuted_rows: usize,
    repeats: usize,
    interaction_rows: usize,
    curves: usize,
}

impl Request {
    /// The explainer of a model, and warnings about the background.
    fn explainer<'m>(&self, model: &'m Model) -> negmm::Result<(Explainer<'m>, Vec<String>)> {
        let (background, warnings) = match &self.background {
            Some(table) => {
                let (background, warnings) =
                    Background::of_table(model, &table.get().0, self.background_rows, self.seed)?;
                (background, warnings.sentences())
            }
            None => (carried(model)?, Vec::new()),
        };
        let explainer = Explainer::new(model, background, Answer::list(&self.answers)?)?.seed(self.seed);
        let effort = match (self.exact, self.permutations) {
            (true, _) => Effort::Exact,
            (false, Some(pairs)) => Effort::Permutations(pairs),
            (false, None) => Effort::Automatic,
        };
        Ok((explainer.with_effort(effort)?, warnings))
    }
}

fn carried(model: &Model) -> negmm::Result<Background> {
    let method = model.method().name();
    model.background().cloned().ok_or_else(|| {
        Error::options(format!("this model ({method}) carries no background rows to compare with: pass background"))
    })
}

/// The explanation of each row of a table, and warnings about the rows.
pub fn explain<'py>(
    py: Python<'py>,
    model: Arc<Model>,
    table: Arc<negmm::Table>,
    request: Request,
    threads: usize,
    progress: Option<&Py<PyAny>>,
) -> PyResult<(Bound<'py, PyDict>, Vec<String>)> {
    let tracker = Arc::new(ProgressTracker::default());
    tracker.set_total(table.rows());
    let tracked = tracker.clone();
    let report = |py: Python<'_>| tracker.report(py, progress);
    let explained = interruptible_with(py, threads, report, move |cancel| {
        let (explainer, warnings) = request.explainer(&model)?;
        let (explanation, more) = in_batches(&explainer.for_rows(table.rows()), &table, cancel, &tracked)?;
        let impossible = impossible(&explanation);
        let warnings: Vec<String> = warnings.into_iter().chain(more).chain(impossible).collect();
        Ok::<_, Error>((explanation, verdicts(&model, &table)?, warnings))
    })?;
    let (explanation, verdicts, warnings) = explained.map_err(crate::error::exception)?;
    tracker.report(py, progress)?;
    let found = parts(py, &explanation)?;
    found.set_item("verdicts", verdicts)?;
    Ok((found, warnings))
}

/// What would narrow each prediction, in plain words; `None` where the model has one member.
fn verdicts(model: &Model, table: &negmm::Table) -> negmm::Result<Option<Vec<&'static str>>> {
    if model.members() < 2 {
        return Ok(None);
    }
    let mut verdicts = Vec::with_capacity(table.rows());
    model.predict_in_batches(table, |_, predictions| {
        let (within, between) = predictions.variance_by_members();
        verdicts
            .extend(within.into_iter().zip(between).map(|(within, between)| verdict(between.sqrt(), within.sqrt())));
        Ok(())
    })?;
    Ok(Some(verdicts))
}

/// For each score the rows where it is infinite, in words.
fn impossible(explanation: &Explanation) -> Vec<String> {
    let of = |(answer, name): (usize, &String)| {
        let rows = (0..explanation.rows()).filter(|row| !explanation.is_defined(*row, answer)).count();
        (rows > 0).then(|| {
            format!(
                "in {rows} {} the target is impossible for the model, or for the rows it is compared with: {name} is infinite \
                 there, and its contributions are NaN",
                if rows == 1 { "row" } else { "rows" }
            )
        })
    };
    explanation.answers().iter().enumerate().filter_map(of).collect()
}

/// Explains some rows after the other: the result is that of all at once.
fn in_batches(
    explainer: &Explainer<'_>,
    table: &negmm::Table,
    cancel: &AtomicBool,
    tracker: &ProgressTracker,
) -> negmm::Result<(Explanation, Vec<String>)> {
    let part = |first: usize| {
        let rows: Vec<usize> = (first..table.rows().min(first + BATCH)).collect();
        explainer.explain(&table.select_rows(&rows))
    };
    let (mut whole, mut warnings) = part(0)?;
    for first in (BATCH..table.rows()).step_by(BATCH) {
        tracker.set_done(first);
        check_cancelled(cancel)?;
        let (explanation, more) = part(first)?;
        whole.append(explanation)?;
        warnings.merge(&more);
    }
    tracker.set_done(table.rows());
    Ok((whole, warnings.sentences()))
}

/// `values` and `base`, rows × answers, `contributions` and their `errors`, rows × answers × columns, and names.
fn parts<'py>(py: Python<'py>, explanation: &Explanation) -> PyResult<Bound<'py, PyDict>> {
    let (rows, answers, columns) = (explanation.rows(), explanation.answers().len(), explanation.columns().len());
    let each = || (0..rows).flat_map(|row| (0..answers).map(move |answer| (row, answer)));
    let cube = |of: &dyn Fn(usize, usize) -> Vec<f64>| -> PyResult<Bound<'py, PyArray3<f64>>> {
        let list = each().flat_map(|(row, answer)| of(row, answer)).collect();
        let array = Array3::from_shape_vec((rows, answers, columns), list);
        Ok(array.map_err(|error| PyValueError::new_err(error.to_string()))?.into_pyarray(py))
    };
    let found = PyDict::new(py);
    found.set_item("columns", explanation.columns())?;
    found.set_item("answers", explanation.answers())?;
    found.set_item("values", in_rows(py, explanation.values().to_vec(), rows, answers)?)?;
    let base = each().map(|(row, answer)| explanation.base(row, answer)).collect();
    found.set_item("base", in_rows(py, base, rows, answers)?)?;
    found.set_item("contributions", cube(&|row, answer| explanation.contributions(row, answer).to_vec())?)?;
    found.set_item("errors", cube(&|row, answer| explanation.errors(row, answer).to_vec())?)?;
    found.set_item("exact", explanation.is_exact())?;
    Ok(found)
}

/// For each answer the mean |contribution| of each column over the background rows themselves, by their weights, and the columns.
pub fn of_background(
    py: Python<'_>,
    model: Arc<Model>,
    request: Request,
    threads: usize,
) -> PyResult<(Vec<String>, Vec<Vec<f64>>)> {
    let found = interruptible(py, threads, move |_| {
        let (explainer, _) = request.explainer(&model)?;
        let explanation = explainer.explain_background()?;
        let weights = explainer.background().weights();
        let answers = 0..explanation.answers().len();
        let means = answers.map(|answer| explanation.mean_absolute(answer, Some(weights))).collect();
        Ok((explanation.columns().to_vec(), means))
    })?;
    found.map_err(crate::error::exception)
}

/// The explanation of a table as a whole, as JSON, and warnings about the rows.
pub fn explain_global(
    py: Python<'_>,
    model: Arc<Model>,
    table: Arc<negmm::Table>,
    request: Request,
    sizes: Sizes,
    threads: usize,
) -> PyResult<(String, Vec<String>)> {
    let found = interruptible(py, threads, move |_| {
        let (explainer, mut sentences) = request.explainer(&model)?;
        let Sizes { rows, permuted_rows, repeats, interaction_rows, curves } = sizes;
        let options = GlobalOptions { rows, permuted_rows, repeats, interaction_rows, curves, seed: request.seed };
        let (found, warnings) = explain_globally(&explainer, &table, &options)?;
        sentences.extend(warnings.sentences());
        Ok((found, sentences))
    })?;
    let (found, sentences) = found.map_err(crate::error::exception)?;
    let text = serde_json::to_string(&found).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((text, sentences))
}

/// The chosen rows, each with the reduction of the mean epistemic variance, its epistemic and aleatoric sd and what is left, and
/// the sentences about them.
pub fn chosen_rows<'py>(
    py: Python<'py>,
    model: Arc<Model>,
    pool: Arc<negmm::Table>,
    reference: Option<Arc<negmm::Table>>,
    count: usize,
    threads: usize,
) -> PyResult<(Bound<'py, PyDict>, Vec<String>)> {
    let found = interruptible(py, threads, move |_| {
        let reference = reference.as_deref().map_or(Reference::Pool, Reference::Rows);
        acquire(&model, &pool, reference, count)
    })?;
    let (found, warnings) = found.map_err(crate::error::exception)?;
    let chosen = PyDict::new(py);
    let rows: Vec<i64> = found.iter().map(|one| one.row as i64).collect();
    chosen.set_item("rows", rows.into_pyarray(py))?;
    let column = |of: &dyn Fn(&negmm::explain::Acquired) -> f64| -> Bound<'py, PyArray1<f64>> {
        found.iter().map(of).collect::<Vec<f64>>().into_pyarray(py)
    };
    chosen.set_item("reduction", column(&|one| one.reduction))?;
    chosen.set_item("epistemic", column(&|one| one.epistemic))?;
    chosen.set_item("aleatoric", column(&|one| one.aleatoric))?;
    chosen.set_item("left", column(&|one| one.left))?;
    chosen.set_item("sentences", found.iter().map(|one| one.sentence()).collect::<Vec<_>>())?;
    Ok((chosen, warnings.sentences()))
}
