//! Responsible for fitting and for models: what they predict, their bytes, what they say about themselves.

use std::borrow::Cow;

use negmm::data::{Dialect, Encoding, Inputs, Outcome};
use negmm::options::{Kind, OptionInfo};
use negmm::train::{CpuEngine, Watch};
use negmm::{FitOptions, Method};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::error::raised;
use crate::predictions::Predictions;
use crate::table::Table;
use crate::threads::{interruptible, on_threads};

/// A fitted model.
#[pyclass(frozen, module = "negmm._native")]
pub struct Model(negmm::Model);

/// Fits a method to predict `target` from all other columns of `table` but `weight` and `group`; text is understood as that of a CSV
/// file, and `dates` are columns that hold dates, perhaps with their form. The target lies between `lower` and `upper`, and where it is
/// `continuous` neither grid nor atoms are looked for; `censored` and `upper_end` are the columns that say what is known of targets that
/// are not. Gives the model and sentences about the data.
#[pyfunction]
#[pyo3(signature = (
    table, target, method, options, *,
    weight, group, censored, upper_end, dates, lower, upper, continuous, seed, threads
))]
#[allow(clippy::too_many_arguments, reason = "what a fit needs to know; Python names each")]
pub fn fit(
    py: Python<'_>,
    table: &Bound<'_, Table>,
    target: String,
    method: &str,
    options: Vec<(String, String)>,
    weight: Option<String>,
    group: Option<String>,
    censored: Option<String>,
    upper_end: Option<String>,
    dates: Vec<(String, Option<String>)>,
    lower: Option<f64>,
    upper: Option<f64>,
    continuous: bool,
    seed: u64,
    threads: usize,
) -> PyResult<(Model, Vec<String>)> {
    let mut chosen = Method::by_name(method).map_err(raised)?;
    chosen.configure(&options).map_err(|refused| raised(refused.into()))?;
    let form = |form: Option<String>| form.map(|form| form.parse()).transpose();
    let dates = dates.into_iter().map(|(name, word)| Ok((name, form(word)?))).collect::<negmm::Result<_>>();
    let dates = dates.map_err(raised)?;
    let outcome = Outcome { lower, upper, continuous, censored, upper_end };
    let inputs = Inputs { weight, group, dates, outcome, ..Inputs::default() };
    let table = table.get().0.clone();
    let fitted = interruptible(py, threads, move |cancel| {
        let table = negmm::Table::clone(&table).understood(&Dialect::default())?;
        let (engine, watch) = (CpuEngine::new(threads), Watch { cancel, ..Watch::nothing() });
        let options = FitOptions::default().seed(seed).inputs(inputs).engine(&engine).watch(watch);
        negmm::fit_with(&table, &target, &chosen, &options)
    })?;
    let fitted = fitted.map_err(raised)?;
    Ok((Model(fitted.model), fitted.warnings))
}

/// Every method as JSON: its name, the table of its options, its settings as in model files, and the rows it cannot do without.
#[pyfunction]
pub fn methods() -> PyResult<String> {
    let all: Vec<_> = Method::all()
        .iter()
        .map(|method| {
            let options: Vec<_> = method.options().iter().map(described).collect();
            json!({"name": method.name(), "options": options, "settings": method, "least_rows": method.least_rows()})
        })
        .collect();
    serde_json::to_string(&all).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// One option as JSON.
fn described(option: &OptionInfo) -> Value {
    let (kind, words): (_, &[&str]) = match option.kind {
        Kind::Whole => ("whole", &[]),
        Kind::Real => ("real", &[]),
        Kind::List => ("list", &[]),
        Kind::Truth => ("truth", &[]),
        Kind::Word(words) => ("word", words),
    };
    json!({
        "name": option.name,
        "kind": kind,
        "words": words,
        "empty": option.empty,
        "range": option.range,
        "meaning": option.meaning,
        "default": option.value,
    })
}

/// Means and sds (where asked for) of predictions, and sentences about the rows.
type Moments<'py> = (Bound<'py, PyArray1<f64>>, Option<Bound<'py, PyArray1<f64>>>, Vec<String>);

/// Distances outside the ranges of training, and the inputs responsible.
type Novelty<'py> = (Bound<'py, PyArray1<f64>>, Vec<Option<String>>);

#[pymethods]
impl Model {
    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: Cow<'_, [u8]>) -> PyResult<Self> {
        py.detach(|| negmm::Model::from_bytes(&bytes)).map(Self).map_err(raised)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.to_bytes()).map_err(raised)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }

    /// One distribution for each row, and sentences about the rows.
    #[pyo3(signature = (table, *, threads))]
    fn predict(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Table>,
        threads: usize,
    ) -> PyResult<(Predictions, Vec<String>)> {
        let table = &table.get().0;
        let predicted = on_threads(py, threads, || self.0.predict_with_warnings(table))?;
        let (predictions, warnings) = predicted.map_err(raised)?;
        Ok((Predictions(predictions), warnings.sentences()))
    }

    /// The mean of each row, its sd where asked for, and sentences about the rows.
    #[pyo3(signature = (table, *, sds, threads))]
    fn moments<'py>(
        &self,
        py: Python<'py>,
        table: &Bound<'py, Table>,
        sds: bool,
        threads: usize,
    ) -> PyResult<Moments<'py>> {
        let table = &table.get().0;
        let moments = on_threads(py, threads, || {
            let (predictions, warnings) = self.0.predict_with_warnings(table)?;
            Ok((predictions.mean(), sds.then(|| predictions.sd()), warnings.sentences()))
        })?;
        let (means, sds, warnings) = moments.map_err(raised)?;
        Ok((means.into_pyarray(py), sds.map(|sds| sds.into_pyarray(py)), warnings))
    }

    /// For each row how many sds it lies outside the ranges of training, and by which input.
    fn novelty<'py>(&self, py: Python<'py>, table: &Bound<'py, Table>) -> PyResult<Novelty<'py>> {
        let table = &table.get().0;
        let novelty = py.detach(|| self.0.novelty(table)).map_err(raised)?;
        let inputs = novelty.inputs().into_iter().map(|input| input.map(String::from)).collect();
        Ok((novelty.distances().into_pyarray(py), inputs))
    }

    /// What the model is, as JSON.
    fn describe(&self) -> PyResult<String> {
        let encoder = self.0.encoder();
        let kind = |encoding: &Encoding| match encoding {
            Encoding::Number { .. } => "number",
            Encoding::Text { .. } => "text",
            Encoding::Time { .. } => "time",
        };
        let inputs: Vec<_> = encoder.inputs().iter().map(|input| json!([input.name, kind(&input.encoding)])).collect();
        let description = json!({
            "method": self.0.method(),
            "target": encoder.target().name,
            "support": encoder.target().support,
            "inputs": inputs,
            "features": encoder.features(),
            "window": encoder.sequence().map(|sequence| sequence.window),
            "parameters": self.0.predictor().parameters(),
            "members": self.0.members(),
            "components": self.0.components(),
            "record": self.0.record(),
        });
        Ok(description.to_string())
    }
}
