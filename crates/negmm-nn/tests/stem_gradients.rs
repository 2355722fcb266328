//! The gradient of a batch through a stem and the layers after it, against central differences of the same network in plain
//! f64 loops.

use std::sync::Arc;

use crate::gradients::Differentiate;

use negmm_dist::math::lanes::{Chunk, Isa, Kernel, Lanes, WIDTH, floats};
use negmm_dist::math::rng::Rng;
use negmm_dist::mixture::Mixture;
use negmm_dist::score::hybrid;
use negmm_nn::dataset::Dataset;
use negmm_nn::net::{Activation, EmbeddedInput, Lstm, MixtureHead, Network, Periodic, Stem};
use negmm_nn::train::CpuTrainer;
use negmm_nn::train::{Job, NetworkJob, Objective, Trainer, TrainingConfig};

const SD_FLOOR: f32 = 1e-3;
const ETA: f32 = 0.5;

fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-z))
}

/// The last layer's state after the last step; `flat` is the flat buffer.
fn lstm_state(lstm: &Lstm, flat: &[f64], row: &[f64]) -> Vec<f64> {
    let mut steps: Vec<Vec<f64>> = row.chunks(lstm.channels).map(<[f64]>::to_vec).collect();
    for layer in lstm.layout(0) {
        let (mut state, mut cell) = (vec![0.0; layer.hidden], vec![0.0; layer.hidden]);
        for step in &mut steps {
            let seen: Vec<f64> = state.iter().chain(step.iter()).copied().chain([1.0]).collect();
            let sum = |gate: usize| -> f64 {
                let weight = |unit: usize| flat[(layer.start + unit * layer.stride) * WIDTH + gate];
                seen.iter().enumerate().map(|(unit, value)| weight(unit) * value).sum()
            };
            for unit in 0..layer.hidden {
                let [i, f, g, o] = [0, 1, 2, 3].map(|gate| sum(gate * layer.hidden + unit));
                cell[unit] = sigmoid(f) * cell[unit] + sigmoid(i) * libm::tanh(g);
                state[unit] = sigmoid(o) * libm::tanh(cell[unit]);
            }
            *step = state.clone();
        }
    }
    steps.pop().unwrap()
}

/// The row and the mixes of its cosines; `flat` is the flat buffer, with 96 numbers for each embedded input.
fn cosines(periodic: &Periodic, flat: &[f64], row: &[f64]) -> Vec<f64> {
    let mut values = row.to_vec();
    for (EmbeddedInput { input, low, high }, block) in periodic.embedded.iter().zip(flat.chunks(96)) {
        let x = row[*input].clamp(f64::from(*low), f64::from(*high));
        for mix in 0..3 {
            let cosine =
                |k: usize| libm::cos(std::f64::consts::TAU * block[k] * x + block[16 + k]) * block[32 + 16 * mix + k];
            values.push(block[80 + mix] + (0..16).map(cosine).sum::<f64>());
        }
    }
    values
}

fn outputs(network: &Network, flat: &[f64], row: &[f64]) -> Vec<f64> {
    let mut values = match network.stem.as_ref().unwrap() {
        Stem::Lstm(lstm) => lstm_state(lstm, flat, row),
        Stem::Periodic(periodic) => cosines(periodic, flat, row),
    };
    let layers = network.layers();
    for (index, layer) in layers.iter().enumerate() {
        values.push(1.0);
        let unit = |output: usize| {
            let weights = &flat[(layer.start + output * layer.stride) * WIDTH..];
            let z: f64 = weights.iter().zip(&values).map(|(weight, value)| weight * value).sum();
            if index + 1 == layers.len() { z } else { libm::tanh(z) }
        };
        values = (0..layer.outputs).map(unit).collect();
    }
    values
}

