//! What would narrow predictions, by regions of the inputs: the epistemic and the aleatoric part of the variance in bins
//! and categories of columns.

use serde::Serialize;

use super::acquire::verdict;
use crate::by_group::{cell, groups};
use crate::{Error, Model, Result};
use negmm_data::Table;

/// Rows at least in a region that is named.
const LEAST_ROWS: usize = 5;

/// A bin or a category of a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Region {
    /// The column.
    pub column: String,
    /// A category, or the range of a bin.
    pub region: String,
    /// Rows.
    pub rows: usize,
    /// The root of the mean epistemic variance: of the disagreement of members.
    pub epistemic: f64,
    /// The root of the mean aleatoric variance: of the noise that members expect.
    pub aleatoric: f64,
    /// What would help, in plain words.
    pub verdict: &'static str,
}

/// The regions of some columns of a table; none where the model has one member, and none of fewer than 5 rows.
///
/// # Errors
/// When the table lacks a column, or cannot be encoded.
pub fn regions(model: &Model, table: &Table, columns: &[&str]) -> Result<Vec<Region>> {
    if model.members() < 2 {
        return Ok(Vec::new());
    }
    let (mut aleatoric, mut epistemic) = (Vec::new(), Vec::new());
    model.predict_in_batches(table, |_, predictions| {
        let (within, between) = predictions.variance_by_members();
        aleatoric.extend(within);
        epistemic.extend(between);
        Ok(())
    })?;
    let table = model.encoder().with_times(table.clone())?;
    let mut found = Vec::new();
    for name in columns {
        let column = table.column(name).ok_or_else(|| table.locate(Error::data(table.absent(&[name]))))?;
        let cells: Vec<String> = (0..table.rows()).map(|row| cell(column, row)).collect();
        for (region, rows) in groups(&cells).into_iter().filter(|(_, rows)| rows.len() >= LEAST_ROWS) {
            let root = |of: &[f64]| (rows.iter().map(|row| of[*row]).sum::<f64>() / rows.len() as f64).sqrt();
            let (epistemic, aleatoric) = (root(&epistemic), root(&aleatoric));
            found.push(Region {
                column: name.to_string(),
                region,
                rows: rows.len(),
                epistemic,
                aleatoric,
                verdict: verdict(epistemic, aleatoric),
            });
        }
    }
    Ok(found)
}
