//! Fitting of encoders: each column of the training table is read once, for its statistics, its warnings and its features.

use std::borrow::Cow;
use std::sync::Arc;

use super::data_warnings::data_warnings;
use super::transform::{ParsedTable, parse};
use super::{Encoding, Input, ParsedColumn};
use crate::target::censoring::censored_targets;
use crate::target::{self, Target};
use crate::{
    Column, ColumnRoles, Encoder, Kind, NumberEncoding, PredictedRows, Table, TimeDifference, TimeOrder, Warnings,
};
use negmm_dist::quote::quoted;
use negmm_dist::{CensoredTargets, Error, Result, Warning};
use negmm_nn::dataset::Dataset;
use negmm_nn::empirical::empirical_distribution;

/// Options of an encoder.
///
/// | field | default | meaning |
/// |---|---|---|
/// | `keeps_missing` | false | missing numbers stay missing (NaN) instead of 0, see [`Encoder::keeping_missing`] |
/// | `soft_clip` | none | the limit of smooth clipping, see [`Encoder::soft_clipping`] |
/// | `quantile_transform` | false | numbers have a second copy, transformed to a standard normal distribution |
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EncoderOptions {
    /// Whether missing numbers stay missing (NaN).
    pub keeps_missing: bool,
    /// The limit of smooth clipping, in standard deviations.
    pub soft_clip: Option<f64>,
    /// Whether numbers have a second copy, see [`crate::QuantileTransform`].
    pub quantile_transform: bool,
}

/// Setters.
impl EncoderOptions {
    /// Sets `keeps_missing`.
    #[must_use]
    pub fn keeps_missing(self, keeps_missing: bool) -> Self {
        Self { keeps_missing, ..self }
    }

    /// Sets `soft_clip`.
    #[must_use]
    pub fn soft_clip(self, soft_clip: impl Into<Option<f64>>) -> Self {
        Self { soft_clip: soft_clip.into(), ..self }
    }

    /// Sets `quantile_transform`.
    #[must_use]
    pub fn quantile_transform(self, quantile_transform: bool) -> Self {
        Self { quantile_transform, ..self }
    }
}

/// The training table, encoded, with everything else that a fit reads from it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EncodedTable {
    /// The encoder that was fitted to the table.
    pub encoder: Encoder,
    /// The encoded rows with their weights, groups, and the bounds, atoms and intervals of the target.
    pub data: Arc<Dataset>,
    /// Which rows of the table are encoded.
    pub predicted: PredictedRows,
    /// Number of rows of the table.
    pub rows: usize,
    /// Targets of the encoded rows, in the original unit.
    pub targets: Vec<f64>,
    /// Censoring intervals of the targets, where some are censored.
    pub censored: Option<CensoredTargets>,
    /// Weights of the encoded rows; `None`: all equal.
    pub weights: Option<Vec<f64>>,
    /// The column by which the rows are ordered in time, where there is one.
    pub time: Option<TimeOrder>,
    /// Warnings about the data: constant columns, outliers, cells that are not numbers.
    pub warnings: Vec<Warning>,
}

/// An encoder and the columns that it was fitted to.
struct Fit<'a> {
    encoder: Encoder,
    /// The cells of each input.
    columns: Vec<ParsedColumn<'a>>,
    /// The target of each row, in the original unit.
    y: Cow<'a, [f64]>,
    /// The weight of each row.
    weights: Option<Cow<'a, [f64]>>,
}

impl Encoder {
    /// Learns from the training table, with default options.
    pub fn fit(table: &Table, target: &str, roles: &ColumnRoles) -> Result<Self> {
        Ok(Fit::new(table, target, &roles.named_as_in(table), EncoderOptions::default())?.encoder)
    }

    /// Learns from the training table and encodes it, reading each column once.
    ///
    /// # Errors
    /// When a column is absent, or a cell is not what its column must hold.
    pub fn fit_transform(
        table: &Table,
        target: &str,
        roles: &ColumnRoles,
        options: EncoderOptions,
    ) -> Result<EncodedTable> {
        let roles = roles.named_as_in(table);
        let Fit { mut encoder, columns, y, weights } = Fit::new(table, target, &roles, options)?;
        target::check_range(table, &encoder.target.name, &y)?;
        let predicted = encoder.predicted_rows(table.rows());
        let targets = predicted.of(&y).to_vec();
        let censored = censored_targets(table, &encoder.target, &targets)?;
        let warnings = data_warnings(table, &encoder.inputs, &columns, &encoder.target, &y);
        let time = TimeOrder::of(table, &roles, &encoder.inputs, &columns)?;
        let used = encoder.inputs.iter().zip(columns).filter(|(input, _)| input.is_used());
        let parsed = ParsedTable::new(&encoder, table.rows(), used.map(|(_, column)| column).collect());
        let data = encoder.dataset(&parsed, encoder.target.encode(&y), false, &mut Warnings::default());
        let mut data = data.with_atoms(encoder.target.scaled_atoms()).with_bounds(encoder.target.scaled_bounds());
        if let Some((lower, upper)) = encoder.target.intervals(&targets, censored.as_ref()) {
            data = data.with_intervals(lower, upper);
        }
        let weights = weights.map(|weights| predicted.of(&weights).to_vec());
        if let Some(weights) = &weights {
            data = data.with_sample_weights(weights);
        }
        if let Some(group) = &roles.group {
            data = data.with_groups(table.groups(group)?.into_iter());
        }
        if let Some(time) = time.as_ref().filter(|time| time.is_given) {
            data = data.with_times(time.ranks.clone());
        }
        let marginal = empirical_distribution(&data, &(0..data.len() as u32).collect::<Vec<_>>());
        let components = marginal.weights().iter().zip(marginal.means()).zip(marginal.sds());
        encoder.target.marginal = components.map(|((weight, mean), sd)| [*weight, *mean, *sd]).collect();
        let (data, rows) = (Arc::new(data), table.rows());
        Ok(EncodedTable { encoder, data, predicted, rows, targets, censored, weights, time, warnings })
    }
}

