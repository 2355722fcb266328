//! Responsible for Ctrl-C: the first one asks the work to stop and clean up, the second one leaves at once.

use std::sync::atomic::{AtomicBool, Ordering};

use negmm::Error;

/// Set by the first Ctrl-C.
pub static CANCEL: AtomicBool = AtomicBool::new(false);

/// Starts listening. Without a listener Ctrl-C ends the program at once, which is no worse than usual.
pub fn watch() {
    let _ = ctrlc::set_handler(|| {
        if CANCEL.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(super::INTERRUPTED));
        }
    });
}

/// An error once Ctrl-C was pressed.
pub fn check() -> Result<(), Error> {
    if CANCEL.load(Ordering::Relaxed) { Err(Error::cancelled()) } else { Ok(()) }
}
