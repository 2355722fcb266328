//! Responsible for what is printed: text and JSON on standard output, warnings and failures on standard error. Names that come
//! from files reach a terminal with their control characters made visible.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use negmm::Error;
use serde::Serialize;
use serde_json::json;

/// Prints to standard output.
///
/// # Errors
/// When it cannot be written there; a reader that has gone away (`| head`) ends the program quietly.
pub fn say(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", printable(text)).and_then(|()| out.flush()).map_err(standard)
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
    let _ = writeln!(io::stderr(), "{}", printable(text));
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

/// Prints what went wrong, for programs too where they listen.
pub fn failure(error: &Error, json: bool) {
    if json {
        let place = error.place();
        let object = json!({
            "error": error.to_string(),
            "kind": format!("{:?}", error.kind()).to_lowercase(),
            "file": place.file(),
            "line": place.line(),
            "row": place.row(),
            "column": place.column(),
        });
        // Where standard output is what failed, standard error tells it.
        let _ = writeln!(io::stdout(), "{object}");
    }
    tell(&format!("error: {error}"));
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
