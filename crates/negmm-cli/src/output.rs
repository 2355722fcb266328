//! Responsible for what goes out: text on standard output, and files that appear whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use negmm::Error;
use serde::Serialize;
use tempfile::NamedTempFile;

use crate::interrupt;

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

/// Where an output goes.
pub enum Output {
    /// `-`
    Standard(BufWriter<io::Stdout>),
    /// A device or pipe, which is written to as it is.
    Device(BufWriter<File>, PathBuf),
    /// A file under another name until [`Output::finish`]; dropped before that, it vanishes.
    File(BufWriter<NamedTempFile>, PathBuf),
}

impl Output {
    /// Opens `path`, or standard output for `-`.
    pub fn create(path: &str) -> Result<Self, Error> {
        if path == "-" {
            return Ok(Self::Standard(BufWriter::new(io::stdout())));
        }
        let typed = Path::new(path);
        let failed = |error: io::Error| Error::io(typed, plain(&error));
        // Where a link leads; the link itself stays.
        let path = typed.canonicalize().unwrap_or(typed.to_path_buf());
        let existing = path.metadata().ok();
        match &existing {
            Some(metadata) if metadata.is_dir() => return Err(failed(ErrorKind::IsADirectory.into())),
            Some(metadata) if !metadata.is_file() => {
                let device = OpenOptions::new().write(true).open(&path).map_err(failed)?;
                return Ok(Self::Device(BufWriter::new(device), typed.to_path_buf()));
            }
            Some(metadata) if metadata.permissions().readonly() => {
                return Err(failed(ErrorKind::PermissionDenied.into()));
            }
            _ => {}
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.exists() {
            let message = format!("the folder {} does not exist", folder.display());
            return Err(Error::data(message).in_file(typed));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".negmm-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file: the user's mask decides.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut unfinished = interrupt::unfinished();
        let file = builder.tempfile_in(folder).map_err(|error| match error.kind() {
            // The folder is there, so it is one that takes no files.
            ErrorKind::NotFound => Error::data(format!("no file can be made in the folder {}", folder.display()))
                .in_file(typed)
                .with_source(error),
            _ => failed(error),
        })?;
        unfinished.push(file.path().to_path_buf());
        if let Some(metadata) = existing {
            // Where this is not allowed the new file has the usual permissions, which does no harm.
            let _ = file.as_file().set_permissions(metadata.permissions());
        }
        Ok(Self::File(BufWriter::new(file), path))
    }

    /// Writes some of it.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Self::Standard(out) => out.write_all(bytes).map_err(standard),
            Self::Device(out, path) => out.write_all(bytes).map_err(|error| device(path, error)),
            Self::File(out, path) => out.write_all(bytes).map_err(|error| Error::io(path, error)),
        }
    }

    /// The end: the file takes its place.
    pub fn finish(self) -> Result<(), Error> {
        match self {
            Self::Standard(mut out) => out.flush().map_err(standard),
            Self::Device(mut out, path) => out.flush().map_err(|error| device(&path, error)),
            Self::File(out, path) => {
                let file = out.into_inner().map_err(|error| Error::io(&path, error.into_error()))?;
                let mut unfinished = interrupt::unfinished();
                unfinished.retain(|other| other != file.path());
                file.persist(&path).map(drop).map_err(|error| Error::io(&path, error.error))
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Self::write(self, bytes).map(|()| bytes.len()).map_err(io::Error::other)
    }

    /// Nothing: what is written appears at the end.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a whole output: a file, or standard output for `-`.
pub fn write(path: &str, bytes: &[u8]) -> Result<(), Error> {
    let mut output = Output::create(path)?;
    output.write(bytes)?;
    output.finish()
}

/// Whether an output would take the place of an input.
pub fn replaces(output: &str, input: &Path) -> bool {
    let place = |path: &Path| path.canonicalize().ok().filter(|path| path.is_file());
    output != "-" && place(Path::new(output)).is_some_and(|output| Some(output) == place(input))
}

/// A reader that has gone away is no error.
fn device(path: &Path, error: io::Error) -> Error {
    if error.kind() == ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    Error::io(path, error)
}

fn standard(error: io::Error) -> Error {
    device(Path::new("standard output"), error)
}

/// The error alone: a temporary file's also names the temporary file, which nobody asked about.
fn plain(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::from(error.kind()),
    }
}
