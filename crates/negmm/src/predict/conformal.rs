//! Which conformal predictor makes the intervals and regions of a query: a calibration, adaptive conformal inference along a
//! sequence, or none.

use super::query::Query;
use crate::conformal::{LabelColumns, Labels};
use crate::{Error, Model, Result};
use negmm_data::{Chunk, Schema, Table};

/// What conformal prediction sets of some rows need beside their predictions.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConformalInputs {
    /// Groups and weights, where the calibration needs them.
    Labels(Labels),
    /// The targets of a sequence, which its sets adapt to.
    Targets(Vec<f64>),
}

impl ConformalInputs {
    /// The inputs of the rows of a table, for a query of conformal sets. `groups` is the group of each row, empty where the table
    /// came without the column of groups.
    ///
    /// # Errors
    /// When the model was not calibrated, or the rows lack what the sets need.
    pub fn of_table(query: &Query, model: &Model, table: &Table, groups: Vec<String>) -> Result<Option<Self>> {
        if !query.conformal {
            return Ok(None);
        }
        if model.encoder().sequence().is_some() {
            return Ok(Some(Self::Targets(model.encoder().targets(table)?.into_owned())));
        }
        let columns = LabelColumns::of(model.known_calibration()?);
        if let Some(name) = columns.by.filter(|_| groups.is_empty()) {
            let message = format!("conformal sets are by the groups of column {name:?}, which the rows do not have");
            return Err(Error::data(message));
        }
        columns.with_groups(groups, table).and_then(|labels| Self::of_labels(labels, model, table)).map(Some)
    }

    /// Labels, with weights that follow from the inputs where the calibration has such.
    fn of_labels(labels: Labels, model: &Model, table: &Table) -> Result<Self> {
        let calibration = model.known_calibration()?;
        if !calibration.is_shifted() {
            return Ok(Self::Labels(labels));
        }
        let (data, _) = model.encoder().encode_features(table)?;
        Ok(Self::Labels(Labels { weights: calibration.shift_weights(&data).unwrap_or_default(), ..labels }))
    }

    /// Those of the rows of a chunk that was read by [`Query::schema`].
    ///
    /// # Errors
    /// As [`ConformalInputs::of_table`].
    pub fn of_chunk(query: &Query, model: &Model, chunk: &Chunk) -> Result<Option<Self>> {
        let calibrated = query.conformal && model.encoder().sequence().is_none();
        if !calibrated {
            return Self::of_table(query, model, &chunk.table, Vec::new());
        }
        let labels = LabelColumns::of(model.known_calibration()?).labels(chunk)?;
        Self::of_labels(labels, model, &chunk.table).map(Some)
    }
}

impl Query {
    /// The columns that are read from a file for this query, `keep` first among those that are kept.
    ///
    /// # Errors
    /// When the model of a query of conformal sets was not calibrated.
    pub fn schema(&self, model: &Model, keep: Vec<String>) -> Result<Schema> {
        let (encoder, sequence) = (model.encoder(), model.encoder().sequence().is_some());
        let mut schema = if self.conformal && sequence { encoder.schema_with_target() } else { encoder.schema() };
        schema.keep = keep;
        Ok(if self.conformal && !sequence {
            LabelColumns::of(model.known_calibration()?).added_to(schema)
        } else {
            schema
        })
    }
}
