//! Pools of networks with every head, stem and activation, difficult mixtures, and the comparison of an accelerator with the CPU.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use negmm::data::Dataset;
use negmm::method::{Member, Pool, Predictor, Standardised};
use negmm::net::{
    Activation, Atom, Atoms, EmbeddedInput, GaussianHead, Head, MixtureHead, Network, Parameters, Periodic, SampleHead,
    Stem,
};
use negmm::train::Isa;
use negmm::{Accelerator, Method, Mixtures, Predictions, QuantileAccelerator, Query, Rng, TailQuantile, Toy, fit};

/// Counts the calls of an accelerator, and fails where it leaves one to the CPU.
pub struct Counted {
    pub inner: Arc<dyn Accelerator>,
    pub outputs: AtomicUsize,
    pub quantiles: AtomicUsize,
}

impl Counted {
    pub fn new(inner: Arc<dyn Accelerator>) -> Arc<Self> {
        Arc::new(Self { inner, outputs: 0.into(), quantiles: 0.into() })
    }
}

impl QuantileAccelerator for Counted {
    fn quantiles(&self, mixtures: &Mixtures, asked: &[TailQuantile]) -> Option<Vec<f64>> {
        self.quantiles.fetch_add(1, Ordering::Relaxed);
        Some(self.inner.quantiles(mixtures, asked).expect("the device finds them"))
    }
}

impl Accelerator for Counted {
    fn outputs(&self, network: &Network, parameters: &[&Parameters], x: &[f32], stride: usize) -> Option<Vec<f32>> {
        self.outputs.fetch_add(1, Ordering::Relaxed);
        Some(self.inner.outputs(network, parameters, x, stride).expect("the device runs it"))
    }
}

const FEATURES: usize = 5;

pub fn rows(count: usize) -> Dataset {
    let mut rng = Rng::new(9, 1);
    let mut data = Dataset::new(FEATURES);
    for _ in 0..count {
        let row: Vec<f32> = (0..FEATURES).map(|_| (4.0 * rng.uniform() - 2.0) as f32).collect();
        data.push(&row, 0.0);
    }
    data
}

fn network(hidden: &[usize], activation: Activation, embedded: bool) -> Network {
    let inputs = [0, 2, 3].map(|input| EmbeddedInput { input, low: -0.9, high: 0.8 }).to_vec();
    let stem = Stem::Periodic(Periodic { inputs: FEATURES, frequency: 2.0, embedded: inputs });
    Network {
        inputs: FEATURES,
        stem: embedded.then_some(stem),
        hidden: hidden.to_vec(),
        residual: embedded,
        activation,
        outputs: 0,
    }
}

fn pool(head: Head, mut network: Network, members: usize) -> Predictor {
    network.outputs = head.outputs();
    let member = |seed: usize| {
        let mut rng = Rng::new(3, seed as u64);
        // Larger weights than the initial ones, to reach the tails of activations and heads.
        let numbers: Vec<f32> = Parameters::from(network.initial_parameters(&mut rng))
            .numbers()
            .iter()
            .map(|number| 3.0 * number)
            .collect();
        let parameters = Parameters::from_numbers(&numbers).unwrap();
        Member {
            network: network.clone(),
            parameters,
            sigma_scale: 1.0 + 0.1 * seed as f64,
            statistics: Default::default(),
        }
    };
    Predictor::Networks { members: (0..members).map(member).collect(), head, pool: Pool::Mixture }
}

/// A pool for each head, stem, activation and size.
pub fn table() -> Vec<(&'static str, Predictor)> {
    let atoms = Atoms::new([Atom { value: 0.25, probability: 0.1 }, Atom { value: -0.5, probability: 0.1 }]);
    let bounded = MixtureHead { mean_bound: Some(2.0), sd_ceiling: Some(1.5), atoms, ..MixtureHead::new(11, 1e-2) };
    let gaussian = Head::Gaussian(GaussianHead { variance_floor: 1e-6, variance_ceiling: 1.5 });
    let samples = Head::Samples(SampleHead { samples: 21, sd_floor: 1e-3 });
    let mixture = |components| Head::Mixture(MixtureHead::new(components, 1e-3));
    vec![
        ("mixture, relu", pool(mixture(3), network(&[9], Activation::Relu, false), 3)),
        ("mixture, tanh, two layers", pool(mixture(4), network(&[17, 6], Activation::Tanh, false), 1)),
        ("embedding, residual, silu", pool(mixture(8), network(&[40, 40, 40], Activation::Silu, true), 2)),
        ("bounds and atoms", pool(Head::Mixture(bounded), network(&[12, 12], Activation::Silu, true), 2)),
        ("one Gaussian", pool(gaussian, network(&[33], Activation::Tanh, false), 2)),
        ("samples", pool(samples, network(&[20, 20], Activation::Relu, true), 2)),
        ("large", pool(mixture(10), network(&[130, 70, 300], Activation::Silu, false), 1)),
        ("many outputs", pool(mixture(60), network(&[16], Activation::Relu, false), 2)),
        ("no hidden layer", pool(mixture(2), network(&[], Activation::Relu, true), 2)),
        ("two shapes", two_shapes(mixture(3))),
    ]
}

/// Members of two shapes, which need separate launches.
fn two_shapes(head: Head) -> Predictor {
    let shapes = [(&[9][..], 2), (&[12, 12], 1), (&[9], 1)];
    let pools = shapes.map(|(hidden, members)| pool(head, network(hidden, Activation::Tanh, false), members));
    let members = pools.iter().flat_map(Predictor::networks).cloned().collect();
    Predictor::Networks { members, head, pool: Pool::Mixture }
}

