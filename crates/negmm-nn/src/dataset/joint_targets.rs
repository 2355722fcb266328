//! Several standardised targets of each row.

/// Standardised targets, rows × targets; NaN where one is unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct JointTargets {
    pub(crate) targets: usize,
    pub(crate) values: Vec<f32>,
}

impl JointTargets {
    /// The number of targets.
    pub fn targets(&self) -> usize {
        self.targets
    }

    /// All values, rows × targets.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    pub(super) fn select(&self, rows: &[u32]) -> Self {
        let row = |row: &u32| &self.values[*row as usize * self.targets..][..self.targets];
        Self { targets: self.targets, values: rows.iter().flat_map(row).copied().collect() }
    }
}
