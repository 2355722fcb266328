//! Permutation loss: how much worse the scores become when the cells of a column are permuted among rows, without
//! fitting again (Breiman, 2001; Fisher, Rudin and Dominici, 2019).

use serde::Serialize;

use crate::{Error, Model, Result, Rng};
use negmm_data::{Cells, Table, Warnings};
use negmm_dist::streams;

/// Rows at once.
const BATCH: usize = 4096;

/// The increase of the scores when a column is permuted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PermutationLoss {
    /// The column.
    pub column: String,
    /// The increase of the mean CRPS; about 0 for a column without information.
    pub crps: f64,
    /// Its standard error over rows.
    pub crps_error: f64,
    /// The increase of the mean logarithmic score, over the rows whose target the model does not take for impossible.
    pub nll: f64,
    /// Its standard error over rows.
    pub nll_error: f64,
    /// The rows whose target it takes for impossible: their logarithmic score is infinite.
    pub impossible: usize,
}

/// The permutation loss of each column, in the order of the model's columns, over `repeats` permutations.
///
/// # Errors
/// When the table cannot be encoded or lacks the target, or targets are censored.
pub fn permutation_losses(
    model: &Model,
    table: &Table,
    weights: Option<&[f64]>,
    repeats: usize,
    seed: u64,
) -> Result<(Vec<PermutationLoss>, Warnings)> {
    if model.encoder().target().is_censored() {
        return Err(Error::options("permutation loss is not available for censored targets"));
    }
    let (cells, warnings) = model.encoder().cells(table)?;
    let y = model.encoder().targets(table)?;
    let blocks = model.encoder().column_blocks();
    let rows: Vec<u32> = (0..cells.rows() as u32).collect();
    let scores = |column: Option<usize>, order: &[u32]| scores(model, &cells, (&rows, order), column, &y);
    let before = scores(None, &rows)?;
    let possible: Vec<usize> = (0..rows.len()).filter(|row| before[*row][1].is_finite()).collect();
    let mut losses = Vec::new();
    for (at, name) in blocks.names().iter().enumerate() {
        let mut increases = vec![[0.0; 2]; rows.len()];
        for repeat in 0..repeats.max(1) {
            let mut order = rows.clone();
            let stream =
                streams::EXPLANATIONS.wrapping_add(1 << 32).wrapping_add((at * repeats.max(1) + repeat) as u64);
            Rng::new(seed, stream).shuffle(&mut order);
            for ((sum, after), before) in increases.iter_mut().zip(scores(Some(at), &order)?).zip(&before) {
                (0..2).for_each(|score| sum[score] += (after[score] - before[score]) / repeats.max(1) as f64);
            }
        }
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let crps: Vec<(f64, f64)> = increases.iter().enumerate().map(|(row, own)| (own[0], weight(row))).collect();
        let nll: Vec<(f64, f64)> = possible.iter().map(|row| (increases[*row][1], weight(*row))).collect();
        let [crps, nll] = [crps, nll].map(|values| mean_and_error(&values));
        losses.push(PermutationLoss {
            column: name.to_string(),
            crps: crps.0,
            crps_error: crps.1,
            nll: nll.0,
            nll_error: nll.1,
            impossible: rows.len() - possible.len(),
        });
    }
    Ok((losses, warnings))
}

/// CRPS and logarithmic score of each row with one column from the row that `order` has at its place.
fn scores(
    model: &Model,
    cells: &Cells,
    (rows, order): (&[u32], &[u32]),
    column: Option<usize>,
    y: &[f64],
) -> Result<Vec<[f64; 2]>> {
    let blocks = model.encoder().column_blocks();
    let columns = blocks.names().len();
    let mut scores = Vec::with_capacity(rows.len());
    for (batch, (rows, order)) in rows.chunks(BATCH).zip(order.chunks(BATCH)).enumerate() {
        let mut masks = vec![false; rows.len() * columns];
        if let Some(column) = column {
            masks.iter_mut().skip(column).step_by(columns).for_each(|mask| *mask = true);
        }
        let predictions = model.predict_encoded(&blocks.mixed((cells, order), (cells, rows), &masks))?;
        let y = &y[batch * BATCH..][..rows.len()];
        scores.extend(predictions.crps(y)?.into_iter().zip(predictions.nll(y)?).map(|(crps, nll)| [crps, nll]));
    }
    Ok(scores)
}

/// The mean of values with weights, and its standard error; NaN of no values.
fn mean_and_error(values: &[(f64, f64)]) -> (f64, f64) {
    if values.is_empty() {
        return (f64::NAN, f64::NAN);
    }
    let total: f64 = values.iter().map(|(_, weight)| weight).sum::<f64>().max(f64::MIN_POSITIVE);
    let mean = values.iter().map(|(value, weight)| weight * value).sum::<f64>() / total;
    let part = |(value, weight): &(f64, f64)| weight / total * (value - mean);
    (mean, values.iter().map(|own| part(own) * part(own)).sum::<f64>().sqrt())
}
