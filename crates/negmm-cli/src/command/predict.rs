//! `negmm predict`: one row out for every row in, in memory that does not grow with the file; a sequence is read whole, and has one
//! row out for every row that a window comes before and for the step after the last.

use std::path::Path;

use negmm::data::{Chunk, KeptType, RowStream, Warnings};
use negmm::predict::{Batch, BatchColumns, ConformalInputs};
use negmm::{Columns, Error, Loaded, Model, Query};
use rayon::prelude::*;
use serde_json::json;

use crate::arguments::{Predict, Shared};
use crate::command::forecast;
use crate::console::{print_json, warn};
use crate::output_paths::{OutputPath, check_distinct};
use crate::predictions::{Encoded, Format, PredictionFile};
use crate::progress::Bar;
use crate::{conformal_notes, input, row_notes};

/// Rows that one thread works on at once.
const CHUNK: usize = 4096;

/// Runs it.
pub fn run(predict: &Predict, shared: &Shared) -> Result<(), Error> {
    let query = query(predict)?;
    let keep = predict.keep.clone().unwrap_or_default().0;
    shared.threads();
    let path = &predict.output;
    let format = Format::of(path, shared.json)?.digits(predict.digits);
    let inputs = [("model", &*predict.model), ("data", Path::new(&predict.data))];
    // As lines of JSON predictions are what --json asks for.
    check_distinct(false, &[OutputPath { what: "predictions", path, option: "-o FILE" }], &inputs)?;
    let model = match shared.accelerated(input::model(&predict.model, Some(&predict.data))?)? {
        Loaded::Model(model) => *model,
        Loaded::Forecaster(forecaster) => return forecast::predict(&forecaster, predict, &query, shared),
        Loaded::Joint(model) => return super::joint::predict(&model, predict, &query, shared),
    };
    if let Some(name) = predict.joint.first() {
        return Err(Error::options(format!("--{name} is for models of several targets, and this one has one")));
    }
    input::no_forecast(predict.futures.first().or(predict.origins.first()))?;
    let names = names(&query, &keep, &model)?;
    let kept = keep.len();
    if !query.equal.is_empty() && has_density(&model) {
        let sentence = "--equal: the prediction is a density, so the probability of any single value is 0; see --above and --below";
        warn(shared.quiet, &[sentence.to_string()]);
    }
    let dialect = predict.file.dialect()?;
    let types = if format.is_typed() { input::kept_types(&predict.data, &keep, &dialect)? } else { Vec::new() };
    let fields = query.output_fields(&model, &keep)?;
    let schema = query.schema(&model, keep)?;
    let mut stream = input::stream(&predict.data, &schema.in_dialect(&dialect)?)?.allow_no_rows();
    let mut output = PredictionFile::create(path, format)?;
    let bar = Bar::rows(shared);
    let mut warnings = Warnings::default();
    let mut rows = 0;
    let at_once = if model.encoder().sequence().is_some() { usize::MAX } else { CHUNK };
    let mut batch = read(&mut stream, 0, at_once, &types)?;
    if batch.is_empty() {
        output.write(&Encoded::new(&Columns::empty(fields)?, format)?)?;
    }
    let (mut lines, mut unseen_groups, mut notes) = (0, 0, Vec::new());
    while !batch.is_empty() {
        let rows_before = batch[batch.len() - 1].0 + batch[batch.len() - 1].1.table.rows() as u64;
        // The next rows are read while these are predicted.
        let (predicted, next) = rayon::join(
            || {
                let of_chunk = |(first, chunk): &(u64, Chunk)| predicted(&query, &model, chunk, *first, (format, kept));
                batch.par_iter().map(of_chunk).collect::<Vec<_>>()
            },
            || read(&mut stream, rows_before, at_once, &types),
        );
        let predicted = predicted.into_iter().collect::<Result<Vec<_>, _>>()?;
        let next = next?;
        for predicted in predicted {
            warnings.merge(&predicted.warnings);
            unseen_groups += predicted.unseen_groups;
            notes.extend(predicted.notes);
            lines += predicted.encoded.rows;
            output.write(&predicted.encoded)?;
        }
        bar.add((rows_before - rows) as usize);
        rows = rows_before;
        batch = next;
    }
    bar.clear();
    output.finish()?;
    warn(shared.quiet, &warnings.sentences());
    warn(shared.quiet, row_notes::outside(&warnings).as_slice());
    let calibrated = query.conformal && model.encoder().sequence().is_none();
    if let Some(calibration) = model.calibration().filter(|_| calibrated) {
        warn(shared.quiet, conformal_notes::unseen_groups(calibration, unseen_groups).as_slice());
        notes = conformal_notes::of_calibration(calibration, &query);
    }
    conformal_notes::print(shared.quiet, &notes);
    if shared.json && path != "-" {
        let outside = (warnings.rows() > 0).then(|| warnings.outside().values().sum::<u64>());
        return print_json(&json!({"rows": lines, "columns": names, "output": path, "outside": outside}));
    }
    Ok(())
}

