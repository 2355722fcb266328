//! Responsible for what went wrong: one opaque [`Error`] whose message says what was expected, what was found and where,
//! and which keeps its kind, place and source.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::place::{Part, Place};

/// The result of everything in this library that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of thing is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A data file or a value in it.
    Data,
    /// A model file.
    Model,
    /// An option: a hyper-parameter out of range, a column that was asked for and is not there.
    Options,
    /// Reading or writing a file.
    Io,
    /// The caller asked to stop.
    Cancelled,
}

impl ErrorKind {
    /// What a program that fails with it tells the shell.
    ///
    /// | code | kind |
    /// |---|---|
    /// | 2 | the command line is at fault: [`ErrorKind::Options`] |
    /// | 130 | stopped by Ctrl-C, as shells count it: [`ErrorKind::Cancelled`] |
    /// | 1 | everything else |
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Options => 2,
            Self::Cancelled => 130,
            Self::Data | Self::Model | Self::Io => 1,
        }
    }
}

/// An error with one message for a person; [`ErrorKind`], [`Place`] and source are for programs.
#[derive(Clone)]
pub struct Error {
    kind: ErrorKind,
    place: Place,
    message: String,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// The data are at fault.
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// The model file is at fault.
    pub fn model(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Model, message)
    }

    /// An option is at fault.
    pub fn options(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Options, message)
    }

    /// The caller asked to stop.
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "stopped before the end")
    }

    /// Reading or writing `path` failed.
    pub fn io(path: impl AsRef<Path>, error: std::io::Error) -> Self {
        Self::unread(error).in_file(path)
    }

    /// Reading something that has no name failed.
    pub fn unread(error: std::io::Error) -> Self {
        Self::new(ErrorKind::Io, plain(&error)).with_source(error)
    }

    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, place: Place::default(), message: message.into(), source: None }
    }

    /// Keeps the error that this one comes from. The message already says what a person should know of it.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Says in which file it happened, in front of what was said so far.
    #[must_use]
    pub fn in_file(self, path: impl AsRef<Path>) -> Self {
        self.within(Part::File(path.as_ref().display().to_string()))
    }

    /// Says on which line, in front of what was said so far.
    #[must_use]
    pub fn at_line(self, line: u64) -> Self {
        self.within(Part::Line(line))
    }

    /// Says in which row, in front of what was said so far.
    #[must_use]
    pub fn at_row(self, row: u64) -> Self {
        self.within(Part::Row(row))
    }

    /// Says in which column, in front of what was said so far.
    #[must_use]
    pub fn in_column(self, name: impl Into<String>) -> Self {
        self.within(Part::Column(name.into()))
    }

    /// Says a place that is no file, line, row or column (a node of a tree), in front of what was said so far.
    #[must_use]
    pub fn at(self, place: impl Into<String>) -> Self {
        self.within(Part::Other(place.into()))
    }

    /// The same for a caller who counts the rows of tables from 0.
    #[must_use]
    pub fn counting_from_zero(mut self) -> Self {
        self.place.count_from_zero();
        self
    }

    fn within(mut self, part: Part) -> Self {
        self.place.within(part);
        self
    }

    /// What kind of thing is at fault.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Where it happened.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

/// What the system said, in plain words and without its number.
fn plain(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    let known = match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::IsADirectory => "expected a file, found a directory",
        ErrorKind::NotADirectory => "a part of the path is a file and not a folder",
        ErrorKind::AlreadyExists => "a file of that name is already there",
        ErrorKind::StorageFull => "the disk is full",
        ErrorKind::ReadOnlyFilesystem => "the disk can only be read",
        ErrorKind::InvalidData => "expected text in UTF-8, found other bytes",
        _ => {
            let text = error.to_string();
            return text.split(" (os error").next().unwrap_or_default().to_string();
        }
    };
    known.to_string()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({self})", self.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.source {
            Some(source) => Some(&**source),
            None => None,
        }
    }
}

/// Errors are equal when they say the same; their sources cannot be compared.
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, &self.place, &self.message) == (other.kind, &other.place, &other.message)
    }
}

impl Eq for Error {}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn places_read_from_the_outside_in() {
        let wrong = || Error::data("wrong");
        assert_eq!(wrong().in_file("a\u{1b}[31m.csv").to_string(), "a\\u{1b}[31m.csv: wrong");
        let cell = wrong().in_column("a\nb").at_line(7).at_row(5).in_file("f.csv");
        assert_eq!(cell.to_string(), "f.csv, row 5 (line 7), column \"a\\nb\": wrong");
        let place = cell.place();
        assert_eq!((place.file(), place.line(), place.row()), (Some("f.csv"), Some(7), Some(5)));
        assert_eq!(place.column(), Some("a\nb"));
        assert_eq!(wrong().at_line(3).in_file("t.toml").to_string(), "t.toml, line 3: wrong");
        assert_eq!(wrong().at("column 2").at_line(1).at("header").to_string(), "header (line 1), column 2: wrong");
        assert_eq!(wrong().at("node 3").at("tree 7").to_string(), "tree 7, node 3: wrong");
        assert_eq!(wrong().to_string(), "wrong");
        assert_eq!(cell.clone().counting_from_zero().to_string(), "f.csv, row 4 (line 7), column \"a\\nb\": wrong");
        assert!(wrong().place().is_empty());
    }

    #[test]
    fn the_source_is_kept_by_copies_too() {
        let error = Error::io("f.csv", std::io::ErrorKind::PermissionDenied.into()).clone();
        assert_eq!(error.to_string(), "f.csv: permission denied");
        let source = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
        assert_eq!(source.map(std::io::Error::kind), Some(std::io::ErrorKind::PermissionDenied));
        assert!(Error::data("wrong").source().is_none());
    }

    #[test]
    fn shells_are_told_what_is_at_fault() {
        let kinds = [ErrorKind::Data, ErrorKind::Model, ErrorKind::Io, ErrorKind::Options, ErrorKind::Cancelled];
        assert_eq!(kinds.map(ErrorKind::exit_code), [1, 1, 1, 2, 130]);
    }
}
