//! The initial state of a training, for engines with their own training loop.

use super::NetworkJob;
use super::cpu::{part_of, parts};
use crate::net::Parameters;
use negmm_dist::math::counter::Counter;
use negmm_dist::streams;

/// The initial parameters of a training, its random streams, and the parts of its batches.
#[derive(Clone, Debug)]
pub struct Start {
    /// The parameters before the first step.
    pub parameters: Parameters,
    /// The perturbation of each input in adversarial training; empty without it.
    pub adversarial_steps: Vec<f32>,
    /// The order of the rows, by pass.
    pub order: Counter,
    /// The dropped units, by part of a step.
    pub dropout: Counter,
    /// The random numbers of the objective, by step.
    pub objective: Counter,
    /// Rows of each part of a batch; the gradients of parts are added in order.
    pub part: usize,
    /// Parts of a batch.
    pub parts: usize,
}

impl NetworkJob {
    /// The initial state of the training.
    #[doc(hidden)]
    pub fn start(&self) -> Start {
        let counter = |stream| Counter::new(self.seed, stream);
        Start {
            parameters: self.initial_parameters().into(),
            adversarial_steps: self.adversarial_steps(),
            order: counter(streams::ORDER),
            dropout: counter(streams::DROPOUT),
            objective: counter(streams::OBJECTIVE),
            part: part_of(self.plan.batch_size),
            parts: parts(self.plan.batch_size),
        }
    }
}
