//! The encoder: turns a table into a [`Dataset`]. It is fitted to the training table and kept in the model.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::data_warnings::oddities;
use crate::encode::{ColumnEncoding, Features, NumberOptions};
use crate::infer::column_numbers;
use crate::infer::time_columns::seconds;
use crate::target::censoring::known_targets;
use crate::windows::{Sequence, windows};
use crate::{
    Column, ColumnRoles, Encoding, Extrapolation, Input, NumberEncoding, PredictedRows, Schema, Table, Target,
    TimeDifference, TimeEncoding, Warnings,
};
use negmm_dist::quote::quoted;
use negmm_dist::{CensoredTargets, Novelty};
use negmm_dist::{Error, Result, Warning};
use negmm_nn::dataset::{CategoricalColumn, Dataset, STATISTICS};

/// How a table becomes a [`Dataset`], learnt from the training table and kept in the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    inputs: Vec<Input>,
    /// Differences of times, whose features come after those of the inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    differences: Vec<TimeDifference>,
    target: Target,
    /// Whether missing numbers stay missing (NaN), for methods that know what to do with them.
    #[serde(default)]
    keeps_missing: bool,
    /// The limit of smooth clipping, in standard deviations, see [`Encoder::soft_clipping`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    soft_clip: Option<f64>,
    /// How predictions go on beyond the ranges of training. None, as in older models: numbers go on as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extrapolation: Option<Extrapolation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sequence: Option<Sequence>,
}

impl Encoder {
    /// Learns from the training table.
    pub fn fit(table: &Table, target: &str, inputs: &ColumnRoles) -> Result<Self> {
        let (target, inputs) = (table.own_name(target).unwrap_or(target), &inputs.named_as_in(table));
        if let Some(sequence) = &inputs.sequence {
            sequence.check()?;
        }
        let weights = inputs.weight.as_deref().map(|name| table.sample_weights(name)).transpose()?;
        let statistics = inputs.sequence.is_none();
        let learn = |(name, column): (&str, &Column)| {
            let form = inputs.time_form(table, name, column)?;
            let encoding = Encoding::learn(column, form, weights.as_deref(), statistics);
            let encoding = encoding.map_err(|(row, error)| table.blame_cell(error, row, name))?;
            let read_as =
                table.reading(name).map(|column| column.reading.clone()).filter(|reading| !reading.is_plain());
            Ok(Input { name: name.to_string(), encoding, read_as })
        };
        let mut columns = inputs.choose(table, target)?.into_iter().map(learn).collect::<Result<Vec<Input>>>()?;
        let target = Target::learn(table, target, &inputs.outcome, weights.as_deref())?;
        let differences = TimeDifference::learn(table, &columns, weights.as_deref())?;
        let Some(sequence) = inputs.sequence.clone() else {
            return Ok(Self::new(columns, differences, target, None));
        };
        // What is predicted and what it is predicted from are numbers of the same scale.
        for input in columns.iter_mut().filter(|input| input.name == target.name) {
            let range = match &input.encoding {
                Encoding::Number(encoding) => encoding.range,
                _ => None,
            };
            let encoding =
                NumberEncoding { mean: target.mean, sd: target.scale, missing_flag: false, range, normal_scores: None };
            input.encoding = Encoding::Number(encoding);
            input.read_as = target.read_as.clone();
        }
        if columns.iter().any(|input| input.name == sequence.column && !input.is_used()) {
            let message = format!("the sequence {} is the same in every row", quoted(&sequence.column));
            return Err(table.blame(Error::data(message)));
        }
        let encoder = Self::new(columns, differences, target, Some(sequence));
        encoder.check_length(table, 2)?;
        Ok(encoder)
    }

    fn new(inputs: Vec<Input>, differences: Vec<TimeDifference>, target: Target, sequence: Option<Sequence>) -> Self {
        Self { inputs, differences, target, keeps_missing: false, soft_clip: None, extrapolation: None, sequence }
    }

