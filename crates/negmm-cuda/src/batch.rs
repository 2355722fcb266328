//! Responsible for the networks of one shape: they wait, are brought to the device, train side by side, and are handed back.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use negmm::Result;
use negmm::train::{Callbacks, NetworkJob, Trained};
use negmm_nn::train::Start;

use crate::course::{Told, check_cancelled};
use crate::device::{Device, Failure};
use crate::record::{EpochRecord, list};
use crate::room::Room;
use crate::shape::Shape;
use crate::source::Source;
use crate::upload::{OnDevice, Stock};

/// How long a launch should take: the host looks at progress so often.
const LAUNCH: f64 = 0.05;
/// Who plans jobs hands them over one after the other: so long nothing new must come before the first launch.
const SETTLED: Duration = Duration::from_millis(4);
/// Services of a batch of small networks: while the host looks at the networks of one, the multiprocessors have those of another.
const SERVICES: usize = 2;
/// How long to wait for memory that others will give back.
const PATIENCE: Duration = Duration::from_millis(10);
/// Epochs of a launch at most: as many have a place on the board.
const HISTORY: usize = 256;
/// Blocks of one network at most.
const MOST_BLOCKS: usize = 32;
/// Rows of a block at least: its weights are read for all of them.
const LEAST_ROWS: usize = 8;

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
    /// Epochs that nobody was told of yet.
    news: Vec<EpochRecord>,
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

    /// The share of the jobs that wait of one service of so many, at most `most`.
    fn take_share(&self, services: usize, most: usize) -> Vec<Waiting> {
        let share = self.locked().jobs.len().div_ceil(services);
        self.take(most.min(share))
    }

    /// Jobs that there was no room for wait again, before all others.
    fn put_back(&self, jobs: Vec<Waiting>) {
        let mut state = self.locked();
        jobs.into_iter().rev().for_each(|job| state.jobs.push_front(job));
    }

    /// Blocks of each of so many networks.
    fn blocks(&self, networks: usize, multiprocessors: usize) -> usize {
        if self.room.shared {
            return 1;
        }
        let useful = self.shape.rows.div_ceil(LEAST_ROWS);
        (multiprocessors / networks.clamp(1, multiprocessors)).clamp(1, MOST_BLOCKS.min(useful))
    }

    /// Trains what comes, until nothing will.
    pub(crate) fn serve<D: Device>(
        &self,
        device: &D,
        stock: &Stock<D>,
        watch: &Callbacks<'_>,
        outcome: &(dyn Fn(Outcome) + Sync),
    ) {
        let networks = self.settled();
        if networks == 0 {
            return;
        }
        let blocks = self.blocks(networks, device.multiprocessors());
        let source = Source::new(&self.shape, &self.room, blocks, device.shared_memory());
        let kernel = match device.kernel(&source) {
            Ok(kernel) => kernel,
            Err(failure) => return self.fail(&failure, outcome),
        };
        let most = (device.multiprocessors() * device.resident(&kernel).max(1) / blocks).max(1);
        // The blocks of one network wait for each other: they must all be there, and leave no room for a second service.
        let services = if blocks > 1 { 1 } else { SERVICES };
        let service = Service { batch: self, device, stock, watch, outcome, kernel, services, most };
        // All desks before the first network: what it leaves of the memory is then for networks alone.
        let desks: std::result::Result<Vec<_>, Failure> = (0..services).map(|_| service.desk()).collect();
        let desks = match desks {
            Ok(desks) => desks,
            Err(failure) => return self.fail(&failure, outcome),
        };
        std::thread::scope(|scope| {
            for desk in desks {
                scope.spawn(|| {
                    if let Err(failure) = service.run(desk) {
                        self.fail(&failure, outcome);
                    }
                });
            }
        });
    }

    /// Everything that waits, or will, goes to the processor.
    fn fail(&self, failure: &Failure, outcome: &(dyn Fn(Outcome) + Sync)) {
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

/// Where one service works: its launches, its copies, and the board for the news of the launches.
struct Desk<D: Device> {
    queue: D::Queue,
    copies: D::Queue,
    board: D::Memory,
}

/// A batch that has its kernel.
struct Service<'a, D: Device> {
    batch: &'a Batch,
    device: &'a D,
    stock: &'a Stock<D>,
    watch: &'a Callbacks<'a>,
    outcome: &'a (dyn Fn(Outcome) + Sync),
    kernel: D::Kernel,
    /// Services of the batch.
    services: usize,
    /// Networks of a service on the device at most.
    most: usize,
}

