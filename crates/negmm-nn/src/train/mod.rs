//! Training: jobs, queues, engines and results.

mod batches;
mod bytes;
mod config;
mod cpu;
mod cross_fitting;
mod early_stopping;
mod engine;
mod estimate;
mod evaluator;
mod history;
mod job;
mod objective;
mod optimiser;
mod plan;
mod queue;
mod schedule;
mod start;

pub use config::TrainingConfig;
pub use config::{BATCH_SIZE, DROPOUT, LEARNING_RATE, OPTIMISER, STEPS, WEIGHT_DECAY};
pub use cpu::CpuEngine;
pub use early_stopping::{SD_FACTORS, Selection};
pub use engine::{Engine, Trained, TrainedNetwork, train};
pub use estimate::Estimate;
pub use history::{Epoch, History, Validation};
pub use job::{ForestJob, Job, LinearJob, NetworkJob, TreesJob};
pub use objective::Objective;
pub use optimiser::Optimiser;
pub use plan::TrainingPlan;
pub use queue::{Finish, JobGroup, JobGroups, Queue};
pub use schedule::Schedule;

// The parts of the training loop, for the engines of this repository.
pub use {batches::Batches, early_stopping::EarlyStopping, plan::Trainer, plan::TrainingLoop, start::Start};

// For the tests of this crate.
#[doc(hidden)]
pub use {
    cpu::CpuTrainer,
    optimiser::{Decay, OptimiserState},
};

pub use crate::callbacks::{Callbacks, Progress};
pub use negmm_dist::math::lanes::Isa;
