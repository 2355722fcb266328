//! Times SampleNet's loss with its gradient for a batch of 32 rows, its whole training step (13 inputs, 50 hidden units,
//! Adam) without a regulariser, and the Sinkhorn regulariser alone, for 50, 200 and 300 samples a row.
//!
//! ```text
//! sample_step                          our times
//! sample_step PYTHON [seconds]         and those of bench/peers/torch_sample_step.py under that interpreter, with the ratio
//! ```

use std::process::Command;
use std::time::Instant;

use negmm::Rng;
use negmm::net::{Activation, Network};
use negmm_dist::math::counter::Counter;
use negmm_dist::math::lanes::{Chunk, Isa, Kernel, Lanes, floats_mut};
use negmm_nn::loss::sample_energy::SampleScratch;
use negmm_nn::loss::sinkhorn::{Prior, Sinkhorn, SinkhornScratch};
use negmm_nn::net::{PANEL, PANEL_CHUNKS, Workspace};

const INPUTS: usize = 13;
const HIDDEN: usize = 50;
const SAMPLES: [usize; 3] = [50, 200, 300];
/// Shortest of this many runs.
const RUNS: usize = 30;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let interpreter = arguments.next();
    let seconds = arguments.next().unwrap_or_else(|| "3".into());
    for samples in SAMPLES {
        let mut ours = f64::INFINITY;
        for isa in Isa::ALL.into_iter().filter(|isa| isa.available()) {
            let [loss, step, regulariser] =
                [TimedPart::Loss, TimedPart::Step, TimedPart::Regulariser].map(|part| microseconds(isa, samples, part));
            println!(
                "M={samples} {isa:?}: loss and gradient {loss:.2} us, step {step:.2} us, regulariser {regulariser:.0} us"
            );
            ours = ours.min(step);
        }
        if let Some(interpreter) = &interpreter {
            let peer = peer_microseconds(interpreter, samples, &seconds);
            println!("M={samples} eager PyTorch, all pairs: step {peer:.0} us, {:.0} times ours", peer / ours);
        }
    }
}

/// What is timed.
#[derive(Clone, Copy, PartialEq)]
enum TimedPart {
    /// Score and gradient of the outputs.
    Loss,
    /// Forward, loss, backward, Adam.
    Step,
    /// Sinkhorn divergence and its gradient.
    Regulariser,
}

fn microseconds(isa: Isa, samples: usize, part: TimedPart) -> f64 {
    let (runs, steps) = match part {
        TimedPart::Regulariser => (5, 2),
        _ if isa == Isa::Plain => (5, 20),
        _ => (RUNS, 200),
    };
    let mut bench = Bench::new(samples);
    isa.run(Steps { bench: &mut bench, steps, part: TimedPart::Step });
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        isa.run(Steps { bench: &mut bench, steps, part });
        best = best.min(start.elapsed().as_secs_f64());
    }
    best / steps as f64 * 1e6
}

