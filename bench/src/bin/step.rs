//! Times one training step of NE-GMM on one core, on a fresh and on a converged network, beside the arithmetic floor and,
//! with `--peers PYTHON`, beside the same step in JAX and PyTorch.
//!
//! | option | meaning | default |
//! |---|---|---|
//! | `--inputs --hidden --components --batch` | sizes; `--hidden 50,50` for two layers | 13, 50, 10, 32 |
//! | `--activation` | `relu`, `tanh` or `silu` | relu |
//! | `--embedding` | sd of the starting frequencies of a periodic embedding of every input; 0 for none | 0 |
//! | `--residual` | `true` for residual layers | false |
//! | `--optimiser` | `adam`, `schedule-free` or `muon` | adam |
//! | `--rows` | rows of an epoch; the short last batch is left out | 506, at least 8 batches |
//! | `--epochs` | training before the converged timing | 500 |
//! | `--rounds` | how often everything is measured | 3 |
//! | `--seconds` | time for each of the two timings in a round | 1 |
//! | `--core` | the core to run on (needs `taskset`) | 0 |
//! | `--peers` | a Python with jax and torch; else `NEGMM_PEERS_PYTHON` | none |
//! | `--only` | part of a peer's name: the others are left out; with `--embedding` PyTorch always is | all |
//!
//! A timing is the fastest run of whole epochs, at least 200 steps long: shuffle, gather, forward, loss, gradient, Adam.
//! Ours and the peers' take turns, round by round, so that all see the same noise; the fastest of all rounds counts.
//! All times are of the processor.
//! `bench/src/floor.rs` explains how the floor is counted.

use std::sync::{Arc, Mutex};

use negmm::Rng;
use negmm::data::Dataset;
use negmm::net::{EmbeddedInput, MixtureHead, Network, Periodic, Stem};
use negmm::train::Isa;
use negmm::train::{
    Callbacks, CpuEngine, NetworkJob, Objective, Optimiser, Schedule, Trained, TrainedNetwork, TrainingConfig, train,
};
use negmm_bench::options::{Options, activation};
use negmm_bench::peers::{PEERS, Peer, pin};
use negmm_bench::usage::exact_cpu_seconds;
use negmm_bench::{fastest, floor};
use negmm_dist::math::normal;

/// A timed run is at least this many steps long.
const TIMED_STEPS: usize = 200;

const OPTIONS: [&str; 15] = [
    "--inputs",
    "--hidden",
    "--components",
    "--batch",
    "--activation",
    "--embedding",
    "--residual",
    "--optimiser",
    "--rows",
    "--epochs",
    "--rounds",
    "--seconds",
    "--core",
    "--peers",
    "--only",
];

fn main() -> Result<(), String> {
    let options = Options::read(&OPTIONS)?;
    let step = Step::new(&options)?;
    let (rounds, core) = (options.get("--rounds", 3)?, options.get("--core", 0)?);
    let python = options.text("--peers").map(str::to_string).or(std::env::var("NEGMM_PEERS_PYTHON").ok());
    println!("{}, {}", step.title(), if pin(core) { format!("core {core}") } else { "any core".to_string() });

    let mut sets: Vec<Isa> = Isa::ALL.into_iter().filter(|isa| isa.available()).collect();
    if sets.len() > 1 {
        // Plain Rust takes a hundred times as long where a multiply-add is a call: it gets one epoch, below.
        sets.retain(|isa| *isa != Isa::Plain);
    }
    let mut ours = vec![[f64::INFINITY; 2]; sets.len()];
    let selected: Vec<&Peer> = PEERS
        .iter()
        .filter(|peer| peer.name.contains(options.text("--only").unwrap_or("")))
        .filter(|peer| step.network.stem.is_none() || peer.embeds())
        // They have plain layers and Adam.
        .filter(|_| !step.network.residual && step.optimiser == Optimiser::Adam)
        .collect();
    let mut peers = vec![[f64::INFINITY; 2]; selected.len()];
    let (mut peaks, mut losses) = (vec![0.0; sets.len()], Vec::new());
    for _ in 0..rounds {
        for ((isa, best), peak) in sets.iter().zip(&mut ours).zip(&mut peaks) {
            *peak = floor::peak_of(*isa).max(*peak);
            let (microseconds, first_and_last) = step.measure(*isa);
            keep_least(best, microseconds);
            losses.push(first_and_last);
        }
        if let Some(python) = &python {
            for (peer, best) in selected.iter().zip(&mut peers) {
                keep_least(best, peer.run(python, &step.peer_arguments())?);
            }
        }
    }
    if losses.iter().any(|loss| *loss != losses[0]) {
        return Err(format!("the instruction sets do not agree: losses {losses:?}"));
    }

    let operations = floor::operations(&step.network, step.components, step.batch, step.optimiser);
    let least = |peak: f64| operations as f64 / peak * 1e6;
    println!("loss {:.4} in the first epoch, {:.4} in the last, on every instruction set", losses[0].0, losses[0].1);
    println!("{operations} operations a step\n");
    println!("| | billion multiply-adds a second | floor us | fresh us | converged us | x floor | x floor |");
    println!("|---|---|---|---|---|---|---|");
    for ((isa, [fresh, converged]), peak) in sets.iter().zip(&ours).zip(&peaks) {
        let floor = least(*peak);
        let (a, b) = (fresh / floor, converged / floor);
        println!("| negmm, {isa:?} | {:.1} | {floor:.2} | {fresh:.2} | {converged:.2} | {a:.2} | {b:.2} |", peak / 1e9);
    }
    if !sets.contains(&Isa::Plain) {
        let (microseconds, loss) = step.measure_once(Isa::Plain);
        if loss != losses[0].0 {
            return Err(format!("plain Rust does not agree: loss {loss}"));
        }
        println!("| negmm, Plain | | | {microseconds:.0} | | | |");
    }
    if python.is_some() {
        println!("\n| | fresh us | converged us | x negmm | x negmm |");
        println!("|---|---|---|---|---|");
        for (peer, [fresh, converged]) in selected.iter().zip(&peers) {
            let (a, b) = (fresh / ours[0][0], converged / ours[0][1]);
            println!("| {} | {fresh:.1} | {converged:.1} | {a:.1} | {b:.1} |", peer.name);
        }
    }
    Ok(())
}

