//! Data warnings of a training table: constant columns, unique rows and the like.

use super::ParsedColumn;
use crate::target::moments::mean_and_sd;
use crate::{Encoding, Input, Table, Target};
use negmm_dist::Warning;
use negmm_dist::quote::quoted;

/// A row is an outlier when all other rows together have less than this fraction of a column's variance.
const REST_OF_VARIANCE: f64 = 1e-6;
/// Columns that a warning names.
const NAMED_COLUMNS: usize = 5;

/// Texts of cells that a warning quotes.
const SHOWN_TEXTS: usize = 3;

/// Warnings about training data: columns that are constant or missing, rows that dwarf all others. `columns` are the parsed
/// cells of the inputs, and `y` those of the target.
pub(crate) fn data_warnings(
    table: &Table,
    inputs: &[Input],
    columns: &[ParsedColumn<'_>],
    target: &Target,
    y: &[f64],
) -> Vec<Warning> {
    let unused = inputs.iter().zip(columns).filter(|(input, _)| !input.is_used());
    let mut warnings = of_unused(unused.map(|(input, column)| (input.name.as_str(), is_missing(column))));
    for (input, column) in inputs.iter().zip(columns) {
        warnings.extend(of_input(table, input, column));
    }
    if !inputs.iter().any(|input| input.name == target.name) {
        warnings.extend(of_target(table, target, y));
    }
    warnings
}

/// Whether all cells are missing.
pub(crate) fn is_missing(column: &ParsedColumn<'_>) -> bool {
    matches!(column, ParsedColumn::Numbers(numbers) if numbers.iter().all(|number| number.is_nan()))
}

/// Warnings about the cells of an input.
pub(crate) fn of_input(table: &Table, Input { name, encoding, .. }: &Input, column: &ParsedColumn<'_>) -> Vec<Warning> {
    let outlier = match encoding {
        Encoding::Number(_) => outlier(table, name, column.numbers()),
        _ => None,
    };
    odd_cells(table, name).into_iter().chain(outlier).collect()
}

/// Warnings about the targets.
pub(crate) fn of_target(table: &Table, target: &Target, y: &[f64]) -> Vec<Warning> {
    odd_cells(table, &target.name).into_iter().chain(outlier(table, &target.name, y)).collect()
}

/// Warnings about inputs without features, each with whether all its cells are missing.
pub(crate) fn of_unused<'a>(unused: impl Iterator<Item = (&'a str, bool)>) -> Vec<Warning> {
    let (mut missing, mut constant) = (Vec::new(), Vec::new());
    unused.for_each(|(name, is_missing)| if is_missing { missing.push(name) } else { constant.push(name) });
    let mut warnings = Vec::new();
    for (names, why) in [(missing, "missing in every row"), (constant, "the same in every row")] {
        if names.is_empty() {
            continue;
        }
        let mut named = names.iter().take(NAMED_COLUMNS).map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        if names.len() > NAMED_COLUMNS {
            named.push_str(&format!(" and {} more", names.len() - NAMED_COLUMNS));
        }
        let (columns, are) = if names.len() == 1 { ("column", "is") } else { ("columns", "are") };
        warnings.push(Warning::new(format!("{columns} {named} {are} {why} and not used")));
    }
    warnings
}

/// A row beside which all others hardly differ.
fn outlier(table: &Table, name: &str, numbers: &[f64]) -> Option<Warning> {
    let row = overshadowing_row(numbers)?;
    let message = format!("{:e} is so far from all other rows that they hardly differ beside it", numbers[row]);
    Some(Warning::new(message).in_column(name).at_row(table.row_in_file(row) as u64))
}

/// The cells of a numeric column that are not numbers and count as missing.
fn odd_cells(table: &Table, name: &str) -> Option<Warning> {
    let odd = &table.typed_column(name)?.odd;
    let total: u64 = odd.iter().map(|(_, count)| count).sum();
    let shown: Vec<String> = odd.iter().take(SHOWN_TEXTS).map(|(cell, n)| format!("{} ({n})", quoted(cell))).collect();
    let more = if odd.len() > shown.len() { " …" } else { "" };
    let are = if total == 1 { "cell is no number and counts" } else { "cells are no numbers and count" };
    let message = format!("{total} {are} as missing: {}{more}", shown.join(", "));
    (total > 0).then(|| Warning::new(message).in_column(name))
}

/// The row beside which all others, though not the same, hardly vary.
fn overshadowing_row(numbers: &[f64]) -> Option<usize> {
    let (mean, sd) = mean_and_sd(numbers, None)?;
    let far = |row: &usize| (numbers[*row] - mean).abs();
    let present = (0..numbers.len()).filter(|row| !numbers[*row].is_nan());
    let row = present.max_by(|a, b| far(a).total_cmp(&far(b)))?;
    let mut others = numbers.to_vec();
    others[row] = f64::NAN;
    let (_, rest) = mean_and_sd(&others, None)?;
    (rest > 0.0 && rest / sd < REST_OF_VARIANCE.sqrt()).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_is_found() {
        let mut numbers: Vec<f64> = (0..50).map(f64::from).collect();
        assert_eq!(overshadowing_row(&numbers), None);
        numbers[7] = f64::NAN;
        numbers[9] = -1e30;
        assert_eq!(overshadowing_row(&numbers), Some(9));
        // A rare flag is no outlier.
        let mut flag = vec![0.0; 5000];
        flag[3] = 1.0;
        assert_eq!(overshadowing_row(&flag), None);
        assert_eq!(overshadowing_row(&[1.0, 2.0]), None);
        assert_eq!(overshadowing_row(&[f64::NAN, 2.0]), None);
    }
}
