//! Responsible for predicting, away from the threads that talk to the network: a queue of requests, and threads that answer them. What
//! waits for the same model is predicted together: a network works on 32 rows at once, whether they are there or not. Only a small
//! request that has the server to itself is answered where it was read: there is nothing to wait for and nobody who waits.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use negmm::Loaded;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::Failure;
use crate::job::{Answer, Job, Read};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::models::Served;
use crate::rows::{Columns, Rows};
use crate::series::Ahead;

/// Requests that are predicted together, at most.
const TOGETHER: usize = 64;
/// Rows of a request that is predicted together with others, at most.
const FEW_ROWS: usize = 64;

/// Requests that wait.
#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    closed: bool,
}

/// The queue. It is as long as there may be requests under way.
#[derive(Default)]
pub struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Queue {
    /// Adds a request.
    pub fn push(&self, job: Job) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).jobs.push_back(job);
        self.changed.notify_one();
    }

    /// No more will come: threads end when all is done.
    pub fn close(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.changed.notify_all();
    }

    /// The request that has waited longest, and others of the same model: a fair part of them where there are `threads`.
    fn take(&self, threads: usize) -> Option<Vec<Job>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let first = loop {
            match waiting.jobs.pop_front() {
                Some(job) => break job,
                None if waiting.closed => return None,
                None => waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(waiting);
        // On a core of its own it costs nothing; on a shared one the thread that talks to the network has a turn, and more wait then.
        std::thread::yield_now();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let share = (waiting.jobs.len() / threads).min(TOGETHER - 1);
        let mut taken = vec![first];
        while taken.len() <= share && waiting.jobs.front().is_some_and(|job| Arc::ptr_eq(&job.served, &taken[0].served))
        {
            taken.extend(waiting.jobs.pop_front());
        }
        Some(taken)
    }
}

/// More rows than this are predicted by all threads; fewer by the one that took them, without a word to others.
const MANY_ROWS: usize = 512;

/// What the threads share.
struct Room {
    limits: Limits,
    metrics: Arc<Metrics>,
    /// Threads for requests of many rows.
    all: ThreadPool,
}

/// Starts so many threads that answer until the queue is closed.
///
/// # Errors
/// When the system has no room for them.
pub fn start(
    queue: &Arc<Queue>,
    threads: usize,
    limits: &Limits,
    metrics: &Arc<Metrics>,
) -> std::io::Result<Vec<JoinHandle<()>>> {
    let all = ThreadPoolBuilder::new().num_threads(threads).build().map_err(std::io::Error::other)?;
    let room = Arc::new(Room { limits: limits.clone(), metrics: metrics.clone(), all });
    let thread = |number: usize| {
        let (queue, room) = (queue.clone(), room.clone());
        std::thread::Builder::new().name(format!("predict {number}")).spawn(move || {
            stay_here();
            while let Some(jobs) = queue.take(threads) {
                answer_all(jobs, &room);
            }
        })
    };
    (0..threads).map(thread).collect()
}

/// Rows that are predicted together, and the requests that they are of.
struct Batch {
    columns: Columns,
    jobs: Vec<(Job, Read)>,
}

/// Answers requests of one model.
fn answer_all(jobs: Vec<Job>, room: &Room) {
    let mut batches: Vec<Batch> = Vec::new();
    // Whoever waited for it may have gone.
    for job in jobs.into_iter().filter(|job| !job.reply.is_closed()) {
        let read = match guarded(|| job.read(&room.limits)) {
            Ok(read) => read,
            Err(failure) => {
                drop(job.reply.send(Err(failure)));
                continue;
            }
        };
        match &read.rows {
            Rows::Columns(columns) if columns.len() <= FEW_ROWS && stand_alone(&job.served) => {
                match batches.iter_mut().find(|batch| batch.columns.is_like(columns)) {
                    Some(batch) => {
                        batch.columns.extend(columns);
                        batch.jobs.push((job, read));
                    }
                    None => batches.push(Batch { columns: columns.clone(), jobs: vec![(job, read)] }),
                }
            }
            _ => alone(job, &read, room),
        }
    }
    batches.into_iter().for_each(|batch| together(batch, room));
}

