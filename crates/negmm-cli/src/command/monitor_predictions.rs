//! `negmm monitor --predictions`: a sequential test of the calibration of anybody's predictions.

use negmm::Error;
use negmm::monitor::Monitor;
use negmm::prediction_table::{PredictionChunk, PredictionColumns};

use crate::arguments::{self, Shared};
use crate::command::verdict::Subject;
use crate::console::warn;
use crate::counted_rows::CountedRows;
use crate::prediction_input::{self, chunk_rows};
use crate::progress::Bar;

/// What is monitored: there is neither a baseline nor a score of training.
pub fn subject(arguments: &arguments::Monitor) -> Subject {
    let target = arguments.of_predictions.target.clone().unwrap_or_default();
    Subject { target, baseline: String::new(), training: None }
}

/// Updates the monitor with the rows of a file, which are in time order. With rows that were counted before, these are left
/// out.
pub fn see(
    (monitor, mut counted): (&mut Monitor, Option<&mut CountedRows>),
    arguments: &arguments::Monitor,
    path: &str,
    shared: &Shared,
) -> Result<(), Error> {
    let target = arguments.of_predictions.target.clone().unwrap_or_default();
    let columns = PredictionColumns { target: Some(target.clone()), ..PredictionColumns::default() };
    let mut reader = prediction_input::reader(path, columns, &arguments.of_predictions.form, &arguments.file)?;
    let (bar, at_once) = (Bar::rows(shared), chunk_rows(std::slice::from_ref(reader.form())));
    let mut rows = 0;
    let repeats = counted.as_ref().map_or(0.0, |counted| counted.repeats());
    while let Some(chunk) = reader.next_chunk(at_once)? {
        let PredictionChunk { predictions, y, .. } = &chunk;
        rows += y.len();
        bar.add(y.len());
        match &mut counted {
            Some(counted) => {
                let new = counted.new_rows(&chunk.row_hashes()?, repeats);
                let (predictions, own) = (predictions.select(&new), new.iter().map(|row| y[*row]).collect::<Vec<_>>());
                monitor.update(&predictions, &predictions, &own)?;
            }
            None => monitor.update(predictions, predictions, y)?,
        }
    }
    bar.clear();
    warn(shared.quiet, &prediction_input::warnings(&reader, &target));
    warn(shared.quiet, counted.and_then(|counted| counted.sentence()).as_slice());
    if rows == 0 {
        return Err(Error::data("expected at least 1 row with a known target, found none").in_file(path));
    }
    Ok(())
}
