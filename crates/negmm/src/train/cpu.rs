//! Responsible for training on processors: one job a thread, never threads inside a network.

use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::adam::{self, Adam};
use super::objective::{ScoreSums, Workspace};
use super::stopping::Stopping;
use super::{Engine, Epoch, History, Job, Progress, SD_FACTORS, Selection, Trained, Validation, Watch};
use crate::math::lanes::{Chunk, Isa, Kernel, Lanes, WIDTH};
use crate::math::rng::Rng;
use crate::net::{Dropout, PANEL, PANEL_CHUNKS, Pass, Stem};
use crate::{Error, Result};

/// Streams of a job's seed.
const WEIGHTS_STREAM: u64 = 0;
const ORDER_STREAM: u64 = 1;
const DROPOUT_STREAM: u64 = 2;
/// 3 chooses the validation rows.
const OBJECTIVE_STREAM: u64 = 4;

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
        if job.network.stem.is_some() && job.training.adversarial > 0.0 {
            return Err(Error::options(
                "adversarial training is not there for sequences or embeddings: leave adversarial at 0",
            ));
        }
        if job.train.is_empty() {
            return Err(Error::data("there is no row to train on"));
        }
        let training = &job.training;
        let mut batches = Batches::new(job);
        let mut trainer = Trainer::new(job);
        let mut stopping = Stopping::new(training.patience);
        let mut history = History::default();
        let mut kept = trainer.predicting_weights().to_vec();
        let mut snapshots = Vec::new();
        let a_pass = batches.a_pass();
        let steps = training.steps.unwrap_or(training.epochs * a_pass);
        let period = training.check_every.unwrap_or(a_pass).min(steps);
        let periods = steps.div_ceil(period);
        for number in 0..periods {
            let (mut losses, mut taken, mut skipped, mut rate) = (0.0, 0, 0, 0.0);
            for step in number * period..steps.min((number + 1) * period) {
                if watch.cancel.load(Ordering::Relaxed) {
                    return Err(Error::cancelled());
                }
                rate = training.learning_rate * training.schedule.factor(step, steps);
                match trainer.step::<L>(batches.next(), rate) {
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
                stopping.improves(number, -(number as f64))
            } else {
                validation.is_some_and(|scores| stopping.improves(number, training.select.score(&scores)))
            };
            if better {
                kept.copy_from_slice(trainer.predicting_weights());
            }
            if training.snapshots > 0 && (number + 1) % training.snapshots == 0 {
                snapshots.push(trainer.predicting_weights().to_vec());
            }
            let last = number + 1 == periods || stopping.exhausted(number);
            let best = history.epochs[stopping.best_epoch()].validation.map(|scores| training.select.score(&scores));
            (watch.progress)(&Progress { job: index, jobs, epoch: number + 1, epochs: periods, best, last });
            if last {
                break;
            }
        }
        history.best_epoch = stopping.best_epoch();
        Ok(Trained { weights: kept, history, snapshots })
    }
}

/// The training rows in random order, batch after batch, in another order at each pass.
struct Batches {
    order: Vec<u32>,
    rng: Rng,
    batch: usize,
    /// Rows of this pass that were given.
    given: usize,
    /// Whether rows that do not fill a batch wait for the next pass.
    whole: bool,
}

impl Batches {
    fn new(job: &Job<'_>) -> Self {
        let order = job.train.clone();
        let batch = job.training.batch.min(order.len());
        let whole = job.training.steps.is_some();
        Self { given: order.len(), order, rng: Rng::new(job.seed, ORDER_STREAM), batch, whole }
    }

    /// Batches of a pass.
    fn a_pass(&self) -> usize {
        if self.whole { self.order.len() / self.batch } else { self.order.len().div_ceil(self.batch) }
    }

