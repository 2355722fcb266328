//! The job queue between those who need trained networks and the engine: job groups go in, trained jobs come out,
//! in whatever order the engine takes them.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::{Engine, Job, Trained, train};
use crate::callbacks::Callbacks;
use negmm_dist::{Error, Result};

/// Jobs that an engine may take.
pub trait Queue: Sync {
    /// The next job and its number; may wait until there is one. `None`: there will be no more.
    fn next(&self) -> Option<(usize, Job)>;

    /// Takes back what became of the job of that number.
    fn done(&self, number: usize, trained: Result<Trained>);

    /// How many pieces of work it is worth preparing for.
    fn most(&self) -> usize;
}

/// A list of jobs, all known from the start.
pub(super) struct Batch<'a> {
    jobs: &'a [Job],
    next: AtomicUsize,
    results: Vec<Mutex<Option<Result<Trained>>>>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(jobs: &'a [Job]) -> Self {
        let refused = |job: &Job| Mutex::new(job.check().err().map(Err));
        Self { jobs, next: AtomicUsize::new(0), results: jobs.iter().map(refused).collect() }
    }

    pub(super) fn run(self, engine: &dyn Engine, watch: &Callbacks<'_>) -> Vec<Result<Trained>> {
        engine.run(&self, watch);
        let result = |kept: Mutex<Option<Result<Trained>>>| {
            let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
            kept.unwrap_or_else(|| Err(unreturned(watch)))
        };
        self.results.into_iter().map(result).collect()
    }
}

/// Why a job did not come back.
fn unreturned(watch: &Callbacks<'_>) -> Error {
    watch.check_cancelled().err().unwrap_or_else(|| Error::options("the engine has not trained this job"))
}

impl Queue for Batch<'_> {
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

    fn most(&self) -> usize {
        self.jobs.len()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something that needs jobs trained: the jobs, and what is made of them.
pub struct JobGroup<'a, R> {
    /// What is to be trained; may be nothing.
    pub jobs: Vec<Job>,
    /// What is made of the trained jobs, which come in the order of `jobs`, with the seconds that planning and training took.
    pub finish: Finish<'a, R>,
}

impl<'a, R: 'a> JobGroup<'a, R> {
    /// One that needs nothing trained.
    pub fn done(result: R) -> Self
    where
        R: Send,
    {
        Self { jobs: Vec::new(), finish: Box::new(|_, _| Ok(result)) }
    }

    /// Does it, alone.
    ///
    /// # Errors
    /// When a job fails, or what is made of them.
    pub fn run(self, engine: &dyn Engine, watch: &Callbacks<'_>) -> Result<R> {
        let start = Instant::now();
        let trained = train(engine, &self.jobs, watch);
        (self.finish)(trained, start.elapsed().as_secs_f64())
    }

    /// Makes something else of what comes out, or of why nothing does.
    pub fn map<S>(self, change: impl FnOnce(Result<R>) -> Result<S> + Send + 'a) -> JobGroup<'a, S> {
        let Self { jobs, finish } = self;
        JobGroup { jobs, finish: Box::new(move |trained, seconds| change(finish(trained, seconds))) }
    }
}

/// What is made of trained jobs.
pub type Finish<'a, R> = Box<dyn FnOnce(Vec<Result<Trained>>, f64) -> Result<R> + Send + 'a>;

/// Many undertakings whose jobs share an engine.
pub struct JobGroups<'a, R> {
    /// How many there are.
    pub count: usize,
    /// Plans the one of that number, when the engine has room for its jobs.
    pub begin: &'a (dyn Fn(usize) -> Result<JobGroup<'a, R>> + Sync),
    /// Told what came of each, as soon as it is finished, and the seconds that it took. `false`: no more are begun.
    pub ended: &'a (dyn Fn(usize, Result<R>, f64) -> bool + Sync),
}

impl<'a, R> JobGroups<'a, R> {
    /// Hands the jobs of all of them to `engine`. Each is finished on the thread that brought its last job back.
    pub fn run(&self, engine: &dyn Engine, watch: &Callbacks<'_>) {
        let state: Mutex<State<'a, R>> = Mutex::default();
        engine.run(&Shared { undertakings: self, watch, state, planned: Condvar::new() }, watch);
    }
}

/// The queue that an engine sees.
struct Shared<'s, 'a, R> {
    undertakings: &'s JobGroups<'a, R>,
    watch: &'s Callbacks<'s>,
    state: Mutex<State<'a, R>>,
    /// Told when an undertaking has been planned.
    planned: Condvar,
}

