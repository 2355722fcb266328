//! Responsible for training on processors: one job a thread, never threads inside a network.

use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::adam::{self, Adam};
use super::objective::Workspace;
use super::stopping::Stopping;
use super::{Engine, Epoch, History, Job, Progress, Trained, Validation, Watch};
use crate::math::lanes::{Chunk, Isa, Kernel, Lanes, WIDTH};
use crate::math::rng::Rng;
use crate::net::{Dropout, PANEL, PANEL_CHUNKS, Pass};
use crate::{Error, Result};

/// Streams of a job's seed.
const WEIGHTS_STREAM: u64 = 0;
const ORDER_STREAM: u64 = 1;
const DROPOUT_STREAM: u64 = 2;

/// Trains jobs on the processor's cores.
#[derive(Clone, Copy, Debug)]
pub struct CpuEngine {
    /// Jobs that run at once; 0: as many as there are cores.
    pub threads: usize,
    /// The instruction set; results are the same for all.
    pub isa: Isa,
}

impl CpuEngine {
    /// `threads` jobs at once (0: as many as there are cores), with the best instruction set there is.
    pub fn new(threads: usize) -> Self {
        Self { threads, isa: Isa::best() }
    }
}

impl Default for CpuEngine {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Engine for CpuEngine {
    fn train(&self, jobs: &[Job<'_>], watch: &Watch<'_>) -> Vec<Result<Trained>> {
        let run = |(index, job): (usize, &Job<'_>)| self.isa.run(Run { job, index, jobs: jobs.len(), watch });
        if jobs.len() == 1 || self.threads == 1 {
            return jobs.iter().enumerate().map(run).collect();
        }
        match rayon::ThreadPoolBuilder::new().num_threads(self.threads).build() {
            Ok(pool) => pool.install(|| jobs.par_iter().enumerate().map(run).collect()),
            // Without threads of its own the work is still done, one job after the other.
            Err(_) => jobs.iter().enumerate().map(run).collect(),
        }
    }
}

/// One job from the first step to the last.
struct Run<'a> {
    job: &'a Job<'a>,
    index: usize,
    jobs: usize,
    watch: &'a Watch<'a>,
}

impl Kernel for Run<'_> {
    type Output = Result<Trained>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Result<Trained> {
        let Self { job, index, jobs, watch } = self;
        job.training.check()?;
        if job.train.is_empty() {
            return Err(Error::data("there is no row to train on"));
        }
        let training = &job.training;
        let mut order = job.train.clone();
        let mut order_rng = Rng::new(job.seed, ORDER_STREAM);
        let mut trainer = Trainer::new(job);
        let mut stopping = Stopping::new(training.patience);
        let mut history = History::default();
        let mut kept = trainer.predicting_weights().to_vec();
        let batch = training.batch.min(order.len());
        let steps = training.epochs * order.len().div_ceil(batch);
        for epoch in 0..training.epochs {
            order_rng.shuffle(&mut order);
            let (mut losses, mut taken, mut skipped, mut rate) = (0.0, 0, 0, 0.0);
            for (number, rows) in order.chunks(batch).enumerate() {
                if watch.cancel.load(Ordering::Relaxed) {
                    return Err(Error::cancelled());
                }
                let step = epoch * order.len().div_ceil(batch) + number;
                rate = training.learning_rate * training.schedule.factor(step, steps);
                match trainer.step::<L>(rows, rate) {
                    Some(loss) => {
                        losses += f64::from(loss);
                        taken += 1;
                    }
                    None => skipped += 1,
                }
            }
            let validation = trainer.validate::<L>(&job.validation);
            history.epochs.push(Epoch {
                loss: (taken > 0).then(|| losses / taken as f64),
                validation,
                learning_rate: rate,
                skipped,
            });
            // Without validation rows the last weights are the ones to keep.
            let better = if job.validation.is_empty() {
                stopping.improves(epoch, -(epoch as f64))
            } else {
                validation.is_some_and(|scores| stopping.improves(epoch, training.select.score(&scores)))
            };
            if better {
                kept.copy_from_slice(trainer.predicting_weights());
            }
            let last = epoch + 1 == training.epochs || stopping.exhausted(epoch);
            let best = history.epochs[stopping.best_epoch()].validation.map(|scores| training.select.score(&scores));
            (watch.progress)(&Progress { job: index, jobs, epoch: epoch + 1, epochs: training.epochs, best, last });
            if last {
                break;
            }
        }
        history.best_epoch = stopping.best_epoch();
        Ok(Trained { weights: kept, history })
    }
}

/// Weights and everything that changes them.
struct Trainer<'a> {
    job: &'a Job<'a>,
    weights: Vec<Chunk>,
    /// The running average of the weights; empty without averaging.
    averaged: Vec<Chunk>,
    gradient: Vec<Chunk>,
    adam: Adam,
    pass: Pass,
    workspace: Workspace,
    dropout_rng: Rng,
    steps: u32,
}

