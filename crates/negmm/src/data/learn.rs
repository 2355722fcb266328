//! Responsible for what an encoder learns from the training table: which inputs, their means and levels, the target's scale.

use std::borrow::Cow;

use super::csv::column_numbers;
use super::encode::{Encoding, Input, Inputs, MAX_LEVELS, Target};
use super::grid;
use super::message::{absent_columns, quoted};
use super::{Column, Table};
use crate::{Error, Result};

/// A constant target is given this scale, relative to its size (absolute below 1), so that scaling stays defined.
const CONSTANT_TARGET_SCALE: f64 = 1e-6;

/// Larger targets are refused: squares of errors, in any sd, would overflow.
const LARGEST_TARGET: f64 = 1e100;
/// A row stands alone when all other rows together make less than this share of a column's variance.
const REST_OF_VARIANCE: f64 = 1e-6;
/// Columns that a warning names.
const NAMED_COLUMNS: usize = 5;

/// Sentences about what a person should know of the training data: columns that tell nothing, rows that stand alone.
pub(super) fn oddities(table: &Table, inputs: &[Input], target: &Target) -> Vec<String> {
    let unused = inputs.iter().filter(|input| input.encoding.features() == 0).map(|input| input.name.as_str());
    let is_missing = |name: &&str| match table.column(name) {
        Some(Column::Numbers(numbers)) => numbers.iter().all(|number| number.is_nan()),
        _ => false,
    };
    let (missing, constant): (Vec<&str>, Vec<&str>) = unused.partition(is_missing);
    let mut sentences = Vec::new();
    for (names, why) in [(missing, "missing in every row"), (constant, "the same in every row")] {
        if names.is_empty() {
            continue;
        }
        let mut named = names.iter().take(NAMED_COLUMNS).map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        if names.len() > NAMED_COLUMNS {
            named.push_str(&format!(" and {} more", names.len() - NAMED_COLUMNS));
        }
        let (columns, are) = if names.len() == 1 { ("column", "is") } else { ("columns", "are") };
        sentences.push(format!("{columns} {named} {are} {why} and not used"));
    }
    let also = (!inputs.iter().any(|input| input.name == target.name)).then_some(&target.name);
    for name in inputs.iter().map(|input| &input.name).chain(also) {
        let Some(Ok(numbers)) = table.column(name).map(column_numbers) else { continue };
        if let Some(row) = lonely(&numbers) {
            sentences.push(format!(
                "row {}, column {}: {:e} is so far from all other rows that they look the same beside it",
                row + 1,
                quoted(name),
                numbers[row]
            ));
        }
    }
    sentences
}

/// The row beside which all others, though not the same, hardly vary.
fn lonely(numbers: &[f64]) -> Option<usize> {
    let (mean, sd) = mean_and_sd(numbers, None)?;
    let far = |row: &usize| (numbers[*row] - mean).abs();
    let present = (0..numbers.len()).filter(|row| !numbers[*row].is_nan());
    let row = present.max_by(|a, b| far(a).total_cmp(&far(b)))?;
    let mut others = numbers.to_vec();
    others[row] = f64::NAN;
    let (_, rest) = mean_and_sd(&others, None)?;
    (rest > 0.0 && rest / sd < REST_OF_VARIANCE.sqrt()).then_some(row)
}

