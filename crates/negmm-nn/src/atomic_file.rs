//! A file that is written completely or not at all.

use std::fs::{self, File};
use std::io::{Result, Write};
use std::path::Path;

/// Writes `bytes` to a temporary file in the same folder, which is then renamed to `path`.
///
/// # Errors
/// When the folder cannot be written to, or the disk is full; the temporary file is removed, and an existing file stays.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = File::create(&part).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&part, path)).inspect_err(|_| {
        // It may not exist.
        let _ = fs::remove_file(&part);
    })
}
