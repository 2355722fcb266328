//! Files of anybody's predictions: their flags, readers and warnings.

use negmm::Error;
use negmm::prediction_table::{Form, FormHints, PredictionColumns, PredictionReader, Targets, VectorReader};

use crate::arguments::file::FileFlags;
use crate::arguments::predictions::FormFlags;
use crate::format::counted;
use crate::input;

/// Rows read at once: cells, divided by columns, so that memory does not grow with the number of columns.
const CELLS: usize = 2_000_000;
const MAX_ROWS: usize = 16_384;

/// The reader of a file of predictions, or of standard input for `-`.
pub fn reader(
    path: &str,
    mut columns: PredictionColumns,
    form: &FormFlags,
    file: &FileFlags,
) -> Result<PredictionReader, Error> {
    let dialect = file.dialect()?;
    columns.key = form.key.clone();
    let mut hints = hints(form);
    let targets = match (&form.truth, &form.key, columns.target.take()) {
        (Some(truth), Some(key), Some(target)) => {
            let targets = Targets::new(&input::table(truth, &dialect)?, &target, key)?;
            hints.other.push(target);
            Some(targets)
        }
        (_, _, target) => {
            columns.target = target;
            None
        }
    };
    if path == "-" {
        let stdin = std::io::stdin();
        return PredictionReader::from_reader(stdin, "standard input", columns, &hints, targets, &dialect);
    }
    PredictionReader::open(path, columns, &hints, targets, &dialect)
}

/// The reader of a file with predictions of several targets, or of standard input for `-`.
pub fn vector_reader(
    path: &str,
    targets: &[String],
    mut columns: PredictionColumns,
    form: &FormFlags,
    file: &FileFlags,
) -> Result<VectorReader, Error> {
    let dialect = file.dialect()?;
    columns.key = form.key.clone();
    let hints = hints(form);
    let truth = match (&form.truth, &form.key) {
        (Some(truth), Some(key)) => {
            let table = input::table(truth, &dialect)?;
            targets.iter().map(|target| Targets::new(&table, target, key)).collect::<Result<_, _>>()?
        }
        _ => Vec::new(),
    };
    if path == "-" {
        let stdin = std::io::stdin();
        return VectorReader::from_reader(stdin, "standard input", targets, columns, &hints, truth, &dialect);
    }
    VectorReader::open(path, targets, columns, &hints, truth, &dialect)
}

fn hints(form: &FormFlags) -> FormHints {
    FormHints { form: form.form, family: form.family.clone(), coverage: form.coverage, ..FormHints::default() }
}

/// Rows to read at once of predictions in these forms.
pub fn chunk_rows(forms: &[Form]) -> usize {
    let columns: usize = forms.iter().map(|form| form.columns().len()).sum();
    (CELLS / columns.max(1)).clamp(1, MAX_ROWS)
}

/// Sentences about rows that were left out or put right.
pub fn warnings(reader: &PredictionReader, target: &str) -> Vec<String> {
    let without = (reader.without_target() > 0).then(|| input::without_target(reader.without_target(), target));
    let of_keys = unpredicted(reader.without_prediction()).into_iter().chain(repeated(reader.repeated_keys()));
    without.into_iter().chain(of_keys).chain(crossing(reader.crossing())).collect()
}

/// The same of predictions of several targets.
pub fn vector_warnings(reader: &VectorReader) -> Vec<String> {
    let without = reader.without_target();
    let (lack, are) = if without == 1 { ("lacks", "is") } else { ("lack", "are") };
    let sentence = format!("{} {lack} a target and {are} left out", counted(without, "row"));
    let of_keys = unpredicted(reader.without_prediction()).into_iter().chain(repeated(reader.repeated_keys()));
    (without > 0).then_some(sentence).into_iter().chain(of_keys).chain(crossing(reader.crossing())).collect()
}

/// A sentence about outcomes of another file without predictions.
fn unpredicted(rows: usize) -> Option<String> {
    let (have, are) = if rows == 1 { ("has", "is") } else { ("have", "are") };
    let sentence =
        || format!("{} of the file of targets {have} no prediction and {are} not scored", counted(rows, "row"));
    (rows > 0).then(sentence)
}

/// A sentence about rows with the key of a row before them.
fn repeated(rows: usize) -> Option<String> {
    let (has, its) = if rows == 1 { ("has", "its target counts") } else { ("have", "their targets count") };
    let sentence = || format!("{} {has} the key of a row before: {its} again", counted(rows, "row"));
    (rows > 0).then(sentence)
}

/// A sentence about rows with crossing quantiles.
fn crossing(rows: usize) -> Option<String> {
    let have = if rows == 1 { "has" } else { "have" };
    let sentence = || format!("{} {have} crossing quantiles, which were sorted (rearranged)", counted(rows, "row"));
    (rows > 0).then(sentence)
}

/// Numbers with commas between them.
pub fn numbers(option: &str, text: &str) -> Result<Vec<f64>, Error> {
    let number = |part: &str| {
        let number: Option<f64> = part.trim().parse().ok().filter(|number: &f64| !number.is_nan());
        number.ok_or_else(|| Error::option(option, format!("must be numbers with commas between them, found {text:?}")))
    };
    text.split(',').map(number).collect()
}

/// The two thresholds of a threshold-weighted CRPS.
pub fn between(text: &str) -> Result<(f64, f64), Error> {
    match numbers("between", text)?[..] {
        [low, high] if low < high => Ok((low, high)),
        _ => Err(Error::option("between", "must be two numbers, the smaller first, such as 0,10")),
    }
}
