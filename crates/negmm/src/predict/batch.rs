//! A batch of rows that a model has predicted, and its columns.

use super::columns::{Block, Columns, Field};
use super::conformal::ConformalInputs;
use super::query::Query;
use crate::conformal::{AdaptiveConformal, ConformalPredictor};
use crate::{Model, Predictions, Result};
use negmm_data::{KeptColumn, PredictedRows, Table, Warnings};

/// A batch of rows that a model has predicted.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    model: &'a Model,
    predictions: &'a Predictions,
    rows: PredictedRows,
    first_row: u64,
    kept: &'a [KeptColumn],
    conformal: Option<&'a ConformalInputs>,
}

impl<'a> Batch<'a> {
    /// The predictions of a model for a table of `table_rows` rows.
    pub fn new(model: &'a Model, predictions: &'a Predictions, table_rows: usize) -> Self {
        let rows = model.encoder().predicted_rows(table_rows);
        Self { model, predictions, rows, first_row: 0, kept: &[], conformal: None }
    }

    /// The same after `rows` rows of earlier batches, for the random draws.
    #[must_use]
    pub fn after(self, first_row: u64) -> Self {
        Self { first_row, ..self }
    }

    /// The same with columns of the data, which come first in the output.
    #[must_use]
    pub fn keep(self, kept: &'a [KeptColumn]) -> Self {
        Self { kept, ..self }
    }

    /// The same with what conformal sets need.
    #[must_use]
    pub fn conformal(self, inputs: Option<&'a ConformalInputs>) -> Self {
        Self { conformal: inputs, ..self }
    }
}

/// The columns of a batch, and how its conformal sets were made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BatchColumns<'a> {
    /// The columns.
    pub columns: Columns<'a>,
    /// The sets of a sequence, for conformal sets.
    pub adaptive: Option<AdaptiveConformal>,
    /// Rows of groups that the model was not calibrated for.
    pub unseen_groups: usize,
}

impl Query {
    /// All columns of an output with these kept ones: the number of the row, where rows are a sequence, the kept columns, and those
    /// of the predictions.
    ///
    /// # Errors
    /// When two have one name, or the model cannot answer.
    pub fn output_fields(&self, model: &Model, keep: &[String]) -> Result<Vec<Field>> {
        let number = model.encoder().sequence().map(|_| row_number());
        let kept = keep.iter().map(|name| kept_field(name));
        self.fields_after(number.into_iter().chain(kept).collect(), model)
    }

    /// The columns of a batch, in the order of [`Query::output_fields`].
    ///
    /// # Errors
    /// When the model cannot answer, or the batch lacks what conformal sets need.
    pub fn batch_columns<'a>(&self, batch: &Batch<'a>) -> Result<BatchColumns<'a>> {
        let Batch { model, predictions, rows, first_row, kept, conformal } = *batch;
        let (mut adaptive, mut unseen_groups) = (None, 0);
        let columns = match conformal.filter(|_| self.conformal) {
            None => self.columns(predictions, first_row)?,
            Some(ConformalInputs::Labels(labels)) => {
                let calibration = model.known_calibration()?;
                unseen_groups = calibration.unseen_groups(labels);
                self.columns_with(predictions, first_row, Some(ConformalPredictor::Calibrated(calibration, labels)))?
            }
            Some(ConformalInputs::Targets(targets)) => {
                // The step after the last has no target yet.
                let mut targets = targets.clone();
                targets.resize(predictions.len(), f64::NAN);
                let sets = adaptive.insert(AdaptiveConformal::of_sequence(&self.sets(), predictions, &targets)?);
                self.columns_with(predictions, first_row, Some(ConformalPredictor::Adaptive(sets)))?
            }
        };
        let before = before(model, rows, predictions.len(), kept);
        Ok(BatchColumns { columns: columns.between(before, (Vec::new(), Vec::new()))?, adaptive, unseen_groups })
    }

    /// The columns of the rows of a table, in the order of [`Query::output_fields`], and warnings about these rows: as those of a
    /// batch, with few distributions in memory at a time. `first_row` rows came before these. Without conformal sets.
    ///
    /// # Errors
    /// When the table cannot be encoded, two columns have one name, or the model cannot answer.
    pub fn table_columns<'a>(
        &self,
        model: &Model,
        table: &Table,
        first_row: u64,
        kept: &'a [KeptColumn],
    ) -> Result<(Columns<'a>, Warnings)> {
        let (data, warnings) = model.encoded_features(table)?;
        let columns = self.answer(model, &data, first_row)?;
        let before = before(model, model.encoder().predicted_rows(table.rows()), columns.rows(), kept);
        Ok((columns.between(before, (Vec::new(), Vec::new()))?, warnings))
    }
}

/// The columns before those of the predictions: the number of the row, where rows are a sequence, and those that are kept.
fn before<'a>(model: &Model, rows: PredictedRows, count: usize, kept: &'a [KeptColumn]) -> Vec<(Field, Block<'a>)> {
    let mut before = Vec::with_capacity(kept.len() + 1);
    if model.encoder().sequence().is_some() {
        let numbers = (0..count).map(|at| rows.number(at) as i64).collect();
        before.push((row_number(), Block::Integer(numbers)));
    }
    let first = rows.first();
    before.extend(kept.iter().map(|column| (kept_field(column.name()), Block::Kept { column, first })));
    before
}

fn row_number() -> Field {
    Field::integer("row", "the number of the row")
}

fn kept_field(name: &str) -> Field {
    Field::text(name, "the kept column")
}
