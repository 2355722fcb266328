//! Windows of sequences: time-ordered rows become windows, each with the value that follows it as target.
//!
//! With e_s the encoded row of time step s (channels numbers) and w the window, the row for time step t is
//!
//! ```text
//! (e_(t-w), e_(t-w+1), …, e_(t-1))        w · channels numbers, the oldest step first; its target is y_t
//! ```
//!
//! for t = w … n - 1, and for t = n, the step after the last row, where a forecast is wanted. It sees nothing of step t itself.

use serde::{Deserialize, Serialize};

use negmm_dist::{Error, Result};
use negmm_nn::dataset::Dataset;

/// Maximum window.
pub const MOST_WINDOW: usize = 10_000;
/// Maximum number of numbers of a window.
const MOST_FEATURES: usize = 100_000;
/// Maximum number of numbers of all windows of a table: 8 GiB.
const MOST_NUMBERS: usize = 1 << 31;

/// A sequence: the rows of a table are steps in time, oldest first, and each is predicted from those before it.
///
/// | field | range | meaning |
/// |---|---|---|
/// | `column` | a column of numbers | the value of each step; other inputs are added where they are features |
/// | `window` | 1 … 10000 | steps that a prediction looks back |
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    /// The column with the value of each step.
    pub column: String,
    /// Steps that a prediction looks back.
    pub window: usize,
}

impl Sequence {
    /// Validates the settings.
    pub fn check(&self) -> Result<()> {
        if !(1..=MOST_WINDOW).contains(&self.window) {
            return Err(Error::option("window", format!("must be from 1 to {MOST_WINDOW}, found {}", self.window)));
        }
        Ok(())
    }

    /// An error where windows of `channels` numbers a step are too large.
    pub(crate) fn check_size(&self, channels: usize, rows: usize) -> Result<()> {
        let features = self.window.saturating_mul(channels);
        if features > MOST_FEATURES {
            return Err(Error::options(format!(
                "a window may hold {MOST_FEATURES} numbers at most, and {} steps of {channels} are {features}: use a shorter window or fewer features",
                self.window
            )));
        }
        if features.saturating_mul(rows) > MOST_NUMBERS {
            return Err(Error::options(format!(
                "{rows} windows of {features} numbers are too many to hold: use a shorter window or fewer features"
            )));
        }
        Ok(())
    }
}

/// The windows of `steps`, one encoded row for each time step: those whose target is known, and with `forecast` the one
/// after the last step too (its target is 0). The window of step `window` comes first.
pub fn windows(steps: &Dataset, window: usize, forecast: bool) -> Dataset {
    let (channels, stride) = (steps.features(), steps.stride());
    let mut data = Dataset::new(window * channels).in_windows(window).with_atoms(steps.atoms().to_vec());
    let mut row = Vec::with_capacity(window * channels);
    let last = steps.len() + usize::from(forecast);
    for step in window..last {
        row.clear();
        let past = &steps.x()[(step - window) * stride..step * stride];
        past.chunks_exact(stride).for_each(|encoded| row.extend_from_slice(&encoded[..channels]));
        data.push(&row, steps.y().get(step).copied().unwrap_or(0.0));
    }
    if let Some(intervals) = steps.intervals() {
        let rest = |list: &[f32]| list.iter().skip(window).chain(forecast.then_some(&0.0)).copied().collect();
        data = data.with_intervals(rest(intervals.lower()), rest(intervals.upper()));
    }
    let novelty = steps.novelty().map(|novelty| novelty.of_windows(window, data.len()));
    data.with_novelty(novelty)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps() -> Dataset {
        let mut steps = Dataset::new(2);
        for step in 0..5 {
            steps.push(&[step as f32, 10.0 + step as f32], 100.0 + step as f32);
        }
        steps
    }

    fn rows(data: &Dataset) -> Vec<Vec<f32>> {
        data.x().chunks(data.stride()).map(|row| row[..data.features()].to_vec()).collect()
    }

    #[test]
    fn windows_by_hand() {
        let known = windows(&steps(), 3, false);
        assert_eq!(rows(&known), [[0.0, 10.0, 1.0, 11.0, 2.0, 12.0], [1.0, 11.0, 2.0, 12.0, 3.0, 13.0]]);
        assert_eq!((known.y(), known.window()), (&[103.0, 104.0][..], Some(3)));
        let all = windows(&steps(), 3, true);
        assert_eq!(rows(&all)[..2], rows(&known)[..]);
        assert_eq!(rows(&all)[2], [2.0, 12.0, 3.0, 13.0, 4.0, 14.0]);
        assert_eq!(all.y(), [103.0, 104.0, 0.0]);
    }

    #[test]
    fn as_many_windows_as_there_are_steps_for() {
        for (window, known) in [(1, 4), (4, 1), (5, 0)] {
            assert_eq!(windows(&steps(), window, false).len(), known);
            assert_eq!(windows(&steps(), window, true).len(), known + 1);
        }
        assert!(windows(&steps(), 6, true).is_empty());
    }

    #[test]
    fn a_window_is_neither_empty_nor_endless() {
        let sequence = |window| Sequence { column: "x".into(), window };
        assert!(sequence(0).check().is_err() && sequence(10_001).check().is_err() && sequence(10_000).check().is_ok());
        assert!(sequence(10_000).check_size(11, 1).is_err() && sequence(10_000).check_size(10, usize::MAX).is_err());
        assert!(sequence(30).check_size(5, 1000).is_ok());
    }
}