/// Pools that take several launches, because of the rows or the outputs.
pub fn large_table() -> Vec<(&'static str, Predictor, usize)> {
    let mixture = |components| Head::Mixture(MixtureHead::new(components, 1e-3));
    vec![
        ("many rows", pool(mixture(1), network(&[3], Activation::Relu, false), 2), 16_400),
        ("very many outputs", pool(mixture(500), network(&[1], Activation::Relu, false), 1), 11_400),
    ]
}

/// A pool whose networks need more shared memory than any GPU has.
#[allow(dead_code)]
pub fn too_wide() -> Predictor {
    pool(Head::Mixture(MixtureHead::new(2000, 1e-3)), network(&[1], Activation::Relu, false), 1)
}

/// Compares an accelerator with the CPU for every pool and several numbers of rows.
pub fn same_outputs(accelerator: &Arc<dyn Accelerator>, sizes: &[usize]) {
    for (name, predictor) in table() {
        sizes.iter().for_each(|count| same(accelerator, name, &predictor, *count));
    }
}

/// Compares an accelerator with the CPU for a pool and `count` rows.
pub fn same(accelerator: &Arc<dyn Accelerator>, name: &str, predictor: &Predictor, count: usize) {
    let data = rows(count);
    let counted = Counted::new(accelerator.clone());
    let start = std::time::Instant::now();
    let found = predictor.predict_on(Some(&*counted), &data, Isa::best()).unwrap();
    println!("{name}, {count} rows: {:.3} s", start.elapsed().as_secs_f64());
    // A few rows are not sent to the accelerator.
    let (calls, few) = (counted.outputs.load(Ordering::Relaxed), count <= 8);
    assert!(if few { calls == 0 } else { calls > 0 }, "{name}, {count} rows: {calls}");
    let expected = predictor.predict(&data, Isa::best()).unwrap();
    assert!(bits(found) == bits(expected), "{name}, {count} rows");
}

fn bits(predictions: Standardised) -> Vec<u64> {
    let predictions = predictions.in_unit(0.0, 1.0);
    let numbers = match (predictions.mixtures(), predictions.samples()) {
        (Some(mixtures), _) => [mixtures.weights(), mixtures.means(), mixtures.sds()].concat(),
        (None, Some(samples)) => samples.values().to_vec(),
        (None, None) => Vec::new(),
    };
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// Difficult mixtures: distant modes, tiny and huge sds, weights of 0, repeated components; and ordinary ones.
pub fn difficult(components: usize) -> Mixtures {
    let mut rng = Rng::new(11, components as u64);
    let (mut weights, mut means, mut sds) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..120 {
        for k in 0..components {
            let (weight, offset, sd) = (rng.uniform(), rng.uniform() - 0.5, rng.uniform());
            weights.push(if k > 0 && row % 5 == 1 && weight < 0.5 { 0.0 } else { weight * weight + 1e-9 });
            means.push(match row % 6 {
                0 => 4.0 * offset,
                1 => 1e8 * offset,
                2 => (k % 2) as f64 * 1e3 + offset,
                3 => 0.0,
                4 => 1e300 * offset,
                _ => 1e-200 * offset,
            });
            sds.push(match row % 4 {
                0 => 0.1 + sd,
                1 => 1e-9 * (sd + 0.01),
                2 => libm::exp(40.0 * (sd - 0.5)),
                _ => 1e-300 * (sd + 0.01),
            });
        }
    }
    Mixtures::new(components, weights, means, sds).unwrap()
}

/// Compares the quantiles of an accelerator with those of the CPU.
pub fn same_quantiles(accelerator: &Arc<dyn Accelerator>) {
    for components in [1, 2, 7, 80] {
        let predictions = Predictions::from(difficult(components));
        let counted = Counted::new(accelerator.clone());
        let accelerated = predictions.clone().accelerated(counted.clone());
        for level in [1e-300, 1e-9, 0.025, 0.3, 0.5, 0.75, 0.975, 1.0 - 1e-9] {
            let of = |predictions: &Predictions| -> Vec<u64> {
                predictions.quantile(level).unwrap().iter().map(|number| number.to_bits()).collect()
            };
            assert_eq!(of(&accelerated), of(&predictions), "{components} components, level {level}");
        }
        for coverage in [1e-9, 0.5, 0.9, 1.0 - 1e-15] {
            let (found, expected) = (accelerated.interval(coverage).unwrap(), predictions.interval(coverage).unwrap());
            assert_eq!(found, expected, "{components} components, coverage {coverage}");
        }
        assert_eq!(counted.quantiles.load(Ordering::Relaxed), 16);
    }
}

/// Compares the predictions of a whole model with and without an accelerator.
pub fn same_model(accelerator: &Arc<dyn Accelerator>) {
    let table = Toy::Bimodal.sample(300, &mut Rng::new(1, 0));
    let mut method = Method::default();
    for (name, value) in [("preset", "fast"), ("steps", "60"), ("folds", "3"), ("hidden", "24,24")] {
        method.set(name, value).unwrap();
    }
    let model = fit(&table, "y", &method).unwrap();
    let counted = Counted::new(accelerator.clone());
    let accelerated = model.clone().accelerated(counted.clone());
    let (expected, found) = (model.predict(&table).unwrap(), accelerated.predict(&table).unwrap());
    assert_eq!(found, expected);
    let query = Query::default().quantiles([0.05, 0.5]).interval([0.9]).above([1.0]);
    let (found, expected) = (query.columns(&found, 0).unwrap(), query.columns(&expected, 0).unwrap());
    assert_eq!(found.names(), expected.names());
    for name in expected.names() {
        assert_eq!(found.floats(name), expected.floats(name), "{name}");
    }
    // All levels are requested in one call.
    assert!(counted.outputs.load(Ordering::Relaxed) > 0);
    assert_eq!(counted.quantiles.load(Ordering::Relaxed), 1);
}
