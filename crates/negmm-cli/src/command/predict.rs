//! Responsible for `negmm predict`: one row out for every row in, in memory that does not grow with the file; a sequence
//! is read whole, and has one row out for every row that a window comes before and for the step after the last.

use std::path::Path;

use negmm::conformal::{AdaptiveConformal, ConformalPredictor, LabelColumns};
use negmm::data::{Chunk, RowStream, Warnings};
use negmm::questions::{levels, numbers};
use negmm::{Error, Loaded, Model, Questions};
use rayon::prelude::*;
use serde_json::json;

use crate::arguments::{Predict, Shared};
use crate::command::forecast;
use crate::places::{Written, apart};
use crate::predictions::{Form, Predicted, PredictionFile};
use crate::progress::Bar;
use crate::report::{count, counted};
use crate::say::{say_json, warn};
use crate::{guarantees, input};

/// Rows that one thread works on at once.
const CHUNK: usize = 4096;

/// Runs it.
pub fn run(predict: &Predict, shared: &Shared) -> Result<(), Error> {
    let questions = questions(predict)?;
    let keep = predict.keep.clone().unwrap_or_default().0;
    shared.threads();
    let place = &predict.output;
    let form = Form::of(place, shared.json)?;
    let inputs = [("model", &*predict.model), ("data", Path::new(&predict.data))];
    // As lines of JSON predictions are what --json asks for.
    apart(false, &[Written { what: "predictions", place, option: "-o FILE" }], &inputs)?;
    let model = match shared.accelerated(input::model(&predict.model, Some(&predict.data))?)? {
        Loaded::Model(model) => *model,
        Loaded::Forecaster(forecaster) => return forecast::predict(&forecaster, predict, &questions, shared),
    };
    input::no_forecast(predict.futures.first().or(predict.origins.first()))?;
    let window = model.encoder().sequence().map(|sequence| sequence.window);
    let names = names(&questions, &keep, &model)?;
    let adapts = questions.guaranteed && window.is_some();
    let calibration = if questions.guaranteed && !adapts { Some(model.known_calibration()?) } else { None };
    let labels = calibration.map(LabelColumns::of).unwrap_or_default();
    let mut schema = if adapts { model.encoder().schema_with_target() } else { model.encoder().schema() };
    let kept = keep.len();
    schema.keep = keep;
    let schema = labels.added_to(schema);
    let mut stream = input::stream(&predict.data, &schema.in_dialect(&predict.file.dialect()?)?)?;
    let mut output = PredictionFile::create(place, form, names.clone())?;
    let bar = Bar::rows(shared);
    let mut warnings = Warnings::default();
    let mut rows = 0;
    let at_once = if window.is_some() { usize::MAX } else { CHUNK };
    let mut batch = read(&mut stream, 0, at_once)?;
    let (mut lines, mut strangers, mut said) = (0, 0, Vec::new());
    while !batch.is_empty() {
        let rows_before = batch[batch.len() - 1].0 + batch[batch.len() - 1].1.table.rows() as u64;
        // The next rows are read while these are answered.
        let (answers, next) = rayon::join(
            || {
                let answer = |(first, chunk): &(u64, Chunk)| answer(&questions, &model, chunk, *first, (form, kept));
                batch.par_iter().map(answer).collect::<Vec<_>>()
            },
            || read(&mut stream, rows_before, at_once),
        );
        let answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        let next = next?;
        for ((_, chunk), answered) in batch.iter().zip(answers) {
            warnings.merge(&answered.warnings);
            strangers += answered.strangers;
            said.extend(answered.said);
            lines += answered.predicted.rows();
            output.write(answered.predicted, &chunk.kept[..kept])?;
        }
        bar.add((rows_before - rows) as usize);
        rows = rows_before;
        batch = next;
    }
    bar.clear();
    output.finish()?;
    warn(shared.quiet, &warnings.sentences());
    warn(shared.quiet, outside(&warnings).as_slice());
    if let Some(calibration) = calibration {
        warn(shared.quiet, guarantees::strangers(calibration, strangers).as_slice());
        said = guarantees::of_calibration(calibration, &questions);
    }
    guarantees::tell(shared.quiet, &said);
    if shared.json && place != "-" {
        let outside = (warnings.rows() > 0).then(|| warnings.outside().values().sum::<u64>());
        return say_json(&json!({"rows": lines, "columns": names, "output": place, "outside": outside}));
    }
    Ok(())
}

