//! Responsible for what goes out: text on standard output, and files that appear whole or not at all.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use negmm::Error;
use serde::Serialize;
use tempfile::NamedTempFile;

/// Prints to standard output. A reader that has gone away (`| head`) is no error.
pub fn say(text: &str) {
    let mut out = io::stdout().lock();
    if out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")).is_err() {
        std::process::exit(0);
    }
}

/// Prints one JSON object.
pub fn say_json(value: &impl Serialize) -> Result<(), Error> {
    let text =
        serde_json::to_string(value).map_err(|error| Error::data(format!("cannot be written as JSON: {error}")))?;
    say(&text);
    Ok(())
}

/// Prints warnings to standard error.
pub fn warn(quiet: bool, sentences: &[String]) {
    if !quiet {
        sentences.iter().for_each(|sentence| eprintln!("warning: {sentence}"));
    }
}

/// A file that is written beside its place and takes it at the end, or standard output.
pub enum Output {
    /// `-`
    Standard(BufWriter<io::Stdout>),
    /// A file under another name until [`Output::finish`]; dropped before that, it vanishes.
    File(BufWriter<NamedTempFile>, PathBuf),
}

impl Output {
    /// Opens `path`, or standard output for `-`.
    pub fn create(path: &str) -> Result<Self, Error> {
        if path == "-" {
            return Ok(Self::Standard(BufWriter::new(io::stdout())));
        }
        let path = Path::new(path);
        if path.is_dir() {
            return Err(Error::io(path, &io::Error::from(ErrorKind::IsADirectory)));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".negmm-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file: the user's mask decides.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder).map_err(|error| Error::io(path, &plain(&error)))?;
        Ok(Self::File(BufWriter::new(file), path.to_path_buf()))
    }

    /// Writes some of it.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Self::Standard(out) => out.write_all(bytes).map_err(standard),
            Self::File(out, path) => out.write_all(bytes).map_err(|error| Error::io(path, &error)),
        }
    }

    /// The end: the file takes its place.
    pub fn finish(self) -> Result<(), Error> {
        match self {
            Self::Standard(mut out) => out.flush().map_err(standard),
            Self::File(out, path) => {
                let file = out.into_inner().map_err(|error| Error::io(&path, error.error()))?;
                file.persist(&path).map(drop).map_err(|error| Error::io(&path, &error.error))
            }
        }
    }
}

/// A reader that has gone away is no error.
fn standard(error: io::Error) -> Error {
    if error.kind() == ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    Error::io(Path::new("standard output"), &error)
}

/// The error alone: a temporary file's also names the temporary file, which nobody asked about.
fn plain(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::from(error.kind()),
    }
}
