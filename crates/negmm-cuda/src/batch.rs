//! A batch of networks of one shape: the queue of pending jobs, and the workers that upload, train and download them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use negmm::Result;
use negmm::train::{Callbacks, NetworkJob, Trained};

use crate::device::{Device, Failure};
use crate::layout::Layout;
use crate::pending_job::PendingJob;
use crate::record::{EpochRecord, list};
use crate::shape::Shape;
use crate::source::Source;
use crate::training_log::{TrainingLog, check_cancelled};
use crate::upload::{DeviceJob, SharedBuffers};

/// Target duration of a kernel launch in seconds: the host polls progress and cancellation between launches.
const LAUNCH_SECONDS: f64 = 0.05;
/// Jobs arrive one by one: the first launch waits until none has arrived for this long.
const SETTLE_TIME: Duration = Duration::from_millis(4);
/// Workers of a batch of small networks: while the host handles the results of one, the GPU runs the launch of the other.
const WORKERS: usize = 2;
/// Time to wait before asking again for device memory that other jobs hold.
const MEMORY_RETRY: Duration = Duration::from_millis(10);
/// Maximal epochs per launch: the capacity of the epoch records of a network.
const MAX_EPOCHS_PER_LAUNCH: usize = 256;
/// Maximal thread blocks per network.
const MAX_BLOCKS: usize = 32;
/// Minimal rows per block: every block reads all weights, so fewer rows are not worth it.
const MIN_ROWS_PER_BLOCK: usize = 8;

/// Result of a job.
pub(crate) enum Outcome {
    /// Trained, or cancelled by the caller.
    Done(usize, Result<Trained>),
    /// The device failed: the job is to be trained on the CPU.
    Failed(usize, NetworkJob, Failure),
}

/// Networks of one shape, trained by one kernel.
pub(crate) struct Batch {
    pub(crate) shape: Shape,
    pub(crate) layout: Layout,
    pending: Mutex<BatchState>,
    changed: Condvar,
}

#[derive(Default)]
struct BatchState {
    jobs: VecDeque<PendingJob>,
    closed: bool,
}

/// A job that is on the device.
struct RunningJob<D: Device> {
    number: usize,
    job: NetworkJob,
    device_job: DeviceJob<D>,
    log: TrainingLog,
    /// Epochs not yet reported to the progress callback.
    unreported: Vec<EpochRecord>,
}

