//! Encoding of tables by a fitted encoder: each input column is parsed once.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Encoding, Features, Input, ParsedColumn};
use crate::infer::time_columns::seconds;
use crate::target::{self, censoring::censored_targets};
use crate::windows::windows;
use crate::{Column, ColumnType, Encoder, Kind, Table, Warnings};
use negmm_dist::{CensoredTargets, Error, Novelty, Result};
use negmm_nn::dataset::{CategoricalColumn, Dataset, STATISTICS};

/// The cells of a table that an encoder uses.
pub(crate) struct ParsedTable<'a> {
    rows: usize,
    /// The inputs that have features, in their order.
    pub(super) inputs: Vec<ParsedColumn<'a>>,
    /// The differences of times.
    differences: Vec<ParsedColumn<'static>>,
}

impl<'a> ParsedTable<'a> {
    /// From the cells of the inputs that have features.
    pub fn new(encoder: &Encoder, rows: usize, inputs: Vec<ParsedColumn<'a>>) -> Self {
        let column = |name: &str| {
            let position = encoder.used().position(|input| input.name == name)?;
            inputs.get(position).map(ParsedColumn::numbers)
        };
        let differences = encoder.differences.iter().map(|difference| difference.parse(column)).collect();
        Self { rows, inputs, differences }
    }
}

/// The cells of the column called `name`, parsed as `kind` after conversion to `column_type`, and how many did not fit.
pub(crate) fn parse<'a>(
    table: &'a Table,
    name: &str,
    column_type: &ColumnType,
    kind: Kind,
) -> Result<(ParsedColumn<'a>, u64)> {
    let absent = || table.locate(Error::data(table.absent(&[name])));
    let (column, odd) = table.column_read_as(name, column_type).ok_or_else(absent)??;
    let column = ParsedColumn::new(column, kind).map_err(|(row, error)| table.at_cell(error, row, name))?;
    Ok((column, odd))
}

impl Encoder {
    /// Encodes inputs and, where the table has it, the target (0 where it has not). Of a sequence these are the windows of
    /// all rows but the first, see [`Encoder::predicted_rows`].
    pub fn encode(&self, table: &Table) -> Result<(Dataset, Warnings)> {
        self.check_length(table, 1)?;
        let (parsed, mut warnings) = self.parse(table)?;
        let y = match table.column(&self.target.name) {
            Some(_) => self.target.encode(&target::values(table, &self.target.name)?),
            None => vec![0.0; table.rows()],
        };
        Ok((self.dataset(&parsed, y, false, &mut warnings), warnings))
    }

    /// Encodes the inputs alone; all targets are 0, even where the table has them. Of a sequence these are the windows of all
    /// rows but the first, and one more: that of the step after the last row.
    pub fn encode_features(&self, table: &Table) -> Result<(Dataset, Warnings)> {
        self.check_length(table, 0)?;
        let (parsed, mut warnings) = self.parse(table)?;
        Ok((self.dataset(&parsed, vec![0.0; table.rows()], true, &mut warnings), warnings))
    }

