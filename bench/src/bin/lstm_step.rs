//! Times one training step of an LSTM with a mixture head and the hybrid loss.
//!
//! `lstm_step [interpreter]`: with a Python that has PyTorch, also runs `bench/peers/torch_lstm_step.py` with the same sizes
//! and prints the ratio. The sizes: batch 32, a window of 30 steps, 1 channel, 2 layers of 64 units, 5 components.

use std::process::Command;
use std::time::Instant;

use negmm::Rng;
use negmm::net::{Lstm, MixtureHead};
use negmm_dist::math::lanes::{Chunk, Isa, Kernel, Lanes, WIDTH, floats};
use negmm_dist::math::matmul::{Product, Start, Strided, transpose};
use negmm_nn::loss::{Scratch, Wanted};
use negmm_nn::net::{LstmWorkspace, MixtureOutputs, MixturePanel, PANEL, PANEL_CHUNKS};

const LSTM: Lstm = Lstm { channels: 1, window: 30, hidden: 64, layers: 2 };
const HEAD: MixtureHead = MixtureHead::new(5, 1e-3);
const ETA: f32 = 0.5;
const RATE: f64 = 1e-3;
const ROWS: usize = 512;
/// Steps timed, each for itself: the shortest is what the step costs when nothing else runs.
const STEPS: usize = 1500;

/// Chunks of one output of the linear layer between the LSTM and the head: its weights, the bias, zeros.
const LINEAR_STRIDE: usize = (LSTM.hidden + 1).div_ceil(WIDTH);

/// An autoregressive series of random coefficients for each row; the target is its next value.
struct Data {
    x: Vec<Chunk>,
    y: Vec<f32>,
}

const X_STRIDE: usize = (LSTM.channels * LSTM.window).div_ceil(WIDTH);

impl Data {
    fn new(rng: &mut Rng) -> Self {
        let mut data = Self { x: vec![Chunk::ZERO; ROWS * X_STRIDE], y: Vec::with_capacity(ROWS) };
        for row in data.x.chunks_exact_mut(X_STRIDE) {
            let keep = 0.5 + 0.4 * rng.uniform();
            let mut value = 0.0;
            for step in 0..LSTM.window {
                row[step / WIDTH].0[step % WIDTH] = value as f32;
                value = keep * value + 2.0 * (rng.uniform() - 0.5);
            }
            data.y.push(value as f32);
        }
        data
    }
}

/// The state of a training step.
struct Trainer {
    data: Data,
    pass: LstmWorkspace,
    /// The LSTM's weights and then the linear layer's; gradient and moments have the same layout.
    weights: Vec<Chunk>,
    gradient: Vec<Chunk>,
    first: Vec<Chunk>,
    second: Vec<Chunk>,
    steps: i32,
    rows: Vec<Chunk>,
    gathered: Vec<Chunk>,
    /// The LSTM's outputs and a constant one, and the same transposed.
    level: Vec<Chunk>,
    transposed: Vec<Chunk>,
    raw: Vec<Chunk>,
    raw_deltas: Vec<Chunk>,
    deltas: Vec<Chunk>,
    panel: MixturePanel,
    scratch: Scratch,
}

