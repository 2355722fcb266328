//! Novelty: how far each row lies outside the ranges of the training rows, and which input is responsible.
//!
//! With a_i and b_i the smallest and the largest value of number i in training and s_i its sd there, a row lies outside by
//!
//! ```text
//! d_i = max(a_i - x_i, x_i - b_i, 0) / s_i        novelty = the largest of all d_i
//! ```
//!
//! Times and differences of times are numbers too. An unseen category, or a missing cell in a column without missing cells in training,
//! counts as 1. Columns that were constant in training are ignored.

use std::sync::Arc;

/// How far each row lies outside the ranges of the training rows. Only rows outside are stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Novelty {
    rows: usize,
    /// The rows that lie outside, in order, each once.
    outside: Vec<(usize, Outside)>,
    /// The names of the inputs.
    inputs: Arc<[String]>,
}

/// The novelty of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outside {
    /// The largest distance, in standard deviations.
    distance: f64,
    /// The input with this distance.
    input: usize,
    /// The sum over all numbers of the squares of distance times slope.
    variance: f64,
}

/// The novelty of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Beyond {
    /// The distance of a number from the training range, in standard deviations.
    By(f64),
    /// An unseen category or missing cell.
    Unseen,
}

impl Beyond {
    /// The distance of an unseen category.
    const UNSEEN: f64 = 1.0;

    fn outside(self, input: usize, slope: f64) -> Outside {
        match self {
            Self::By(distance) => Outside { distance, input, variance: (slope * distance) * (slope * distance) },
            Self::Unseen => Outside { distance: Self::UNSEEN, input, variance: 0.0 },
        }
    }
}

impl Outside {
    /// The novelty of two cells, or two steps, of a row; the first is responsible if both distances are equal.
    fn and(self, other: Self) -> Self {
        let Self { distance, input, .. } = if other.distance > self.distance { other } else { self };
        Self { distance, input, variance: self.variance + other.variance }
    }
}

impl Novelty {
    /// `cells` are (row, input, novelty) of the cells outside, by input and then by row; `slopes` are the slopes of the target beyond
    /// the range of each input, in sds of the target per sd of the input (0 by default).
    #[doc(hidden)]
    pub fn new(rows: usize, inputs: Vec<String>, slopes: &[f64], cells: Vec<(usize, usize, Beyond)>) -> Self {
        let slope = |input: usize| slopes.get(input).copied().unwrap_or(0.0);
        let outside =
            cells.into_iter().map(|(row, input, beyond)| (row, beyond.outside(input, slope(input)))).collect();
        Self { rows, outside: joined(outside), inputs: inputs.into() }
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The number of rows that lie outside.
    pub fn outside(&self) -> usize {
        self.outside.len()
    }

    /// The distance of each row, in standard deviations of the responsible input; 0 inside.
    pub fn distances(&self) -> Vec<f64> {
        let mut distances = vec![0.0; self.rows];
        self.outside.iter().for_each(|(row, outside)| distances[*row] = outside.distance);
        distances
    }

    /// The responsible input of each row that lies outside.
    pub fn inputs(&self) -> Vec<Option<&str>> {
        let mut inputs = vec![None; self.rows];
        self.responsible().for_each(|(row, input)| inputs[row] = Some(input));
        inputs
    }

    /// The rows that lie outside, each with the responsible input.
    pub fn responsible(&self) -> impl Iterator<Item = (usize, &str)> {
        self.outside.iter().map(|(row, outside)| (*row, self.inputs[outside.input].as_str()))
    }

    /// The rows outside whose variance increases, each with the added variance in units of the standardised target.
    pub fn variances(&self) -> impl Iterator<Item = (usize, f64)> {
        self.outside.iter().map(|(row, outside)| (*row, outside.variance)).filter(|(_, variance)| *variance > 0.0)
    }

    /// The novelty of some rows, in this order.
    pub fn select(&self, rows: impl ExactSizeIterator<Item = usize>) -> Self {
        let count = rows.len();
        let of = |(at, row): (usize, usize)| {
            let found = self.outside.binary_search_by_key(&row, |(row, _)| *row).ok()?;
            Some((at, self.outside[found].1))
        };
        Self { rows: count, outside: rows.enumerate().filter_map(of).collect(), inputs: self.inputs.clone() }
    }

    /// The novelty of these rows and of others after them, for the same inputs.
    #[must_use]
    pub fn followed_by(mut self, others: &Self) -> Self {
        self.outside.extend(others.outside.iter().map(|(row, outside)| (self.rows + row, *outside)));
        self.rows += others.rows;
        self
    }

    /// The novelty of windows of `window` rows, one ending with each row from the `window`-th on, `count` in total.
    pub fn of_windows(&self, window: usize, count: usize) -> Self {
        // Window t has the rows t … t + window - 1.
        let windows_of = |row: usize| (row + 1).saturating_sub(window)..(row + 1).min(count);
        let spread =
            |(row, outside): &(usize, Outside)| windows_of(*row).map(move |at| (at, *outside)).collect::<Vec<_>>();
        Self {
            rows: count,
            outside: joined(self.outside.iter().flat_map(spread).collect()),
            inputs: self.inputs.clone(),
        }
    }
}

/// One entry per row, in order.
fn joined(mut outside: Vec<(usize, Outside)>) -> Vec<(usize, Outside)> {
    outside.sort_by_key(|(row, _)| *row);
    let same = outside.chunk_by(|(row, _), (other, _)| row == other);
    same.filter_map(|same| same.iter().copied().reduce(|(row, a), (_, b)| (row, a.and(b)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn novelty() -> Novelty {
        let cells = vec![
            (1, 0, Beyond::By(2.0)),
            (4, 0, Beyond::By(0.5)),
            (1, 1, Beyond::Unseen),
            (4, 1, Beyond::Unseen),
            (5, 1, Beyond::Unseen),
        ];
        Novelty::new(7, vec!["x".into(), "city".into()], &[3.0, 0.0], cells)
    }

    #[test]
    fn the_input_that_is_farthest_outside_is_responsible() {
        let novelty = novelty();
        assert_eq!(novelty.distances(), [0.0, 2.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
        let (x, city) = (Some("x"), Some("city"));
        assert_eq!(novelty.inputs(), [None, x, None, None, city, city, None]);
        assert_eq!(novelty.variances().collect::<Vec<_>>(), [(1, 36.0), (4, 2.25)]);
        assert_eq!((novelty.len(), novelty.outside()), (7, 3));
    }

    #[test]
    fn rows_can_be_chosen_and_put_into_windows() {
        let chosen = novelty().select([4, 0, 1, 1].into_iter());
        assert_eq!(chosen.distances(), [1.0, 0.0, 2.0, 2.0]);
        let twice = novelty().followed_by(&novelty());
        assert_eq!(twice.distances(), [novelty().distances(), novelty().distances()].concat());
        let windows = novelty().of_windows(3, 5);
        assert_eq!(windows.distances(), [2.0, 2.0, 1.0, 1.0, 1.0]);
        assert_eq!(windows.inputs()[0], Some("x"));
    }
}
