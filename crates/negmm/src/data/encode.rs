//! Responsible for how columns become features (standardised, one-hot, missing flags) and how the target is scaled.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::csv::column_numbers;
use super::learn;
use super::message::{absent_columns, quoted};
use super::windows::{Sequence, windows};
use super::{Column, Dataset, Kind, PredictedRows, Schema, Table, Warnings};
use crate::{Error, Result};

/// Text columns keep this many of their most frequent levels; the others share one feature.
pub const MAX_LEVELS: usize = 64;
/// Encoded numbers are cut off here, in standard deviations: far beyond any data, and safe in 32-bit arithmetic.
pub const ENCODED_LIMIT: f64 = 1e6;

/// Which columns are inputs. The default is all but the target; of a sequence, its own column alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inputs {
    /// Only these, where given.
    pub features: Option<Vec<String>>,
    /// None of these.
    pub ignore: Vec<String>,
    /// The column that says how much each row counts; it is no input.
    #[serde(default)]
    pub weight: Option<String>,
    /// Where rows are steps in time and each is predicted from those before it; then the target may be an input too.
    #[serde(default)]
    pub sequence: Option<Sequence>,
}

/// How one input column becomes features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Encoding {
    /// (x - mean) / sd, or 0 where x is missing, then a 0/1 flag for missing cells if training had some.
    /// With sd 0 (a column that was constant or missing throughout) the first of these is left out.
    Number {
        /// Mean of the cells that are not missing.
        mean: f64,
        /// Their standard deviation (of the population: divided by n); 0 where they are all the same.
        sd: f64,
        /// Whether there is a flag for missing cells.
        missing_flag: bool,
    },
    /// A 0/1 feature for each level, one for all other levels if training had more, one for missing cells if training
    /// had some. Where this comes to a single feature there is none: it would be constant.
    Text {
        /// The levels with a feature of their own, the most frequent first.
        levels: Vec<String>,
        /// Whether the other levels share a feature.
        pooled: bool,
        /// Whether there is a feature for missing cells.
        missing: bool,
    },
}

impl Encoding {
    /// Features that the column becomes.
    pub fn features(&self) -> usize {
        match self {
            Self::Number { sd, missing_flag, .. } => usize::from(*sd > 0.0) + usize::from(*missing_flag),
            Self::Text { levels, pooled, missing } => {
                let count = levels.len() + usize::from(*pooled) + usize::from(*missing);
                if count > 1 { count } else { 0 }
            }
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Number { .. } => Kind::Number,
            Self::Text { .. } => Kind::Text,
        }
    }
}

/// An input column and how it becomes features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The name of the column.
    pub name: String,
    /// How it becomes features.
    #[serde(flatten)]
    pub encoding: Encoding,
}

/// The target column and its scale: networks see (y - mean) / scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The name of the column.
    pub name: String,
    /// Mean in training.
    pub mean: f64,
    /// Standard deviation in training (of the population); a small positive number for a constant target.
    pub scale: f64,
    /// Whether the target was the same in all rows of training.
    pub constant: bool,
    /// The step of the grid that the targets of training lie on, where they are discrete: most rows share their value with
    /// others. A density says little about them, see [`crate::Predictions::mass_nll`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<f64>,
}

/// How a table becomes a [`Dataset`], learnt from the training table and kept in the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    inputs: Vec<Input>,
    target: Target,
    /// Whether missing numbers stay missing (NaN), for methods that know what to do with them.
    #[serde(default)]
    keeps_missing: bool,
    /// Where numbers are bent, in standard deviations, see [`Encoder::soft_clipping`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    soft_clip: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sequence: Option<Sequence>,
}

