//! `negmm calibrate --predictions` and `negmm recalibrate`: recalibration of anybody's predictions.

use std::path::Path;

use negmm::prediction_table::{Form, PredictionColumns};
use negmm::recalibration::{Recalibration, RecalibrationMethod, RecalibrationSet};
use negmm::{Columns, Error, Rng};
use serde_json::json;

use crate::arguments::predictions::Recalibrate;
use crate::arguments::{Calibrate, Shared};
use crate::console::{print, print_json, warn};
use crate::format::{count, counted};
use crate::input;
use crate::output::write;
use crate::output_paths::{OutputPath, check_distinct};
use crate::prediction_input::{self, chunk_rows, numbers};
use crate::predictions::{Encoded, Format, PredictionFile};
use crate::progress::Bar;

/// Groups that are shown.
const GROUPS_SHOWN: usize = 20;

/// The stream of random levels of draws, below those of the library.
const LEVELS: u64 = 1 << 40;

/// Learns a recalibration from the predictions of a file.
pub fn learn(calibrate: &Calibrate, predictions: &str, shared: &Shared) -> Result<(), Error> {
    shared.threads();
    let path = &calibrate.output;
    let written = OutputPath { what: "recalibration", path, option: "-o FILE" };
    check_distinct(shared.json, &[written], &[("predictions", Path::new(predictions))])?;
    if calibrate.weight.is_some() {
        return Err(Error::options("--weight is for models: recalibration of predictions has no weights"));
    }
    let flags = &calibrate.of_predictions;
    let target = flags.target.clone().unwrap_or_default();
    let columns =
        PredictionColumns { target: Some(target.clone()), group: calibrate.by.clone(), ..PredictionColumns::default() };
    let mut reader = prediction_input::reader(predictions, columns, &flags.form, &calibrate.file)?;
    let (mut set, bar, at_once) =
        (RecalibrationSet::default(), Bar::rows(shared), chunk_rows(std::slice::from_ref(reader.form())));
    while let Some(chunk) = reader.next_chunk(at_once)? {
        set.add(&chunk.predictions, &chunk.y, &chunk.groups)?;
        bar.add(chunk.y.len());
    }
    bar.clear();
    warn(shared.quiet, &prediction_input::warnings(&reader, &target));
    let method = calibrate.recalibration.recalibration.unwrap_or(RecalibrationMethod::Pit);
    let learnt = set.learn(method, &target, calibrate.by.as_deref())?;
    write(path, &learnt.to_json()?)?;
    if shared.json {
        let groups: Vec<_> = learnt.groups().map(|(name, rows, _)| json!({ "group": name, "rows": rows })).collect();
        return print_json(&json!({
            "rows": learnt.rows(), "method": method.name(), "by": learnt.by(), "target": target, "recalibration": path,
            "groups": groups,
        }));
    }
    if path == "-" || shared.quiet {
        return Ok(());
    }
    let mut lines = vec![format!(
        "recalibration ({}) of {target:?} from {}, which must not be training rows: {}",
        method.name(),
        counted(learnt.rows(), "row"),
        reader.form()
    )];
    let groups = learnt.groups();
    let more = groups.len().saturating_sub(GROUPS_SHOWN);
    lines.extend(groups.take(GROUPS_SHOWN).map(|(name, rows, words)| match learnt.by() {
        Some(_) => format!("  {name}: {}, {words}", counted(rows, "row")),
        None => format!("  {words}"),
    }));
    if more > 0 {
        lines.push(format!("  and {} more", counted(more, "group")));
    }
    lines.push(format!("use it with `negmm recalibrate {path} NEW`"));
    print(&lines.join("\n"))
}

