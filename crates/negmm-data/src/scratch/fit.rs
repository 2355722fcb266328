//! Fitting of encoders to tables on disk: each column is read once for its statistics, and then all rows are encoded in pieces.

use std::sync::Arc;

use super::ScratchTable;
use crate::encode::data_warnings::{is_missing, of_input, of_target, of_unused};
use crate::encode::difference::{self, time_format};
use crate::encode::fit::fit_input;
use crate::encode::time_order::{Candidate, TimeOrder};
use crate::target::censoring::censored_targets;
use crate::target::{self, Target};
use crate::{ColumnRoles, EncodedTable, Encoder, EncoderOptions, Input, Table, TimeDifference, Warnings};
use negmm_dist::{Error, Novelty, Result, Warning};
use negmm_nn::dataset::split::ranks;
use negmm_nn::dataset::{Dataset, RowFileWriter};
use negmm_nn::empirical::empirical_distribution;

/// Cells that are encoded at once.
const CELLS: usize = 1 << 21;
/// Rows that are encoded at once, at least and at most.
const ROWS: (usize, usize) = (1 << 8, 1 << 16);

/// What is learnt of the inputs, one after the other.
struct Inputs {
    inputs: Vec<Input>,
    /// Those without features, each with whether all its cells are missing.
    unused: Vec<(String, bool)>,
    warnings: Vec<Warning>,
    time: Option<Candidate>,
}

impl EncodedTable {
    /// Learns an encoder from a table on disk and encodes it into another scratch file, with the bits of
    /// [`Encoder::fit_transform`].
    ///
    /// # Errors
    /// As [`Encoder::fit_transform`], and when the disk is full, or the rows are steps of a sequence.
    pub fn of_scratch(
        table: &ScratchTable,
        target: &str,
        roles: &ColumnRoles,
        options: EncoderOptions,
    ) -> Result<Self> {
        let header = table.header();
        let roles = roles.named_as_in(&header);
        let target = header.own_name(target).unwrap_or(target);
        if roles.sequence.is_some() {
            return Err(Error::options("the steps of a sequence are learnt in memory, not from a scratch file"));
        }
        let names: Vec<String> = roles.choose(&header, target)?.into_iter().map(|(name, _)| name.to_string()).collect();
        let weights = match &roles.weight {
            Some(name) => Some(table.columns(&[name])?.sample_weights(name)?.into_owned()),
            None => None,
        };
        let given = match &roles.time {
            Some(name) => {
                let times = roles.times(&table.columns(&[name])?)?.unwrap_or_default();
                Some(TimeOrder { name: name.clone(), ranks: ranks(&times), is_given: true })
            }
            None => None,
        };
        let orders = given.is_none() && roles.group.is_none();
        let Inputs { inputs, unused, warnings: of_inputs, time } =
            Inputs::learn(table, &names, &roles, weights.as_deref(), options, orders)?;
        let of_target = {
            let columns: Vec<&str> =
                [target].into_iter().chain(roles.target_spec.columns().map(String::as_str)).collect();
            OfTarget::learn(&table.columns(&columns)?, target, &roles, weights.as_deref())?
        };
        let OfTarget { target, targets, y, censored, warnings: of_target } = of_target;
        let mut warnings = of_unused(unused.iter().map(|(name, is_missing)| (name.as_str(), *is_missing)));
        warnings.extend(of_inputs);
        warnings.extend(of_target);
        let differences = differences(table, &inputs, weights.as_deref())?;
        let mut encoder = Encoder {
            inputs,
            differences,
            target,
            keeps_missing: options.keeps_missing,
            soft_clip: options.soft_clip,
            extrapolation: None,
            sequence: None,
        };
        let data = encode(table, &encoder, y)?;
        let mut data = data.with_atoms(encoder.target.scaled_atoms()).with_bounds(encoder.target.scaled_bounds());
        if let Some((lower, upper)) = encoder.target.intervals(&targets, censored.as_ref()) {
            data = data.with_intervals(lower, upper);
        }
        if let Some(weights) = &weights {
            data = data.with_sample_weights(weights);
        }
        if let Some(group) = &roles.group {
            data = data.with_groups(table.columns(&[group])?.groups(group)?.into_iter());
        }
        let time = given.or(time.map(|candidate| candidate.order));
        if let Some(time) = time.as_ref().filter(|time| time.is_given) {
            data = data.with_times(time.ranks.clone());
        }
        let marginal = empirical_distribution(&data, &(0..data.len() as u32).collect::<Vec<_>>());
        let components = marginal.weights().iter().zip(marginal.means()).zip(marginal.sds());
        encoder.target.marginal = components.map(|((weight, mean), sd)| [*weight, *mean, *sd]).collect();
        let predicted = encoder.predicted_rows(table.rows());
        let (data, rows) = (Arc::new(data), table.rows());
        Ok(Self { encoder, data, predicted, rows, targets, censored, weights, time, warnings })
    }
}

