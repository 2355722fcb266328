//! Speed of training and inference on a GPU: `cuda [small | large | auto | many | predict] …`, all by default. A thousand small networks,
//! ten large ones, those of `auto`, 64 times those of `auto` at once, and predictions. Each is run twice: the first run may compile kernels.

use std::sync::Arc;
use std::time::Instant;

use negmm::data::Dataset;
use negmm::method::{Member, Pool, Predictor};
use negmm::net::{Activation, EmbeddedInput, Head, MixtureHead, Network, Periodic, Stem};
use negmm::train::{
    Callbacks, Engine, Isa, Job, NetworkJob, Objective, Optimiser, Schedule, Selection, TrainingConfig,
};
use negmm::{Accelerator, Mixtures, Predictions, Query, Rng};
use negmm_cuda::CudaEngine;
use rayon::prelude::*;

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

/// Networks to train or predict with, and their data.
struct Workload {
    rows: usize,
    features: usize,
    hidden: Vec<usize>,
    components: usize,
    networks: usize,
    training: TrainingConfig,
    embedded: bool,
}

fn jobs(workload: &Workload) -> Vec<NetworkJob> {
    let data = rows(workload.rows, workload.features);
    let cut = workload.rows as u32 * 9 / 10;
    let head = MixtureHead::new(workload.components, 1e-3);
    let stem = workload.embedded.then(|| {
        let embedded = (0..workload.features).map(|input| EmbeddedInput { input, low: -1.7, high: 1.7 }).collect();
        Stem::Periodic(Periodic { inputs: workload.features, frequency: 2.0, embedded })
    });
    let job = |seed: usize| NetworkJob {
        network: Network {
            inputs: workload.features,
            stem: stem.clone(),
            hidden: workload.hidden.clone(),
            residual: workload.embedded,
            activation: if workload.embedded { Activation::Silu } else { Activation::Relu },
            outputs: head.outputs(),
        },
        objective: Objective::Hybrid { head, eta: 0.2 + 0.2 * (seed % 4) as f32 },
        data: data.clone(),
        train: (0..cut).collect(),
        validation: (cut..workload.rows as u32).collect(),
        plan: workload.training.plan(cut as usize),
        seed: seed as u64,
        initial: None,
    };
    (0..workload.networks).map(job).collect()
}

fn measure(engine: &dyn Engine, name: &str, workload: &Workload) {
    let jobs: Vec<Job> = jobs(workload).into_iter().map(Job::from).collect();
    let steps = workload.training.plan(workload.rows * 9 / 10).steps * workload.networks;
    for round in ["first", "again"] {
        let start = Instant::now();
        let trained = negmm::train::train(engine, &jobs, &Callbacks::nothing());
        let seconds = start.elapsed().as_secs_f64();
        assert!(trained.iter().all(Result::is_ok));
        println!(
            "{name}, {round}: {} networks, {steps} steps, {seconds:.3} s, {:.3} million steps/s, {:.1} us a step of one",
            workload.networks,
            steps as f64 / seconds / 1e6,
            seconds / (steps / workload.networks) as f64 * 1e6
        );
    }
}

/// Rows that one thread predicts at once, as in `negmm predict`.
const CHUNK: usize = 4096;
const LEVELS: [f64; 3] = [0.05, 0.5, 0.95];

