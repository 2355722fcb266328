//! The target specification: bounds, whether it is continuous or discrete, and the columns that describe its censoring.

use serde::{Deserialize, Serialize};

use crate::Table;
use negmm_dist::{Error, Result};

/// Specification of the target. By default a grid and atoms are detected, and nothing is censored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct TargetSpec {
    /// Whether the target is continuous: neither grid nor atoms are detected.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub continuous: bool,
    /// Whether the target is discrete, on a grid, whatever its values look like.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub discrete: bool,
    /// The step of the grid of a `discrete` target; the largest that all targets share if not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// Lower bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// Upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// The column with the censoring indicator: 1 = right-censored, 0 = observed, -1 = left-censored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub censored: Option<String>,
    /// The column of upper ends of intervals, whose lower ends are in the target's own column; an empty cell: observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper_end: Option<String>,
}

/// Setters.
impl TargetSpec {
    /// Sets `continuous`.
    #[must_use]
    pub fn continuous(self, continuous: bool) -> Self {
        Self { continuous, ..self }
    }

    /// Sets `discrete`.
    #[must_use]
    pub fn discrete(self, discrete: bool) -> Self {
        Self { discrete, ..self }
    }

    /// Sets `step`.
    #[must_use]
    pub fn step(self, step: impl Into<Option<f64>>) -> Self {
        Self { step: step.into(), ..self }
    }

    /// Sets `lower`.
    #[must_use]
    pub fn lower(self, lower: impl Into<Option<f64>>) -> Self {
        Self { lower: lower.into(), ..self }
    }

    /// Sets `upper`.
    #[must_use]
    pub fn upper(self, upper: impl Into<Option<f64>>) -> Self {
        Self { upper: upper.into(), ..self }
    }

    /// Sets `censored`.
    #[must_use]
    pub fn censored(self, censored: impl Into<String>) -> Self {
        Self { censored: Some(censored.into()), ..self }
    }

    /// Sets `upper_end`.
    #[must_use]
    pub fn upper_end(self, upper_end: impl Into<String>) -> Self {
        Self { upper_end: Some(upper_end.into()), ..self }
    }
}

impl TargetSpec {
    /// The columns that describe the target's censoring; they are not inputs.
    pub fn columns(&self) -> impl Iterator<Item = &String> {
        self.censored.iter().chain(&self.upper_end)
    }

    /// Whether targets may be censored.
    pub fn is_censored(&self) -> bool {
        self.columns().next().is_some()
    }

    /// The same with the table's own names.
    pub(crate) fn named_as_in(&self, table: &Table) -> Self {
        let own = |name: &String| table.own_name(name).unwrap_or(name).to_string();
        Self { censored: self.censored.as_ref().map(own), upper_end: self.upper_end.as_ref().map(own), ..self.clone() }
    }

    /// Validates the specification.
    ///
    /// # Errors
    /// When the bounds are not finite, or not in order; when the step is not finite and positive, or of a target that is not
    /// declared discrete; when a discrete target is declared continuous or censored.
    pub fn check(&self) -> Result<()> {
        match self.step {
            Some(step) if !(step.is_normal() && step > 0.0) => {
                return Err(Error::option("step", format!("must be finite and positive, found {step}")));
            }
            Some(_) if !self.discrete => {
                return Err(Error::option("step", "is of a grid: declare the target discrete"));
            }
            _ => {}
        }
        if self.discrete && self.continuous {
            return Err(Error::option("discrete", "contradicts continuous: leave one of them out"));
        }
        if self.discrete && self.is_censored() {
            return Err(Error::option("discrete", "cannot be combined with a censored target"));
        }
        if let Some(bound) = self.lower.iter().chain(&self.upper).find(|bound| !bound.is_finite()) {
            return Err(Error::options(format!("a bound must be a finite number, found {bound}")));
        }
        match (self.lower, self.upper) {
            (Some(lower), Some(upper)) if lower >= upper => {
                Err(Error::option("lower", format!("must be below upper, found {lower} and {upper}")))
            }
            _ => Ok(()),
        }
    }
}
