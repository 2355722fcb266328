//! Files of anybody's predictions: their flags, readers and warnings.

use negmm::Error;
use negmm::prediction_table::{Form, FormHints, PredictionColumns, PredictionReader, Targets};

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
    let mut hints =
        FormHints { form: form.form, family: form.family.clone(), coverage: form.coverage, ..FormHints::default() };
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

/// Rows to read at once.
pub fn chunk_rows(form: &Form) -> usize {
    (CELLS / form.columns().len().max(1)).clamp(1, MAX_ROWS)
}

/// Sentences about rows that were left out or put right.
pub fn warnings(reader: &PredictionReader, target: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    if reader.without_target() > 0 {
        sentences.push(input::without_target(reader.without_target(), target));
    }
    if reader.crossing() > 0 {
        let (have, were) = if reader.crossing() == 1 { ("has", "was") } else { ("have", "were") };
        sentences.push(format!(
            "{} {have} crossing quantiles, which {were} sorted (rearranged)",
            counted(reader.crossing(), "row")
        ));
    }
    sentences
}

/// Numbers with commas between them.
pub fn numbers(option: &str, text: &str) -> Result<Vec<f64>, Error> {
    let number = |part: &str| {
        let number: Option<f64> = part.trim().parse().ok().filter(|number: &f64| !number.is_nan());
        number.ok_or_else(|| Error::option(option, format!("must be numbers with commas between them, found {text:?}")))
    };
    text.split(',').map(number).collect()
}