fn keep_least(best: &mut [f64; 2], new: [f64; 2]) {
    for (best, new) in best.iter_mut().zip(new) {
        *best = best.min(new);
    }
}

/// The step to time.
struct Step {
    network: Network,
    components: usize,
    batch: usize,
    optimiser: Optimiser,
    rows: usize,
    epochs: usize,
    seconds: f64,
    data: Arc<Dataset>,
}

impl Step {
    fn new(options: &Options) -> Result<Self, String> {
        let inputs = options.get("--inputs", 13)?;
        let components = options.get("--components", 10)?;
        let batch: usize = options.get("--batch", 32)?;
        let rows = options.get("--rows", 506.max(8 * batch))?;
        if inputs == 0 || components == 0 || !(1..=rows).contains(&batch) {
            return Err("inputs and components are at least 1, and a batch has at least 1 row and at most all".into());
        }
        let data = noisy_curve(rows, inputs);
        let frequency = options.get("--embedding", 0.0)?;
        let stem = (frequency > 0.0).then(|| embedding(&data, frequency));
        let hidden = options.list("--hidden", vec![50])?;
        Ok(Self {
            network: Network {
                inputs,
                stem,
                hidden,
                residual: options.get("--residual", false)?,
                activation: activation(options)?,
                outputs: 3 * components,
            },
            components,
            batch,
            optimiser: match options.text("--optimiser").unwrap_or("adam") {
                "adam" => Optimiser::Adam,
                "schedule-free" => Optimiser::ScheduleFree,
                "muon" => Optimiser::Muon,
                other => return Err(format!("--optimiser cannot be {other:?}")),
            },
            rows,
            epochs: options.get("--epochs", 500)?,
            seconds: options.get("--seconds", 1.0)?,
            data: Arc::new(data),
        })
    }

    fn hidden(&self) -> String {
        self.network.hidden.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
    }

    fn activation(&self) -> String {
        format!("{:?}", self.network.activation).to_lowercase()
    }

    fn title(&self) -> String {
        let Self { network, components, batch, .. } = self;
        let (inputs, hidden, activation) = (network.inputs, self.hidden(), self.activation());
        let residual = if network.residual { " residual" } else { "" };
        let embedded = if network.stem.is_some() { ", each with a periodic embedding" } else { "" };
        format!(
            "{inputs} inputs{embedded}, {hidden}{residual} hidden {activation} units, {components} components, batch {batch}, {:?}",
            self.optimiser
        )
    }

    /// The same step for a peer's script.
    fn peer_arguments(&self) -> Vec<String> {
        let mut arguments = vec![
            ("--inputs", self.network.inputs.to_string()),
            ("--hidden", self.hidden()),
            ("--components", self.components.to_string()),
            ("--batch", self.batch.to_string()),
            ("--activation", self.activation()),
            ("--rows", self.rows.to_string()),
            ("--epochs", self.epochs.to_string()),
            ("--seconds", self.seconds.to_string()),
        ];
        if let Some(Stem::Periodic(periodic)) = &self.network.stem {
            arguments.push(("--embedding", periodic.frequency.to_string()));
        }
        arguments.into_iter().flat_map(|(name, value)| [name.to_string(), value]).collect()
    }

