//! Training jobs that cover every head, loss and option, and the comparison of their results.

use std::sync::Arc;

use negmm::Rng;
use negmm::data::Dataset;
use negmm::net::{
    Activation, Atom, Atoms, Bounds, EmbeddedInput, GaussianHead, MixtureHead, Network, Periodic, SampleHead, Stem,
};
use negmm::train::{
    Callbacks, Engine, Job, NetworkJob, Objective, Optimiser, Selection, Trained, TrainedNetwork, TrainingConfig,
};

fn rows(count: usize, features: usize) -> Dataset {
    let mut rng = Rng::new(5, 1);
    let mut data = Dataset::new(features);
    for _ in 0..count {
        let row: Vec<f32> = (0..features).map(|_| (2.0 * rng.uniform() - 1.0) as f32).collect();
        let centre = if rng.uniform() < 0.4 { 2.0 * f64::from(row[0]) - 1.0 } else { 1.0 - f64::from(row[1]) };
        data.push(&row, (centre + 0.2 * (rng.uniform() - 0.5)) as f32);
    }
    data
}

/// Adds sample weights.
fn weighted(data: Dataset) -> Dataset {
    let weights: Vec<f64> = (0..data.len()).map(|row| 0.25 * (row % 7) as f64).collect();
    data.with_sample_weights(&weights)
}

/// Adds interval targets: exact values, grid cells, left- and right-censored values, and values at an atom.
fn intervals(mut data: Dataset) -> Dataset {
    data.push(&[0.0; 5], 0.25);
    data.push(&[0.5; 5], -0.5);
    let (mut lower, mut upper) = (data.y().to_vec(), data.y().to_vec());
    for (row, (lower, upper)) in lower.iter_mut().zip(&mut upper).enumerate() {
        match row % 5 {
            0 => (*lower, *upper) = (*lower - 0.05, *upper + 0.05),
            1 => *upper = f32::INFINITY,
            2 => *lower = -1.9,
            _ => {}
        }
    }
    data.with_intervals(lower, upper)
}

fn job(data: &Arc<Dataset>, training: TrainingConfig, change: impl FnOnce(&mut NetworkJob)) -> NetworkJob {
    let cut = data.len() as u32 * 3 / 4;
    let head = MixtureHead::new(3, 1e-3);
    let mut job = NetworkJob {
        network: Network {
            inputs: data.features(),
            stem: None,
            hidden: vec![9],
            residual: false,
            activation: Activation::Relu,
            outputs: head.outputs(),
        },
        objective: Objective::Hybrid { head, eta: 0.5 },
        data: data.clone(),
        train: (0..cut).collect(),
        validation: (cut..data.len() as u32).collect(),
        plan: training.plan(cut as usize),
        seed: 3,
        initial: None,
    };
    change(&mut job);
    job.network.outputs = job.objective.head().outputs();
    job
}

pub fn train(engine: &dyn Engine, job: &NetworkJob) -> TrainedNetwork {
    train_all(engine, std::slice::from_ref(job)).remove(0)
}

pub fn train_all(engine: &dyn Engine, jobs: &[NetworkJob]) -> Vec<TrainedNetwork> {
    let jobs: Vec<Job> = jobs.iter().cloned().map(Job::from).collect();
    let network = |trained: negmm::Result<Trained>| match trained {
        Ok(Trained::Network(trained)) => trained,
        other => panic!("{other:?}"),
    };
    negmm::train::train(engine, &jobs, &Callbacks::nothing()).into_iter().map(network).collect()
}

pub fn same(name: &str, found: &TrainedNetwork, expected: &TrainedNetwork) {
    let bits = |parameters: &negmm::net::Parameters| -> Vec<u32> {
        parameters.numbers().iter().map(|number| number.to_bits()).collect()
    };
    assert_eq!(found.history, expected.history, "{name}");
    assert_eq!(bits(&found.parameters), bits(&expected.parameters), "{name}");
    assert_eq!(found.snapshots.len(), expected.snapshots.len(), "{name}");
    for (found, expected) in found.snapshots.iter().zip(&expected.snapshots) {
        assert_eq!(bits(found), bits(expected), "{name}");
    }
    let cross_fitted = |trained: &TrainedNetwork| trained.cross_fitted.as_ref().map(|both| both.each_ref().map(bits));
    assert_eq!(cross_fitted(found), cross_fitted(expected), "{name}");
}