    /// Whether a table has `more` rows after its first window.
    fn check_length(&self, table: &Table, more: usize) -> Result<()> {
        let Some(sequence) = &self.sequence else { return Ok(()) };
        sequence.check_size(self.channels(), table.rows())?;
        if table.rows() < sequence.window + more {
            return Err(table.blame(Error::data(format!(
                "a window of {} steps needs at least {} rows here, found {}",
                sequence.window,
                sequence.window + more,
                table.rows()
            ))));
        }
        Ok(())
    }

    /// Sentences about what a person should know of the training table: columns that tell nothing, rows that stand alone.
    pub fn oddities(&self, table: &Table) -> Vec<Warning> {
        oddities(table, &self.inputs, &self.target)
    }

    /// Missing numbers stay missing (NaN) instead of becoming 0, for methods that know what to do with them.
    #[must_use]
    pub fn keeping_missing(mut self, keeps: bool) -> Self {
        self.keeps_missing = keeps;
        self
    }

    /// Smooth clipping: numbers z (in standard deviations) become z / sqrt(1 + (z / limit)²), the same near zero and never beyond
    /// the limit, so that one odd row cannot pull a network along.
    #[must_use]
    pub fn soft_clipping(mut self, limit: Option<f64>) -> Self {
        self.soft_clip = limit;
        self
    }

    /// Normal scores: numbers have a second copy, in which their quantiles are those of a standard normal; `table` and `inputs` are
    /// those of [`Encoder::fit`].
    ///
    /// # Errors
    /// Those of [`Encoder::fit`].
    pub fn adding_normal_scores(mut self, table: &Table, inputs: &ColumnRoles) -> Result<Self> {
        let inputs = inputs.named_as_in(table);
        let weights = inputs.weight.as_deref().map(|name| table.sample_weights(name)).transpose()?;
        for Input { name, encoding, .. } in &mut self.inputs {
            if let (Encoding::Number(number), Some(column)) = (&mut *encoding, table.column(name)) {
                let cells = column_numbers(column).map_err(|(row, error)| table.blame_cell(error, row, name))?;
                *number = number.clone().with_normal_scores(&cells, weights.as_deref());
            }
        }
        Ok(self)
    }

    /// Says how predictions go on beyond the ranges of training; none: numbers go on as they are, and nothing becomes wider.
    #[must_use]
    pub fn extrapolating(mut self, extrapolation: Option<Extrapolation>) -> Self {
        self.extrapolation = extrapolation;
        self
    }

    /// Whether missing numbers stay missing, see [`Encoder::keeping_missing`].
    pub fn keeps_missing(&self) -> bool {
        self.keeps_missing
    }

    /// The limit of smooth clipping, see [`Encoder::soft_clipping`].
    pub fn soft_clip(&self) -> Option<f64> {
        self.soft_clip
    }

    /// How predictions go on beyond the ranges of training.
    pub fn extrapolation(&self) -> Option<&Extrapolation> {
        self.extrapolation.as_ref()
    }

    /// For each input that is used and then each difference the feature that is its number, and the number's range in units of
    /// the feature.
    pub fn number_ranges(&self) -> Vec<Option<(usize, (f32, f32))>> {
        let options = self.number_options();
        let range = |encoding: &NumberEncoding, feature: usize| {
            let (low, high) = encoding.range?;
            let edge = |number| encoding.standardised(number, options);
            (encoding.sd > 0.0).then(|| (feature, (edge(low), edge(high))))
        };
        let (mut first, mut ranges) = (0, Vec::new());
        for Input { encoding, .. } in self.used() {
            ranges.push(match encoding {
                Encoding::Number(number) | Encoding::Time(TimeEncoding { seconds: number, .. }) => range(number, first),
                Encoding::Text(_) => None,
            });
            first += encoding.features();
        }
        ranges.extend(
            self.differences.iter().zip(first..).map(|(difference, feature)| range(&difference.seconds, feature)),
        );
        ranges
    }

    /// The features that are numbers that vary, in order.
    fn number_features(&self) -> Vec<usize> {
        let mut first = 0;
        let mut numbers = Vec::new();
        for Input { encoding, .. } in &self.inputs {
            numbers.extend(encoding.of_kind().numbers().into_iter().map(|feature| first + feature));
            first += encoding.features();
        }
        numbers.extend((0..self.differences.len()).map(|difference| first + difference));
        numbers
    }

