//! The program `negmm`, which is part of the wheel.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs a command line, whose first word is the name of the program, and returns its exit code.
#[pyfunction]
pub fn run_program(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| negmm_cli::run_program(&words))
}
