//! Progress of a fit or a search, which Python reads while it waits.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use negmm::train::Progress;
use pyo3::prelude::*;

/// Progress in steps: networks of a fit, or fits of a comparison.
#[derive(Default)]
pub struct ProgressTracker(Mutex<State>);

#[derive(Default)]
struct State {
    /// Steps that are done, and all steps.
    done: usize,
    total: usize,
    /// The fraction of each started step that is done.
    fractions: HashMap<usize, f64>,
    /// What the steps are, where that changes.
    unit: Option<&'static str>,
}

impl ProgressTracker {
    /// Sets the number of steps.
    pub fn set_total(&self, steps: usize) {
        self.state().total = steps;
    }

    /// Begins with steps of another kind.
    pub fn begin(&self, unit: &'static str, steps: usize) {
        *self.state() = State { unit: Some(unit), total: steps, ..State::default() };
    }

    /// So many steps of another kind are done.
    pub fn at(&self, unit: &'static str, done: usize, of: usize) {
        let mut state = self.state();
        (state.unit, state.total, state.done) = (Some(unit), of, state.done.max(done));
    }

    /// Updates the progress of a job.
    pub fn update(&self, progress: &Progress) {
        let fraction = if progress.last { 1.0 } else { progress.epoch as f64 / progress.epochs.max(1) as f64 };
        let mut state = self.state();
        state.fractions.insert(progress.job, fraction);
        state.done = state.fractions.values().filter(|fraction| **fraction >= 1.0).count();
    }

    /// Sets the number of steps that are done.
    pub fn set_done(&self, done: usize) {
        self.state().done = done;
    }

    /// Counts one more step as done.
    pub fn increment(&self) {
        self.state().done += 1;
    }

    /// Calls `progress`, where there is one, with the steps done, all steps, and the fraction of the work that is done.
    pub fn report(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        let Some(progress) = progress else { return Ok(()) };
        let (unit, (done, total, fraction)) = {
            let state = self.state();
            let begun: f64 =
                if state.fractions.is_empty() { state.done as f64 } else { state.fractions.values().sum() };
            (state.unit, (state.done, state.total, begun / state.total.max(1) as f64))
        };
        if let Some(unit) = unit {
            progress.setattr(py, "unit", unit)?;
        }
        progress.call1(py, (done, total, fraction)).map(drop)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
