//! Responsible for the door between Python and the core: arrays and frames in, models and predictions out.
//!
//! It decides nothing. Estimators, defaults and every habit of scikit-learn are Python, in `negmm/`; what is here are the calls
//! that need the core, each without the interpreter's lock while the core works.

mod arrow;
mod censored;
mod error;
mod model;
mod predictions;
mod table;
mod threads;

use pyo3::prelude::*;

/// The native module of the package `negmm`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::censored::{concordance, integrated_brier};
    #[pymodule_export]
    use super::model::{Model, fit, methods};
    #[pymodule_export]
    use super::predictions::Predictions;
    #[pymodule_export]
    use super::table::Table;
}