    fn next(&mut self) -> &[u32] {
        let left = self.order.len() - self.given;
        if left == 0 || (self.whole && left < self.batch) {
            self.rng.shuffle(&mut self.order);
            self.given = 0;
        }
        let batch = self.given..self.order.len().min(self.given + self.batch);
        self.given = batch.end;
        &self.order[batch]
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
    /// For what an objective draws in each step.
    objective_rng: Rng,
    /// How far each input is moved in adversarial training; empty without it.
    adversarial_steps: Vec<f32>,
    steps: u32,
}

impl<'a> Trainer<'a> {
    fn new(job: &'a Job<'a>) -> Self {
        let weights = job.objective.initial_weights(&job.network, &mut Rng::new(job.seed, WEIGHTS_STREAM));
        let averaged = if job.training.averaging > 0.0 { weights.clone() } else { Vec::new() };
        Self {
            averaged,
            gradient: vec![Chunk::ZERO; weights.len()],
            adam: Adam::new(weights.len()),
            pass: Pass::new(&job.network),
            workspace: job.objective.workspace(),
            dropout_rng: Rng::new(job.seed, DROPOUT_STREAM),
            objective_rng: Rng::new(job.seed, OBJECTIVE_STREAM),
            adversarial_steps: adversarial_steps(job),
            steps: 0,
            job,
            weights,
        }
    }

    fn predicting_weights(&self) -> &[Chunk] {
        if self.averaged.is_empty() { &self.weights } else { &self.averaged }
    }

    /// The mean loss of `rows`; leaves its gradient in `self.gradient`.
    #[inline(always)]
    fn differentiate<L: Lanes>(&mut self, rows: &[u32]) -> f32 {
        self.job.objective.begin_step(&mut self.objective_rng, &mut self.workspace);
        let Self { job, pass, weights, gradient, .. } = self;
        gradient.fill(Chunk::ZERO);
        let mut loss = 0.0;
        let total: f64 = rows.iter().map(|row| f64::from(job.data.weights()[*row as usize])).sum();
        // Rows that all count for nothing have nothing to say.
        let share = if total > 0.0 { (1.0 / total) as f32 } else { 0.0 };
        for panel in rows.chunks(PANEL) {
            let adversarial = !self.adversarial_steps.is_empty();
            let (y, row_weights) = bring_in::<L>(job, pass, panel, if adversarial { 0.5 * share } else { share });
            for moved in [false, true] {
                if moved {
                    if !adversarial {
                        break;
                    }
                    pass.move_inputs::<L>(&self.adversarial_steps);
                }
                let share = job.training.dropout as f32;
                let dropout = (share > 0.0).then_some(Dropout { share, rng: &mut self.dropout_rng });
                pass.forward::<L>(job.network.activation, weights, dropout);
                let (outputs, deltas) = pass.outputs_and_deltas();
                loss += job.objective.loss::<L>(outputs, &y, &row_weights, deltas, &mut self.workspace);
                pass.backward::<L>(weights, gradient, adversarial && !moved);
            }
        }
        loss
    }