fn loss(network: &Network, flat: &[f64], data: &Dataset, rows: &[u32]) -> f64 {
    let k = network.outputs / 3;
    let of_row = |&row: &u32| {
        let x = &data.x()[row as usize * data.stride()..][..data.features()];
        let outputs = outputs(network, flat, &x.iter().map(|x| f64::from(*x)).collect::<Vec<_>>());
        let sum: f64 = outputs[..k].iter().map(|logit| libm::exp(*logit)).sum();
        let weights: Vec<f64> = outputs[..k].iter().map(|logit| libm::exp(*logit) / sum).collect();
        let sd = |raw: &f64| f64::from(SD_FLOOR) + libm::log1p(libm::exp(*raw));
        let sds: Vec<f64> = outputs[2 * k..].iter().map(sd).collect();
        let mixture = Mixture { weights: &weights, means: &outputs[k..2 * k], sds: &sds };
        hybrid::value(mixture, f64::from(data.y()[row as usize]), f64::from(ETA))
    };
    rows.iter().map(of_row).sum::<f64>() / rows.len() as f64
}

fn data(features: usize) -> Arc<Dataset> {
    let mut rng = Rng::new(8, 0);
    let mut data = Dataset::new(features);
    for _ in 0..60 {
        let x: Vec<f32> = (0..features).map(|_| 4.0 * rng.uniform() as f32 - 2.0).collect();
        data.push(&x, 3.0 * rng.uniform() as f32 - 1.5);
    }
    Arc::new(data)
}

fn job(data: &Arc<Dataset>, stem: Stem, hidden: &[usize], training: TrainingConfig) -> NetworkJob {
    let head = MixtureHead::new(2, SD_FLOOR);
    NetworkJob {
        network: Network {
            inputs: stem.inputs(),
            stem: Some(stem),
            hidden: hidden.to_vec(),
            residual: false,
            activation: Activation::Tanh,
            outputs: head.outputs(),
        },
        objective: Objective::Hybrid { head, eta: ETA },
        data: data.clone(),
        train: (0..60).collect(),
        validation: [].into(),
        plan: training.plan(60),
        seed: 3,
        initial: None,
    }
}

#[test]
fn gradient_through_the_stem_and_the_layers() {
    const STEP: f64 = 1e-5;
    let lstm = |channels, window, hidden, layers| Stem::Lstm(Lstm { channels, window, hidden, layers });
    // Some rows lie outside of the narrow ranges.
    let periodic = |inputs, embedded: &[usize], frequency| {
        let embedded =
            embedded.iter().map(|input| EmbeddedInput { input: *input, low: -1.5, high: 1.0 + *input as f32 });
        Stem::Periodic(Periodic { inputs, frequency, embedded: embedded.collect() })
    };
    let cases = [
        (lstm(1, 5, 4, 1), &[][..]),
        (lstm(2, 3, 5, 2), &[]),
        (lstm(2, 3, 5, 2), &[4]),
        (lstm(1, 1, 3, 1), &[3, 2]),
        (lstm(17, 1, 2, 3), &[]),
        (periodic(1, &[0], 0.1), &[]),
        (periodic(3, &[0, 2], 0.5), &[4]),
        (periodic(17, &[1, 16], 1.0), &[3, 2]),
        (periodic(2, &[], 1.0), &[3]),
    ];
    for (stem, dense) in cases {
        let case = format!("{stem:?}, hidden {dense:?}");
        let data = data(stem.inputs());
        let job = job(&data, stem, dense, TrainingConfig::default());
        let weights = job.network.initial_parameters(&mut Rng::new(5, 0));
        let rows: Vec<u32> = (0..37).map(|row| (row * 7 + 11) % 60).collect();
        let (found_loss, gradient) = Isa::best().run(Differentiate { job: &job, weights: &weights, rows: &rows });
        for isa in Isa::ALL {
            let other = isa.run(Differentiate { job: &job, weights: &weights, rows: &rows });
            assert_eq!((found_loss, &gradient), (other.0, &other.1), "{case}, {isa:?}");
        }
        let mut flat: Vec<f64> = floats(&weights).iter().map(|weight| f64::from(*weight)).collect();
        let expected = loss(&job.network, &flat, &data, &rows);
        assert!((f64::from(found_loss) - expected).abs() < 2e-6 * (1.0 + expected.abs()), "{case}");
        let scale = floats(&gradient).iter().fold(0.0_f64, |scale, g| scale.max(f64::from(g.abs())));
        assert!(scale > 1e-2, "{case}: {scale}");
        for (at, found) in floats(&gradient).iter().enumerate() {
            let weight = flat[at];
            let mut moved = |step: f64| {
                flat[at] = weight + step;
                loss(&job.network, &flat, &data, &rows)
            };
            let expected = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
            flat[at] = weight;
            let wrong = (f64::from(*found) - expected).abs();
            assert!(wrong < 2e-6 * (scale + expected.abs()), "{case}: weight {at}: {found} {expected}");
        }
    }
}

