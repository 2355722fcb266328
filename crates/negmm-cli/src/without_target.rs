//! Responsible for rows without a target in data that is scored: they are left out and counted.

use negmm::{Error, Model, Table};

use crate::input;

/// Leaves out rows without a target, chunk by chunk.
pub struct WithoutTarget<'a> {
    model: &'a Model,
    left_out: usize,
    kept: usize,
    /// The complaint about a target that is missing.
    complaint: Option<Error>,
}

impl<'a> WithoutTarget<'a> {
    /// None so far.
    pub fn new(model: &'a Model) -> Self {
        Self { model, left_out: 0, kept: 0, complaint: None }
    }

    /// The rows of a chunk that have a target, if there are some. A sequence stays whole: without a step the others would not
    /// follow each other.
    pub fn leave_out(&mut self, table: Table) -> Result<Option<Table>, Error> {
        let encoder = self.model.encoder();
        let rows = table.rows_with(&encoder.target().name)?;
        if rows.len() == table.rows() || encoder.sequence().is_some() {
            self.kept += table.rows();
            return Ok(Some(table));
        }
        self.kept += rows.len();
        self.left_out += table.rows() - rows.len();
        self.complaint = self.complaint.take().or_else(|| encoder.targets(&table).err());
        Ok((!rows.is_empty()).then(|| table.select_rows(&rows)))
    }

    /// The sentence that counts them; an error where no row has a target.
    pub fn finish(self) -> Result<Vec<String>, Error> {
        match self.complaint {
            Some(error) if self.kept == 0 => Err(error),
            Some(_) => Ok(vec![input::without_target(self.left_out, &self.model.encoder().target().name)]),
            None => Ok(Vec::new()),
        }
    }
}
