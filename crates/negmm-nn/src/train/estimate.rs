//! An estimate of the training time.

use super::Job;
use super::cpu::parts;
use crate::threads;
use negmm_dist::math::lanes::{Isa, WIDTH};

/// Multiplications of training steps per second and core, measured with the networks of `auto` (`bench`, `step`).
const WIDE_SPEED: f64 = 4e10;
const NARROW_SPEED: f64 = 3.5e10;
const PLAIN_SPEED: f64 = 3e9;
/// A step multiplies every weight three times: forward, backward, and for the gradient.
const PASSES: f64 = 3.0;
/// Validation has only the forward pass.
const CHECK: f64 = 1.0;
/// Buffers of the size of the weights besides the gradients of parts: weights, two moments, the best weights.
const BUFFERS: usize = 4;

/// The estimated cost of a training.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// Networks to train.
    pub networks: usize,
    /// Multiplications of all steps of all networks, without early stopping.
    pub multiplications: f64,
    /// Bytes of the data and of the row indices, and of one network in training.
    pub bytes: (f64, f64),
}

impl Estimate {
    /// The estimate of jobs with the same data; boosted models are ignored.
    pub fn of(jobs: &[Job]) -> Self {
        let (mut networks, mut multiplications, mut network, mut indices) = (0, 0.0, 0_usize, 0);
        for job in jobs.iter().filter_map(|job| if let Job::Network(job) = job { Some(job) } else { None }) {
            let plan = &job.plan;
            let trained = PASSES * (plan.steps * plan.batch_size) as f64;
            let checked = CHECK * (plan.steps / plan.epoch.max(1) * job.validation.len()) as f64;
            networks += 1;
            multiplications += job.network.parameters() as f64 * (trained + checked);
            multiplications += (plan.steps * plan.optimiser.multiplications(&job.network)) as f64;
            network = network.max((BUFFERS + parts(plan.batch_size)) * job.network.chunks() * WIDTH * size_of::<f32>());
            indices += (2 * job.train.len() + job.validation.len()) * size_of::<u32>();
        }
        let rows = |job: &Job| {
            let data = job.data();
            let held = if data.is_on_disk() { 0 } else { data.stride() };
            (held + 2) * data.len() * size_of::<f32>()
        };
        let data = jobs.first().map_or(0, rows);
        Self { networks, multiplications, bytes: ((data + indices) as f64, network as f64) }
    }

    /// Seconds with a number of threads (0: as many as there are cores) on this CPU.
    pub fn seconds(&self, threads: usize) -> f64 {
        let speed = match Isa::best() {
            Isa::Avx512 => WIDE_SPEED,
            Isa::Avx2 => NARROW_SPEED,
            Isa::Plain => PLAIN_SPEED,
        };
        self.multiplications / speed / self.at_once(threads)
    }

    /// Megabytes with a number of threads.
    pub fn megabytes(&self, threads: usize) -> f64 {
        (self.bytes.0 + self.bytes.1 * self.at_once(threads)) / 1e6
    }

    /// Networks that are trained at the same time.
    fn at_once(&self, threads: usize) -> f64 {
        threads::count(threads).min(self.networks).max(1) as f64
    }
}