impl<D: Device> Service<'_, D> {
    fn desk(&self) -> std::result::Result<Desk<D>, Failure> {
        let (queue, copies) = (self.device.queue()?, self.device.queue()?);
        let board = self.device.memory(&copies, &[], self.most * HISTORY * size_of::<EpochRecord>())?;
        Ok(Desk { queue, copies, board })
    }

    /// Launch after launch. While one runs, those who wait for what the last one brought are told.
    fn run(&self, Desk { queue, copies, board }: Desk<D>) -> std::result::Result<(), Failure> {
        let (mut running, mut finished): (Vec<Running<D>>, Vec<Running<D>>) = Default::default();
        let mut epochs = 1;
        loop {
            if running.is_empty() && finished.is_empty() && self.batch.settled() == 0 {
                return Ok(());
            }
            self.admit(&mut running, &copies);
            if running.is_empty() && finished.is_empty() {
                continue;
            }
            if let Err(error) = check_cancelled(self.watch) {
                for one in running.drain(..).chain(finished.drain(..)) {
                    (self.outcome)(Outcome::Done(one.number, Err(error.clone())));
                }
                continue;
            }
            let begin = Instant::now();
            let looked = self.launch(&queue, &running, &board, epochs).and_then(|launch| {
                self.tell(&mut running, &mut finished, &copies)?;
                launch.map_or(Ok(()), |launch| self.device.wait(&queue, launch))?;
                self.look(&queue, &mut running, &mut finished, &board, epochs)
            });
            if let Err(failure) = looked {
                for one in running.drain(..).chain(finished.drain(..)) {
                    (self.outcome)(Outcome::Failed(one.number, one.job, failure.clone()));
                }
                return Err(failure);
            }
            let seconds = begin.elapsed().as_secs_f64();
            epochs = ((epochs as f64 * LAUNCH / seconds.max(1e-6)) as usize).clamp(1, (2 * epochs).min(HISTORY));
        }
    }

    /// Brings jobs that wait to the device, where there is room.
    fn admit(&self, running: &mut Vec<Running<D>>, copies: &D::Queue) {
        let mut waiting = self.batch.take_share(self.services, self.most.saturating_sub(running.len()));
        if waiting.is_empty() {
            return;
        }
        let parts = (&self.batch.shape, &self.batch.room);
        let left = match self.stock.upload(self.device, copies, &waiting, parts) {
            Ok(on_device) => {
                let left = waiting.split_off(on_device.len());
                for (Waiting { number, job, .. }, on_device) in waiting.into_iter().zip(on_device) {
                    running.push(Running { number, told: Told::new(&job), job, on_device, news: Vec::new() });
                }
                // Others have the memory; they will give it back.
                if running.is_empty() {
                    std::thread::sleep(PATIENCE);
                }
                left
            }
            Err(failure) => {
                let Waiting { number, job, .. } = waiting.remove(0);
                (self.outcome)(Outcome::Failed(number, job, failure));
                waiting
            }
        };
        self.batch.put_back(left);
    }

    fn launch(
        &self,
        queue: &D::Queue,
        running: &[Running<D>],
        board: &D::Memory,
        epochs: usize,
    ) -> std::result::Result<Option<D::Launch>, Failure> {
        if running.is_empty() {
            return Ok(None);
        }
        let records: Vec<_> = running.iter().map(|one| one.on_device.record).collect();
        self.device.launch(queue, &self.kernel, &records, board, epochs).map(Some)
    }

    /// Tells of epochs, and hands back what is done.
    fn tell(
        &self,
        running: &mut [Running<D>],
        finished: &mut Vec<Running<D>>,
        copies: &D::Queue,
    ) -> std::result::Result<(), Failure> {
        let told = |one: &mut Running<D>| {
            let Running { number, job, told, news, .. } = one;
            news.drain(..).try_for_each(|record| told.tell(job, *number, &record, self.watch))
        };
        for one in running {
            if told(one).is_err() {
                // The next look at the watch ends them all.
                return Ok(());
            }
        }
        while let Some(mut one) = finished.pop() {
            let trained = match told(&mut one) {
                Err(error) => Err(error),
                Ok(()) => {
                    let Running { job, on_device, told, .. } = &mut one;
                    let told = std::mem::replace(told, Told::new(job));
                    match on_device.trained(self.device, copies, &self.batch.shape, job, told) {
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

    /// Takes the news from the board, and sets apart what is done.
    fn look(
        &self,
        queue: &D::Queue,
        running: &mut Vec<Running<D>>,
        finished: &mut Vec<Running<D>>,
        board: &D::Memory,
        epochs: usize,
    ) -> std::result::Result<(), Failure> {
        let count = running.len();
        let mut records = vec![0; epochs * count * size_of::<EpochRecord>()];
        self.device.read(queue, board, 0, &mut records)?;
        let records: Vec<EpochRecord> = list(&records);
        for (at, mut one) in std::mem::take(running).into_iter().enumerate() {
            let mut last = false;
            for epoch in 0..epochs {
                let record = records[epoch * count + at];
                one.news.push(record);
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