/// Mixtures of chunks of rows on all cores, then their means, sds and quantiles; on the CPU and on the GPU.
fn predict(workload: &Workload) {
    let members: Vec<Member> = jobs(&Workload { rows: 100, ..copy(workload) })
        .into_iter()
        .map(|job| Member {
            parameters: job.network.initial_parameters(&mut Rng::new(job.seed, 0)).into(),
            network: job.network,
            sigma_scale: 1.0,
            statistics: Default::default(),
        })
        .collect();
    let head = Head::Mixture(MixtureHead::new(workload.components, 1e-3));
    let predictor = Predictor::Networks { members, head, pool: Pool::Mixture };
    let data = rows(workload.rows, workload.features);
    let chunks: Vec<Dataset> =
        (0..workload.rows as u32).collect::<Vec<_>>().chunks(CHUNK).map(|rows| data.select(rows)).collect();
    let cuda = negmm_cuda::accelerator("cuda", Box::new(|text| println!("{text}"))).ok().flatten();
    let mut before: Option<[f64; 2]> = None;
    for (name, accelerator) in [("cpu", None), ("cuda, first", cuda.clone()), ("cuda, again", cuda)] {
        let start = Instant::now();
        let predictions: Vec<Mixtures> =
            chunks.par_iter().map(|rows| mixtures(&predictor, accelerator.as_deref(), rows)).collect();
        let outputs = start.elapsed().as_secs_f64();
        let predictions: Vec<Predictions> = predictions.into_iter().map(Predictions::from).collect();
        let predictions: Vec<Predictions> = match &accelerator {
            Some(accelerator) => {
                predictions.into_iter().map(|predictions| predictions.accelerated(accelerator.clone())).collect()
            }
            None => predictions,
        };
        let start = Instant::now();
        let sum: f64 = predictions.par_iter().map(answers).collect::<Vec<_>>().iter().sum();
        let found = start.elapsed().as_secs_f64();
        let rate = |seconds: f64| workload.rows as f64 / seconds;
        println!(
            "predict, {name}: {} networks, {} rows, mixtures {outputs:.3} s, {:.0} rows/s; mean, sd and {} quantiles {found:.3} s, {:.0} rows/s{} ({sum:e})",
            workload.networks,
            workload.rows,
            rate(outputs),
            LEVELS.len(),
            rate(found),
            before.map_or(String::new(), |[o, f]| format!("; {:.1} and {:.1} times the cpu", o / outputs, f / found)),
        );
        before = before.or(Some([outputs, found]));
    }
}

fn mixtures(predictor: &Predictor, accelerator: Option<&dyn Accelerator>, rows: &Dataset) -> Mixtures {
    let predictions = predictor.predict_on(accelerator, rows, Isa::best()).expect("the network's features");
    predictions.mixtures().expect("mixtures").clone()
}

/// Mean, sd and quantiles of each row; returns their sum, so that runs can be compared.
fn answers(predictions: &Predictions) -> f64 {
    let columns = Query::default().quantiles(LEVELS).columns(predictions, 0).expect("a sound query");
    columns.iter().filter_map(|column| column.floats()).flatten().sum()
}

fn main() {
    let mut engine = CudaEngine::new(0).unwrap_or_else(|error| {
        println!("{error}");
        std::process::exit(1)
    });
    engine.notify = Box::new(|text| println!("{text}"));
    println!("{}", engine.device().describe());
    let names: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|other| other == name);
    let plain = TrainingConfig::default().ema_decay(0.0).schedule(Schedule::Constant).learning_rate(1e-3);
    let small = Workload {
        rows: 355,
        features: 13,
        hidden: vec![50],
        components: 10,
        networks: 1000,
        training: plain.clone().epochs(2000),
        embedded: false,
    };
    let large = Workload {
        rows: 20_000,
        features: 13,
        hidden: vec![256; 3],
        components: 10,
        networks: 10,
        training: plain.clone().steps(12_000).check_every(500).batch_size(256),
        embedded: false,
    };
    let auto = Workload {
        hidden: vec![128; 4],
        components: 8,
        networks: 5,
        training: TrainingConfig::default()
            .steps(1_500)
            .check_every(75)
            .batch_size(256)
            .optimiser(Optimiser::Muon)
            .learning_rate(0.012)
            .select(Selection::Calibrated),
        embedded: true,
        ..copy(&large)
    };
    if wanted("predict") {
        predict(&Workload { rows: 1_000_000, networks: 10, ..copy(&auto) });
    }
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
        measure(&engine, "64 x auto", &Workload { networks: 320, ..copy(&auto) });
    }
}

fn copy(workload: &Workload) -> Workload {
    Workload { hidden: workload.hidden.clone(), training: workload.training.clone(), ..*workload }
}
