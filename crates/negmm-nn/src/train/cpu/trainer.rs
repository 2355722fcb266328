//! Training steps of one network on one core.

use std::marker::PhantomData;

use crate::net::{Dropout, PANEL, PANEL_CHUNKS, Stem, Workspace};
use crate::threads;
use crate::train::evaluator::{Evaluator, PanelRows, ScoreSums};
use crate::train::optimiser::{self, Decay, OptimiserState};
use crate::train::plan::Trainer;
use crate::train::{NetworkJob, Optimiser, SD_FACTORS, Selection, Validation};
use negmm_dist::math::counter::{Counter, Draws};
use negmm_dist::math::lanes::{Chunk, Kernel, Lanes, WIDTH};
use negmm_dist::streams;

/// Smallest number of rows of a part of a batch, and largest number of parts. Idle threads may take over parts; the gradients of the
/// parts are added in order, so that bits do not depend on the threads.
const MIN_IN_PART: usize = 2 * PANEL;
const MAX_PARTS: usize = 8;

/// The number of rows of each part of a batch.
pub(in crate::train) fn part_of(batch: usize) -> usize {
    batch.div_ceil(MAX_PARTS).next_multiple_of(PANEL).max(MIN_IN_PART)
}

/// The number of parts of a batch, each with its own gradient.
pub(in crate::train) fn parts(batch: usize) -> usize {
    batch.div_ceil(part_of(batch))
}

/// The training state of one network, for one instruction set.
pub struct CpuTrainer<'a, L> {
    job: &'a NetworkJob,
    /// The weights and biases.
    pub parameters: Vec<Chunk>,
    /// The exponential moving average of the parameters; empty without averaging.
    averaged: Vec<Chunk>,
    parts: Vec<BatchPart>,
    optimiser: OptimiserState,
    /// The perturbation of each input in adversarial training; empty without it.
    adversarial_steps: Vec<f32>,
    dropout: Counter,
    /// The random numbers of the objective, by step.
    objective: Counter,
    /// Steps so far, skipped ones included, and steps taken.
    begun: u64,
    taken: u32,
    lanes: PhantomData<L>,
}

/// One part of the rows of a step: its gradient, and buffers for a panel.
pub(super) struct BatchPart {
    pub(super) gradient: Vec<Chunk>,
    loss: f32,
    panel: PanelBuffers,
}

/// Buffers for a panel: of the network, of the objective, and for rows that are read from disk.
struct PanelBuffers {
    workspace: Workspace,
    evaluator: Evaluator,
    x: Vec<f32>,
}

impl BatchPart {
    fn new(job: &NetworkJob) -> Self {
        Self {
            gradient: vec![Chunk::ZERO; job.network.chunks()],
            loss: 0.0,
            panel: PanelBuffers {
                workspace: Workspace::new(&job.network),
                evaluator: Evaluator::new(&job.objective),
                x: Vec::new(),
            },
        }
    }
}

/// The inputs of a step that are common to its parts.
#[derive(Clone, Copy)]
struct StepContext<'a> {
    job: &'a NetworkJob,
    parameters: &'a [Chunk],
    adversarial_steps: &'a [f32],
    /// 1 / total weight of the rows.
    inverse_weight: f32,
    /// The random numbers of the objective.
    objective: Draws,
}

/// Differentiates one part of a step.
struct Differentiate<'a> {
    step: StepContext<'a>,
    part: &'a mut BatchPart,
    rows: &'a [u32],
    dropout: Draws,
}

impl Kernel for Differentiate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { step, part, rows, dropout: mut draws } = self;
        let StepContext { job, parameters, adversarial_steps, inverse_weight, mut objective } = step;
        let BatchPart { gradient, loss, panel: buffers } = part;
        buffers.evaluator.begin_step(&mut objective);
        // The first pass sets what the layers have.
        gradient[..job.network.stem.as_ref().map_or(0, Stem::chunks)].fill(Chunk::ZERO);
        *loss = 0.0;
        let mut first = true;
        for panel in rows.chunks(PANEL) {
            let adversarial = !adversarial_steps.is_empty();
            let factor = if adversarial { 0.5 * inverse_weight } else { inverse_weight };
            let panel = load_panel::<L>(job, buffers, panel, factor);
            let PanelBuffers { workspace, evaluator, .. } = buffers;
            for moved in [false, true] {
                if moved {
                    if !adversarial {
                        break;
                    }
                    workspace.move_inputs::<L>(adversarial_steps);
                }
                let rate = job.plan.dropout as f32;
                let dropout = (rate > 0.0).then_some(Dropout { rate, draws: &mut draws });
                workspace.forward::<L>(job.network.activation, parameters, dropout);
                let (outputs, deltas) = workspace.outputs_and_deltas();
                *loss += evaluator.loss::<L>(outputs, &panel, deltas);
                workspace.backward::<L>(parameters, gradient, first, adversarial && !moved);
                first = false;
            }
        }
    }
}

/// Sums the scores of rows.
struct ScoreRows<'a> {
    job: &'a NetworkJob,
    parameters: &'a [Chunk],
    part: &'a mut BatchPart,
    rows: &'a [u32],
    sums: ScoreSums,
}