/// The input columns, in the order of the table.
pub(super) fn inputs(table: &Table, target: &str, choice: &Inputs, weights: Option<&[f64]>) -> Result<Vec<Input>> {
    let sequence = choice.sequence.as_ref().map(|sequence| &sequence.column);
    let asked = choice.features.iter().flatten().chain(&choice.ignore).chain(&choice.weight).chain(sequence);
    let asked = asked.map(String::as_str);
    let absent: Vec<&str> = asked.chain([target]).filter(|name| table.column(name).is_none()).collect();
    if !absent.is_empty() {
        return Err(table.blame(Error::options(absent_columns(&absent, table.names().iter().map(String::as_str)))));
    }
    if let Some(sequence) = sequence {
        check_sequence(table, sequence, choice)?;
    } else if choice.features.iter().flatten().any(|name| name == target) {
        return Err(table.blame(Error::options(format!("the target {} cannot be an input too", quoted(target)))));
    }
    if choice.weight.as_deref() == Some(target) {
        return Err(table.blame(Error::options(format!("the target {} cannot be the weight too", quoted(target)))));
    }
    let wanted = |name: &str| {
        let asked = |features: &Vec<String>| features.iter().any(|feature| feature == name);
        let among = match sequence {
            Some(sequence) => sequence == name || choice.features.as_ref().is_some_and(asked),
            None => name != target && choice.features.as_ref().is_none_or(asked),
        };
        among && choice.weight.as_deref() != Some(name) && !choice.ignore.iter().any(|ignored| ignored == name)
    };
    let inputs: Vec<Input> = table
        .columns()
        .filter(|(name, _)| wanted(name))
        .map(|(name, column)| {
            let encoding = match column {
                Column::Numbers(numbers) => number_encoding(numbers, weights),
                Column::Text { codes, levels } => text_encoding(codes, levels, weights),
            };
            Input { name: name.to_string(), encoding }
        })
        .collect();
    if inputs.is_empty() {
        return Err(table.blame(Error::data(format!("there is no input column beside the target {}", quoted(target)))));
    }
    Ok(inputs)
}

/// Whether a column can be a sequence: numbers that differ, and an input.
fn check_sequence(table: &Table, name: &str, choice: &Inputs) -> Result<()> {
    let refuse = |what: &str| Err(table.blame(Error::options(format!("the sequence {} {what}", quoted(name)))));
    if choice.weight.as_deref() == Some(name) {
        return refuse("cannot be the weight too");
    }
    if choice.ignore.iter().any(|ignored| ignored == name) {
        return refuse("cannot be ignored");
    }
    let Some(column) = table.column(name) else { return Ok(()) };
    let numbers = column_numbers(column).map_err(|(row, error)| table.blame_cell(error, row, name))?;
    if numbers.iter().all(|number| number.is_nan()) {
        return Err(table.blame(Error::data(format!("the sequence {} is missing in every row", quoted(name)))));
    }
    Ok(())
}

/// The weight of every row: finite, not negative, not all zero.
pub(super) fn weight_numbers<'a>(table: &'a Table, name: &str) -> Result<Cow<'a, [f64]>> {
    let column = table.column(name).ok_or_else(|| {
        let message = absent_columns(&[name], table.names().iter().map(String::as_str));
        table.blame(Error::options(message))
    })?;
    let numbers = column_numbers(column).map_err(|(row, error)| table.blame_cell(error, row, name))?;
    if let Some(row) = numbers.iter().position(|weight| weight.is_nan() || *weight < 0.0) {
        let found = if numbers[row].is_nan() { "a missing cell".into() } else { numbers[row].to_string() };
        let message = format!("expected a weight, at least 0, found {found}");
        return Err(table.blame_cell(Error::data(message), row, name));
    }
    if numbers.iter().all(|weight| *weight == 0.0) {
        return Err(table.blame(Error::data(format!("all weights in column {} are 0", quoted(name)))));
    }
    Ok(numbers)
}

/// The target's mean, scale and grid.
pub(super) fn target(table: &Table, name: &str, weights: Option<&[f64]>) -> Result<Target> {
    let numbers = target_numbers(table, name)?;
    let Some((mean, sd)) = mean_and_sd(&numbers, weights) else {
        return Err(table.blame(Error::data("there is no row to learn from")));
    };
    let constant = sd == 0.0;
    let scale = if constant { CONSTANT_TARGET_SCALE * mean.abs().max(1.0) } else { sd };
    let counting = numbers.iter().enumerate().filter(|(row, _)| weight_of(weights, *row) > 0.0);
    let grid = grid::step(counting.map(|(_, number)| *number).collect());
    Ok(Target { name: name.to_string(), mean, scale, constant, grid })
}

