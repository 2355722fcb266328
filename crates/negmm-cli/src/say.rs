//! Responsible for what is printed: text and JSON on standard output, warnings and failures on standard error. Names that come
//! from files reach a terminal with their control characters made visible.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use negmm::{Error, Warning, Wording};
use serde::Serialize;
use serde_json::json;

use crate::wording::Flags;

thread_local! {
    /// What this thread prints to standard output and standard error while it is captured.
    static CAPTURED: RefCell<Option<[Vec<u8>; 2]>> = const { RefCell::new(None) };
}

/// Does something and keeps what it prints from this thread.
pub fn captured<T>(work: impl FnOnce() -> T) -> (T, [Vec<u8>; 2]) {
    CAPTURED.set(Some(Default::default()));
    let given = work();
    (given, CAPTURED.take().unwrap_or_default())
}

/// Standard output or standard error, or where it is captured.
#[derive(Debug, Clone, Copy)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

impl Stream {
    /// Writes a line in one piece, so that nobody else's comes between.
    fn line(&mut self, text: &str) -> io::Result<()> {
        self.write_all(format!("{text}\n").as_bytes())
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        CAPTURED.with_borrow_mut(|captured| match (captured, *self) {
            (Some(kept), stream) => kept[stream as usize].write(bytes),
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
/// When it cannot be written there; a reader that has gone away (`| head`) ends the program quietly.
pub fn say(text: &str) -> Result<(), Error> {
    Stream::Out.line(&printable(text)).and_then(|()| Stream::Out.flush()).map_err(standard)
}

/// Prints one JSON object.
///
/// # Errors
/// As [`say`].
pub fn say_json(value: &impl Serialize) -> Result<(), Error> {
    let text =
        serde_json::to_string(value).map_err(|error| Error::data(format!("cannot be written as JSON: {error}")))?;
    say(&text)
}

/// Prints to standard error, for people alone.
pub fn tell(text: &str) {
    // Nobody is left to be told where it cannot be written.
    let _ = Stream::Err.line(&printable(text));
}

/// Prints warnings.
pub fn warn(quiet: bool, sentences: &[String]) {
    if !quiet {
        sentences.iter().for_each(|sentence| tell(&format!("warning: {sentence}")));
    }
}

/// Prints notices.
pub fn note(quiet: bool, sentences: &[String]) {
    if !quiet {
        sentences.iter().for_each(|sentence| tell(&format!("note: {sentence}")));
    }
}

/// Prints the warnings of the library.
pub fn print_warnings(quiet: bool, warnings: &[Warning]) {
    let sentences: Vec<String> = warnings.iter().map(|warning| warning.worded(&Flags)).collect();
    warn(quiet, &sentences);
}

/// Prints what went wrong, for programs too where they listen.
pub fn failure(error: &Error, json: bool) {
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
        // Where standard output is what failed, standard error tells it.
        let _ = Stream::Out.line(&object.to_string());
    }
    tell(&format!("error: {}", error.worded(&Flags)));
}

/// That standard output failed; a reader that has gone away ends the program quietly.
pub fn standard(error: io::Error) -> Error {
    unless_gone(error, Path::new("standard output"))
}

/// That `path` cannot be written to; a reader that has gone away ends the program quietly.
pub fn unless_gone(error: io::Error, path: &Path) -> Error {
    if error.kind() == ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    Error::io(path, error)
}

/// The text with control characters other than line ends and tabs escaped: a terminal obeys them, whoever put them there.
fn printable(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| (c.is_control() && c != '\n' && c != '\t') || is_direction(c);
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        // As JSON writes them, so that an object stays one.
        if obeyed(character) {
            shown.push_str(&format!("\\u{:04x}", u32::from(character)))
        } else {
            shown.push(character)
        }
    }
    Cow::Owned(shown)
}

/// Whether a character turns the direction of those after it, so that text reads as something else.
fn is_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_told_nothing() {
        assert_eq!(printable("a\tb\nŁódź €"), "a\tb\nŁódź €");
        assert_eq!(printable("\u{1b}[31mred\u{9b}0m\r\u{7f}"), "\\u001b[31mred\\u009b0m\\u000d\\u007f");
        assert_eq!(printable("price\u{202e}txt.exe"), "price\\u202etxt.exe");
        assert_eq!(serde_json::from_str::<String>(&printable("\"\u{9b}\"")).unwrap(), "\u{9b}");
    }
}
