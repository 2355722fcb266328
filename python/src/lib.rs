//! Responsible for the door between Python and the core: arrays and frames in, models and predictions out.
//!
//! It decides nothing. Estimators, defaults and every habit of scikit-learn are Python, in `negmm/`; what is here are the calls
//! that need the core, each without the interpreter's lock while the core works.

mod arrow;
mod censored;
mod error;
mod fit;
mod following;
mod forecaster;
mod model;
mod outside;
mod predictions;
mod search;
mod table;
mod task;
mod threads;

use pyo3::prelude::*;

/// The native module of the package `negmm`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::censored::{concordance, integrated_brier};
    #[pymodule_export]
    use super::fit::{fit, methods, renamed_options};
    #[pymodule_export]
    use super::forecaster::{Forecaster, fit_forecaster};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::outside::{Rows, train};
    #[pymodule_export]
    use super::predictions::Predictions;
    #[pymodule_export]
    use super::search::{compare, tune, usual_space};
    #[pymodule_export]
    use super::table::Table;
}