impl Encoder {
    /// Learns from the training table.
    pub fn fit(table: &Table, target: &str, inputs: &Inputs) -> Result<Self> {
        if let Some(sequence) = &inputs.sequence {
            sequence.check()?;
        }
        let weights = inputs.weight.as_deref().map(|name| table.weights(name)).transpose()?;
        let mut columns = learn::inputs(table, target, inputs, weights.as_deref())?;
        let target = learn::target(table, target, weights.as_deref())?;
        let Some(sequence) = inputs.sequence.clone() else {
            return Ok(Self { inputs: columns, target, keeps_missing: false, soft_clip: None, sequence: None });
        };
        // What is predicted and what it is predicted from are numbers of the same scale.
        for input in columns.iter_mut().filter(|input| input.name == target.name) {
            input.encoding = Encoding::Number { mean: target.mean, sd: target.scale, missing_flag: false };
        }
        let varies = |input: &Input| input.name != sequence.column || input.encoding.features() > 0;
        if !columns.iter().all(varies) {
            let message = format!("the sequence {} is the same in every row", quoted(&sequence.column));
            return Err(table.blame(Error::data(message)));
        }
        let encoder = Self { inputs: columns, target, keeps_missing: false, soft_clip: None, sequence: Some(sequence) };
        encoder.check_length(table, 2)?;
        Ok(encoder)
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
    pub(crate) fn oddities(&self, table: &Table) -> Vec<String> {
        learn::oddities(table, &self.inputs, &self.target)
    }

    /// Missing numbers stay missing (NaN) instead of becoming 0, for methods that know what to do with them.
    #[must_use]
    pub fn keeping_missing(mut self, keeps: bool) -> Self {
        self.keeps_missing = keeps;
        self
    }

    /// Numbers z (in standard deviations) become z / sqrt(1 + (z / limit)²): the same near zero, never beyond the limit, so that
    /// one odd row cannot pull a network along.
    #[must_use]
    pub fn soft_clipping(mut self, limit: Option<f64>) -> Self {
        self.soft_clip = limit;
        self
    }

    /// The features that are numbers that vary, in order.
    fn number_features(&self) -> Vec<usize> {
        let mut first = 0;
        let mut numbers = Vec::new();
        for Input { encoding, .. } in &self.inputs {
            numbers.extend(matches!(encoding, Encoding::Number { sd, .. } if *sd > 0.0).then_some(first));
            first += encoding.features();
        }
        numbers
    }

    /// The input columns, in the order of their features.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
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

    /// Rows at the start of a table that have no prediction, because they are the first one's window.
    pub fn first_row(&self) -> usize {
        self.predicted_rows(0).first()
    }

    /// Numbers that a row of a table becomes.
    pub fn channels(&self) -> usize {
        self.inputs.iter().map(|input| input.encoding.features()).sum()
    }

    /// Features of a prediction: the channels of a row, or of all steps of a window. None is possible: all inputs may be
    /// constant.
    pub fn features(&self) -> usize {
        self.channels() * self.sequence.as_ref().map_or(1, |sequence| sequence.window)
    }

    /// A name for each feature: `age`, `age (missing)`, `city=Paris`, `city=(other)`, `city (missing)`; of a sequence with
    /// the steps back to it, `close 30` to `close 1`.
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
        let mut names = Vec::with_capacity(self.channels());
        for Input { name, encoding } in self.inputs.iter().filter(|input| input.encoding.features() > 0) {
            let missing = match encoding {
                Encoding::Number { sd, missing_flag, .. } => {
                    names.extend((*sd > 0.0).then(|| name.clone()));
                    missing_flag
                }
                Encoding::Text { levels, pooled, missing } => {
                    names.extend(levels.iter().map(|level| format!("{name}={level}")));
                    names.extend(pooled.then(|| format!("{name}=(other)")));
                    missing
                }
            };
            names.extend(missing.then(|| format!("{name} (missing)")));
        }
        names
    }

    /// The columns that prediction needs: inputs that have features.
    pub fn schema(&self) -> Schema {
        let used = self.inputs.iter().filter(|input| input.encoding.features() > 0);
        Schema { columns: used.map(|input| (input.name.clone(), input.encoding.kind())).collect(), keep: Vec::new() }
    }

    /// The columns that evaluation needs: inputs that have features, then the target.
    pub fn schema_with_target(&self) -> Schema {
        let mut schema = self.schema();
        if !schema.columns.iter().any(|(name, _)| *name == self.target.name) {
            schema.columns.push((self.target.name.clone(), Kind::Number));
        }
        schema
    }

    /// Encodes inputs and, where the table has it, the target (0 where it has not). Of a sequence these are the windows of
    /// all rows but the first, see [`Encoder::predicted_rows`].
    pub fn encode(&self, table: &Table) -> Result<(Dataset, Warnings)> {
        self.check_length(table, 1)?;
        let (x, warnings) = self.encode_inputs(table)?;
        let y = match table.column(&self.target.name) {
            Some(_) => {
                learn::target_numbers(table, &self.target.name)?.iter().map(|y| self.scale_target(*y) as f32).collect()
            }
            None => vec![0.0; table.rows()],
        };
        Ok((self.in_windows(self.rows(x, y), false), warnings))
    }

