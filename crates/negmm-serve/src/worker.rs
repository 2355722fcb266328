//! The queue of prediction jobs and the worker threads that run them, apart from the threads of the network.
//!
//! Jobs that wait for the same model are predicted in one batch: a network computes 32 rows at a time, so small requests in one
//! batch cost little more than one. Only a small request on an idle server is run inline, on the thread that received it.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use negmm::Loaded;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::encode::encode;
use crate::failure::Failure;
use crate::forecast::ForecastResponse;
use crate::job::{Encoded, Job, ParsedRequest};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::models::ServedModel;
use crate::rows::{InputColumns, Rows};

/// Requests in one batch, at most.
const MAX_BATCH: usize = 64;
/// Rows of a request in a batch of several, at most.
const MAX_BATCHED_ROWS: usize = 64;

/// Jobs that wait.
#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    closed: bool,
}

/// The queue of jobs. Its length is bounded by the limit on requests in flight.
#[derive(Default)]
pub struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Queue {
    /// Adds a job.
    pub fn push(&self, job: Job) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).jobs.push_back(job);
        self.changed.notify_one();
    }

    /// No more jobs will come: workers end when the queue is empty.
    pub fn close(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.changed.notify_all();
    }

    /// The oldest job, and the ones after it for the same model, up to an equal part of the queue for each of `threads`.
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
        // Lets the network threads run where there are few cores, so that more jobs can be batched.
        std::thread::yield_now();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let extra = (waiting.jobs.len() / threads).min(MAX_BATCH - 1);
        let mut taken = vec![first];
        while taken.len() <= extra && waiting.jobs.front().is_some_and(|job| Arc::ptr_eq(&job.served, &taken[0].served))
        {
            taken.extend(waiting.jobs.pop_front());
        }
        Some(taken)
    }
}

/// A request with more rows than this is predicted in parallel, a smaller one by its worker alone.
const MAX_SERIAL_ROWS: usize = 512;

/// The state of all workers.
struct WorkerContext {
    limits: Limits,
    metrics: Arc<Metrics>,
    /// The thread pool for requests of many rows.
    pool: ThreadPool,
}

/// Starts worker threads that run until the queue is closed.
///
/// # Errors
/// When the system cannot start them.
pub fn start(
    queue: &Arc<Queue>,
    threads: usize,
    limits: &Limits,
    metrics: &Arc<Metrics>,
) -> std::io::Result<Vec<JoinHandle<()>>> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(std::io::Error::other)?;
    let context = Arc::new(WorkerContext { limits: limits.clone(), metrics: metrics.clone(), pool });
    let thread = |number: usize| {
        let (queue, context) = (queue.clone(), context.clone());
        std::thread::Builder::new().name(format!("predict {number}")).spawn(move || {
            use_current_thread_only();
            while let Some(jobs) = queue.take(threads) {
                run_jobs(jobs, &context);
            }
        })
    };
    (0..threads).map(thread).collect()
}

/// Rows that are predicted at once, and the jobs they belong to.
struct Batch {
    columns: InputColumns,
    jobs: Vec<(Job, ParsedRequest)>,
}

/// Runs jobs of one model, in batches where their columns agree.
fn run_jobs(jobs: Vec<Job>, context: &WorkerContext) {
    let mut batches: Vec<Batch> = Vec::new();
    // A client may have disconnected.
    for job in jobs.into_iter().filter(|job| !job.reply.is_closed()) {
        let request = match catch_panic(|| job.parse(&context.limits)) {
            Ok(request) => request,
            Err(failure) => {
                drop(job.reply.send(Err(failure)));
                continue;
            }
        };
        match &request.rows {
            Rows::Columns(columns) if columns.len() <= MAX_BATCHED_ROWS && has_independent_rows(&job.served) => {
                match batches.iter_mut().find(|batch| batch.columns.is_like(columns)) {
                    Some(batch) => {
                        batch.columns.extend(columns);
                        batch.jobs.push((job, request));
                    }
                    None => batches.push(Batch { columns: columns.clone(), jobs: vec![(job, request)] }),
                }
            }
            _ => run_alone(job, &request, context),
        }
    }
    batches.into_iter().for_each(|batch| run_batch(batch, context));
}

