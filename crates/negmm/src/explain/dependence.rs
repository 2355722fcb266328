//! Partial dependence (Friedman, 2001) and individual curves (Goldstein, Kapelner, Bleich and Pitkin, 2015) of answers
//! along a column.
//!
//! The values are cells of the rows themselves, so text, dates and differences of dates need nothing special.

use serde::Serialize;

use super::Explainer;
use crate::by_group::cell;
use crate::{Error, Result};
use negmm_data::{Column, MISSING, Table};

/// Values of a column at most.
pub const GRID: usize = 20;
/// Rows with individual curves at most.
const CURVES: usize = 50;

/// Answers along a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Dependence {
    /// The column.
    pub column: String,
    /// The values: numbers, or seconds since 1970 of dates; `None` for text.
    pub numbers: Option<Vec<f64>>,
    /// The values as text.
    pub values: Vec<String>,
    /// The answers.
    pub answers: Vec<String>,
    /// For each answer its mean over the rows at each value.
    pub partial: Vec<Vec<f64>>,
    /// For each answer and each row the answer at each value.
    pub individual: Vec<Vec<Vec<f64>>>,
}

/// The dependence of all answers on a column, over up to 50 rows of a table; its values are up to 20 quantiles, or the
/// most frequent categories.
///
/// # Errors
/// When the model does not use the column, an answer needs a target, or the table has no rows or cannot be encoded.
pub fn dependence(explainer: &Explainer<'_>, table: &Table, column: &str) -> Result<Dependence> {
    let names = explainer.columns();
    let at = names.iter().position(|name| *name == column).ok_or_else(|| {
        Error::options(format!("the model does not use a column {column:?}; it uses {}", names.join(", ")))
    })?;
    if let Some(answer) = explainer.answers().iter().find(|answer| answer.needs_target()) {
        return Err(Error::options(format!("dependence of the score {} is not available", answer.name())));
    }
    let cells_of = table.column(column).ok_or_else(|| table.locate(Error::data(table.absent(&[column]))))?;
    let (encoded, _) = explainer.model().encoder().cells(table)?;
    let chosen = values_of(cells_of);
    let (rows, curves) = (table.rows(), table.rows().min(CURVES));
    // Evenly over the table.
    let curves: Vec<u32> = (0..curves).map(|curve| (curve * rows / curves) as u32).collect();
    let mut partial = vec![Vec::new(); explainer.answers().len()];
    let mut individual = vec![vec![Vec::new(); curves.len()]; explainer.answers().len()];
    let mut mask = vec![false; names.len()];
    mask[at] = true;
    let masks = mask.repeat(curves.len());
    for row in &chosen {
        let values = explainer.game().moved(&encoded, *row, &curves, &masks)?;
        for (answer, (partial, individual)) in partial.iter_mut().zip(&mut individual).enumerate() {
            let own = values.iter().skip(answer).step_by(explainer.answers().len());
            partial.push(own.clone().sum::<f64>() / curves.len() as f64);
            individual.iter_mut().zip(own).for_each(|(curve, value)| curve.push(*value));
        }
    }
    Ok(Dependence {
        column: column.to_string(),
        numbers: match cells_of {
            Column::Numbers(numbers) | Column::Times(numbers) => Some(chosen.iter().map(|row| numbers[*row]).collect()),
            Column::Text { .. } => None,
        },
        values: chosen.iter().map(|row| cell(cells_of, *row)).collect(),
        answers: explainer.answers().iter().map(|answer| answer.name().to_string()).collect(),
        partial,
        individual,
    })
}

/// Rows whose cells in a column are spread over its values: quantiles of numbers, or the most frequent categories.
fn values_of(column: &Column) -> Vec<usize> {
    match column {
        Column::Numbers(numbers) | Column::Times(numbers) => {
            let mut order: Vec<usize> = (0..numbers.len()).filter(|row| numbers[*row].is_finite()).collect();
            order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
            let last = order.len().saturating_sub(1);
            let mut different = order.clone();
            different.dedup_by_key(|row| numbers[*row].to_bits());
            if different.len() <= GRID {
                return different;
            }
            let mut chosen: Vec<usize> = (0..GRID).map(|at| order[at * last / (GRID - 1)]).collect();
            chosen.dedup_by_key(|row| numbers[*row].to_bits());
            chosen
        }
        Column::Text { codes, levels } => {
            let mut counts = vec![(0usize, usize::MAX); levels.len()];
            for (row, code) in codes.iter().enumerate().filter(|(_, code)| **code != MISSING) {
                let (count, first) = &mut counts[*code as usize];
                (*count, *first) = (*count + 1, (*first).min(row));
            }
            counts.retain(|(count, _)| *count > 0);
            counts.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            counts.truncate(GRID);
            counts.into_iter().map(|(_, first)| first).collect()
        }
    }
}