/// Answers requests by one prediction; where it fails, each by its own, so that none is told of another's fault.
fn together(batch: Batch, room: &Room) {
    if batch.jobs.len() == 1 {
        return batch.jobs.into_iter().for_each(|(job, read)| alone(job, &read, room));
    }
    let served = batch.jobs[0].0.served.clone();
    let predicted = guarded(|| {
        let model = served.model()?;
        Ok((model, model.predict(&batch.columns.table()?)?))
    });
    let Ok((model, predictions)) = predicted else {
        return batch.jobs.into_iter().for_each(|(job, read)| alone(job, &read, room));
    };
    room.metrics.predicted(&served.name, batch.jobs.len(), predictions.len());
    let mut first = 0;
    for (job, read) in batch.jobs {
        let rows = read.rows.len();
        let own: Vec<usize> = (first..first + rows).collect();
        first += rows;
        let answer = guarded(|| read.answer(model, &predictions.select(&own)));
        drop(job.reply.send(answer));
    }
}

/// Answers one request by itself.
fn alone(job: Job, read: &Read, room: &Room) {
    let answer = || answer(&job.served, read, &room.limits, &room.metrics);
    let answer = guarded(|| if read.rows.len() > MANY_ROWS { room.all.install(answer) } else { answer() });
    drop(job.reply.send(answer));
}

fn answer(served: &Served, read: &Read, limits: &Limits, metrics: &Metrics) -> Answer {
    let table = read.rows.table()?;
    match &served.loaded {
        Loaded::Model(model) => {
            let predictions = model.predict(&table)?;
            metrics.predicted(&served.name, 1, predictions.len());
            read.answer(model, &predictions)
        }
        Loaded::Forecaster(forecaster) => {
            let ahead = Ahead::of(forecaster, &table, &read.questions, limits.numbers)?;
            metrics.predicted(&served.name, 1, ahead.len());
            Ok((read.form.content_type(), ahead.answer(&read.questions, &read.form)?))
        }
    }
}

/// Bytes and rows of a request that may be answered at once, and numbers of its answer, at most.
const SMALL: (usize, usize, usize) = (4096, 4, 256);

/// The answer to a small request, by the thread that asks; nothing where the queue shall have it.
pub fn at_once(job: &Job, limits: &Limits, metrics: &Metrics) -> Option<Answer> {
    let (bytes, rows, numbers) = SMALL;
    if job.body.len() > bytes || !stand_alone(&job.served) {
        return None;
    }
    stay_here();
    match guarded(|| job.read(limits)) {
        Ok(read) if read.rows.len() > rows || read.numbers > numbers => None,
        Ok(read) => Some(guarded(|| answer(&job.served, &read, limits, metrics))),
        Err(failure) => Some(Err(failure)),
    }
}

/// What the library does in parallel stays on this thread from now on.
fn stay_here() {
    thread_local!(static STAYS: Cell<bool> = const { Cell::new(false) });
    if !STAYS.replace(true) {
        // It lasts as long as the thread. Without it predictions are slower and no worse.
        std::mem::forget(ThreadPoolBuilder::new().num_threads(1).use_current_thread().build());
    }
}

/// Whether each row of a request is predicted by itself.
fn stand_alone(served: &Served) -> bool {
    matches!(&served.loaded, Loaded::Model(model) if model.encoder().sequence().is_none())
}

/// A bug in answering one request is not the end of the thread.
fn guarded<T>(answer: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_| Err(Failure::internal()))
}

/// The answer of a thread that ended before it gave one.
pub fn lost() -> Answer {
    Err(Failure::internal())
}
