//! `negmm explain`: what each input column contributes to an answer about the distribution of a row, in memory that does not grow
//! with the file.

use std::collections::VecDeque;
use std::path::Path;

use negmm::data::{DrawnRows, KeptColumn, KeptType, RowStream, Schema, Warnings};
use negmm::explain::{Answer, Background, Effort, Explainer, Explanation, verdict};
use negmm::{Error, Loaded, Model, Table};
use serde_json::json;

use crate::arguments::{Explain, Shared};
use crate::command::{explain_acquire, explain_global};
use crate::console::{note, print, print_json, warn};
use crate::output_paths::{OutputPath, check_distinct};
use crate::predictions::{Encoded, Format, PredictionFile};
use crate::progress::Bar;
use crate::{format, input, row_notes};

/// Rows that are explained at once.
const CHUNK: usize = 64;
/// Letters of a cell in a sentence at most.
const MOST_LETTERS: usize = 40;

/// Runs it.
pub fn run(explain: &Explain, shared: &Shared) -> Result<(), Error> {
    let usual = if explain.global { "mean,sd,q0.95" } else { "mean,sd" };
    let answers = Answer::list(explain.of.as_deref().unwrap_or(usual))?;
    shared.threads();
    let more = [("background", &explain.background), ("data of --towards", &explain.towards)];
    let more = more.into_iter().filter_map(|(what, path)| Some((what, Path::new(path.as_deref()?))));
    let inputs: Vec<(&str, &Path)> =
        [("model", &*explain.model), ("data", Path::new(&explain.data))].into_iter().chain(more).collect();
    if inputs.iter().filter(|(_, path)| *path == Path::new("-")).count() > 1 {
        return Err(Error::options("only one of the inputs can come from standard input"));
    }
    let written = OutputPath { what: "explanations", path: &explain.output, option: "-o FILE" };
    check_distinct(false, &[written], &inputs)?;
    let model = table_model(input::model(&explain.model, Some(&explain.data))?)?;
    if let Some(rows) = explain.acquire {
        return explain_acquire::run(explain, &model, rows, shared);
    }
    let background = background(explain, &model, shared)?;
    let explainer = Explainer::new(&model, background, answers)?.seed(explain.seed);
    let explainer = match explain.permutations {
        Some(permutations) => explainer.with_effort(Effort::Permutations(permutations))?,
        None if explain.exact => explainer.with_effort(Effort::Exact)?,
        None => explainer,
    };
    if explain.global { explain_global::run(explain, &explainer, shared) } else { rows(explain, &explainer, shared) }
}

/// The model, if it is one whose rows can be explained.
fn table_model(loaded: Loaded) -> Result<Model, Error> {
    let refused = match loaded {
        Loaded::Model(model) if model.encoder().sequence().is_none() => return Ok(*model),
        Loaded::Model(_) => {
            "explanations exchange columns between rows, and the rows of this model are steps of a sequence: \
             `negmm report` shows what its inputs do"
        }
        Loaded::Forecaster(_) => {
            "explanations are of rows of a table, and this model forecasts series: `negmm report` shows what it learnt"
        }
        Loaded::Joint(_) => {
            "explanations are of one target, and this model has several: fit a model of one of them (fit --target), or \
             see `negmm report`"
        }
    };
    Err(Error::options(refused))
}

/// The rows to compare with: those of a file, or those that the model carries.
fn background(explain: &Explain, model: &Model, shared: &Shared) -> Result<Background, Error> {
    let Some(path) = &explain.background else {
        return model.background().cloned().ok_or_else(|| {
            Error::options(
                "the model carries no training rows to compare with: use --background FILE with such rows (models \
                 carry them since this version, unless fitted with --background 0)",
            )
        });
    };
    let schema = model.encoder().schema().in_dialect(&explain.file.dialect()?)?;
    let drawn = input::stream(path, &schema)?.draw(explain.background_rows, explain.seed, |_| ())?;
    let drawn = drawn.ok_or_else(|| Error::data("there is no row of data").in_file(path))?;
    warn(shared.quiet, &drawn.chunk.warnings.sentences());
    Background::of_table(model, &drawn.chunk.table, explain.background_rows, explain.seed)
        .map(|(background, _)| background)
}

/// Some rows of the data.
struct Part {
    table: Table,
    kept: Vec<KeptColumn>,
    /// The number of each row, from 1.
    numbers: Vec<i64>,
}

