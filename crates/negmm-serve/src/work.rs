//! Responsible for predicting, away from the threads that talk to the network: a queue of requests, and threads that answer them. What
//! waits for the same model is predicted together: a network works on 32 rows at once, whether they are there or not.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use negmm::Predictions;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::Failure;
use crate::job::{Answer, Job, Read};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::models::Served;
use crate::rows::{Columns, Rows};

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
            // A pool of itself alone: what the library does in parallel stays here. Without one it is slower and no worse.
            let _own = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
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
            Rows::Columns(columns) if columns.len() <= FEW_ROWS && job.served.model.encoder().sequence().is_none() => {
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
    let predictions = guarded(|| Ok(served.model.predict(&batch.columns.table()?)?));
    let Ok(predictions) = predictions else {
        return batch.jobs.into_iter().for_each(|(job, read)| alone(job, &read, room));
    };
    room.metrics.predicted(&served.name, batch.jobs.len(), predictions.len());
    let mut first = 0;
    for (job, read) in batch.jobs {
        let rows = read.rows.len();
        let own: Vec<usize> = (first..first + rows).collect();
        first += rows;
        let answer = guarded(|| read.answer(&served, &predictions.select(&own), rows));
        drop(job.reply.send(answer));
    }
}

/// Answers one request by itself.
fn alone(job: Job, read: &Read, room: &Room) {
    let served = job.served.clone();
    let answer = || {
        let (predictions, rows) = predicted(&served, &read.rows)?;
        room.metrics.predicted(&served.name, 1, predictions.len());
        read.answer(&served, &predictions, rows)
    };
    let answer = guarded(|| if read.rows.len() > MANY_ROWS { room.all.install(answer) } else { answer() });
    drop(job.reply.send(answer));
}

fn predicted(served: &Served, rows: &Rows) -> Result<(Predictions, usize), Failure> {
    match rows {
        Rows::Columns(columns) => Ok((served.model.predict(&columns.table()?)?, columns.len())),
        Rows::Table(table) => Ok((served.model.predict(table)?, table.rows())),
    }
}

/// A bug in answering one request is not the end of the thread.
fn guarded<T>(answer: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_| Err(Failure::internal()))
}

/// The answer of a thread that ended before it gave one.
pub fn lost() -> Answer {
    Err(Failure::internal())
}
