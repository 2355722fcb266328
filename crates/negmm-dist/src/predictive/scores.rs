//! Scores of predictions against targets: log score, CRPS, probability integral transform.

use rayon::prelude::*;

use super::{MIN_ROWS, Predictions};
use crate::distribution::Distribution;
use crate::{CensoredTargets, Error, Result};

impl Predictions {
    /// Logarithm of the likelihood of the target of each row: of its probability on a grid and at an atom, elsewhere of its
    /// density.
    ///
    /// # Errors
    /// When `y` does not have one number for each row.
    pub fn log_likelihood(&self, y: &[f64]) -> Result<Vec<f64>> {
        self.each_with(y, |row, y| row.log_likelihood(y))
    }

    /// Logarithmic score (negative log likelihood) of the target of each row: by its probability at an atom, elsewhere by
    /// [`Predictions::pdf`]'s density, also on a grid, whose own score is [`Predictions::mass_nll`].
    ///
    /// # Errors
    /// When `y` does not have one number for each row.
    pub fn nll(&self, y: &[f64]) -> Result<Vec<f64>> {
        self.each_with(y, |row, y| row.nll(y))
    }

    /// Logarithmic score of the possibly censored target of each row: [`Predictions::nll`] of a value, and minus the logarithm of the
    /// probability of an interval.
    ///
    /// # Errors
    /// When there is not one valid interval for each row.
    pub fn censored_nll(&self, known: &CensoredTargets) -> Result<Vec<f64>> {
        known.check(self.len(), None)?;
        let rows = (0..self.len()).into_par_iter().with_min_len(MIN_ROWS);
        Ok(rows.map(|row| self.row(row).censored_nll(known.lower[row], known.upper[row])).collect())
    }

    /// Logarithmic score of a discrete target with values `step` apart: minus the logarithm of the predicted probability
    /// within `step` / 2 of the target of each row, or, if the support is a grid, of the value nearest to it. Unlike
    /// [`Predictions::nll`] it is never negative, and narrow peaks at the values cannot make it arbitrarily small.
    ///
    /// # Errors
    /// When `step` is not finite and positive, or `y` does not have one number for each row.
    pub fn mass_nll(&self, y: &[f64], step: f64) -> Result<Vec<f64>> {
        check_step(step)?;
        self.each_with(y, |row, y| 0.0 - row.log_mass(y, step))
    }

    /// Continuous ranked probability score, which is the energy score in one dimension, of the target of each row.
    ///
    /// # Errors
    /// When `y` does not have one number for each row.
    pub fn crps(&self, y: &[f64]) -> Result<Vec<f64>> {
        self.each_with(y, |row, y| row.without_empty(|row| row.crps(y)))
    }

    /// Probability integral transform: the predicted cdf at the target, uniform over the rows if the predictions are calibrated. Half of
    /// the target's point probability counts.
    ///
    /// # Errors
    /// When `y` does not have one number for each row.
    pub fn pit(&self, y: &[f64]) -> Result<Vec<f64>> {
        self.each_with(y, |row, y| row.pit(y))
    }
}

/// Checks the distance between values of a discrete target.
pub(crate) fn check_step(step: f64) -> Result<()> {
    if step > 0.0 && step.is_finite() {
        Ok(())
    } else {
        Err(Error::options(format!("expected a step that is finite and positive, found {step}")))
    }
}
