//! Features in column-major order, as trees need them; NaN where a value is missing.

use negmm_dist::{Error, Result};

/// Features, column by column: every column has as many numbers as there are rows, finite or NaN (missing).
#[derive(Clone, Debug)]
pub struct Columns<'a> {
    columns: Vec<&'a [f32]>,
    rows: usize,
}

impl<'a> Columns<'a> {
    /// A view of `columns`, each of `rows` numbers.
    ///
    /// # Errors
    /// When a column has another length or holds an infinite number.
    pub fn new(columns: &'a [Vec<f32>], rows: usize) -> Result<Self> {
        if u32::try_from(rows).is_err() {
            return Err(Error::data(format!("expected at most {} rows, found {rows}", u32::MAX)));
        }
        for (number, column) in columns.iter().enumerate() {
            let at = |error: Error| error.at(format!("feature {number}"));
            if column.len() != rows {
                return Err(at(Error::data(format!("expected {rows} rows, found {}", column.len()))));
            }
            if let Some(row) = column.iter().position(|x| x.is_infinite()) {
                return Err(at(
                    Error::data(format!("expected a finite number, found {}", column[row])).at_row(row as u64)
                ));
            }
        }
        Ok(Self { columns: columns.iter().map(Vec::as_slice).collect(), rows })
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Features.
    pub fn features(&self) -> usize {
        self.columns.len()
    }

    /// One column.
    pub(super) fn column(&self, feature: usize) -> &'a [f32] {
        self.columns[feature]
    }

    /// A copy of some rows.
    pub(super) fn select(&self, rows: &[u32]) -> Vec<Vec<f32>> {
        self.columns.iter().map(|column| rows.iter().map(|&row| column[row as usize]).collect()).collect()
    }
}
