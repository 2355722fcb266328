//! Warnings.

use std::fmt;

use crate::location::LocationPart;
use crate::sentence::sentence;
use crate::wording::{Neutral, Wording};
use crate::{Hint, Location};

/// A warning with its location and hints, which each front end words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    location: Location,
    message: String,
    hints: Vec<Hint>,
}

impl Warning {
    /// A warning with one sentence, without a capital and a full stop.
    pub fn new(message: impl Into<String>) -> Self {
        Self { location: Location::default(), message: message.into(), hints: Vec::new() }
    }

    /// Adds the row, from 0, in front of the location so far.
    #[must_use]
    pub fn at_row(mut self, row: u64) -> Self {
        self.location.push_outer(LocationPart::Row(row));
        self
    }

    /// Adds the column in front of the location so far.
    #[must_use]
    pub fn in_column(mut self, name: impl Into<String>) -> Self {
        self.location.push_outer(LocationPart::Column(name.into()));
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: Hint) -> Self {
        self.hints.push(hint);
        self
    }

    /// Its location.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The sentence without location and hints.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What may help.
    pub fn hints(&self) -> &[Hint] {
        &self.hints
    }

    /// The whole text in the words of a front end.
    pub fn worded(&self, wording: &dyn Wording) -> String {
        sentence(wording, &self.location, None, &self.message, &self.hints)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(&Neutral))
    }
}
