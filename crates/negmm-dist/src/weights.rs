//! Sample weights.

use crate::{Error, Result};

/// The weight of a row, 1 without weights.
pub fn weight_of(weights: Option<&[f64]>, row: usize) -> f64 {
    weights.map_or(1.0, |weights| weights[row])
}

/// Checks that there is one weight for each row: finite and not negative.
pub fn check_weights(weights: &[f64], rows: usize) -> Result<()> {
    if weights.len() != rows {
        return Err(Error::data(format!("expected {rows} weights, found {}", weights.len())));
    }
    match weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
        Some(row) => {
            let message = format!("expected a weight, at least 0, found {}", weights[row]);
            Err(Error::data(message).at_row(row as u64))
        }
        None => Ok(()),
    }
}
