//! The gradient of a batch with respect to every weight and bias, against central differences of a network written in
//! plain f64 loops.

use std::sync::Arc;

use negmm_dist::math::counter::Counter;
use negmm_dist::math::lanes::{Chunk, Isa, Kernel, Lanes, WIDTH, floats};
use negmm_dist::math::rng::Rng;
use negmm_dist::mixture::Mixture;
use negmm_dist::score::sinkhorn;
use negmm_dist::score::{energy, hybrid, interval, log, sample_energy};
use negmm_dist::streams;
use negmm_nn::dataset::Dataset;
use negmm_nn::loss::sinkhorn::{Prior, Sinkhorn, SinkhornScratch};
use negmm_nn::net::{Activation, Atom, Atoms, Bounds, GaussianHead, MixtureHead, Network, SampleHead};
use negmm_nn::train::CpuTrainer;
use negmm_nn::train::{NetworkJob, Objective, TrainingConfig};

/// The loss and gradient of a step on `rows`, without the step.
pub struct Differentiate<'a> {
    pub job: &'a NetworkJob,
    pub weights: &'a [Chunk],
    pub rows: &'a [u32],
}

impl Kernel for Differentiate<'_> {
    type Output = (f32, Vec<Chunk>);

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Output {
        let mut trainer = CpuTrainer::<L>::new(self.job);
        trainer.parameters.copy_from_slice(self.weights);
        // A gradient is that of its own rows: what an earlier batch left behind must not matter.
        trainer.differentiate(&self.job.train);
        (trainer.differentiate(self.rows), trainer.gradient().to_vec())
    }
}

/// The reference network: a layer is outputs × (inputs + 1), the bias last.
struct Reference {
    layers: Vec<Vec<Vec<f64>>>,
    /// Whether each adds what it reads.
    residual: Vec<bool>,
    activation: Activation,
}

impl Reference {
    fn new(job: &NetworkJob, weights: &[Chunk]) -> Self {
        let row = |layer: &negmm_nn::net::Layer, output: usize| {
            let start = (layer.start + output * layer.stride) * WIDTH;
            floats(weights)[start..=start + layer.inputs].iter().map(|w| f64::from(*w)).collect()
        };
        let layers = job.network.layers();
        Self {
            layers: layers.iter().map(|layer| (0..layer.outputs).map(|at| row(layer, at)).collect()).collect(),
            residual: layers.iter().map(|layer| layer.residual).collect(),
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
            let given: Vec<f64> = layer.iter().map(unit).collect();
            let before = if self.residual[index] { values } else { vec![0.0; given.len()] };
            values = given.iter().zip(before).map(|(given, before)| given + before).collect();
        }
        values
    }

