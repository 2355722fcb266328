//! Groups and weights of rows for conformal sets, and the columns that hold them.

use super::Calibration;
use negmm_data::{Chunk, ColumnType, Schema, Table};
use negmm_dist::Result;

/// Groups and weights of rows, where a calibration needs them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// The group of each row, for guarantees within each group; otherwise empty.
    pub groups: Vec<String>,
    /// The weight of each row under covariate shift: the likelihood ratio of new rows to calibration rows; otherwise
    /// empty.
    pub weights: Vec<f64>,
}

impl Labels {
    /// The labels of a range of the rows.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let of = |list: &[String]| rows.iter().map(|row| list[*row].clone()).collect();
        let groups = if self.groups.is_empty() { Vec::new() } else { of(&self.groups) };
        let weights =
            if self.weights.is_empty() { Vec::new() } else { rows.iter().map(|row| self.weights[*row]).collect() };
        Self { groups, weights }
    }
}

/// The columns of the labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelColumns<'a> {
    /// Groups.
    pub by: Option<&'a str>,
    /// Weights.
    pub weight: Option<&'a str>,
}

impl<'a> LabelColumns<'a> {
    /// The columns that a calibration needs.
    pub fn of(calibration: &'a Calibration) -> Self {
        Self { by: calibration.by(), weight: calibration.weight() }
    }

    /// The schema extended by these columns; groups are kept as text, after all columns kept before.
    #[must_use]
    pub fn added_to(self, mut schema: Schema) -> Schema {
        schema.keep.extend(self.by.map(str::to_string));
        schema.columns.extend(self.weight.map(|name| (name.to_string(), ColumnType::number())));
        schema
    }

    /// The labels of a chunk that was read with such a schema.
    ///
    /// # Errors
    /// When a weight is missing or negative.
    pub fn labels(self, chunk: &Chunk) -> Result<Labels> {
        let column = self.by.and_then(|_| chunk.kept.last());
        let groups = column.map_or(Vec::new(), |column| column.cells().map(|cell| cell.trim().to_string()).collect());
        self.with_groups(groups, &chunk.table)
    }

    /// The labels of a table, whose groups are known.
    ///
    /// # Errors
    /// When a weight is missing or negative.
    pub fn with_groups(self, groups: Vec<String>, table: &Table) -> Result<Labels> {
        let weights =
            self.weight.map_or(Ok(Vec::new()), |name| table.sample_weights(name).map(|all| all.into_owned()))?;
        Ok(Labels { groups, weights })
    }
}