impl EncodedTable {
    /// Rows with targets encoded by an encoder that was fitted to others, for a model that goes on learning.
    ///
    /// # Errors
    /// When a column is absent, a cell is not what its column must hold, or a target lies outside the bounds of the others.
    pub fn by(encoder: &Encoder, table: &Table, roles: &ColumnRoles) -> Result<Self> {
        let roles = roles.named_as_in(table);
        let (data, mut told) = encoder.encode(table)?;
        if let Some(novelty) = data.novelty() {
            told.count_outside(novelty);
        }
        let targets = encoder.targets(table)?.into_owned();
        let censored = encoder.censored_targets(table, &targets)?;
        let (lowest, highest) = encoder.target.support.bounds();
        if let Some(row) = targets.iter().position(|y| !(lowest..=highest).contains(y)) {
            let message =
                format!("the target must be from {lowest} to {highest}, as in training, found {}", targets[row]);
            return Err(table.at_cell(Error::data(message), row, &encoder.target.name));
        }
        let mut data = data.with_atoms(encoder.target.scaled_atoms()).with_bounds(encoder.target.scaled_bounds());
        if let Some((lower, upper)) = encoder.target.intervals(&targets, censored.as_ref()) {
            data = data.with_intervals(lower, upper);
        }
        let weights = encoder.sample_weights(table, roles.weight.as_deref())?.map(Cow::into_owned);
        if let Some(weights) = &weights {
            data = data.with_sample_weights(weights);
        }
        let (encoder, predicted, rows) = (encoder.clone(), encoder.predicted_rows(table.rows()), table.rows());
        let warnings = told.sentences().into_iter().map(Warning::new).collect();
        Ok(Self { encoder, data: Arc::new(data), predicted, rows, targets, censored, weights, time: None, warnings })
    }
}

impl<'a> Fit<'a> {
    /// Learns from the training table; `roles` have the table's own names.
    fn new(table: &'a Table, target: &str, roles: &ColumnRoles, options: EncoderOptions) -> Result<Self> {
        let target = table.own_name(target).unwrap_or(target);
        if let Some(sequence) = &roles.sequence {
            sequence.check()?;
        }
        let weights = roles.weight.as_deref().map(|name| table.sample_weights(name)).transpose()?;
        let (mut inputs, mut columns) = (Vec::new(), Vec::new());
        for (name, column) in roles.choose(table, target)? {
            let (input, column) = fit_input(table, name, column, roles, weights.as_deref(), options)?;
            inputs.push(input);
            columns.push(column);
        }
        let y = target::values(table, target)?;
        let target = Target::learn(table, target, &y, &roles.target_spec, weights.as_deref())?;
        let differences = TimeDifference::learn(&inputs, &columns, weights.as_deref());
        if let Some(sequence) = &roles.sequence {
            // The target and the inputs that it is predicted from have the same scale.
            for (input, column) in inputs.iter_mut().zip(&mut columns).filter(|(input, _)| input.name == target.name) {
                *input = target_as_input(input, &target);
                *column = ParsedColumn::Numbers(y.clone());
            }
            if inputs.iter().any(|input| input.name == sequence.column && !input.is_used()) {
                let message = format!("the sequence {} is the same in every row", quoted(&sequence.column));
                return Err(table.locate(Error::data(message)));
            }
        }
        let encoder = Encoder {
            inputs,
            differences,
            target,
            keeps_missing: options.keeps_missing,
            soft_clip: options.soft_clip,
            extrapolation: None,
            sequence: roles.sequence.clone(),
        };
        encoder.check_length(table, 2)?;
        Ok(Self { encoder, columns, y, weights })
    }
}