    /// The mean over rows of a loss of (index in `rows`, outputs, target).
    fn loss(&self, data: &Dataset, rows: &[u32], loss: &RowLoss<'_>) -> f64 {
        let of_row = |(index, &row): (usize, &u32)| {
            let x = &data.x()[row as usize * data.stride()..][..data.features()];
            let outputs = self.outputs(&x.iter().map(|x| f64::from(*x)).collect::<Vec<_>>());
            loss(index, &outputs, f64::from(data.y()[row as usize]))
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

/// The loss of (index in the rows, outputs, target).
type RowLoss<'a> = dyn Fn(usize, &[f64], f64) -> f64 + 'a;

/// Weights, means and sds of the mixture that raw outputs mean; the sd of an atom is 0.
fn mixture_of(head: MixtureHead, outputs: &[f64]) -> [Vec<f64>; 3] {
    let (logits, rest) = outputs.split_at(head.components + head.atoms.len());
    let (means, sds) = rest.split_at(head.components);
    let sum: f64 = logits.iter().map(|logit| libm::exp(*logit)).sum();
    let sd = |raw: &f64| f64::from(head.sd_floor) + libm::log1p(libm::exp(*raw));
    let atoms = head.atoms.list().iter().map(|atom| f64::from(atom.value));
    [
        logits.iter().map(|logit| libm::exp(*logit) / sum).collect(),
        means.iter().copied().chain(atoms).collect(),
        sds.iter().map(sd).chain(head.atoms.list().iter().map(|_| 0.0)).collect(),
    ]
}

/// The hybrid loss of the mixture that raw outputs mean.
fn hybrid_loss(head: MixtureHead, eta: f32) -> impl Fn(usize, &[f64], f64) -> f64 {
    move |_, outputs, y| {
        let [weights, means, sds] = mixture_of(head, outputs);
        hybrid::value(Mixture { weights: &weights, means: &means, sds: &sds }, y, f64::from(eta))
    }
}

/// The logarithmic score of a value that may be an atom of the mixture.
fn log_of_value(mixture: Mixture<'_>, y: f64) -> f64 {
    let Mixture { weights, means, sds } = mixture;
    match (0..weights.len()).find(|k| sds[*k] == 0.0 && means[*k] == y) {
        Some(atom) => -libm::log(weights[atom]),
        None => {
            let k = sds.iter().filter(|sd| **sd > 0.0).count();
            log::value(Mixture { weights: &weights[..k], means: &means[..k], sds: &sds[..k] }, y)
        }
    }
}

/// The energy score where sds may be 0: that of components which are as good as single values.
fn energy_of_value(mixture: Mixture<'_>, y: f64) -> f64 {
    let sds: Vec<f64> = mixture.sds.iter().map(|sd| sd.max(1e-12)).collect();
    energy::value(Mixture { sds: &sds, ..mixture }, y)
}

/// The hybrid loss where rows have intervals.
fn interval_loss(
    head: MixtureHead,
    eta: f32,
    (data, rows): (Arc<Dataset>, Vec<u32>),
) -> impl Fn(usize, &[f64], f64) -> f64 {
    move |index, outputs, y| {
        let [weights, means, sds] = mixture_of(head, outputs);
        let mixture = Mixture { weights: &weights, means: &means, sds: &sds };
        let (eta, [lower, upper]) = (f64::from(eta), ends(&data, rows[index]));
        let log = if lower < upper { interval::value(mixture, lower, upper) } else { log_of_value(mixture, y) };
        let energy = if (upper - lower).is_finite() { energy_of_value(mixture, y) } else { 0.0 };
        let between = head.bounds.ends().map(|ends| ends.map(f64::from));
        let between = between.map_or(0.0, |[lower, upper]| interval::value(mixture, lower, upper));
        eta * (log - between) + (1.0 - eta) * energy
    }
}

fn ends(data: &Dataset, row: u32) -> [f64; 2] {
    let intervals = data.intervals().unwrap();
    [intervals.lower(), intervals.upper()].map(|list| f64::from(list[row as usize]))
}

fn data(features: usize, rows: usize) -> Arc<Dataset> {
    let mut rng = Rng::new(5, features as u64);
    let mut data = Dataset::new(features);
    for _ in 0..rows {
        let x: Vec<f32> = (0..features).map(|_| 4.0 * rng.uniform() as f32 - 2.0).collect();
        data.push(&x, 3.0 * rng.uniform() as f32 - 1.5);
    }
    Arc::new(data)
}

/// Some of 100 rows: not the first, not in order.
fn some_rows(rows: usize) -> Vec<u32> {
    (0..rows as u32).map(|row| (row * 37 + 11) % 100).collect()
}

/// Where data of all kinds have an atom.
const ATOM: f32 = 0.3;

/// Rows that are values, half of them at an atom, cells, intervals and open on either side, in turn.
fn data_of_all_kinds(features: usize) -> Arc<Dataset> {
    let data = data(features, 100);
    let y: Vec<f32> = data.y().iter().enumerate().map(|(row, y)| if row % 10 == 0 { ATOM } else { *y }).collect();
    let data = Dataset::from_parts(features, data.x().to_vec(), y.clone());
    let ends = |(row, y): (usize, f32)| match row % 5 {
        0 => (y, y),
        1 => (y - 0.05, y + 0.05),
        2 => (y - 0.7, y + 1.9),
        3 => (y, f32::INFINITY),
        _ => (f32::NEG_INFINITY, y),
    };
    let (lower, upper) = y.into_iter().enumerate().map(ends).unzip();
    Arc::new(data.with_intervals(lower, upper))
}

fn assert_gradient(inputs: usize, hidden: &[usize], activation: Activation, eta: f32, rows: usize) {
    assert_network_gradient((inputs, hidden, false), activation, eta, rows);
}

fn assert_network_gradient(
    (inputs, hidden, residual): (usize, &[usize], bool),
    activation: Activation,
    eta: f32,
    rows: usize,
) {
    let case =
        format!("{inputs} inputs, hidden {hidden:?}, residual {residual}, {activation:?}, eta {eta}, {rows} rows");
    let data = data(inputs, 100);
    let head = MixtureHead::new(3, 1e-3);
    let network =
        Network { inputs, stem: None, hidden: hidden.to_vec(), residual, activation, outputs: head.outputs() };
    let job = NetworkJob {
        network,
        objective: Objective::Hybrid { head, eta },
        data: data.clone(),
        train: (0..100).collect(),
        validation: [].into(),
        plan: TrainingConfig::default().plan(100),
        seed: 9,
        initial: None,
    };
    assert_job_gradient(&case, &job, &some_rows(rows), &hybrid_loss(head, eta));
}

/// Compares the loss of `rows` and its gradient with those of a loss in f64, on every instruction set.
fn assert_job_gradient(case: &str, job: &NetworkJob, rows: &[u32], row_loss: &RowLoss<'_>) {
    let weights = job.network.initial_parameters(&mut Rng::new(21, 0));
    let (loss, gradient) = Isa::best().run(Differentiate { job, weights: &weights, rows });
    for isa in Isa::ALL {
        let other = isa.run(Differentiate { job, weights: &weights, rows });
        assert_eq!((loss, &gradient), (other.0, &other.1), "{case}, {isa:?}");
    }
    let mut reference = Reference::new(job, &weights);
    let expected = reference.loss(&job.data, rows, row_loss);
    assert!((f64::from(loss) - expected).abs() < 2e-6 * (1.0 + expected.abs()), "{case}: {loss} {expected}");
    assert_differences(case, (job, rows), &gradient, &mut reference, (row_loss, 1e-5));
}

/// A job of `data` with a hidden layer.
fn small_job(data: &Arc<Dataset>, objective: Objective) -> NetworkJob {
    NetworkJob {
        network: Network {
            inputs: data.features(),
            stem: None,
            hidden: vec![7],
            residual: false,
            activation: Activation::Tanh,
            outputs: objective.head().outputs(),
        },
        objective,
        data: data.clone(),
        train: (0..data.len() as u32).collect(),
        validation: [].into(),
        plan: TrainingConfig::default().plan(data.len()),
        seed: 9,
        initial: None,
    }
}

#[test]
fn atoms_start_with_their_fractions_of_rows() {
    let atoms = Atoms::new([(ATOM, 0.25), (-2.0, 0.4)].map(|(value, probability)| Atom { value, probability }));
    let head = MixtureHead { atoms, ..MixtureHead::new(7, 1e-3) };
    let biases: Vec<f64> = head.initial_biases().into_iter().map(f64::from).collect();
    let [weights, means, sds] = mixture_of(head, &biases);
    assert!((weights[7] - 0.25).abs() < 1e-6 && (weights[8] - 0.4).abs() < 1e-6, "{weights:?}");
    assert_eq!((&means[..7], &means[7..]), (&[0.0; 7][..], &[f64::from(ATOM), -2.0][..]));
    assert!(sds[..7].iter().all(|sd| (sd - 1.001).abs() < 1e-6), "{sds:?}");
}

#[test]
fn gradient_of_censored_rows() {
    let (data, rows) = (data_of_all_kinds(4), some_rows(75));
    let bounds = [(None, None), (Some(-1.6), None), (Some(-1.6), Some(1.7))];
    for (eta, (lower, upper)) in [0.0, 0.4, 1.0].into_iter().flat_map(|eta| bounds.map(|bounds| (eta, bounds))) {
        let head = MixtureHead { bounds: Bounds { lower, upper }, ..MixtureHead::new(3, 1e-3) };
        let loss = interval_loss(head, eta, (data.clone(), rows.clone()));
        assert_job_gradient(
            &format!("eta {eta}, {lower:?} to {upper:?}"),
            &small_job(&data, Objective::Hybrid { head, eta }),
            &rows,
            &loss,
        );
    }
    for (eta, values) in [(0.0, vec![ATOM]), (0.4, vec![ATOM]), (1.0, vec![ATOM, -40.0]), (0.4, vec![0.1, ATOM, -0.9])]
    {
        let atoms = Atoms::new(values.iter().map(|value| Atom { value: *value, probability: 0.1 }));
        let head = MixtureHead { atoms, ..MixtureHead::new(2, 1e-3) };
        let loss = interval_loss(head, eta, (data.clone(), rows.clone()));
        let case = format!("eta {eta}, atoms {values:?}");
        assert_job_gradient(&case, &small_job(&data, Objective::Hybrid { head, eta }), &rows, &loss);
    }
    // With beta = 0 the weight of a row is 1, and there is nothing that is not differentiated.
    let head = GaussianHead { variance_floor: 1e-6, variance_ceiling: 100.0 };
    let loss = |index: usize, outputs: &[f64], y: f64| {
        /// ln(e - 1)
        const RAW_OF_ONE: f64 = 0.541_324_854_612_918_1;
        let sd = (1e-6 + libm::log1p(libm::exp(outputs[1] + RAW_OF_ONE))).sqrt();
        let (mixture, [lower, upper]) =
            (Mixture { weights: &[1.0], means: &outputs[..1], sds: &[sd] }, ends(&data, rows[index]));
        if lower < upper { interval::value(mixture, lower, upper) } else { log::value(mixture, y) }
    };
    assert_job_gradient("beta-nll", &small_job(&data, Objective::BetaNll { head, beta: 0.0 }), &rows, &loss);
}

/// Compares a gradient with central differences, number by number.
fn assert_differences(
    case: &str,
    (job, rows): (&NetworkJob, &[u32]),
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
                let expected = reference.difference((number, output, input), &job.data, rows, loss);
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
    let job = NetworkJob {
        network: Network {
            inputs,
            stem: None,
            hidden: hidden.to_vec(),
            residual: false,
            activation: Activation::Tanh,
            outputs: samples,
        },
        objective: Objective::SampleEnergy { head, sinkhorn },
        data: data.clone(),
        train: (0..100).collect(),
        validation: [].into(),
        plan: TrainingConfig::default().plan(100),
        seed: 9,
        initial: None,
    };
    let weights = job.network.initial_parameters(&mut Rng::new(21, 0));
    let rows: Vec<u32> = (0..rows as u32).map(|row| (row * 37 + 11) % 100).collect();
    let (loss, gradient) = Isa::best().run(Differentiate { job: &job, weights: &weights, rows: &rows });
    for isa in Isa::ALL {
        let other = isa.run(Differentiate { job: &job, weights: &weights, rows: &rows });
        assert_eq!((loss, &gradient), (other.0, &other.1), "{case}, {isa:?}");
    }
    // The draws of the second step: Differentiate takes two.
    let mut draws = vec![0.0; samples];
    if let Some(sinkhorn) = sinkhorn {
        let mut scratch = SinkhornScratch::new(samples);
        sinkhorn.draw(&mut Counter::new(job.seed, streams::OBJECTIVE).step(1), &mut scratch);
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
    let remember = |index: usize, outputs: &[f64], _: f64| {
        pulls.borrow_mut()[index] = sinkhorn::gradient(&scaled(outputs), &draws);
        0.0
    };
    reference.loss(&data, &rows, &remember);
    let fixed = |index: usize, outputs: &[f64], y: f64| {
        let pulled: f64 = scaled(outputs).iter().zip(&pulls.borrow()[index]).map(|(u, pull)| u * pull).sum();
        sample_energy::value(outputs, y) + weight * pulled
    };
    // Small, so that no two samples are reordered by the step.
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
fn gradient_of_samples_with_a_prior() {
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
fn gradient_of_residual_layers() {
    // Layers add what they read where both have as many units: none, one, two of three.
    for hidden in [&[7, 5][..], &[6, 6], &[9, 9, 9], &[16, 16, 4, 4]] {
        for activation in ACTIVATIONS {
            assert_network_gradient((3, hidden, true), activation, 0.5, 40);
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
    let head = MixtureHead::new(2, 1e-3);
    let job = NetworkJob {
        network: Network {
            inputs: 3,
            stem: None,
            hidden: vec![6, 5],
            residual: false,
            activation: Activation::Tanh,
            outputs: head.outputs(),
        },
        objective: Objective::Hybrid { head, eta: 0.5 },
        data: data.clone(),
        train: (0..40).collect(),
        validation: [].into(),
        plan: TrainingConfig::default().dropout(0.5).plan(40),
        seed: 2,
        initial: None,
    };
    let weights = job.network.initial_parameters(&mut Rng::new(4, 0));
    // Each call begins the same random stream: the same units are left.
    let at = |weights: &[Chunk]| Isa::best().run(Differentiate { job: &job, weights, rows: &job.train });
    let (loss, gradient) = at(&weights);
    let whole = NetworkJob { plan: TrainingConfig::default().plan(40), ..job.clone() };
    assert_ne!(loss, Isa::best().run(Differentiate { job: &whole, weights: &weights, rows: &job.train }).0);
    let scale = floats(&gradient).iter().fold(0.0_f32, |scale, g| scale.max(g.abs()));
    const STEP: f32 = 0.004;
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
