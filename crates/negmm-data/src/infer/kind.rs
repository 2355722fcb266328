//! The kind of a column: numbers, text or times.

use super::datetime::TimeFormat;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers.
    Number,
    /// Text.
    Text,
    /// Dates and times, written in that form.
    Time(TimeFormat),
}
