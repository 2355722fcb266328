//! Engines: what trains the jobs of a queue, and the results of jobs.

use super::History;
use super::queue::Queue;
use crate::callbacks::Callbacks;
use crate::forest::Forest;
use crate::net::Parameters;
use crate::ngboost::TrainedTrees;
use negmm_dist::Result;

/// Trains jobs. Results depend on the jobs alone, not on their order, the number of threads, or the instruction set.
pub trait Engine: Sync {
    /// Trains the jobs of `queue` until there are no more, as many at once as suits the engine, and returns each result to the queue as
    /// soon as it is there. A job that fails does not stop the others.
    fn run(&self, queue: &dyn Queue, callbacks: &Callbacks<'_>);
}

/// The result of a job.
#[derive(Clone, Debug)]
pub enum Trained {
    /// A network.
    Network(TrainedNetwork),
    /// A boosted model.
    Trees(TrainedTrees),
    /// Of a forest.
    Forest(Forest),
}

/// The result of training a network.
#[derive(Clone, Debug)]
pub struct TrainedNetwork {
    /// The parameters of the best checkpoint.
    pub parameters: Parameters,
    /// Losses and scores by epoch.
    pub history: History,
    /// The parameters at regular intervals, see [`TrainingPlan::snapshots`](super::TrainingPlan::snapshots).
    pub snapshots: Vec<Parameters>,
    /// Cross-fitting: for each half of the validation rows the parameters of the checkpoint that the other half selected.
    pub cross_fitted: Option<[Parameters; 2]>,
}

/// Trains a list of jobs and returns their results in the same order. A job that fails [`Job::check`](super::Job::check) is not given
/// to the engine.
pub fn train(engine: &dyn Engine, jobs: &[super::Job], callbacks: &Callbacks<'_>) -> Vec<Result<Trained>> {
    super::queue::JobList::new(jobs).run(engine, callbacks)
}
