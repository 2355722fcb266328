//! Mini-batches: the rows of each step.

use super::NetworkJob;
use negmm_dist::math::counter::Counter;
use negmm_dist::streams;

/// The training rows in batches, in a new random order in each pass.
pub struct Batches {
    order: Vec<u32>,
    counter: Counter,
    /// Passes begun so far.
    passes: u64,
    batch: usize,
    /// Rows of this pass so far.
    given: usize,
    /// Whether the rows of an incomplete batch are left out of the pass.
    whole: bool,
}

impl Batches {
    /// The batches of a job.
    pub fn new(job: &NetworkJob) -> Self {
        let order = job.train.to_vec();
        let (batch, whole) = (job.plan.batch_size, job.plan.whole_batches);
        let counter = Counter::new(job.seed, streams::ORDER);
        Self { given: order.len(), order, counter, passes: 0, batch, whole }
    }

    /// The rows of the next step.
    pub fn next_batch(&mut self) -> &[u32] {
        let left = self.order.len() - self.given;
        if left == 0 || (self.whole && left < self.batch) {
            self.counter.step(self.passes).shuffle(&mut self.order);
            self.passes += 1;
            self.given = 0;
        }
        let batch = self.given..self.order.len().min(self.given + self.batch);
        self.given = batch.end;
        &self.order[batch]
    }
}
