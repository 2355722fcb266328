//! Responsible for the file of predictions: lines of CSV or of JSON, or Parquet.

use negmm::data::{KeptColumn, PredictedRows};
#[cfg(feature = "parquet")]
use negmm::data::{ParquetWriter, Written};
use negmm::{Answers, Cell, Error};

use crate::lines::Lines;
use crate::output::Output;

/// How predictions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// CSV.
    Csv,
    /// An object a line.
    Json,
    /// Parquet.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Form {
    /// The form of a file of that name; on standard output objects where `json` asks for them.
    pub fn of(place: &str, json: bool) -> Result<Self, Error> {
        let name = place.to_ascii_lowercase();
        if place == "-" && json || name.ends_with(".jsonl") || name.ends_with(".ndjson") {
            return Ok(Self::Json);
        }
        if !name.ends_with(".parquet") {
            return Ok(Self::Csv);
        }
        #[cfg(feature = "parquet")]
        return Ok(Self::Parquet);
        #[cfg(not(feature = "parquet"))]
        Err(Error::options(format!("this build writes no Parquet: say another name than {place}")))
    }
}

/// The predictions of some rows, ready to be written.
pub enum Predicted {
    /// So many lines.
    Lines(Vec<u8>, usize),
    /// Columns of answers, and the number of each row where rows are a sequence; kept cells from a row on come before them.
    #[cfg(feature = "parquet")]
    Columns { numbers: Option<Vec<i64>>, answers: Vec<Written<'static>>, rows: usize, first: usize },
}

impl Predicted {
    /// The answers of these rows after the cells that are kept; for the step after a sequence no cells are kept.
    pub fn new(answers: &Answers, kept: &[KeptColumn], rows: PredictedRows, numbered: bool, form: Form) -> Self {
        match form {
            Form::Csv | Form::Json => Self::lines(answers, kept, rows, numbered, form),
            #[cfg(feature = "parquet")]
            Form::Parquet => {
                let numbers = numbered.then(|| (0..answers.rows()).map(|row| rows.number(row) as i64).collect());
                Self::Columns { numbers, answers: columns(answers), rows: answers.rows(), first: rows.first() }
            }
        }
    }

    fn lines(answers: &Answers, kept: &[KeptColumn], rows: PredictedRows, numbered: bool, form: Form) -> Self {
        let names = kept.iter().map(KeptColumn::name).chain(answers.names().iter().map(String::as_str));
        let mut line = match form {
            Form::Json => Lines::json(numbered.then_some("row").into_iter().chain(names)),
            _ => Lines::csv(),
        };
        let mut kept: Vec<_> = kept.iter().map(|column| column.cells().skip(rows.first())).collect();
        for row in 0..answers.rows() {
            if numbered {
                line.whole(rows.number(row) as i64);
            }
            kept.iter_mut().for_each(|cells| line.text(&cells.next().unwrap_or_default()));
            answers.row(row).for_each(|cell| match cell {
                Cell::Number(number) => line.number(number),
                Cell::Whole(number) => line.whole(number),
                Cell::Text(text) => line.text(text),
            });
            line.end();
        }
        Self::Lines(line.into_bytes(), answers.rows())
    }

    /// How many there are.
    pub fn rows(&self) -> usize {
        match self {
            Self::Lines(_, rows) => *rows,
            #[cfg(feature = "parquet")]
            Self::Columns { rows, .. } => *rows,
        }
    }
}

/// Answers a column at a time.
#[cfg(feature = "parquet")]
fn columns(answers: &Answers) -> Vec<Written<'static>> {
    let mut columns: Vec<Written<'static>> = Vec::new();
    for row in 0..answers.rows() {
        for (at, cell) in answers.row(row).enumerate() {
            match (columns.get_mut(at), cell) {
                (Some(Written::Numbers(numbers)), Cell::Number(number)) => numbers.push(number),
                (Some(Written::Texts(texts)), Cell::Text(text)) => texts.push(text.to_string()),
                (Some(Written::Whole(numbers)), Cell::Whole(number)) => numbers.push(number),
                (_, Cell::Whole(number)) => columns.push(Written::Whole(vec![number])),
                (_, Cell::Number(number)) => columns.push(Written::Numbers(vec![number])),
                (_, Cell::Text(text)) => columns.push(Written::Texts(vec![text.to_string()])),
            }
        }
    }
    columns
}

/// A file of predictions that is being written; it appears whole or not at all.
pub enum PredictionFile {
    /// Lines, and the header of CSV until it is written.
    Lines(Output, Option<Vec<String>>),
    /// Parquet, and the names of its columns.
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetWriter<Output>>, Vec<String>),
}

impl PredictionFile {
    /// Opens `place` for columns of these names. The header is written with the first rows: data that is wrong from the start
    /// leaves nothing on standard output.
    pub fn create(place: &str, form: Form, names: Vec<String>) -> Result<Self, Error> {
        let output = Output::create(place)?;
        match form {
            #[cfg(feature = "parquet")]
            Form::Parquet => Ok(Self::Parquet(Box::new(ParquetWriter::new(output)), names)),
            Form::Csv => Ok(Self::Lines(output, Some(names))),
            Form::Json => Ok(Self::Lines(output, None)),
        }
    }

    /// Writes some rows.
    #[cfg_attr(not(feature = "parquet"), allow(unused_variables))]
    pub fn write(&mut self, predicted: Predicted, kept: &[KeptColumn]) -> Result<(), Error> {
        match (self, predicted) {
            (Self::Lines(output, header), Predicted::Lines(bytes, _)) => {
                if let Some(names) = header.take() {
                    output.write(&Lines::header(&names))?;
                }
                output.write(&bytes)
            }
            #[cfg(feature = "parquet")]
            (Self::Parquet(writer, names), Predicted::Columns { numbers, answers, rows, first }) => {
                let columns = numbers.map(Written::Whole).into_iter();
                let columns = columns.chain(kept.iter().map(|column| Written::Kept(column, first)));
                let columns = columns.chain(answers);
                writer.write(rows, names.iter().map(String::as_str).zip(columns).collect())
            }
            // Rows are made for the file's own form.
            #[cfg(feature = "parquet")]
            _ => Ok(()),
        }
    }

    /// The end: the file takes its place.
    pub fn finish(self) -> Result<(), Error> {
        match self {
            Self::Lines(output, _) => output.finish(),
            #[cfg(feature = "parquet")]
            Self::Parquet(writer, _) => writer.finish()?.map_or(Ok(()), Output::finish),
        }
    }
}
