//! The game of a row against a background row: the answers for rows that take some columns from one and the others from
//! the other.

use super::Answer;
use crate::{Model, Result};
use negmm_data::{Cells, ColumnBlocks};

/// Rows predicted at once, which bounds memory.
const BATCH: usize = 4096;

/// What is needed to predict mixed rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Game<'a> {
    pub model: &'a Model,
    pub blocks: &'a ColumnBlocks<'a>,
    pub background: &'a Cells,
    pub answers: &'a [Answer],
}

/// A row that is explained.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub cells: &'a Cells,
    pub row: usize,
    /// Its target, for scores.
    pub y: Option<f64>,
}

impl Game<'_> {
    /// For each of `others` the answers of the row that has the columns of its mask from `row`, all others from that row
    /// of the background: others × answers. `masks` is others × columns.
    pub fn values(&self, row: Row<'_>, others: &[u32], masks: &[bool]) -> Result<Vec<f64>> {
        let columns = self.blocks.names().len();
        let mut values = Vec::with_capacity(others.len() * self.answers.len());
        let own = vec![row.row as u32; others.len().min(BATCH)];
        for (batch, others) in others.chunks(BATCH).enumerate() {
            let masks = &masks[batch * BATCH * columns..][..others.len() * columns];
            let data = self.blocks.mixed((row.cells, &own[..others.len()]), (self.background, others), masks);
            values.extend(Answer::all_values(self.answers, &self.model.predict_encoded(&data)?, row.y)?);
        }
        Ok(values)
    }

    /// The answers of `rows` of `cells` with the columns of their masks from row `from`: rows × answers.
    pub fn moved(&self, cells: &Cells, from: usize, rows: &[u32], masks: &[bool]) -> Result<Vec<f64>> {
        let from = vec![from as u32; rows.len()];
        let data = self.blocks.mixed((cells, &from), (cells, rows), masks);
        Answer::all_values(self.answers, &self.model.predict_encoded(&data)?, None)
    }

    /// The answers of rows as they are: rows × answers; `y` has a target for each, or none.
    pub fn values_of(&self, cells: &Cells, y: Option<&[f64]>) -> Result<Vec<f64>> {
        let columns = self.blocks.names().len();
        let rows: Vec<u32> = (0..cells.rows() as u32).collect();
        let mut values = Vec::with_capacity(rows.len() * self.answers.len());
        for rows in rows.chunks(BATCH) {
            let masks = vec![false; rows.len() * columns];
            let predictions = self.model.predict_encoded(&self.blocks.mixed((cells, rows), (cells, rows), &masks))?;
            match y {
                None => values.extend(Answer::all_values(self.answers, &predictions, None)?),
                Some(y) => {
                    for (at, row) in rows.iter().enumerate() {
                        let own = predictions.select(&[at]);
                        values.extend(Answer::all_values(self.answers, &own, Some(y[*row as usize]))?);
                    }
                }
            }
        }
        Ok(values)
    }
}