impl Trainer {
    fn new() -> Self {
        let mut rng = Rng::new(1, 0);
        let mut weights = LSTM.initial_parameters(&mut rng);
        let bound = 1.0 / (LSTM.hidden as f64).sqrt();
        for _ in 0..HEAD.outputs() {
            let mut row = [Chunk::ZERO; LINEAR_STRIDE];
            for input in 0..=LSTM.hidden {
                row[input / WIDTH].0[input % WIDTH] = ((2.0 * rng.uniform() - 1.0) * bound) as f32;
            }
            weights.extend(row);
        }
        let zeros = |chunks: usize| vec![Chunk::ZERO; chunks];
        let mut level = zeros(LINEAR_STRIDE * WIDTH * PANEL_CHUNKS);
        level[LSTM.hidden * PANEL_CHUNKS..][..PANEL_CHUNKS].fill(Chunk([1.0; WIDTH]));
        Self {
            data: Data::new(&mut rng),
            pass: LstmWorkspace::new(&LSTM),
            gradient: zeros(weights.len()),
            first: zeros(weights.len()),
            second: zeros(weights.len()),
            weights,
            steps: 0,
            rows: zeros(LSTM.inputs() * PANEL_CHUNKS),
            gathered: zeros(PANEL * X_STRIDE),
            level,
            transposed: zeros(PANEL * LINEAR_STRIDE),
            raw: zeros(HEAD.outputs() * PANEL_CHUNKS),
            raw_deltas: zeros(HEAD.outputs() * PANEL_CHUNKS),
            deltas: zeros(LSTM.hidden * PANEL_CHUNKS),
            panel: MixturePanel::new(HEAD.components),
            scratch: Scratch::new(HEAD.components),
        }
    }

    #[inline(always)]
    fn step<L: Lanes>(&mut self, batch: &[u32]) -> f32 {
        let mut y = [Chunk::ZERO; PANEL_CHUNKS];
        for (at, &row) in batch.iter().enumerate() {
            let x = &self.data.x[row as usize * X_STRIDE..][..X_STRIDE];
            self.gathered[at * X_STRIDE..][..X_STRIDE].copy_from_slice(x);
            y[at / WIDTH].0[at % WIDTH] = self.data.y[row as usize];
        }
        transpose::<L>(&self.gathered, X_STRIDE, PANEL, &mut self.rows, LSTM.inputs());
        self.gradient.fill(Chunk::ZERO);
        let (weights, linear) = self.weights.split_at(LSTM.chunks());
        let (gradient, linear_gradient) = self.gradient.split_at_mut(LSTM.chunks());
        self.pass.forward::<L>(&self.rows, weights, None);
        self.level[..LSTM.hidden * PANEL_CHUNKS].copy_from_slice(self.pass.outputs());
        L::call(Product {
            a: Strided { values: floats(linear), row_stride: LINEAR_STRIDE * WIDTH, column_stride: 1 },
            b: &self.level,
            c: &mut self.raw,
            start: Start::Zero,
            rows: HEAD.outputs(),
            inner: LSTM.hidden + 1,
            chunks: PANEL_CHUNKS,
        });
        let loss = L::call(Loss {
            raw: &self.raw,
            y: &y,
            deltas: &mut self.raw_deltas,
            panel: &mut self.panel,
            scratch: &mut self.scratch,
        });
        transpose::<L>(&self.level, PANEL_CHUNKS, LINEAR_STRIDE * WIDTH, &mut self.transposed, PANEL);
        L::call(Product {
            a: Strided { values: floats(&self.raw_deltas), row_stride: PANEL, column_stride: 1 },
            b: &self.transposed,
            c: linear_gradient,
            start: Start::Itself,
            rows: HEAD.outputs(),
            inner: PANEL,
            chunks: LINEAR_STRIDE,
        });
        L::call(Product {
            a: Strided { values: floats(linear), row_stride: 1, column_stride: LINEAR_STRIDE * WIDTH },
            b: &self.raw_deltas,
            c: &mut self.deltas,
            start: Start::Zero,
            rows: LSTM.hidden,
            inner: HEAD.outputs(),
            chunks: PANEL_CHUNKS,
        });
        self.pass.backward::<L>(&self.deltas, weights, gradient);
        self.adam::<L>();
        loss
    }

