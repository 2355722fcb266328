//! Rows without a target in evaluation data: left out and counted.

use negmm::{Error, Model, Table};

use crate::input;

/// Leaves out rows without a target, chunk by chunk.
pub struct WithoutTarget<'a> {
    model: &'a Model,
    left_out: usize,
    kept: usize,
    /// The error about a missing target.
    missing: Option<Error>,
}

impl<'a> WithoutTarget<'a> {
    /// None so far.
    pub fn new(model: &'a Model) -> Self {
        Self { model, left_out: 0, kept: 0, missing: None }
    }

    /// The rows of a chunk that have a target, if there are any. A sequence keeps all its rows: without one of them the others would
    /// not be consecutive.
    pub fn leave_out(&mut self, table: Table) -> Result<Option<Table>, Error> {
        let encoder = self.model.encoder();
        let rows = table.rows_with(&encoder.target().name)?;
        if rows.len() == table.rows() || encoder.sequence().is_some() {
            self.kept += table.rows();
            return Ok(Some(table));
        }
        self.kept += rows.len();
        self.left_out += table.rows() - rows.len();
        self.missing = self.missing.take().or_else(|| encoder.targets(&table).err());
        Ok((!rows.is_empty()).then(|| table.select_rows(&rows)))
    }

    /// A sentence that counts them; an error if no row has a target.
    pub fn finish(self) -> Result<Vec<String>, Error> {
        match self.missing {
            Some(error) if self.kept == 0 => Err(error),
            Some(_) => Ok(vec![input::without_target(self.left_out, &self.model.encoder().target().name)]),
            None => Ok(Vec::new()),
        }
    }
}
