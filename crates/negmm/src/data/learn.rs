//! Responsible for what an encoder learns from the training table: which inputs, their means and levels, the target's scale.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::csv::column_numbers;
use super::encode::{Encoding, Input, Inputs, MAX_LEVELS, Target};
use super::message::{absent_columns, quoted};
use super::{Column, Table};
use crate::{Error, Result};

/// A constant target is given this scale, relative to its size (absolute below 1), so that scaling stays defined.
const CONSTANT_TARGET_SCALE: f64 = 1e-6;

/// The input columns, in the order of the table.
pub(super) fn inputs(table: &Table, target: &str, choice: &Inputs, weights: Option<&[f64]>) -> Result<Vec<Input>> {
    let asked = choice.features.iter().flatten().chain(&choice.ignore).chain(&choice.weight).map(String::as_str);
    let absent: Vec<&str> = asked.chain([target]).filter(|name| table.column(name).is_none()).collect();
    if !absent.is_empty() {
        return Err(table.blame(Error::options(absent_columns(&absent, table.names().iter().map(String::as_str)))));
    }
    if choice.features.iter().flatten().any(|name| name == target) {
        return Err(table.blame(Error::options(format!("the target {} cannot be an input too", quoted(target)))));
    }
    if choice.weight.as_deref() == Some(target) {
        return Err(table.blame(Error::options(format!("the target {} cannot be the weight too", quoted(target)))));
    }
    let wanted = |name: &str| {
        name != target
            && choice.weight.as_deref() != Some(name)
            && choice.features.as_ref().is_none_or(|features| features.iter().any(|feature| feature == name))
            && !choice.ignore.iter().any(|ignored| ignored == name)
    };
    let inputs: Vec<Input> = table
        .columns()
        .filter(|(name, _)| wanted(name))
        .map(|(name, column)| {
            let encoding = match column {
                Column::Numbers(numbers) => number_encoding(numbers, weights),
                Column::Text { codes, levels } => text_encoding(codes, levels),
            };
            Input { name: name.to_string(), encoding }
        })
        .collect();
    if inputs.is_empty() {
        return Err(table.blame(Error::data(format!("there is no input column beside the target {}", quoted(target)))));
    }
    Ok(inputs)
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

/// The target's mean and scale.
pub(super) fn target(table: &Table, name: &str, weights: Option<&[f64]>) -> Result<Target> {
    let numbers = target_numbers(table, name)?;
    let Some((mean, sd)) = mean_and_sd(&numbers, weights) else {
        return Err(table.blame(Error::data("there is no row to learn from")));
    };
    let constant = sd == 0.0;
    let scale = if constant { CONSTANT_TARGET_SCALE * mean.abs().max(1.0) } else { sd };
    Ok(Target { name: name.to_string(), mean, scale, constant })
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
    let missing_flag = numbers.iter().any(|number| number.is_nan());
    match mean_and_sd(numbers, weights) {
        Some((mean, sd)) => Encoding::Number { mean, sd, missing_flag },
        None => Encoding::Number { mean: 0.0, sd: 0.0, missing_flag: false },
    }
}

fn text_encoding(codes: &[u32], levels: &[String]) -> Encoding {
    let mut counts = vec![0_u64; levels.len()];
    let mut missing = false;
    for code in codes {
        match counts.get_mut(*code as usize) {
            Some(count) => *count += 1,
            None => missing = true,
        }
    }
    let mut frequent: Vec<(u64, &String)> = counts.into_iter().zip(levels).filter(|(count, _)| *count > 0).collect();
    frequent.sort_unstable_by_key(|(count, level)| (Reverse(*count), *level));
    let pooled = frequent.len() > MAX_LEVELS;
    let levels = frequent.into_iter().take(MAX_LEVELS).map(|(_, level)| level.clone()).collect();
    Encoding::Text { levels, pooled, missing }
}

/// Mean and standard deviation (divided by the sum of the weights) of the numbers that are not missing, none without
/// such a number or without weight. Works in a unit near the largest number, a power of two, so that neither sums nor
/// squares overflow or vanish and nothing is rounded.
fn mean_and_sd(numbers: &[f64], weights: Option<&[f64]>) -> Option<(f64, f64)> {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let present = || {
        numbers
            .iter()
            .enumerate()
            .map(move |(row, number)| (*number, weight(row)))
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
    fn levels_come_by_frequency_then_name() {
        let levels: Vec<String> = ["b", "never", "a", "c"].map(String::from).to_vec();
        let encoding = text_encoding(&[3, 0, 2, 3], &levels);
        let levels = ["c", "a", "b"].map(String::from).to_vec();
        assert_eq!(encoding, Encoding::Text { levels, pooled: false, missing: false });
    }

    #[test]
    fn rare_levels_are_pooled() {
        let levels: Vec<String> = (0..70).map(|level| format!("{level:02}")).collect();
        let codes: Vec<u32> = (0..70).chain([69, 69]).collect();
        let Encoding::Text { levels, pooled, .. } = text_encoding(&codes, &levels) else { panic!("text") };
        assert!(pooled);
        assert_eq!(levels.len(), MAX_LEVELS);
        assert_eq!((levels[0].as_str(), levels[63].as_str()), ("69", "62"));
    }
}
