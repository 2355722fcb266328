//! Responsible for the engine: which jobs a device trains, which the processor trains, and how both come back.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

use negmm::Result;
use negmm::train::{Callbacks, CpuEngine, Engine, Estimate, Job, NetworkJob, Queue, Trained};
use negmm_nn::train::Start;

use crate::batch::{Batch, Outcome, Waiting};
use crate::course::check_cancelled;
use crate::device::{Card, Device};
use crate::room::Room;
use crate::shape::Shape;
use crate::stage::Stage;
use crate::upload::Stock;

/// Jobs on their way at most: those who need them plan no further ahead.
const MOST_ON_THEIR_WAY: usize = 4096;

/// Trains networks on a device, and on the processor what no kernel trains: trees, some networks, and what a failing device leaves
/// undone. The bits are those of [`CpuEngine`].
pub struct CudaEngine<D = Card> {
    device: D,
    /// For what the device does not train.
    pub processor: CpuEngine,
    /// Told once what is trained elsewhere, and why.
    pub tell: Box<dyn Fn(&str) + Sync + Send>,
    /// Jobs of fewer core-seconds than this, about, are not worth the way.
    pub least_seconds: f64,
}

impl CudaEngine<Card> {
    /// On the first card of this machine.
    ///
    /// # Errors
    /// When there is none that can be used; it says why.
    pub fn new(threads: usize) -> Result<Self> {
        Ok(Self::on(Card::first()?, threads))
    }
}

#[cfg(feature = "emulated")]
impl CudaEngine<crate::Emulated> {
    /// With the kernels on a processor.
    pub fn emulated(device: crate::Emulated) -> Self {
        Self::on(device, 1)
    }
}

impl<D> CudaEngine<D> {
    fn on(device: D, threads: usize) -> Self {
        Self { device, processor: CpuEngine::new(threads), tell: Box::new(|_| {}), least_seconds: 0.0 }
    }

    /// The device.
    pub fn device(&self) -> &D {
        &self.device
    }
}

impl<D: Device> Engine for CudaEngine<D> {
    fn run(&self, queue: &dyn Queue, watch: &Callbacks<'_>) {
        let stock = Stock::default();
        let shared = Shared { queue, watch, state: Mutex::default(), changed: Condvar::new() };
        std::thread::scope(|scope| {
            self.processor.run(&Rest { engine: self, shared: &shared, stock: &stock, scope }, watch);
        });
    }
}

/// What all threads of a run share.
struct Shared<'a> {
    queue: &'a dyn Queue,
    watch: &'a Callbacks<'a>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    batches: HashMap<String, Arc<Batch>>,
    outcomes: VecDeque<Outcome>,
    told: BTreeSet<String>,
    /// Jobs that a device has, or that wait for it.
    on_their_way: usize,
    /// Threads that ask for a job or have one that has not found its way yet.
    asking: usize,
    /// Whether there will be no more jobs.
    ended: bool,
}

impl State {
    /// When no more jobs can come the devices are told so.
    fn close(&self) {
        if self.ended && self.asking == 0 {
            self.batches.values().for_each(|batch| batch.close());
        }
    }
}

impl Shared<'_> {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread has asked; `ended` where there was nothing.
    fn asked(&self, ended: bool) {
        let mut state = self.locked();
        state.asking -= 1;
        state.ended |= ended;
        state.close();
        self.changed.notify_all();
    }

    fn outcome(&self, outcome: Outcome) {
        let mut state = self.locked();
        state.outcomes.push_back(outcome);
        state.on_their_way -= 1;
        self.changed.notify_all();
    }
}

/// What a thread of the processor does next.
enum Next {
    Outcome(Box<Outcome>),
    Ask,
    End,
}

/// The queue as the processor's engine sees it: the jobs that no device trains. Its threads also plan, and finish what is trained.
struct Rest<'scope, 'a: 'scope, D: Device> {
    engine: &'a CudaEngine<D>,
    shared: &'a Shared<'a>,
    stock: &'a Stock<D>,
    scope: &'scope Scope<'scope, 'a>,
}

impl<'scope, 'a, D: Device> Rest<'scope, 'a, D> {
    fn what_next(&self) -> Next {
        let mut state = self.shared.locked();
        loop {
            if let Some(outcome) = state.outcomes.pop_front() {
                return Next::Outcome(Box::new(outcome));
            }
            if !state.ended && state.on_their_way < MOST_ON_THEIR_WAY {
                state.asking += 1;
                return Next::Ask;
            }
            if state.ended && state.asking == 0 && state.on_their_way == 0 {
                return Next::End;
            }
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn tell(&self, text: &str) {
        if self.shared.locked().told.insert(text.into()) {
            (self.engine.tell)(text);
        }
    }

    /// Whether a job is worth the way to the device.
    fn is_worth_it(&self, job: &Job) -> bool {
        let least = self.engine.least_seconds;
        least == 0.0 || Estimate::of(std::slice::from_ref(job)).seconds(1) >= least
    }

    /// Hands a job to the device; gives it back if the processor is to train it.
    fn send(&self, number: usize, job: Job) -> Option<(usize, Job)> {
        if let Err(error) = check_cancelled(self.shared.watch) {
            self.shared.queue.done(number, Err(error));
            return None;
        }
        if !self.is_worth_it(&job) {
            return Some((number, job));
        }
        let Job::Network(job) = job else { return Some((number, job)) };
        let start = job.start();
        let device = &self.engine.device;
        let (shape, room) = match placed(&job, &start, device.shared_memory()) {
            Ok(placed) => placed,
            Err(reason) => {
                self.tell(&format!("engine cuda: {reason}"));
                return Some((number, job.into()));
            }
        };
        let key = shape.header(&room);
        let mut state = self.shared.locked();
        let batch = state.batches.entry(key).or_insert_with(|| {
            let batch = Arc::new(Batch::new(shape, room));
            let (stock, shared, served) = (self.stock, self.shared, batch.clone());
            self.scope.spawn(move || {
                served.serve(device, stock, shared.watch, &|outcome| shared.outcome(outcome));
            });
            batch
        });
        batch.add(Waiting { number, job, start });
        state.on_their_way += 1;
        None
    }
}

impl<D: Device> Queue for Rest<'_, '_, D> {
    fn next(&self) -> Option<(usize, Job)> {
        loop {
            match self.what_next() {
                Next::End => return None,
                Next::Outcome(outcome) => match *outcome {
                    Outcome::Done(number, trained) => self.shared.queue.done(number, trained),
                    Outcome::Failed(number, job, failure) => {
                        self.tell(&format!("engine cuda: {failure}; the processor goes on"));
                        return Some((number, job.into()));
                    }
                },
                Next::Ask => {
                    let asked = self.shared.queue.next();
                    let ended = asked.is_none();
                    let rest = asked.and_then(|(number, job)| self.send(number, job));
                    self.shared.asked(ended);
                    if rest.is_some() {
                        return rest;
                    }
                }
            }
        }
    }

    fn done(&self, number: usize, trained: Result<Trained>) {
        self.shared.queue.done(number, trained);
    }

    fn most(&self) -> usize {
        self.shared.queue.most()
    }
}

/// What a job's kernel is made for and where its numbers lie, with so many bytes of shared memory; or why no kernel trains it.
fn placed(job: &NetworkJob, start: &Start, shared: usize) -> std::result::Result<(Shape, Room), &'static str> {
    let shape = Shape::of(job, start)?;
    let room = Room::new(&shape, shared);
    match room.shared || Stage::is_possible(&shape, shared) {
        true => Ok((shape, room)),
        false => Err("a network as wide as this is trained on the processor"),
    }
}