    /// The input columns, in the order of their features.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The differences of times that become features after those of the inputs.
    pub fn differences(&self) -> &[TimeDifference] {
        &self.differences
    }

    /// The target column.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The sequence, where rows are steps in time.
    pub fn sequence(&self) -> Option<&Sequence> {
        self.sequence.as_ref()
    }

    /// Which rows of a table of so many rows are predicted: those that [`Encoder::encode`] gives.
    pub fn predicted_rows(&self, table_rows: usize) -> PredictedRows {
        PredictedRows::new(self.sequence.as_ref().map(|sequence| sequence.window), table_rows)
    }

    /// Numbers that a row of a table becomes.
    pub fn channels(&self) -> usize {
        self.inputs.iter().map(|input| input.encoding.features()).sum::<usize>() + self.differences.len()
    }

    /// Features of a prediction: the channels of a row, or of all steps of a window. None is possible: all inputs may be
    /// constant.
    pub fn features(&self) -> usize {
        self.channels() * self.sequence.as_ref().map_or(1, |sequence| sequence.window)
    }

    /// A name for each feature: `age`, `age (missing)`, `city=Paris`, `city=(other)`, `city (missing)`, `date`,
    /// `date (time of day, sin)`, `date (Monday)`, `end - start`; of a sequence with the steps back to it, `close 30` to `close 1`.
    pub fn feature_names(&self) -> Vec<String> {
        let names = self.channel_names();
        match &self.sequence {
            None => names,
            Some(sequence) => {
                let step = |back: usize| names.iter().map(move |name| format!("{name} {back}"));
                (1..=sequence.window).rev().flat_map(step).collect()
            }
        }
    }

    fn channel_names(&self) -> Vec<String> {
        let inputs = self.used().flat_map(|input| input.encoding.of_kind().names(&input.name));
        inputs.chain(self.differences.iter().map(TimeDifference::name)).collect()
    }

    /// The inputs that have features.
    fn used(&self) -> impl Iterator<Item = &Input> {
        self.inputs.iter().filter(|input| input.is_used())
    }

    /// The columns that prediction needs: inputs that have features.
    pub fn schema(&self) -> Schema {
        let columns = self.used().map(|input| (input.name.clone(), input.reading()));
        Schema { columns: columns.collect(), ..Schema::default() }
    }

    /// The columns that evaluation needs: inputs that have features, then the target and what says something of it.
    pub fn schema_with_target(&self) -> Schema {
        let mut schema = self.schema();
        for (name, reading) in self.target.columns() {
            if !schema.columns.iter().any(|(other, _)| other == name) {
                schema.columns.push((name.clone(), reading));
            }
        }
        schema
    }

    /// Encodes inputs and, where the table has it, the target (0 where it has not). Of a sequence these are the windows of
    /// all rows but the first, see [`Encoder::predicted_rows`].
    pub fn encode(&self, table: &Table) -> Result<(Dataset, Warnings)> {
        self.check_length(table, 1)?;
        let (x, warnings) = self.encode_inputs(table)?;
        let y = self.target.encode(table)?;
        Ok((self.in_windows(self.rows(table, x, y), false), warnings))
    }

    /// Encodes the inputs alone; all targets are 0, whatever the table says. Of a sequence these are the windows of all rows
    /// but the first, and one more: that of the step after the last row.
    pub fn encode_features(&self, table: &Table) -> Result<(Dataset, Warnings)> {
        self.check_length(table, 0)?;
        let (x, warnings) = self.encode_inputs(table)?;
        Ok((self.in_windows(self.rows(table, x, vec![0.0; table.rows()]), true), warnings))
    }

    fn rows(&self, table: &Table, x: Vec<f32>, y: Vec<f32>) -> Dataset {
        Dataset::from_parts(self.channels(), x, y)
            .with_numbers(self.number_features())
            .with_levels(self.levels(table))
            .with_novelty(self.novelty(table))
    }

