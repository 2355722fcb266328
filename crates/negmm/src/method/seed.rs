//! Responsible for the seeds of networks that are trained together.

use crate::math::rng::Rng;
use crate::streams;

/// Where a job's random choices start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seed {
    /// Of the validation rows: the same for all members of an ensemble, so that its held-out score means something.
    pub(super) split: u64,
    /// Of the weights, the order of rows, dropout.
    pub(super) network: u64,
}

impl Seed {
    /// Of the only network.
    pub(super) fn single(seed: u64) -> Self {
        Self { split: seed, network: seed }
    }

    /// Of member `member` of an ensemble.
    pub(super) fn member(self, member: usize) -> Self {
        Self { network: Rng::new(self.network, streams::MEMBERS + member as u64).bits(), ..self }
    }
}
