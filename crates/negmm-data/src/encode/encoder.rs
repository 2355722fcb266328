//! The encoder: how a table becomes a [`negmm_nn::dataset::Dataset`]. It is fitted to the training table and stored in the model.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::encode::{ColumnEncoding, NumberOptions};
use crate::windows::Sequence;
use crate::{
    Encoding, Extrapolation, Input, NumberEncoding, PredictedRows, Schema, Target, TimeDifference, TimeEncoding,
};
use negmm_dist::quote::quoted;
use negmm_dist::{Error, Result};

/// How a table becomes features and a standardised target. [`Encoder::fit_transform`] learns it from the training table,
/// [`Encoder::encode`] and [`Encoder::encode_features`] apply it to others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    pub(crate) inputs: Vec<Input>,
    /// Differences of times, whose features come after those of the inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) differences: Vec<TimeDifference>,
    pub(crate) target: Target,
    /// Whether missing numbers stay missing (NaN), for methods that support them.
    #[serde(default)]
    pub(crate) keeps_missing: bool,
    /// The limit of smooth clipping, in standard deviations, see [`Encoder::soft_clipping`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) soft_clip: Option<f64>,
    /// Extrapolation outside the training ranges; `None`, as in older models: inputs are used unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) extrapolation: Option<Extrapolation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sequence: Option<Sequence>,
}

impl Encoder {
    /// Missing numbers stay missing (NaN) instead of becoming 0, for methods that support them.
    #[must_use]
    pub fn keeping_missing(mut self, keeps: bool) -> Self {
        self.keeps_missing = keeps;
        self
    }

    /// Smooth clipping: numbers z (in standard deviations) become z / sqrt(1 + (z / limit)²), the same near zero and never beyond
    /// the limit, so that an outlier has a bounded influence.
    #[must_use]
    pub fn soft_clipping(mut self, limit: Option<f64>) -> Self {
        self.soft_clip = limit;
        self
    }

    /// Sets the extrapolation outside the training ranges; `None`: inputs are used unchanged, and predictions are not widened.
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

    /// Extrapolation outside the training ranges.
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
    pub(crate) fn number_features(&self) -> Vec<usize> {
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

    /// Which rows of a table of `table_rows` rows are predicted: those that [`Encoder::encode`] gives.
    pub fn predicted_rows(&self, table_rows: usize) -> PredictedRows {
        PredictedRows::new(self.sequence.as_ref().map(|sequence| sequence.window), table_rows)
    }

    /// Number of features of one row of a table.
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
    pub(super) fn used(&self) -> impl Iterator<Item = &Input> {
        self.inputs.iter().filter(|input| input.is_used())
    }

    /// The columns that prediction needs: inputs that have features.
    pub fn schema(&self) -> Schema {
        let columns = self.used().map(|input| (input.name.clone(), input.column_type()));
        Schema { columns: columns.collect(), ..Schema::default() }
    }

    /// The columns that evaluation needs: inputs that have features, then the target and the columns that describe its censoring.
    pub fn schema_with_target(&self) -> Schema {
        let mut schema = self.schema();
        for (name, column_type) in self.target.columns() {
            if !schema.columns.iter().any(|(other, _)| other == name) {
                schema.columns.push((name.clone(), column_type));
            }
        }
        schema
    }

    /// Whether the training ranges are stored: models of older versions have none.
    pub fn knows_ranges(&self) -> bool {
        let differences = self.differences.iter().map(|difference| &difference.seconds as &dyn ColumnEncoding);
        self.used().map(|input| input.encoding.of_kind()).chain(differences).all(|encoding| encoding.knows_range())
    }

    /// How many levels each column of levels has, in the order of their features.
    pub fn level_counts(&self) -> Vec<usize> {
        self.used().flat_map(|input| input.encoding.statistics()).map(|levels| levels.names.len()).collect()
    }

    /// From the target's unit to the standardised one, clipped at ±[`crate::ENCODED_LIMIT`].
    pub fn scale_target(&self, y: f64) -> f64 {
        self.target.scaled(y)
    }

    /// From the standardised unit to the target's.
    pub fn unscale_target(&self, y: f64) -> f64 {
        self.target.unscaled(y)
    }

    /// Validates an encoder from a file.
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
            read_as
                .as_ref()
                .map_or(Ok(()), |column_type| column_type.check())
                .map_err(|error| error.in_column(name))?;
            encoding.of_kind().check().map_err(|error| error.in_column(name))?;
        }
        self.differences.iter().try_for_each(|difference| difference.check(&self.inputs))?;
        if self.soft_clip.is_some_and(|limit| !(limit > 0.0 && limit.is_finite())) {
            return Err(Error::model("the limit of soft clipping must be positive and finite"));
        }
        self.extrapolation.as_ref().map_or(Ok(()), Extrapolation::check)?;
        self.target.check()
    }

    pub(super) fn number_options(&self) -> NumberOptions {
        let margin = self.extrapolation.as_ref().map(|extrapolation| extrapolation.margin);
        NumberOptions { keeps_missing: self.keeps_missing, soft_clip: self.soft_clip, margin }
    }
}