    /// One step on `rows`. Gives their mean loss, or nothing if it or a gradient is not finite: then nothing has changed.
    #[inline(always)]
    fn step<L: Lanes>(&mut self, rows: &[u32], rate: f64) -> Option<f32> {
        let loss = self.differentiate::<L>(rows);
        let Self { job, weights, gradient, .. } = self;
        if !(loss.is_finite() && adam::all_finite::<L>(gradient)) {
            return None;
        }
        self.adam.step::<L>(weights, gradient, rate);
        let training = &job.training;
        if training.weight_decay > 0.0 {
            let shrink = (1.0 - rate * training.weight_decay).max(0.0) as f32;
            adam::decay_weights::<L>(weights, &job.network.layers(), shrink);
            let stem = job.network.stem.iter().flat_map(Stem::tensors);
            stem.filter(|tensor| tensor.decays).for_each(|tensor| tensor.scale(weights, shrink));
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
        let calibrated = (self.job.training.select == Selection::Calibrated).then_some([0.0; SD_FACTORS.len()]);
        let mut sums = ScoreSums { calibrated, ..ScoreSums::default() };
        for panel in rows.chunks(PANEL) {
            let (y, row_weights) = bring_in::<L>(self.job, &mut self.pass, panel, 1.0);
            let weights = if self.averaged.is_empty() { &self.weights } else { &self.averaged };
            self.pass.forward::<L>(self.job.network.activation, weights, None);
            let outputs = self.pass.outputs();
            self.job.objective.scores::<L>(outputs, &y, &row_weights, &mut self.workspace, &mut sums);
        }
        let total: f64 = rows.iter().map(|row| f64::from(self.job.data.weights()[*row as usize])).sum();
        let (nll, crps) = (sums.nll / total, sums.crps / total);
        let least = |sums: [f64; SD_FACTORS.len()]| sums.into_iter().fold(f64::INFINITY, f64::min) / total;
        let calibrated = sums.calibrated.map(least);
        let sound = nll.is_finite() && crps.is_finite() && calibrated.is_none_or(f64::is_finite);
        sound.then_some(Validation { nll: Some(nll), crps: Some(crps), calibrated })
    }
}

/// The option's share of each input's range over the training rows; nothing without adversarial training.
fn adversarial_steps(job: &Job<'_>) -> Vec<f32> {
    let (data, share) = (job.data, job.training.adversarial as f32);
    if share == 0.0 {
        return Vec::new();
    }
    let range = |input: usize| {
        let values = job.train.iter().map(|row| data.x()[*row as usize * data.stride() + input]);
        let (low, high) = values.fold((f32::MAX, f32::MIN), |(low, high), x| (low.min(x), high.max(x)));
        share * (high - low)
    };
    (0..data.features()).map(range).collect()
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

#[cfg(test)]
mod stem_tests;

#[cfg(test)]
mod tests {
    //! The gradient of a batch with respect to every weight and bias, against central differences of a network written in
    //! plain f64 loops.

    use super::*;
    use crate::data::Dataset;
    use crate::math::lanes::floats;
    use crate::mixture::Mixture;
    use crate::net::{Activation, MixtureHead, Network, SampleHead};
    use crate::score::sinkhorn::{self, Prior, Sinkhorn, SinkhornScratch};
    use crate::score::{hybrid, sample_energy};
    use crate::train::{Objective, Training};

    /// The loss and gradient of a step on `rows`, without the step.
    pub(super) struct Differentiate<'a> {
        pub(super) job: &'a Job<'a>,
        pub(super) weights: &'a [Chunk],
        pub(super) rows: &'a [u32],
    }

    impl Kernel for Differentiate<'_> {
        type Output = (f32, Vec<Chunk>);

        #[inline(always)]
        fn run<L: Lanes>(self) -> Self::Output {
            let mut trainer = Trainer::new(self.job);
            trainer.weights.copy_from_slice(self.weights);
            // A gradient is that of its own rows: what an earlier batch left behind must not matter.
            trainer.differentiate::<L>(&self.job.train);
            (trainer.differentiate::<L>(self.rows), trainer.gradient)
        }
    }

    /// The reference network: a layer is outputs × (inputs + 1), the bias last.
    struct Reference {
        layers: Vec<Vec<Vec<f64>>>,
        activation: Activation,
    }

    impl Reference {
        fn new(job: &Job<'_>, weights: &[Chunk]) -> Self {
            let row = |layer: &crate::net::Layer, output: usize| {
                let start = (layer.start + output * layer.stride) * WIDTH;
                floats(weights)[start..=start + layer.inputs].iter().map(|w| f64::from(*w)).collect()
            };
            let layers = job.network.layers();
            Self {
                layers: layers.iter().map(|layer| (0..layer.outputs).map(|at| row(layer, at)).collect()).collect(),
                activation: job.network.activation,
            }
        }

        fn outputs(&self, x: &[f64]) -> Vec<f64> {
            let mut values = x.to_vec();
            for (index, layer) in self.layers.iter().enumerate() {
                values.push(1.0);
                let last = index + 1 == self.layers.len();
                let unit = |weights: &Vec<f64>| {
                    let z: f64 = weights.iter().zip(&values).map(|(w, x)| w * x).sum();
                    match self.activation {
                        _ if last => z,
                        Activation::Relu => z.max(0.0),
                        Activation::Tanh => libm::tanh(z),
                        Activation::Silu => z / (1.0 + libm::exp(-z)),
                    }
                };
                values = layer.iter().map(unit).collect();
            }
            values
        }

