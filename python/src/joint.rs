//! Models of several targets and their joint predictions.

use std::borrow::Cow;
use std::sync::Arc;

use negmm::conformal::{CalibrationSet, Labels, SetKind};
use negmm::joint::{Combination, JointMetrics, RegionKind, fit_joint_with};
use negmm::predict::{JointQuery, arrow_schema};
use negmm::train::Callbacks;
use negmm::{FitOptions, Method};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::json;

use crate::arrow::ArrowBatches;
use crate::error::{exception, warnings};
use crate::model::check_cancelled;
use crate::predictions::Predictions;
use crate::table::Table;
use crate::task::{Described, Task};
use crate::threads::{interruptible, interruptible_with};
use crate::trainer::Trainer;

type Numbers<'py> = Bound<'py, PyArray1<f64>>;
/// Pairs of a parameter's name and its text.
type Pairs = Vec<(String, String)>;

/// Rows that are predicted at once.
const BATCH: usize = 1_024;

/// A fitted model of several targets.
#[pyclass(frozen, module = "negmm._native")]
pub struct JointModel(Arc<negmm::JointModel>);

/// Fits a method to several targets of a task together. Returns the model and warnings about the data.
#[pyfunction]
#[pyo3(signature = (task, targets, described, *, threads, engine))]
pub fn fit_joint(
    py: Python<'_>,
    task: Task,
    targets: Vec<String>,
    described: Described,
    threads: usize,
    engine: String,
) -> PyResult<(JointModel, Vec<Py<PyDict>>)> {
    let task = task.resolve()?;
    let mut method = Method::by_name(&described.0).map_err(exception)?.for_several_targets();
    method.configure(&described.1).map_err(exception)?;
    let fitted = interruptible_with(
        py,
        threads,
        |_| Ok(()),
        move |cancel| {
            let trainer = Trainer::new(None, &engine, threads).map_err(exception)?;
            let fit = || {
                let table = task.table()?;
                let watch = Callbacks { cancel, ..Callbacks::nothing() };
                let options =
                    FitOptions::default().seed(task.seed).inputs(task.inputs.clone()).engine(&trainer).watch(watch);
                let names: Vec<&str> = targets.iter().map(String::as_str).collect();
                fit_joint_with(&table, &names, &method, &options)
            };
            let fitted = fit();
            trainer.outcome(fitted)
        },
    )??;
    let warnings = warnings(py, &fitted.warnings)?.into_iter().map(Bound::unbind).collect();
    Ok((JointModel(Arc::new(fitted.model)), warnings))
}

