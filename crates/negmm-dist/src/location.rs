//! The location of an error or a warning: file, line, row and column.

use std::fmt;

use crate::quote::{quoted, visible};
use crate::wording::{Neutral, Wording};

/// Where something happened, from the outside in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The innermost part first.
    parts: Vec<LocationPart>,
}

/// A part of a location.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocationPart {
    /// A file, or the name of another input.
    File(String),
    /// A line of the file, from 1.
    Line(u64),
    /// A row of the table, from 0.
    Row(u64),
    /// A column, by its whole name.
    Column(String),
    /// Something else, in words: `tree 7`.
    Other(String),
}

impl Location {
    /// Adds an outer part.
    pub(crate) fn push_outer(&mut self, part: LocationPart) {
        self.parts.push(part);
    }

    /// Whether the location is unknown.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// All parts, the outermost first.
    pub fn parts(&self) -> impl Iterator<Item = &LocationPart> {
        self.parts.iter().rev()
    }

    /// The file, or the name of another input.
    pub fn file(&self) -> Option<&str> {
        self.find(|part| if let LocationPart::File(file) = part { Some(file.as_str()) } else { None })
    }

    /// The line of the file, from 1.
    pub fn line(&self) -> Option<u64> {
        self.find(|part| if let LocationPart::Line(line) = part { Some(*line) } else { None })
    }

    /// The row, from 0.
    pub fn row(&self) -> Option<u64> {
        self.find(|part| if let LocationPart::Row(row) = part { Some(*row) } else { None })
    }

    /// The whole name of the column.
    pub fn column(&self) -> Option<&str> {
        self.find(|part| if let LocationPart::Column(column) = part { Some(column.as_str()) } else { None })
    }

    /// The innermost part of a kind.
    fn find<'a, T>(&'a self, pick: impl Fn(&'a LocationPart) -> Option<T>) -> Option<T> {
        self.parts.iter().find_map(pick)
    }

    /// The location as text, with rows counted as the front end counts them.
    pub fn worded(&self, wording: &dyn Wording) -> String {
        let (mut text, mut outer): (String, Option<&LocationPart>) = (String::new(), None);
        for part in self.parts() {
            text += &match (part, outer) {
                // The line of a row or of a header only helps to find it.
                (LocationPart::Line(_), Some(LocationPart::Row(_) | LocationPart::Other(_))) => {
                    format!(" ({})", part.worded(wording))
                }
                (_, Some(_)) => format!(", {}", part.worded(wording)),
                (_, None) => part.worded(wording),
            };
            outer = Some(part);
        }
        text
    }
}

impl LocationPart {
    /// The part as text, with rows counted as the front end counts them.
    pub fn worded(&self, wording: &dyn Wording) -> String {
        match self {
            Self::Line(line) => format!("line {line}"),
            Self::Row(row) => format!("row {}", row + wording.first_row()),
            Self::Column(name) => format!("column {}", quoted(name)),
            Self::File(name) | Self::Other(name) => visible(name),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(&Neutral))
    }
}
