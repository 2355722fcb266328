//! Times the matrix products of a training step on one core, by our kernel and by the crate `gemm`.
//!
//! | option | meaning | default |
//! |---|---|---|
//! | `--inputs --hidden --components --batch` | sizes, as in `step`; what the first layer reads for `--inputs` | 32, 256,256,256, 8, 256 |
//! | `--rounds` | how often everything is measured | 5 |
//! | `--seconds` | time for each timing in a round | 0.1 |
//! | `--core` | the core to run on (needs `taskset`) | 0 |
//!
//! Ours works on one panel of rows after the other, as training does; `gemm` gets the whole batch at once, which suits it
//! best. Both take turns; the fastest run counts. The defaults are the large network of `auto` with eight embedded inputs.
//! Give `--step MICROSECONDS`, what `step` printed for the same sizes, to see the whole step as a fraction of gemm's speed.

use std::hint::black_box;

use gemm::{Parallelism, gemm};
use negmm::Rng;
use negmm_bench::fastest;
use negmm_bench::options::Options;
use negmm_bench::peers::pin;
use negmm_dist::math::lanes::{Chunk, Isa, WIDTH, floats};
use negmm_dist::math::matmul::{Product, Start, Strided};
use negmm_nn::net::{PANEL, PANEL_CHUNKS};

const OPTIONS: [&str; 8] =
    ["--inputs", "--hidden", "--components", "--batch", "--rounds", "--seconds", "--core", "--step"];

fn main() -> Result<(), String> {
    let options = Options::read(&OPTIONS)?;
    let batch = options.get::<usize>("--batch", 256)?.next_multiple_of(PANEL);
    let (rounds, seconds) = (options.get("--rounds", 5)?, options.get("--seconds", 0.1)?);
    let core = options.get("--core", 0)?;
    let pinned = if pin(core) { format!("core {core}") } else { "any core".to_string() };
    let mut units = vec![options.get("--inputs", 32)?];
    units.extend(options.list("--hidden", vec![256; 3])?);
    units.push(3 * options.get("--components", 8)?);
    println!("layers of {units:?} units, batch {batch}, f32, {pinned}, {:?}\n", Isa::best());
    println!("| product | ours GFLOP/s | gemm GFLOP/s | ours / gemm |");
    println!("|---|---|---|---|");
    let (mut operations, mut totals) = (0.0, [0.0; 2]);
    for layer in units.windows(2) {
        for kind in [ProductKind::Forward, ProductKind::Gradient, ProductKind::Backward] {
            let mut work = Work::new(kind, layer[0], layer[1], batch);
            let mut best = [f64::INFINITY; 2];
            for _ in 0..rounds {
                best[0] = fastest(seconds, || work.ours()).min(best[0]);
                best[1] = fastest(seconds, || work.gemm()).min(best[1]);
            }
            let flops = 2.0 * (layer[0] * layer[1] * batch) as f64;
            let [ours, theirs] = best.map(|time| flops / time * 1e-9);
            println!("| {kind:?} {} to {} | {ours:.1} | {theirs:.1} | {:.2} |", layer[0], layer[1], ours / theirs);
            operations += flops;
            totals = [totals[0] + best[0], totals[1] + best[1]];
        }
    }
    let [ours, theirs] = totals.map(|time| operations / time * 1e-9);
    println!("| all | {ours:.1} | {theirs:.1} | {:.2} |", ours / theirs);
    let step = options.get("--step", 0.0)?;
    if step > 0.0 {
        let speed = operations / step * 1e-3;
        println!("\nA whole step of {step} us: {speed:.1} GFLOP/s, {:.2} of gemm's", speed / theirs);
    }
    Ok(())
}

#[derive(Clone, Copy, Debug)]
enum ProductKind {
    /// values = weights · inputs.
    Forward,
    /// gradient += deltas · inputsᵀ.
    Gradient,
    /// deltas of the inputs = weightsᵀ · deltas.
    Backward,
}

/// One product of one layer: `rows` × `inner` times `inner` × `columns`.
struct Work {
    kind: ProductKind,
    batch: usize,
    rows: usize,
    inner: usize,
    columns: usize,
    a: Vec<Chunk>,
    b: Vec<Chunk>,
    c: Vec<Chunk>,
}

impl Work {
    fn new(kind: ProductKind, inputs: usize, outputs: usize, batch: usize) -> Self {
        let (rows, inner, columns) = match kind {
            ProductKind::Forward => (outputs, inputs, batch),
            ProductKind::Gradient => (outputs, batch, inputs.next_multiple_of(WIDTH)),
            ProductKind::Backward => (inputs, outputs, batch),
        };
        let mut rng = Rng::new(1, 0);
        let mut list = |numbers: usize| -> Vec<Chunk> {
            let chunk = |_| Chunk(std::array::from_fn(|_| rng.uniform() as f32 - 0.5));
            (0..numbers.div_ceil(WIDTH)).map(chunk).collect()
        };
        let (a, b, c) = (list(rows * inner), list(inner * columns), list(rows * columns));
        Self { kind, batch, rows, inner, columns, a, b, c }
    }

    /// Panel by panel: the rows of a panel are the columns of the product, or the inner dimension of a gradient.
    fn ours(&mut self) {
        let Self { rows, inner, columns, .. } = *self;
        for panel in 0..self.batch / PANEL {
            let a = floats(&self.a);
            let product = match self.kind {
                ProductKind::Gradient => Product {
                    a: Strided { values: &a[panel * rows * PANEL..], row_stride: PANEL, column_stride: 1 },
                    b: &self.b[panel * PANEL * columns / WIDTH..],
                    c: &mut self.c,
                    start: Start::Itself,
                    rows,
                    inner: PANEL,
                    chunks: columns / WIDTH,
                },
                ProductKind::Forward | ProductKind::Backward => {
                    let (row_stride, column_stride) =
                        if matches!(self.kind, ProductKind::Forward) { (inner, 1) } else { (1, rows) };
                    Product {
                        a: Strided { values: a, row_stride, column_stride },
                        b: &self.b[panel * inner * PANEL_CHUNKS..],
                        c: &mut self.c[panel * rows * PANEL_CHUNKS..],
                        start: Start::Zero,
                        rows,
                        inner,
                        chunks: PANEL_CHUNKS,
                    }
                }
            };
            Isa::best().run(product);
        }
        black_box(&self.c);
    }

    /// The same product over the whole batch; all matrices row-major except the weights of the backward pass.
    fn gemm(&mut self) {
        let (rows, inner, columns) = (self.rows as isize, self.inner as isize, self.columns as isize);
        let (a_row, a_column) = if matches!(self.kind, ProductKind::Backward) { (1, rows) } else { (inner, 1) };
        let add = matches!(self.kind, ProductKind::Gradient);
        // SAFETY: a, b and c hold rows × inner, inner × columns and rows × columns numbers, and c is borrowed exclusively.
        unsafe {
            gemm(
                self.rows,
                self.columns,
                self.inner,
                self.c.as_mut_ptr().cast::<f32>(),
                1,
                columns,
                add,
                self.a.as_ptr().cast::<f32>(),
                a_column,
                a_row,
                self.b.as_ptr().cast::<f32>(),
                1,
                columns,
                1.0,
                1.0,
                false,
                false,
                false,
                Parallelism::None,
            );
        }
        black_box(&self.c);
    }
}