/// The rows of the data, or those that are drawn.
enum Source {
    Stream { stream: Box<RowStream>, read: usize },
    Drawn { drawn: Box<DrawnRows>, at: usize },
}

impl Source {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Part>, Error> {
        match self {
            Self::Stream { stream, read } => {
                let Some(chunk) = stream.next_chunk(CHUNK)? else { return Ok(None) };
                warnings.merge(&chunk.warnings);
                let first = *read as i64 + 1;
                *read += chunk.table.rows();
                Ok(Some(Part { table: chunk.table, kept: chunk.kept, numbers: (first..=*read as i64).collect() }))
            }
            Self::Drawn { drawn, at } => {
                let rows: Vec<usize> = (*at..drawn.rows.len().min(*at + CHUNK)).collect();
                *at += rows.len();
                let kept = drawn.chunk.kept.iter().map(|column| column.select(&rows)).collect::<Result<_, _>>()?;
                let numbers = rows.iter().map(|row| drawn.rows[*row] as i64 + 1).collect();
                Ok((!rows.is_empty()).then(|| Part { table: drawn.chunk.table.select_rows(&rows), kept, numbers }))
            }
        }
    }
}

/// Explains each row.
fn rows(explain: &Explain, explainer: &Explainer<'_>, shared: &Shared) -> Result<(), Error> {
    let model = explainer.model();
    let format = Format::of(&explain.output, shared.json)?.digits(explain.digits);
    if explain.errors && printed(explain, shared) {
        return Err(Error::options(
            "--errors has no place in printed sentences: leave it or --top out, or write to -o FILE",
        ));
    }
    let dialect = explain.file.dialect()?;
    let keep = explain.keep.clone().unwrap_or_default().0;
    let types = if format.is_typed() { input::kept_types(&explain.data, &keep, &dialect)? } else { Vec::new() };
    let needs_target = explainer.answers().iter().any(Answer::needs_target);
    let encoder = model.encoder();
    let schema = if needs_target { encoder.schema_with_target() } else { encoder.schema() };
    // Sentences have the cells as they are in the file.
    let cells: Vec<String> = match explain.top {
        Some(_) => explainer.columns().iter().map(ToString::to_string).collect(),
        None => Vec::new(),
    };
    let schema = Schema { keep: [&keep[..], &cells[..]].concat(), ..schema };
    let mut stream = input::stream(&explain.data, &schema.in_dialect(&dialect)?)?;
    let mut warnings = Warnings::default();
    let mut source = match explain.sample {
        Some(rows) => {
            let bar = Bar::rows(shared);
            let drawn = stream.draw(rows, explain.seed, |rows| bar.add(rows))?;
            bar.clear();
            let drawn = drawn.ok_or_else(|| Error::data("there is no row of data").in_file(&explain.data))?;
            warnings.merge(&drawn.chunk.warnings);
            Source::Drawn { drawn: Box::new(drawn), at: 0 }
        }
        None => Source::Stream { stream: Box::new(stream), read: 0 },
    };
    // How many rows there are decides on the effort, as long as more of them would change it.
    let (mut waiting, mut count, mut left_out) = (VecDeque::new(), 0, 0);
    let mut ended = false;
    while explainer.effort_for(count) != explainer.effort_for(usize::MAX) {
        let Some(part) = source.next(&mut warnings)? else {
            ended = true;
            break;
        };
        count += part.numbers.len();
        waiting.push_back(part);
    }
    let explainer = &explainer.clone().for_rows(count.max(1));
    let known = match &source {
        Source::Drawn { drawn, .. } => Some(drawn.rows.len()),
        Source::Stream { .. } => ended.then_some(count),
    };
    let bar = Bar::explained(shared, known);
    let mut writer = Writer::new(explain, explainer, (format, types), shared)?;
    while let Some(part) = waiting.pop_front().map_or_else(|| source.next(&mut warnings), |part| Ok(Some(part)))? {
        let read = part.numbers.len();
        let part = if needs_target { with_target(part, model)? } else { Some(part) };
        if let Some(part) = part {
            left_out += read - part.numbers.len();
            writer.write(part, &mut warnings)?;
        } else {
            left_out += read;
        }
        bar.add(read);
    }
    bar.clear();
    if writer.rows == 0 {
        let target = &encoder.target().name;
        return Err(Error::data(format!("no row has a target {target:?}")).in_file(&explain.data));
    }
    if left_out > 0 {
        warn(shared.quiet, &[input::without_target(left_out, &encoder.target().name)]);
    }
    warn(shared.quiet, &warnings.sentences());
    warn(shared.quiet, row_notes::outside(&warnings).as_slice());
    writer.finish(&warnings)
}

