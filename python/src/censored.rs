//! Scores of censored targets, on plain arrays.

use negmm::censored;
use negmm::data::CensoredTargets;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::exception;

type Numbers<'py> = PyReadonlyArray1<'py, f64>;

/// Censored targets and weights of `count` rows.
fn rows(
    lower: &Numbers<'_>,
    upper: &Numbers<'_>,
    weights: Option<Numbers<'_>>,
    count: usize,
) -> PyResult<(CensoredTargets, Option<Vec<f64>>)> {
    let list = |numbers: &Numbers<'_>| numbers.as_array().to_vec();
    let (known, weights) = (CensoredTargets { lower: list(lower), upper: list(upper) }, weights.as_ref().map(list));
    known.check(count, weights.as_deref()).map_err(exception)?;
    Ok((known, weights))
}

/// Harrell's concordance index of one prediction for each row; None where the order of no two rows is known.
#[pyfunction]
#[pyo3(signature = (lower, upper, predicted, weights))]
pub fn concordance(
    lower: Numbers<'_>,
    upper: Numbers<'_>,
    predicted: Numbers<'_>,
    weights: Option<Numbers<'_>>,
) -> PyResult<Option<f64>> {
    let (known, weights) = rows(&lower, &upper, weights, predicted.len())?;
    Ok(censored::concordance(&known, &predicted.as_array().to_vec(), weights.as_deref()))
}

/// The integrated Brier score of P(Y > time), rows × times.
#[pyfunction]
#[pyo3(signature = (lower, upper, times, survival, weights))]
pub fn integrated_brier(
    lower: Numbers<'_>,
    upper: Numbers<'_>,
    times: Numbers<'_>,
    survival: PyReadonlyArray2<'_, f64>,
    weights: Option<Numbers<'_>>,
) -> PyResult<f64> {
    let (known, weights) = rows(&lower, &upper, weights, survival.shape()[0])?;
    if survival.shape()[1] != times.len() {
        let found = format!("expected {} times, found {}", survival.shape()[1], times.len());
        return Err(PyValueError::new_err(found));
    }
    let (times, survival) = (times.as_array().to_vec(), survival.as_array());
    let at = |row: usize, time: usize| survival[[row, time]];
    censored::integrated_brier(&known, weights.as_deref(), &times, at).map_err(exception)
}