        /// The mean over rows of a loss of (place among `rows`, outputs, target).
        fn loss(&self, data: &Dataset, rows: &[u32], loss: &RowLoss<'_>) -> f64 {
            let of_row = |(place, &row): (usize, &u32)| {
                let x = &data.x()[row as usize * data.stride()..][..data.features()];
                let outputs = self.outputs(&x.iter().map(|x| f64::from(*x)).collect::<Vec<_>>());
                loss(place, &outputs, f64::from(data.y()[row as usize]))
            };
            rows.iter().enumerate().map(of_row).sum::<f64>() / rows.len() as f64
        }

        /// Central difference with respect to one number.
        fn difference(
            &mut self,
            (layer, output, input): (usize, usize, usize),
            data: &Dataset,
            rows: &[u32],
            (loss, step): (&RowLoss<'_>, f64),
        ) -> f64 {
            let weight = self.layers[layer][output][input];
            let mut at = |step: f64| {
                self.layers[layer][output][input] = weight + step;
                self.loss(data, rows, loss)
            };
            let difference = (at(step) - at(-step)) / (2.0 * step);
            self.layers[layer][output][input] = weight;
            difference
        }
    }

    /// Of (place among the rows, outputs, target).
    type RowLoss<'a> = dyn Fn(usize, &[f64], f64) -> f64 + 'a;

    /// The hybrid loss of the mixture that raw outputs mean.
    fn hybrid_loss(head: MixtureHead, eta: f32) -> impl Fn(usize, &[f64], f64) -> f64 {
        move |_, outputs, y| {
            let k = head.components;
            let sum: f64 = outputs[..k].iter().map(|logit| libm::exp(*logit)).sum();
            let weights: Vec<f64> = outputs[..k].iter().map(|logit| libm::exp(*logit) / sum).collect();
            let sd = |raw: &f64| f64::from(head.sd_floor) + libm::log1p(libm::exp(*raw));
            let sds: Vec<f64> = outputs[2 * k..].iter().map(sd).collect();
            let mixture = Mixture { weights: &weights, means: &outputs[k..2 * k], sds: &sds };
            hybrid::value(mixture, y, f64::from(eta))
        }
    }

    fn data(features: usize, rows: usize) -> Dataset {
        let mut rng = Rng::new(5, features as u64);
        let mut data = Dataset::new(features);
        for _ in 0..rows {
            let x: Vec<f32> = (0..features).map(|_| 4.0 * rng.uniform() as f32 - 2.0).collect();
            data.push(&x, 3.0 * rng.uniform() as f32 - 1.5);
        }
        data
    }

    fn assert_gradient(inputs: usize, hidden: &[usize], activation: Activation, eta: f32, rows: usize) {
        let case = format!("{inputs} inputs, hidden {hidden:?}, {activation:?}, eta {eta}, {rows} rows");
        let data = data(inputs, 100);
        let head = MixtureHead { components: 3, sd_floor: 1e-3, sd_ceiling: None, mean_bound: None };
        let network = Network { inputs, stem: None, hidden: hidden.to_vec(), activation, outputs: head.outputs() };
        let job = Job {
            network,
            objective: Objective::hybrid(head, eta),
            data: &data,
            train: (0..100).collect(),
            validation: vec![],
            training: Training::default(),
            seed: 9,
        };
        let weights = job.network.initial_weights(&mut Rng::new(21, 0));
        // Not the first rows, not in order.
        let rows: Vec<u32> = (0..rows as u32).map(|row| (row * 37 + 11) % 100).collect();
        let (loss, gradient) = Isa::best().run(Differentiate { job: &job, weights: &weights, rows: &rows });
        for isa in Isa::ALL {
            let other = isa.run(Differentiate { job: &job, weights: &weights, rows: &rows });
            assert_eq!((loss, &gradient), (other.0, &other.1), "{case}, {isa:?}");
        }
        let mut reference = Reference::new(&job, &weights);
        let row_loss = hybrid_loss(head, eta);
        let expected = reference.loss(&data, &rows, &row_loss);
        assert!((f64::from(loss) - expected).abs() < 2e-6 * (1.0 + expected.abs()), "{case}: {loss} {expected}");
        assert_differences(&case, (&job, &rows), &gradient, &mut reference, (&row_loss, 1e-5));
    }

