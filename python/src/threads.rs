//! Threads that run the library apart from the interpreter's, so that Ctrl-C works and a fork is safe.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::{PyResult, Python};
use rayon::ThreadPool;

/// How often signals are checked.
const SIGNALS: Duration = Duration::from_millis(50);
/// How long an interrupted call waits for the work to end, which mostly takes less.
const GRACE: Duration = Duration::from_millis(500);

/// Runs `work` on `threads` threads of its own, without the interpreter's lock. A signal whose handler raises (Ctrl-C) sets the
/// flag that `work` is given, and what the handler raised is the result; work that does not stop in time ends in the
/// background.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    interruptible_with(py, threads, |_| Ok(()), work)
}

/// As [`interruptible`]; `report` is called whenever signals are checked, and an exception of it stops the work too.
pub fn interruptible_with<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    mut report: impl FnMut(Python<'_>) -> PyResult<()>,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    let pool = pool_of(threads)?;
    let cancel = Arc::new(AtomicBool::new(false));
    let (sender, mut receiver) = channel();
    let stopped = cancel.clone();
    let worker = std::thread::spawn(move || {
        // The receiver of an interrupted call is gone.
        let _ = sender.send(pool.install(|| work(&stopped)));
    });
    let mut wait = |time| {
        let receiver = &mut receiver;
        py.detach(move || receiver.recv_timeout(time))
    };
    loop {
        match wait(SIGNALS) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => {
                let panic = py.detach(|| worker.join()).err();
                resume_unwind(panic.unwrap_or_else(|| Box::new("the worker is gone")));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(raised) = py.check_signals().and_then(|()| report(py)) {
                    cancel.store(true, Ordering::Relaxed);
                    let _ = wait(GRACE);
                    return Err(raised);
                }
            }
        }
    }
}

fn pool_of(threads: usize) -> PyResult<ThreadPool> {
    negmm::threads::pool(threads).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
