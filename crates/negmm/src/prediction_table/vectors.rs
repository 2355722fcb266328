//! Predictions of several targets in one table: the name of the target stands before each column, as in `price_draw_1`.

use std::collections::HashMap;
use std::io::{Cursor, Read};
use std::path::Path;

use negmm_data::{ColumnType, Dialect, RowStream, Schema, Table};
use negmm_dist::{Error, Predictions, Result};

use super::distributions::matrix;
use super::form::{FamilyName, Form, FormHints};
use super::reader::{PredictionColumns, unique, weights};
use super::targets::{Targets, texts};

impl Form {
    /// The forms of a table with predictions of several targets, one for each. Draws are joint: draw 1 of one target goes with
    /// draw 1 of the others.
    ///
    /// # Errors
    /// As [`Form::infer`], or when targets have different draws.
    pub fn infer_several(header: &[String], targets: &[String], hints: &FormHints) -> Result<Vec<Self>> {
        let owner = |name: &str| {
            // `a_b_q0.5` belongs to the target `a_b`, not to `a`.
            let of = |target: &&String| name.strip_prefix(target.as_str()).is_some_and(|rest| rest.starts_with('_'));
            targets.iter().filter(of).max_by_key(|target| target.len())
        };
        let other = |name: &String| targets.contains(name) || hints.other.contains(name);
        let mut forms = Vec::with_capacity(targets.len());
        for target in targets {
            let prefix = format!("{target}_");
            let own = header.iter().filter(|name| !other(name) && owner(name) == Some(target));
            let own: Vec<String> = own.map(|name| name[prefix.len()..].to_string()).collect();
            if own.is_empty() {
                return Err(Error::data(format!(
                    "there are no predictions of {target:?}: of several targets, each column has the name of its target before \
                     it, such as {prefix}draw_1 or {prefix}q0.5"
                )));
            }
            let hints = FormHints { other: Vec::new(), ..hints.clone() };
            let form = Self::infer(&own, &hints).map_err(|error| error.at(format!("target {target:?}")))?;
            forms.push(form.with_prefix(&prefix));
        }
        same_draws(&mut forms, targets)?;
        Ok(forms)
    }

    /// The same form of columns whose names begin with `prefix`.
    fn with_prefix(self, prefix: &str) -> Self {
        let long = |name: String| format!("{prefix}{name}");
        match self {
            Self::Quantiles(columns) => Self::Quantiles(columns.into_iter().map(|(u, name)| (u, long(name))).collect()),
            Self::Intervals(columns) => Self::Intervals(columns.into_iter().map(|(u, name)| (u, long(name))).collect()),
            Self::Samples(columns) => Self::Samples(columns.into_iter().map(long).collect()),
            Self::Normal { mean, sd } => Self::Normal { mean: long(mean), sd: long(sd) },
            Self::Mixture(components) => Self::Mixture(components.into_iter().map(|names| names.map(long)).collect()),
            Self::Histogram(bins) => {
                Self::Histogram(bins.into_iter().map(|(low, high, name)| (low, high, long(name))).collect())
            }
            Self::Family { family, parameters } => Self::Family {
                family: match family {
                    FamilyName::Column(column) => FamilyName::Column(long(column)),
                    FamilyName::Given(name) => FamilyName::Given(name),
                },
                parameters: parameters.into_iter().map(|(name, column)| (name, long(column))).collect(),
            },
        }
    }
}

/// Puts the draws of all targets into the order of the first, by their numbers.
fn same_draws(forms: &mut [Form], targets: &[String]) -> Result<()> {
    if !forms.iter().all(|form| matches!(form, Form::Samples(_))) {
        return Ok(());
    }
    let number = |column: &str| column.rsplit(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse::<u64>().ok());
    let mut first: Vec<Option<u64>> = Vec::new();
    for (form, target) in forms.iter_mut().zip(targets) {
        let Form::Samples(columns) = form else { continue };
        let numbers: Vec<Option<u64>> = columns.iter().map(|column| number(column)).collect();
        if first.is_empty() {
            first = numbers;
            continue;
        }
        let at: HashMap<Option<u64>, usize> = numbers.iter().copied().zip(0..).collect();
        let order: Option<Vec<usize>> = first.iter().map(|number| at.get(number).copied()).collect();
        match order {
            Some(order) if order.len() == columns.len() => {
                *columns = order.into_iter().map(|at| columns[at].clone()).collect();
            }
            _ => {
                return Err(Error::data(format!(
                    "the draws of {:?} and {target:?} differ: draws of several targets are joint, so each needs the same numbers; \
                     {:?} has {}, {target:?} {}",
                    targets[0],
                    targets[0],
                    first.len(),
                    columns.len()
                )));
            }
        }
    }
    Ok(())
}

