//! Training steps of one network on one core.

use std::marker::PhantomData;

use crate::net::{Dropout, PANEL, PANEL_CHUNKS, Workspace};
use crate::threads;
use crate::train::evaluator::{Evaluator, PanelRows, ScoreSums};
use crate::train::optimiser::{self, Decay, OptimiserState};
use crate::train::plan::Trainer;
use crate::train::{NetworkJob, Optimiser, SD_FACTORS, Selection, Validation};
use negmm_dist::math::counter::{Counter, Draws};
use negmm_dist::math::lanes::{Chunk, Kernel, Lanes, WIDTH};
use negmm_dist::streams;

/// Rows that are differentiated one after the other, at least, and parts of a batch at most. Idle threads may take over parts; the
/// gradients of the parts are added in their order, so that bits do not depend on who did what.
const LEAST_IN_PART: usize = 2 * PANEL;
const MOST_PARTS: usize = 8;

/// Rows of each part of so many.
pub(in crate::train) fn part_of(batch: usize) -> usize {
    batch.div_ceil(MOST_PARTS).next_multiple_of(PANEL).max(LEAST_IN_PART)
}

/// Parts of a batch, each with a gradient of its own.
pub(in crate::train) fn parts(batch: usize) -> usize {
    batch.div_ceil(part_of(batch))
}

/// Parameters and everything that changes them, with one instruction set.
pub struct CpuTrainer<'a, L> {
    job: &'a NetworkJob,
    /// The weights and biases.
    pub parameters: Vec<Chunk>,
    /// The running average of the parameters; empty without averaging.
    averaged: Vec<Chunk>,
    parts: Vec<Part>,
    optimiser: OptimiserState,
    /// How far each input is moved in adversarial training; empty without it.
    adversarial_steps: Vec<f32>,
    dropout: Counter,
    /// For what an objective draws in each step.
    objective: Counter,
    /// Steps that were begun, and those that were taken.
    begun: u64,
    taken: u32,
    lanes: PhantomData<L>,
}

/// One part of the rows of a step: its gradient, and room for a panel.
pub(super) struct Part {
    pub(super) gradient: Vec<Chunk>,
    loss: f32,
    pass: Workspace,
    evaluator: Evaluator,
}

impl Part {
    fn new(job: &NetworkJob) -> Self {
        Self {
            gradient: vec![Chunk::ZERO; job.network.chunks()],
            loss: 0.0,
            pass: Workspace::new(&job.network),
            evaluator: Evaluator::new(&job.objective),
        }
    }
}

/// What the parts of a step share.
#[derive(Clone, Copy)]
struct Step<'a> {
    job: &'a NetworkJob,
    parameters: &'a [Chunk],
    adversarial_steps: &'a [f32],
    /// One over the weight of all rows.
    share: f32,
    /// What the objective draws for all rows.
    objective: Draws,
}

/// Differentiates one part of a step.
struct Differentiate<'a> {
    step: Step<'a>,
    part: &'a mut Part,
    rows: &'a [u32],
    dropout: Draws,
}

impl Kernel for Differentiate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { step, part, rows, dropout: mut draws } = self;
        let Step { job, parameters, adversarial_steps, share, mut objective } = step;
        let Part { gradient, loss, pass, evaluator } = part;
        evaluator.begin_step(&mut objective);
        gradient.fill(Chunk::ZERO);
        *loss = 0.0;
        for panel in rows.chunks(PANEL) {
            let adversarial = !adversarial_steps.is_empty();
            let panel = load_panel::<L>(job, pass, panel, if adversarial { 0.5 * share } else { share });
            for moved in [false, true] {
                if moved {
                    if !adversarial {
                        break;
                    }
                    pass.move_inputs::<L>(adversarial_steps);
                }
                let share = job.plan.dropout as f32;
                let dropout = (share > 0.0).then_some(Dropout { rate: share, draws: &mut draws });
                pass.forward::<L>(job.network.activation, parameters, dropout);
                let (outputs, deltas) = pass.outputs_and_deltas();
                *loss += evaluator.loss::<L>(outputs, &panel, deltas);
                pass.backward::<L>(parameters, gradient, adversarial && !moved);
            }
        }
    }
}

