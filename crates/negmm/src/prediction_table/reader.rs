//! Predictions and their targets, read from a file in chunks.

use std::io::{Cursor, Read};
use std::path::Path;

use negmm_data::{ColumnType, Dialect, KeptColumn, RowStream, Schema, Table};
use negmm_dist::{Error, Predictions, Result};
use negmm_nn::dataset::hash_of;

use super::distributions::numbers;
use super::form::{Form, FormHints};
use super::targets::{Targets, texts};

/// The columns of a file of predictions besides the predictions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PredictionColumns {
    /// The target, where it is in this file.
    pub target: Option<String>,
    /// Sample weights.
    pub weight: Option<String>,
    /// Groups.
    pub group: Option<String>,
    /// Keys of the rows, to find targets or predictions of another file by.
    pub key: Option<String>,
    /// Times, as text or numbers that sort in order.
    pub time: Option<String>,
    /// Pass-through columns; only where no target is read.
    pub keep: Vec<String>,
}

impl PredictionColumns {
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        [&self.target, &self.weight, &self.group, &self.key, &self.time].into_iter().flatten()
    }
}

/// Some rows: their predictions and what belongs to them. A list is empty where there is no such column.
#[derive(Clone, Debug)]
pub struct PredictionChunk {
    /// The predicted distributions.
    pub predictions: Predictions,
    /// Observed targets; empty where none are read.
    pub y: Vec<f64>,
    /// Sample weights.
    pub weights: Option<Vec<f64>>,
    /// Groups.
    pub groups: Vec<String>,
    /// Keys.
    pub keys: Vec<String>,
    /// Times.
    pub times: Vec<String>,
    /// The number of each row in the file, from 1.
    pub rows: Vec<usize>,
    /// Pass-through columns.
    pub kept: Vec<KeptColumn>,
}

/// Levels by whose quantiles predictions are told apart.
const LEVELS: [f64; 3] = [0.1, 0.5, 0.9];

impl PredictionChunk {
    /// A hash of each row: of its target, and of the mean and some quantiles of its prediction.
    ///
    /// # Errors
    /// When there are no targets.
    pub fn row_hashes(&self) -> Result<Vec<u64>> {
        let Self { predictions, y, .. } = self;
        if y.len() != predictions.len() {
            return Err(Error::options(format!("expected {} targets, found {}", predictions.len(), y.len())));
        }
        let quantiles = LEVELS.iter().map(|level| predictions.quantile(*level)).collect::<Result<Vec<_>>>()?;
        let mean = predictions.mean();
        let numbers = |row: usize| [y[row], mean[row]].into_iter().chain(quantiles.iter().map(move |list| list[row]));
        Ok((0..y.len()).map(|row| hash_of(numbers(row).map(f64::to_bits))).collect())
    }
}

/// A file of predictions that is read piece by piece.
pub struct PredictionReader {
    stream: RowStream,
    form: Form,
    columns: PredictionColumns,
    targets: Option<Targets>,
    without_target: usize,
    crossing: usize,
}

impl PredictionReader {
    /// Opens a file: CSV, plain or gzip, or Parquet. `targets` are those of another file, by key.
    ///
    /// # Errors
    /// When it cannot be read, a column is missing, or its form cannot be inferred.
    pub fn open(
        path: impl AsRef<Path>,
        columns: PredictionColumns,
        hints: &FormHints,
        targets: Option<Targets>,
        dialect: &Dialect,
    ) -> Result<Self> {
        let path = path.as_ref();
        let header = RowStream::open(path, &Schema::default().in_dialect(dialect)?)?.header().to_vec();
        let name = path.display().to_string();
        let (form, schema) = plan(&header, &columns, hints, dialect).map_err(|error| error.in_file(&name))?;
        let stream = RowStream::open(path, &schema)?;
        Ok(Self { stream, form, columns, targets, without_target: 0, crossing: 0 })
    }

