//! The initial state of a training, for engines that run one by themselves.

use super::NetworkJob;
use super::cpu::{part_of, parts};
use crate::net::Parameters;
use negmm_dist::math::counter::Counter;
use negmm_dist::streams;

/// Where a training begins: its parameters, its random streams, and how its batches are cut.
#[derive(Clone, Debug)]
pub struct Start {
    /// The parameters before the first step.
    pub parameters: Parameters,
    /// How far each input is moved in adversarial training; nothing without it.
    pub adversarial_steps: Vec<f32>,
    /// The order of the rows, by pass.
    pub order: Counter,
    /// The units that are switched off, by part of a step.
    pub dropout: Counter,
    /// What an objective draws, by step.
    pub objective: Counter,
    /// Rows of each part of a batch, whose gradients are added in their order.
    pub part: usize,
    /// Parts of a batch.
    pub parts: usize,
}

impl NetworkJob {
    /// Where the training begins.
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
