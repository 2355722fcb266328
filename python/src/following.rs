//! Progress callbacks into Python.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use negmm::train::Progress;
use pyo3::prelude::*;

/// How far a piece of work is: networks of a fit, or fits of a comparison.
#[derive(Default)]
pub struct Following(Mutex<Stand>);

#[derive(Default)]
struct Stand {
    /// Pieces that are done, and how many there are.
    done: usize,
    of: usize,
    /// The share of each piece that has been begun.
    shares: HashMap<usize, f64>,
}

impl Following {
    /// Says how many pieces there are.
    pub fn expect(&self, pieces: usize) {
        self.stand().of = pieces;
    }

    /// A job is so far.
    pub fn hear(&self, progress: &Progress) {
        let share = if progress.last { 1.0 } else { progress.epoch as f64 / progress.epochs.max(1) as f64 };
        let mut stand = self.stand();
        stand.shares.insert(progress.job, share);
        stand.done = stand.shares.values().filter(|share| **share >= 1.0).count();
    }

    /// So many pieces are done.
    pub fn reach(&self, done: usize) {
        self.stand().done = done;
    }

    /// One piece more is done.
    pub fn add(&self) {
        self.stand().done += 1;
    }

    /// Tells `progress`, where there is one: pieces done, all pieces, and the share of the work that is done.
    pub fn tell(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        let Some(progress) = progress else { return Ok(()) };
        let (done, of, share) = {
            let stand = self.stand();
            let begun: f64 = if stand.shares.is_empty() { stand.done as f64 } else { stand.shares.values().sum() };
            (stand.done, stand.of, begun / stand.of.max(1) as f64)
        };
        progress.call1(py, (done, of, share)).map(drop)
    }

    fn stand(&self) -> MutexGuard<'_, Stand> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
