//! Responsible for being told to stop (Ctrl-C, and on Unix SIGTERM, which is how schedulers say it): the program ends at once,
//! whatever it is doing, and takes unfinished files along.

use std::io::{IsTerminal, Write, stderr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files that are being written under another name.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Starts listening. Without a listener the program ends at once, too, and leaves its unfinished files.
///
/// Not for SIGHUP: who closes a terminal and wants a search to go on says `nohup`, which a listener would undo.
#[cfg(unix)]
pub fn watch() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) {
        std::thread::spawn(move || signals.forever().for_each(|signal| stop(128 + signal)));
    }
}

/// Starts listening.
#[cfg(not(unix))]
pub fn watch() {
    let _ = ctrlc::set_handler(|| stop(i32::from(crate::wording::exit_code(negmm::ErrorKind::Cancelled))));
}

/// Whether somebody else listens.
static HANDED_OVER: AtomicBool = AtomicBool::new(false);

/// From now on somebody else listens, and ends the program in order.
#[cfg(feature = "serve")]
pub fn hand_over() {
    HANDED_OVER.store(true, Ordering::Relaxed);
}

/// Ends the program.
fn stop(code: i32) {
    if HANDED_OVER.load(Ordering::Relaxed) {
        return;
    }
    // Held to the end, so that no file is begun or finished from here on.
    let files = unfinished();
    files.iter().for_each(|file| drop(std::fs::remove_file(file)));
    // On a terminal the cursor stands behind ^C or a progress bar.
    let line = if stderr().is_terminal() { "\n" } else { "" };
    let _ = writeln!(stderr(), "{line}error: stopped before the end");
    std::process::exit(code);
}

/// The list of unfinished files. Who begins or finishes one holds it while doing so.
pub fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