/// Sums the scores of rows.
struct Scored<'a> {
    job: &'a NetworkJob,
    parameters: &'a [Chunk],
    part: &'a mut Part,
    rows: &'a [u32],
    sums: ScoreSums,
}

impl Kernel for Scored<'_> {
    type Output = ScoreSums;

    #[inline(always)]
    fn run<L: Lanes>(self) -> ScoreSums {
        let Self { job, parameters, part: Part { pass, evaluator, .. }, rows, mut sums } = self;
        for panel in rows.chunks(PANEL) {
            let panel = load_panel::<L>(job, pass, panel, 1.0);
            pass.forward::<L>(job.network.activation, parameters, None);
            evaluator.scores::<L>(pass.outputs(), &panel, &mut sums);
        }
        sums
    }
}

impl<'a, L: Lanes> CpuTrainer<'a, L> {
    /// At the start of a job.
    pub fn new(job: &'a NetworkJob) -> Self {
        let parameters = job.initial_parameters();
        let plan = &job.plan;
        let averages = plan.ema_decay > 0.0 && plan.optimiser != Optimiser::ScheduleFree;
        let averaged = if averages { parameters.clone() } else { Vec::new() };
        Self {
            averaged,
            parts: (0..parts(plan.batch_size)).map(|_| Part::new(job)).collect(),
            optimiser: OptimiserState::new(job.plan.optimiser, &job.network, &parameters),
            adversarial_steps: job.adversarial_steps(),
            dropout: Counter::new(job.seed, streams::DROPOUT),
            objective: Counter::new(job.seed, streams::OBJECTIVE),
            begun: 0,
            taken: 0,
            job,
            parameters,
            lanes: PhantomData,
        }
    }

    /// The mean loss of `rows`; leaves its gradient in the first part.
    #[inline(always)]
    pub fn differentiate(&mut self, rows: &[u32]) -> f32 {
        let number = self.begun;
        self.begun += 1;
        let Self { job, parts, parameters, adversarial_steps, dropout, objective, .. } = self;
        let total: f64 = rows.iter().map(|row| f64::from(job.data.sample_weights()[*row as usize])).sum();
        // Rows that all count for nothing have nothing to say.
        let share = if total > 0.0 { (1.0 / total) as f32 } else { 0.0 };
        let step = Step { job, parameters, adversarial_steps, share, objective: objective.step(number) };
        let part = part_of(job.plan.batch_size);
        let used = rows.len().div_ceil(part);
        // Fewer only where somebody asks for more rows than a batch has.
        parts.resize_with(used.max(parts.len()), || Part::new(job));
        // No two parts of a training have the same draws.
        let first = number * self::parts(job.plan.batch_size) as u64;
        threads::for_each(&mut parts[..used], |at, room| {
            let rows = &rows[at * part..rows.len().min((at + 1) * part)];
            L::call(Differentiate { step, part: room, rows, dropout: dropout.step(first + at as u64) });
        });
        let (first, others) = parts[..used].split_at_mut(1);
        for other in others {
            first[0].loss += other.loss;
            add::<L>(&mut first[0].gradient, &other.gradient);
        }
        first[0].loss
    }

    /// The gradient of the last step.
    pub fn gradient(&self) -> &[Chunk] {
        &self.parts[0].gradient
    }
}

/// sum = sum + more
#[inline(always)]
fn add<L: Lanes>(sum: &mut [Chunk], more: &[Chunk]) {
    for (sum, more) in sum.iter_mut().zip(more) {
        (L::load(sum) + L::load(more)).store(sum);
    }
}

