//! Models: prediction, serialisation, metadata.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use negmm::conformal::{CalibrationSet, Labels, SetKind};
use negmm::data::Encoding;
use negmm::predict::arrow_schema;
use negmm::{Accelerator, Error, Query};
use negmm_report::{EvaluationSet, Report};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::json;

use crate::arrow::ArrowBatches;
use crate::error::exception;
use crate::explain::{self, Request, Sizes};
use crate::predictions::Predictions;
use crate::table::Table;
use crate::threads::interruptible;

/// A fitted model.
#[pyclass(frozen, module = "negmm._native")]
pub struct Model(Arc<negmm::Model>);

impl Model {
    /// A model with the accelerator of its predictions, if there is one.
    pub fn new(model: negmm::Model) -> Self {
        Self(Arc::new(match accelerator() {
            Some(accelerator) => model.accelerated(accelerator),
            None => model,
        }))
    }

    /// The model itself.
    pub fn shared(&self) -> Arc<negmm::Model> {
        self.0.clone()
    }
}

/// The accelerator of all models of this process, where this build has CUDA.
#[cfg(not(feature = "cuda"))]
fn accelerator() -> Option<Arc<dyn Accelerator>> {
    None
}

/// The accelerator of all models of this process, where this build has CUDA.
#[cfg(feature = "cuda")]
fn accelerator() -> Option<Arc<dyn Accelerator>> {
    static ACCELERATOR: std::sync::OnceLock<Option<Arc<dyn Accelerator>>> = std::sync::OnceLock::new();
    ACCELERATOR.get_or_init(|| negmm_cuda::accelerator("auto", Box::new(|_| {})).ok().flatten()).clone()
}

/// Names of parameters and their texts.
type Pairs = Vec<(String, String)>;

fn sets(regions: bool) -> SetKind {
    if regions { SetKind::Regions } else { SetKind::Intervals }
}

pub(crate) fn check_cancelled(cancel: &AtomicBool) -> negmm::Result<()> {
    if cancel.load(Ordering::Relaxed) { Err(Error::cancelled()) } else { Ok(()) }
}

