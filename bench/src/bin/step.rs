//! Times one training step of NE-GMM, on a fresh and on a converged network.

use std::time::Instant;

use negmm::data::Dataset;
use negmm::math::lanes::Isa;
use negmm::math::rng::Rng;
use negmm::net::{Activation, MixtureHead, Network};
use negmm::train::{CpuEngine, Engine, Job, Objective, Schedule, Training, Watch};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let inputs: usize = arguments.next().map_or(13, |a| a.parse().unwrap());
    let hidden: Vec<usize> = arguments.next().map_or(vec![50], |a| a.split(',').map(|h| h.parse().unwrap()).collect());
    let components: usize = arguments.next().map_or(10, |a| a.parse().unwrap());
    let batch: usize = arguments.next().map_or(32, |a| a.parse().unwrap());
    let activation = match arguments.next().as_deref() {
        Some("silu") => Activation::Silu,
        Some("tanh") => Activation::Tanh,
        _ => Activation::Relu,
    };
    let rows = 512.max(batch * 4);
    let mut rng = Rng::new(1, 0);
    let mut data = Dataset::new(inputs);
    for _ in 0..rows {
        let x: Vec<f32> = (0..inputs).map(|_| (2.0 * rng.uniform() - 1.0) as f32 * 1.7).collect();
        let y = (x[0] * 1.5).sin() + 0.5 * x[1 % inputs] * x[2 % inputs] + 0.3 * (rng.uniform() as f32 - 0.5);
        data.push(&x, y);
    }
    let run = |epochs: usize, isa: Isa| {
        let head = MixtureHead { components, sd_floor: 1e-3, sd_ceiling: None, mean_bound: None };
        let job = Job {
            network: Network { inputs, hidden: hidden.clone(), activation, outputs: head.outputs() },
            objective: Objective::hybrid(head, 0.5),
            data: &data,
            train: (0..rows as u32).collect(),
            validation: vec![],
            training: Training {
                epochs,
                batch,
                learning_rate: 1e-3,
                schedule: Schedule::Constant,
                averaging: 0.0,
                ..Training::default()
            },
            seed: 1,
        };
        let engine = CpuEngine { threads: 1, isa };
        let start = Instant::now();
        let trained = engine.train(&[job], &Watch::nothing()).pop().unwrap().unwrap();
        (start.elapsed().as_secs_f64(), trained)
    };
    for isa in [Isa::Avx512, Isa::Avx2] {
        let steps = rows.div_ceil(batch);
        let fresh = (0..20).map(|_| run(20, isa).0 / (20 * steps) as f64).fold(f64::INFINITY, f64::min);
        let long_epochs = if hidden.iter().sum::<usize>() > 300 { 20 } else { 2000 };
        let (long, trained) = run(long_epochs, isa);
        let (short, _) = run(long_epochs / 2, isa);
        println!(
            "{isa:?} fresh {:.2} us, converged {:.2} us, loss {:?} -> {:?}",
            fresh * 1e6,
            (long - short) / (long_epochs / 2 * steps) as f64 * 1e6,
            trained.history.epochs[0].loss,
            trained.history.epochs.last().unwrap().loss
        );
    }
}