/// A sentence about the rows outside the ranges of training, where there are some.
fn outside(warnings: &Warnings) -> Option<String> {
    let inputs = warnings.outside();
    let (most, _) = inputs.iter().rev().max_by_key(|(_, count)| **count)?;
    let by = if inputs.len() > 1 { "most often by" } else { "by" };
    let (outside, rows) = (count(inputs.values().sum::<u64>() as usize), counted(warnings.rows() as usize, "row"));
    let lie = if outside == "1" { "lies" } else { "lie" };
    Some(format!("{outside} of {rows} {lie} outside the ranges of training ({by} {most})"))
}

/// As many chunks as there are threads, each of `at_once` rows and with the number of rows before it.
fn read(stream: &mut RowStream, mut rows_before: u64, at_once: usize) -> Result<Vec<(u64, Chunk)>, Error> {
    let mut batch = Vec::new();
    while batch.len() < rayon::current_num_threads() {
        let Some(chunk) = stream.next_chunk(at_once)? else { break };
        let rows = chunk.table.rows() as u64;
        batch.push((rows_before, chunk));
        rows_before += rows;
    }
    Ok(batch)
}

/// What was asked for.
fn questions(predict: &Predict) -> Result<Questions, Error> {
    let questions = Questions {
        draws: predict.draws.unwrap_or(0),
        quantiles: levels("quantiles", predict.quantiles.as_deref())?,
        intervals: levels("interval", predict.interval.as_deref())?,
        regions: levels("region", predict.region.as_deref())?,
        above: numbers("above", predict.above.as_deref())?,
        below: numbers("below", predict.below.as_deref())?,
        mass: numbers("mass", predict.mass.as_deref())?,
        shortfall: levels("shortfall", predict.shortfall.as_deref())?,
        parts: predict.parts,
        novelty: predict.novelty,
        components: predict.components,
        seed: predict.seed,
        guaranteed: predict.guaranteed,
    };
    questions.check()?;
    Ok(questions)
}

/// The names of all columns: the number of the row, where rows are a sequence, what is kept, and the answers.
fn names(questions: &Questions, keep: &[String], model: &Model) -> Result<Vec<String>, Error> {
    if questions.components && model.components().is_none() {
        let method = model.method().name();
        return Err(Error::options(format!(
            "--components: {method} predicts samples, not a mixture; use --draws or --quantiles"
        )));
    }
    let number = model.encoder().sequence().map(|_| "row".to_string());
    questions.names_after(number.into_iter().chain(keep.iter().cloned()).collect(), model)
}

/// What is made of one chunk.
struct Answered {
    predicted: Predicted,
    warnings: Warnings,
    /// Rows of no calibrated group.
    strangers: usize,
    /// What is said of sets that adapt.
    said: Vec<String>,
}

/// The answers of one chunk with its first kept columns; `first` rows came before it.
fn answer(
    questions: &Questions,
    model: &Model,
    chunk: &Chunk,
    first: u64,
    (form, kept): (Form, usize),
) -> Result<Answered, Error> {
    let (predictions, mut warnings) = model.predict_with_warnings(&chunk.table)?;
    warnings.merge(&chunk.warnings);
    let (mut strangers, mut said) = (0, Vec::new());
    let answers = match (questions.guaranteed, model.encoder().sequence(), model.calibration()) {
        (true, Some(_), _) => {
            let mut y = model.encoder().targets(&chunk.table)?.into_owned();
            y.resize(predictions.len(), f64::NAN);
            let adaptive = AdaptiveConformal::of_sequence(&questions.sets(), &predictions, &y)?;
            said = guarantees::of_sequence(&adaptive, questions)?;
            questions.answer_guaranteed(&predictions, first, ConformalPredictor::AdaptiveConformal(&adaptive))?
        }
        (true, None, Some(calibration)) => {
            let labels = LabelColumns::of(calibration).labels(chunk)?;
            strangers = calibration.strangers(&labels);
            questions.answer_guaranteed(&predictions, first, ConformalPredictor::Calibrated(calibration, &labels))?
        }
        _ => questions.answer(&predictions, first)?,
    };
    let rows = model.encoder().predicted_rows(chunk.table.rows());
    let numbered = model.encoder().sequence().is_some();
    let predicted = Predicted::new(&answers, &chunk.kept[..kept], rows, numbered, form);
    Ok(Answered { predicted, warnings, strangers, said })
}
