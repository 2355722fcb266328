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

pub use course::Course;
pub use cpu::CpuEngine;
pub use engine::{Engine, Trained, TrainedNetwork, train};
pub use estimate::Estimate;
pub use history::{Epoch, History, Validation};
pub use job::{Job, NetworkJob, TreesJob};
pub use objective::Objective;
pub use optimiser::Optimiser;
pub use queue::{Finish, Queue, Undertaking, Undertakings};
pub use schedule::Schedule;
pub use stopping::{SD_FACTORS, Selection};
pub use training::Training;
pub use training::{BATCH, DROPOUT, LEARNING_RATE, OPTIMISER, STEPS, WEIGHT_DECAY};

// How a training runs, for engines of this repository that run one by themselves.
pub use {batches::Batches, course::Followed, course::Trainer, start::Start, stopping::Stopping};

pub use crate::watch::{Progress, Watch};
pub use negmm_dist::math::lanes::Isa;