/// Predicts a batch at once. When that fails, each job is run alone, so that a client only sees errors of its own request.
fn run_batch(batch: Batch, context: &WorkerContext) {
    if batch.jobs.len() == 1 {
        return batch.jobs.into_iter().for_each(|(job, request)| run_alone(job, &request, context));
    }
    let served = batch.jobs[0].0.served.clone();
    let predicted = catch_panic(|| {
        let model = served.model()?;
        Ok((model, model.predict(&batch.columns.table()?)?))
    });
    let Ok((model, predictions)) = predicted else {
        return batch.jobs.into_iter().for_each(|(job, request)| run_alone(job, &request, context));
    };
    context.metrics.predicted(&served.name, batch.jobs.len(), predictions.len());
    let mut first = 0;
    for (job, request) in batch.jobs {
        let rows = request.rows.len();
        let own: Vec<usize> = (first..first + rows).collect();
        first += rows;
        let response = catch_panic(|| request.encode(model, &predictions.select(&own)));
        drop(job.reply.send(response));
    }
}

/// Runs one job.
fn run_alone(job: Job, request: &ParsedRequest, context: &WorkerContext) {
    let run = || predict(&job.served, request, &context.limits, &context.metrics);
    let response = catch_panic(|| if request.rows.len() > MAX_SERIAL_ROWS { context.pool.install(run) } else { run() });
    drop(job.reply.send(response));
}

fn predict(
    served: &ServedModel,
    request: &ParsedRequest,
    limits: &Limits,
    metrics: &Metrics,
) -> Result<Encoded, Failure> {
    let table = request.rows.table()?;
    match &served.loaded {
        Loaded::Model(model) => {
            let predictions = model.predict(&table)?;
            metrics.predicted(&served.name, 1, predictions.len());
            request.encode(model, &predictions)
        }
        Loaded::Joint(model) => {
            let Some((joint, labels)) = &request.joint else { return Err(Failure::internal()) };
            let predictions = model.predict(&table)?;
            metrics.predicted(&served.name, 1, predictions.len());
            let needed = joint.needed(model);
            let observed = needed.iter().map(|name| match table.numbers(name) {
                Some(numbers) => Ok(numbers?.to_vec()),
                None => Err(Failure::bad(format!("the rows have no column {name:?}, which is asked for"))),
            });
            let observed = observed.collect::<Result<Vec<_>, Failure>>()?;
            let calibrated = model.calibration().filter(|_| joint.conformal).map(|own| (own, labels));
            let columns = joint.columns(&predictions, &observed, &needed, calibrated, (0, &[]))?;
            request.encoded(encode(&request.format, &columns)?)
        }
        Loaded::Forecaster(forecaster) => {
            let response = ForecastResponse::new(forecaster, &table, &request.query, limits.numbers)?;
            metrics.predicted(&served.name, 1, response.len());
            request.encoded(response.encode(&request.query, &request.format)?)
        }
    }
}

/// Bytes and rows of a request that may run inline, and numbers of its response, at most.
const MAX_INLINE: (usize, usize, usize) = (4096, 4, 256);

/// Runs a small job on the calling thread; `None` where it belongs into the queue.
pub fn try_inline(job: &Job, limits: &Limits, metrics: &Metrics) -> Option<Result<Encoded, Failure>> {
    let (bytes, rows, numbers) = MAX_INLINE;
    if job.body.len() > bytes || !has_independent_rows(&job.served) {
        return None;
    }
    use_current_thread_only();
    match catch_panic(|| job.parse(limits)) {
        Ok(request) if request.rows.len() > rows || request.numbers > numbers => None,
        Ok(request) => Some(catch_panic(|| predict(&job.served, &request, limits, metrics))),
        Err(failure) => Some(Err(failure)),
    }
}

/// Makes parallel code of the library run on this thread alone from now on.
fn use_current_thread_only() {
    thread_local!(static DONE: Cell<bool> = const { Cell::new(false) });
    if !DONE.replace(true) {
        // The pool lives as long as the thread. If it cannot be built, predictions are only slower.
        std::mem::forget(ThreadPoolBuilder::new().num_threads(1).use_current_thread().build());
    }
}

/// Whether each row is predicted independently of the others: no sequence, no forecaster.
fn has_independent_rows(served: &ServedModel) -> bool {
    matches!(&served.loaded, Loaded::Model(model) if model.encoder().sequence().is_none())
}

/// Turns a panic into an error response, so that a bug in one request does not end the thread.
fn catch_panic<T>(run: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(Failure::internal()))
}
