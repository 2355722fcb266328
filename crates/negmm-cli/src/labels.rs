//! Responsible for the columns that guaranteed sets ask of rows beside the model's inputs: groups and weights.

use negmm::conformal::{Calibration, Labels};
use negmm::data::{Chunk, Reading, Schema};
use negmm::{Error, Table};

/// Which columns there are.
#[derive(Clone, Copy, Debug, Default)]
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
    pub fn added_to(self, mut schema: Schema) -> Schema {
        schema.keep.extend(self.by.map(str::to_string));
        schema.columns.extend(self.weight.map(|name| (name.to_string(), Reading::number())));
        schema
    }

    /// The labels of the rows of a chunk, and the table of its rows.
    pub fn labels(self, chunk: &Chunk) -> Result<Labels, Error> {
        Ok(Labels { groups: self.groups(chunk), weights: self.weights(&chunk.table)? })
    }

    fn groups(self, chunk: &Chunk) -> Vec<String> {
        let column = self.by.and_then(|_| chunk.kept.last());
        column.map_or(Vec::new(), |column| column.cells().map(|cell| cell.trim().to_string()).collect())
    }

    fn weights(self, table: &Table) -> Result<Vec<f64>, Error> {
        self.weight.map_or(Ok(Vec::new()), |name| table.sample_weights(name).map(|weights| weights.into_owned()))
    }
}

/// The labels of some of the rows.
pub fn select(labels: &Labels, rows: &[usize]) -> Labels {
    let groups = if labels.groups.is_empty() {
        Vec::new()
    } else {
        rows.iter().map(|row| labels.groups[*row].clone()).collect()
    };
    let weights =
        if labels.weights.is_empty() { Vec::new() } else { rows.iter().map(|row| labels.weights[*row]).collect() };
    Labels { groups, weights }
}
