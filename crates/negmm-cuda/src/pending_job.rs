//! A training job that waits for the device.

use negmm::train::NetworkJob;
use negmm_nn::train::Start;

/// A job that waits for the device. `number` is its number in the caller's queue.
pub(crate) struct PendingJob {
    pub(crate) number: usize,
    pub(crate) job: NetworkJob,
    pub(crate) start: Start,
}