/// As [`target_numbers`]; one that is too large to compute with is an error.
pub(super) fn moderate_targets<'a>(table: &'a Table, name: &str) -> Result<Cow<'a, [f64]>> {
    let numbers = target_numbers(table, name)?;
    match numbers.iter().position(|number| number.abs() > LARGEST_TARGET) {
        Some(row) => {
            let range = format!("between -{LARGEST_TARGET:e} and {LARGEST_TARGET:e}");
            let message = format!("the target must lie {range}, found {:e}", numbers[row]);
            Err(table.blame_cell(Error::data(message), row, name))
        }
        None => Ok(numbers),
    }
}

/// The target of every row in its own unit.
pub(super) fn target_numbers<'a>(table: &'a Table, name: &str) -> Result<Cow<'a, [f64]>> {
    let column = table.column(name).ok_or_else(|| {
        let message = absent_columns(&[name], table.names().iter().map(String::as_str));
        table.blame(Error::data(message))
    })?;
    let numbers = column_numbers(column).map_err(|(row, error)| table.blame_cell(error, row, name))?;
    match numbers.iter().position(|number| number.is_nan()) {
        Some(row) => Err(table.blame_cell(Error::data("the target is missing"), row, name)),
        None => Ok(numbers),
    }
}

fn number_encoding(numbers: &[f64], weights: Option<&[f64]>) -> Encoding {
    let missing_flag = (0..numbers.len()).any(|row| numbers[row].is_nan() && weight_of(weights, row) > 0.0);
    match mean_and_sd(numbers, weights) {
        Some((mean, sd)) => Encoding::Number { mean, sd, missing_flag },
        None => Encoding::Number { mean: 0.0, sd: 0.0, missing_flag: false },
    }
}

fn text_encoding(codes: &[u32], levels: &[String], weights: Option<&[f64]>) -> Encoding {
    let mut totals = vec![0.0; levels.len()];
    let mut missing = false;
    for (row, code) in codes.iter().enumerate() {
        let weight = weight_of(weights, row);
        match totals.get_mut(*code as usize) {
            Some(total) => *total += weight,
            None => missing |= weight > 0.0,
        }
    }
    let mut frequent: Vec<(f64, &String)> = totals.into_iter().zip(levels).filter(|(total, _)| *total > 0.0).collect();
    frequent.sort_unstable_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
    let pooled = frequent.len() > MAX_LEVELS;
    let levels = frequent.into_iter().take(MAX_LEVELS).map(|(_, level)| level.clone()).collect();
    Encoding::Text { levels, pooled, missing }
}

/// How much a row counts.
fn weight_of(weights: Option<&[f64]>, row: usize) -> f64 {
    weights.map_or(1.0, |weights| weights[row])
}

