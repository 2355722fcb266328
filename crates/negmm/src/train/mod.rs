//! Responsible for training: jobs, the engine that runs a batch of them, and what each leaves behind.

mod adam;
mod cpu;
mod engine;
mod estimate;
mod history;
mod job;
mod objective;
mod schedule;
mod stopping;

pub use cpu::CpuEngine;
pub use engine::{Engine, Progress, Trained, Watch};
pub use estimate::Estimate;
pub use history::{Epoch, History, Validation};
pub(crate) use job::{BATCH, DROPOUT, LEARNING_RATE, PATIENCE, STEPS, VALIDATION};
pub use job::{Job, Training};
pub use objective::{Loss, Objective};
pub use schedule::Schedule;
pub use stopping::{SD_FACTORS, Selection};
