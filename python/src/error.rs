//! Errors and warnings of the library for Python: exceptions with structured details, which `negmm/messages.py` words.

use negmm::{Error, ErrorKind, Hint, Location, LocationPart, Warning, Wording};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

/// Rows from 0 and options as parameters: the text of an exception as it is.
struct Parameters;

impl Wording for Parameters {
    fn first_row(&self) -> u64 {
        0
    }

    fn option(&self, name: &str) -> String {
        name.replace('-', "_")
    }
}

/// The exception for an error of the library. It has the attributes `file`, `row` (from 0), `column`, `option` and `hints`, and
/// `details` with all of them.
pub fn exception(error: Error) -> PyErr {
    let message = error.worded(&Parameters);
    let exception = match error.kind() {
        ErrorKind::Io => PyOSError::new_err(message),
        ErrorKind::Cancelled => PyKeyboardInterrupt::new_err(message),
        _ => PyValueError::new_err(message),
    };
    let attach = |py: Python<'_>| -> PyResult<()> {
        let details = details(py, error.location(), error.option_name(), error.message(), error.hints())?;
        let value = exception.value(py);
        for name in ["file", "row", "column", "option", "hints"] {
            value.setattr(name, details.get_item(name)?)?;
        }
        value.setattr("details", details)
    };
    // Without the attributes the message is still complete.
    Python::attach(|py| attach(py).unwrap_or_default());
    exception
}

/// Warnings of the library as dicts, the same as the `details` of exceptions.
pub fn warnings<'py>(py: Python<'py>, warnings: &[Warning]) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let one = |warning: &Warning| details(py, warning.location(), None, warning.message(), warning.hints());
    warnings.iter().map(one).collect()
}

fn details<'py>(
    py: Python<'py>,
    location: &Location,
    option: Option<&str>,
    message: &str,
    hints: &[Hint],
) -> PyResult<Bound<'py, PyDict>> {
    let part = |part: &LocationPart| (matches!(part, LocationPart::Row(_)), part.worded(&Parameters));
    let details = json!({
        "file": location.file(),
        "row": location.row(),
        "column": location.column(),
        "location": location.parts().map(part).collect::<Vec<_>>(),
        "option": option,
        "message": message,
        "hints": hints,
    });
    Ok(py.import("json")?.call_method1("loads", (details.to_string(),))?.cast_into()?)
}
