//! Callbacks: progress of a training, and its cancellation.

use std::sync::atomic::{AtomicBool, Ordering};

use negmm_dist::{Error, Result};

/// Progress callback and cancel token of trainings.
#[derive(Clone, Copy)]
pub struct Callbacks<'a> {
    /// Called after every epoch of every job, from the thread that trains it.
    pub progress: &'a (dyn Fn(&Progress) + Sync),
    /// Set to true to stop within a few steps; jobs then fail with [`negmm_dist::ErrorKind::Cancelled`].
    pub cancel: &'a AtomicBool,
}

impl Callbacks<'static> {
    /// Ignores progress and never cancels.
    pub fn nothing() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self { progress: &|_| {}, cancel: &NEVER }
    }
}

impl Callbacks<'_> {
    /// Fails if the caller has cancelled.
    pub fn check_cancelled(&self) -> Result<()> {
        if self.cancel.load(Ordering::Relaxed) { Err(Error::cancelled()) } else { Ok(()) }
    }
}

/// The progress of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The number of the job: its index in a list of jobs, or the number in its queue.
    pub job: usize,
    /// Epochs done.
    pub epoch: usize,
    /// Largest number of epochs.
    pub epochs: usize,
    /// The best validation score so far, in units of the standardised target.
    pub best: Option<f64>,
    /// Whether this was the job's last epoch.
    pub last: bool,
}
