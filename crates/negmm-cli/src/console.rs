//! Printing: text and JSON to standard output, warnings and errors to standard error. Control characters in names from files are
//! escaped.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use negmm::{Error, Warning, Wording};
use serde::Serialize;
use serde_json::json;

use crate::wording::Flags;

/// Codes of terminals for bold text in a colour, and for plain text.
const RED: &str = "\u{1b}[1;31m";
const YELLOW: &str = "\u{1b}[1;33m";
const CYAN: &str = "\u{1b}[1;36m";
const PLAIN: &str = "\u{1b}[0m";

thread_local! {
    /// What this thread prints to standard output and standard error while it is captured.
    static CAPTURED: RefCell<Option<[Vec<u8>; 2]>> = const { RefCell::new(None) };
}

/// Runs `work` and captures what this thread prints.
pub fn capture<T>(work: impl FnOnce() -> T) -> (T, [Vec<u8>; 2]) {
    CAPTURED.set(Some(Default::default()));
    let returned = work();
    (returned, CAPTURED.take().unwrap_or_default())
}

/// Standard output or standard error, unless captured.
#[derive(Debug, Clone, Copy)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

impl Stream {
    /// Writes a line in one call, so that lines of threads do not mix.
    fn line(&mut self, text: &str) -> io::Result<()> {
        self.write_all(format!("{text}\n").as_bytes())
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        CAPTURED.with_borrow_mut(|captured| match (captured, *self) {
            (Some(streams), stream) => streams[stream as usize].write(bytes),
            (None, Self::Out) => io::stdout().write(bytes),
            (None, Self::Err) => io::stderr().write(bytes),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        match *self {
            Self::Out => io::stdout().flush(),
            Self::Err => Ok(()),
        }
    }
}

/// Prints to standard output.
///
/// # Errors
/// When it cannot be written; a closed pipe (`| head`) ends the program quietly.
pub fn print(text: &str) -> Result<(), Error> {
    Stream::Out.line(&printable(text)).and_then(|()| Stream::Out.flush()).map_err(stdout_error)
}

/// Prints one JSON object.
///
/// # Errors
/// As [`print`].
pub fn print_json(value: &impl Serialize) -> Result<(), Error> {
    let text =
        serde_json::to_string(value).map_err(|error| Error::data(format!("cannot be written as JSON: {error}")))?;
    print(&text)
}

/// Prints to standard error.
pub fn eprint(text: &str) {
    // There is nowhere to report that this failed.
    let _ = Stream::Err.line(&printable(text));
}

/// Prints warnings.
pub fn warn(quiet: bool, sentences: &[String]) {
    if !quiet {
        sentences.iter().for_each(|sentence| labelled(("warning:", YELLOW), sentence));
    }
}

/// Prints notices.
pub fn note(quiet: bool, sentences: &[String]) {
    if !quiet {
        sentences.iter().for_each(|sentence| labelled(("note:", CYAN), sentence));
    }
}

/// Prints a sentence after its label to standard error, the label in colour on terminals.
fn labelled((label, colour): (&str, &str), sentence: &str) {
    let captured = CAPTURED.with_borrow(Option::is_some);
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let coloured = io::stderr().is_terminal() && !captured && wants_colour(&variable("NO_COLOR"), &variable("TERM"));
    let label = if coloured { format!("{colour}{label}{PLAIN}") } else { label.to_string() };
    let _ = Stream::Err.line(&format!("{label} {}", printable(sentence)));
}

/// Whether a terminal is to have colours, by the variables `NO_COLOR` (<https://no-color.org>) and `TERM`.
fn wants_colour(no_color: &str, term: &str) -> bool {
    no_color.is_empty() && term != "dumb"
}

/// Prints the warnings of the library.
pub fn print_warnings(quiet: bool, warnings: &[Warning]) {
    let sentences: Vec<String> = warnings.iter().map(|warning| warning.worded(&Flags)).collect();
    warn(quiet, &sentences);
}

/// Prints an error, also as JSON if `json`.
pub fn print_error(error: &Error, json: bool) {
    if json {
        let location = error.location();
        let object = json!({
            "error": error.worded(&Flags),
            "kind": format!("{:?}", error.kind()).to_lowercase(),
            "file": location.file(),
            "line": location.line(),
            "row": location.row().map(|row| row + Flags.first_row()),
            "column": location.column(),
            "option": error.option_name(),
            "hints": error.hints(),
        });
        // If standard output failed, standard error still has the message.
        let _ = Stream::Out.line(&object.to_string());
    }
    labelled(("error:", RED), &error.worded(&Flags));
}

/// The error of standard output; a closed pipe ends the program quietly.
pub fn stdout_error(error: io::Error) -> Error {
    output_error(error, Path::new("standard output"))
}

/// The error of an output; a closed pipe ends the program quietly.
pub fn output_error(error: io::Error, path: &Path) -> Error {
    if error.kind() == ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    Error::io(path, error)
}

/// The text with control characters other than line ends and tabs escaped, because terminals interpret them.
fn printable(text: &str) -> Cow<'_, str> {
    let interpreted = |c: char| (c.is_control() && c != '\n' && c != '\t') || is_direction(c);
    if !text.contains(interpreted) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        // Escaped as in JSON, so that JSON stays valid.
        if interpreted(character) {
            shown.push_str(&format!("\\u{:04x}", u32::from(character)))
        } else {
            shown.push(character)
        }
    }
    Cow::Owned(shown)
}

/// Whether a character changes the direction of the text after it, which can disguise names.
fn is_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_can_be_declined() {
        assert!(wants_colour("", "xterm-256color") && wants_colour("", ""));
        assert!(!wants_colour("1", "xterm") && !wants_colour("", "dumb"));
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("a\tb\nŁódź €"), "a\tb\nŁódź €");
        assert_eq!(printable("\u{1b}[31mred\u{9b}0m\r\u{7f}"), "\\u001b[31mred\\u009b0m\\u000d\\u007f");
        assert_eq!(printable("price\u{202e}txt.exe"), "price\\u202etxt.exe");
        assert_eq!(serde_json::from_str::<String>(&printable("\"\u{9b}\"")).unwrap(), "\u{9b}");
    }
}
