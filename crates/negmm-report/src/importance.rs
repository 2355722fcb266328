//! Responsible for how much each input matters: by how much the CRPS grows when the input's cells change places between rows.

use negmm::Rng;
use negmm::{Model, Result, Table};

use crate::cases::Cases;
use crate::reservoir::sample;

/// Rows at most and at least.
const MOST_ROWS: usize = 1000;
const LEAST_ROWS: usize = 100;
/// Pairs of components, over all inputs and rows, that the score is worth.
const MOST_PAIRS: usize = 100_000_000;
/// Starts the exchange of cells, a stream for each input.
const SEED: u64 = 1;

/// An input and what it is worth.
#[derive(Clone, Debug)]
pub struct Importance {
    /// The column.
    pub name: String,
    /// How much the mean CRPS grows without its knowledge; a little below 0 for one that tells nothing.
    pub loss: f64,
}

/// All inputs that the model uses, the most important first; none for a sequence.
pub fn importance(model: &Model, cases: &Cases) -> Result<Vec<Importance>> {
    let Some(table) = &cases.table else { return Ok(Vec::new()) };
    let inputs: Vec<String> = model.encoder().schema().columns.into_iter().map(|(name, _)| name).collect();
    if inputs.is_empty() {
        return Ok(Vec::new());
    }
    // Sets of samples are scored in one walk through them.
    let components = cases.predictions.mixtures().map_or(4, |mixtures| mixtures.components());
    let rows = (MOST_PAIRS / (inputs.len() * components * components)).clamp(LEAST_ROWS, MOST_ROWS);
    let rows = sample(cases.len(), rows);
    let table = table.select_rows(&rows);
    let y: Vec<f64> = rows.iter().map(|row| cases.y[*row]).collect();
    let weights: Vec<f64> = rows.iter().map(|row| cases.weight(*row)).collect();
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
        all.push(Importance { loss: crps(&Table::new(columns.collect())?)? - base, name: input });
    }
    all.sort_by(|a, b| b.loss.total_cmp(&a.loss));
    Ok(all)
}
