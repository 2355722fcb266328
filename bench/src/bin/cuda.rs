//! Responsible for how fast a card trains: small networks by the thousand, ten large ones, the form of `auto`, and many of it side by
//! side; and how fast it predicts (`cuda [small | large | auto | many | predict] …`, all without a name). Each is done twice: the first
//! time kernels may be compiled.

use std::sync::Arc;
use std::time::Instant;

use negmm::data::Dataset;
use negmm::method::{Member, Pool, Predictor};
use negmm::net::{Activation, EmbeddedInput, Head, MixtureHead, Network, Periodic, Stem};
use negmm::train::{
    Callbacks, Engine, Isa, Job, NetworkJob, Objective, Optimiser, Schedule, Selection, TrainingConfig,
};
use negmm::{Accelerator, Mixtures, Predictions, Questions, Rng};
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

struct Form {
    rows: usize,
    features: usize,
    hidden: Vec<usize>,
    components: usize,
    networks: usize,
    training: TrainingConfig,
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
        let trained = negmm::train::train(engine, &jobs, &Callbacks::nothing());
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

/// Rows that one thread predicts at once, as `negmm predict` has it.
const CHUNK: usize = 4096;
const LEVELS: [f64; 3] = [0.05, 0.5, 0.95];

/// Mixtures of rows that come chunk after chunk, on all cores, and answers about each; with a card and without, in one run.
fn predict(form: &Form) {
    let members: Vec<Member> = jobs(&Form { rows: 100, ..copy(form) })
        .into_iter()
        .map(|job| Member {
            parameters: job.network.initial_parameters(&mut Rng::new(job.seed, 0)).into(),
            network: job.network,
            sd_factor: 1.0,
            statistics: Default::default(),
        })
        .collect();
    let head = Head::Mixture(MixtureHead::new(form.components, 1e-3));
    let predictor = Predictor::Networks { members, head, pool: Pool::Mixture };
    let data = rows(form.rows, form.features);
    let chunks: Vec<Dataset> =
        (0..form.rows as u32).collect::<Vec<_>>().chunks(CHUNK).map(|rows| data.select(rows)).collect();
    let card = negmm_cuda::accelerator("cuda", Box::new(|text| println!("{text}"))).ok().flatten();
    let mut before: Option<[f64; 2]> = None;
    for (name, helper) in [("cpu", None), ("cuda, first", card.clone()), ("cuda, again", card)] {
        let start = Instant::now();
        let said: Vec<Mixtures> = chunks.par_iter().map(|rows| mixtures(&predictor, helper.as_deref(), rows)).collect();
        let outputs = start.elapsed().as_secs_f64();
        let said: Vec<Predictions> = said.into_iter().map(Predictions::from).collect();
        let said: Vec<Predictions> = match &helper {
            Some(helper) => said.into_iter().map(|said| said.accelerated(helper.clone())).collect(),
            None => said,
        };
        let start = Instant::now();
        let sum: f64 = said.par_iter().map(answers).collect::<Vec<_>>().iter().sum();
        let found = start.elapsed().as_secs_f64();
        let rate = |seconds: f64| form.rows as f64 / seconds;
        println!(
            "predict, {name}: {} networks, {} rows, mixtures {outputs:.3} s, {:.0} rows/s; mean, sd and {} quantiles {found:.3} s, {:.0} rows/s{} ({sum:e})",
            form.networks,
            form.rows,
            rate(outputs),
            LEVELS.len(),
            rate(found),
            before.map_or(String::new(), |[o, f]| format!("; {:.1} and {:.1} times the cpu", o / outputs, f / found)),
        );
        before = before.or(Some([outputs, found]));
    }
}

fn mixtures(predictor: &Predictor, helper: Option<&dyn Accelerator>, rows: &Dataset) -> Mixtures {
    let said = predictor.predict_on(helper, rows, Isa::best()).expect("the network's features");
    said.mixtures().expect("mixtures").clone()
}

/// Mean, sd and quantiles of each row, as they are asked for together; their sum, so that runs can be compared.
fn answers(said: &Predictions) -> f64 {
    let questions = Questions { quantiles: LEVELS.map(Into::into).into(), ..Questions::default() };
    let answers = questions.answer(said, 0).expect("sound questions");
    answers.names().iter().filter_map(|name| answers.column(name)).flatten().sum()
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
    let plain = TrainingConfig {
        ema_decay: 0.0,
        schedule: Schedule::Constant,
        learning_rate: 1e-3,
        ..TrainingConfig::default()
    };
    let small = Form {
        rows: 355,
        features: 13,
        hidden: vec![50],
        components: 10,
        networks: 1000,
        training: TrainingConfig { epochs: 2000, ..plain.clone() },
        embedded: false,
    };
    let large = Form {
        rows: 20_000,
        features: 13,
        hidden: vec![256; 3],
        components: 10,
        networks: 10,
        training: TrainingConfig { steps: Some(12_000), check_every: Some(500), batch_size: 256, ..plain.clone() },
        embedded: false,
    };
    let auto = Form {
        hidden: vec![128; 4],
        components: 8,
        networks: 5,
        training: TrainingConfig {
            steps: Some(1_500),
            check_every: Some(75),
            batch_size: 256,
            optimiser: Optimiser::Muon,
            learning_rate: 0.012,
            select: Selection::Calibrated,
            ..TrainingConfig::default()
        },
        embedded: true,
        ..copy(&large)
    };
    if wanted("predict") {
        predict(&Form { rows: 1_000_000, networks: 10, ..copy(&auto) });
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
        measure(&engine, "64 x auto", &Form { networks: 320, ..copy(&auto) });
    }
}

fn copy(form: &Form) -> Form {
    Form { hidden: form.hidden.clone(), training: form.training.clone(), ..*form }
}
