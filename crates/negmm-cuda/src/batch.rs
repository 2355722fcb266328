//! Responsible for the networks of one shape: they wait, are brought to the device, train side by side, and are handed back.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use negmm::Result;
use negmm::train::{NetworkJob, Start, Trained, Watch};

use crate::course::{Told, go_on};
use crate::device::{Device, Failure};
use crate::room::Room;
use crate::shape::{HISTORY, Shape};
use crate::source::Source;
use crate::upload::{OnDevice, Stock};

/// How long a launch should take: the host looks at progress so often.
const LAUNCH: f64 = 0.05;
/// Who plans jobs hands them over one after the other: so long nothing new must come before the first launch.
const SETTLED: Duration = Duration::from_millis(4);
/// Networks on the device for each that it trains at a time, so that no multiprocessor waits for the host.
const WAVES: usize = 4;
/// Blocks of one network at most.
const MOST_BLOCKS: usize = 32;

/// A job that waits for the device.
pub(crate) struct Waiting {
    pub(crate) number: usize,
    pub(crate) job: NetworkJob,
    pub(crate) start: Start,
}

/// What becomes of a job.
pub(crate) enum Outcome {
    /// It was trained, or the caller asked to stop.
    Done(usize, Result<Trained>),
    /// The device failed: the processor trains it.
    Failed(usize, NetworkJob, Failure),
}

/// Networks of one shape.
pub(crate) struct Batch {
    pub(crate) shape: Shape,
    pub(crate) room: Room,
    waiting: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Waiting>,
    closed: bool,
}

struct Running<D: Device> {
    number: usize,
    job: NetworkJob,
    on_device: OnDevice<D>,
    told: Told,
}

impl Batch {
    pub(crate) fn new(shape: Shape, room: Room) -> Self {
        Self { shape, room, waiting: Mutex::default(), changed: Condvar::new() }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more job.
    pub(crate) fn add(&self, waiting: Waiting) {
        self.locked().jobs.push_back(waiting);
        self.changed.notify_all();
    }

    /// No more jobs will come.
    pub(crate) fn close(&self) {
        self.locked().closed = true;
        self.changed.notify_all();
    }

    /// Waits until jobs are there and no more come at once, or none will come: how many there are.
    fn settled(&self) -> usize {
        let mut state = self.locked();
        loop {
            let before = state.jobs.len();
            if state.closed {
                return before;
            }
            let patience = if before == 0 { Duration::from_secs(1) } else { SETTLED };
            let (again, timeout) = self.changed.wait_timeout(state, patience).unwrap_or_else(PoisonError::into_inner);
            state = again;
            if timeout.timed_out() && before > 0 && state.jobs.len() == before {
                return before;
            }
        }
    }

    /// At most so many jobs that wait.
    fn take(&self, most: usize) -> Vec<Waiting> {
        let mut state = self.locked();
        let count = most.min(state.jobs.len());
        state.jobs.drain(..count).collect()
    }

    /// Blocks of each of so many networks.
    fn blocks(&self, networks: usize, multiprocessors: usize, threads: usize) -> usize {
        if self.room.shared {
            return 1;
        }
        let tiles = |units: usize| units.div_ceil(4) * self.shape.rows.div_ceil(4);
        let largest = self.shape.matrices.iter().map(|matrix| tiles(matrix.outputs.max(matrix.inputs))).max();
        let useful = largest.unwrap_or(1).div_ceil(threads);
        (multiprocessors / networks.clamp(1, multiprocessors)).clamp(1, MOST_BLOCKS.min(useful))
    }

    /// Trains what comes, until nothing will.
    pub(crate) fn serve<D: Device>(&self, device: &D, stock: &Stock<D>, watch: &Watch<'_>, outcome: &dyn Fn(Outcome)) {
        let networks = self.settled();
        if networks == 0 {
            return;
        }
        let blocks = self.blocks(networks, device.multiprocessors(), 256);
        let source = Source::new(&self.shape, &self.room, blocks);
        let ready = device.queue().and_then(|queue| Ok((queue, device.kernel(&source)?)));
        let (queue, kernel) = match ready {
            Ok(ready) => ready,
            Err(failure) => return self.fail(&failure, outcome),
        };
        let at_once = (device.multiprocessors() * device.resident(&kernel).max(1) / blocks).max(1);
        let most = if blocks > 1 { at_once } else { at_once * WAVES };
        let mut running: Vec<Running<D>> = Vec::new();
        let mut epochs = 1;
        loop {
            if running.is_empty() && self.settled() == 0 {
                return;
            }
            for waiting in self.take(most - running.len().min(most)) {
                let Waiting { number, job, start } = waiting;
                match stock.upload(device, &queue, &job, &start, (&self.shape, &self.room)) {
                    Ok(on_device) => running.push(Running { number, told: Told::new(&job), job, on_device }),
                    Err(failure) => outcome(Outcome::Failed(number, job, failure)),
                }
            }
            if let Err(error) = go_on(watch) {
                for running in running.drain(..) {
                    outcome(Outcome::Done(running.number, Err(error.clone())));
                }
                continue;
            }
            let records: Vec<_> = running.iter().map(|running| running.on_device.record).collect();
            let begin = Instant::now();
            let launched = device.launch(&queue, &kernel, &records, epochs);
            let seconds = begin.elapsed().as_secs_f64();
            epochs = ((epochs as f64 * LAUNCH / seconds.max(1e-6)) as usize).clamp(1, (2 * epochs).min(HISTORY));
            let looked = launched.and_then(|()| self.look(device, &queue, &mut running, watch, outcome));
            if let Err(failure) = looked {
                for running in running.drain(..) {
                    outcome(Outcome::Failed(running.number, running.job, failure.clone()));
                }
                return self.fail(&failure, outcome);
            }
        }
    }

    /// Tells of epochs and hands back what is done.
    fn look<D: Device>(
        &self,
        device: &D,
        queue: &D::Queue,
        running: &mut Vec<Running<D>>,
        watch: &Watch<'_>,
        outcome: &dyn Fn(Outcome),
    ) -> std::result::Result<(), Failure> {
        let mut at = 0;
        while let Some(one) = running.get_mut(at) {
            let state = one.on_device.state(device, queue)?;
            let epochs = one.on_device.epochs(device, queue)?;
            let mut stopped = None;
            while one.told.epochs() < state.epoch as usize && stopped.is_none() {
                let record = &epochs[one.told.epochs() % HISTORY];
                stopped = one.told.tell(&one.job, one.number, record, watch).err();
            }
            if stopped.is_none() && state.done == 0 {
                at += 1;
                continue;
            }
            let Running { number, job, on_device, told } = running.swap_remove(at);
            let trained = match stopped {
                Some(error) => Err(error),
                None => on_device
                    .trained(device, queue, &self.shape, &job, told)
                    .map(|trained| Ok(Trained::Network(trained)))?,
            };
            outcome(Outcome::Done(number, trained));
        }
        Ok(())
    }

    /// Everything that waits, or will, goes to the processor.
    fn fail(&self, failure: &Failure, outcome: &dyn Fn(Outcome)) {
        loop {
            let waiting = self.take(usize::MAX);
            if waiting.is_empty() && self.settled() == 0 {
                return;
            }
            for Waiting { number, job, .. } in waiting {
                outcome(Outcome::Failed(number, job, failure.clone()));
            }
        }
    }
}
