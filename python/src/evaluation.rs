//! Evaluation of anybody's predictions: scores of each row, their means, calibration test, decomposition, report.

use negmm::Distribution;
use negmm::verification::{
    Decomposition, QuantileWeight, ScoreSpec, Scorecard, VectorScores, decompose_brier, decompose_crps, murphy,
    randomised_pit,
};
use negmm_report::{PredictionSetBuilder, Report};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::error::exception;
use crate::predictions::{Predictions, in_rows};
use crate::threads::interruptible;

/// Rows of the decomposition, at most.
const DECOMPOSED_ROWS: usize = 4_000;

/// Scores of predictions against targets: `names`, `scores` (rows × names), `pit` of each row, `means` and `ses` of the scores,
/// `pit_test` (statistic, df, p-value, mean, dispersion), `decomposition` (score, miscalibration, discrimination, uncertainty) and
/// that of each threshold, `decompositions_of_thresholds`.
#[pyfunction]
#[pyo3(signature = (predictions, y, weights, coverages, levels, thresholds, between, quantile_weight, step, seed, *, threads))]
#[allow(clippy::too_many_arguments)]
pub fn score_predictions<'py>(
    py: Python<'py>,
    predictions: &Predictions,
    y: PyReadonlyArray1<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    coverages: Vec<f64>,
    levels: Vec<f64>,
    thresholds: Vec<f64>,
    between: Option<(f64, f64)>,
    quantile_weight: Option<&str>,
    step: Option<f64>,
    seed: u64,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let quantile_weight = match quantile_weight {
        None => None,
        Some(name) => Some(QuantileWeight::by_name(name).ok_or_else(|| {
            PyValueError::new_err(format!("expected a quantile weight (centre, tails, left, right), found {name:?}"))
        })?),
    };
    let thresholds_of_brier = thresholds.clone();
    let spec = ScoreSpec { coverages, levels, thresholds, between, quantile_weight, step, seed };
    let (all, y) = (predictions.shared(), y.as_array().to_vec());
    let weights = weights.map(|weights| weights.as_array().to_vec());
    let computed = interruptible(py, threads, move |_| {
        let mut card = Scorecard::new(spec)?;
        let scores = card.add(&all, &y, weights.as_deref(), 0)?;
        let pit: Vec<f64> =
            (0..y.len()).into_par_iter().map(|row| randomised_pit(all.row(row), y[row], seed, row as u64)).collect();
        // Evenly spaced rows where there are many.
        let stride = y.len().div_ceil(DECOMPOSED_ROWS).max(1);
        let chosen: Vec<usize> = (0..y.len()).step_by(stride).collect();
        let targets: Vec<f64> = chosen.iter().map(|row| y[*row]).collect();
        let own: Option<Vec<f64>> = weights.as_ref().map(|weights| chosen.iter().map(|row| weights[*row]).collect());
        let cdf = |at: usize, threshold: f64| all.row(chosen[at]).cdf(threshold);
        let crps = decompose_crps(cdf, &targets, own.as_deref());
        let brier = |threshold: &f64| decompose_brier(cdf, &targets, own.as_deref(), *threshold);
        let parts = (crps, thresholds_of_brier.iter().map(brier).collect::<Vec<_>>());
        Ok::<_, negmm::Error>((card.names().to_vec(), scores, pit, card.finish()?, parts))
    })?;
    let (names, scores, pit, summary, parts) = computed.map_err(exception)?;
    let result = PyDict::new(py);
    let width = names.len();
    result.set_item("scores", in_rows(py, scores.into_iter().flatten().collect(), pit.len(), width)?)?;
    result.set_item("names", names)?;
    result.set_item("pit", pit.into_pyarray(py))?;
    result.set_item("means", summary.scores.iter().map(|(_, mean, _)| *mean).collect::<Vec<f64>>())?;
    result.set_item("ses", summary.scores.iter().map(|(_, _, se)| *se).collect::<Vec<f64>>())?;
    let test = summary.pit.test().map(|test| (test.statistic, test.df, test.p_value, test.mean, test.dispersion));
    result.set_item("pit_test", test)?;
    let four = |parts: Decomposition| (parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty);
    result.set_item("decomposition", parts.0.map(four))?;
    result
        .set_item("decompositions_of_thresholds", parts.1.into_iter().map(|own| own.map(four)).collect::<Vec<_>>())?;
    Ok(result)
}

/// The report of predictions as one HTML page.
#[pyfunction]
pub fn report_predictions(
    py: Python<'_>,
    predictions: &Predictions,
    y: PyReadonlyArray1<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    target: &str,
    form: &str,
    source: &str,
) -> PyResult<String> {
    let (all, y) = (predictions.shared(), y.as_array().to_vec());
    let weights = weights.map(|weights| weights.as_array().to_vec());
    py.detach(|| {
        let mut set = PredictionSetBuilder::new();
        let numbers: Vec<usize> = (1..=y.len()).collect();
        set.add(&all, &y, weights.as_deref(), &numbers);
        Ok(Report::of_predictions(&set.finish()?, target, form, source, &[])?.html())
    })
    .map_err(exception)
}

/// The scores of draws of vectors, rows × scores: `draws` is rows × draws × targets, `y` rows × targets.
#[pyfunction]
pub fn score_vectors<'py>(
    py: Python<'py>,
    draws: PyReadonlyArray3<'_, f64>,
    y: PyReadonlyArray2<'_, f64>,
    order: f64,
    scales: Vec<f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (rows, targets) = (y.shape()[0], y.shape()[1]);
    let joint = VectorScores { order, scales };
    joint.check(targets).map_err(exception)?;
    let own = draws.shape();
    if own[0] != rows || own[2] != targets || own[1] == 0 {
        let message = format!("expected samples of shape {rows} rows × draws × {targets} targets, found {own:?}");
        return Err(PyValueError::new_err(message));
    }
    let (draws, y): (Vec<f64>, Vec<f64>) =
        (draws.as_array().iter().copied().collect(), y.as_array().iter().copied().collect());
    let scores = interruptible(py, threads, move |_| {
        let each = draws.par_chunks_exact((draws.len() / rows.max(1)).max(1)).zip(y.par_chunks_exact(targets));
        each.map(|(draws, y)| joint.score(draws, y)).collect::<Vec<_>>()
    })?;
    in_rows(py, scores.into_iter().flatten().collect(), rows, VectorScores::names().len())
}

/// Mean elementary scores at each of `thetas`, of quantiles of a level or of means.
#[pyfunction]
pub fn murphy_curve(
    x: PyReadonlyArray1<'_, f64>,
    y: PyReadonlyArray1<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    level: Option<f64>,
    thetas: PyReadonlyArray1<'_, f64>,
) -> PyResult<Vec<f64>> {
    let list = |array: &PyReadonlyArray1<'_, f64>| array.as_array().to_vec();
    let (x, y, weights) = (list(&x), list(&y), weights.as_ref().map(list));
    if x.len() != y.len() || weights.as_ref().is_some_and(|weights| weights.len() != y.len()) {
        return Err(PyValueError::new_err(format!("expected {} predictions and weights, one for each row", y.len())));
    }
    Ok(murphy::murphy_curve(&x, &y, weights.as_deref(), level, &list(&thetas)))
}