/// Mean and standard deviation (divided by the sum of the weights) of the numbers that are not missing, none without
/// such a number or without weight. Works in a unit near the largest number, a power of two, so that neither sums nor
/// squares overflow or vanish and nothing is rounded.
fn mean_and_sd(numbers: &[f64], weights: Option<&[f64]>) -> Option<(f64, f64)> {
    let present = || {
        numbers
            .iter()
            .enumerate()
            .map(|(row, number)| (*number, weight_of(weights, row)))
            .filter(|(x, w)| !x.is_nan() && *w > 0.0)
    };
    let (first, _) = present().next()?;
    if present().all(|(number, _)| number == first) {
        return Some((first, 0.0));
    }
    let unit_of = |largest: f64| {
        let exponent_bits = largest.to_bits() & f64::INFINITY.to_bits();
        f64::from_bits(exponent_bits).max(f64::MIN_POSITIVE)
    };
    let unit = unit_of(present().fold(0.0_f64, |largest, (number, _)| largest.max(number.abs())));
    let weight_unit = unit_of(present().fold(0.0_f64, |largest, (_, weight)| largest.max(weight)));
    let average = |value: &dyn Fn(f64) -> f64| {
        let (mut sum, mut total) = (0.0, 0.0);
        for (number, weight) in present() {
            sum += weight / weight_unit * value(number / unit);
            total += weight / weight_unit;
        }
        sum / total
    };
    let mean = average(&|number| number);
    let variance = average(&|number| (number - mean).powi(2));
    Some((mean * unit, variance.sqrt() * unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_any_size() {
        for unit in [1e-320, 1e-300, 1.0, 1e300] {
            let (mean, sd) = mean_and_sd(&[unit, 2.0 * unit, 3.0 * unit, 6.0 * unit], None).unwrap();
            assert!((mean / unit - 3.0).abs() < 1e-3, "{unit} {mean}");
            assert!((sd / unit - 3.5_f64.sqrt()).abs() < 1e-3, "{unit} {sd}");
        }
        let (mean, sd) = mean_and_sd(&[f64::MAX, -f64::MAX], None).unwrap();
        assert_eq!((mean, sd), (0.0, f64::MAX));
        assert_eq!(mean_and_sd(&[0.1; 7], None), Some((0.1, 0.0)));
        assert_eq!(mean_and_sd(&[], None), None);
        assert_eq!(mean_and_sd(&[f64::NAN], None), None);
    }

    #[test]
    fn a_weight_counts_as_so_many_rows() {
        let weighted = mean_and_sd(&[1.0, 5.0, f64::NAN, 9.0], Some(&[2.0, 1.0, 7.0, 0.0])).unwrap();
        let repeated = mean_and_sd(&[1.0, 1.0, 5.0], None).unwrap();
        assert!((weighted.0 - repeated.0).abs() < 1e-15 && (weighted.1 - repeated.1).abs() < 1e-15);
    }

    #[test]
    fn rows_that_do_not_count_do_not_hide_a_grid() {
        let y: Vec<f64> = (0..40).map(|row| f64::from(row % 4)).chain([0.123]).collect();
        let table = Table::new(vec![("y", Column::Numbers(y))]).unwrap();
        let mut weights = vec![2.0; 41];
        assert_eq!(target(&table, "y", Some(&weights)).unwrap().grid, None);
        weights[40] = 0.0;
        assert_eq!(target(&table, "y", Some(&weights)).unwrap().grid, Some(1.0));
    }

    #[test]
    fn a_row_that_stands_alone_is_found() {
        let mut numbers: Vec<f64> = (0..50).map(f64::from).collect();
        assert_eq!(lonely(&numbers), None);
        numbers[7] = f64::NAN;
        numbers[9] = -1e30;
        assert_eq!(lonely(&numbers), Some(9));
        // A rare flag is no outlier.
        let mut flag = vec![0.0; 5000];
        flag[3] = 1.0;
        assert_eq!(lonely(&flag), None);
        assert_eq!(lonely(&[1.0, 2.0]), None);
        assert_eq!(lonely(&[f64::NAN, 2.0]), None);
    }

    #[test]
    fn levels_come_by_frequency_then_name() {
        let levels: Vec<String> = ["b", "never", "a", "c"].map(String::from).to_vec();
        let encoding = text_encoding(&[3, 0, 2, 3], &levels, None);
        let levels = ["c", "a", "b"].map(String::from).to_vec();
        assert_eq!(encoding, Encoding::Text { levels, pooled: false, missing: false });
    }

    #[test]
    fn levels_and_missing_cells_count_by_weight() {
        let levels: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        let encoding = text_encoding(&[0, 0, 1, 2, u32::MAX], &levels, Some(&[1.0, 1.0, 3.0, 0.0, 0.0]));
        let levels = ["b", "a"].map(String::from).to_vec();
        assert_eq!(encoding, Encoding::Text { levels, pooled: false, missing: false });
        let flag = |weight: f64| match number_encoding(&[1.0, 2.0, f64::NAN], Some(&[1.0, 1.0, weight])) {
            Encoding::Number { missing_flag, .. } => missing_flag,
            Encoding::Text { .. } => panic!("numbers"),
        };
        assert_eq!((flag(0.0), flag(0.5)), (false, true));
    }

    #[test]
    fn rare_levels_are_pooled() {
        let levels: Vec<String> = (0..70).map(|level| format!("{level:02}")).collect();
        let codes: Vec<u32> = (0..70).chain([69, 69]).collect();
        let Encoding::Text { levels, pooled, .. } = text_encoding(&codes, &levels, None) else { panic!("text") };
        assert!(pooled);
        assert_eq!(levels.len(), MAX_LEVELS);
        assert_eq!((levels[0].as_str(), levels[63].as_str()), ("69", "62"));
    }
}