/// Means and (optionally) sds of predictions, and warnings about the rows.
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

    /// One distribution for each row, and warnings about the rows.
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

    /// The mean and (optionally) the sd of each row, and warnings about the rows.
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

    /// Name and type (float, integer or text) of the columns of a query.
    fn fields(&self, query: Pairs) -> PyResult<Vec<(String, &'static str)>> {
        let fields = Query::from_pairs(query).and_then(|query| query.fields(&self.0)).map_err(exception)?;
        Ok(fields.into_iter().map(|field| (field.name, field.value_type.name())).collect())
    }

    /// The columns of a query of each row, as a stream of Arrow.
    #[pyo3(signature = (table, query, *, threads))]
    fn columns(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Table>,
        query: Pairs,
        threads: usize,
    ) -> PyResult<ArrowBatches> {
        let (model, table) = (self.0.clone(), table.get().0.clone());
        let query = Query::from_pairs(query).map_err(exception)?;
        let batches = interruptible(py, threads, move |cancel| {
            let (schema, mut batches) = (arrow_schema(&query.fields(&model)?), Vec::new());
            model.predict_in_batches(&table, |first, predictions| {
                batches.push(query.columns(predictions, first as u64)?.to_record_batch()?);
                check_cancelled(cancel)
            })?;
            Ok(ArrowBatches::new(schema, batches))
        })?;
        batches.map_err(exception)
    }

    /// The model with conformal prediction sets, calibrated on rows that it was not fitted to: their targets, and optionally the
    /// group and the weight of each row, or rows towards whose inputs weights are estimated. With it how many of these rows are
    /// training rows, about.
    #[pyo3(signature = (table, y, *, by, weights, towards, threads))]
    #[allow(clippy::too_many_arguments, reason = "what a calibration needs to know; Python names each")]
    fn calibrated(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Table>,
        y: PyReadonlyArray1<'_, f64>,
        by: Option<Vec<String>>,
        weights: Option<Vec<f64>>,
        towards: Option<&Bound<'_, Table>>,
        threads: usize,
    ) -> PyResult<(Self, u64)> {
        let (model, table, y) = (self.0.clone(), table.get().0.clone(), y.as_array().to_vec());
        let towards = towards.map(|table| table.get().0.clone());
        let calibrated = interruptible(py, threads, move |_| {
            let (predictions, _) = model.predict_known(&table)?;
            let seen = model.seen_rows_of(&table, &y)?.and_then(|seen| seen.training_rows()).unwrap_or(0);
            let (grouped, weighted) = (by.is_some(), weights.is_some());
            let labels = Labels { groups: by.unwrap_or_default(), weights: weights.unwrap_or_default() };
            let mut rows = CalibrationSet::default();
            rows.add(&predictions, &y, labels)?;
            let by = grouped.then_some("by");
            let calibration = match towards {
                Some(towards) => {
                    let inputs = |table: &negmm::Table| Ok::<_, Error>(model.encoder().encode_features(table)?.0);
                    rows.shifted(by, &inputs(&table)?, &inputs(&towards)?)?
                }
                None => rows.calibration(by, weighted.then_some("sample_weight"))?,
            };
            Ok((negmm::Model::clone(&model).calibrated(calibration), seen))
        })?;
        calibrated.map(|(model, seen)| (Self::new(model), seen)).map_err(exception)
    }

    /// Whether weights of conformal sets follow from the inputs.
    #[getter]
    fn is_shifted(&self) -> bool {
        self.0.calibration().is_some_and(|calibration| calibration.is_shifted())
    }

    /// These weights for the rows of a table.
    fn shift_weights(&self, table: &Bound<'_, Table>) -> PyResult<Vec<f64>> {
        let calibration = self.0.known_calibration().map_err(exception)?;
        let (data, _) = self.0.encoder().encode_features(&table.get().0).map_err(exception)?;
        Ok(calibration.shift_weights(&data).unwrap_or_default())
    }

    /// For each row the predicted probability outside its conformal prediction set: of regions, or of central intervals.
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

    /// The coverage guarantee of conformal prediction sets, a sentence for each group.
    fn guarantees(&self, regions: bool, coverage: f64) -> PyResult<Vec<(String, String)>> {
        let calibration = self.0.known_calibration().map_err(exception)?;
        let guarantees = calibration.guarantees(sets(regions), coverage).into_iter();
        Ok(guarantees.map(|own| (own.group.to_string(), own.guarantee.to_string())).collect())
    }

    /// For each row how many sds it lies outside the ranges of training, and by which input.
    fn novelty<'py>(&self, py: Python<'py>, table: &Bound<'py, Table>) -> PyResult<Novelty<'py>> {
        let table = &table.get().0;
        let novelty = py.detach(|| self.0.novelty(table)).map_err(exception)?;
        let inputs = novelty.inputs().into_iter().map(|input| input.map(String::from)).collect();
        Ok((novelty.distances().into_pyarray(py), inputs))
    }

    /// The contributions of columns to answers for each row, and warnings about the rows.
    #[pyo3(signature = (table, request, *, threads, progress))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        table: &Bound<'py, Table>,
        request: Request,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyDict>, Vec<String>)> {
        explain::explain(py, self.0.clone(), table.get().0.clone(), request, threads, progress.as_ref())
    }

    /// The columns, and for each answer the mean |contribution| of each over the background rows themselves.
    #[pyo3(signature = (request, *, threads))]
    fn explain_background(
        &self,
        py: Python<'_>,
        request: Request,
        threads: usize,
    ) -> PyResult<(Vec<String>, Vec<Vec<f64>>)> {
        explain::of_background(py, self.0.clone(), request, threads)
    }

    /// How much each column matters over a whole table, as JSON, and warnings about the rows.
    #[pyo3(signature = (table, request, sizes, *, threads))]
    fn explain_global(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Table>,
        request: Request,
        sizes: Sizes,
        threads: usize,
    ) -> PyResult<(String, Vec<String>)> {
        explain::explain_global(py, self.0.clone(), table.get().0.clone(), request, sizes, threads)
    }

    /// The rows of a table whose targets are most worth measuring, and warnings about the rows.
    #[pyo3(signature = (pool, reference, count, *, threads))]
    fn acquire<'py>(
        &self,
        py: Python<'py>,
        pool: &Bound<'py, Table>,
        reference: Option<&Bound<'py, Table>>,
        count: usize,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyDict>, Vec<String>)> {
        let reference = reference.map(|table| table.get().0.clone());
        explain::chosen_rows(py, self.0.clone(), pool.get().0.clone(), reference, count, threads)
    }

    /// The report on the rows of a table that has the target, as one HTML page.
    fn report(&self, py: Python<'_>, table: &Table, weight: Option<&str>, source: &str) -> PyResult<String> {
        let (model, table) = (self.0.clone(), table.0.clone());
        let page = || {
            let evaluation = EvaluationSet::of_table(&model, &table, weight)?;
            Ok(Report::new(&model, &evaluation, source)?.html())
        };
        py.detach(page).map_err(exception)
    }

    /// A description of the model, as JSON.
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
            "censored": encoder.target().censored,
            "upper_end": encoder.target().upper_end,
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
