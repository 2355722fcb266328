//! The kind of a column: numbers, text or times.

use super::datetime::TimeForm;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers.
    Number,
    /// Text.
    Text,
    /// Dates and times, written in that form.
    Time(TimeForm),
}
