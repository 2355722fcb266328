//! Responsible for Ctrl-C: it ends the program at once, whatever it is doing, and takes unfinished files along.

use std::io::{IsTerminal, Write, stderr};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files that are being written under another name.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Starts listening. Without a listener Ctrl-C ends the program at once, which is no worse than usual.
pub fn watch() {
    let _ = ctrlc::set_handler(|| {
        // Held to the end, so that no file is begun or finished from here on.
        let files = unfinished();
        files.iter().for_each(|file| drop(std::fs::remove_file(file)));
        // On a terminal the cursor stands behind ^C or a progress bar.
        let line = if stderr().is_terminal() { "\n" } else { "" };
        let _ = writeln!(stderr(), "{line}error: stopped before the end");
        std::process::exit(i32::from(super::INTERRUPTED));
    });
}

/// The list of unfinished files. Who begins or finishes one holds it while doing so.
pub fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