impl Kernel for ScoreRows<'_> {
    type Output = ScoreSums;

    #[inline(always)]
    fn run<L: Lanes>(self) -> ScoreSums {
        let Self { job, parameters, part: BatchPart { panel: buffers, .. }, rows, mut sums } = self;
        for panel in rows.chunks(PANEL) {
            let panel = load_panel::<L>(job, buffers, panel, 1.0);
            let PanelBuffers { workspace, evaluator, .. } = buffers;
            workspace.predict::<L>(job.network.activation, parameters);
            evaluator.scores::<L>(workspace.outputs(), &panel, &mut sums);
        }
        sums
    }
}

impl<'a, L: Lanes> CpuTrainer<'a, L> {
    /// The initial state of a job.
    pub fn new(job: &'a NetworkJob) -> Self {
        let parameters = job.initial_parameters();
        let plan = &job.plan;
        let averages = plan.ema_decay > 0.0 && plan.optimiser != Optimiser::ScheduleFree;
        let averaged = if averages { parameters.clone() } else { Vec::new() };
        Self {
            averaged,
            parts: (0..parts(plan.batch_size)).map(|_| BatchPart::new(job)).collect(),
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

    /// The mean loss of `rows`; its gradient is in the first part afterwards.
    #[inline(always)]
    pub fn differentiate(&mut self, rows: &[u32]) -> f32 {
        let number = self.begun;
        self.begun += 1;
        let Self { job, parts, parameters, adversarial_steps, dropout, objective, .. } = self;
        let total: f64 = rows.iter().map(|row| f64::from(job.data.sample_weights()[*row as usize])).sum();
        // If all weights are 0, so is the loss.
        let inverse_weight = if total > 0.0 { (1.0 / total) as f32 } else { 0.0 };
        let step =
            StepContext { job, parameters, adversarial_steps, inverse_weight, objective: objective.step(number) };
        let part = part_of(job.plan.batch_size);
        let used = rows.len().div_ceil(part);
        // More parts than usual only if there are more rows than in a batch.
        parts.resize_with(used.max(parts.len()), || BatchPart::new(job));
        // Each part of each step has its own draws.
        let first = number * self::parts(job.plan.batch_size) as u64;
        threads::for_each(&mut parts[..used], |at, buffers| {
            let rows = &rows[at * part..rows.len().min((at + 1) * part)];
            L::call(Differentiate { step, part: buffers, rows, dropout: dropout.step(first + at as u64) });
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
            // Warm-up of the average: with the full decay the initial parameters would have a large weight for many steps.
            let keep = plan.ema_decay.min(f64::from(self.taken) / (f64::from(self.taken) + 10.0));
            optimiser::average::<L>(&mut self.averaged, parameters, keep as f32);
        }
        Some(loss)
    }

    fn validate(&mut self, rows: &[u32]) -> Option<Validation> {
        let calibrated = (self.job.plan.select == Selection::Calibrated).then_some([0.0; SD_FACTORS.len()]);
        let parameters = predicting(&self.parameters, &self.averaged, &self.optimiser);
        let sums = ScoreSums { calibrated, ..ScoreSums::default() };
        let sums = L::call(ScoreRows { job: self.job, parameters, part: &mut self.parts[0], rows, sums });
        let data = &self.job.data;
        let weight = |row: &u32| f64::from(data.sample_weights()[*row as usize]);
        let total: f64 = rows.iter().map(weight).sum();
        let uncensored: f64 = rows.iter().filter(|row| !data.is_censored(**row as usize)).map(weight).sum();
        let nll = sums.nll / total;
        // There is no energy score if all rows are censored.
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

/// The parameters for prediction: the optimiser's own average, else the moving average, else the last parameters.
fn predicting<'a>(parameters: &'a [Chunk], averaged: &'a [Chunk], optimiser: &'a OptimiserState) -> &'a [Chunk] {
    optimiser.average().unwrap_or(if averaged.is_empty() { parameters } else { averaged })
}

/// The rows of a panel that were read from disk.
const IN_ORDER: [u32; PANEL] = {
    let mut rows = [0; PANEL];
    let mut row = 0;
    while row < PANEL {
        rows[row] = row as u32;
        row += 1;
    }
    rows
};

/// Loads up to a panel of rows into the workspace; returns their targets, and their sample weights times `factor`. Missing rows are
/// filled with the first row, with weight zero.
#[inline(always)]
fn load_panel<L: Lanes>(
    job: &NetworkJob,
    PanelBuffers { workspace, evaluator, x }: &mut PanelBuffers,
    rows: &[u32],
    factor: f32,
) -> PanelRows {
    let mut padded = [rows[0]; PANEL];
    padded[..rows.len()].copy_from_slice(rows);
    let (x, of_panel) = job.data.gathered(&padded, x, &IN_ORDER);
    workspace.read::<L>(x, job.data.stride(), of_panel);
    evaluator.read(&job.data, &padded);
    let (mut y, mut sample_weights) = ([Chunk::ZERO; PANEL_CHUNKS], [Chunk::ZERO; PANEL_CHUNKS]);
    for (at, &row) in padded.iter().enumerate() {
        y[at / WIDTH].0[at % WIDTH] = job.data.y()[row as usize];
        sample_weights[at / WIDTH].0[at % WIDTH] =
            if at < rows.len() { factor * job.data.sample_weights()[row as usize] } else { 0.0 };
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