    /// The targets of the rows that [`Encoder::encode`] gives, in the original unit; a missing one is an error, and so is one
    /// too large to compute with.
    pub fn targets<'a>(&self, table: &'a Table) -> Result<Cow<'a, [f64]>> {
        self.check_length(table, 1)?;
        let targets = target::values(table, &self.target.name)?;
        target::check_range(table, &self.target.name, &targets)?;
        Ok(self.of_encoded(targets))
    }

    /// The censoring intervals of `targets`, which are those of [`Encoder::targets`]; `None` where the model was fitted
    /// without censored targets.
    ///
    /// # Errors
    /// When a column of the target specification is absent, or a cell of it is invalid.
    pub fn censored_targets(&self, table: &Table, targets: &[f64]) -> Result<Option<CensoredTargets>> {
        // A sequence is never censored: its targets are those of all rows.
        censored_targets(table, &self.target, targets)
    }

    /// The weights of the rows that [`Encoder::encode`] gives, from the column of that name; `None`: all equal.
    pub fn sample_weights<'a>(&self, table: &'a Table, column: Option<&str>) -> Result<Option<Cow<'a, [f64]>>> {
        let weights = column.map(|name| table.sample_weights(name)).transpose()?;
        Ok(weights.map(|weights| self.of_encoded(weights)))
    }

    /// The table with its inputs that are times as times, in whatever format they are written; the others as they are.
    ///
    /// # Errors
    /// When a cell is no time in the format of the training table.
    pub fn with_times(&self, table: Table) -> Result<Table> {
        let mut times = HashMap::new();
        for Input { name, encoding, .. } in &self.inputs {
            let (Encoding::Time(encoding), Some(column)) = (encoding, table.column(name)) else { continue };
            let seconds = seconds(column, encoding.format).map_err(|(row, error)| table.at_cell(error, row, name))?;
            times.insert(name.as_str(), Column::Times(seconds.into_owned()));
        }
        Ok(times.into_iter().fold(table, |table, (name, column)| table.with_column(name, column)))
    }

    /// Of one number for each row of a table, those of the rows that [`Encoder::encode`] gives.
    fn of_encoded<'a>(&self, numbers: Cow<'a, [f64]>) -> Cow<'a, [f64]> {
        let rows = self.predicted_rows(numbers.len());
        match numbers {
            Cow::Borrowed(numbers) => rows.of(numbers).into(),
            Cow::Owned(numbers) => rows.of(&numbers).to_vec().into(),
        }
    }

    /// An error unless the table has `more` rows after its first window.
    pub(super) fn check_length(&self, table: &Table, more: usize) -> Result<()> {
        let Some(sequence) = &self.sequence else { return Ok(()) };
        sequence.check_size(self.channels(), table.rows())?;
        if table.rows() < sequence.window + more {
            return Err(table.locate(Error::data(format!(
                "a window of {} steps needs at least {} rows here, found {}",
                sequence.window,
                sequence.window + more,
                table.rows()
            ))));
        }
        Ok(())
    }

    /// Parses the inputs that have features, and counts the cells that did not fit.
    pub(crate) fn parse<'a>(&self, table: &'a Table) -> Result<(ParsedTable<'a>, Warnings)> {
        let absent: Vec<&str> =
            self.used().map(|input| input.name.as_str()).filter(|name| table.column(name).is_none()).collect();
        if !absent.is_empty() {
            return Err(table.locate(Error::data(table.absent(&absent))));
        }
        let (mut inputs, mut warnings) = (Vec::new(), Warnings::default());
        for input in self.used() {
            let (column, odd) = parse(table, &input.name, &input.column_type(), input.encoding.of_kind().kind())?;
            warnings.count_odd(&input.name, odd);
            inputs.push(column);
        }
        Ok((ParsedTable::new(self, table.rows(), inputs), warnings))
    }

    /// The encoded rows, or their windows; counts the cells that were not seen in training.
    pub(crate) fn dataset(
        &self,
        table: &ParsedTable<'_>,
        y: Vec<f32>,
        forecast: bool,
        warnings: &mut Warnings,
    ) -> Dataset {
        let x = self.features_of(table, warnings);
        let rows = Dataset::from_parts(self.channels(), x, y)
            .with_numbers(self.number_features())
            .with_levels(self.categories(table))
            .with_novelty(self.novelty(table));
        match &self.sequence {
            None => rows,
            Some(sequence) => windows(&rows, sequence.window, forecast),
        }
    }

    /// rows × stride floats, a column at a time.
    fn features_of(&self, table: &ParsedTable<'_>, warnings: &mut Warnings) -> Vec<f32> {
        let stride = Dataset::new(self.channels()).stride();
        let mut x = vec![0.0; table.rows * stride];
        if x.is_empty() {
            return x;
        }
        let options = self.number_options();
        let mut first = 0;
        for (Input { name, encoding, .. }, column) in self.used().zip(&table.inputs) {
            let unseen = encoding.of_kind().encode(column, Features { x: &mut x[first..], stride }, options);
            warnings.count_new_categories(name, unseen.categories);
            warnings.count_new_missing(name, unseen.missing);
            first += encoding.features();
        }
        for (difference, column) in self.differences.iter().zip(&table.differences) {
            difference.encode(column, Features { x: &mut x[first..], stride }, options);
            first += 1;
        }
        x
    }

    /// How far each row is outside the training ranges, where they are stored.
    fn novelty(&self, table: &ParsedTable<'_>) -> Option<Novelty> {
        if !self.knows_ranges() {
            return None;
        }
        let (mut names, mut cells) = (Vec::new(), Vec::new());
        for (input, column) in self.used().zip(&table.inputs) {
            input.encoding.of_kind().beyond(column, &mut |row, beyond| cells.push((row, names.len(), beyond)));
            names.push(input.name.clone());
        }
        for (difference, column) in self.differences.iter().zip(&table.differences) {
            difference.beyond(column, &mut |row, beyond| cells.push((row, names.len(), beyond)));
            names.push(difference.name());
        }
        let slopes = self.extrapolation.as_ref().map_or(&[][..], |extrapolation| &extrapolation.slopes);
        Some(Novelty::new(table.rows, names, slopes, cells))
    }

    /// The category of each row, for all columns with target encodings.
    fn categories(&self, table: &ParsedTable<'_>) -> Vec<CategoricalColumn> {
        let (mut first, mut columns) = (0, Vec::new());
        for (input, column) in self.used().zip(&table.inputs) {
            let statistics = input.encoding.statistics();
            first += input.encoding.features() - STATISTICS * statistics.len();
            for categories in statistics {
                let codes = categories.codes(column);
                columns.push(CategoricalColumn { first, levels: categories.names.len(), codes });
                first += STATISTICS;
            }
        }
        columns
    }
}