impl<L: Lanes> Trainer for CpuTrainer<'_, L> {
    #[inline(always)]
    fn step(&mut self, rows: &[u32], rate: f64) -> Option<f32> {
        let loss = self.differentiate(rows);
        let Self { job, parameters, parts, .. } = self;
        let gradient = &mut parts[0].gradient;
        if !(loss.is_finite() && optimiser::all_finite::<L>(gradient)) {
            return None;
        }
        let plan = &job.plan;
        let decay = Decay { network: &job.network, factor: (1.0 - rate * plan.weight_decay).max(0.0) as f32 };
        self.optimiser.step::<L>(parameters, gradient, rate, decay);
        self.taken += 1;
        if !self.averaged.is_empty() {
            // Early on the average is over the steps so far: a decay that fits a long run would remember the start.
            let keep = plan.ema_decay.min(f64::from(self.taken) / (f64::from(self.taken) + 10.0));
            optimiser::average::<L>(&mut self.averaged, parameters, keep as f32);
        }
        Some(loss)
    }

    fn validate(&mut self, rows: &[u32]) -> Option<Validation> {
        let calibrated = (self.job.plan.select == Selection::Calibrated).then_some([0.0; SD_FACTORS.len()]);
        let parameters = predicting(&self.parameters, &self.averaged, &self.optimiser);
        let sums = ScoreSums { calibrated, ..ScoreSums::default() };
        let sums = L::call(Scored { job: self.job, parameters, part: &mut self.parts[0], rows, sums });
        let data = &self.job.data;
        let weight = |row: &u32| f64::from(data.sample_weights()[*row as usize]);
        let total: f64 = rows.iter().map(weight).sum();
        let uncensored: f64 = rows.iter().filter(|row| !data.is_censored(**row as usize)).map(weight).sum();
        let nll = sums.nll / total;
        // Rows that are all censored have no energy score.
        let crps = (uncensored > 0.0).then(|| sums.crps / uncensored);
        let least = |sums: [f64; SD_FACTORS.len()]| sums.into_iter().fold(f64::INFINITY, f64::min) / total;
        let calibrated = sums.calibrated.map(least);
        let sound = nll.is_finite() && crps.is_none_or(f64::is_finite) && calibrated.is_none_or(f64::is_finite);
        sound.then_some(Validation { nll: Some(nll), crps, calibrated })
    }

    fn predicting_parameters(&self) -> &[Chunk] {
        predicting(&self.parameters, &self.averaged, &self.optimiser)
    }
}

/// The parameters that predict: an average of the optimiser's own, else the running one, else the last.
fn predicting<'a>(parameters: &'a [Chunk], averaged: &'a [Chunk], optimiser: &'a OptimiserState) -> &'a [Chunk] {
    optimiser.average().unwrap_or(if averaged.is_empty() { parameters } else { averaged })
}

/// Loads at most a panel of rows into `pass`; gives what is known of their targets, and sample weights times `share`. The first row
/// stands in for those that are missing, with weight zero.
#[inline(always)]
fn load_panel<L: Lanes>(job: &NetworkJob, pass: &mut Workspace, rows: &[u32], share: f32) -> PanelRows {
    let mut padded = [rows[0]; PANEL];
    padded[..rows.len()].copy_from_slice(rows);
    pass.read::<L>(job.data.x(), job.data.stride(), &padded);
    let (mut y, mut sample_weights) = ([Chunk::ZERO; PANEL_CHUNKS], [Chunk::ZERO; PANEL_CHUNKS]);
    for (at, &row) in padded.iter().enumerate() {
        y[at / WIDTH].0[at % WIDTH] = job.data.y()[row as usize];
        sample_weights[at / WIDTH].0[at % WIDTH] =
            if at < rows.len() { share * job.data.sample_weights()[row as usize] } else { 0.0 };
    }
    let ends = job.data.intervals().map(|intervals| {
        [intervals.lower(), intervals.upper()].map(|list| {
            let mut ends = [Chunk::ZERO; PANEL_CHUNKS];
            for (at, &row) in padded.iter().enumerate() {
                ends[at / WIDTH].0[at % WIDTH] = list[row as usize];
            }
            ends
        })
    });
    PanelRows { y, sample_weights, ends }
}
