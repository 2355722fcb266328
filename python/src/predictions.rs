//! Predictions: the methods of the Python distribution object, vectorised.

use negmm::Distribution;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use negmm::family::Family;
use negmm::quantiles::QuantileSets;
use negmm::samples::SampleSets;
use negmm::{DistributionKind, DistributionRef, HighestDensityRegion, Interval, Mixtures, Support};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::error::exception;
use crate::threads::interruptible;

/// A predicted distribution for each row.
#[pyclass(frozen, module = "negmm._native")]
pub struct Predictions(Arc<negmm::Predictions>);

impl Predictions {
    pub fn new(predictions: negmm::Predictions) -> Self {
        Self(Arc::new(predictions))
    }

    /// The predictions themselves.
    pub fn shared(&self) -> Arc<negmm::Predictions> {
        self.0.clone()
    }
}

/// One number for each row.
type Numbers<'py> = Bound<'py, PyArray1<f64>>;
/// Rows × something.
type Matrix<'py> = Bound<'py, PyArray2<f64>>;

/// Fewer values than this are computed on one thread.
const LEAST_VALUES: usize = 256;

/// The function of that name, of one row and one number.
fn function(name: &str) -> PyResult<fn(DistributionRef<'_>, f64) -> f64> {
    Ok(match name {
        "pdf" => |row, y| row.pdf(y),
        "logpdf" => |row, y| row.log_pdf(y),
        "pmf" => |row, y| row.point_probability(y),
        "nll" => |row, y| row.nll(y),
        "pit" => |row, y| row.pit(y),
        "cdf" => |row, y| row.cdf(y),
        "sf" => |row, y| row.survival(y),
        "logcdf" => |row, y| log_probability(row, f64::NEG_INFINITY, y, row.cdf(y)),
        "logsf" => |row, y| log_probability(row, y, f64::INFINITY, row.survival(y)),
        "ppf" => |row, level| row.quantile(level),
        "isf" => |row, level| row.quantile_above(level),
        "crps" => |row, y| if y.is_infinite() { f64::INFINITY } else { row.crps(y) },
        "shortfall" => |row, level| row.shortfall_below(level),
        _ => return Err(PyValueError::new_err(format!("there is no function {name:?}"))),
    })
}

/// The logarithm of a probability: of that between two bounds, also where it underflows; of samples that of their fraction.
fn log_probability(row: DistributionRef<'_>, low: f64, high: f64, probability: f64) -> f64 {
    match row.kind {
        DistributionKind::Samples(_) => probability.ln(),
        _ => row.log_between(low, high),
    }
}

#[pymethods]
impl Predictions {
    /// Mixtures with these weights, means and sds, each rows × components; `members` are the components of each of several models.
    #[staticmethod]
    fn of_mixtures(
        weights: PyReadonlyArray2<'_, f64>,
        means: PyReadonlyArray2<'_, f64>,
        sds: PyReadonlyArray2<'_, f64>,
        members: Vec<usize>,
    ) -> PyResult<Self> {
        if weights.shape() != means.shape() || means.shape() != sds.shape() {
            let message = format!(
                "expected weights, means and sds of one shape, rows × components, found {:?}, {:?} and {:?}",
                weights.shape(),
                means.shape(),
                sds.shape()
            );
            return Err(PyValueError::new_err(message));
        }
        let components = weights.shape()[1];
        if !members.is_empty() && members.iter().sum::<usize>() != components {
            let message = format!("{components} components are not those of members with {members:?}");
            return Err(PyValueError::new_err(message));
        }
        let list = |array: &PyReadonlyArray2<'_, f64>| array.as_array().iter().copied().collect::<Vec<f64>>();
        let mixtures = Mixtures::new(components, list(&weights), list(&means), list(&sds)).map_err(exception)?;
        let predictions = negmm::Predictions::from(mixtures);
        Ok(Self::new(if members.is_empty() { predictions } else { predictions.of_members_of(members) }))
    }

    /// Sets of samples, rows × samples; of several members with the part of each row's variance that is between them.
    #[staticmethod]
    fn of_samples(
        samples: PyReadonlyArray2<'_, f64>,
        sd_floor: f64,
        members: usize,
        between: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let values = samples.as_array().iter().copied().collect();
        let sets = SampleSets::new(samples.shape()[1], values, sd_floor).map_err(exception)?;
        let predictions = negmm::Predictions::from(sets);
        match between {
            None => Ok(Self::new(predictions)),
            Some(between) => {
                predictions.with_between_members(members, between.as_array().to_vec()).map(Self::new).map_err(exception)
            }
        }
    }

