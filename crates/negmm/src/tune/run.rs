//! Responsible for running trials: those that are not in the journal, one a thread, each written down as soon as it is done.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::Value;

use super::{Entry, Journal, Shard};
use crate::{Error, Result};

/// Something to be done.
#[derive(Clone, Debug)]
pub struct Trial<T> {
    /// Says all that its result depends on, beside the journal's plan.
    pub name: String,
    /// What is to be done.
    pub work: T,
}

/// How trials are run.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// Trials that run at once; 0: as many as there are cores.
    pub threads: usize,
    /// The part of the trials that is run here.
    pub shard: Shard,
    /// Set to true to stop after the trials that are running.
    pub cancel: &'a AtomicBool,
    /// Called at the start and after every trial: how many are done here, and of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

impl RunOptions<'static> {
    /// All trials on all cores, silently.
    pub fn quiet() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self { threads: 0, shard: Shard::WHOLE, cancel: &NEVER, progress: &|_, _| {} }
    }
}

/// Runs the trials of this shard that the journal does not have. Whether the journal has all trials in the end.
///
/// # Errors
/// When a trial fails, or the journal cannot be written; what was finished until then is in the journal.
pub fn run<T: Sync>(
    trials: &[Trial<T>],
    journal: &mut Journal,
    options: &RunOptions<'_>,
    work: &(dyn Fn(&T) -> Result<Value> + Sync),
) -> Result<bool> {
    let pending: Vec<&Trial<T>> = trials
        .iter()
        .enumerate()
        .filter(|(place, trial)| options.shard.has(*place) && journal.get(&trial.name).is_none())
        .map(|(_, trial)| trial)
        .collect();
    (options.progress)(0, pending.len());
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failure: Mutex<Option<Error>> = Mutex::new(None);
    let shared = Mutex::new(&mut *journal);
    let step = || -> Result<bool> {
        let Some(trial) = pending.get(next.fetch_add(1, Ordering::Relaxed)) else { return Ok(false) };
        if options.cancel.load(Ordering::Relaxed) {
            return Err(Error::cancelled());
        }
        let start = Instant::now();
        let result = work(&trial.work)?;
        let entry = Entry { trial: trial.name.clone(), seconds: start.elapsed().as_secs_f64(), result };
        shared.lock().map_err(|_| Error::cancelled())?.append(entry)?;
        (options.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, pending.len());
        Ok(true)
    };
    // A trial that asks for threads gets this one: all cores are busy with trials.
    let worker = || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|error| Error::options(format!("the threads cannot be started: {error}")));
        let outcome = pool.and_then(|pool| {
            pool.install(|| {
                while step()? {}
                Ok(())
            })
        });
        if let Err(error) = outcome {
            // The others end with the trials they are at.
            next.store(pending.len(), Ordering::Relaxed);
            if let Ok(mut failure) = failure.lock() {
                failure.get_or_insert(error);
            }
        }
    };
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if options.threads == 0 { cores() } else { options.threads }.min(pending.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(worker);
        }
    });
    match failure.into_inner() {
        Ok(Some(error)) => Err(error),
        _ => Ok(trials.iter().all(|trial| journal.get(&trial.name).is_some())),
    }
}