/// The step of the peer, from the one JSON line it prints.
fn peer_microseconds(interpreter: &str, samples: usize, seconds: &str) -> f64 {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/torch_sample_step.py");
    let output = Command::new(interpreter)
        .args([script, "--samples", &samples.to_string(), "--seconds", seconds])
        .output()
        .expect("the interpreter starts");
    let line = String::from_utf8_lossy(&output.stdout);
    let number = line.split("\"step_us\":").nth(1).and_then(|rest| rest.split([',', '}']).next());
    match number.and_then(|number| number.trim().parse().ok()) {
        Some(number) => number,
        None => panic!("no step_us in {line:?}: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// A network that learns a sine from fresh batches, as training does it.
struct Bench {
    samples: usize,
    x: Vec<f32>,
    y: Vec<f32>,
    weights: Vec<Chunk>,
    gradient: Vec<Chunk>,
    first: Vec<Chunk>,
    second: Vec<Chunk>,
    pass: Workspace,
    scratch: SampleScratch,
    sinkhorn: SinkhornScratch,
    steps: usize,
}

const ROWS: usize = 512;
const STRIDE: usize = INPUTS.next_multiple_of(16);

impl Bench {
    fn new(samples: usize) -> Self {
        let network = Network {
            inputs: INPUTS,
            stem: None,
            hidden: vec![HIDDEN],
            residual: false,
            activation: Activation::Relu,
            outputs: samples,
        };
        let mut rng = Rng::new(1, 0);
        let mut x = vec![0.0; ROWS * STRIDE];
        let mut y = Vec::new();
        for row in x.chunks_exact_mut(STRIDE) {
            row[..INPUTS].fill_with(|| (2.0 * rng.uniform() - 1.0) as f32 * 1.7);
            y.push((row[0] * 1.5).sin() + 0.5 * row[1] * row[2] + 0.3 * (rng.uniform() as f32 - 0.5));
        }
        let weights = network.initial_parameters(&mut rng);
        let zeros = vec![Chunk::ZERO; weights.len()];
        Self {
            samples,
            x,
            y,
            gradient: zeros.clone(),
            first: zeros.clone(),
            second: zeros,
            weights,
            pass: Workspace::new(&network),
            scratch: SampleScratch::new(samples),
            sinkhorn: SinkhornScratch::new(samples),
            steps: 0,
        }
    }

    #[inline(always)]
    fn loss<L: Lanes>(&mut self, y: &[Chunk; PANEL_CHUNKS]) -> f32 {
        let (outputs, deltas) = self.pass.outputs_and_deltas();
        let row_weight = L::splat(1.0 / PANEL as f32);
        let mut sum = L::splat(0.0);
        for (lane, y) in y.iter().enumerate() {
            sum = self.scratch.score::<L>(outputs, y, lane).mul_add(row_weight, sum);
            self.scratch.gradient::<L>(lane, row_weight, deltas);
        }
        sum.sum()
    }

    #[inline(always)]
    fn regulariser<L: Lanes>(&mut self) -> f32 {
        let sinkhorn = Sinkhorn { prior: Prior::Uniform, weight: 1.0 };
        sinkhorn.draw(&mut Counter::new(1, 0).step(self.steps as u64), &mut self.sinkhorn);
        let (outputs, deltas) = self.pass.outputs_and_deltas();
        let factors = [Chunk([1.0 / PANEL as f32; 16]); PANEL_CHUNKS];
        sinkhorn.add::<L>(outputs, &factors, deltas, &mut self.sinkhorn).sum()
    }

    #[inline(always)]
    fn step<L: Lanes>(&mut self) -> f32 {
        let start = self.steps * PANEL % ROWS;
        self.steps += 1;
        let rows: [u32; PANEL] = std::array::from_fn(|row| (start + row) as u32);
        let mut y = [Chunk::ZERO; PANEL_CHUNKS];
        floats_mut(&mut y).copy_from_slice(&self.y[start..start + PANEL]);
        self.pass.read::<L>(&self.x, STRIDE, &rows);
        self.pass.forward::<L>(Activation::Relu, &self.weights, None);
        let loss = self.loss::<L>(&y);
        self.pass.backward::<L>(&self.weights, &mut self.gradient, true, false);
        self.adam::<L>();
        loss
    }

    /// The arithmetic of the library's Adam, which is private.
    #[inline(always)]
    fn adam<L: Lanes>(&mut self) {
        let size = L::splat((1e-3 / (1.0 - 0.9f64.powi(self.steps as i32))) as f32);
        let correction = L::splat((1.0 / (1.0 - 0.999f64.powi(self.steps as i32)).sqrt()) as f32);
        for (((weight, g), first), second) in
            self.weights.iter_mut().zip(&self.gradient).zip(&mut self.first).zip(&mut self.second)
        {
            let g = L::load(g);
            let m = L::load(first).mul_add(L::splat(0.9), L::splat(0.1) * g);
            let v = L::load(second).mul_add(L::splat(0.999), L::splat(0.001) * g * g);
            m.store(first);
            v.store(second);
            (m / v.sqrt().mul_add(correction, L::splat(1e-8))).neg_mul_add(size, L::load(weight)).store(weight);
        }
    }
}

struct Steps<'a> {
    bench: &'a mut Bench,
    steps: usize,
    part: TimedPart,
}

impl Kernel for Steps<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<L: Lanes>(self) -> f32 {
        let y = [Chunk([0.3; 16]); PANEL_CHUNKS];
        let mut sum = 0.0;
        for _ in 0..self.steps {
            sum += match self.part {
                TimedPart::Loss => self.bench.loss::<L>(&y),
                TimedPart::Step => self.bench.step::<L>(),
                TimedPart::Regulariser => self.bench.regulariser::<L>(),
            };
        }
        assert!(sum.is_finite(), "{} samples", self.bench.samples);
        sum
    }
}