    /// Compares a gradient with central differences, number by number.
    fn assert_differences(
        case: &str,
        (job, rows): (&Job<'_>, &[u32]),
        gradient: &[Chunk],
        reference: &mut Reference,
        loss: (&RowLoss<'_>, f64),
    ) {
        let scale = floats(gradient).iter().fold(0.0_f64, |scale, g| scale.max(f64::from(g.abs())));
        assert!(scale > 1e-2, "{case}: {scale}");
        for (number, layer) in job.network.layers().into_iter().enumerate() {
            for output in 0..layer.outputs {
                let row = &floats(gradient)[(layer.start + output * layer.stride) * WIDTH..][..layer.stride * WIDTH];
                for (input, found) in row.iter().enumerate().map(|(input, g)| (input, f64::from(*g))) {
                    if input > layer.inputs {
                        assert_eq!(found, 0.0, "{case}: padding");
                        continue;
                    }
                    let expected = reference.difference((number, output, input), job.data, rows, loss);
                    assert!(
                        (found - expected).abs() < 2e-6 * (scale + expected.abs()),
                        "{case}: layer {number}, output {output}, input {input}: {found} {expected}"
                    );
                }
            }
        }
    }

    /// Samples scaled to their range, as the regulariser with the uniform prior sees them.
    fn scaled(samples: &[f64]) -> Vec<f64> {
        let low = samples.iter().copied().fold(f64::INFINITY, f64::min);
        let high = samples.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        samples.iter().map(|sample| (sample - 0.5 * (low + high)) / (high - low)).collect()
    }

    fn assert_sample_gradient(inputs: usize, hidden: &[usize], samples: usize, weight: f32, rows: usize) {
        let case = format!("{inputs} inputs, hidden {hidden:?}, {samples} samples, sinkhorn {weight}, {rows} rows");
        let data = data(inputs, 100);
        let head = SampleHead { samples, sd_floor: 1e-3 };
        let sinkhorn = (weight > 0.0).then_some(Sinkhorn { prior: Prior::Uniform, weight });
        let job = Job {
            network: Network {
                inputs,
                stem: None,
                hidden: hidden.to_vec(),
                activation: Activation::Tanh,
                outputs: samples,
            },
            objective: Objective::Samples { head, sinkhorn },
            data: &data,
            train: (0..100).collect(),
            validation: vec![],
            training: Training::default(),
            seed: 9,
        };
        let weights = job.network.initial_weights(&mut Rng::new(21, 0));
        let rows: Vec<u32> = (0..rows as u32).map(|row| (row * 37 + 11) % 100).collect();
        let (loss, gradient) = Isa::best().run(Differentiate { job: &job, weights: &weights, rows: &rows });
        for isa in Isa::ALL {
            let other = isa.run(Differentiate { job: &job, weights: &weights, rows: &rows });
            assert_eq!((loss, &gradient), (other.0, &other.1), "{case}, {isa:?}");
        }
        // The draws of the second step: Differentiate takes two.
        let mut draws = vec![0.0; samples];
        if let Some(sinkhorn) = sinkhorn {
            let (mut rng, mut scratch) = (Rng::new(job.seed, OBJECTIVE_STREAM), SinkhornScratch::new(samples));
            sinkhorn.draw(&mut rng, &mut scratch);
            sinkhorn.draw(&mut rng, &mut scratch);
            draws.iter_mut().zip(scratch.draws()).for_each(|(kept, draw)| *kept = f64::from(draw));
        }
        let weight = f64::from(weight);
        let mut reference = Reference::new(&job, &weights);
        let whole = |_: usize, outputs: &[f64], y: f64| {
            let shape = if weight > 0.0 { sinkhorn::value(&scaled(outputs), &draws) } else { 0.0 };
            sample_energy::value(outputs, y) + weight * shape
        };
        let expected = reference.loss(&data, &rows, &whole);
        assert!((f64::from(loss) - expected).abs() < 5e-6 * (1.0 + expected.abs()), "{case}: {loss} {expected}");
        // The regulariser's gradient holds its potentials fixed: what it differentiates is this, linear in the scaled samples.
        let pulls = std::cell::RefCell::new(vec![Vec::new(); rows.len()]);
        let remember = |place: usize, outputs: &[f64], _: f64| {
            pulls.borrow_mut()[place] = sinkhorn::gradient(&scaled(outputs), &draws);
            0.0
        };
        reference.loss(&data, &rows, &remember);
        let fixed = |place: usize, outputs: &[f64], y: f64| {
            let pulled: f64 = scaled(outputs).iter().zip(&pulls.borrow()[place]).map(|(u, pull)| u * pull).sum();
            sample_energy::value(outputs, y) + weight * pulled
        };
        // Small, so that no two samples change places on the way.
        assert_differences(&case, (&job, &rows), &gradient, &mut reference, (&fixed, 1e-7));
    }

    #[test]
    fn gradient_of_samples() {
        for (hidden, samples, rows) in [(&[][..], 2, 1), (&[7], 5, 32), (&[17, 5], 16, 40), (&[5], 33, 75)] {
            assert_sample_gradient(4, hidden, samples, 0.0, rows);
        }
        assert_sample_gradient(0, &[], 6, 0.0, 20);
    }

    #[test]
    fn gradient_of_samples_drawn_towards_a_prior() {
        for (hidden, samples, rows) in [(&[][..], 3, 1), (&[7], 6, 32), (&[6, 5], 17, 40)] {
            assert_sample_gradient(4, hidden, samples, 0.5, rows);
        }
    }

    const ACTIVATIONS: [Activation; 3] = [Activation::Relu, Activation::Tanh, Activation::Silu];

    #[test]
    fn gradient_of_every_depth_and_activation() {
        for activation in ACTIVATIONS {
            for hidden in [&[][..], &[7], &[17, 5], &[5, 19, 3]] {
                for inputs in [1, 20] {
                    assert_gradient(inputs, hidden, activation, 0.5, 32);
                }
            }
        }
    }

    #[test]
    fn gradient_of_any_number_of_rows() {
        for rows in [1, 2, 16, 17, 31, 33, 64, 75] {
            assert_gradient(4, &[6], Activation::Tanh, 0.3, rows);
        }
    }

    #[test]
    fn gradient_of_each_score_alone() {
        for eta in [0.0, 1.0] {
            assert_gradient(3, &[9], Activation::Silu, eta, 40);
        }
    }

    #[test]
    fn gradient_without_inputs_and_at_full_widths() {
        assert_gradient(0, &[], Activation::Relu, 0.5, 20);
        assert_gradient(0, &[4], Activation::Silu, 0.5, 20);
        // The constant one then opens a chunk of its own.
        assert_gradient(16, &[16, 15], Activation::Tanh, 0.5, 20);
    }
    #[test]
    fn gradient_goes_through_the_units_that_dropout_left() {
        let data = data(3, 40);
        let head = MixtureHead { components: 2, sd_floor: 1e-3, sd_ceiling: None, mean_bound: None };
        let job = Job {
            network: Network {
                inputs: 3,
                stem: None,
                hidden: vec![6, 5],
                activation: Activation::Tanh,
                outputs: head.outputs(),
            },
            objective: Objective::hybrid(head, 0.5),
            data: &data,
            train: (0..40).collect(),
            validation: vec![],
            training: Training { dropout: 0.5, ..Training::default() },
            seed: 2,
        };
        let weights = job.network.initial_weights(&mut Rng::new(4, 0));
        // Each call begins the same random stream: the same units are left.
        let at = |weights: &[Chunk]| Isa::best().run(Differentiate { job: &job, weights, rows: &job.train });
        let (loss, gradient) = at(&weights);
        let whole = Job { training: Training::default(), ..job.clone() };
        assert_ne!(loss, Isa::best().run(Differentiate { job: &whole, weights: &weights, rows: &job.train }).0);
        let scale = floats(&gradient).iter().fold(0.0_f32, |scale, g| scale.max(g.abs()));
        const STEP: f32 = 0.01;
        for (chunk, lane) in (0..weights.len()).flat_map(|chunk| (0..4).map(move |lane| (chunk, lane))) {
            let moved = |step: f32| {
                let mut moved = weights.clone();
                moved[chunk].0[lane] += step;
                at(&moved).0
            };
            let expected = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
            let found = gradient[chunk].0[lane];
            assert!((found - expected).abs() < 1e-3 * scale, "chunk {chunk}, lane {lane}: {found} {expected}");
        }
    }
}
