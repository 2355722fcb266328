//! Callbacks: progress of a training, and its cancellation.

use std::sync::atomic::{AtomicBool, Ordering};

use negmm_dist::{Error, Result};

/// How a caller follows trainings and stops them.
#[derive(Clone, Copy)]
pub struct Callbacks<'a> {
    /// Called after every epoch of every job, from the thread that trains it.
    pub progress: &'a (dyn Fn(&Progress) + Sync),
    /// Set to true to stop within a few steps; jobs then fail with [`negmm_dist::ErrorKind::Cancelled`].
    pub cancel: &'a AtomicBool,
}

impl Callbacks<'static> {
    /// Follows nothing and never stops.
    pub fn nothing() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self { progress: &|_| {}, cancel: &NEVER }
    }
}

impl Callbacks<'_> {
    /// Fails where the caller asked to stop.
    pub fn check_cancelled(&self) -> Result<()> {
        if self.cancel.load(Ordering::Relaxed) { Err(Error::cancelled()) } else { Ok(()) }
    }
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Which job: its place in a batch, or the number that its queue gave it.
    pub job: usize,
    /// Epochs done.
    pub epoch: usize,
    /// Epochs at most.
    pub epochs: usize,
    /// The best validation score so far, in units of the standardised target.
    pub best: Option<f64>,
    /// Whether this was the job's last epoch.
    pub last: bool,
}