#[pymethods]
impl JointModel {
    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: Cow<'_, [u8]>) -> PyResult<Self> {
        py.detach(|| negmm::JointModel::from_bytes(&bytes)).map(|model| Self(Arc::new(model))).map_err(exception)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.to_bytes()).map_err(exception)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The model as an ONNX graph.
    fn to_onnx<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| negmm_onnx::export_joint(&self.0)).map_err(exception)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }

    /// One joint distribution for each row, and warnings about the rows.
    #[pyo3(signature = (table, *, threads))]
    fn predict(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Table>,
        threads: usize,
    ) -> PyResult<(JointPredictions, Vec<String>)> {
        let (model, table) = (self.0.clone(), table.get().0.clone());
        let predicted = interruptible(py, threads, move |_| model.predict_with_warnings(&table))?;
        let (predictions, warnings) = predicted.map_err(exception)?;
        Ok((JointPredictions(predictions), warnings.sentences()))
    }

    /// Name and type of the columns of a query.
    fn fields(&self, query: Pairs) -> PyResult<Vec<(String, &'static str)>> {
        let fields = JointQuery::from_pairs(query).and_then(|query| query.fields(&self.0)).map_err(exception)?;
        Ok(fields.into_iter().map(|field| (field.name, field.value_type.name())).collect())
    }

    /// The targets that a query reads from the data.
    fn needed(&self, query: Pairs) -> PyResult<Vec<String>> {
        let query = JointQuery::from_pairs(query).map_err(exception)?;
        Ok(query.needed(&self.0).into_iter().map(str::to_string).collect())
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
        let query = JointQuery::from_pairs(query).map_err(exception)?;
        let batches = interruptible(py, threads, move |cancel| {
            let schema = arrow_schema(&query.fields(&model)?);
            let needed = query.needed(&model);
            let mut batches = Vec::new();
            for first in (0..table.rows()).step_by(BATCH) {
                let rows: Vec<usize> = (first..table.rows().min(first + BATCH)).collect();
                let own = table.select_rows(&rows);
                let predictions = model.predict(&own)?;
                let column = |name: &&str| match own.numbers(name) {
                    Some(numbers) => numbers.map(|numbers| numbers.to_vec()),
                    None => Err(negmm::Error::data(own.absent(&[name]))),
                };
                let observed = needed.iter().map(column).collect::<negmm::Result<Vec<_>>>()?;
                let columns = query.columns(&predictions, &observed, &needed, None, (first as u64, &[]))?;
                batches.push(columns.to_record_batch()?);
                check_cancelled(cancel)?;
            }
            Ok(ArrowBatches::new(schema, batches))
        })?;
        batches.map_err(exception)
    }

    /// The model with conformal regions, calibrated on rows that it was not fitted to: their targets (rows × targets), and
    /// optionally the group and the weight of each row. With it how many of these rows are training rows, about.
    #[pyo3(signature = (table, y, *, by, weights, threads))]
    fn calibrated(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Table>,
        y: PyReadonlyArray1<'_, f64>,
        by: Option<Vec<String>>,
        weights: Option<Vec<f64>>,
        threads: usize,
    ) -> PyResult<(Self, u64)> {
        let (model, table, y) = (self.0.clone(), table.get().0.clone(), y.as_array().to_vec());
        let calibrated = interruptible(py, threads, move |_| {
            let seen = model.seen_rows_of(&table, &y)?.and_then(|seen| seen.training_rows()).unwrap_or(0);
            let (grouped, weighted) = (by.is_some(), weights.is_some());
            let labels = Labels { groups: by.unwrap_or_default(), weights: weights.unwrap_or_default() };
            let mut rows = CalibrationSet::default();
            model.predict(&table)?.add_to(&mut rows, &y, labels)?;
            let calibration = rows.calibration(grouped.then_some("by"), weighted.then_some("sample_weight"))?;
            Ok((negmm::JointModel::clone(&model).calibrated(calibration), seen))
        })?;
        calibrated.map(|(model, seen)| (Self(Arc::new(model)), seen)).map_err(exception)
    }

    /// For each row the predicted probability outside its conformal region, of highest density or an ellipsoid.
    #[pyo3(signature = (kind, coverage, rows, *, by, weights))]
    fn outside<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        coverage: f64,
        rows: usize,
        by: Option<Vec<String>>,
        weights: Option<Vec<f64>>,
    ) -> PyResult<Numbers<'py>> {
        let labels = Labels { groups: by.unwrap_or_default(), weights: weights.unwrap_or_default() };
        let outside = self.calibration()?.outside(sets(kind)?.1, coverage, rows, &labels).map_err(exception)?;
        Ok(outside.into_pyarray(py))
    }

    /// The coverage guarantee of conformal regions, a sentence for each group.
    fn guarantees(&self, kind: &str, coverage: f64) -> PyResult<Vec<(String, String)>> {
        let guarantees = self.calibration()?.guarantees(sets(kind)?.1, coverage).into_iter();
        Ok(guarantees.map(|own| (own.group.to_string(), own.guarantee.to_string())).collect())
    }

    /// The model as JSON: method, targets, inputs, forms with their weights, training record.
    fn describe(&self) -> String {
        let model = &self.0;
        let forms: Vec<_> = model.parts().iter().map(|part| (part.form.name(), part.weight)).collect();
        let inputs: Vec<&str> = model.encoder().inputs().iter().map(|input| input.name.as_str()).collect();
        json!({
            "method": model.method().to_json(),
            "targets": model.names(),
            "inputs": inputs,
            "forms": forms,
            "record": model.record(),
        })
        .to_string()
    }
}

impl JointModel {
    fn calibration(&self) -> PyResult<&negmm::conformal::Calibration> {
        self.0.calibration().ok_or_else(|| {
            exception(negmm::Error::options(
                "the model has no calibration: call calibrate with rows that it has not seen",
            ))
        })
    }
}

/// Kinds of regions by name.
fn sets(kind: &str) -> PyResult<(RegionKind, SetKind)> {
    match kind {
        "density" => Ok((RegionKind::HighestDensity, SetKind::Regions)),
        "ellipsoid" => Ok((RegionKind::Ellipsoid, SetKind::Ellipsoids)),
        other => {
            let message = format!("kind must be density or ellipsoid, found {other:?}");
            Err(exception(negmm::Error::options(message)))
        }
    }
}

/// A joint distribution of all targets for each row.
#[pyclass(frozen, module = "negmm._native")]
pub struct JointPredictions(negmm::JointPredictions);

impl JointPredictions {
    fn check(&self, target: usize) -> PyResult<()> {
        let count = self.0.targets().len();
        if target < count { Ok(()) } else { Err(PyIndexError::new_err(format!("there are {count} targets"))) }
    }
}

