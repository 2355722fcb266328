//! Categorical columns of encoded rows, whose target encoding every network fits to its own training rows.

/// The code of a missing cell or of a category without statistics.
pub const NO_CATEGORY: u32 = u32::MAX;

/// Features of a category, see [`super::TargetEncoding`].
pub const STATISTICS: usize = 3;

/// One categorical column: the category of each row, and the features of its target encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CategoricalColumn {
    /// The first of its [`STATISTICS`] features; they are 0 until they are filled in.
    pub first: usize,
    /// The number of categories with statistics.
    pub levels: usize,
    /// For each row the number of its category, or [`NO_CATEGORY`].
    pub codes: Vec<u32>,
}

impl CategoricalColumn {
    /// The same for some of the rows.
    pub(crate) fn select(&self, rows: &[u32]) -> Self {
        let codes = rows.iter().map(|row| self.codes[*row as usize]).collect();
        Self { first: self.first, levels: self.levels, codes }
    }

    /// Whether its features are among `features` features and its codes among its categories, for `rows` rows.
    pub(crate) fn is_sound(&self, features: usize, rows: usize) -> bool {
        let inside = |code: &u32| *code == NO_CATEGORY || (*code as usize) < self.levels;
        self.first.checked_add(STATISTICS).is_some_and(|end| end <= features)
            && self.codes.len() == rows
            && self.codes.iter().all(inside)
    }
}