    /// Quantiles at these levels, rows × levels; crossing ones are sorted.
    #[staticmethod]
    fn of_quantiles(levels: Vec<f64>, values: PyReadonlyArray2<'_, f64>) -> PyResult<Self> {
        if values.shape()[1] != levels.len() {
            let (expected, found) = (levels.len(), values.shape()[1]);
            return Err(PyValueError::new_err(format!("expected {expected} columns of quantiles, found {found}")));
        }
        let values = values.as_array().iter().copied().collect();
        Ok(Self::new(QuantileSets::new(levels, values).map_err(exception)?.into()))
    }

    /// Histograms: the edges of the bins, and their probabilities, rows × bins.
    #[staticmethod]
    fn of_histograms(edges: Vec<f64>, probabilities: PyReadonlyArray2<'_, f64>) -> PyResult<Self> {
        if probabilities.shape()[1] + 1 != edges.len() {
            let (expected, found) = (edges.len().saturating_sub(1), probabilities.shape()[1]);
            return Err(PyValueError::new_err(format!("expected {expected} columns of probabilities, found {found}")));
        }
        let values: Vec<f64> = probabilities.as_array().iter().copied().collect();
        Ok(Self::new(QuantileSets::of_histograms(&edges, &values).map_err(exception)?.into()))
    }

    /// A parametric family with these parameters, rows × parameters.
    #[staticmethod]
    fn of_family(name: &str, parameters: Vec<String>, values: PyReadonlyArray2<'_, f64>) -> PyResult<Self> {
        let one = |(row, values): (usize, numpy::ndarray::ArrayView1<'_, f64>)| {
            let named: Vec<(&str, f64)> = parameters.iter().map(String::as_str).zip(values.iter().copied()).collect();
            Family::named(name, &named).map_err(|error| exception(error.at_row(row as u64)))
        };
        let families: Vec<Family> =
            values.as_array().rows().into_iter().enumerate().map(one).collect::<PyResult<_>>()?;
        Ok(Self::new(families.into()))
    }

    /// Families by the parts of [`Predictions::family_parts`].
    #[staticmethod]
    fn of_family_parts(names: Vec<String>, parts: PyReadonlyArray2<'_, f64>) -> PyResult<Self> {
        let one = |(name, parts): (&String, numpy::ndarray::ArrayView1<'_, f64>)| {
            Family::from_parts(name, [parts[0], parts[1]], parts[2], parts[3]).map_err(exception)
        };
        let families: Vec<Family> = names.iter().zip(parts.as_array().rows()).map(one).collect::<PyResult<_>>()?;
        Ok(Self::new(families.into()))
    }