    /// Adam with its usual constants.
    #[inline(always)]
    fn adam<L: Lanes>(&mut self) {
        self.steps += 1;
        let size = L::splat((RATE / (1.0 - 0.9f64.powi(self.steps))) as f32);
        let correction = L::splat((1.0 / (1.0 - 0.999f64.powi(self.steps)).sqrt()) as f32);
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((weight, g), (first, second)) in self.weights.iter_mut().zip(&self.gradient).zip(moments) {
            let g = L::load(g);
            let m = L::load(first).mul_add(L::splat(0.9), L::splat(0.1) * g);
            let v = L::load(second).mul_add(L::splat(0.999), L::splat(0.001) * g * g);
            m.store(first);
            v.store(second);
            let step = m / v.sqrt().mul_add(correction, L::splat(1e-8));
            step.neg_mul_add(size, L::load(weight)).store(weight);
        }
    }
}

/// The mean over the panel of ETA · log score + (1 - ETA) · energy score, and its derivative.
struct Loss<'a> {
    raw: &'a [Chunk],
    y: &'a [Chunk; PANEL_CHUNKS],
    deltas: &'a mut [Chunk],
    panel: &'a mut MixturePanel,
    scratch: &'a mut Scratch,
}

impl Kernel for Loss<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<L: Lanes>(self) -> f32 {
        let row_weight = 1.0 / PANEL as f32;
        let (log_factor, energy_factor) = (L::splat(row_weight * ETA), L::splat(row_weight * (1.0 - ETA)));
        HEAD.forward::<L>(self.raw, self.panel);
        let mut sum = L::splat(0.0);
        for lane in 0..PANEL_CHUNKS {
            let wanted = Wanted { log: true, energy: true };
            let (log, energy) = self.scratch.scores::<L>(self.panel, (&self.y[lane]).into(), lane, wanted);
            sum = log.mul_add(log_factor, energy.mul_add(energy_factor, sum));
            self.scratch.gradient::<L>(self.panel, lane, Some(log_factor), Some(energy_factor), self.deltas);
        }
        let parameters = self.deltas.to_vec();
        HEAD.backward::<L>(self.panel, &parameters, self.deltas);
        sum.sum()
    }
}

/// What is timed.
#[derive(Clone, Copy, PartialEq)]
enum TimedPart {
    Step,
    Forward,
    Backward,
    Adam,
}

struct Run<'a> {
    trainer: &'a mut Trainer,
    batch: &'a [u32],
    part: TimedPart,
}

impl Kernel for Run<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<L: Lanes>(self) -> f32 {
        let Self { trainer, batch, part } = self;
        let own = LSTM.chunks();
        match part {
            TimedPart::Step => return trainer.step::<L>(batch),
            TimedPart::Forward => trainer.pass.forward::<L>(&trainer.rows, &trainer.weights[..own], None),
            TimedPart::Backward => {
                let gradient = &mut trainer.gradient[..own];
                trainer.pass.backward::<L>(&trainer.deltas, &trainer.weights[..own], gradient);
            }
            TimedPart::Adam => trainer.adam::<L>(),
        }
        0.0
    }
}

/// Only multiply-adds in registers: the peak of any product. Returns their number.
struct Peak;

impl Kernel for Peak {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes>(self) -> usize {
        // As many sums as hide the latency of one and still fit the registers.
        if L::WIDE { sums::<L, 16>() } else { sums::<L, 6>() }
    }
}

#[inline(always)]
fn sums<L: Lanes, const SUMS: usize>() -> usize {
    const ROUNDS: usize = 20_000;
    let mut sums = [L::splat(0.1); SUMS];
    let (factor, addend) = (L::splat(0.999), L::splat(1e-3));
    for _ in 0..ROUNDS {
        for sum in &mut sums {
            *sum = sum.mul_add(factor, addend);
        }
    }
    for sum in sums {
        std::hint::black_box(sum.sum());
    }
    ROUNDS * SUMS * WIDTH
}

/// The product of one step of one layer, U h: 256 gates × 64 units × 32 rows.
struct Recurrent<'a>(&'a [Chunk], &'a [Chunk], &'a mut [Chunk]);