    /// Encodes the inputs alone; all targets are 0, whatever the table says. Of a sequence these are the windows of all rows
    /// but the first, and one more: that of the step after the last row.
    pub fn encode_features(&self, table: &Table) -> Result<(Dataset, Warnings)> {
        self.check_length(table, 0)?;
        let (x, warnings) = self.encode_inputs(table)?;
        Ok((self.in_windows(self.rows(x, vec![0.0; table.rows()]), true), warnings))
    }

    fn rows(&self, x: Vec<f32>, y: Vec<f32>) -> Dataset {
        Dataset::from_parts(self.channels(), x, y).with_numbers(self.number_features())
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
        learn::moderate_targets(table, &self.target.name).map(|targets| self.of_encoded(targets))
    }

    /// How much each row that [`Encoder::encode`] gives counts, by the column of that name; none: all alike.
    pub fn weights<'a>(&self, table: &'a Table, column: Option<&str>) -> Result<Option<Cow<'a, [f64]>>> {
        let weights = column.map(|name| table.weights(name)).transpose()?;
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

    /// From the target's own unit to the network's, cut off at ±[`ENCODED_LIMIT`].
    pub fn scale_target(&self, y: f64) -> f64 {
        ((y - self.target.mean) / self.target.scale).clamp(-ENCODED_LIMIT, ENCODED_LIMIT)
    }

    /// From the network's unit to the target's own.
    pub fn unscale_target(&self, y: f64) -> f64 {
        y * self.target.scale + self.target.mean
    }

    /// Whether an encoder that came from a file can be trusted with data.
    pub fn validate(&self) -> Result<()> {
        let mut names = HashSet::new();
        if let Some(sequence) = &self.sequence {
            let sound = sequence.check().and_then(|()| sequence.check_size(self.channels(), 1));
            sound.map_err(|error| Error::model(error.to_string()))?;
            if !self.inputs.iter().any(|input| input.name == sequence.column && input.encoding.features() > 0) {
                return Err(Error::model(format!("the sequence {} is no input", quoted(&sequence.column))));
            }
        } else {
            names.insert(self.target.name.as_str());
        }
        for Input { name, encoding } in &self.inputs {
            let wrong = |what: &str| Err(Error::model(format!("column {}: {what}", quoted(name))));
            if !names.insert(name) {
                return wrong("occurs twice in the encoder");
            }
            match encoding {
                Encoding::Number { mean, sd, .. } => {
                    if !(mean.is_finite() && sd.is_finite() && *sd >= 0.0) {
                        return wrong("mean and sd must be finite and sd not negative");
                    }
                }
                Encoding::Text { levels, .. } => {
                    if levels.len() > MAX_LEVELS {
                        return wrong(&format!("expected at most {MAX_LEVELS} levels, found {}", levels.len()));
                    }
                    if levels.iter().collect::<HashSet<_>>().len() < levels.len() {
                        return wrong("a level occurs twice");
                    }
                }
            }
        }
        if self.soft_clip.is_some_and(|limit| !(limit > 0.0 && limit.is_finite())) {
            return Err(Error::model("the limit of soft clipping must be positive and finite"));
        }
        let Target { name, mean, scale, grid, .. } = &self.target;
        if !(mean.is_finite() && scale.is_finite() && *scale > 0.0) {
            let message = format!("target {}: mean and scale must be finite and scale positive", quoted(name));
            return Err(Error::model(message));
        }
        if grid.is_some_and(|step| !(step.is_finite() && step > 0.0)) {
            let message = format!("target {}: the step of its grid must be finite and positive", quoted(name));
            return Err(Error::model(message));
        }
        Ok(())
    }

    /// rows × stride floats, a column at a time.
    fn encode_inputs(&self, table: &Table) -> Result<(Vec<f32>, Warnings)> {
        let columns: HashMap<&str, &Column> = table.columns().collect();
        let used: Vec<&Input> = self.inputs.iter().filter(|input| input.encoding.features() > 0).collect();
        let absent: Vec<&str> =
            used.iter().map(|input| input.name.as_str()).filter(|name| !columns.contains_key(name)).collect();
        if !absent.is_empty() {
            return Err(table.blame(Error::data(absent_columns(&absent, table.columns().map(|(name, _)| name)))));
        }
        let stride = Dataset::new(self.channels()).stride();
        let mut x = vec![0.0; table.rows() * stride];
        let mut warnings = Warnings::default();
        if x.is_empty() {
            return Ok((x, warnings));
        }
        let mut first = 0;
        for Input { name, encoding } in used {
            let column = columns[name.as_str()];
            match encoding {
                Encoding::Number { mean, sd, missing_flag } => {
                    let numbers = column_numbers(column).map_err(|(row, error)| table.blame_cell(error, row, name))?;
                    if *sd > 0.0 {
                        let missing = if self.keeps_missing { f32::NAN } else { 0.0 };
                        let scale = |number: f64| bent((number - mean) / sd, self.soft_clip);
                        write_numbers(&mut x[first..], stride, &numbers, scale, missing);
                    }
                    if *missing_flag {
                        write_missing(&mut x[first + usize::from(*sd > 0.0)..], stride, &numbers);
                    } else {
                        let missing = numbers.iter().filter(|number| number.is_nan()).count();
                        warnings.count_new_missing(name, missing as u64);
                    }
                }
                Encoding::Text { levels, pooled, missing } => {
                    let column = match column {
                        Column::Numbers(numbers) => &numbers_as_text(numbers),
                        text => text,
                    };
                    let other = pooled.then_some(levels.len());
                    let missing = missing.then_some(levels.len() + usize::from(*pooled));
                    let (new_categories, new_missing) =
                        write_text(&mut x[first..], stride, column, levels, other, missing);
                    warnings.count_new_categories(name, new_categories);
                    warnings.count_new_missing(name, new_missing);
                }
            }
            first += encoding.features();
        }
        Ok((x, warnings))
    }
}

