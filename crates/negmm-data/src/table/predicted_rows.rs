//! Which row of a table a prediction is of: every row has one, but of a sequence only those that a whole window
//! comes before, and the step after the last row.

use std::ops::Range;

/// The rows of a table that are predicted, in order.
///
/// Of a table of n rows these are the rows 0 … n - 1; of a sequence with window w the rows w … n - 1, and with a forecast the
/// step n too, which is no row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictedRows {
    window: Option<usize>,
    table_rows: usize,
    forecast: bool,
}

impl PredictedRows {
    /// The rows with a target, for a table of `table_rows` rows; `window` is that of a sequence.
    pub(crate) fn new(window: Option<usize>, table_rows: usize) -> Self {
        Self { window, table_rows, forecast: false }
    }

    /// All rows of a table of `rows` rows.
    pub fn all(rows: usize) -> Self {
        Self::new(None, rows)
    }

    /// And the step after the last row, where rows are steps in time: what `Model::predict` gives.
    #[must_use]
    pub fn with_forecast(self) -> Self {
        Self { forecast: self.window.is_some(), ..self }
    }

    /// Predictions.
    pub fn len(&self) -> usize {
        (self.table_rows + usize::from(self.forecast)).saturating_sub(self.first())
    }

    /// Whether there is no prediction.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row of the first prediction: the rows before it have none.
    pub fn first(&self) -> usize {
        self.window.unwrap_or(0)
    }

    /// The step in time that a prediction is of: a row of the table, or the step after the last.
    pub fn step(&self, at: usize) -> usize {
        self.first() + at
    }

    /// The row of the table that a prediction is of; none for the step after the last row.
    pub fn table_row(&self, at: usize) -> Option<usize> {
        Some(self.step(at)).filter(|row| *row < self.table_rows)
    }

    /// The number of that row, or of the step after the last, as people count: from 1.
    pub fn number(&self, at: usize) -> usize {
        self.step(at) + 1
    }

    /// Of one thing for each row of the table, those of the rows that are predicted.
    pub fn of<'a, T>(&self, cells: &'a [T]) -> &'a [T] {
        &cells[self.first().min(cells.len())..]
    }

    /// The rows before row `row` of the table that its prediction looks at: its window, as far as there is one.
    pub fn before(&self, row: usize) -> Range<usize> {
        row.saturating_sub(self.first())..row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_a_table_is_predicted() {
        let rows = PredictedRows::new(None, 3);
        assert_eq!(rows.with_forecast(), rows);
        assert_eq!((rows.len(), rows.first(), rows.number(2)), (3, 0, 3));
        assert_eq!((rows.table_row(2), rows.table_row(3)), (Some(2), None));
        assert_eq!(rows.of(&[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
        assert_eq!(rows.before(2), 2..2);
        assert!(PredictedRows::new(None, 0).is_empty());
    }

    #[test]
    fn a_sequence_begins_after_its_first_window_and_goes_one_step_further() {
        let known = PredictedRows::new(Some(3), 5);
        assert_eq!((known.len(), known.first(), known.number(0)), (2, 3, 4));
        assert_eq!((known.table_row(1), known.of(&["a", "b", "c", "d", "e"])), (Some(4), &["d", "e"][..]));
        let all = known.with_forecast();
        assert_eq!((all.len(), all.table_row(2), all.number(2)), (3, None, 6));
        assert_eq!((all.before(4), all.before(1)), (1..4, 0..1));
    }

    #[test]
    fn a_short_table_has_no_prediction() {
        for (rows, known, all) in [(3, 0, 1), (2, 0, 0), (0, 0, 0)] {
            let predicted = PredictedRows::new(Some(3), rows);
            assert_eq!((predicted.len(), predicted.with_forecast().len()), (known, all));
        }
        assert!(PredictedRows::new(Some(3), 2).of(&[1, 2]).is_empty());
    }
}
