//! Job queues: an engine takes jobs from a queue and returns their results to it, in any order.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::{Engine, Job, Trained, train};
use crate::callbacks::Callbacks;
use negmm_dist::{Error, Result};

/// A queue of jobs for an engine.
pub trait Queue: Sync {
    /// The next job and its number; may block until there is one. `None`: there are no more.
    fn next(&self) -> Option<(usize, Job)>;

    /// Takes the result of the job with this number.
    fn done(&self, number: usize, trained: Result<Trained>);

    /// An upper bound of the number of jobs.
    fn max_jobs(&self) -> usize;
}

/// A list of jobs, all known from the start.
pub(super) struct JobList<'a> {
    jobs: &'a [Job],
    next: AtomicUsize,
    results: Vec<Mutex<Option<Result<Trained>>>>,
}

impl<'a> JobList<'a> {
    pub(super) fn new(jobs: &'a [Job]) -> Self {
        let refused = |job: &Job| Mutex::new(job.check().err().map(Err));
        Self { jobs, next: AtomicUsize::new(0), results: jobs.iter().map(refused).collect() }
    }

    pub(super) fn run(self, engine: &dyn Engine, callbacks: &Callbacks<'_>) -> Vec<Result<Trained>> {
        engine.run(&self, callbacks);
        let result = |kept: Mutex<Option<Result<Trained>>>| {
            let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
            kept.unwrap_or_else(|| Err(unreturned(callbacks)))
        };
        self.results.into_iter().map(result).collect()
    }
}

/// Why a job has no result.
fn unreturned(callbacks: &Callbacks<'_>) -> Error {
    callbacks.check_cancelled().err().unwrap_or_else(|| Error::options("the engine has not trained this job"))
}

impl Queue for JobList<'_> {
    fn next(&self) -> Option<(usize, Job)> {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let job = self.jobs.get(number)?;
            if locked(&self.results[number]).is_none() {
                return Some((number, job.clone()));
            }
        }
    }

    fn done(&self, number: usize, trained: Result<Trained>) {
        *locked(&self.results[number]) = Some(trained);
    }

    fn max_jobs(&self) -> usize {
        self.jobs.len()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A group of jobs, and what is computed from their results.
pub struct JobGroup<'a, R> {
    /// The jobs; may be empty.
    pub jobs: Vec<Job>,
    /// Called with the results in the order of `jobs`, and with the seconds that planning and training took.
    pub finish: Finish<'a, R>,
}

impl<'a, R: 'a> JobGroup<'a, R> {
    /// A group without jobs.
    pub fn done(result: R) -> Self
    where
        R: Send,
    {
        Self { jobs: Vec::new(), finish: Box::new(|_, _| Ok(result)) }
    }

    /// Trains the jobs of this group alone.
    ///
    /// # Errors
    /// When `finish` fails, in general because a job did.
    pub fn run(self, engine: &dyn Engine, callbacks: &Callbacks<'_>) -> Result<R> {
        let start = Instant::now();
        let trained = train(engine, &self.jobs, callbacks);
        (self.finish)(trained, start.elapsed().as_secs_f64())
    }

    /// Applies a function to the result of the group.
    pub fn map<S>(self, change: impl FnOnce(Result<R>) -> Result<S> + Send + 'a) -> JobGroup<'a, S> {
        let Self { jobs, finish } = self;
        JobGroup { jobs, finish: Box::new(move |trained, seconds| change(finish(trained, seconds))) }
    }
}

/// Called with the results of a group's jobs and the seconds that planning and training took.
pub type Finish<'a, R> = Box<dyn FnOnce(Vec<Result<Trained>>, f64) -> Result<R> + Send + 'a>;

/// Several groups whose jobs are trained by one engine.
pub struct JobGroups<'a, R> {
    /// The number of groups.
    pub count: usize,
    /// Plans the group with this number, as soon as the engine can take its jobs.
    pub begin: &'a (dyn Fn(usize) -> Result<JobGroup<'a, R>> + Sync),
    /// Called with the number of each finished group, its result and the seconds that it took. `false`: no more groups are begun.
    pub ended: &'a (dyn Fn(usize, Result<R>, f64) -> bool + Sync),
}

impl<'a, R> JobGroups<'a, R> {
    /// Trains all groups. Each is finished on the thread that returned its last job.
    pub fn run(&self, engine: &dyn Engine, callbacks: &Callbacks<'_>) {
        let state: Mutex<QueueState<'a, R>> = Mutex::default();
        engine.run(&GroupQueue { groups: self, callbacks, state, planned: Condvar::new() }, callbacks);
    }
}

/// The queue of the jobs of several groups.
struct GroupQueue<'s, 'a, R> {
    groups: &'s JobGroups<'a, R>,
    callbacks: &'s Callbacks<'s>,
    state: Mutex<QueueState<'a, R>>,
    /// Notified when a group has been planned.
    planned: Condvar,
}

