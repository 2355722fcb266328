//! Models and data from files or standard input.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use negmm::data::{ColumnRoles, Dialect, KeptColumn, KeptType, RowStream, Schema};
use negmm::forecast::BacktestOrigins;
use negmm::recalibration::Recalibration;
use negmm::{Error, Loaded, Table};

use crate::arguments::predict::OriginFlags;
use crate::format;

/// Standard input in messages.
const STANDARD_INPUT: &str = "standard input";

/// An error where a flag was given that only forecasters have: its name.
pub fn no_forecast(given: Option<&str>) -> Result<(), Error> {
    match given {
        Some(name) => Err(Error::options(format!("--{name} is for forecasters, and this model is not one"))),
        None => Ok(()),
    }
}

/// Forecast origins.
pub fn origins(flags: &OriginFlags) -> BacktestOrigins {
    BacktestOrigins::default().test_size(flags.test_size).stride(flags.stride)
}

/// The model in a file, or on standard input for `-`, unless the data are there.
pub fn model(path: &Path, data: Option<&str>) -> Result<Loaded, Error> {
    if path != Path::new("-") {
        return Loaded::load(path).map_err(|error| match data {
            _ if is_recalibration(path) => no_model(path),
            Some(second) if Loaded::load(second).is_ok() => {
                Error::options(format!("{second} is a model: the model comes first, then the data"))
            }
            _ => error,
        });
    }
    if data == Some("-") {
        return Err(Error::options("the model and the data cannot both come from standard input"));
    }
    Loaded::read_from(std::io::stdin()).map_err(|error| error.in_file(STANDARD_INPUT))
}

fn is_recalibration(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut beginning));
    read.is_ok() && Recalibration::is_beginning(&beginning)
}

fn no_model(path: &Path) -> Error {
    let message = "this is a recalibration of predictions, not a model: use it with `negmm recalibrate`";
    Error::model(message).in_file(path)
}

/// A whole table from a file, or from standard input for `-`.
pub fn table(data: &str, dialect: &Dialect) -> Result<Table, Error> {
    if data == "-" {
        Table::read_from_with(std::io::stdin(), STANDARD_INPUT, dialect)
    } else {
        Table::read_with(data, dialect)
    }
}

/// The rows to learn from: all, or those that are drawn, with a sentence that says so.
pub fn training_table(
    data: &str,
    dialect: &Dialect,
    sample: Option<usize>,
    seed: u64,
) -> Result<(Table, Vec<String>), Error> {
    let Some(rows) = sample else { return Ok((table(data, dialect)?, Vec::new())) };
    let (table, all) = if data == "-" {
        let table = table(data, dialect)?;
        (table.sample(rows, seed), table.rows())
    } else {
        Table::read_sample(&[data], dialect, rows, seed)?
    };
    let (drawn, of) = (format::counted(table.rows(), "row"), format::count(all));
    let sentence = format!("{drawn} of {of} are drawn at random (--sample)");
    let sentences = if table.rows() < all { vec![sentence] } else { Vec::new() };
    Ok((table, sentences))
}

/// The rows that have a target, and a sentence that counts the others, if there are any. A sequence keeps all its rows: without one
/// of them the others would not be consecutive.
pub fn with_target(table: Table, target: &str, inputs: &ColumnRoles) -> Result<(Table, Vec<String>), Error> {
    let rows = table.rows_with(target)?;
    if inputs.sequence.is_some() || rows.is_empty() || rows.len() == table.rows() {
        return Ok((table, Vec::new()));
    }
    let sentence = without_target(table.rows() - rows.len(), target);
    Ok((table.select_rows(&rows), vec![sentence]))
}

/// A sentence about rows without a target.
pub fn without_target(rows: usize, target: &str) -> String {
    let (have, are) = if rows == 1 { ("has", "is") } else { ("have", "are") };
    format!("{} {have} no target {target:?} and {are} left out", format::counted(rows, "row"))
}

/// A stream of rows from a file, or from standard input for `-`.
pub fn stream(data: &str, schema: &Schema) -> Result<RowStream, Error> {
    if data == "-" {
        RowStream::from_reader(std::io::stdin(), STANDARD_INPUT, schema)
    } else {
        RowStream::open(data, schema)
    }
}

/// Rows that are looked at together.
const AT_ONCE: usize = 1 << 16;

/// The types of columns that are copied from CSV files to a format that has types, by all their cells. Standard input and pipes are read
/// once: their cells are text.
pub fn kept_types(data: &str, keep: &[String], dialect: &Dialect) -> Result<Vec<KeptType>, Error> {
    let path = Path::new(data);
    let is_read_once = data == "-" || (path.exists() && !path.is_file() && !path.is_dir());
    if is_read_once || keep.is_empty() {
        return Ok(Vec::new());
    }
    let schema = Schema { keep: keep.to_vec(), ..Schema::default() }.in_dialect(dialect)?;
    let mut stream = stream(data, &schema)?.allow_no_rows();
    let mut types: Vec<Option<KeptType>> = vec![None; keep.len()];
    if matches!(stream, RowStream::Csv(_) | RowStream::Files(_)) {
        // Parquet files have types of their own.
        while let Some(chunk) = stream.next_chunk(AT_ONCE)? {
            types = chunk.kept.iter().zip(types).map(|(column, before)| column.type_of_cells(before)).collect();
            if types.iter().all(|found| *found == Some(KeptType::Text)) {
                break;
            }
        }
    }
    Ok(types.into_iter().map(Option::unwrap_or_default).collect())
}

/// Gives the first columns these types.
pub fn set_types(kept: &mut [KeptColumn], types: &[KeptType]) {
    for (column, kept_as) in kept.iter_mut().zip(types) {
        column.keep_as(*kept_as);
    }
}
