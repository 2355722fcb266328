//! Responsible for the steps of one network on one core: its parameters and everything that changes them.

use std::marker::PhantomData;

use crate::math::counter::Counter;
use crate::math::lanes::{Chunk, Lanes, WIDTH};
use crate::net::{Dropout, PANEL, PANEL_CHUNKS, Pass, Stem};
use crate::streams;
use crate::train::adam::{self, Adam};
use crate::train::course::Trainer;
use crate::train::evaluator::{Evaluator, PanelRows, ScoreSums};
use crate::train::{NetworkJob, SD_FACTORS, Selection, Validation};

/// Parameters and everything that changes them, with one instruction set.
pub(super) struct CpuTrainer<'a, L> {
    job: &'a NetworkJob,
    pub(super) parameters: Vec<Chunk>,
    /// The running average of the parameters; empty without averaging.
    averaged: Vec<Chunk>,
    pub(super) gradient: Vec<Chunk>,
    adam: Adam,
    pass: Pass,
    evaluator: Evaluator,
    dropout: Counter,
    /// For what an objective draws in each step.
    objective: Counter,
    /// How far each input is moved in adversarial training; empty without it.
    adversarial_steps: Vec<f32>,
    /// Steps that were begun, and those that were taken.
    begun: u64,
    taken: u32,
    lanes: PhantomData<L>,
}

impl<'a, L: Lanes> CpuTrainer<'a, L> {
    pub(super) fn new(job: &'a NetworkJob) -> Self {
        let parameters = job.initial_parameters();
        let averaged = if job.course.averaging > 0.0 { parameters.clone() } else { Vec::new() };
        Self {
            averaged,
            gradient: vec![Chunk::ZERO; parameters.len()],
            adam: Adam::new(parameters.len()),
            pass: Pass::new(&job.network),
            evaluator: Evaluator::new(&job.objective),
            dropout: Counter::new(job.seed, streams::DROPOUT),
            objective: Counter::new(job.seed, streams::OBJECTIVE),
            adversarial_steps: job.adversarial_steps(),
            begun: 0,
            taken: 0,
            job,
            parameters,
            lanes: PhantomData,
        }
    }

    /// The mean loss of `rows`; leaves its gradient in `self.gradient`.
    #[inline(always)]
    pub(super) fn differentiate(&mut self, rows: &[u32]) -> f32 {
        self.evaluator.begin_step(&mut self.objective.step(self.begun));
        let mut draws = self.dropout.step(self.begun);
        self.begun += 1;
        let Self { job, pass, parameters, gradient, evaluator, .. } = self;
        gradient.fill(Chunk::ZERO);
        let mut loss = 0.0;
        let total: f64 = rows.iter().map(|row| f64::from(job.data.sample_weights()[*row as usize])).sum();
        // Rows that all count for nothing have nothing to say.
        let share = if total > 0.0 { (1.0 / total) as f32 } else { 0.0 };
        for panel in rows.chunks(PANEL) {
            let adversarial = !self.adversarial_steps.is_empty();
            let panel = load_panel::<L>(job, pass, panel, if adversarial { 0.5 * share } else { share });
            for moved in [false, true] {
                if moved {
                    if !adversarial {
                        break;
                    }
                    pass.move_inputs::<L>(&self.adversarial_steps);
                }
                let share = job.course.dropout as f32;
                let dropout = (share > 0.0).then_some(Dropout { share, draws: &mut draws });
                pass.forward::<L>(job.network.activation, parameters, dropout);
                let (outputs, deltas) = pass.outputs_and_deltas();
                loss += evaluator.loss::<L>(outputs, &panel, deltas);
                pass.backward::<L>(parameters, gradient, adversarial && !moved);
            }
        }
        loss
    }
}

impl<L: Lanes> Trainer for CpuTrainer<'_, L> {
    #[inline(always)]
    fn step(&mut self, rows: &[u32], rate: f64) -> Option<f32> {
        let loss = self.differentiate(rows);
        let Self { job, parameters, gradient, .. } = self;
        if !(loss.is_finite() && adam::all_finite::<L>(gradient)) {
            return None;
        }
        self.adam.step::<L>(parameters, gradient, rate);
        let course = &job.course;
        if course.weight_decay > 0.0 {
            let shrink = (1.0 - rate * course.weight_decay).max(0.0) as f32;
            adam::decay_weights::<L>(parameters, &job.network.layers(), shrink);
            let stem = job.network.stem.iter().flat_map(Stem::tensors);
            stem.filter(|tensor| tensor.decays).for_each(|tensor| tensor.scale(parameters, shrink));
        }
        self.taken += 1;
        if !self.averaged.is_empty() {
            // Early on the average is over the steps so far: a decay that fits a long run would remember the start.
            let keep = course.averaging.min(f64::from(self.taken) / (f64::from(self.taken) + 10.0));
            adam::average::<L>(&mut self.averaged, parameters, keep as f32);
        }
        Some(loss)
    }

    #[inline(always)]
    fn validate(&mut self, rows: &[u32]) -> Option<Validation> {
        let calibrated = (self.job.course.select == Selection::Calibrated).then_some([0.0; SD_FACTORS.len()]);
        let mut sums = ScoreSums { calibrated, ..ScoreSums::default() };
        for panel in rows.chunks(PANEL) {
            let panel = load_panel::<L>(self.job, &mut self.pass, panel, 1.0);
            let parameters = if self.averaged.is_empty() { &self.parameters } else { &self.averaged };
            self.pass.forward::<L>(self.job.network.activation, parameters, None);
            self.evaluator.scores::<L>(self.pass.outputs(), &panel, &mut sums);
        }
        let total: f64 = rows.iter().map(|row| f64::from(self.job.data.sample_weights()[*row as usize])).sum();
        let (nll, crps) = (sums.nll / total, sums.crps / total);
        let least = |sums: [f64; SD_FACTORS.len()]| sums.into_iter().fold(f64::INFINITY, f64::min) / total;
        let calibrated = sums.calibrated.map(least);
        let sound = nll.is_finite() && crps.is_finite() && calibrated.is_none_or(f64::is_finite);
        sound.then_some(Validation { nll: Some(nll), crps: Some(crps), calibrated })
    }

    fn predicting_parameters(&self) -> &[Chunk] {
        if self.averaged.is_empty() { &self.parameters } else { &self.averaged }
    }
}

/// Loads at most a panel of rows into `pass`; gives their targets and sample weights, those times `share`. The first row
/// stands in for those that are missing, with weight zero.
#[inline(always)]
fn load_panel<L: Lanes>(job: &NetworkJob, pass: &mut Pass, rows: &[u32], share: f32) -> PanelRows {
    let mut padded = [rows[0]; PANEL];
    padded[..rows.len()].copy_from_slice(rows);
    pass.read::<L>(job.data.x(), job.data.stride(), &padded);
    let (mut y, mut sample_weights) = ([Chunk::ZERO; PANEL_CHUNKS], [Chunk::ZERO; PANEL_CHUNKS]);
    for (at, &row) in padded.iter().enumerate() {
        y[at / WIDTH].0[at % WIDTH] = job.data.y()[row as usize];
        sample_weights[at / WIDTH].0[at % WIDTH] =
            if at < rows.len() { share * job.data.sample_weights()[row as usize] } else { 0.0 };
    }
    PanelRows { y, sample_weights }
}
