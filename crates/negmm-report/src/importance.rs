//! Permutation importance of the inputs: the increase of the mean CRPS when the cells of an input are permuted.

use negmm::Rng;
use negmm::{Model, Result, Table};

use crate::evaluation_set::EvaluationSet;
use crate::reservoir::sample;

/// Rows, at most and at least.
const MAX_ROWS: usize = 1000;
const MIN_ROWS: usize = 100;
/// Pairs of components over all inputs and rows, at most: they bound the time.
const MAX_PAIRS: usize = 100_000_000;
/// The seed of the permutations, with a stream for each input.
const SEED: u64 = 1;

/// The importance of an input.
#[derive(Clone, Debug)]
pub struct Importance {
    /// The column.
    pub name: String,
    /// The increase of the mean CRPS; around 0 for an irrelevant input.
    pub crps_increase: f64,
}

/// The importance of all inputs, in descending order; empty for a sequence.
pub fn importance(model: &Model, evaluation: &EvaluationSet) -> Result<Vec<Importance>> {
    let Some(table) = &evaluation.table else { return Ok(Vec::new()) };
    let inputs: Vec<String> = model.encoder().schema().columns.into_iter().map(|(name, _)| name).collect();
    if inputs.is_empty() {
        return Ok(Vec::new());
    }
    // The CRPS of sample sets takes linear time.
    let components = evaluation.predictions.mixtures().map_or(4, |mixtures| mixtures.components());
    let rows = (MAX_PAIRS / (inputs.len() * components * components)).clamp(MIN_ROWS, MAX_ROWS);
    let rows = sample(evaluation.len(), rows);
    let table = table.select_rows(&rows);
    let y: Vec<f64> = rows.iter().map(|row| evaluation.y[*row]).collect();
    let weights: Vec<f64> = rows.iter().map(|row| evaluation.weight(*row)).collect();
    let total: f64 = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let crps = |table: &Table| -> Result<f64> {
        let scores = model.predict(table)?.crps(&y)?;
        Ok(scores.iter().zip(&weights).map(|(score, weight)| score * weight).sum::<f64>() / total)
    };
    let base = crps(&table)?;
    let mut all = Vec::new();
    for (stream, input) in inputs.into_iter().enumerate() {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        Rng::new(SEED, stream as u64).shuffle(&mut order);
        let columns = table.columns().map(|(name, column)| {
            let column = if name == input { column.select(&order) } else { column.clone() };
            (name, column)
        });
        all.push(Importance { crps_increase: crps(&Table::new(columns.collect())?)? - base, name: input });
    }
    all.sort_by(|a, b| b.crps_increase.total_cmp(&a.crps_increase));
    Ok(all)
}
