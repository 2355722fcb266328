//! Evaluation of anybody's predictions: scores of each row, their means, calibration test, decomposition, report.

use negmm::Distribution;
use negmm::verification::{QuantileWeight, ScoreSpec, Scorecard, decompose, randomised_pit, threshold_grid};
use negmm_report::{PredictionSetBuilder, Report};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::error::exception;
use crate::predictions::{Predictions, in_rows};
use crate::threads::interruptible;

/// Rows of the decomposition, at most, and its thresholds.
const DECOMPOSED_ROWS: usize = 4_000;
const DECOMPOSED_THRESHOLDS: usize = 100;

/// Scores of predictions against targets: `names`, `scores` (rows × names), `pit` of each row, `means` and `ses` of the scores,
/// `pit_test` (statistic, df, p-value, mean, dispersion) and `decomposition` (score, miscalibration, discrimination, uncertainty).
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
        let (grid, width) = threshold_grid(&targets, DECOMPOSED_THRESHOLDS);
        let cdf: Vec<f64> =
            chosen.iter().flat_map(|row| grid.iter().map(|threshold| all.row(*row).cdf(*threshold))).collect();
        let parts = (!grid.is_empty()).then(|| decompose(&cdf, &targets, own.as_deref(), &grid, width));
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
    let parts = parts.map(|parts| (parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty));
    result.set_item("decomposition", parts)?;
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
