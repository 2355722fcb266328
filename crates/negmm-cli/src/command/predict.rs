//! Responsible for `negmm predict`: one row out for every row in, in memory that does not grow with the file; a sequence
//! is read whole, and has one row out for every row that a window comes before and for the step after the last.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use negmm::data::{Chunk, CsvStream, Warnings};
use negmm::{Error, Model, Predictions};
use rayon::prelude::*;
use serde_json::json;

use crate::arguments::{Predict, Shared};
use crate::input;
use crate::output::{Output, replaces, say_json, warn};
use crate::progress::Bar;

/// Rows that one thread works on at once.
const CHUNK: usize = 4096;
/// Draws of a row at most.
const MOST_DRAWS: usize = 100_000;

/// Runs it.
pub fn run(predict: &Predict, shared: &Shared) -> Result<(), Error> {
    let questions = Questions::new(predict)?;
    shared.threads(None)?;
    let place = &predict.output;
    if shared.json && place == "-" {
        return Err(Error::options("the predictions and --json cannot both go to standard output: say -o FILE"));
    }
    for (file, what) in [(&*predict.model, "model"), (Path::new(&predict.data), "data")] {
        if replaces(place, file) {
            return Err(Error::options(format!(
                "the predictions would replace the {what} in {place}: say another -o FILE"
            )));
        }
    }
    let model = Model::load(&predict.model)?;
    let window = model.encoder().sequence().map(|sequence| sequence.window);
    let names = questions.names(&model)?;
    let mut schema = model.encoder().schema();
    schema.keep = questions.keep.clone();
    let mut stream = input::stream(&predict.data, &schema)?;
    let mut output = Output::create(place)?;
    let bar = Bar::rows(shared);
    let mut warnings = Warnings::default();
    let mut rows = 0;
    let at_once = if window.is_some() { usize::MAX } else { CHUNK };
    let mut batch = read(&mut stream, 0, at_once)?;
    let mut lines = 0;
    while !batch.is_empty() {
        let rows_before = batch[batch.len() - 1].0 + batch[batch.len() - 1].1.table.rows() as u64;
        // The next rows are read while these are answered.
        let (answers, next) = rayon::join(
            || batch.par_iter().map(|(first, chunk)| questions.answer(&model, chunk, *first)).collect::<Vec<_>>(),
            || read(&mut stream, rows_before, at_once),
        );
        let answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        let next = next?;
        if rows == 0 {
            // Only now: a file that is wrong from the start leaves nothing on standard output.
            output.write(&line(&names))?;
        }
        for answer in answers {
            warnings.merge(&answer.warnings);
            output.write(&answer.text)?;
            lines += answer.rows;
        }
        bar.add((rows_before - rows) as usize);
        rows = rows_before;
        batch = next;
    }
    bar.clear();
    output.finish()?;
    warn(shared.quiet, &warnings.sentences());
    if shared.json {
        return say_json(&json!({"rows": lines, "columns": names, "output": place}));
    }
    Ok(())
}

/// As many chunks as there are threads, each of `at_once` rows and with the number of rows before it.
fn read(stream: &mut CsvStream, mut rows_before: u64, at_once: usize) -> Result<Vec<(u64, Chunk)>, Error> {
    let mut batch = Vec::new();
    while batch.len() < rayon::current_num_threads() {
        let Some(chunk) = stream.next_chunk(at_once)? else { break };
        let rows = chunk.table.rows() as u64;
        batch.push((rows_before, chunk));
        rows_before += rows;
    }
    Ok(batch)
}

/// What is said of one chunk.
struct Answer {
    text: Vec<u8>,
    rows: usize,
    warnings: Warnings,
}

/// What is asked of every row; each number goes with its text, which names its column.
struct Questions {
    keep: Vec<String>,
    quantiles: Vec<(String, f64)>,
    intervals: Vec<(String, f64)>,
    above: Vec<(String, f64)>,
    below: Vec<(String, f64)>,
    shortfall: Vec<(String, f64)>,
    parts: bool,
    components: bool,
    draws: usize,
    seed: u64,
}

impl Questions {
    fn new(predict: &Predict) -> Result<Self, Error> {
        let draws = predict.draws.as_deref().map_or(Ok(0), |text| input::number("draws", text))?;
        if draws > MOST_DRAWS {
            return Err(Error::options(format!("draws must be at most {MOST_DRAWS}, found {draws}")));
        }
        Ok(Self {
            keep: predict.keep.as_deref().map_or(Vec::new(), input::names),
            quantiles: input::levels("quantiles", predict.quantiles.as_deref())?,
            intervals: input::levels("interval", predict.interval.as_deref())?,
            above: input::numbers("above", predict.above.as_deref())?,
            below: input::numbers("below", predict.below.as_deref())?,
            shortfall: input::levels("shortfall", predict.shortfall.as_deref())?,
            parts: predict.parts,
            components: predict.components,
            draws,
            seed: input::number("seed", &predict.seed)?,
        })
    }

