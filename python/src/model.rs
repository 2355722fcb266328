//! Models: prediction, serialisation, metadata.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use negmm::conformal::{CalibrationSet, Labels, SetKind};
use negmm::data::Encoding;
use negmm::questions::{levels, numbers};
use negmm::{Accelerator, Cell, Error};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::error::exception;
use crate::predictions::Predictions;
use crate::table::Table;
use crate::threads::interruptible;

/// A fitted model.
#[pyclass(frozen, module = "negmm._native")]
pub struct Model(Arc<negmm::Model>);

impl Model {
    /// A card may help it to predict, from the time on when that pays.
    pub fn new(model: negmm::Model) -> Self {
        Self(Arc::new(match helper() {
            Some(helper) => model.accelerated(helper),
            None => model,
        }))
    }
}

/// The accelerator of all models of this process, where this build has CUDA.
#[cfg(not(feature = "cuda"))]
fn helper() -> Option<Arc<dyn Accelerator>> {
    None
}

/// The accelerator of all models of this process, where this build has CUDA.
#[cfg(feature = "cuda")]
fn helper() -> Option<Arc<dyn Accelerator>> {
    static HELPER: std::sync::OnceLock<Option<Arc<dyn Accelerator>>> = std::sync::OnceLock::new();
    HELPER.get_or_init(|| negmm_cuda::accelerator("auto", Box::new(|_| {})).ok().flatten()).clone()
}

/// What is asked of every row, numbers as text with commas between them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Questions {
    quantiles: Option<String>,
    intervals: Option<String>,
    regions: Option<String>,
    above: Option<String>,
    below: Option<String>,
    equal: Option<String>,
    shortfall: Option<String>,
    parts: bool,
    novelty: bool,
    components: bool,
}

impl Questions {
    fn read(&self) -> negmm::Result<negmm::Questions> {
        let questions = negmm::Questions {
            quantiles: levels("quantiles", self.quantiles.as_deref())?,
            intervals: levels("interval", self.intervals.as_deref())?,
            regions: levels("region", self.regions.as_deref())?,
            above: numbers("above", self.above.as_deref())?,
            below: numbers("below", self.below.as_deref())?,
            mass: numbers("equal", self.equal.as_deref())?,
            shortfall: levels("shortfall", self.shortfall.as_deref())?,
            parts: self.parts,
            novelty: self.novelty,
            components: self.components,
            ..negmm::Questions::default()
        };
        Ok(questions)
    }
}

/// The cells of a column of answers.
enum Answered {
    Numbers(Vec<f64>),
    Words(Vec<String>),
}

impl Answered {
    fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Self::Numbers(numbers), Cell::Number(number)) => numbers.push(number),
            (Self::Words(words), Cell::Text(text)) => words.push(text.into()),
            // A column has cells of one kind.
            _ => {}
        }
    }
}

fn sets(regions: bool) -> SetKind {
    if regions { SetKind::Regions } else { SetKind::Intervals }
}

