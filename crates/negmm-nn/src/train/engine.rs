//! The contract of an engine: jobs from a queue, what each leaves behind back to it.

use super::History;
use super::queue::Queue;
use crate::callbacks::Callbacks;
use crate::net::Parameters;
use crate::ngboost::TrainedTrees;
use negmm_dist::Result;

/// Trains jobs. Results depend on the jobs alone: not on their order, the number of threads, or the instruction set.
pub trait Engine: Sync {
    /// Trains the jobs that `queue` gives, as many at once as suits it, until there are no more, and hands back each as soon as it
    /// is trained. One that fails does not stop the others.
    fn run(&self, queue: &dyn Queue, watch: &Callbacks<'_>);
}

/// What a job leaves behind.
#[derive(Clone, Debug)]
pub enum Trained {
    /// Of a network.
    Network(TrainedNetwork),
    /// Of trees.
    Trees(TrainedTrees),
}

/// What the training of a network leaves behind.
#[derive(Clone, Debug)]
pub struct TrainedNetwork {
    /// Those of the best checkpoint.
    pub parameters: Parameters,
    /// What each epoch did.
    pub history: History,
    /// Those that would predict after every so many epochs, where the course asks for them.
    pub snapshots: Vec<Parameters>,
    /// For each half of the validation rows those of the checkpoint that the other half chose, where the course asks for them.
    pub crossed: Option<[Parameters; 2]>,
}

/// Trains a batch of jobs: as many results, in the same order. A job that cannot be trained never reaches the engine.
pub fn train(engine: &dyn Engine, jobs: &[super::Job], watch: &Callbacks<'_>) -> Vec<Result<Trained>> {
    super::queue::Batch::new(jobs).run(engine, watch)
}
