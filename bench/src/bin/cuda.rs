//! Responsible for how fast a card trains: small networks by the thousand, ten large ones, the form of `auto`, and many of it side by
//! side (`cuda [small | large | auto | many] …`, all without a name). Each is trained twice: the first time kernels may be compiled.

use std::sync::Arc;
use std::time::Instant;

use negmm::Rng;
use negmm::data::Dataset;
use negmm::net::{Activation, EmbeddedInput, MixtureHead, Network, Periodic, Stem};
use negmm::train::{Engine, Job, NetworkJob, Objective, Optimiser, Schedule, Selection, Training, Watch};
use negmm_cuda::CudaEngine;

fn rows(count: usize, features: usize) -> Arc<Dataset> {
    let mut rng = Rng::new(7, 1);
    let mut data = Dataset::new(features);
    for _ in 0..count {
        let row: Vec<f32> = (0..features).map(|_| (3.4 * (rng.uniform() - 0.5)) as f32).collect();
        let y = (2.0 * f64::from(row[0])).sin() + 0.5 * f64::from(row[1]) + 0.6 * (rng.uniform() - 0.5);
        data.push(&row, y as f32);
    }
    Arc::new(data)
}

struct Form {
    rows: usize,
    features: usize,
    hidden: Vec<usize>,
    components: usize,
    networks: usize,
    training: Training,
    embedded: bool,
}

fn jobs(form: &Form) -> Vec<NetworkJob> {
    let data = rows(form.rows, form.features);
    let cut = form.rows as u32 * 9 / 10;
    let head = MixtureHead::new(form.components, 1e-3);
    let stem = form.embedded.then(|| {
        let embedded = (0..form.features).map(|input| EmbeddedInput { input, low: -1.7, high: 1.7 }).collect();
        Stem::Periodic(Periodic { inputs: form.features, frequency: 2.0, embedded })
    });
    let job = |seed: usize| NetworkJob {
        network: Network {
            inputs: form.features,
            stem: stem.clone(),
            hidden: form.hidden.clone(),
            residual: form.embedded,
            activation: if form.embedded { Activation::Silu } else { Activation::Relu },
            outputs: head.outputs(),
        },
        objective: Objective::Hybrid { head, eta: 0.2 + 0.2 * (seed % 4) as f32 },
        data: data.clone(),
        train: (0..cut).collect(),
        validation: (cut..form.rows as u32).collect(),
        course: form.training.course(cut as usize),
        seed: seed as u64,
    };
    (0..form.networks).map(job).collect()
}

fn measure(engine: &dyn Engine, name: &str, form: &Form) {
    let jobs: Vec<Job> = jobs(form).into_iter().map(Job::from).collect();
    let steps = form.training.course(form.rows * 9 / 10).steps * form.networks;
    for round in ["first", "again"] {
        let start = Instant::now();
        let trained = negmm::train::train(engine, &jobs, &Watch::nothing());
        let seconds = start.elapsed().as_secs_f64();
        assert!(trained.iter().all(Result::is_ok));
        println!(
            "{name}, {round}: {} networks, {steps} steps, {seconds:.3} s, {:.3} million steps/s, {:.1} us a step of one",
            form.networks,
            steps as f64 / seconds / 1e6,
            seconds / (steps / form.networks) as f64 * 1e6
        );
    }
}

fn main() {
    let mut engine = CudaEngine::new(0).unwrap_or_else(|error| {
        println!("{error}");
        std::process::exit(1)
    });
    engine.tell = Box::new(|text| println!("{text}"));
    println!("{}", engine.device().describe());
    let names: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|other| other == name);
    let plain = Training { averaging: 0.0, schedule: Schedule::Constant, learning_rate: 1e-3, ..Training::default() };
    let small = Form {
        rows: 355,
        features: 13,
        hidden: vec![50],
        components: 10,
        networks: 1000,
        training: Training { epochs: 2000, ..plain.clone() },
        embedded: false,
    };
    let large = Form {
        rows: 20_000,
        features: 13,
        hidden: vec![256; 3],
        components: 10,
        networks: 10,
        training: Training { steps: Some(12_000), check_every: Some(500), batch: 256, ..plain.clone() },
        embedded: false,
    };
    let auto = Form {
        hidden: vec![128; 4],
        components: 8,
        networks: 5,
        training: Training {
            steps: Some(1_500),
            check_every: Some(75),
            batch: 256,
            optimiser: Optimiser::Muon,
            learning_rate: 0.012,
            select: Selection::Calibrated,
            ..Training::default()
        },
        embedded: true,
        ..copy(&large)
    };
    if wanted("small") {
        measure(&engine, "small", &small);
    }
    if wanted("large") {
        measure(&engine, "large", &large);
    }
    if wanted("auto") {
        measure(&engine, "auto", &auto);
    }
    if wanted("many") {
        measure(&engine, "64 x auto", &Form { networks: 320, ..copy(&auto) });
    }
}

fn copy(form: &Form) -> Form {
    Form { hidden: form.hidden.clone(), training: form.training.clone(), ..*form }
}
