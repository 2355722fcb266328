//! Groups and weights of rows for conformal sets, and the columns that hold them.

use super::Calibration;
use negmm_data::{Chunk, ColumnType, Schema, Table};
use negmm_dist::Result;

/// What is known of rows beside their predictions, where a calibration asks for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// The group of each row, where guarantees hold in each group; else none.
    pub groups: Vec<String>,
    /// How much each row counts, where new rows are of another kind than those that were held back: how many times as likely it is
    /// among new rows; else none.
    pub weights: Vec<f64>,
}

impl Labels {
    /// Those of some of the rows.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let of = |list: &[String]| rows.iter().map(|row| list[*row].clone()).collect();
        let groups = if self.groups.is_empty() { Vec::new() } else { of(&self.groups) };
        let weights =
            if self.weights.is_empty() { Vec::new() } else { rows.iter().map(|row| self.weights[*row]).collect() };
        Self { groups, weights }
    }
}

/// The columns that labels stand in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelColumns<'a> {
    /// Groups.
    pub by: Option<&'a str>,
    /// Weights.
    pub weight: Option<&'a str>,
}

impl<'a> LabelColumns<'a> {
    /// Those that a calibration asks for.
    pub fn of(calibration: &'a Calibration) -> Self {
        Self { by: calibration.by(), weight: calibration.weight() }
    }

    /// The schema of rows that have them too; groups are kept as text, after all that was kept before.
    #[must_use]
    pub fn added_to(self, mut schema: Schema) -> Schema {
        schema.keep.extend(self.by.map(str::to_string));
        schema.columns.extend(self.weight.map(|name| (name.to_string(), ColumnType::number())));
        schema
    }

    /// The labels of the rows of a chunk that was read by such a schema.
    ///
    /// # Errors
    /// When a weight is missing or negative.
    pub fn labels(self, chunk: &Chunk) -> Result<Labels> {
        let column = self.by.and_then(|_| chunk.kept.last());
        let groups = column.map_or(Vec::new(), |column| column.cells().map(|cell| cell.trim().to_string()).collect());
        self.with_groups(groups, &chunk.table)
    }

    /// The labels of the rows of a table, whose groups are known.
    ///
    /// # Errors
    /// When a weight is missing or negative.
    pub fn with_groups(self, groups: Vec<String>, table: &Table) -> Result<Labels> {
        let weights =
            self.weight.map_or(Ok(Vec::new()), |name| table.sample_weights(name).map(|all| all.into_owned()))?;
        Ok(Labels { groups, weights })
    }
}