    /// Microseconds a step, fresh and converged, and the losses of the first and the last epoch before the second timing.
    fn measure(&self, isa: Isa) -> ([f64; 2], (f64, f64)) {
        let steps = self.rows / self.batch;
        let timed = TIMED_STEPS.div_ceil(steps);
        let fresh = fastest(self.seconds, || drop(self.train(timed, isa))) / (timed * steps) as f64;
        // As many timed runs as fit into the time, all behind the training that comes first.
        let runs = (self.seconds / (fresh * (timed * steps) as f64)).ceil().max(5.0) as usize;
        let (ends, trained) = self.train(self.epochs + runs * timed, isa);
        let lengths = (0..runs).map(|run| {
            let first = self.epochs - 1 + run * timed;
            ends[first + timed] - ends[first]
        });
        let converged = lengths.fold(f64::INFINITY, f64::min) / (timed * steps) as f64;
        let loss = |epoch: usize| trained.history.epochs[epoch].loss.unwrap_or(f64::NAN);
        ([fresh * 1e6, converged * 1e6], (loss(0), loss(self.epochs - 1)))
    }

    /// Microseconds a step in the first epoch, and its loss.
    fn measure_once(&self, isa: Isa) -> (f64, f64) {
        let start = exact_cpu_seconds();
        let (ends, trained) = self.train(1, isa);
        let steps = (self.rows / self.batch) as f64;
        ((ends[0] - start) / steps * 1e6, trained.history.epochs[0].loss.unwrap_or(f64::NAN))
    }

    /// Trains from the start; gives the processor time at which each epoch ended.
    fn train(&self, epochs: usize, isa: Isa) -> (Vec<f64>, TrainedNetwork) {
        let head = MixtureHead::new(self.components, 1e-3);
        let rows = self.rows / self.batch * self.batch;
        let job = NetworkJob {
            network: self.network.clone(),
            objective: Objective::Hybrid { head, eta: 0.5 },
            data: self.data.clone(),
            train: (0..rows as u32).collect(),
            validation: [].into(),
            plan: TrainingConfig::default()
                .epochs(epochs)
                .batch_size(self.batch)
                .optimiser(self.optimiser)
                .learning_rate(1e-3)
                .schedule(Schedule::Constant)
                .ema_decay(0.0)
                .plan(rows),
            seed: 1,
            initial: None,
        };
        let ends = Mutex::new(Vec::with_capacity(epochs));
        let note = |_: &_| ends.lock().expect("one thread").push(exact_cpu_seconds());
        let watch = Callbacks { progress: &note, ..Callbacks::nothing() };
        let engine = CpuEngine { threads: 1, isa };
        let trained = train(&engine, &[job.into()], &watch).pop().expect("one job in, one result out");
        let Ok(Trained::Network(trained)) = trained else { panic!("a valid job of a network") };
        (ends.into_inner().expect("one thread"), trained)
    }
}

/// A periodic embedding of every input, over the range of the data.
fn embedding(data: &Dataset, frequency: f32) -> Stem {
    let inputs = data.features();
    let embedded = |input: usize| {
        let (low, high) = data.range(input);
        EmbeddedInput { input, low, high }
    };
    Stem::Periodic(Periodic { inputs, frequency, embedded: (0..inputs).map(embedded).collect() })
}

/// Nonlinear regression with noise that depends on the input, standardised: the peers' data but for the random numbers.
fn noisy_curve(rows: usize, inputs: usize) -> Dataset {
    let mut rng = Rng::new(1, 0);
    let mut draw = || normal::quantile(rng.uniform());
    let slopes: Vec<f64> = (0..inputs).map(|_| draw() / (inputs as f64).sqrt()).collect();
    let x: Vec<Vec<f64>> = (0..rows).map(|_| (0..inputs).map(|_| draw()).collect()).collect();
    let y: Vec<f64> = x
        .iter()
        .map(|x| {
            let linear: f64 = x.iter().zip(&slopes).map(|(x, slope)| x * slope).sum();
            let noise = 0.2 + 0.3 / (1.0 + (-2.0 * x[0]).exp());
            linear + (2.0 * x[0]).sin() + 0.5 * x[inputs - 1].powi(2) + noise * draw()
        })
        .collect();
    let mean = y.iter().sum::<f64>() / rows as f64;
    let sd = (y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / rows as f64).sqrt();
    let mut data = Dataset::new(inputs);
    for (x, y) in x.iter().zip(&y) {
        let x: Vec<f32> = x.iter().map(|x| *x as f32).collect();
        data.push(&x, ((y - mean) / sd) as f32);
    }
    data
}