struct State<'a, R> {
    /// The first undertaking that nobody has begun.
    next: usize,
    /// Undertakings that are being planned now.
    planning: usize,
    /// Whether no more are to be begun.
    stopped: bool,
    /// Jobs that nobody has taken.
    ready: VecDeque<(usize, Job)>,
    /// Jobs so far.
    jobs: usize,
    /// Where each job that is not back belongs: its undertaking, its place there, and when it was taken.
    belongs: HashMap<usize, (usize, usize, Instant)>,
    /// Undertakings with jobs that are not back.
    open: HashMap<usize, Open<'a, R>>,
}

impl<R> Default for State<'_, R> {
    fn default() -> Self {
        Self {
            next: 0,
            planning: 0,
            stopped: false,
            ready: VecDeque::new(),
            jobs: 0,
            belongs: HashMap::new(),
            open: HashMap::new(),
        }
    }
}

/// An undertaking with jobs that are not back.
struct Open<'a, R> {
    results: Vec<Option<Result<Trained>>>,
    left: usize,
    seconds: f64,
    finish: Finish<'a, R>,
}

impl<'a, R> Shared<'_, 'a, R> {
    /// Plans an undertaking, and finishes it where there is nothing to train. A job that cannot be trained never reaches the
    /// engine.
    fn plan(&self, number: usize) {
        let start = Instant::now();
        let begun = (self.undertakings.begin)(number);
        let seconds = start.elapsed().as_secs_f64();
        let JobGroup { jobs, finish } = match begun {
            Ok(undertaking) => undertaking,
            Err(error) => return self.end(number, Err(error), seconds),
        };
        let results: Vec<Option<Result<Trained>>> = jobs.iter().map(|job| job.check().err().map(Err)).collect();
        let left = results.iter().filter(|result| result.is_none()).count();
        if left == 0 {
            return self.finish(number, finish, results.into_iter().flatten().collect(), seconds);
        }
        let state = &mut *locked(&self.state);
        for (place, job) in jobs.into_iter().enumerate().filter(|(place, _)| results[*place].is_none()) {
            state.belongs.insert(state.jobs, (number, place, start));
            state.ready.push_back((state.jobs, job));
            state.jobs += 1;
        }
        state.open.insert(number, Open { results, left, seconds, finish });
    }

    fn finish(&self, number: usize, finish: Finish<'a, R>, results: Vec<Result<Trained>>, seconds: f64) {
        let start = Instant::now();
        let result = finish(results, seconds);
        self.end(number, result, seconds + start.elapsed().as_secs_f64());
    }

    fn end(&self, number: usize, result: Result<R>, seconds: f64) {
        if !(self.undertakings.ended)(number, result, seconds) {
            locked(&self.state).stopped = true;
        }
    }
}

/// As long as it lives an undertaking is being planned.
struct Planning<'p, 's, 'a, R>(&'p Shared<'s, 'a, R>);

impl<R> Drop for Planning<'_, '_, '_, R> {
    fn drop(&mut self) {
        locked(&self.0.state).planning -= 1;
        self.0.planned.notify_all();
    }
}

impl<R> Queue for Shared<'_, '_, R> {
    fn next(&self) -> Option<(usize, Job)> {
        let mut state = locked(&self.state);
        loop {
            if state.stopped || self.watch.check_cancelled().is_err() {
                return None;
            }
            if let Some((number, job)) = state.ready.pop_front() {
                if let Some((_, _, taken)) = state.belongs.get_mut(&number) {
                    *taken = Instant::now();
                }
                return Some((number, job));
            }
            if state.next < self.undertakings.count {
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
        let Some((undertaking, place, taken)) = state.belongs.remove(&number) else { return };
        let Some(open) = state.open.get_mut(&undertaking) else { return };
        open.results[place] = Some(trained);
        open.left -= 1;
        open.seconds += taken.elapsed().as_secs_f64();
        if open.left > 0 {
            return;
        }
        let Some(Open { results, seconds, finish, .. }) = state.open.remove(&undertaking) else { return };
        drop(state);
        self.finish(undertaking, finish, results.into_iter().flatten().collect(), seconds);
    }

    fn most(&self) -> usize {
        // How many jobs there will be is known when they are planned.
        if self.undertakings.count == 0 { 0 } else { usize::MAX }
    }
}
