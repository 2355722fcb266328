//! Interactions of pairs of columns: the Shapley interaction index (Grabisch and Roubens, 1999).
//!
//! ```text
//! I_ij = E over permutations in which i and j are neighbours of
//!        v(S, i, j) - v(S, i) - v(S, j) + v(S)          S: the columns before them
//! ```
//!
//! It is 0 where the answer is a sum of a function without i and one without j. For each background row one permutation
//! is walked in both directions, which is exact for up to three columns. The standard error is that of one pair of walks
//! a background row, as of contributions.

use rayon::prelude::*;
use serde::Serialize;

use super::explainer::squared_errors;
use super::game::Row;
use super::{Explainer, Explanation};
use crate::{Error, Result, Rng};
use negmm_data::Table;
use negmm_dist::streams;

/// The columns whose pairs are looked at: those with the largest contributions.
const STRONGEST: usize = 5;
/// Columns up to which a permutation and its reverse have all that can stand before a pair.
const EXACT: usize = 3;

/// How much two columns interact in an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Interaction {
    /// The two columns.
    pub columns: [String; 2],
    /// The answer.
    pub answer: String,
    /// The mean over rows of the absolute interaction.
    pub strength: f64,
    /// The mean over rows of the interaction with its sign.
    pub mean: f64,
    /// The typical (root mean square) standard error of the interaction of one row; 0 where it is exact.
    pub error: f64,
}

/// The interactions of the columns with the largest contributions in `explanation`, for all rows of a table and all
/// answers of the explainer, the strongest first within each answer.
///
/// # Errors
/// When the table cannot be encoded, or an answer needs a target.
pub fn interactions(explainer: &Explainer<'_>, explanation: &Explanation, table: &Table) -> Result<Vec<Interaction>> {
    if let Some(answer) = explainer.answers().iter().find(|answer| answer.needs_target()) {
        return Err(Error::options(format!("interactions in the score {} are not available", answer.name())));
    }
    let (cells, _) = explainer.model().encoder().cells(table)?;
    let answers = explainer.answers().len();
    let strongest: Vec<Vec<(usize, usize)>> = (0..answers).map(|answer| pairs(explanation, answer)).collect();
    // A pair is evaluated once for all answers.
    let mut all: Vec<(usize, usize)> = strongest.concat();
    all.sort_unstable();
    all.dedup();
    // Rows × (answers, and squared standard errors of answers) of each pair.
    let values: Vec<Vec<f64>> = all
        .iter()
        .map(|pair| {
            let rows = (0..cells.rows()).into_par_iter();
            let of = |row: usize| of_row(explainer, Row { cells: &cells, row, y: None }, *pair);
            rows.map(of).collect::<Result<Vec<_>>>().map(|rows| rows.concat())
        })
        .collect::<Result<_>>()?;
    let mut found = Vec::new();
    for (at, answer) in explainer.answers().iter().enumerate() {
        let one = |(i, j): &(usize, usize)| {
            let own = all.binary_search(&(*i, *j)).map_or(&[][..], |pair| &values[pair]);
            let mean = |at: usize, of: &dyn Fn(f64) -> f64| {
                let values = own.iter().skip(at).step_by(2 * answers);
                values.map(|value| of(*value)).sum::<f64>() / cells.rows().max(1) as f64
            };
            let names = explainer.columns();
            Interaction {
                columns: [names[*i].to_string(), names[*j].to_string()],
                answer: answer.name().to_string(),
                strength: mean(at, &f64::abs),
                mean: mean(at, &|value| value),
                error: mean(answers + at, &|variance| variance).sqrt(),
            }
        };
        let mut own: Vec<Interaction> = strongest[at].iter().map(one).collect();
        own.sort_by(|a, b| b.strength.total_cmp(&a.strength));
        found.extend(own);
    }
    Ok(found)
}

/// The pairs of the columns with the largest contributions to an answer, each in the order of the columns.
fn pairs(explanation: &Explanation, answer: usize) -> Vec<(usize, usize)> {
    let strengths = explanation.mean_absolute(answer, None);
    let mut order: Vec<usize> = (0..strengths.len()).filter(|column| strengths[*column] > 0.0).collect();
    order.sort_by(|a, b| strengths[*b].total_cmp(&strengths[*a]));
    order.truncate(STRONGEST);
    let order = &order;
    let after = |at: usize| order[at + 1..].iter().map(move |j| (order[at], *j));
    (0..order.len()).flat_map(after).map(|(i, j)| (i.min(j), i.max(j))).collect()
}

/// The interaction of two columns in each answer for one row, by a permutation for each background row that is
/// walked in both directions, and then their squared standard errors.
fn of_row(explainer: &Explainer<'_>, row: Row<'_>, (i, j): (usize, usize)) -> Result<Vec<f64>> {
    let columns = explainer.columns().len();
    let background = explainer.background();
    let (mut others, mut masks) = (Vec::new(), Vec::new());
    for other in 0..background.rows() {
        let stream = streams::EXPLANATIONS.wrapping_add(2 << 32).wrapping_add(other as u64);
        let mut rest: Vec<usize> = (0..columns).filter(|column| *column != j).collect();
        Rng::new(explainer.random_seed(), stream).shuffle(&mut rest);
        let place = rest.iter().position(|column| *column == i).unwrap_or(0);
        for before in [&rest[..place], &rest[place + 1..]] {
            for with in [&[][..], &[i], &[j], &[i, j]] {
                let mut mask = vec![false; columns];
                before.iter().chain(with).for_each(|column| mask[*column] = true);
                masks.extend(mask);
                others.push(other as u32);
            }
        }
    }
    let values = explainer.game().values(row, &others, &masks)?;
    let answers = explainer.answers().len();
    // Background rows × answers, weighted.
    let parts: Vec<Vec<f64>> = (values.chunks(8 * answers).zip(background.weights()))
        .map(|(values, weight)| {
            let at = |mask: usize, answer: usize| values[mask * answers + answer];
            let one = |first: usize, answer: usize| {
                at(first + 3, answer) - at(first + 2, answer) - at(first + 1, answer) + at(first, answer)
            };
            (0..answers).map(|answer| weight * (0.5 * (one(0, answer) + one(4, answer)))).collect()
        })
        .collect();
    let mut sums: Vec<f64> = (0..answers).map(|answer| parts.iter().map(|part| part[answer]).sum()).collect();
    sums.resize(2 * answers, 0.0);
    if columns > EXACT {
        squared_errors(&mut sums[answers..], &parts);
    }
    Ok(sums)
}