#[pymethods]
impl JointPredictions {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The names of the targets.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.names().into_iter().map(str::to_string).collect()
    }

    /// Components of each row.
    #[getter]
    fn components(&self) -> usize {
        self.0.mixtures().components()
    }

    /// Weights, rows × components.
    fn weights<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        self.0.mixtures().weights().to_vec().into_pyarray(py)
    }

    /// Means, rows × components × targets.
    fn means<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        self.0.mixtures().means().to_vec().into_pyarray(py)
    }

    /// Cholesky factors, rows × components × packed lower triangles.
    fn factors<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        self.0.mixtures().factors().to_vec().into_pyarray(py)
    }

    /// Rows × targets.
    fn mean<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        let d = self.0.targets().len();
        let marginals: Vec<Vec<f64>> = (0..d).map(|target| self.0.marginal(target).mean()).collect();
        let means: Vec<f64> = (0..self.0.len()).flat_map(|row| marginals.iter().map(move |list| list[row])).collect();
        means.into_pyarray(py)
    }

    /// Rows × targets × targets.
    fn cov<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        self.0.mixtures().covariance().into_pyarray(py)
    }

    /// The distribution of one target.
    fn marginal(&self, target: usize) -> PyResult<Predictions> {
        self.check(target)?;
        Ok(Predictions::new(self.0.marginal(target)))
    }

    /// The distribution of a linear combination.
    fn linear(&self, coefficients: Vec<f64>, offset: f64) -> PyResult<Predictions> {
        let targets = self.0.targets().len();
        if coefficients.len() != targets {
            let message = format!("expected {targets} coefficients, found {}", coefficients.len());
            return Err(exception(negmm::Error::data(message)));
        }
        let combination = Combination { name: String::new(), coefficients, offset };
        Ok(Predictions::new(self.0.combination(&combination)))
    }

    /// The distribution of a combination such as `profit = revenue - cost`, and its name.
    fn combine(&self, text: &str) -> PyResult<(String, Predictions)> {
        let combination = Combination::parse(text, &self.0.names()).map_err(exception)?;
        let predictions = Predictions::new(self.0.combination(&combination));
        Ok((combination.name, predictions))
    }

    /// The joint distribution of the other targets when those of `given` have these values, rows × given.
    fn conditional(&self, given: Vec<usize>, values: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        given.iter().try_for_each(|target| self.check(*target))?;
        self.0.conditional(&given, &values.as_array().to_vec()).map(Self).map_err(exception)
    }

    /// The log density at rows × targets.
    fn logpdf<'py>(&self, py: Python<'py>, y: PyReadonlyArray1<'py, f64>) -> Numbers<'py> {
        self.0.mixtures().log_pdf(&y.as_array().to_vec()).into_pyarray(py)
    }

    /// The border of the region of each row that leaves this probability outside, and its volume.
    fn regions<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        outside: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<(Numbers<'py>, Numbers<'py>)> {
        let (kind, outside) = (sets(kind)?.0, outside.as_array().to_vec());
        let regions = py.detach(|| self.0.regions_leaving(kind, &outside, 0)).map_err(exception)?;
        let (borders, volumes): (Vec<f64>, Vec<f64>) =
            regions.into_iter().map(|region| (region.border, region.volume)).unzip();
        Ok((borders.into_pyarray(py), volumes.into_pyarray(py)))
    }

    /// The log density at rows × targets, or the Mahalanobis distance from the mean.
    fn region_statistic<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        y: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Numbers<'py>> {
        let at = self.0.region_statistic(sets(kind)?.0, &y.as_array().to_vec()).map_err(exception)?;
        Ok(at.into_pyarray(py))
    }

    /// Rows × draws × targets.
    fn sample<'py>(&self, py: Python<'py>, draws: usize, seed: u64) -> Numbers<'py> {
        self.0.sample(draws, seed, 0).into_pyarray(py)
    }

    /// The probability of a box in each row, and its standard error.
    fn probability<'py>(
        &self,
        py: Python<'py>,
        lower: Vec<f64>,
        upper: Vec<f64>,
    ) -> PyResult<(Numbers<'py>, Numbers<'py>)> {
        let targets = self.0.targets().len();
        if lower.len() != targets || upper.len() != targets {
            let message =
                format!("expected {targets} lower and upper bounds, found {} and {}", lower.len(), upper.len());
            return Err(exception(negmm::Error::data(message)));
        }
        let all = self.0.mixtures().rows().map(|row| row.box_probability(&lower, &upper));
        let (probabilities, errors): (Vec<f64>, Vec<f64>) =
            all.map(|one| (one.probability, one.standard_error)).unzip();
        Ok((probabilities.into_pyarray(py), errors.into_pyarray(py)))
    }

    /// The scores of rows × targets, as JSON.
    fn scores(&self, y: PyReadonlyArray1<'_, f64>) -> PyResult<String> {
        let scores = JointMetrics::new(&self.0, &y.as_array().to_vec(), None).map_err(exception)?;
        Ok(json!(scores).to_string())
    }

    /// Some of the rows.
    fn select(&self, rows: Vec<usize>) -> PyResult<Self> {
        match rows.iter().find(|row| **row >= self.0.len()) {
            Some(row) => Err(PyIndexError::new_err(format!("there is no row {row}"))),
            None => Ok(Self(self.0.select(&rows))),
        }
    }
}
