//! The CPU engine: one job per thread; idle threads help with parts of other jobs.

mod trainer;

use std::sync::LazyLock;

use super::plan::TrainingLoop;
use super::queue::Queue;
use super::{Engine, Job, Trained, TrainedNetwork};
use crate::callbacks::Callbacks;
use crate::threads;
use negmm_dist::Result;
use negmm_dist::math::lanes::{Isa, Kernel, Lanes};
pub use trainer::CpuTrainer;
pub(super) use trainer::part_of;
pub(super) use trainer::parts;

/// Trains jobs on the CPU.
#[derive(Clone, Copy, Debug)]
pub struct CpuEngine {
    /// Jobs that are trained at the same time; 0: as many as there are cores.
    pub threads: usize,
    /// The instruction set; results are the same for all.
    pub isa: Isa,
}

impl CpuEngine {
    /// `threads` jobs at the same time (0: as many as there are cores), with the best available instruction set.
    pub fn new(threads: usize) -> Self {
        Self { threads, isa: Isa::best() }
    }

    /// All cores.
    pub fn all_cores() -> &'static Self {
        static ALL_CORES: LazyLock<CpuEngine> = LazyLock::new(CpuEngine::default);
        &ALL_CORES
    }

    /// Trains one job on this thread.
    fn train(&self, job: &Job, number: usize, callbacks: &Callbacks<'_>) -> Result<Trained> {
        match job {
            Job::Network(job) => {
                self.isa.run(TrainingKernel(TrainingLoop { job, number, callbacks })).map(Trained::Network)
            }
            Job::Trees(job) => job.train(number, callbacks).map(Trained::Trees),
            Job::Linear(job) => Ok(Trained::Network(job.train())),
            Job::Forest(job) => Ok(Trained::Forest(job.train())),
        }
    }
}

impl Default for CpuEngine {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Engine for CpuEngine {
    fn run(&self, queue: &dyn Queue, callbacks: &Callbacks<'_>) {
        let work = || {
            while let Some((number, job)) = queue.next() {
                queue.done(number, self.train(&job, number, callbacks));
            }
        };
        // If no thread can be started, jobs are trained on this one.
        if threads::broadcast(threads::count(self.threads).min(queue.max_jobs()), work).is_err() {
            work();
        }
    }
}

/// The training loop as a kernel.
struct TrainingKernel<'a>(TrainingLoop<'a>);

impl Kernel for TrainingKernel<'_> {
    type Output = Result<TrainedNetwork>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Result<TrainedNetwork> {
        let trainer = &mut CpuTrainer::<L>::new(self.0.job);
        self.0.run(trainer)
    }
}