impl Inputs {
    fn learn(
        table: &ScratchTable,
        names: &[String],
        roles: &ColumnRoles,
        weights: Option<&[f64]>,
        options: EncoderOptions,
        orders: bool,
    ) -> Result<Self> {
        let mut all = Self { inputs: Vec::new(), unused: Vec::new(), warnings: Vec::new(), time: None };
        for name in names {
            let own = table.columns(&[name])?;
            let Some(column) = own.column(name) else { continue };
            let (input, column) = fit_input(&own, name, column, roles, weights, options)?;
            if !input.is_used() {
                all.unused.push((name.clone(), is_missing(&column)));
            }
            all.warnings.extend(of_input(&own, &input, &column));
            if orders {
                TimeOrder::consider(&mut all.time, &input, &column);
            }
            all.inputs.push(input);
        }
        Ok(all)
    }
}

/// What is learnt of the target.
struct OfTarget {
    target: Target,
    /// In the original unit.
    targets: Vec<f64>,
    /// Standardised.
    y: Vec<f32>,
    censored: Option<negmm_dist::CensoredTargets>,
    warnings: Vec<Warning>,
}

impl OfTarget {
    /// From the columns that describe it.
    fn learn(table: &Table, name: &str, roles: &ColumnRoles, weights: Option<&[f64]>) -> Result<Self> {
        let y = target::values(table, name)?;
        let target = Target::learn(table, name, &y, &roles.target_spec, weights)?;
        target::check_range(table, name, &y)?;
        let censored = censored_targets(table, &target, &y)?;
        let warnings = of_target(table, &target, &y);
        let encoded = target.encode(&y);
        Ok(Self { y: encoded, targets: y.into_owned(), censored, warnings, target })
    }
}

/// The differences of the inputs that are times, of which two are in memory at once.
fn differences(table: &ScratchTable, inputs: &[Input], weights: Option<&[f64]>) -> Result<Vec<TimeDifference>> {
    let times: Vec<&Input> = inputs.iter().filter(|input| time_format(input).is_some()).collect();
    let mut differences = Vec::new();
    if times.len() > difference::MOST_COLUMNS {
        return Ok(differences);
    }
    let seconds = |input: &Input| -> Result<Vec<f64>> {
        let own = table.columns(&[&input.name])?;
        let (column, _) =
            crate::encode::parse(&own, &input.name, &input.column_type(), input.encoding.of_kind().kind())?;
        Ok(column.numbers().to_vec())
    };
    for (at, to) in times.iter().enumerate().skip(1) {
        let later = seconds(to)?;
        for from in &times[..at] {
            let (Some(format), Some(other)) = (time_format(to), time_format(from)) else { continue };
            let earlier = (from.name.as_str(), other, &*seconds(from)?);
            differences.extend(TimeDifference::of_pair(earlier, (&to.name, format, &later), weights));
        }
    }
    Ok(differences)
}

/// The encoded rows in a scratch file.
fn encode(table: &ScratchTable, encoder: &Encoder, y: Vec<f32>) -> Result<Dataset> {
    let features = encoder.channels();
    let columns = encoder.level_counts().len();
    table.scratch().require(RowFileWriter::bytes_of(table.rows(), features, columns))?;
    let at_once = (CELLS / (table.header().names().len() + features).max(1)).clamp(ROWS.0, ROWS.1);
    let mut writer: Option<RowFileWriter> = None;
    let mut novelty: Option<Novelty> = None;
    for first in (0..table.rows()).step_by(at_once) {
        let part = table.part(first..table.rows().min(first + at_once))?;
        let (parsed, _) = encoder.parse(&part)?;
        let rows = encoder.dataset(&parsed, vec![0.0; part.rows()], false, &mut Warnings::default());
        let levels = || rows.levels().iter().map(|column| (column.first, column.levels)).collect();
        let writer = match &mut writer {
            Some(writer) => writer,
            None => writer.insert(RowFileWriter::new(table.scratch(), features, levels())?),
        };
        writer.push(rows.x(), rows.stride(), rows.levels())?;
        novelty = match (novelty, rows.novelty()) {
            (Some(before), Some(more)) => Some(before.followed_by(more)),
            (None, Some(first)) => Some(first.clone()),
            (before, None) => before,
        };
    }
    let writer = writer.ok_or_else(|| Error::data("there is no row to learn from"))?;
    Ok(Dataset::on_disk(writer.finish()?, y).with_numbers(encoder.number_features()).with_novelty(novelty))
}
