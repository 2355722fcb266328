//! Responsible for training: jobs, the queue they wait in, the engine that runs them, and what each leaves behind.

mod batches;
mod bytes;
mod course;
mod cpu;
mod engine;
mod estimate;
mod evaluator;
mod halves;
mod history;
mod job;
mod objective;
mod optimiser;
mod queue;
mod schedule;
mod start;
mod stopping;
mod training;

pub use course::TrainingPlan;
pub use cpu::CpuEngine;
pub use engine::{Engine, Trained, TrainedNetwork, train};
pub use estimate::Estimate;
pub use history::{Epoch, History, Validation};
pub use job::{Job, NetworkJob, TreesJob};
pub use objective::Objective;
pub use optimiser::Optimiser;
pub use queue::{Finish, JobGroup, JobGroups, Queue};
pub use schedule::Schedule;
pub use stopping::{SD_FACTORS, Selection};
pub use training::TrainingConfig;
pub use training::{BATCH_SIZE, DROPOUT, LEARNING_RATE, OPTIMISER, STEPS, WEIGHT_DECAY};

// How a training runs, for engines of this repository that run one by themselves.
pub use {batches::Batches, course::Trainer, course::TrainingLoop, start::Start, stopping::EarlyStopping};

// For the tests of this crate.
#[doc(hidden)]
pub use {
    cpu::CpuTrainer,
    optimiser::{Decay, OptimiserState},
};

pub use crate::watch::{Callbacks, Progress};
pub use negmm_dist::math::lanes::Isa;