    /// Whether the ranges of the training rows are known: models of versions that did not keep them have none.
    pub fn knows_ranges(&self) -> bool {
        let differences = self.differences.iter().map(|difference| &difference.seconds as &dyn ColumnEncoding);
        self.used().map(|input| input.encoding.of_kind()).chain(differences).all(|encoding| encoding.knows_range())
    }

    /// How far each row lies outside the ranges of training, where they are known.
    fn novelty(&self, table: &Table) -> Option<Novelty> {
        if !self.knows_ranges() {
            return None;
        }
        let (mut names, mut cells) = (Vec::new(), Vec::new());
        for input in self.used() {
            // What is wrong with a column was said when it was encoded.
            if let Some(Ok((column, _))) = table.column_read_as(&input.name, &input.reading()) {
                let mut note = |row, beyond| cells.push((row, names.len(), beyond));
                input.encoding.of_kind().beyond(&column, &mut note);
            }
            names.push(input.name.clone());
        }
        for difference in &self.differences {
            difference.beyond(table, &self.inputs, &mut |row, beyond| cells.push((row, names.len(), beyond)));
            names.push(difference.name());
        }
        let slopes = self.extrapolation.as_ref().map_or(&[][..], |extrapolation| &extrapolation.slopes);
        Some(Novelty::new(table.rows(), names, slopes, cells))
    }

    /// How many levels each column of levels has, in the order of their features.
    pub fn level_counts(&self) -> Vec<usize> {
        self.used().flat_map(|input| input.encoding.statistics()).map(|levels| levels.names.len()).collect()
    }

    /// Which level each row has, for every column of levels.
    fn levels(&self, table: &Table) -> Vec<CategoricalColumn> {
        let (mut first, mut columns) = (0, Vec::new());
        for input in &self.inputs {
            let statistics = input.encoding.statistics();
            first += input.encoding.features() - STATISTICS * statistics.len();
            for levels in statistics {
                // What is wrong with a column was said when its other features were encoded.
                let column = table.column_read_as(&input.name, &input.reading()).and_then(Result::ok);
                let codes = column.map_or_else(Vec::new, |(column, _)| levels.codes(&column));
                columns.push(CategoricalColumn { first, levels: levels.names.len(), codes });
                first += STATISTICS;
            }
        }
        columns
    }

    fn in_windows(&self, rows: Dataset, forecast: bool) -> Dataset {
        match &self.sequence {
            None => rows,
            Some(sequence) => windows(&rows, sequence.window, forecast),
        }
    }

