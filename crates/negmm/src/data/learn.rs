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
    for name in inputs.iter().map(|input| &input.name).chain([&target.name]) {
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
    let present: Vec<f64> = numbers.iter().copied().filter(|number| !number.is_nan()).collect();
    let (mean, sd) = mean_and_sd(&present)?;
    let far = |number: f64| (number - mean).abs();
    let row = (0..numbers.len())
        .filter(|row| !numbers[*row].is_nan())
        .max_by(|a, b| far(numbers[*a]).total_cmp(&far(numbers[*b])))?;
    let others: Vec<f64> = (0..numbers.len())
        .filter(|other| *other != row && !numbers[*other].is_nan())
        .map(|other| numbers[other])
        .collect();
    let (_, rest) = mean_and_sd(&others)?;
    (rest > 0.0 && rest / sd < REST_OF_VARIANCE.sqrt()).then_some(row)
}

/// The input columns, in the order of the table.
pub(super) fn inputs(table: &Table, target: &str, choice: &Inputs) -> Result<Vec<Input>> {
    let asked = choice.features.iter().flatten().chain(&choice.ignore).map(String::as_str);
    let absent: Vec<&str> = asked.chain([target]).filter(|name| table.column(name).is_none()).collect();
    if !absent.is_empty() {
        return Err(table.blame(Error::options(absent_columns(&absent, table.names().iter().map(String::as_str)))));
    }
    if choice.features.iter().flatten().any(|name| name == target) {
        return Err(table.blame(Error::options(format!("the target {} cannot be an input too", quoted(target)))));
    }
    let wanted = |name: &str| {
        name != target
            && choice.features.as_ref().is_none_or(|features| features.iter().any(|feature| feature == name))
            && !choice.ignore.iter().any(|ignored| ignored == name)
    };
    let inputs: Vec<Input> = table
        .columns()
        .filter(|(name, _)| wanted(name))
        .map(|(name, column)| {
            let encoding = match column {
                Column::Numbers(numbers) => number_encoding(numbers),
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

/// The target's mean and scale.
pub(super) fn target(table: &Table, name: &str) -> Result<Target> {
    let numbers = target_numbers(table, name)?;
    let Some((mean, sd)) = mean_and_sd(&numbers) else {
        return Err(table.blame(Error::data("there is no row to learn from")));
    };
    let constant = sd == 0.0;
    let scale = if constant { CONSTANT_TARGET_SCALE * mean.abs().max(1.0) } else { sd };
    Ok(Target { name: name.to_string(), mean, scale, constant })
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

fn number_encoding(numbers: &[f64]) -> Encoding {
    let present: Cow<[f64]> = if numbers.iter().any(|number| number.is_nan()) {
        numbers.iter().copied().filter(|number| !number.is_nan()).collect()
    } else {
        numbers.into()
    };
    match mean_and_sd(&present) {
        Some((mean, sd)) => Encoding::Number { mean, sd, missing_flag: present.len() < numbers.len() },
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

/// Mean and standard deviation (divided by n) of finite numbers, none without a number. Works in a unit near the
/// largest number, a power of two, so that neither sums nor squares overflow or vanish and nothing is rounded.
fn mean_and_sd(numbers: &[f64]) -> Option<(f64, f64)> {
    let first = *numbers.first()?;
    if numbers.iter().all(|number| *number == first) {
        return Some((first, 0.0));
    }
    let largest = numbers.iter().fold(0.0_f64, |largest, number| largest.max(number.abs()));
    let exponent_bits = largest.to_bits() & f64::INFINITY.to_bits();
    let unit = f64::from_bits(exponent_bits).max(f64::MIN_POSITIVE);
    let count = numbers.len() as f64;
    let mean = numbers.iter().map(|number| number / unit).sum::<f64>() / count;
    let variance = numbers.iter().map(|number| (number / unit - mean).powi(2)).sum::<f64>() / count;
    Some((mean * unit, variance.sqrt() * unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_any_size() {
        for unit in [1e-320, 1e-300, 1.0, 1e300] {
            let (mean, sd) = mean_and_sd(&[unit, 2.0 * unit, 3.0 * unit, 6.0 * unit]).unwrap();
            assert!((mean / unit - 3.0).abs() < 1e-3, "{unit} {mean}");
            assert!((sd / unit - 3.5_f64.sqrt()).abs() < 1e-3, "{unit} {sd}");
        }
        let (mean, sd) = mean_and_sd(&[f64::MAX, -f64::MAX]).unwrap();
        assert_eq!((mean, sd), (0.0, f64::MAX));
        assert_eq!(mean_and_sd(&[0.1; 7]), Some((0.1, 0.0)));
        assert_eq!(mean_and_sd(&[]), None);
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