    /// The name of each row's family, and its two shape parameters, location and scale, where these are families.
    fn family_parts<'py>(&self, py: Python<'py>) -> PyResult<Option<(Vec<&'static str>, Matrix<'py>)>> {
        let Some(families) = self.0.families() else { return Ok(None) };
        let names = families.iter().map(|family| family.shape().parts().0).collect();
        let parts = families.iter().flat_map(|family| {
            let [a, b] = family.shape().parts().1;
            [a, b, family.loc(), family.scale()]
        });
        Ok(Some((names, in_rows(py, parts.collect(), families.len(), 4)?)))
    }

    /// Levels and quantiles, each rows × levels, where these are quantiles or histograms.
    fn quantile_parts<'py>(&self, py: Python<'py>) -> PyResult<Option<(Matrix<'py>, Matrix<'py>)>> {
        let Some(sets) = self.0.quantile_sets() else { return Ok(None) };
        let levels = (0..sets.len()).flat_map(|row| sets.row(row).levels.to_vec()).collect();
        let values = sets.values().to_vec();
        let (rows, knots) = (sets.len(), sets.knots());
        Ok(Some((in_rows(py, levels, rows, knots)?, in_rows(py, values, rows, knots)?)))
    }

    /// How many rows had crossing quantiles.
    #[getter]
    fn crossing(&self) -> usize {
        self.0.quantile_sets().map_or(0, QuantileSets::crossing)
    }

    /// The predictions on a support: between two bounds, each of which may be open, and on a grid where there is a step.
    #[pyo3(signature = (lower, upper, step, origin))]
    fn with_support(&self, lower: Option<f64>, upper: Option<f64>, step: Option<f64>, origin: f64) -> PyResult<Self> {
        let support = Support { lower, upper, step, origin };
        negmm::Predictions::clone(&self.0).with_support(support).map(Self::new).map_err(exception)
    }

    /// Lower and upper bound, step and origin of the support.
    fn support(&self) -> (Option<f64>, Option<f64>, Option<f64>, f64) {
        let Support { lower, upper, step, origin } = self.0.support();
        (lower, upper, step, origin)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Models that were pooled.
    #[getter]
    fn members(&self) -> usize {
        self.0.members()
    }

    /// Components or samples of each model that was pooled; nothing of one.
    #[getter]
    fn member_sizes(&self) -> Vec<usize> {
        self.0.member_sizes().to_vec()
    }

    /// Components of each mixture, or none where these are samples.
    #[getter]
    fn components(&self) -> Option<usize> {
        self.0.mixtures().map(Mixtures::components)
    }

    /// Samples of each row, or none where these are mixtures.
    #[getter]
    fn sample_count(&self) -> Option<usize> {
        self.0.samples().map(SampleSets::samples)
    }

    /// Weights of the components, rows × components, where these are mixtures; means and sds alike.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Option<Matrix<'py>>> {
        self.of_components(py, Mixtures::weights)
    }

    fn means<'py>(&self, py: Python<'py>) -> PyResult<Option<Matrix<'py>>> {
        self.of_components(py, Mixtures::means)
    }

    fn sds<'py>(&self, py: Python<'py>) -> PyResult<Option<Matrix<'py>>> {
        self.of_components(py, Mixtures::sds)
    }

    /// Samples, rows × samples, each row in ascending order, and the floor of their sd, where these are samples.
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Option<(Matrix<'py>, f64)>> {
        let Some(sets) = self.0.samples() else { return Ok(None) };
        Ok(Some((in_rows(py, sets.values().to_vec(), sets.len(), sets.samples())?, sets.sd_floor())))
    }

    /// Some of the rows, in this order.
    fn select(&self, py: Python<'_>, rows: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        let count = self.0.len();
        let row = |row: &i64| usize::try_from(*row).ok().filter(|row| *row < count);
        let rows: Option<Vec<usize>> = rows.as_array().iter().map(row).collect();
        let rows = rows.ok_or_else(|| PyIndexError::new_err(format!("there are {count} rows")))?;
        Ok(Self::new(py.detach(|| self.0.select(&rows))))
    }

    #[pyo3(signature = (*, threads))]
    fn mean<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Numbers<'py>> {
        Ok(self.computed(py, threads, |predictions| predictions.mean())?.into_pyarray(py))
    }

    #[pyo3(signature = (*, threads))]
    fn sd<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Numbers<'py>> {
        Ok(self.computed(py, threads, |predictions| predictions.sd())?.into_pyarray(py))
    }

    #[pyo3(signature = (*, threads))]
    fn variance<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Numbers<'py>> {
        Ok(self.computed(py, threads, |predictions| predictions.variance())?.into_pyarray(py))
    }

    /// The parts of the variance: within the members, and between them.
    #[pyo3(signature = (*, threads))]
    fn variance_by_members<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<(Numbers<'py>, Numbers<'py>)> {
        let (within, between) = self.computed(py, threads, |predictions| predictions.variance_by_members())?;
        Ok((within.into_pyarray(py), between.into_pyarray(py)))
    }

    /// Values of a function at some numbers for each row: `at` is anything × rows, and so is the result. NaN where the number is
    /// NaN.
    #[pyo3(signature = (name, at, *, threads))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        at: PyReadonlyArray2<'_, f64>,
        threads: usize,
    ) -> PyResult<Matrix<'py>> {
        let (value_at, rows) = (function(name)?, self.0.len());
        if at.shape()[1] != rows {
            return Err(PyValueError::new_err(format!(
                "expected {rows} columns, one for each row, found {}",
                at.shape()[1]
            )));
        }
        let numbers: Vec<f64> = at.as_array().iter().copied().collect();
        let one = move |predictions: &negmm::Predictions, position: usize, number: f64| {
            if number.is_nan() { f64::NAN } else { value_at(predictions.row(position % rows), number) }
        };
        let values = if numbers.len() < LEAST_VALUES {
            numbers.iter().enumerate().map(|(position, number)| one(&self.0, position, *number)).collect()
        } else {
            let predictions = self.0.clone();
            interruptible(py, threads, move |cancel| {
                let each = |(position, number): (usize, &f64)| {
                    // After Ctrl-C the values are discarded.
                    if cancel.load(Ordering::Relaxed) { f64::NAN } else { one(&predictions, position, *number) }
                };
                numbers.par_iter().with_min_len(LEAST_VALUES).enumerate().map(each).collect()
            })?
        };
        in_rows(py, values, at.shape()[0], rows)
    }

    #[pyo3(signature = (*, threads))]
    fn modes<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Numbers<'py>> {
        Ok(self.computed(py, threads, |predictions| predictions.each(|row| row.mode()))?.into_pyarray(py))
    }

    #[pyo3(signature = (*, threads))]
    fn entropies<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Numbers<'py>> {
        Ok(self.computed(py, threads, |predictions| predictions.each(|row| row.entropy()))?.into_pyarray(py))
    }

    #[pyo3(signature = (order, *, threads))]
    fn raw_moments<'py>(&self, py: Python<'py>, order: u32, threads: usize) -> PyResult<Numbers<'py>> {
        let moments = self.computed(py, threads, move |predictions| predictions.each(|row| row.raw_moment(order)))?;
        Ok(moments.into_pyarray(py))
    }

    /// For each row the highest-density region of this coverage, without atoms that are rare beside a density, as intervals × 2.
    #[pyo3(signature = (coverage, *, threads))]
    fn highest_density<'py>(&self, py: Python<'py>, coverage: f64, threads: usize) -> PyResult<Vec<Matrix<'py>>> {
        let regions = self.computed(py, threads, move |predictions| predictions.hdr(coverage))?.map_err(exception)?;
        regions.into_iter().map(|region| ends_of(py, &region)).collect()
    }

    /// For each row the highest-density region that leaves this much probability outside, as intervals × 2; unbounded where that is 0.
    #[pyo3(signature = (outside, *, threads))]
    fn regions<'py>(
        &self,
        py: Python<'py>,
        outside: PyReadonlyArray1<'_, f64>,
        threads: usize,
    ) -> PyResult<Vec<Matrix<'py>>> {
        let outside = self.one_a_row(&outside)?;
        let regions = self.computed(py, threads, move |predictions| {
            predictions.each_with(&outside, |row, outside| row.region_leaving(outside))
        })?;
        regions.map_err(exception)?.into_iter().map(|region| ends_of(py, &region)).collect()
    }

    /// Lower and upper bounds of the central intervals that leave this much probability outside.
    #[pyo3(signature = (outside, *, threads))]
    fn intervals<'py>(
        &self,
        py: Python<'py>,
        outside: PyReadonlyArray1<'_, f64>,
        threads: usize,
    ) -> PyResult<(Numbers<'py>, Numbers<'py>)> {
        let outside = self.one_a_row(&outside)?;
        let intervals = self.computed(py, threads, move |predictions| {
            predictions.each_with(&outside, |row, outside| row.interval_leaving(outside))
        })?;
        let Interval { lower, upper } = intervals.map_err(exception)?.into_iter().collect::<Interval<Vec<f64>>>();
        Ok((lower.into_pyarray(py), upper.into_pyarray(py)))
    }

    /// Random targets, rows × draws.
    #[pyo3(signature = (draws, seed, *, threads))]
    fn sample<'py>(&self, py: Python<'py>, draws: usize, seed: u64, threads: usize) -> PyResult<Matrix<'py>> {
        let predictions = self.0.clone();
        let samples = interruptible(py, threads, move |_| predictions.sample(draws, seed, 0))?;
        in_rows(py, samples, self.0.len(), draws)
    }
}

