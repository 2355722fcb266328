//! Responsible for what went wrong: one opaque [`Error`] whose message says what was expected, what was found and where.

use std::fmt;
use std::path::Path;

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

/// An error with one message for a person, see [`ErrorKind`] for the programmatic part.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    place: Option<String>,
    message: String,
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
    pub fn io(path: &Path, error: &std::io::Error) -> Self {
        Self::new(ErrorKind::Io, plain(error)).at(path.display().to_string())
    }

    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, place: None, message: message.into() }
    }

    /// Says where it happened (a file, a row of it), in front of what was said so far.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        let place = place.into();
        self.place = Some(match self.place {
            Some(inner) => format!("{place}, {inner}"),
            None => place,
        });
        self
    }

    /// What kind of thing is at fault.
    pub fn kind(&self) -> ErrorKind {
        self.kind
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
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({self})", self.kind)
    }
}

impl std::error::Error for Error {}