/// A number of standard deviations, cut off far away and bent at `limit`.
fn bent(z: f64, limit: Option<f64>) -> f64 {
    let z = z.clamp(-ENCODED_LIMIT, ENCODED_LIMIT);
    limit.map_or(z, |limit| z / (1.0 + (z / limit) * (z / limit)).sqrt())
}

/// Writes every number scaled, or `missing` for a missing one, into the first place of every row; `x` begins at that place.
fn write_numbers(x: &mut [f32], stride: usize, numbers: &[f64], scale: impl Fn(f64) -> f64, missing: f32) {
    for (place, number) in x.iter_mut().step_by(stride).zip(numbers) {
        *place = if number.is_nan() { missing } else { scale(*number) as f32 };
    }
}

/// Writes 1 for a missing number, 0 for another.
fn write_missing(x: &mut [f32], stride: usize, numbers: &[f64]) {
    for (place, number) in x.iter_mut().step_by(stride).zip(numbers) {
        *place = f32::from(u8::from(number.is_nan()));
    }
}

/// Writes a 1 at the place of each cell's level, into zeros; `other` and `missing` are the places of unknown levels and
/// of missing cells. Gives the counts of unknown levels and of missing cells that have no place.
fn write_text(
    x: &mut [f32],
    stride: usize,
    column: &Column,
    levels: &[String],
    other: Option<usize>,
    missing: Option<usize>,
) -> (u64, u64) {
    let Column::Text { codes, levels: found } = column else { return (0, 0) };
    let known: HashMap<&str, usize> = levels.iter().map(String::as_str).zip(0..).collect();
    let places: Vec<Option<usize>> = found.iter().map(|level| known.get(level.as_str()).copied().or(other)).collect();
    let (mut new_categories, mut new_missing) = (0, 0);
    for (row, code) in codes.iter().enumerate() {
        let (place, unplaced) = match places.get(*code as usize) {
            Some(place) => (*place, &mut new_categories),
            None => (missing, &mut new_missing),
        };
        match place {
            Some(place) => x[row * stride + place] = 1.0,
            None => *unplaced += 1,
        }
    }
    (new_categories, new_missing)
}

/// Numbers where training had text (a file in which every postcode is a number): each as it is usually written.
fn numbers_as_text(numbers: &[f64]) -> Column {
    let cells: Vec<Option<String>> =
        numbers.iter().map(|number| (!number.is_nan()).then(|| number.to_string())).collect();
    Column::text(cells.iter().map(Option::as_deref))
}