/// Parses an input column and learns its encoding.
pub(crate) fn fit_input<'a>(
    table: &'a Table,
    name: &str,
    column: &'a Column,
    roles: &ColumnRoles,
    weights: Option<&[f64]>,
    options: EncoderOptions,
) -> Result<(Input, ParsedColumn<'a>)> {
    let kind = match (roles.time_format(table, name, column)?, column) {
        (Some(format), _) => Kind::Time(format),
        (None, Column::Text { .. }) => Kind::Text,
        (None, _) => Kind::Number,
    };
    let read_as =
        table.typed_column(name).map(|column| column.column_type.clone()).filter(|column_type| !column_type.is_plain());
    let column_type = read_as.clone().unwrap_or_else(|| kind.into());
    let (column, _) = parse(table, name, &column_type, kind)?;
    // Windows of a sequence have no target encoding.
    let mut encoding = Encoding::learn(&column, kind, weights, roles.sequence.is_none());
    if let Encoding::Number(number) = &mut encoding
        && options.quantile_transform
    {
        *number = number.clone().with_quantile_transform(column.numbers(), weights);
    }
    Ok((Input { name: name.to_string(), encoding, read_as }, column))
}

/// The target as an input, with the target's mean and scale.
fn target_as_input(input: &Input, target: &Target) -> Input {
    let range = match &input.encoding {
        Encoding::Number(encoding) => encoding.range,
        _ => None,
    };
    let (mean, sd) = (target.mean, target.scale);
    let encoding = NumberEncoding { mean, sd, missing_flag: false, range, quantile_transform: None };
    Input { name: input.name.clone(), encoding: Encoding::Number(encoding), read_as: target.read_as.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::conversions;
    use crate::{MAX_CATEGORIES, TargetSpec};

    fn table() -> Table {
        let rows = 4 * MAX_CATEGORIES;
        let numbers = |number: fn(usize) -> f64| Column::Numbers((0..rows).map(number).collect());
        let text = |cell: fn(usize) -> String| {
            let cells: Vec<String> = (0..rows).map(cell).collect();
            Column::text(cells.iter().map(|cell| Some(cell.as_str())))
        };
        Table::new(vec![
            ("size", numbers(|row| (row as f64).sin())),
            ("model", text(|row| format!("model {}", row / 2))),
            ("start", text(|row| format!("2024-01-{:02}", 1 + row % 28))),
            ("end", text(|row| format!("2024-02-{:02}", 1 + row * row % 28))),
            ("weight", text(|row| (1 + row % 3).to_string())),
            ("batch", numbers(|row| (row % 5) as f64)),
            ("failed", numbers(|row| (row % 2) as f64)),
            ("time", text(|row| (row as f64 * 0.37).to_string())),
        ])
        .unwrap()
    }

    fn roles() -> ColumnRoles {
        ColumnRoles {
            weight: Some("weight".into()),
            group: Some("batch".into()),
            target_spec: TargetSpec { censored: Some("failed".into()), ..TargetSpec::default() },
            ..ColumnRoles::default()
        }
    }

    #[test]
    fn each_column_is_converted_once() {
        let (table, roles) = (table(), roles());
        let options = EncoderOptions { quantile_transform: true, ..EncoderOptions::default() };
        let (count, encoded) = conversions::of(|| Encoder::fit_transform(&table, "time", &roles, options).unwrap());
        // Four inputs, the target, its censoring indicator and the weight.
        assert_eq!(count, 4 + 3);
        let encoder = &encoded.encoder;
        assert_eq!((encoder.inputs().len(), encoder.differences().len(), encoder.level_counts().len()), (4, 1, 1));
        assert!(encoded.data.novelty().is_some());
        let (count, _) = conversions::of(|| encoder.encode_features(&table).unwrap());
        assert_eq!(count, 4);
        let (count, _) = conversions::of(|| encoder.encode(&table).unwrap());
        assert_eq!(count, 4 + 1);
    }

    #[test]
    fn the_encoded_training_table_is_what_the_encoder_makes_of_it() {
        let (table, roles) = (table(), roles());
        let encoded = Encoder::fit_transform(&table, "time", &roles, EncoderOptions::default()).unwrap();
        let mut fitted = Encoder::fit(&table, "time", &roles).unwrap();
        // The distribution of the targets is that of encoded rows.
        fitted.target.marginal.clone_from(&encoded.encoder.target.marginal);
        assert_eq!(encoded.encoder, fitted);
        let (data, _) = encoded.encoder.encode(&table).unwrap();
        assert_eq!((encoded.data.x(), encoded.data.levels()), (data.x(), data.levels()));
        assert_eq!(encoded.targets, encoded.encoder.targets(&table).unwrap().as_ref());
        let weights = encoded.encoder.sample_weights(&table, Some("weight")).unwrap();
        assert_eq!(encoded.weights.as_deref(), weights.as_deref());
        assert!(encoded.data.groups().is_some() && encoded.data.has_censored());
    }
}