impl Predictions {
    /// A function of all rows, on this number of threads; for few rows on the calling thread.
    fn computed<T: Send + 'static>(
        &self,
        py: Python<'_>,
        threads: usize,
        compute: impl FnOnce(&negmm::Predictions) -> T + Send + 'static,
    ) -> PyResult<T> {
        if self.0.len() < LEAST_VALUES {
            return Ok(compute(&self.0));
        }
        let predictions = self.0.clone();
        interruptible(py, threads, move |_| compute(&predictions))
    }

    /// A list with a number for each row.
    fn one_a_row(&self, numbers: &PyReadonlyArray1<'_, f64>) -> PyResult<Vec<f64>> {
        let (rows, found) = (self.0.len(), numbers.len());
        if rows == found {
            Ok(numbers.as_array().to_vec())
        } else {
            Err(PyValueError::new_err(format!("expected {rows} numbers, one for each row, found {found}")))
        }
    }

    /// One number of each component, where these are mixtures.
    fn of_components<'py>(&self, py: Python<'py>, numbers: fn(&Mixtures) -> &[f64]) -> PyResult<Option<Matrix<'py>>> {
        let Some(mixtures) = self.0.mixtures() else { return Ok(None) };
        in_rows(py, numbers(mixtures).to_vec(), mixtures.len(), mixtures.components()).map(Some)
    }
}

/// The ends of a region, intervals × 2.
fn ends_of<'py>(py: Python<'py>, region: &HighestDensityRegion) -> PyResult<Matrix<'py>> {
    let ends = region.intervals().iter().flat_map(|interval| [interval.lower, interval.upper]).collect();
    in_rows(py, ends, region.intervals().len(), 2)
}

/// A list as a matrix.
pub fn in_rows(py: Python<'_>, list: Vec<f64>, rows: usize, width: usize) -> PyResult<Matrix<'_>> {
    let matrix = Array2::from_shape_vec((rows, width), list);
    Ok(matrix.map_err(|error| PyValueError::new_err(error.to_string()))?.into_pyarray(py))
}
