//! Responsible for where the core works: threads of its own, so that Ctrl-C is heard meanwhile and a fork does no harm.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::{PyResult, Python};
use rayon::ThreadPool;

/// How often signals are looked at.
const SIGNALS: Duration = Duration::from_millis(50);
/// How long the one who interrupts waits for the work to end, which it mostly does at once.
const GRACE: Duration = Duration::from_millis(500);

/// Runs `work` on `threads` threads of its own, without the interpreter's lock. A signal whose handler raises (Ctrl-C) sets the
/// flag that `work` is given, and what the handler raised is the result; work that is slow to notice ends behind the caller's
/// back.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    let pool = pool_of(threads)?;
    let cancel = Arc::new(AtomicBool::new(false));
    let (sender, mut receiver) = channel();
    let stopped = cancel.clone();
    let worker = std::thread::spawn(move || {
        // Whoever interrupted may have gone.
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
                if let Err(raised) = py.check_signals() {
                    cancel.store(true, Ordering::Relaxed);
                    let _ = wait(GRACE);
                    return Err(raised);
                }
            }
        }
    }
}

/// Runs `work` on `threads` threads, without the interpreter's lock.
pub fn on_threads<T: Send>(py: Python<'_>, threads: usize, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool_of(threads)?;
    Ok(py.detach(|| pool.install(work)))
}

/// Runs `work` on as many threads as there are cores, without the interpreter's lock.
pub fn on_all_threads<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    /// The pool, and the process that made it: a fork has a copy of the pool but not of its threads.
    static SHARED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let process = std::process::id();
    let pool = {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        match shared.take() {
            Some((maker, pool)) if maker == process => shared.insert((process, pool)).1.clone(),
            forked => {
                // To drop the pool would be to wait for threads that are not there.
                std::mem::forget(forked);
                shared.insert((process, Arc::new(pool_of(0)?))).1.clone()
            }
        }
    };
    Ok(py.detach(|| pool.install(work)))
}

fn pool_of(threads: usize) -> PyResult<ThreadPool> {
    negmm::threads::pool(threads).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
