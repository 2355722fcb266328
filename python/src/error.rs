//! Responsible for what Python raises when the core refuses: the core's sentence, in the class that Python expects.

use negmm::{Error, ErrorKind};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    negmm._native,
    OptionError,
    PyValueError,
    "An option of a method is at fault, by its name on the command line."
);

/// The exception for an error of the core.
pub fn raised(error: Error) -> PyErr {
    let message = error.to_string();
    match error.kind() {
        ErrorKind::Io => PyOSError::new_err(message),
        ErrorKind::Cancelled => PyKeyboardInterrupt::new_err(message),
        ErrorKind::Options => OptionError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// The same for an error about a table, whose rows the core counts from 1 and Python from 0; the exception knows its `row`, where
/// there is one.
pub fn raised_by_table(error: Error) -> PyErr {
    let error = error.counting_from_zero();
    let row = error.place().row();
    let raised = raised(error);
    if let Some(row) = row {
        // Without it the message still says which row.
        Python::attach(|py| raised.value(py).setattr("row", row).unwrap_or_default());
    }
    raised
}
