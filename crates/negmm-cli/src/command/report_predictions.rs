//! `negmm report --predictions`: the report of anybody's predictions.

use negmm::Error;
use negmm::prediction_table::PredictionColumns;
use negmm_report::{PredictionSetBuilder, Report};

use crate::arguments::{self, Shared};
use crate::command::report::source;
use crate::console::warn;
use crate::prediction_input::{self, chunk_rows};
use crate::progress::Bar;

/// The report, the number of rows of the file, and that of the sample it shows.
pub fn report(arguments: &arguments::Report, path: &str, shared: &Shared) -> Result<(Report, usize, usize), Error> {
    let flags = &arguments.of_predictions;
    let target = flags.target.clone().unwrap_or_default();
    let columns = PredictionColumns {
        target: Some(target.clone()),
        weight: arguments.weight.clone(),
        ..PredictionColumns::default()
    };
    let mut reader = prediction_input::reader(path, columns, &flags.form, &arguments.file)?;
    let mut set = PredictionSetBuilder::new();
    let (bar, at_once) = (Bar::rows(shared), chunk_rows(std::slice::from_ref(reader.form())));
    while let Some(chunk) = reader.next_chunk(at_once)? {
        set.add(&chunk.predictions, &chunk.y, chunk.weights.as_deref(), &chunk.rows);
        bar.add(chunk.y.len());
    }
    bar.clear();
    let warnings = prediction_input::warnings(&reader, &target);
    warn(shared.quiet, &warnings);
    let form = reader.form().to_string();
    let evaluation = set.finish()?;
    let report = Report::of_predictions(&evaluation, &target, &form, &source(path), &warnings)?;
    Ok((report, evaluation.total(), evaluation.len()))
}