/// Whether sentences are printed, rather than written beside the numbers.
fn printed(explain: &Explain, shared: &Shared) -> bool {
    explain.top.is_some() && explain.output == "-" && !shared.json
}

/// The rows that have a target.
fn with_target(part: Part, model: &Model) -> Result<Option<Part>, Error> {
    let rows = part.table.rows_with(&model.encoder().target().name)?;
    if rows.len() == part.table.rows() {
        return Ok(Some(part));
    }
    let kept = part.kept.iter().map(|column| column.select(&rows)).collect::<Result<_, _>>()?;
    let numbers = rows.iter().map(|row| part.numbers[*row]).collect();
    Ok((!rows.is_empty()).then(|| Part { table: part.table.select_rows(&rows), kept, numbers }))
}

/// Writes explanations, as columns of a file or as sentences.
struct Writer<'a> {
    explain: &'a Explain,
    explainer: &'a Explainer<'a>,
    shared: &'a Shared,
    format: Format,
    types: Vec<KeptType>,
    /// The file; of printed sentences none.
    file: Option<PredictionFile>,
    rows: usize,
    columns: Vec<String>,
    exact: bool,
    /// For each answer the sum of squared standard errors over rows and columns, and the rows without contributions.
    squares: Vec<f64>,
    undefined: Vec<usize>,
}

impl<'a> Writer<'a> {
    fn new(
        explain: &'a Explain,
        explainer: &'a Explainer<'a>,
        (format, types): (Format, Vec<KeptType>),
        shared: &'a Shared,
    ) -> Result<Self, Error> {
        let file = (!printed(explain, shared)).then(|| PredictionFile::create(&explain.output, format)).transpose()?;
        let answers = explainer.answers().len();
        let (squares, undefined) = (vec![0.0; answers], vec![0; answers]);
        let columns = Vec::new();
        Ok(Self { explain, explainer, shared, format, types, file, rows: 0, columns, exact: true, squares, undefined })
    }

    fn write(&mut self, mut part: Part, warnings: &mut Warnings) -> Result<(), Error> {
        let model = self.explainer.model();
        let (explanation, _) = self.explainer.explain(&part.table)?;
        // These warnings also count the rows outside the ranges of training.
        let (predictions, odd) = model.predict_with_warnings(&part.table)?;
        warnings.merge(&odd);
        self.rows += explanation.rows();
        self.exact &= explanation.is_exact();
        for (answer, sum) in self.squares.iter_mut().enumerate() {
            let defined = (0..explanation.rows()).filter(|row| explanation.is_defined(*row, answer)).count();
            self.undefined[answer] += explanation.rows() - defined;
            *sum += explanation.typical_error(answer).powi(2) * (defined * explanation.columns().len()) as f64;
        }
        let verdicts = (model.members() > 1 && self.explain.top.is_some()).then(|| {
            let (aleatoric, epistemic) = predictions.variance_by_members();
            let of = |(within, between): (f64, f64)| verdict(between.sqrt(), within.sqrt());
            aleatoric.into_iter().zip(epistemic).map(of).collect::<Vec<_>>()
        });
        let own = part.kept.len() - if self.explain.top.is_some() { explanation.columns().len() } else { 0 };
        let cells = part.kept.split_off(own);
        let sentences = self.explain.top.map(|top| sentences(&explanation, top, &cells));
        if let (None, Some(sentences)) = (&self.file, &sentences) {
            return self.print(&part, sentences, verdicts.as_deref());
        }
        input::set_types(&mut part.kept, &self.types);
        let mut columns = explanation.output(&part.kept, self.explain.errors)?.numbered(part.numbers)?;
        if let Some(sentences) = sentences {
            let joined = sentences.into_iter().map(|sentences| sentences.join("; ")).collect();
            columns = columns.with_text("sentence", joined)?;
        }
        if let Some(verdicts) = verdicts {
            columns = columns.with_text("verdict", verdicts.into_iter().map(str::to_string).collect())?;
        }
        if self.columns.is_empty() {
            self.columns = columns.names().iter().map(ToString::to_string).collect();
        }
        let encoded = Encoded::new(&columns, self.format)?;
        self.file.as_mut().map_or(Ok(()), |file| file.write(&encoded))
    }

