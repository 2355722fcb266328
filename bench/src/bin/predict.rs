//! Times prediction on one core: encoded rows to mixtures, their means and sds, and exact functionals of mixtures.
//!
//! | option | meaning | default |
//! |---|---|---|
//! | `--inputs --hidden --components` | sizes of the network | 8, 50, 5 |
//! | `--activation` | `relu`, `tanh` or `silu` | relu |
//! | `--rows` | rows predicted at once | 4096 |
//! | `--seconds` | time for each timing | 1 |
//! | `--core` | the core to run on (needs `taskset`) | 0 |
//!
//! Each number is from the fastest of many runs. Functionals come with their cost as a multiple of one cdf.

use negmm::Distribution;
use std::hint::black_box;

use negmm::Rng;
use negmm::data::Dataset;
use negmm::method::{Member, Pool, Predictor};
use negmm::net::{Activation, EmbeddedInput, Head, MixtureHead, Network, Periodic, Stem};
use negmm::train::Isa;
use negmm::{Mixture, Mixtures};
use negmm_bench::options::{Options, activation};
use negmm_bench::peers::pin;
use negmm_bench::{fastest, floor};

const OPTIONS: [&str; 7] = ["--inputs", "--hidden", "--components", "--activation", "--rows", "--seconds", "--core"];

fn main() -> Result<(), String> {
    let options = Options::read(&OPTIONS)?;
    let rows = options.get("--rows", 4096)?;
    let seconds = options.get("--seconds", 1.0)?;
    let core = options.get("--core", 0)?;
    let components = options.get("--components", 5)?;
    let network = Network {
        inputs: options.get("--inputs", 8)?,
        stem: None,
        hidden: options.list("--hidden", vec![50])?,
        residual: false,
        activation: activation(&options)?,
        outputs: 3 * components,
    };
    let pinned = if pin(core) { format!("core {core}") } else { "any core".to_string() };
    println!("{} inputs, {:?} hidden units, {components} components, {pinned}\n", network.inputs, network.hidden);
    predictions(&network, 1, components, rows, seconds);
    let (network, peak) = (as_auto(13), floor::peak());
    for (preset, networks) in [("medium", 10), ("best", 40)] {
        let weights = networks * network.parameters();
        println!(
            "\nThe pool of `auto --preset {preset}` for few rows, {networks} networks: 13 inputs, each with a periodic embedding, {:?} hidden",
            network.hidden
        );
        println!(
            "units, 8 components each; {weights} weights in all, so many multiply-adds a row, of which this core does {:.1} billion a second: at most {:.0} rows/s\n",
            peak * 1e-9,
            peak / weights as f64
        );
        predictions(&network, networks, 8, rows.min(1024), seconds);
    }
    println!();
    answers(rows, seconds);
    Ok(())
}

/// The network that `auto` trains on small data.
fn as_auto(inputs: usize) -> Network {
    let embedded = (0..inputs).map(|input| EmbeddedInput { input, low: -2.0, high: 2.0 }).collect();
    Network {
        inputs,
        stem: Some(Stem::Periodic(Periodic { inputs, frequency: 0.1, embedded })),
        hidden: vec![64; 4],
        residual: true,
        activation: Activation::Silu,
        outputs: 3 * 8,
    }
}

/// Encoded rows to pooled mixtures, and to means and sds.
fn predictions(network: &Network, networks: usize, components: usize, rows: usize, seconds: f64) {
    let mut rng = Rng::new(1, 0);
    let mut data = Dataset::new(network.inputs);
    for _ in 0..rows {
        let x: Vec<f32> = (0..network.inputs).map(|_| 4.0 * rng.uniform() as f32 - 2.0).collect();
        data.push(&x, 0.0);
    }
    let head = MixtureHead::new(components, 1e-3);
    let member = |_| {
        let parameters = network.initial_parameters(&mut rng).into();
        Member { network: network.clone(), parameters, sigma_scale: 1.0, statistics: Default::default() }
    };
    let one = networks == 1;
    let members = (0..networks).map(member).collect();
    let predictor = Predictor::Networks { members, head: Head::Mixture(head), pool: Pool::Mixture };
    println!("| rows/s | mixtures | mixtures, means, sds |");
    println!("|---|---|---|");
    // Plain Rust takes minutes for many networks where a multiply-add is a call.
    let worth = |isa: &Isa| isa.available() && (one || *isa != Isa::Plain);
    for isa in Isa::ALL.into_iter().filter(worth) {
        let mixtures = fastest(seconds, || drop(black_box(predictor.predict(&data, isa))));
        let moments = fastest(seconds, || {
            let predictions = predictor.predict(&data, isa).expect("the network's features").in_unit(0.0, 1.0);
            black_box(predictions.mean_and_sd());
        });
        println!("| {isa:?} | {:.0} | {:.0} |", rows as f64 / mixtures, rows as f64 / moments);
    }
}

/// Exact functionals of mixtures, at levels and values across the whole distribution.
fn answers(rows: usize, seconds: f64) {
    println!("| answers/s | 1 component | 5 | 10 | 50 | 160 |");
    println!("|---|---|---|---|---|---|");
    let mixtures = [1, 5, 10, 50, 160].map(|components| mixtures(components, rows));
    let cdf = mixtures.each_ref().map(|mixtures| time(mixtures, seconds, |row, level| row.cdf(value(level))));
    print("cdf", cdf, cdf);
    for (name, answer) in ANSWERS {
        let times = mixtures.each_ref().map(|mixtures| time(mixtures, seconds, answer));
        print(name, times, cdf);
    }
}

type Answer = fn(Mixture<'_>, f64) -> f64;

const ANSWERS: [(&str, Answer); 6] = [
    ("quantile", |row, level| row.quantile(level)),
    ("quantile 0.95", |row, _| row.quantile(0.95)),
    ("far quantile", |row, level| row.quantile(level * 1e-12)),
    ("mean and sd", |row, _| row.mean_and_sd().1),
    ("energy score", |row, level| row.crps(value(level))),
    ("log density", |row, level| row.log_pdf(value(level))),
];

/// From the lowest mean to the highest.
fn value(level: f64) -> f64 {
    4.0 * level - 2.0
}

fn print(name: &str, times: [f64; 5], cdf: [f64; 5]) {
    let cells: String = times.iter().zip(cdf).map(|(t, cdf)| format!(" {:.0} ({:.1}) |", 1.0 / t, t / cdf)).collect();
    println!("| {name} |{cells}");
}

/// Seconds for one row.
fn time(mixtures: &Mixtures, seconds: f64, answer: impl Fn(Mixture<'_>, f64) -> f64) -> f64 {
    let rows = mixtures.len() as f64;
    let all = || {
        for (row, mixture) in mixtures.rows().enumerate() {
            black_box(answer(mixture, (row as f64 + 0.5) / rows));
        }
    };
    fastest(seconds, all) / rows
}

/// Overlapping components: weights, means and sds at random.
fn mixtures(components: usize, rows: usize) -> Mixtures {
    let mut rng = Rng::new(1, components as u64);
    let mut draw = |low: f64, high: f64| -> Vec<f64> {
        (0..rows * components).map(|_| low + (high - low) * rng.uniform()).collect()
    };
    let (weights, means, sds) = (draw(0.01, 1.0), draw(-2.0, 2.0), draw(0.1, 1.0));
    Mixtures::new(components, weights, means, sds).expect("a valid mixture")
}
