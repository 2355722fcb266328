//! Censored targets: the two numbers between which each target lies.

use crate::weights::check_weights;
use crate::{Error, Result};

/// What is known of each row's target, in its own unit: between which two numbers it lies. Both are the same where it is known;
/// else it is larger than the lower one and at most the upper one. At least one of them is finite.
#[derive(Clone, Debug, PartialEq)]
pub struct CensoredTargets {
    /// Lower ends, minus infinity for left-censored targets.
    pub lower: Vec<f64>,
    /// Upper ends, infinite for right-censored targets.
    pub upper: Vec<f64>,
}

impl CensoredTargets {
    /// Checks that each of `rows` rows has a valid interval, and a weight if there are weights.
    ///
    /// # Errors
    /// When one has not; the message names the row.
    pub fn check(&self, rows: usize, weights: Option<&[f64]>) -> Result<()> {
        let Self { lower, upper } = self;
        if lower.len() != rows || upper.len() != rows {
            let found = format!("found {} and {}", lower.len(), upper.len());
            return Err(Error::data(format!("expected {rows} lower and {rows} upper ends, {found}")));
        }
        for (row, (lower, upper)) in lower.iter().zip(upper).enumerate() {
            if lower.is_nan() || *lower == f64::INFINITY || (lower.is_infinite() && !upper.is_finite()) {
                let message = format!("expected an interval with a finite end, found {lower} to {upper}");
                return Err(Error::data(message).at_row(row as u64));
            }
            if upper.is_nan() || upper < lower {
                return Err(below(*upper, *lower).at_row(row as u64));
            }
        }
        weights.map_or(Ok(()), |weights| check_weights(weights, rows))
    }

    /// Whether the target of a row is observed.
    pub fn is_value(&self, row: usize) -> bool {
        self.lower[row] == self.upper[row]
    }

    /// The rows with observed targets.
    pub fn values(&self) -> Vec<usize> {
        (0..self.lower.len()).filter(|row| self.is_value(*row)).collect()
    }

    /// The number of censored rows.
    pub fn censored(&self) -> usize {
        self.lower.len() - self.values().len()
    }

    /// The first row that is neither observed nor right-censored: left-censored, or an interval with two finite ends.
    pub fn first_interval(&self) -> Option<usize> {
        (0..self.lower.len()).find(|row| !self.is_value(*row) && self.upper[*row].is_finite())
    }

    /// The targets of some rows, in this order.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let pick = |ends: &[f64]| rows.iter().map(|row| ends[*row]).collect();
        Self { lower: pick(&self.lower), upper: pick(&self.upper) }
    }
}

/// The error of an upper end below the lower one.
pub fn below(upper: f64, lower: f64) -> Error {
    Error::data(format!("the upper end {upper} is below the target {lower}"))
}
