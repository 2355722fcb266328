//! The CUDA engine: distributes jobs between the device and the CPU, and collects their results.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

use negmm::Result;
use negmm::train::{Callbacks, CpuEngine, Engine, Estimate, Job, NetworkJob, Queue, Trained};
use negmm_nn::train::Start;

use crate::batch::{Batch, Outcome};
use crate::device::{CudaDevice, Device};
use crate::header::header;
use crate::layout::Layout;
use crate::pending_job::PendingJob;
use crate::shape::Shape;
use crate::tiling::Tiling;
use crate::training_log::check_cancelled;
use crate::upload::SharedBuffers;

/// Maximal jobs that are pending or running on the device; more are taken from the queue as these finish.
const MAX_JOBS_IN_FLIGHT: usize = 4096;

/// Trains networks on a device, and on the CPU all other jobs: trees, forests, linear models, networks that no kernel supports, and those of
/// a device that fails. Results are bit-identical to those of [`CpuEngine`].
pub struct CudaEngine<D = CudaDevice> {
    device: D,
    /// Trains the jobs that do not go to the device.
    pub cpu: CpuEngine,
    /// Receives, once each, the reasons why jobs are trained on the CPU.
    pub notify: Box<dyn Fn(&str) + Sync + Send>,
    /// Jobs with a lower estimate of core-seconds are trained on the CPU.
    pub min_seconds: f64,
}

impl CudaEngine<CudaDevice> {
    /// An engine on the first GPU of this machine.
    ///
    /// # Errors
    /// When there is no usable GPU; the message says why.
    pub fn new(threads: usize) -> Result<Self> {
        Ok(Self::with_device(CudaDevice::first()?, threads))
    }
}

#[cfg(feature = "emulated")]
impl CudaEngine<crate::EmulatedDevice> {
    /// An engine that runs the kernels on the CPU, for tests.
    pub fn emulated(device: crate::EmulatedDevice) -> Self {
        Self::with_device(device, 1)
    }
}

impl<D> CudaEngine<D> {
    fn with_device(device: D, threads: usize) -> Self {
        Self { device, cpu: CpuEngine::new(threads), notify: Box::new(|_| {}), min_seconds: 0.0 }
    }

    /// The device.
    pub fn device(&self) -> &D {
        &self.device
    }
}

impl<D: Device> Engine for CudaEngine<D> {
    fn run(&self, queue: &dyn Queue, callbacks: &Callbacks<'_>) {
        let shared_buffers = SharedBuffers::default();
        let shared = RunState { queue, callbacks, state: Mutex::default(), changed: Condvar::new() };
        std::thread::scope(|scope| {
            self.cpu
                .run(&CpuQueue { engine: self, shared: &shared, shared_buffers: &shared_buffers, scope }, callbacks);
        });
    }
}

/// The state of a run, used by all its threads.
struct RunState<'a> {
    queue: &'a dyn Queue,
    callbacks: &'a Callbacks<'a>,
    state: Mutex<EngineState>,
    changed: Condvar,
}

#[derive(Default)]
struct EngineState {
    batches: HashMap<String, Arc<Batch>>,
    outcomes: VecDeque<Outcome>,
    notified: BTreeSet<String>,
    /// Jobs that run on the device or are pending for it.
    in_flight: usize,
    /// Threads that are taking a job from the queue and have not dispatched it yet.
    requesting: usize,
    /// Whether the queue is exhausted.
    ended: bool,
}

impl EngineState {
    /// Closes all batches when no more jobs can arrive.
    fn close(&self) {
        if self.ended && self.requesting == 0 {
            self.batches.values().for_each(|batch| batch.close());
        }
    }
}

impl RunState<'_> {
    fn lock(&self) -> MutexGuard<'_, EngineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread has taken and dispatched a job, or found the queue exhausted (`ended`).
    fn finish_request(&self, ended: bool) {
        let mut state = self.lock();
        state.requesting -= 1;
        state.ended |= ended;
        state.close();
        self.changed.notify_all();
    }

    fn outcome(&self, outcome: Outcome) {
        let mut state = self.lock();
        state.outcomes.push_back(outcome);
        state.in_flight -= 1;
        self.changed.notify_all();
    }
}

/// Next action of a CPU thread.
enum Next {
    Outcome(Box<Outcome>),
    Take,
    End,
}