impl Batch {
    pub(crate) fn new(shape: Shape, layout: Layout) -> Self {
        Self { shape, layout, pending: Mutex::default(), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, BatchState> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job.
    pub(crate) fn add(&self, pending: PendingJob) {
        self.lock().jobs.push_back(pending);
        self.changed.notify_all();
    }

    /// Marks the batch as complete: no more jobs will be added.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Waits until jobs are pending and none has arrived for `SETTLE_TIME`, or the batch is closed. Returns the number of pending jobs.
    fn wait_until_settled(&self) -> usize {
        let mut state = self.lock();
        loop {
            let before = state.jobs.len();
            if state.closed {
                return before;
            }
            let patience = if before == 0 { Duration::from_secs(1) } else { SETTLE_TIME };
            let (again, timeout) = self.changed.wait_timeout(state, patience).unwrap_or_else(PoisonError::into_inner);
            state = again;
            if timeout.timed_out() && before > 0 && state.jobs.len() == before {
                return before;
            }
        }
    }

    /// Takes up to `limit` pending jobs.
    fn take(&self, limit: usize) -> Vec<PendingJob> {
        let mut state = self.lock();
        let count = limit.min(state.jobs.len());
        state.jobs.drain(..count).collect()
    }

    /// Takes one worker's portion of the pending jobs, up to `limit`.
    fn take_portion(&self, workers: usize, limit: usize) -> Vec<PendingJob> {
        let portion = self.lock().jobs.len().div_ceil(workers);
        self.take(limit.min(portion))
    }

    /// Returns jobs that did not fit in device memory to the front of the queue.
    fn put_back(&self, jobs: Vec<PendingJob>) {
        let mut state = self.lock();
        jobs.into_iter().rev().for_each(|job| state.jobs.push_front(job));
    }

    /// Blocks per network when this many networks train at once.
    fn blocks(&self, networks: usize, multiprocessors: usize) -> usize {
        if self.layout.shared {
            return 1;
        }
        let useful = self.shape.rows.div_ceil(MIN_ROWS_PER_BLOCK);
        (multiprocessors / networks.clamp(1, multiprocessors)).clamp(1, MAX_BLOCKS.min(useful))
    }

    /// Trains jobs as they arrive, until the batch is closed and empty.
    pub(crate) fn train_all<D: Device>(
        &self,
        device: &D,
        shared_buffers: &SharedBuffers<D>,
        callbacks: &Callbacks<'_>,
        outcome: &(dyn Fn(Outcome) + Sync),
    ) {
        let networks = self.wait_until_settled();
        if networks == 0 {
            return;
        }
        let blocks = self.blocks(networks, device.multiprocessors());
        let source = Source::new(&self.shape, &self.layout, blocks, device.shared_memory());
        let kernel = match device.kernel(&source) {
            Ok(kernel) => kernel,
            Err(failure) => return self.fail(&failure, outcome),
        };
        let max_networks = (device.multiprocessors() * device.resident(&kernel).max(1) / blocks).max(1);
        // The blocks of one network synchronise with each other: all must be resident at once, which leaves no space for a second worker.
        let workers = if blocks > 1 { 1 } else { WORKERS };
        let worker = Worker { batch: self, device, shared_buffers, callbacks, outcome, kernel, workers, max_networks };
        // Allocate the records of all workers before the first upload, which takes the remaining memory.
        let all_streams: std::result::Result<Vec<_>, Failure> = (0..workers).map(|_| worker.streams()).collect();
        let all_streams = match all_streams {
            Ok(all_streams) => all_streams,
            Err(failure) => return self.fail(&failure, outcome),
        };
        std::thread::scope(|scope| {
            for streams in all_streams {
                scope.spawn(|| {
                    if let Err(failure) = worker.run(streams) {
                        self.fail(&failure, outcome);
                    }
                });
            }
        });
    }

    /// Fails all pending and future jobs of the batch, which then go to the CPU.
    fn fail(&self, failure: &Failure, outcome: &(dyn Fn(Outcome) + Sync)) {
        loop {
            let pending = self.take(usize::MAX);
            if pending.is_empty() && self.wait_until_settled() == 0 {
                return;
            }
            for PendingJob { number, job, .. } in pending {
                outcome(Outcome::Failed(number, job, failure.clone()));
            }
        }
    }
}

/// The CUDA streams of a worker, for kernels and for copies, and the epoch records that its kernels write.
struct WorkerStreams<D: Device> {
    compute: D::Stream,
    copy: D::Stream,
    epoch_records: D::Memory,
}

/// Trains the jobs of a batch with its compiled kernel; one thread and one pair of streams for each `run`.
struct Worker<'a, D: Device> {
    batch: &'a Batch,
    device: &'a D,
    shared_buffers: &'a SharedBuffers<D>,
    callbacks: &'a Callbacks<'a>,
    outcome: &'a (dyn Fn(Outcome) + Sync),
    kernel: D::Kernel,
    /// Number of workers of the batch.
    workers: usize,
    /// Maximal networks of one worker on the device.
    max_networks: usize,
}

impl<D: Device> Worker<'_, D> {
    fn streams(&self) -> std::result::Result<WorkerStreams<D>, Failure> {
        let (compute, copy) = (self.device.stream()?, self.device.stream()?);
        let bytes = self.max_networks * MAX_EPOCHS_PER_LAUNCH * size_of::<EpochRecord>();
        let epoch_records = self.device.memory(&copy, &[], bytes)?;
        Ok(WorkerStreams { compute, copy, epoch_records })
    }

    /// Launches kernels until the batch is done. While a kernel runs, the results of the launch before are reported.
    fn run(
        &self,
        WorkerStreams { compute, copy, epoch_records }: WorkerStreams<D>,
    ) -> std::result::Result<(), Failure> {
        let (mut running, mut finished): (Vec<RunningJob<D>>, Vec<RunningJob<D>>) = Default::default();
        let mut epochs = 1;
        loop {
            if running.is_empty() && finished.is_empty() && self.batch.wait_until_settled() == 0 {
                return Ok(());
            }
            self.upload_pending(&mut running, &copy);
            if running.is_empty() && finished.is_empty() {
                continue;
            }
            if let Err(error) = check_cancelled(self.callbacks) {
                for one in running.drain(..).chain(finished.drain(..)) {
                    (self.outcome)(Outcome::Done(one.number, Err(error.clone())));
                }
                continue;
            }
            let begin = Instant::now();
            let launched = self.launch(&compute, &running, &epoch_records, epochs).and_then(|launch| {
                self.report(&mut running, &mut finished, &copy)?;
                launch.map_or(Ok(()), |launch| self.device.wait(&compute, launch))?;
                self.collect_records(&compute, &mut running, &mut finished, &epoch_records, epochs)
            });
            if let Err(failure) = launched {
                for one in running.drain(..).chain(finished.drain(..)) {
                    (self.outcome)(Outcome::Failed(one.number, one.job, failure.clone()));
                }
                return Err(failure);
            }
            let seconds = begin.elapsed().as_secs_f64();
            epochs = ((epochs as f64 * LAUNCH_SECONDS / seconds.max(1e-6)) as usize)
                .clamp(1, (2 * epochs).min(MAX_EPOCHS_PER_LAUNCH));
        }
    }

