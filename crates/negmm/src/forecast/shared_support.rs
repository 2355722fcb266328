//! The support that all series share: a grid, bounds; that of draws and of their sums.

use super::Series;
use super::atoms::has_atoms;
use super::supports::{WRITTEN, is_common};
use negmm_data::{Table, TargetSpec};
use negmm_dist::{Error, Hint, Predictions, Result, Support};

/// A grid of sums is at most so much finer than that of the values.
const MOST_PARTS: usize = 100;
/// Digits of draws without a grid, and the largest power of ten of which they are kept.
const DIGITS: i32 = 12;
const MOST_EXPONENT: f64 = 100.0;

/// The support of these series: what was stated, the grid of all of them, and zero as the lower bound where none is
/// negative and zeros are common.
pub(super) fn shared_support(bounds: Support, series: &[Series]) -> Support {
    let values = || series.iter().flat_map(|series| &series.values).copied().filter(|value| !value.is_nan());
    let zeros = values().filter(|value| *value == 0.0).count();
    let positive = values().all(|value| value >= 0.0);
    let origin = values().fold(f64::INFINITY, f64::min);
    if let Some(step) = negmm_data::grid_step(values().collect()) {
        let zero = (zeros > 1 && positive).then_some(0.0);
        let gridded = Support { lower: bounds.lower.or(zero), step: Some(step), origin, ..bounds };
        if gridded.check().is_ok() {
            return gridded;
        }
    }
    let common = |series: &Series| is_common(series.values.iter().filter(|value| **value == 0.0).count(), series.len());
    match positive && bounds.lower.is_none() && series.iter().any(common) {
        true if bounds.upper.is_none_or(|upper| upper >= 0.0) => Support { lower: Some(0.0), ..bounds },
        _ => bounds,
    }
}

/// The support of a target that is declared discrete.
pub(super) fn stated_support(
    outcome: &TargetSpec,
    bounds: Support,
    series: &[Series],
    table: &Table,
    target: &str,
) -> Result<Support> {
    let values: Vec<f64> =
        series.iter().flat_map(|series| &series.values).copied().filter(|value| !value.is_nan()).collect();
    let zeros = values.iter().filter(|value| **value == 0.0).count();
    let lower = (zeros > 1 && values.iter().all(|value| *value >= 0.0)).then_some(0.0);
    let origin = values.iter().copied().fold(f64::INFINITY, f64::min);
    let step = outcome.step.or_else(|| negmm_data::common_step(values)).ok_or_else(|| {
        let error = Error::data("the targets share no step of a grid");
        table.locate(error.with_hint(Hint::RelatedOption { option: "step" }))
    })?;
    for series in series.iter().filter(|series| series.parts.is_empty()) {
        let off = |value: &f64| !(value.is_nan() || negmm_data::on_grid(*value, origin, step));
        if let Some(at) = series.values.iter().position(off) {
            let expected = format!("the target must be a whole number of steps of {step} from {origin}");
            let error = Error::data(format!("{expected}, found {}", series.values[at]));
            return Err(table.at_cell(error, series.rows[at], target));
        }
    }
    let gridded = Support { lower: bounds.lower.or(lower), step: Some(step), origin, ..bounds };
    gridded.check().map(|()| gridded)
}

/// The support of draws from predictions on a common support, or of sums of such draws: their grid, on which quantiles are
/// values that occur. With atoms alone the grid is that of all digits.
pub(super) fn support_of_draws(predictions: &Predictions, shared: Support, summed: bool, draws: &[f64]) -> Support {
    let common =
        |step: f64| (1..=MOST_PARTS).map(|parts| step / parts as f64).find(|part| is_multiple(shared.origin, *part));
    let all = Support { lower: shared.lower.filter(|lower| *lower == 0.0), ..Support::default() };
    let found = match shared.step {
        Some(_) if !summed => shared,
        Some(step) => match common(step) {
            Some(part) => Support { step: Some(part), ..all },
            None => return all,
        },
        None => {
            let atoms = predictions.mixtures().is_none_or(|all| (0..all.len()).any(|row| has_atoms(all, row)));
            let largest = draws.iter().fold(0.0_f64, |largest, draw| largest.max(draw.abs()));
            let exponent = libm::log10(largest).ceil();
            if !atoms || !exponent.is_finite() || exponent.abs() > MOST_EXPONENT {
                return all;
            }
            Support { step: Some(10.0_f64.powi(exponent as i32 - DIGITS)), ..all }
        }
    };
    if found.check().is_ok() { found } else { all }
}

fn is_multiple(value: f64, step: f64) -> bool {
    (value / step - (value / step).round()).abs() < WRITTEN
}