/// As many chunks as there are threads, each of `at_once` rows and with the number of rows before it. The kept columns have these
/// types.
fn read(
    stream: &mut RowStream,
    mut rows_before: u64,
    at_once: usize,
    types: &[KeptType],
) -> Result<Vec<(u64, Chunk)>, Error> {
    let mut batch = Vec::new();
    while batch.len() < rayon::current_num_threads() {
        let Some(mut chunk) = stream.next_chunk(at_once)? else { break };
        input::set_types(&mut chunk.kept, types);
        let rows = chunk.table.rows() as u64;
        batch.push((rows_before, chunk));
        rows_before += rows;
    }
    Ok(batch)
}

/// Whether no value of the target has a probability of its own.
fn has_density(model: &Model) -> bool {
    let target = model.encoder().target();
    target.grid.is_none() && target.atoms.is_none() && model.components().is_some()
}

/// The query of the flags.
fn query(predict: &Predict) -> Result<Query, Error> {
    let texts = [
        ("quantiles", &predict.quantiles),
        ("interval", &predict.interval),
        ("region", &predict.region),
        ("above", &predict.above),
        ("below", &predict.below),
        ("equal", &predict.equal),
        ("shortfall", &predict.shortfall),
    ];
    // Of several targets, --conformal may be of regions that a query of one target does not have.
    let of_several = predict.joint.flags.joint_region.is_some() || predict.joint.flags.ellipsoid.is_some();
    let switches = [
        ("conformal", predict.conformal && !of_several),
        ("parts", predict.parts),
        ("novelty", predict.novelty),
        ("components", predict.components),
    ];
    let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)));
    let switches = switches.into_iter().filter(|(_, on)| *on).map(|(name, _)| (name, "true"));
    let query = Query::from_pairs(texts.chain(switches))?.draws(predict.draws.unwrap_or(0)).seed(predict.seed);
    query.check()?;
    Ok(query)
}

/// The names of all columns.
fn names(query: &Query, keep: &[String], model: &Model) -> Result<Vec<String>, Error> {
    if query.components && model.components().is_none() {
        let method = model.method().name();
        return Err(Error::options(format!(
            "--components: {method} predicts samples, not a mixture; use --draws or --quantiles"
        )));
    }
    Ok(query.output_fields(model, keep)?.into_iter().map(|field| field.name).collect())
}

/// The predictions of one chunk.
struct Predicted {
    encoded: Encoded,
    warnings: Warnings,
    /// Rows of groups that the model was not calibrated for.
    unseen_groups: usize,
    /// Sentences about adaptive conformal sets.
    notes: Vec<String>,
}

/// The predictions of one chunk with its first kept columns; `first` rows came before it.
fn predicted(
    query: &Query,
    model: &Model,
    chunk: &Chunk,
    first: u64,
    (format, kept): (Format, usize),
) -> Result<Predicted, Error> {
    if !query.conformal {
        let (columns, mut warnings) = query.table_columns(model, &chunk.table, first, &chunk.kept[..kept])?;
        warnings.merge(&chunk.warnings);
        return Ok(Predicted {
            encoded: Encoded::new(&columns, format)?,
            warnings,
            unseen_groups: 0,
            notes: Vec::new(),
        });
    }
    let (predictions, mut warnings) = model.predict_with_warnings(&chunk.table)?;
    warnings.merge(&chunk.warnings);
    let inputs = ConformalInputs::of_chunk(query, model, chunk)?;
    let batch = Batch::new(model, &predictions, chunk.table.rows()).after(first);
    let BatchColumns { columns, adaptive, unseen_groups, .. } =
        query.batch_columns(&batch.keep(&chunk.kept[..kept]).conformal(inputs.as_ref()))?;
    let notes = adaptive.map_or(Ok(Vec::new()), |adaptive| conformal_notes::of_sequence(&adaptive, query))?;
    Ok(Predicted { encoded: Encoded::new(&columns, format)?, warnings, unseen_groups, notes })
}