impl Kernel for Recurrent<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        L::call(Product {
            a: Strided { values: floats(self.0), row_stride: 1, column_stride: 4 * LSTM.hidden },
            b: self.1,
            c: self.2,
            start: Start::Zero,
            rows: 4 * LSTM.hidden,
            inner: LSTM.hidden,
            chunks: PANEL_CHUNKS,
        });
    }
}

/// Seconds of the shortest of many runs.
fn shortest(mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..STEPS {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

fn main() {
    // Multiply-adds of one step, each two operations: forward once; backward the gradients of all weights, and of all that
    // a layer sees but the window itself and the constant one.
    let layers = LSTM.layout(0);
    let products = |units: usize| (2 * units * 4 * LSTM.hidden * PANEL * LSTM.window) as f64;
    let forward: f64 = layers.iter().map(|layer| products(layer.inputs + layer.hidden)).sum();
    let backward = 2.0 * forward - products(LSTM.channels);
    let mut best_step = f64::INFINITY;
    for isa in [Isa::Avx512, Isa::Avx2].into_iter().filter(|isa| isa.available()) {
        let mut trainer = Trainer::new();
        let gates = &mut vec![Chunk::ZERO; 4 * LSTM.hidden * PANEL_CHUNKS];
        let peak = 2.0 * isa.run(Peak) as f64 / shortest(|| _ = isa.run(Peak));
        let product = (2 * 4 * LSTM.hidden * LSTM.hidden * PANEL) as f64
            / shortest(|| isa.run(Recurrent(&trainer.weights, &trainer.level, gates)));
        println!("{isa:?} at most {:.1} GFLOP/s, one 32x64x256 product {:.1} GFLOP/s", peak / 1e9, product / 1e9);
        let mut rng = Rng::new(2, 0);
        let mut order: Vec<u32> = (0..ROWS as u32).collect();
        let mut losses = Vec::with_capacity(STEPS);
        let mut time = |part: TimedPart| {
            let mut best = f64::INFINITY;
            for _ in 0..STEPS / (ROWS / PANEL) {
                rng.shuffle(&mut order);
                for batch in order.chunks_exact(PANEL) {
                    let start = Instant::now();
                    let loss = isa.run(Run { trainer: &mut trainer, batch, part });
                    best = best.min(start.elapsed().as_secs_f64());
                    if part == TimedPart::Step {
                        losses.push(loss);
                    }
                }
            }
            best
        };
        let step = time(TimedPart::Step);
        let (ahead, back, adam) = (time(TimedPart::Forward), time(TimedPart::Backward), time(TimedPart::Adam));
        best_step = best_step.min(step);
        println!(
            "{isa:?} step {:.0} us ({:.1} GFLOP/s): forward {:.0} us ({:.1} GFLOP/s), backward {:.0} us ({:.1} GFLOP/s), Adam \
             {:.0} us; loss {:.3} -> {:.3}",
            step * 1e6,
            (forward + backward) / step / 1e9,
            ahead * 1e6,
            forward / ahead / 1e9,
            back * 1e6,
            backward / back / 1e9,
            adam * 1e6,
            losses[0],
            losses[losses.len() - 1],
        );
    }
    let Some(interpreter) = std::env::args().nth(1) else { return };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/torch_lstm_step.py");
    match Command::new(&interpreter).arg(script).output() {
        Err(error) => eprintln!("{interpreter} cannot be run: {error}"),
        Ok(output) => {
            let line = String::from_utf8_lossy(&output.stdout);
            print!("{line}{}", String::from_utf8_lossy(&output.stderr));
            let field =
                |name: &str| line.split(&format!("\"{name}\": ")).nth(1)?.split([',', '}']).next()?.parse().ok();
            for name in ["step_us", "step_without_onednn_us"] {
                if let Some(microseconds) = field(name) {
                    let microseconds: f64 = microseconds;
                    println!("{name} / ours: {:.2}", microseconds * 1e-6 / best_step);
                }
            }
        }
    }
}
