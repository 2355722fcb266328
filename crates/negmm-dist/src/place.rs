//! Responsible for where something went wrong: a file, a line, a row and a column of it, as parts and as text.

use std::fmt;

use crate::quote::{quoted, visible};

/// Where something went wrong, from the outside in; every part that is known can be asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The innermost part first.
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    File(String),
    Line(u64),
    Row(u64),
    Column(String),
    Other(String),
}

impl Place {
    /// Puts a part around what was said so far.
    pub(crate) fn within(&mut self, part: Part) {
        self.parts.push(part);
    }

    /// Counts rows from 0 that were counted from 1.
    pub(crate) fn count_from_zero(&mut self) {
        for part in &mut self.parts {
            if let Part::Row(row) = part {
                *row = row.saturating_sub(1);
            }
        }
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The file, or what messages call the input that stands for one.
    pub fn file(&self) -> Option<&str> {
        self.find(|part| if let Part::File(file) = part { Some(file.as_str()) } else { None })
    }

    /// The line of the file, from 1.
    pub fn line(&self) -> Option<u64> {
        self.find(|part| if let Part::Line(line) = part { Some(*line) } else { None })
    }

    /// The row, as the message counts: from 1 in a table, from 0 among predictions.
    pub fn row(&self) -> Option<u64> {
        self.find(|part| if let Part::Row(row) = part { Some(*row) } else { None })
    }

    /// The name of the column, in full.
    pub fn column(&self) -> Option<&str> {
        self.find(|part| if let Part::Column(column) = part { Some(column.as_str()) } else { None })
    }

    /// The innermost that there is.
    fn find<'a, T>(&'a self, pick: impl Fn(&'a Part) -> Option<T>) -> Option<T> {
        self.parts.iter().find_map(pick)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut outer: Option<&Part> = None;
        for part in self.parts.iter().rev() {
            let separator = if outer.is_some() { ", " } else { "" };
            match (part, outer) {
                // The line of a row or of a header says only where to look for it.
                (Part::Line(line), Some(Part::Row(_) | Part::Other(_))) => write!(f, " (line {line})")?,
                (Part::Line(line), _) => write!(f, "{separator}line {line}")?,
                (Part::Row(row), _) => write!(f, "{separator}row {row}")?,
                (Part::Column(name), _) => write!(f, "{separator}column {}", quoted(name))?,
                (Part::File(text) | Part::Other(text), _) => write!(f, "{separator}{}", visible(text))?,
            }
            outer = Some(part);
        }
        Ok(())
    }
}
