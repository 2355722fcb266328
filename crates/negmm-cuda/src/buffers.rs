//! The buffers of a training job in device memory: their offsets and total size.

use negmm::train::NetworkJob;

use crate::device::Device;
use crate::layout::Layout;
use crate::pending_job::PendingJob;
use crate::record::{TrainingState, bytes};
use crate::shape::Shape;

/// Byte offsets of a job's buffers: first those that are uploaded, then those that start as zeros.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BufferOffsets {
    pub(crate) order: usize,
    pub(crate) validation: usize,
    pub(crate) weights: usize,
    pub(crate) adversarial_steps: usize,
    pub(crate) state: usize,
    pub(crate) barrier: usize,
    pub(crate) shuffle_lists: usize,
    pub(crate) optimizer_state: usize,
    pub(crate) averaged_weights: usize,
    pub(crate) best_weights: usize,
    pub(crate) half_best_weights: usize,
    pub(crate) snapshots: usize,
    pub(crate) workspace: usize,
}

/// Host-side concatenation of aligned arrays, uploaded with one copy.
#[derive(Default)]
pub(crate) struct UploadBuffer {
    pub(crate) content: Vec<u8>,
}

/// Alignment of every array, in bytes.
const ALIGNMENT: usize = 256;

impl UploadBuffer {
    /// Appends an array and returns its offset.
    pub(crate) fn append(&mut self, list: &[u8]) -> usize {
        let start = self.content.len();
        self.content.extend_from_slice(list);
        self.content.resize(self.content.len().next_multiple_of(ALIGNMENT), 0);
        start
    }
}

/// Zero-initialised arrays from an offset on.
pub(crate) struct ZeroedRegion {
    pub(crate) end: usize,
}

impl ZeroedRegion {
    /// Reserves an aligned array and returns its offset.
    fn reserve(&mut self, bytes: usize) -> usize {
        let start = self.end;
        self.end = (start + bytes).next_multiple_of(ALIGNMENT);
        start
    }
}

impl BufferOffsets {
    /// Appends the uploaded buffers of a job. The row order is stored twice: the shuffle writes from one copy to the other.
    pub(crate) fn of_uploads(
        PendingJob { job, start, .. }: &PendingJob,
        shape: &Shape,
        pack: &mut UploadBuffer,
    ) -> Self {
        Self {
            order: pack.append(bytes(&[&job.train[..], &job.train].concat())),
            validation: pack.append(bytes(&job.validation)),
            weights: pack.append(bytes(&shape.to_device(start.parameters.numbers()))),
            adversarial_steps: pack.append(bytes(&start.adversarial_steps)),
            state: pack.append(bytes(&[initial_state(job)])),
            ..Self::default()
        }
    }

    /// Reserves the zero-initialised buffers of a job.
    pub(crate) fn add_zeroed<D: Device>(
        &mut self,
        job: &NetworkJob,
        (shape, layout): (&Shape, &Layout),
        zeros: &mut ZeroedRegion,
    ) {
        let floats = |count: usize| count * size_of::<f32>();
        let parameters = shape.parameters();
        let snapshots = job.plan.epochs().checked_div(job.plan.snapshots).unwrap_or(0);
        self.barrier = zeros.reserve(size_of::<u64>());
        self.shuffle_lists = zeros.reserve(3 * job.train.len() * size_of::<u32>());
        self.optimizer_state = zeros.reserve(floats(shape.optimizer_state_floats()));
        self.averaged_weights = zeros.reserve(floats(parameters));
        self.best_weights = zeros.reserve(floats(parameters));
        self.half_best_weights =
            zeros.reserve(floats(if job.plan.cross_fitting_split > 0 { 2 * parameters } else { 0 }));
        self.snapshots = zeros.reserve(floats(snapshots * parameters));
        self.workspace =
            zeros.reserve(if layout.shared && !D::WORKSPACE_IN_GLOBAL_MEMORY { 0 } else { floats(layout.floats) });
    }
}

/// Device memory of a job in bytes, without the shared rows.
pub(crate) fn device_bytes<D: Device>(job: &NetworkJob, parts: (&Shape, &Layout)) -> usize {
    let mut end = ZeroedRegion { end: 0 };
    BufferOffsets::default().add_zeroed::<D>(job, parts, &mut end);
    let shuffle_lists = [
        2 * job.train.len() * size_of::<u32>(),
        job.validation.len() * size_of::<u32>(),
        parts.0.parameters() * size_of::<f32>(),
        job.data.features() * size_of::<f32>(),
        size_of::<TrainingState>(),
    ];
    end.end + shuffle_lists.iter().map(|bytes| bytes.next_multiple_of(ALIGNMENT)).sum::<usize>()
}

/// Training state before the first step.
fn initial_state(job: &NetworkJob) -> TrainingState {
    // SAFETY: a `TrainingState` consists of numbers; all zeros is valid.
    let zeros: TrainingState = unsafe { std::mem::zeroed() };
    TrainingState {
        beta_powers: [1.0; 2],
        best_score: f64::INFINITY,
        half_best_scores: [f64::INFINITY; 2],
        consumed: job.train.len() as u32,
        ..zeros
    }
}
