//! Responsible for what Python raises when the core refuses: the core's sentence, in the class that Python expects.

use negmm::{Error, ErrorKind};
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};

/// The exception for an error of the core.
pub fn raised(error: Error) -> PyErr {
    let message = error.to_string();
    match error.kind() {
        ErrorKind::Io => PyOSError::new_err(message),
        ErrorKind::Cancelled => PyKeyboardInterrupt::new_err(message),
        _ => PyValueError::new_err(message),
    }
}