/// Some rows: the predictions of each target, and what belongs to them.
#[derive(Clone, Debug)]
pub struct VectorChunk {
    /// The predicted distributions of each target.
    pub predictions: Vec<Predictions>,
    /// Draws of vectors, rows × draws × targets, where all targets have draws.
    pub draws: Option<Vec<f64>>,
    /// Observed vectors, rows × targets.
    pub y: Vec<f64>,
    /// Sample weights.
    pub weights: Option<Vec<f64>>,
    /// Groups; empty where there is no such column.
    pub groups: Vec<String>,
    /// The number of each row in the file, from 1.
    pub rows: Vec<usize>,
}

/// A file of predictions of several targets that is read piece by piece.
pub struct VectorReader {
    stream: RowStream,
    forms: Vec<Form>,
    targets: Vec<String>,
    columns: PredictionColumns,
    truth: Vec<Targets>,
    without_target: usize,
    crossing: usize,
}

impl VectorReader {
    /// Opens a file with predictions of these targets: CSV, plain or gzip, or Parquet. `truth` has their observed values, by key,
    /// where they are in another file; else it is empty. Of `columns` only weight, group and key count.
    ///
    /// # Errors
    /// When it cannot be read, a column is missing, or a form cannot be inferred.
    pub fn open(
        path: impl AsRef<Path>,
        targets: &[String],
        columns: PredictionColumns,
        hints: &FormHints,
        truth: Vec<Targets>,
        dialect: &Dialect,
    ) -> Result<Self> {
        let path = path.as_ref();
        let header = RowStream::open(path, &Schema::default().in_dialect(dialect)?)?.header().to_vec();
        let name = path.display().to_string();
        let planned = plan(&header, targets, &columns, hints, truth.is_empty());
        let (forms, schema) = planned.map_err(|error| error.in_file(&name))?;
        let stream = RowStream::open(path, &schema.in_dialect(dialect)?)?;
        Ok(Self { stream, forms, targets: targets.to_vec(), columns, truth, without_target: 0, crossing: 0 })
    }

    /// The same from a reader, whose bytes are held in memory; messages call it `name`.
    ///
    /// # Errors
    /// As [`VectorReader::open`].
    pub fn from_reader(
        mut reader: impl Read,
        name: &str,
        targets: &[String],
        columns: PredictionColumns,
        hints: &FormHints,
        truth: Vec<Targets>,
        dialect: &Dialect,
    ) -> Result<Self> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(|error| Error::unread(error).in_file(name))?;
        let first = RowStream::from_reader(Cursor::new(bytes.clone()), name, &Schema::default().in_dialect(dialect)?)?;
        let planned = plan(first.header(), targets, &columns, hints, truth.is_empty());
        let (forms, schema) = planned.map_err(|error| error.in_file(name))?;
        let stream = RowStream::from_reader(Cursor::new(bytes), name, &schema.in_dialect(dialect)?)?;
        Ok(Self { stream, forms, targets: targets.to_vec(), columns, truth, without_target: 0, crossing: 0 })
    }

    /// The form of each target.
    pub fn forms(&self) -> &[Form] {
        &self.forms
    }

    /// Rows so far that lacked a target and were left out.
    pub fn without_target(&self) -> usize {
        self.without_target
    }

    /// Observed vectors of another file for which there was no prediction so far.
    pub fn without_prediction(&self) -> usize {
        self.truth.iter().map(Targets::not_found).max().unwrap_or(0)
    }

    /// Rows so far with a key of another row before, whose targets count again.
    pub fn repeated_keys(&self) -> usize {
        self.truth.iter().map(Targets::repeated).max().unwrap_or(0)
    }

    /// Rows so far, of each target, whose quantiles crossed and were rearranged.
    pub fn crossing(&self) -> usize {
        self.crossing
    }

    /// The next rows with all targets, at most `max_rows`; none at the end of the file.
    ///
    /// # Errors
    /// When a cell is missing or does not fit: the message names its row and column.
    pub fn next_chunk(&mut self, max_rows: usize) -> Result<Option<VectorChunk>> {
        while let Some(chunk) = self.stream.next_chunk(max_rows)? {
            let mut table = chunk.table;
            let known = self.known(&table)?;
            let rows: Vec<usize> = (0..table.rows()).filter(|row| known[*row].is_some()).collect();
            self.without_target += table.rows() - rows.len();
            if rows.is_empty() {
                continue;
            }
            if rows.len() < table.rows() {
                table = table.select_rows(&rows);
            }
            return self.chunk(&table, known.into_iter().flatten().flatten().collect()).map(Some);
        }
        Ok(None)
    }

    /// The observed vector of each row that has all targets.
    fn known(&mut self, table: &Table) -> Result<Vec<Option<Vec<f64>>>> {
        if !self.truth.is_empty() {
            let key = self.columns.key.as_deref().unwrap_or_default();
            let keys = texts(table, key, "key")?;
            return Ok(keys
                .iter()
                .map(|key| self.truth.iter_mut().map(|targets| targets.find(key)).collect())
                .collect());
        }
        let mut rows = vec![Some(Vec::with_capacity(self.targets.len())); table.rows()];
        for target in &self.targets {
            let numbers =
                table.numbers(target).ok_or_else(|| table.locate(Error::options(table.absent(&[target]))))??;
            for (row, y) in rows.iter_mut().zip(numbers.iter()) {
                *row = row.take().filter(|_| !y.is_nan()).map(|mut own| {
                    own.push(*y);
                    own
                });
            }
        }
        Ok(rows)
    }

    fn chunk(&mut self, table: &Table, y: Vec<f64>) -> Result<VectorChunk> {
        let size = self.targets.len();
        if let Some(at) = y.iter().position(|y| !y.is_finite()) {
            let error = Error::data(format!("expected a finite target, found {}", y[at]));
            return Err(table.at_cell(error, at / size, &self.targets[at % size]));
        }
        let predictions: Vec<Predictions> =
            self.forms.iter().map(|form| form.predictions(table)).collect::<Result<_>>()?;
        self.crossing +=
            predictions.iter().filter_map(|own| own.quantile_sets()).map(|own| own.crossing()).sum::<usize>();
        let groups = self.columns.group.as_deref().map_or(Ok(Vec::new()), |name| texts(table, name, "group"))?;
        let weights = self.columns.weight.as_deref().map(|name| weights(table, name)).transpose()?;
        let rows = (0..table.rows()).map(|row| table.row_number(row)).collect();
        Ok(VectorChunk { predictions, draws: self.draws(table)?, y, weights, groups, rows })
    }

    /// The draws of all targets, rows × draws × targets.
    fn draws(&self, table: &Table) -> Result<Option<Vec<f64>>> {
        let names = |form: &Form| match form {
            Form::Samples(columns) => Some(columns.clone()),
            _ => None,
        };
        let Some(columns) = self.forms.iter().map(names).collect::<Option<Vec<_>>>() else { return Ok(None) };
        let draw = |at: usize| columns.iter().map(move |of_target| of_target[at].as_str());
        let in_order: Vec<&str> = (0..columns[0].len()).flat_map(draw).collect();
        matrix(table, &in_order).map(Some)
    }
}

