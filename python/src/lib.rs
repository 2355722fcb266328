//! The native module of the Python package: arrays and frames in, models and predictions out.
//!
//! Estimators, defaults and scikit-learn's conventions are Python, in `negmm/`; here are only the calls of the library, which release
//! the GIL while it works.

mod arrow;
mod censored;
mod error;
mod evaluation;
mod explain;
mod fit;
mod forecaster;
mod joint;
mod model;
mod predictions;
mod program;
mod progress;
mod search;
mod table;
mod task;
mod threads;
mod trainer;

use pyo3::prelude::*;

/// The native module of the package `negmm`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::arrow::ArrowBatches;
    #[pymodule_export]
    use super::censored::{concordance, integrated_brier};
    #[pymodule_export]
    use super::evaluation::{murphy_curve, report_predictions, score_predictions, score_vectors};
    #[pymodule_export]
    use super::fit::{fit, methods, renamed_options, update};
    #[pymodule_export]
    use super::forecaster::{Forecaster, fit_forecaster};
    #[pymodule_export]
    use super::joint::{JointModel, JointPredictions, fit_joint};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::predictions::Predictions;
    #[pymodule_export]
    use super::program::run_program;
    #[pymodule_export]
    use super::search::{compare, comparison_splits, tune, usual_space};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::trainer::{Rows, train};
}