    /// A line for each row and answer.
    fn print(&self, part: &Part, sentences: &[Vec<String>], verdicts: Option<&[&str]>) -> Result<(), Error> {
        let mut lines = Vec::new();
        for (at, (number, sentences)) in part.numbers.iter().zip(sentences).enumerate() {
            let kept: Vec<String> =
                part.kept.iter().filter_map(|column| Some(column.cells().nth(at)?.into())).collect();
            let kept = if kept.is_empty() { String::new() } else { format!(" ({})", kept.join(", ")) };
            for (answer, sentence) in sentences.iter().enumerate() {
                let last = verdicts.filter(|_| answer + 1 == sentences.len());
                let verdict = last.map_or(String::new(), |verdicts| format!("; {}", verdicts[at]));
                lines.push(format!("row {number}{kept}: {sentence}{verdict}"));
            }
        }
        print(&lines.join("\n"))
    }

    /// Completes the file, and says how exact the contributions are.
    fn finish(self, warnings: &Warnings) -> Result<(), Error> {
        if let Some(file) = self.file {
            file.finish()?;
        }
        let names = self.explainer.answers().iter().map(Answer::name);
        let columns = self.explainer.columns().len();
        let error =
            |(squares, undefined): (f64, &usize)| (squares / ((self.rows - undefined) * columns).max(1) as f64).sqrt();
        let errors: Vec<(&str, f64)> =
            names.clone().zip(self.squares.into_iter().zip(&self.undefined).map(error)).collect();
        for (name, undefined) in names.zip(self.undefined).filter(|(_, undefined)| *undefined > 0) {
            let rows = format::counted(undefined, "row");
            let sentence = format!(
                "in {rows} the target is impossible for the model, or for the rows it is compared with: {name} is infinite \
                 there, without contributions"
            );
            warn(self.shared.quiet, &[sentence]);
        }
        let permutations = match self.explainer.effort_for(self.rows) {
            Effort::Permutations(count) if !self.exact => Some(count),
            _ => None,
        };
        let background = self.explainer.background().rows();
        if let Some(count) = permutations {
            let of: Vec<String> =
                errors.iter().map(|(name, error)| format!("{} of {name}", format::number(*error))).collect();
            let sentence = format!(
                "contributions are estimated from {} of the columns for each of {}; typical standard error {} \
                 (--permutations N makes it smaller)",
                format::counted(count, "permutation"),
                format::counted(background, "background row"),
                of.join(", "),
            );
            note(self.shared.quiet, &[sentence]);
        }
        if self.shared.json && self.explain.output != "-" {
            let errors: serde_json::Map<String, serde_json::Value> =
                errors.into_iter().map(|(name, error)| (name.to_string(), json!(error))).collect();
            let outside = (warnings.rows() > 0).then(|| warnings.outside().values().sum::<u64>());
            return print_json(&json!({
                "rows": self.rows, "columns": self.columns, "output": self.explain.output, "background": background,
                "exact": self.exact, "permutations": permutations, "errors": errors, "outside": outside,
            }));
        }
        Ok(())
    }
}

/// For each row a sentence for each answer, with the cells as they are in the file.
fn sentences(explanation: &Explanation, top: usize, cells: &[KeptColumn]) -> Vec<Vec<String>> {
    let cells: Vec<Vec<String>> =
        cells.iter().map(|column| column.cells().map(|cell| shown(&cell)).collect()).collect();
    let of_row = |row: usize| {
        let cell = |name: &str| {
            let at = explanation.columns().iter().position(|column| column == name)?;
            Some(cells[at][row].clone())
        };
        (0..explanation.answers().len()).map(|answer| explanation.sentence(row, answer, top, cell)).collect()
    };
    (0..explanation.rows()).map(of_row).collect()
}

/// A cell in a sentence.
fn shown(cell: &str) -> String {
    let cell = cell.trim();
    match cell.char_indices().nth(MOST_LETTERS) {
        _ if cell.is_empty() => "missing".into(),
        Some((end, _)) => format!("{}…", &cell[..end]),
        None => cell.to_string(),
    }
}