struct QueueState<'a, R> {
    /// The first group that has not been begun.
    next: usize,
    /// The number of groups that are being planned.
    planning: usize,
    /// Whether no more groups are to be begun.
    stopped: bool,
    /// Jobs that the engine has not taken yet.
    ready: VecDeque<(usize, Job)>,
    /// The number of jobs so far.
    jobs: usize,
    /// For each unfinished job its group, its index there, and when it was taken.
    assigned: HashMap<usize, (usize, usize, Instant)>,
    /// Groups with unfinished jobs.
    open: HashMap<usize, OpenGroup<'a, R>>,
}

impl<R> Default for QueueState<'_, R> {
    fn default() -> Self {
        Self {
            next: 0,
            planning: 0,
            stopped: false,
            ready: VecDeque::new(),
            jobs: 0,
            assigned: HashMap::new(),
            open: HashMap::new(),
        }
    }
}

/// A group with unfinished jobs.
struct OpenGroup<'a, R> {
    results: Vec<Option<Result<Trained>>>,
    left: usize,
    seconds: f64,
    finish: Finish<'a, R>,
}

impl<'a, R> GroupQueue<'_, 'a, R> {
    /// Plans a group, and finishes it if there is nothing to train. A job that fails [`Job::check`] is not given to the engine.
    fn plan(&self, number: usize) {
        let start = Instant::now();
        let begun = (self.groups.begin)(number);
        let seconds = start.elapsed().as_secs_f64();
        let JobGroup { jobs, finish } = match begun {
            Ok(group) => group,
            Err(error) => return self.end(number, Err(error), seconds),
        };
        let results: Vec<Option<Result<Trained>>> = jobs.iter().map(|job| job.check().err().map(Err)).collect();
        let left = results.iter().filter(|result| result.is_none()).count();
        if left == 0 {
            return self.finish(number, finish, results.into_iter().flatten().collect(), seconds);
        }
        let state = &mut *locked(&self.state);
        for (index, job) in jobs.into_iter().enumerate().filter(|(index, _)| results[*index].is_none()) {
            state.assigned.insert(state.jobs, (number, index, start));
            state.ready.push_back((state.jobs, job));
            state.jobs += 1;
        }
        state.open.insert(number, OpenGroup { results, left, seconds, finish });
    }

    fn finish(&self, number: usize, finish: Finish<'a, R>, results: Vec<Result<Trained>>, seconds: f64) {
        let start = Instant::now();
        let result = finish(results, seconds);
        self.end(number, result, seconds + start.elapsed().as_secs_f64());
    }

    fn end(&self, number: usize, result: Result<R>, seconds: f64) {
        if !(self.groups.ended)(number, result, seconds) {
            locked(&self.state).stopped = true;
        }
    }
}

/// Counts a group as being planned until it is dropped.
struct Planning<'p, 's, 'a, R>(&'p GroupQueue<'s, 'a, R>);

impl<R> Drop for Planning<'_, '_, '_, R> {
    fn drop(&mut self) {
        locked(&self.0.state).planning -= 1;
        self.0.planned.notify_all();
    }
}

impl<R> Queue for GroupQueue<'_, '_, R> {
    fn next(&self) -> Option<(usize, Job)> {
        let mut state = locked(&self.state);
        loop {
            if state.stopped || self.callbacks.check_cancelled().is_err() {
                return None;
            }
            if let Some((number, job)) = state.ready.pop_front() {
                if let Some((_, _, taken)) = state.assigned.get_mut(&number) {
                    *taken = Instant::now();
                }
                return Some((number, job));
            }
            if state.next < self.groups.count {
                let number = state.next;
                state.next += 1;
                state.planning += 1;
                drop(state);
                let planning = Planning(self);
                self.plan(number);
                drop(planning);
                state = locked(&self.state);
            } else if state.planning > 0 {
                state = self.planned.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else {
                return None;
            }
        }
    }

    fn done(&self, number: usize, trained: Result<Trained>) {
        let mut state = locked(&self.state);
        let Some((group, index, taken)) = state.assigned.remove(&number) else { return };
        let Some(open) = state.open.get_mut(&group) else { return };
        open.results[index] = Some(trained);
        open.left -= 1;
        open.seconds += taken.elapsed().as_secs_f64();
        if open.left > 0 {
            return;
        }
        let Some(OpenGroup { results, seconds, finish, .. }) = state.open.remove(&group) else { return };
        drop(state);
        self.finish(group, finish, results.into_iter().flatten().collect(), seconds);
    }

    fn max_jobs(&self) -> usize {
        // The number of jobs is known only when all groups are planned.
        if self.groups.count == 0 { 0 } else { usize::MAX }
    }
}
