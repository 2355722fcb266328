//! The error type of the library: an opaque [`Error`] with kind, location, option at fault, message, hints and source.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::Hint;
use crate::location::{Location, LocationPart};
use crate::sentence::sentence;
use crate::wording::{Neutral, Wording};

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

/// An error. Its message says what was expected and what was found; kind, location, option, hints and source are structured.
///
/// `Display` gives a neutral sentence; [`Error::worded`] gives one in the words of a front end.
#[derive(Clone)]
pub struct Error {
    kind: ErrorKind,
    location: Location,
    option: Option<Box<str>>,
    message: String,
    hints: Vec<Hint>,
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

    /// The option `name` is at fault. The message is a predicate: `must be above 0, found -1`.
    pub fn option(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { option: Some(name.into().into_boxed_str()), ..Self::options(message) }
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
        let message = message.into();
        Self { kind, location: Location::default(), option: None, message, hints: Vec::new(), source: None }
    }

    /// Keeps the error that this one comes from. The message already says what a person should know of it.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: Hint) -> Self {
        self.hints.push(hint);
        self
    }

    /// Adds the file in front of the location so far.
    #[must_use]
    pub fn in_file(self, path: impl AsRef<Path>) -> Self {
        self.within(LocationPart::File(path.as_ref().display().to_string()))
    }

    /// Adds the line, from 1, in front of the location so far.
    #[must_use]
    pub fn at_line(self, line: u64) -> Self {
        self.within(LocationPart::Line(line))
    }

    /// Adds the row, from 0, in front of the location so far.
    #[must_use]
    pub fn at_row(self, row: u64) -> Self {
        self.within(LocationPart::Row(row))
    }

    /// Adds the column in front of the location so far.
    #[must_use]
    pub fn in_column(self, name: impl Into<String>) -> Self {
        self.within(LocationPart::Column(name.into()))
    }

    /// Adds a location that is no file, line, row or column (a node of a tree) in front of the location so far.
    #[must_use]
    pub fn at(self, location: impl Into<String>) -> Self {
        self.within(LocationPart::Other(location.into()))
    }

    fn within(mut self, part: LocationPart) -> Self {
        self.location.push_outer(part);
        self
    }

    /// What kind of thing is at fault.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Where it happened.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The option at fault, where it is one.
    pub fn option_name(&self) -> Option<&str> {
        self.option.as_deref()
    }

    /// The sentence without location and hints; where [`Error::option_name`] is known, a predicate of that option.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What may help.
    pub fn hints(&self) -> &[Hint] {
        &self.hints
    }

    /// The whole text in the words of a front end.
    pub fn worded(&self, wording: &dyn Wording) -> String {
        sentence(wording, &self.location, self.option.as_deref(), &self.message, &self.hints)
    }
}

/// The message of the operating system in plain words, without its number.
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
        f.write_str(&self.worded(&Neutral))
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

/// Errors are equal when all parts but their sources are: sources cannot be compared.
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        let parts = |error: &Self| (error.kind, error.location.clone(), error.option.clone(), error.hints.clone());
        self.message == other.message && parts(self) == parts(other)
    }
}

impl Eq for Error {}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn locations_read_from_the_outside_in() {
        let wrong = || Error::data("wrong");
        assert_eq!(wrong().in_file("a\u{1b}[31m.csv").to_string(), "a\\u{1b}[31m.csv: wrong");
        let cell = wrong().in_column("a\nb").at_line(7).at_row(4).in_file("f.csv");
        assert_eq!(cell.to_string(), "f.csv, row 5 (line 7), column \"a\\nb\": wrong");
        let location = cell.location();
        assert_eq!((location.file(), location.line(), location.row()), (Some("f.csv"), Some(7), Some(4)));
        assert_eq!(location.column(), Some("a\nb"));
        assert_eq!(wrong().at_line(3).in_file("t.toml").to_string(), "t.toml, line 3: wrong");
        assert_eq!(wrong().at("column 2").at_line(1).at("header").to_string(), "header (line 1), column 2: wrong");
        assert_eq!(wrong().at("node 3").at("tree 7").to_string(), "tree 7, node 3: wrong");
        assert_eq!(wrong().to_string(), "wrong");
        assert!(wrong().location().is_empty());
    }

    #[test]
    fn a_front_end_words_rows_options_and_hints() {
        struct Parameters;
        impl Wording for Parameters {
            fn first_row(&self) -> u64 {
                0
            }

            fn option(&self, name: &str) -> String {
                name.replace('-', "_")
            }

            fn hint(&self, hint: &Hint) -> String {
                match hint {
                    Hint::SetOptions { settings } => format!("pass {}={:?}", settings[0].0, settings[0].1),
                    Hint::RelatedOption { option } => format!("see {}", self.option(option)),
                    other => other.to_string(),
                }
            }
        }
        let option = Error::option("sigma-max", "must be larger than 1, found 0.5")
            .with_hint(Hint::RelatedOption { option: "sigma-min" })
            .at_row(4);
        assert_eq!(option.to_string(), "row 5: sigma-max must be larger than 1, found 0.5 (see sigma-min)");
        let worded = option.worded(&Parameters);
        assert_eq!(worded, "row 4: sigma_max must be larger than 1, found 0.5 (see sigma_min)");
        assert_eq!((option.option_name(), option.hints().len()), (Some("sigma-max"), 1));
        let hints = [Hint::set("decimal", ","), Hint::Calibrate];
        let two = hints.into_iter().fold(Error::data("unclear"), Error::with_hint);
        let calibrate = "or calibrate the model with rows that it was not fitted to";
        assert_eq!(two.to_string(), format!("unclear; set decimal to , {calibrate}"));
        assert_eq!(two.worded(&Parameters), format!("unclear; pass decimal=\",\" {calibrate}"));
        assert_ne!(two, Error::data("unclear"));
    }

    #[test]
    fn the_source_is_kept_by_copies_too() {
        let error = Error::io("f.csv", std::io::ErrorKind::PermissionDenied.into()).clone();
        assert_eq!(error.to_string(), "f.csv: permission denied");
        let source = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
        assert_eq!(source.map(std::io::Error::kind), Some(std::io::ErrorKind::PermissionDenied));
        assert!(Error::data("wrong").source().is_none());
    }
}