/// Runs `negmm recalibrate`.
pub fn run(arguments: &Recalibrate, shared: &Shared) -> Result<(), Error> {
    shared.threads();
    let written = OutputPath { what: "recalibrated predictions", path: &arguments.output, option: "-o FILE" };
    let inputs = [("predictions", Path::new(&arguments.predictions)), ("recalibration", &*arguments.recalibration)];
    check_distinct(false, &[written], &inputs)?;
    let bytes = std::fs::read(&arguments.recalibration).map_err(|error| Error::io(&arguments.recalibration, error))?;
    let learnt = Recalibration::from_json(&bytes).map_err(|error| error.in_file(&arguments.recalibration))?;
    let columns = PredictionColumns {
        group: learnt.by().map(str::to_string),
        keep: arguments.keep.clone().unwrap_or_default().0,
        ..PredictionColumns::default()
    };
    let mut form = arguments.form.clone();
    // A key is copied where --keep names it.
    form.key = None;
    let mut reader = prediction_input::reader(&arguments.predictions, columns, &form, &arguments.file)?;
    let levels = levels(arguments, reader.form(), &learnt)?;
    let format = Format::of(&arguments.output, shared.json)?;
    let keep = arguments.keep.clone().unwrap_or_default().0;
    let types = match format.is_typed() {
        true => input::kept_types(&arguments.predictions, &keep, &arguments.file.dialect()?)?,
        false => Vec::new(),
    };
    let mut file = PredictionFile::create(&arguments.output, format)?;
    let names: Vec<String> = match arguments.draws {
        Some(draws) => (1..=draws).map(|draw| format!("draw_{draw}")).collect(),
        None => levels.iter().map(|level| format!("q{level}")).collect(),
    };
    let (bar, at_once, mut rows) = (Bar::rows(shared), chunk_rows(std::slice::from_ref(reader.form())), 0);
    while let Some(mut chunk) = reader.next_chunk(at_once)? {
        input::set_types(&mut chunk.kept, &types);
        let failed = |error: Error| match error.location().row() {
            Some(row) => Error::data(error.message().to_string())
                .at_row((chunk.rows[row as usize] - 1) as u64)
                .in_file(&arguments.predictions),
            None => error,
        };
        let values = match arguments.draws {
            None => learnt.quantiles(&chunk.predictions, &chunk.groups, &levels),
            Some(draws) => {
                // A level of exactly 0 has no quantile.
                let lowest = learnt.lowest_level().max(f64::EPSILON);
                let of_row = |at: usize| {
                    let mut rng = Rng::new(arguments.seed, LEVELS + (rows + at) as u64);
                    (0..draws).map(move |_| rng.uniform().clamp(lowest, 1.0 - lowest))
                };
                let levels: Vec<f64> = (0..chunk.rows.len()).flat_map(of_row).collect();
                learnt.quantiles_of_rows(&chunk.predictions, &chunk.groups, &levels)
            }
        };
        let values = values.map_err(failed)?;
        file.write(&Encoded::new(&Columns::of_numbers(&chunk.kept, &names, values)?, format)?)?;
        rows += chunk.rows.len();
        bar.add(chunk.rows.len());
    }
    bar.clear();
    warn(shared.quiet, &prediction_input::warnings(&reader, learnt.target()));
    if rows == 0 {
        return Err(Error::data("expected at least 1 row of predictions, found none").in_file(&arguments.predictions));
    }
    file.finish()?;
    if arguments.output == "-" || shared.quiet {
        return Ok(());
    }
    let what = arguments.draws.map_or(counted(levels.len(), "quantile"), |draws| counted(draws, "draw"));
    print(&format!(
        "{}, {what} each, recalibrated ({}), wrote {}",
        counted(rows, "row"),
        learnt.method().name(),
        arguments.output
    ))
}

/// The levels of the quantiles to write.
fn levels(arguments: &Recalibrate, form: &Form, learnt: &Recalibration) -> Result<Vec<f64>, Error> {
    if let Some(text) = &arguments.quantiles {
        let mut levels = numbers("quantiles", text)?;
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        return Ok(levels);
    }
    let own: Vec<f64> = match form {
        Form::Quantiles(columns) | Form::Intervals(columns) => columns.iter().map(|(level, _)| *level).collect(),
        _ => (1..100).map(|level| f64::from(level) / 100.0).collect(),
    };
    let inside: Vec<f64> = own
        .into_iter()
        .filter(|level| *level > 0.0 && *level < 1.0 && level.min(1.0 - level) >= learnt.lowest_level())
        .collect();
    if inside.is_empty() {
        let rows = count(learnt.rows());
        return Err(Error::options(format!("the {rows} calibration rows are too few for any of these quantiles")));
    }
    Ok(inside)
}
