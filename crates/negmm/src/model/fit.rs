//! Fitting in one call: plan, train, finish.

use super::{Fitted, Model, plan};
use crate::method::Method;
use negmm_data::{ColumnRoles, Table};
use negmm_dist::Result;
use negmm_nn::train::{Callbacks, CpuEngine, Engine, train};

/// Options of a fit beside the method.
#[derive(Clone)]
#[non_exhaustive]
pub struct FitOptions<'a> {
    /// Seed of all random choices: the same seed gives the same model.
    pub seed: u64,
    /// Which columns are inputs.
    pub inputs: ColumnRoles,
    /// The training engine.
    pub engine: &'a dyn Engine,
    /// Progress and stop callbacks.
    pub watch: Callbacks<'a>,
}

impl Default for FitOptions<'_> {
    /// Seed 0, all columns, all cores, no callbacks.
    fn default() -> Self {
        Self { seed: 0, inputs: ColumnRoles::default(), engine: CpuEngine::all_cores(), watch: Callbacks::nothing() }
    }
}

impl<'a> FitOptions<'a> {
    /// The same with another seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The same with other inputs.
    #[must_use]
    pub fn inputs(self, inputs: ColumnRoles) -> Self {
        Self { inputs, ..self }
    }

    /// The same with another engine.
    #[must_use]
    pub fn engine(self, engine: &'a dyn Engine) -> Self {
        Self { engine, ..self }
    }

    /// The same with other callbacks.
    #[must_use]
    pub fn watch(self, watch: Callbacks<'a>) -> Self {
        Self { watch, ..self }
    }
}

/// Fits `method` to predict `target` from all other columns, with default options.
///
/// # Errors
/// When the data or the method's settings are invalid.
pub fn fit(table: &Table, target: &str, method: &Method) -> Result<Model> {
    fit_with(table, target, method, &FitOptions::default()).map(|fitted| fitted.model)
}

/// Fits `method` to predict `target`.
///
/// # Errors
/// When the data or the options are invalid, or the caller asked to stop.
pub fn fit_with(table: &Table, target: &str, method: &Method, options: &FitOptions<'_>) -> Result<Fitted> {
    let plan = plan(table, target, method, &options.inputs, options.seed)?;
    let trained = train(options.engine, &plan.jobs(), &options.watch);
    plan.finish(trained)
}