    /// Uploads pending jobs as far as they fit in device memory.
    fn upload_pending(&self, running: &mut Vec<RunningJob<D>>, copy: &D::Stream) {
        let mut pending = self.batch.take_portion(self.workers, self.max_networks.saturating_sub(running.len()));
        if pending.is_empty() {
            return;
        }
        let parts = (&self.batch.shape, &self.batch.layout);
        let left = match self.shared_buffers.upload(self.device, copy, &pending, parts) {
            Ok(uploaded) => {
                let left = pending.split_off(uploaded.len());
                for (PendingJob { number, job, .. }, device_job) in pending.into_iter().zip(uploaded) {
                    running.push(RunningJob {
                        number,
                        log: TrainingLog::new(&job),
                        job,
                        device_job,
                        unreported: Vec::new(),
                    });
                }
                // Other workers hold the memory and will free it.
                if running.is_empty() {
                    std::thread::sleep(MEMORY_RETRY);
                }
                left
            }
            Err(failure) => {
                let PendingJob { number, job, .. } = pending.remove(0);
                (self.outcome)(Outcome::Failed(number, job, failure));
                pending
            }
        };
        self.batch.put_back(left);
    }

    fn launch(
        &self,
        compute: &D::Stream,
        running: &[RunningJob<D>],
        epoch_records: &D::Memory,
        epochs: usize,
    ) -> std::result::Result<Option<D::Launch>, Failure> {
        if running.is_empty() {
            return Ok(None);
        }
        let records: Vec<_> = running.iter().map(|one| one.device_job.record).collect();
        self.device.launch(compute, &self.kernel, &records, epoch_records, epochs).map(Some)
    }

    /// Reports new epochs to the progress callback, and downloads finished networks.
    fn report(
        &self,
        running: &mut [RunningJob<D>],
        finished: &mut Vec<RunningJob<D>>,
        copy: &D::Stream,
    ) -> std::result::Result<(), Failure> {
        let report_epochs = |one: &mut RunningJob<D>| {
            let RunningJob { number, job, log, unreported, .. } = one;
            unreported.drain(..).try_for_each(|record| log.push(job, *number, &record, self.callbacks))
        };
        for one in running {
            if report_epochs(one).is_err() {
                // Cancelled: the check before the next launch ends all jobs.
                return Ok(());
            }
        }
        while let Some(mut one) = finished.pop() {
            let trained = match report_epochs(&mut one) {
                Err(error) => Err(error),
                Ok(()) => {
                    let RunningJob { job, device_job, log, .. } = &mut one;
                    let log = std::mem::replace(log, TrainingLog::new(job));
                    match device_job.trained(self.device, copy, &self.batch.shape, job, log) {
                        Ok(trained) => Ok(Trained::Network(trained)),
                        Err(failure) => {
                            (self.outcome)(Outcome::Failed(one.number, one.job, failure.clone()));
                            return Err(failure);
                        }
                    }
                }
            };
            (self.outcome)(Outcome::Done(one.number, trained));
        }
        Ok(())
    }

    /// Reads the epoch records of the last launch, and moves finished jobs to `finished`.
    fn collect_records(
        &self,
        compute: &D::Stream,
        running: &mut Vec<RunningJob<D>>,
        finished: &mut Vec<RunningJob<D>>,
        epoch_records: &D::Memory,
        epochs: usize,
    ) -> std::result::Result<(), Failure> {
        let count = running.len();
        let mut records = vec![0; epochs * count * size_of::<EpochRecord>()];
        self.device.read(compute, epoch_records, 0, &mut records)?;
        let records: Vec<EpochRecord> = list(&records);
        for (at, mut one) in std::mem::take(running).into_iter().enumerate() {
            let mut last = false;
            for epoch in 0..epochs {
                let record = records[epoch * count + at];
                one.unreported.push(record);
                last = record.last != 0;
                if last {
                    break;
                }
            }
            if last { finished.push(one) } else { running.push(one) }
        }
        Ok(())
    }
}