/// The forms of a file with this header, and the schema of the columns that are read.
fn plan(
    header: &[String],
    targets: &[String],
    columns: &PredictionColumns,
    hints: &FormHints,
    read_targets: bool,
) -> Result<(Vec<Form>, Schema)> {
    let mut hints = hints.clone();
    hints.other.extend(columns.names().cloned());
    let forms = Form::infer_several(header, targets, &hints)?;
    let mut wanted: Vec<(String, ColumnType)> = forms.iter().flat_map(Form::columns).collect();
    let number = |name: &String| (name.clone(), ColumnType::number());
    wanted.extend(targets.iter().filter(|_| read_targets).chain(&columns.weight).map(number));
    let text = |name: &String| (name.clone(), ColumnType::text());
    wanted.extend(columns.group.iter().chain(&columns.key).map(text));
    Ok((forms, Schema { columns: unique(wanted), ..Schema::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn infer(names: &str, targets: &[&str]) -> Result<Vec<String>> {
        let header: Vec<String> = names.split(' ').map(str::to_string).collect();
        let targets: Vec<String> = targets.iter().map(|name| name.to_string()).collect();
        let forms = Form::infer_several(&header, &targets, &FormHints::default())?;
        Ok(forms.iter().map(Form::to_string).collect())
    }

    #[test]
    fn the_name_of_the_target_stands_before_each_column() {
        let found = infer("a b a_b a_draw_1 a_b_q0.1 a_draw_2 a_b_q0.9", &["a", "a_b"]).unwrap();
        assert_eq!(found, ["2 samples, a_draw_1 to a_draw_2", "2 quantiles, a_b_q0.1 to a_b_q0.9"]);
        let found = infer("a_draw_1 b_draw_2 b_draw_1 a_draw_2", &["a", "b"]).unwrap();
        assert_eq!(found[1], "2 samples, b_draw_1 to b_draw_2");
        let found = infer("a_family a_loc a_scale b_mean b_sd", &["a", "b"]).unwrap();
        assert_eq!(found[0], "families of column \"a_family\", a_loc, a_scale");
    }

    #[test]
    fn draws_must_go_together() {
        let error = infer("a_draw_1 a_draw_2 b_draw_1", &["a", "b"]).unwrap_err().to_string();
        assert!(
            error.contains("the draws of \"a\" and \"b\" differ") && error.ends_with("\"a\" has 2, \"b\" 1"),
            "{error}"
        );
        let error = infer("a_draw_1 b", &["a", "b"]).unwrap_err().to_string();
        assert!(error.starts_with("there are no predictions of \"b\""), "{error}");
        let error = infer("a_draw_1 b_x", &["a", "b"]).unwrap_err().to_string();
        assert!(error.starts_with("target \"b\": expected columns of predictions"), "{error}");
    }
}
