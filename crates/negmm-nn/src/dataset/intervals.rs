//! Interval-censored targets of encoded rows: the two ends of each.

/// The interval of each row, in units of the standardised target. An end may be infinite. If the ends are equal, the target is
/// observed.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    pub(crate) lower: Vec<f32>,
    pub(crate) upper: Vec<f32>,
}

impl Intervals {
    /// The lower end of each row.
    pub fn lower(&self) -> &[f32] {
        &self.lower
    }

    /// The upper end of each row.
    pub fn upper(&self) -> &[f32] {
        &self.upper
    }

    /// Whether an end of the row is infinite.
    pub fn is_censored(&self, row: usize) -> bool {
        !(self.upper[row] - self.lower[row]).is_finite()
    }

    /// Some of the rows.
    pub(crate) fn select(&self, rows: &[u32]) -> Self {
        let pick = |list: &[f32]| rows.iter().map(|row| list[*row as usize]).collect();
        Self { lower: pick(&self.lower), upper: pick(&self.upper) }
    }
}