    /// The names of all columns; none may occur twice. Those of a sequence begin with the number of the row.
    fn names(&self, model: &Model) -> Result<Vec<String>, Error> {
        let number = model.encoder().sequence().map(|_| "row".to_string());
        let mut names: Vec<String> = number.into_iter().chain(self.keep.clone()).collect();
        names.extend(["mean".to_string(), "sd".to_string()]);
        names.extend(self.quantiles.iter().map(|(text, _)| format!("q{text}")));
        names.extend(self.intervals.iter().flat_map(|(text, _)| [format!("lower_{text}"), format!("upper_{text}")]));
        names.extend(self.above.iter().map(|(text, _)| format!("p_above_{text}")));
        names.extend(self.below.iter().map(|(text, _)| format!("p_below_{text}")));
        names.extend(self.shortfall.iter().map(|(text, _)| format!("shortfall_{text}")));
        if self.parts {
            names.extend(["variance_within".to_string(), "variance_between".to_string()]);
            if model.members() > 1 {
                names.extend(["variance_aleatoric".to_string(), "variance_epistemic".to_string()]);
            }
        }
        if self.components {
            let Some(components) = model.components() else {
                let method = model.method().name();
                return Err(Error::options(format!(
                    "--components: {method} predicts samples, not a mixture; use --draws or --quantiles"
                )));
            };
            for part in ["weight", "mean", "sd"] {
                names.extend((1..=components).map(|component| format!("{part}_{component}")));
            }
        }
        names.extend((1..=self.draws).map(|draw| format!("draw_{draw}")));
        let mut seen = HashSet::new();
        match names.iter().find(|name| !seen.insert(name.as_str())) {
            Some(twice) => Err(Error::options(format!("two columns of the output would be called {twice:?}"))),
            None => Ok(names),
        }
    }

    /// The lines of one chunk; `first` rows came before it.
    fn answer(&self, model: &Model, chunk: &Chunk, first: u64) -> Result<Answer, Error> {
        let (predictions, warnings) = model.predict_with_warnings(&chunk.table)?;
        let columns = self.columns(&predictions)?;
        let draws = predictions.sample(self.draws, self.seed, first);
        // A sequence has no answer for its first rows, and one more after the last: no cells are kept for that.
        let (skipped, numbered) = (model.encoder().first_row(), model.encoder().sequence().is_some());
        let mut kept: Vec<_> = chunk.kept.iter().map(|column| column.cells().skip(skipped)).collect();
        let mut line = Line::default();
        for row in 0..predictions.len() {
            if numbered {
                line.text(&(skipped + row + 1).to_string());
            }
            kept.iter_mut().for_each(|cells| line.text(cells.next().unwrap_or_default()));
            columns.iter().for_each(|column| line.number(column[row]));
            if let (true, Some(mixtures)) = (self.components, predictions.mixtures()) {
                let mixture = mixtures.row(row);
                for part in [mixture.weights, mixture.means, mixture.sds] {
                    part.iter().for_each(|x| line.number(*x));
                }
            }
            draws[row * self.draws..][..self.draws].iter().for_each(|draw| line.number(*draw));
            line.end();
        }
        Ok(Answer { text: line.bytes, rows: predictions.len(), warnings })
    }

    /// Every answer that is one number a row, in the order of the header.
    fn columns(&self, predictions: &Predictions) -> Result<Vec<Vec<f64>>, Error> {
        let mut columns = vec![predictions.mean(), predictions.sd()];
        for (_, level) in &self.quantiles {
            columns.push(predictions.quantile(*level)?);
        }
        for (_, coverage) in &self.intervals {
            let (lower, upper) = predictions.interval(*coverage)?;
            columns.extend([lower, upper]);
        }
        for (_, threshold) in &self.above {
            columns.push(predictions.above(*threshold)?);
        }
        for (_, threshold) in &self.below {
            columns.push(predictions.below(*threshold)?);
        }
        for (_, level) in &self.shortfall {
            columns.push(predictions.shortfall(*level)?);
        }
        if self.parts {
            let (within, between) = predictions.variance_parts();
            columns.extend([within, between]);
            if predictions.members() > 1 {
                let (aleatoric, epistemic) = predictions.variance_by_members();
                columns.extend([aleatoric, epistemic]);
            }
        }
        Ok(columns)
    }
}

/// One line of text cells.
fn line(cells: &[String]) -> Vec<u8> {
    let mut line = Line::default();
    cells.iter().for_each(|cell| line.text(cell));
    line.end();
    line.bytes
}

/// Lines of CSV.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    begun: bool,
}

impl Line {
    fn comma(&mut self) {
        if self.begun {
            self.bytes.push(b',');
        }
        self.begun = true;
    }

    fn text(&mut self, text: &str) {
        self.comma();
        if text.contains([',', '"', '\n', '\r']) {
            let quoted = format!("\"{}\"", text.replace('"', "\"\""));
            self.bytes.extend_from_slice(quoted.as_bytes());
        } else {
            self.bytes.extend_from_slice(text.as_bytes());
        }
    }

    fn number(&mut self, x: f64) {
        self.comma();
        // Shortest text that reads back as the same number; writing to memory does not fail.
        let _ = write!(self.bytes, "{x:?}");
    }

    fn end(&mut self) {
        self.bytes.push(b'\n');
        self.begun = false;
    }
}
