//! Interruption by Ctrl-C, and on Unix by SIGTERM (as schedulers send it): the program ends at once and removes its unfinished
//! files.

use std::io::{IsTerminal, Write, stderr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Temporary files that are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Installs the signal handler. Without it the program would leave its unfinished files behind.
///
/// SIGHUP is not handled: a handler would undo `nohup`.
#[cfg(unix)]
pub fn watch() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) {
        std::thread::spawn(move || signals.forever().for_each(|signal| stop(128 + signal)));
    }
}

/// Installs the signal handler.
#[cfg(not(unix))]
pub fn watch() {
    let _ = ctrlc::set_handler(|| stop(i32::from(crate::wording::exit_code(negmm::ErrorKind::Cancelled))));
}

/// Whether another handler is in charge.
static HANDED_OVER: AtomicBool = AtomicBool::new(false);

/// Leaves signals to another handler, which ends the program in order.
#[cfg(feature = "serve")]
pub fn hand_over() {
    HANDED_OVER.store(true, Ordering::Relaxed);
}

/// Ends the program.
fn stop(code: i32) {
    if HANDED_OVER.load(Ordering::Relaxed) {
        return;
    }
    // Locked until the program ends, so that no file is created or finished meanwhile.
    let files = unfinished();
    files.iter().for_each(|file| drop(std::fs::remove_file(file)));
    // On a terminal the cursor is behind ^C or a progress bar.
    let line = if stderr().is_terminal() { "\n" } else { "" };
    let _ = writeln!(stderr(), "{line}error: interrupted");
    std::process::exit(code);
}

/// The list of unfinished files, to be locked while one is created or finished.
pub fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
