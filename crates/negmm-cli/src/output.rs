//! Output files that are written completely or not at all, and the removal of unfinished files of killed runs.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use std::time::Duration;

use negmm::Error;
use tempfile::NamedTempFile;

use crate::console::{Stream, output_error, stdout_error};
use crate::interrupt;

/// The prefix of the names of unfinished files.
const UNFINISHED: &str = ".negmm-";
/// An unfinished file that is this old and not locked was left by a killed run.
const ABANDONED: Duration = Duration::from_secs(60);

/// The destination of an output.
pub enum Output {
    /// `-`
    Standard(BufWriter<Stream>),
    /// A device or pipe, which is written to directly.
    Device(BufWriter<File>, PathBuf),
    /// A temporary file that is renamed by [`Output::finish`]; dropped before that, it is deleted.
    File(BufWriter<NamedTempFile>, PathBuf),
}

impl Output {
    /// Opens `path`, or standard output for `-`.
    pub fn create(path: &str) -> Result<Self, Error> {
        if path == "-" {
            return Ok(Self::Standard(BufWriter::new(Stream::Out)));
        }
        let typed = Path::new(path);
        let failed = |error: io::Error| Error::io(typed, plain(&error));
        // The file that a link points to is replaced, not the link.
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
        clear_abandoned(folder);
        builder.prefix(UNFINISHED);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As for any new file, the user's mask applies.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut unfinished = interrupt::unfinished();
        let file = builder.tempfile_in(folder).map_err(|error| match error.kind() {
            // The folder exists, so it does not accept files.
            ErrorKind::NotFound => Error::data(format!("cannot create files in the folder {}", folder.display()))
                .in_file(typed)
                .with_source(error),
            _ => failed(error),
        })?;
        // Locked while it is open, so that other runs do not remove it. Without locks they do not remove anything.
        let _ = file.as_file().try_lock();
        unfinished.push(file.path().to_path_buf());
        if let Some(metadata) = existing {
            // If this is not allowed, the new file has the usual permissions.
            let _ = file.as_file().set_permissions(metadata.permissions());
        }
        Ok(Self::File(BufWriter::new(file), path))
    }

    /// Writes some bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Self::Standard(out) => out.write_all(bytes).map_err(stdout_error),
            Self::Device(out, path) => out.write_all(bytes).map_err(|error| output_error(error, path)),
            Self::File(out, path) => out.write_all(bytes).map_err(|error| Error::io(path, error)),
        }
    }

    /// Completes the output: a file gets its final name.
    pub fn finish(self) -> Result<(), Error> {
        match self {
            Self::Standard(mut out) => out.flush().map_err(stdout_error),
            Self::Device(mut out, path) => out.flush().map_err(|error| output_error(error, &path)),
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

    /// Does nothing: the file appears when it is finished.
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

/// Removes unfinished files of killed runs: old ones that are not locked.
fn clear_abandoned(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(UNFINISHED)) {
        let Ok(metadata) = entry.metadata() else { continue };
        let old = metadata.modified().ok().and_then(|time| time.elapsed().ok()).is_some_and(|age| age > ABANDONED);
        if !metadata.is_file() || !old {
            continue;
        }
        // A file that cannot be opened or is locked is left alone.
        if OpenOptions::new().write(true).open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// The error alone: that of a temporary file also names the temporary file.
fn plain(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::from(error.kind()),
    }
}