#[test]
fn gradient_goes_through_the_units_of_the_stem_that_dropout_left() {
    const STEP: f32 = 0.01;
    let lstm = Lstm { channels: 1, window: 4, hidden: 6, layers: 2 };
    let data = data(lstm.inputs());
    let job = job(&data, Stem::Lstm(lstm), &[], TrainingConfig::default().dropout(0.5));
    let weights = job.network.initial_parameters(&mut Rng::new(4, 0));
    let at = |weights: &[Chunk]| Isa::best().run(Differentiate { job: &job, weights, rows: &job.train });
    let (loss, gradient) = at(&weights);
    let whole = NetworkJob { plan: TrainingConfig::default().plan(60), ..job.clone() };
    assert_ne!(loss, Isa::best().run(Differentiate { job: &whole, weights: &weights, rows: &job.train }).0);
    let scale = floats(&gradient).iter().fold(0.0_f32, |scale, g| scale.max(g.abs()));
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

/// One step without a gradient to speak of: weights shrink, biases stay.
struct Step<'a>(&'a NetworkJob);

impl Kernel for Step<'_> {
    type Output = (Vec<Chunk>, Vec<Chunk>);

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Output {
        let mut trainer = CpuTrainer::<L>::new(self.0);
        let before = trainer.parameters.clone();
        trainer.step(&self.0.train, 1e-6);
        (before, trainer.parameters)
    }
}

#[test]
fn weight_decay_shrinks_the_weights_of_the_stem_alone() {
    let embedded = vec![EmbeddedInput { input: 1, low: -9.0, high: 9.0 }];
    let stems = [
        Stem::Lstm(Lstm { channels: 1, window: 3, hidden: 4, layers: 2 }),
        Stem::Periodic(Periodic { inputs: 3, frequency: 0.5, embedded }),
    ];
    for stem in stems {
        let data = data(stem.inputs());
        let job = job(&data, stem.clone(), &[], TrainingConfig::default().weight_decay(5e5));
        let (before, after) = Isa::best().run(Step(&job));
        for tensor in stem.tensors() {
            let shrinks = tensor.name.contains("weight") || tensor.name.ends_with("mix");
            let factor = if shrinks { 0.5 } else { 1.0 };
            for (before, after) in tensor.read(&before).zip(tensor.read(&after)) {
                assert!((after - factor * before).abs() < 1e-5, "{}: {before} {after}", tensor.name);
            }
        }
    }
}

#[test]
fn adversarial_training_of_a_sequence_is_refused() {
    let lstm = Lstm { channels: 1, window: 3, hidden: 4, layers: 1 };
    let data = data(lstm.inputs());
    let job = job(&data, Stem::Lstm(lstm), &[], TrainingConfig::default().adversarial(0.01));
    let error = Job::from(job).check().unwrap_err();
    assert_eq!(
        error.to_string(),
        "adversarial training is not available for sequences or embeddings: leave adversarial at 0"
    );
}
