//! Running trials that are not in the journal, with each result written at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::{Entry, Journal, Shard};
use negmm_dist::{Error, Result};
use negmm_nn::train::{Callbacks, CpuEngine, Engine, JobGroup, JobGroups};

/// A unit of work.
#[derive(Clone, Debug)]
pub struct Trial<T> {
    /// Contains everything that its result depends on beside the journal's plan.
    pub name: String,
    /// The work.
    pub work: T,
}

/// How trials are run.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct RunOptions<'a> {
    /// The training engine.
    pub engine: &'a dyn Engine,
    /// The shard that is run here.
    pub shard: Shard,
    /// Set to true to stop after the running trials.
    pub cancel: &'a AtomicBool,
    /// Progress callback, at the start and after every trial: finished trials and their total in this shard.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

impl Default for RunOptions<'_> {
    /// All trials on all cores, without callbacks.
    fn default() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self { engine: CpuEngine::all_cores(), shard: Shard::WHOLE, cancel: &NEVER, progress: &|_, _| {} }
    }
}

impl<'a> RunOptions<'a> {
    /// Sets `engine`.
    #[must_use]
    pub fn engine(self, engine: &'a dyn Engine) -> Self {
        Self { engine, ..self }
    }

    /// Sets `shard`.
    #[must_use]
    pub fn shard(self, shard: Shard) -> Self {
        Self { shard, ..self }
    }

    /// Sets `cancel`.
    #[must_use]
    pub fn cancel(self, cancel: &'a AtomicBool) -> Self {
        Self { cancel, ..self }
    }

    /// Sets `progress`.
    #[must_use]
    pub fn progress(self, progress: &'a (dyn Fn(usize, usize) + Sync)) -> Self {
        Self { progress, ..self }
    }
}

/// Runs the trials of this shard that the journal lacks, with the jobs of all of them in one queue of the engine.
/// Returns whether the journal has all trials in the end.
///
/// # Errors
/// When a trial fails, or the journal cannot be written; trials finished before are in the journal.
pub fn run<'a, T: Sync>(
    trials: &'a [Trial<T>],
    journal: &mut Journal,
    options: &RunOptions<'_>,
    begin: &(dyn Fn(&'a T) -> Result<JobGroup<'a, Value>> + Sync),
) -> Result<bool> {
    let pending: Vec<&Trial<T>> = trials
        .iter()
        .enumerate()
        .filter(|(index, trial)| options.shard.contains(*index) && journal.get(&trial.name).is_none())
        .map(|(_, trial)| trial)
        .collect();
    (options.progress)(0, pending.len());
    let done = AtomicUsize::new(0);
    let failure: Mutex<Option<Error>> = Mutex::new(None);
    let locked = Mutex::new(&mut *journal);
    let write = |number: usize, result: Result<Value>, seconds: f64| {
        let entry = Entry { trial: pending[number].name.clone(), seconds, result: result? };
        locked.lock().unwrap_or_else(PoisonError::into_inner).append(entry)
    };
    let ended = |number: usize, result: Result<Value>, seconds: f64| match write(number, result, seconds) {
        Ok(()) => {
            (options.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, pending.len());
            true
        }
        Err(error) => {
            // The others finish with the trials that need no more jobs.
            failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            false
        }
    };
    let watch = Callbacks { cancel: options.cancel, ..Callbacks::nothing() };
    let begin = |number: usize| begin(&pending[number].work);
    JobGroups { count: pending.len(), begin: &begin, ended: &ended }.run(options.engine, &watch);
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => {
            watch.check_cancelled()?;
            Ok(trials.iter().all(|trial| journal.get(&trial.name).is_some()))
        }
    }
}
