//! The kind of a column: numbers, text or times.

use super::datetime::TimeFormat;

/// The kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers.
    Number,
    /// Text.
    Text,
    /// Dates and times of that format.
    Time(TimeFormat),
}