/// Jobs that cover every head, loss and option.
pub fn table() -> Vec<(&'static str, NetworkJob)> {
    let data = Arc::new(rows(200, 5));
    let short = || TrainingConfig::default().epochs(3).ema_decay(0.0);
    vec![
        ("hybrid, relu", job(&data, short(), |_| {})),
        (
            "log score, tanh",
            job(&data, short(), |job| {
                job.network.activation = Activation::Tanh;
                job.objective = Objective::Hybrid { head: MixtureHead::new(3, 1e-3), eta: 1.0 };
            }),
        ),
        (
            "energy score, silu, two layers",
            job(&data, short(), |job| {
                job.network.activation = Activation::Silu;
                job.network.hidden = vec![17, 6];
                job.objective = Objective::Hybrid { head: MixtureHead::new(4, 1e-3), eta: 0.0 };
            }),
        ),
        (
            "averaging, dropout, weight decay, batch of 80",
            job(
                &data,
                TrainingConfig::default().epochs(4).batch_size(80).ema_decay(0.9).dropout(0.3).weight_decay(0.1),
                |job| job.network.hidden = vec![12, 12],
            ),
        ),
        (
            "schedule-free, residual",
            job(
                &data,
                TrainingConfig::default().epochs(4).optimiser(Optimiser::ScheduleFree).weight_decay(0.1),
                |job| {
                    job.network.hidden = vec![12, 12, 12];
                    job.network.residual = true;
                },
            ),
        ),
        (
            "muon, residual, calibrated, halves",
            job(
                &data,
                TrainingConfig::default()
                    .epochs(4)
                    .optimiser(Optimiser::Muon)
                    .batch_size(70)
                    .select(Selection::Calibrated),
                |job| {
                    job.network.hidden = vec![20, 20, 3];
                    job.network.residual = true;
                    job.plan.cross_fitting_split = 20;
                },
            ),
        ),
        (
            "periodic embedding, weights, muon",
            job(
                &Arc::new(weighted(rows(230, 5))),
                TrainingConfig::default().epochs(3).optimiser(Optimiser::Muon).batch_size(100).weight_decay(0.05),
                |job| {
                    let embedded = [0, 2, 3].map(|input| EmbeddedInput { input, low: -0.9, high: 0.8 }).to_vec();
                    job.network.stem = Some(Stem::Periodic(Periodic { inputs: 5, frequency: 2.0, embedded }));
                    job.network.hidden = vec![16, 16, 16];
                    job.network.residual = true;
                    job.network.activation = Activation::Silu;
                },
            ),
        ),
        (
            "beta-NLL",
            job(&data, short(), |job| {
                let head = GaussianHead { variance_floor: 1e-6, variance_ceiling: 1.5 };
                job.objective = Objective::BetaNll { head, beta: 0.5 };
                job.plan.keep_last_checkpoint = true;
                job.plan.snapshots = 2;
            }),
        ),
        (
            "adversarial, dropout, batch of 70",
            job(&data, short().batch_size(70).adversarial(0.02).dropout(0.2), |job| {
                job.network.hidden = vec![12, 9];
            }),
        ),
        (
            "samples, adversarial",
            job(&data, short().batch_size(100).adversarial(0.01), |job| {
                let head = SampleHead { samples: 20, sd_floor: 1e-3 };
                job.objective = Objective::SampleEnergy { head, sinkhorn: None };
            }),
        ),
        (
            "samples",
            job(&Arc::new(weighted(rows(200, 5))), short().batch_size(70), |job| {
                let head = SampleHead { samples: 21, sd_floor: 1e-3 };
                job.objective = Objective::SampleEnergy { head, sinkhorn: None };
            }),
        ),
        (
            "bounds of the head, eleven components",
            job(&data, short(), |job| {
                let head = MixtureHead { mean_bound: Some(2.0), sd_ceiling: Some(1.5), ..MixtureHead::new(11, 1e-2) };
                job.objective = Objective::Hybrid { head, eta: 0.3 };
            }),
        ),
        (
            "too many components for cached pairs",
            job(&data, short(), |job| {
                job.objective = Objective::Hybrid { head: MixtureHead::new(42, 1e-2), eta: 0.3 };
            }),
        ),
        (
            "intervals, atoms and bounds",
            job(&Arc::new(intervals(rows(200, 5))), short().select(Selection::Calibrated), |job| {
                let atoms =
                    Atoms::new([Atom { value: 0.25, probability: 0.1 }, Atom { value: -0.5, probability: 0.1 }]);
                let bounds = Bounds { lower: Some(-2.0), upper: None };
                let head = MixtureHead { atoms, bounds, ..MixtureHead::new(3, 1e-2) };
                job.objective = Objective::Hybrid { head, eta: 0.6 };
            }),
        ),
        (
            "too large for shared memory, adam",
            job(&Arc::new(rows(300, 5)), TrainingConfig::default().epochs(2).batch_size(200), |job| {
                job.network.hidden = vec![130, 130, 130];
                job.objective = Objective::Hybrid { head: MixtureHead::new(10, 1e-3), eta: 0.5 };
            }),
        ),
        (
            "too large for shared memory, muon, residual, calibrated, halves, dropout",
            job(
                &Arc::new(rows(300, 5)),
                TrainingConfig::default()
                    .epochs(2)
                    .batch_size(200)
                    .optimiser(Optimiser::Muon)
                    .dropout(0.1)
                    .select(Selection::Calibrated),
                |job| {
                    job.network.hidden = vec![130, 130, 130, 130];
                    job.network.residual = true;
                    job.plan.cross_fitting_split = 30;
                },
            ),
        ),
        (
            "intervals, beta-NLL",
            job(&Arc::new(intervals(rows(200, 5))), short(), |job| {
                let head = GaussianHead { variance_floor: 1e-6, variance_ceiling: 1.5 };
                job.objective = Objective::BetaNll { head, beta: 0.0 };
            }),
        ),
    ]
}
