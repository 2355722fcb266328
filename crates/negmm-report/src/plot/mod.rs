//! The plots of a report: a figure, its caption, its data as a table.

mod calibration;
mod explanation;
mod fit;
mod forecast;
mod inputs;
mod joint;
mod row;
mod scores;
mod sharpness;
mod survival;
mod training;
mod verification;

use negmm_draw::Figure;

pub use calibration::calibration;
pub use explanation::explanation;
pub use fit::fit;
pub use forecast::{by_step, fans, pit, seasons};
pub use inputs::inputs;
pub use joint::{joint_regions, joint_row, pairs, projections};
pub use row::{LEVELS, range as row_range, row};
pub use scores::{score_table, scores};
pub use sharpness::sharpness;
pub use survival::survival;
pub use training::training;
pub use verification::{murphy, reliability};

/// A plot.
pub struct Plot {
    /// Its name: the name of its SVG file without the extension.
    pub name: String,
    /// How to read it.
    pub caption: String,
    pub figure: Figure,
    pub table: TextTable,
}

/// A table of text: header and rows.
#[derive(Clone, Debug, Default)]
pub struct TextTable {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// Rows of the table of a plot, at most; more are thinned out.
const MAX_ROWS: usize = 40;

impl TextTable {
    pub fn new<const N: usize>(header: [&str; N]) -> Self {
        Self { header: header.map(String::from).into(), rows: Vec::new() }
    }

    pub fn push(&mut self, row: impl IntoIterator<Item = String>) {
        self.rows.push(row.into_iter().collect());
    }

    /// With these rows, thinned out evenly where there are many.
    pub fn filled(mut self, rows: impl IntoIterator<Item = Vec<String>>) -> Self {
        let rows: Vec<Vec<String>> = rows.into_iter().collect();
        self.rows = evenly_spaced(rows.len(), MAX_ROWS).into_iter().map(|at| rows[at].clone()).collect();
        self
    }
}

/// At most `max` of the numbers below `count`, evenly spaced from the first to the last.
pub fn evenly_spaced(count: usize, max: usize) -> Vec<usize> {
    if count <= max {
        return (0..count).collect();
    }
    (0..max).map(|at| at * (count - 1) / (max - 1).max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_thinned_out_evenly() {
        assert_eq!(evenly_spaced(3, 5), [0, 1, 2]);
        assert_eq!(evenly_spaced(100, 4), [0, 33, 66, 99]);
        assert_eq!(evenly_spaced(5, 1), [0]);
    }
}