    /// The targets of the rows that [`Encoder::encode`] gives, in their own unit; a missing one is an error, and so is one
    /// too large to compute with.
    pub fn targets<'a>(&self, table: &'a Table) -> Result<Cow<'a, [f64]>> {
        self.check_length(table, 1)?;
        self.target.of_rows(table).map(|targets| self.of_encoded(targets))
    }

    /// What is known of the targets of a table's rows, where the model was told that not all are known.
    ///
    /// # Errors
    /// Those of [`Encoder::targets`], and when a column is not there that says what is known, or a cell of it makes no sense.
    pub fn known(&self, table: &Table) -> Result<Option<CensoredTargets>> {
        // A sequence is never censored: its targets are those of all rows.
        known_targets(table, &self.target, &self.targets(table)?)
    }

    /// How much each row that [`Encoder::encode`] gives counts, by the column of that name; none: all alike.
    pub fn sample_weights<'a>(&self, table: &'a Table, column: Option<&str>) -> Result<Option<Cow<'a, [f64]>>> {
        let weights = column.map(|name| table.sample_weights(name)).transpose()?;
        Ok(weights.map(|weights| self.of_encoded(weights)))
    }

    /// Of one number for each row of a table, those of the rows that [`Encoder::encode`] gives.
    fn of_encoded<'a>(&self, numbers: Cow<'a, [f64]>) -> Cow<'a, [f64]> {
        let rows = self.predicted_rows(numbers.len());
        match numbers {
            Cow::Borrowed(numbers) => rows.of(numbers).into(),
            Cow::Owned(numbers) => rows.of(&numbers).to_vec().into(),
        }
    }

    /// From the target's own unit to the network's, cut off at ±[`crate::ENCODED_LIMIT`].
    pub fn scale_target(&self, y: f64) -> f64 {
        self.target.scaled(y)
    }

    /// From the network's unit to the target's own.
    pub fn unscale_target(&self, y: f64) -> f64 {
        self.target.unscaled(y)
    }

    /// Whether an encoder that came from a file can be trusted with data.
    pub fn validate(&self) -> Result<()> {
        let mut names = HashSet::new();
        if let Some(sequence) = &self.sequence {
            let sound = sequence.check().and_then(|()| sequence.check_size(self.channels(), 1));
            sound.map_err(|error| Error::model(error.to_string()))?;
            if self.inputs.iter().any(|input| !input.encoding.statistics().is_empty()) {
                return Err(Error::model("a sequence has statistics of levels"));
            }
            if !self.used().any(|input| input.name == sequence.column) {
                return Err(Error::model(format!("the sequence {} is no input", quoted(&sequence.column))));
            }
        } else {
            names.insert(self.target.name.as_str());
        }
        for Input { name, encoding, read_as } in &self.inputs {
            if !names.insert(name) {
                return Err(Error::model("occurs twice in the encoder").in_column(name));
            }
            read_as.as_ref().map_or(Ok(()), |reading| reading.check()).map_err(|error| error.in_column(name))?;
            encoding.of_kind().check().map_err(|error| error.in_column(name))?;
        }
        self.differences.iter().try_for_each(|difference| difference.check(&self.inputs))?;
        if self.soft_clip.is_some_and(|limit| !(limit > 0.0 && limit.is_finite())) {
            return Err(Error::model("the limit of soft clipping must be positive and finite"));
        }
        self.extrapolation.as_ref().map_or(Ok(()), Extrapolation::check)?;
        self.target.check()
    }

    /// The table with its inputs that are times as times, however they are written; the others as they are.
    ///
    /// # Errors
    /// When a cell is no time of the form that training had.
    pub fn with_times(&self, table: Table) -> Result<Table> {
        let mut seen = HashMap::new();
        for Input { name, encoding, .. } in &self.inputs {
            let (Encoding::Time(encoding), Some(column)) = (encoding, table.column(name)) else { continue };
            let seconds = seconds(column, encoding.form).map_err(|(row, error)| table.blame_cell(error, row, name))?;
            seen.insert(name.as_str(), Column::Times(seconds.into_owned()));
        }
        Ok(seen.into_iter().fold(table, |table, (name, column)| table.with_column(name, column)))
    }

    fn number_options(&self) -> NumberOptions {
        let margin = self.extrapolation.as_ref().map(|extrapolation| extrapolation.margin);
        NumberOptions { keeps_missing: self.keeps_missing, soft_clip: self.soft_clip, margin }
    }

    /// rows × stride floats, a column at a time.
    fn encode_inputs(&self, table: &Table) -> Result<(Vec<f32>, Warnings)> {
        let absent: Vec<&str> =
            self.used().map(|input| input.name.as_str()).filter(|name| table.column(name).is_none()).collect();
        if !absent.is_empty() {
            return Err(table.blame(Error::data(table.absent(&absent))));
        }
        let stride = Dataset::new(self.channels()).stride();
        let mut x = vec![0.0; table.rows() * stride];
        let mut warnings = Warnings::default();
        if x.is_empty() {
            return Ok((x, warnings));
        }
        let options = self.number_options();
        let mut first = 0;
        for input in self.used() {
            let Input { name, encoding, .. } = input;
            let Some(column) = table.column_read_as(name, &input.reading()) else { continue };
            let (column, odd) = column?;
            warnings.count_odd(name, odd);
            let features = Features { x: &mut x[first..], stride };
            let unseen = encoding.of_kind().encode(&column, features, options);
            let unseen = unseen.map_err(|(row, error)| table.blame_cell(error, row, name))?;
            warnings.count_new_categories(name, unseen.categories);
            warnings.count_new_missing(name, unseen.missing);
            first += encoding.features();
        }
        for difference in &self.differences {
            difference.encode(table, &self.inputs, Features { x: &mut x[first..], stride }, options)?;
            first += 1;
        }
        Ok((x, warnings))
    }
}