fn check_cancelled(cancel: &AtomicBool) -> negmm::Result<()> {
    if cancel.load(Ordering::Relaxed) { Err(Error::cancelled()) } else { Ok(()) }
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
        py.detach(|| negmm::Model::from_bytes(&bytes)).map(Self::new).map_err(exception)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.to_bytes()).map_err(exception)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The bytes of an ONNX graph that predicts the same.
    fn to_onnx<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| negmm_onnx::export(&self.0)).map_err(exception)?;
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
        let (model, table) = (self.0.clone(), table.get().0.clone());
        let predicted = interruptible(py, threads, move |_| model.predict_with_warnings(&table))?;
        let (predictions, warnings) = predicted.map_err(exception)?;
        Ok((Predictions::new(predictions), warnings.sentences()))
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
        let (model, table) = (self.0.clone(), table.get().0.clone());
        let moments = interruptible(py, threads, move |cancel| {
            let (mut means, mut spread) = (Vec::with_capacity(table.rows()), sds.then(Vec::new));
            let warnings = model.predict_in_batches(&table, |_, predictions| {
                means.extend(predictions.mean());
                spread.iter_mut().for_each(|spread| spread.extend(predictions.sd()));
                check_cancelled(cancel)
            })?;
            Ok((means, spread, warnings.sentences()))
        })?;
        let (means, sds, warnings) = moments.map_err(exception)?;
        Ok((means.into_pyarray(py), sds.map(|sds| sds.into_pyarray(py)), warnings))
    }

    /// The names of the columns that answer questions.
    fn names(&self, questions: Questions) -> PyResult<Vec<String>> {
        questions.read().and_then(|questions| questions.names(&self.0)).map_err(exception)
    }

    /// The columns that answer questions about each row: arrays of numbers, lists of text.
    #[pyo3(signature = (table, questions, *, threads))]
    fn answers<'py>(
        &self,
        py: Python<'py>,
        table: &Bound<'py, Table>,
        questions: Questions,
        threads: usize,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (model, table) = (self.0.clone(), table.get().0.clone());
        let questions = questions.read().map_err(exception)?;
        let answered = interruptible(py, threads, move |cancel| {
            let column = |name: &String| match name.as_str() {
                "novelty_input" => Answered::Words(Vec::new()),
                name if name.starts_with("region_") && !name.ends_with("_length") => Answered::Words(Vec::new()),
                _ => Answered::Numbers(Vec::with_capacity(table.rows())),
            };
            let mut columns: Vec<Answered> = questions.names(&model)?.iter().map(column).collect();
            model.predict_in_batches(&table, |first, predictions| {
                let answers = questions.answer(predictions, first as u64)?;
                for row in 0..answers.rows() {
                    columns.iter_mut().zip(answers.row(row)).for_each(|(column, cell)| column.push(cell));
                }
                check_cancelled(cancel)
            })?;
            Ok(columns)
        })?;
        let object = |column| match column {
            Answered::Numbers(numbers) => Ok(numbers.into_pyarray(py).into_any()),
            Answered::Words(words) => words.into_pyobject(py),
        };
        answered.map_err(exception)?.into_iter().map(object).collect()
    }

    /// The model with guaranteed sets, by rows that it has not seen: their targets, and the name of the column of groups (or of weights)
    /// with one for each row, where there are some.
    #[pyo3(signature = (table, y, *, by, weights, threads))]
    fn calibrated(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Table>,
        y: PyReadonlyArray1<'_, f64>,
        by: Option<Vec<String>>,
        weights: Option<Vec<f64>>,
        threads: usize,
    ) -> PyResult<Self> {
        let (model, table, y) = (self.0.clone(), table.get().0.clone(), y.as_array().to_vec());
        let calibrated = interruptible(py, threads, move |_| {
            let (predictions, _) = model.predict_known(&table)?;
            let (grouped, weighted) = (by.is_some(), weights.is_some());
            let labels = Labels { groups: by.unwrap_or_default(), weights: weights.unwrap_or_default() };
            let mut rows = CalibrationSet::default();
            rows.add(&predictions, &y, labels)?;
            let calibration = rows.calibration(grouped.then_some("by"), weighted.then_some("sample_weight"))?;
            Ok(negmm::Model::clone(&model).calibrated(calibration))
        })?;
        calibrated.map(Self::new).map_err(exception)
    }

    /// The probability by the model itself that guaranteed sets of so many rows leave outside: of regions, or of central intervals.
    #[pyo3(signature = (regions, coverage, rows, *, by, weights))]
    fn outside<'py>(
        &self,
        py: Python<'py>,
        regions: bool,
        coverage: f64,
        rows: usize,
        by: Option<Vec<String>>,
        weights: Option<Vec<f64>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let labels = Labels { groups: by.unwrap_or_default(), weights: weights.unwrap_or_default() };
        let calibration = self.0.known_calibration().map_err(exception)?;
        Ok(calibration.outside(sets(regions), coverage, rows, &labels).map_err(exception)?.into_pyarray(py))
    }

    /// What guaranteed sets of a coverage hold, a sentence for each group.
    fn guarantees(&self, regions: bool, coverage: f64) -> PyResult<Vec<(String, String)>> {
        let calibration = self.0.known_calibration().map_err(exception)?;
        let guarantees = calibration.guarantees(sets(regions), coverage).into_iter();
        Ok(guarantees.map(|(group, guarantee)| (group.to_string(), guarantee.to_string())).collect())
    }

    /// For each row how many sds it lies outside the ranges of training, and by which input.
    fn novelty<'py>(&self, py: Python<'py>, table: &Bound<'py, Table>) -> PyResult<Novelty<'py>> {
        let table = &table.get().0;
        let novelty = py.detach(|| self.0.novelty(table)).map_err(exception)?;
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
            "method": self.0.method().to_json(),
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
