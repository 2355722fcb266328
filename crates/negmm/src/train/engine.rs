//! Responsible for the contract of an engine: a batch of jobs in, as many results out, in the same order.

use std::sync::atomic::AtomicBool;

use super::{Estimate, History, Job};
use crate::Result;
use crate::math::lanes::Chunk;

/// Trains networks. Results depend on the jobs alone: not on their order, the number of threads, or the instruction set.
pub trait Engine: Sync {
    /// Trains every job; one that fails does not stop the others.
    fn train(&self, jobs: &[Job<'_>], watch: &Watch<'_>) -> Vec<Result<Trained>>;
}

/// What a job leaves behind.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The weights that were kept, laid out as the network's layers say.
    pub weights: Vec<Chunk>,
    /// What each epoch did.
    pub history: History,
    /// The weights that would predict after every so many epochs, where the training asks for them.
    pub snapshots: Vec<Vec<Chunk>>,
}

/// How a caller follows a training and stops it.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Called once before networks are trained.
    pub begin: &'a (dyn Fn(&Estimate) + Sync),
    /// Called after every epoch of every job, from the thread that trains it.
    pub progress: &'a (dyn Fn(&Progress) + Sync),
    /// Set to true to stop within a few steps; jobs then fail with [`crate::ErrorKind::Cancelled`].
    pub cancel: &'a AtomicBool,
}

impl Watch<'static> {
    /// Follows nothing and never stops.
    pub fn nothing() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self { begin: &|_| {}, progress: &|_| {}, cancel: &NEVER }
    }
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Which job of the batch.
    pub job: usize,
    /// Jobs in the batch.
    pub jobs: usize,
    /// Epochs done.
    pub epoch: usize,
    /// Epochs at most.
    pub epochs: usize,
    /// The best validation score so far, in units of the standardised target.
    pub best: Option<f64>,
    /// Whether this was the job's last epoch.
    pub last: bool,
}