impl<'a> Trainer<'a> {
    fn new(job: &'a Job<'a>) -> Self {
        let weights = job.network.initial_weights(&mut Rng::new(job.seed, WEIGHTS_STREAM));
        let averaged = if job.training.averaging > 0.0 { weights.clone() } else { Vec::new() };
        Self {
            averaged,
            gradient: vec![Chunk::ZERO; weights.len()],
            adam: Adam::new(weights.len()),
            pass: Pass::new(&job.network),
            workspace: job.objective.workspace(),
            dropout_rng: Rng::new(job.seed, DROPOUT_STREAM),
            steps: 0,
            job,
            weights,
        }
    }

    fn predicting_weights(&self) -> &[Chunk] {
        if self.averaged.is_empty() { &self.weights } else { &self.averaged }
    }

    /// One step on `rows`. Gives their mean loss, or nothing if it or a gradient is not finite: then nothing has changed.
    #[inline(always)]
    fn step<L: Lanes>(&mut self, rows: &[u32], rate: f64) -> Option<f32> {
        let Self { job, pass, weights, gradient, .. } = self;
        gradient.fill(Chunk::ZERO);
        let mut loss = 0.0;
        let total: f64 = rows.iter().map(|row| f64::from(job.data.weights()[*row as usize])).sum();
        // Rows that all count for nothing have nothing to say.
        let share = if total > 0.0 { (1.0 / total) as f32 } else { 0.0 };
        for panel in rows.chunks(PANEL) {
            let (y, row_weights) = bring_in::<L>(job, pass, panel, share);
            let share = job.training.dropout as f32;
            let dropout = (share > 0.0).then_some(Dropout { share, rng: &mut self.dropout_rng });
            pass.forward::<L>(job.network.activation, weights, dropout);
            let (outputs, deltas) = pass.outputs_and_deltas();
            loss += job.objective.loss::<L>(outputs, &y, &row_weights, deltas, &mut self.workspace);
            pass.backward::<L>(weights, gradient);
        }
        if !(loss.is_finite() && adam::all_finite::<L>(gradient)) {
            return None;
        }
        self.adam.step::<L>(weights, gradient, rate);
        let training = &job.training;
        if training.weight_decay > 0.0 {
            let shrink = (1.0 - rate * training.weight_decay).max(0.0) as f32;
            adam::decay_weights::<L>(weights, &job.network.layers(), shrink);
        }
        self.steps += 1;
        if !self.averaged.is_empty() {
            // Early on the average is over the steps so far: a decay that fits a long run would remember the start.
            let keep = training.averaging.min(f64::from(self.steps) / (f64::from(self.steps) + 10.0));
            adam::average::<L>(&mut self.averaged, weights, keep as f32);
        }
        Some(loss)
    }

    /// Mean scores of `rows`; nothing where there are none or where a score is not finite.
    #[inline(always)]
    fn validate<L: Lanes>(&mut self, rows: &[u32]) -> Option<Validation> {
        let (mut nll, mut crps) = (0.0, 0.0);
        for panel in rows.chunks(PANEL) {
            let (y, row_weights) = bring_in::<L>(self.job, &mut self.pass, panel, 1.0);
            let weights = if self.averaged.is_empty() { &self.weights } else { &self.averaged };
            self.pass.forward::<L>(self.job.network.activation, weights, None);
            let scores = self.job.objective.scores::<L>(self.pass.outputs(), &y, &row_weights, &mut self.workspace);
            nll += f64::from(scores.0);
            crps += f64::from(scores.1);
        }
        let total: f64 = rows.iter().map(|row| f64::from(self.job.data.weights()[*row as usize])).sum();
        let validation = Validation { nll: nll / total, crps: crps / total };
        (validation.nll.is_finite() && validation.crps.is_finite()).then_some(validation)
    }
}

/// Brings at most a panel of rows into `pass`, each with its weight times `share`. The first row stands in for those that are missing, with weight zero.
#[inline(always)]
fn bring_in<L: Lanes>(
    job: &Job<'_>,
    pass: &mut Pass,
    rows: &[u32],
    share: f32,
) -> ([Chunk; PANEL_CHUNKS], [Chunk; PANEL_CHUNKS]) {
    let mut padded = [rows[0]; PANEL];
    padded[..rows.len()].copy_from_slice(rows);
    pass.read::<L>(job.data.x(), job.data.stride(), &padded);
    let (mut y, mut weights) = ([Chunk::ZERO; PANEL_CHUNKS], [Chunk::ZERO; PANEL_CHUNKS]);
    for (at, &row) in padded.iter().enumerate() {
        y[at / WIDTH].0[at % WIDTH] = job.data.y()[row as usize];
        weights[at / WIDTH].0[at % WIDTH] =
            if at < rows.len() { share * job.data.weights()[row as usize] } else { 0.0 };
    }
    (y, weights)
}