/// The queue that the CPU engine sees: it passes device jobs on to their batches, and hands out the rest. The CPU threads also take jobs
/// from the caller's queue and deliver finished networks to it.
struct CpuQueue<'scope, 'a: 'scope, D: Device> {
    engine: &'a CudaEngine<D>,
    shared: &'a RunState<'a>,
    shared_buffers: &'a SharedBuffers<D>,
    scope: &'scope Scope<'scope, 'a>,
}

impl<'scope, 'a, D: Device> CpuQueue<'scope, 'a, D> {
    fn next_action(&self) -> Next {
        let mut state = self.shared.lock();
        loop {
            if let Some(outcome) = state.outcomes.pop_front() {
                return Next::Outcome(Box::new(outcome));
            }
            if !state.ended && state.in_flight < MAX_JOBS_IN_FLIGHT {
                state.requesting += 1;
                return Next::Take;
            }
            if state.ended && state.requesting == 0 && state.in_flight == 0 {
                return Next::End;
            }
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn notify(&self, text: &str) {
        if self.shared.lock().notified.insert(text.into()) {
            (self.engine.notify)(text);
        }
    }

    /// Whether a job is long enough for the device.
    fn pays_off(&self, job: &Job) -> bool {
        let min = self.engine.min_seconds;
        min == 0.0 || Estimate::of(std::slice::from_ref(job)).seconds(1) >= min
    }

    /// Submits a job to the device; returns it if the CPU is to train it.
    fn submit(&self, number: usize, job: Job) -> Option<(usize, Job)> {
        if let Err(error) = check_cancelled(self.shared.callbacks) {
            self.shared.queue.done(number, Err(error));
            return None;
        }
        if !self.pays_off(&job) {
            return Some((number, job));
        }
        let Job::Network(job) = job else { return Some((number, job)) };
        let start = job.start();
        let device = &self.engine.device;
        let (shape, layout) = match kernel_plan(&job, &start, device.shared_memory()) {
            Ok(plan) => plan,
            Err(reason) => {
                self.notify(&format!("engine cuda: {reason}"));
                return Some((number, job.into()));
            }
        };
        let key = header(&shape, &layout);
        let mut state = self.shared.lock();
        let batch = state.batches.entry(key).or_insert_with(|| {
            let batch = Arc::new(Batch::new(shape, layout));
            let (shared_buffers, shared, worker_batch) = (self.shared_buffers, self.shared, batch.clone());
            self.scope.spawn(move || {
                worker_batch.train_all(device, shared_buffers, shared.callbacks, &|outcome| shared.outcome(outcome));
            });
            batch
        });
        batch.add(PendingJob { number, job, start });
        state.in_flight += 1;
        None
    }
}

impl<D: Device> Queue for CpuQueue<'_, '_, D> {
    fn next(&self) -> Option<(usize, Job)> {
        loop {
            match self.next_action() {
                Next::End => return None,
                Next::Outcome(outcome) => match *outcome {
                    Outcome::Done(number, trained) => self.shared.queue.done(number, trained),
                    Outcome::Failed(number, job, failure) => {
                        self.notify(&format!("engine cuda: {failure}; continuing on the CPU"));
                        return Some((number, job.into()));
                    }
                },
                Next::Take => {
                    let taken = self.shared.queue.next();
                    let ended = taken.is_none();
                    let for_cpu = taken.and_then(|(number, job)| self.submit(number, job));
                    self.shared.finish_request(ended);
                    if for_cpu.is_some() {
                        return for_cpu;
                    }
                }
            }
        }
    }

    fn done(&self, number: usize, trained: Result<Trained>) {
        self.shared.queue.done(number, trained);
    }

    fn max_jobs(&self) -> usize {
        self.shared.queue.max_jobs()
    }
}

/// Kernel shape and memory layout of a job with `shared` bytes of shared memory, or the reason why no kernel supports it.
fn kernel_plan(job: &NetworkJob, start: &Start, shared: usize) -> std::result::Result<(Shape, Layout), &'static str> {
    let shape = Shape::of(job, start)?;
    let layout = Layout::new(&shape, shared);
    match layout.shared || Tiling::fits(&shape, shared) {
        true => Ok((shape, layout)),
        false => Err("networks as wide as this one are trained on the CPU"),
    }
}
