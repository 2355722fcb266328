//! `negmm monitor --predictions`: a sequential test of the calibration of anybody's predictions.

use negmm::Error;
use negmm::monitor::Monitor;
use negmm::prediction_table::PredictionColumns;

use crate::arguments::{self, Shared};
use crate::command::verdict::Subject;
use crate::console::warn;
use crate::prediction_input::{self, chunk_rows};
use crate::progress::Bar;

/// What is monitored: there is neither a baseline nor a score of training.
pub fn subject(arguments: &arguments::Monitor) -> Subject {
    let target = arguments.of_predictions.target.clone().unwrap_or_default();
    Subject { target, baseline: String::new(), training: None }
}

/// Updates the monitor with the rows of a file, which are in time order.
pub fn see(monitor: &mut Monitor, arguments: &arguments::Monitor, path: &str, shared: &Shared) -> Result<(), Error> {
    let target = arguments.of_predictions.target.clone().unwrap_or_default();
    let columns = PredictionColumns { target: Some(target.clone()), ..PredictionColumns::default() };
    let mut reader = prediction_input::reader(path, columns, &arguments.of_predictions.form, &arguments.file)?;
    let (bar, at_once) = (Bar::rows(shared), chunk_rows(std::slice::from_ref(reader.form())));
    let before = monitor.rows();
    while let Some(chunk) = reader.next_chunk(at_once)? {
        monitor.update(&chunk.predictions, &chunk.predictions, &chunk.y)?;
        bar.add(chunk.y.len());
    }
    bar.clear();
    warn(shared.quiet, &prediction_input::warnings(&reader, &target));
    if monitor.rows() == before {
        return Err(Error::data("expected at least 1 row with a known target, found none").in_file(path));
    }
    Ok(())
}