    /// The same from a reader, whose bytes are held in memory; messages call it `name`.
    ///
    /// # Errors
    /// As [`PredictionReader::open`].
    pub fn from_reader(
        mut reader: impl Read,
        name: &str,
        columns: PredictionColumns,
        hints: &FormHints,
        targets: Option<Targets>,
        dialect: &Dialect,
    ) -> Result<Self> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(|error| Error::unread(error).in_file(name))?;
        let first = RowStream::from_reader(Cursor::new(bytes.clone()), name, &Schema::default().in_dialect(dialect)?)?;
        let (form, schema) = plan(first.header(), &columns, hints, dialect).map_err(|error| error.in_file(name))?;
        let stream = RowStream::from_reader(Cursor::new(bytes), name, &schema)?;
        Ok(Self { stream, form, columns, targets, without_target: 0, crossing: 0 })
    }

    /// The form of the predictions.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// Rows so far that had no target and were left out.
    pub fn without_target(&self) -> usize {
        self.without_target
    }

    /// Targets of another file for which there was no prediction so far.
    pub fn without_prediction(&self) -> usize {
        self.targets.as_ref().map_or(0, Targets::not_found)
    }

    /// Rows so far with a key of another row before, whose target counts again.
    pub fn repeated_keys(&self) -> usize {
        self.targets.as_ref().map_or(0, Targets::repeated)
    }

    /// Rows so far whose quantiles crossed and were rearranged.
    pub fn crossing(&self) -> usize {
        self.crossing
    }

    /// The next rows with a target, at most `max_rows`; none at the end of the file.
    ///
    /// # Errors
    /// When a cell is missing or does not fit: the message names its row and column.
    pub fn next_chunk(&mut self, max_rows: usize) -> Result<Option<PredictionChunk>> {
        while let Some(chunk) = self.stream.next_chunk(max_rows)? {
            let mut table = chunk.table;
            let mut y = Vec::new();
            if let Some(targets) = &mut self.targets {
                let name = self.columns.key.as_deref().unwrap_or_default();
                let found: Vec<Option<f64>> = texts(&table, name, "key")?.iter().map(|key| targets.find(key)).collect();
                table = self.with_targets(table, &found);
                y = found.into_iter().flatten().collect();
            } else if let Some(target) = &self.columns.target {
                let target = target.clone();
                let all =
                    table.numbers(&target).ok_or_else(|| table.locate(Error::options(table.absent(&[&target]))))??;
                let found: Vec<Option<f64>> = all.iter().map(|y| (!y.is_nan()).then_some(*y)).collect();
                table = self.with_targets(table, &found);
                y = found.into_iter().flatten().collect();
            }
            if table.rows() > 0 {
                return self.chunk(&table, y, chunk.kept).map(Some);
            }
        }
        Ok(None)
    }

    /// The rows that have a target; the others are counted.
    fn with_targets(&mut self, table: Table, found: &[Option<f64>]) -> Table {
        let rows: Vec<usize> = (0..found.len()).filter(|row| found[*row].is_some()).collect();
        self.without_target += found.len() - rows.len();
        if rows.len() == found.len() { table } else { table.select_rows(&rows) }
    }

    fn chunk(&mut self, table: &Table, y: Vec<f64>, kept: Vec<KeptColumn>) -> Result<PredictionChunk> {
        let predictions = self.form.predictions(table)?;
        self.crossing += predictions.quantile_sets().map_or(0, |sets| sets.crossing());
        let text =
            |name: &Option<String>, kind: &str| name.as_deref().map_or(Ok(Vec::new()), |name| texts(table, name, kind));
        let weights = match self.columns.weight.as_deref() {
            Some(name) => Some(weights(table, name)?),
            None => None,
        };
        Ok(PredictionChunk {
            predictions,
            y,
            weights,
            groups: text(&self.columns.group, "group")?,
            keys: text(&self.columns.key, "key")?,
            times: text(&self.columns.time, "time")?,
            rows: (0..table.rows()).map(|row| table.row_number(row)).collect(),
            kept,
        })
    }
}

/// Weights of a chunk: finite and not negative. That not all are 0 is known at the end only.
pub(super) fn weights(table: &Table, name: &str) -> Result<Vec<f64>> {
    let weights = numbers(table, name)?;
    match weights.iter().position(|weight| *weight < 0.0) {
        Some(row) => {
            let message = format!("expected a weight, at least 0, found {}", weights[row]);
            Err(table.at_cell(Error::data(message), row, name))
        }
        None => Ok(weights.into_owned()),
    }
}

/// The form of a file with this header, and the schema of the columns that are read.
fn plan(
    header: &[String],
    columns: &PredictionColumns,
    hints: &FormHints,
    dialect: &Dialect,
) -> Result<(Form, Schema)> {
    let mut hints = hints.clone();
    hints.other.extend(columns.names().cloned());
    // Of a table with predictions of several targets those of this one.
    let form = Form::infer(header, &hints).or_else(|error| match &columns.target {
        Some(target) if header.iter().any(|name| name.starts_with(&format!("{target}_"))) => {
            Form::infer_several(header, std::slice::from_ref(target), &hints).map(|mut forms| forms.remove(0))
        }
        _ => Err(error),
    })?;
    let mut wanted = form.columns();
    let number = |name: &String| (name.clone(), ColumnType::number());
    wanted.extend(columns.target.iter().chain(&columns.weight).map(number));
    wanted.extend(
        [&columns.group, &columns.key, &columns.time]
            .into_iter()
            .flatten()
            .map(|name| (name.clone(), ColumnType::text())),
    );
    Ok((form, Schema { columns: unique(wanted), keep: columns.keep.clone(), ..Schema::default() }.in_dialect(dialect)?))
}

/// The columns, each once: the first type counts.
pub(super) fn unique(mut columns: Vec<(String, ColumnType)>) -> Vec<(String, ColumnType)> {
    let mut seen = std::collections::HashSet::new();
    columns.retain(|(name, _)| seen.insert(name.clone()));
    columns
}
