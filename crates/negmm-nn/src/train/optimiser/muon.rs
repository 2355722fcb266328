//! Muon (Jordan et al., 2024): the step of a matrix is its momentum, approximately orthogonalised.
//!
//! ```text
//! M = 0.95 M + 0.05 G        X = (0.05 G + 0.95 M) / norm        norm of Frobenius
//! three times: A = X Xᵀ, X = a X + (b A + c A A) X               Newton-Schulz, singular values go towards 1
//! W = W - rate · 0.2 sqrt(max(inputs, outputs)) X
//! ```
//!
//! The matrices are those of all hidden layers; biases, the last layer and the stem use Adam. With the factor 0.2 sqrt(…) steps are as
//! long as those of Adam, so that both have the same learning rate (Liu et al., 2025, "Muon is scalable for LLM training").

use std::ops::Range;

use super::adam::Adam;
use crate::net::{Layer, Network};
use crate::threads;
use negmm_dist::math::lanes::{Chunk, Kernel, Lanes, WIDTH, floats, floats_mut};
use negmm_dist::math::matmul::{Product, Start, Strided, Symmetric, transpose};

/// Decay of the momentum.
const MOMENTUM: f32 = 0.95;
/// Newton-Schulz iterations, and the coefficients a, b, c of each.
const ITERATIONS: usize = 3;
const COEFFICIENTS: [f32; 3] = [3.4445, -4.775, 2.0315];
/// Length of a step relative to Adam.
const SCALE: f64 = 0.2;
/// Smallest norm of a matrix that is normalised.
const MIN_NORM: f32 = 1e-20;

/// The state of Muon and Adam.
#[derive(Clone, Debug)]
pub struct Muon {
    adam: Adam,
    matrices: Vec<Matrix>,
    /// The chunks of all other parameters.
    others: Vec<Range<usize>>,
}

impl Muon {
    pub(super) fn new(network: &Network) -> Self {
        let layers = network.layers();
        let hidden = &layers[..network.hidden.len()];
        // A layer without inputs has only biases.
        let matrices = hidden.iter().filter(|layer| layer.inputs > 0).map(|layer| Matrix::new(*layer)).collect();
        Self { adam: Adam::new(network.chunks()), matrices, others: others(network, hidden) }
    }

    /// One step; where a chunk has weights of a matrix beside a bias, Adam gets zero gradients for them. The gradient is changed.
    #[inline(always)]
    pub(super) fn step<L: Lanes>(&mut self, weights: &mut [Chunk], gradient: &mut [Chunk], rate: f64) {
        for matrix in &mut self.matrices {
            matrix.take::<L>(&mut gradient[matrix.layer.range()]);
        }
        threads::for_each(&mut self.matrices, |_, matrix| L::call(Orthogonalise(matrix)));
        for matrix in &mut self.matrices {
            matrix.step::<L>(&mut weights[matrix.layer.range()], rate);
        }
        self.adam.step::<L>(weights, gradient, rate, &self.others);
    }
}

/// The chunks that have anything but weights of the hidden layers.
fn others(network: &Network, hidden: &[Layer]) -> Vec<Range<usize>> {
    let (mut ranges, mut next) = (Vec::new(), 0);
    for layer in hidden {
        for row in layer.range().step_by(layer.stride) {
            ranges.push(next..row);
            next = row + layer.inputs / WIDTH;
        }
    }
    ranges.push(next..network.chunks());
    ranges.retain(|range| !range.is_empty());
    ranges
}

/// Multiplications of the Newton-Schulz iterations in one step: for a matrix of s × l, s the shorter side, s (s + 1) / 2 (l + s) for
/// the two symmetric products of an iteration and s² l for the third.
pub(super) fn multiplications(network: &Network) -> usize {
    let matrix = |layer: &Layer| {
        let (short, long) = (layer.inputs.min(layer.outputs), layer.inputs.max(layer.outputs));
        ITERATIONS * (short * (short + 1) / 2 * (long + short) + short * short * long)
    };
    network.layers()[..network.hidden.len()].iter().map(matrix).sum()
}

/// The matrix of one layer, with its shorter side as rows and its longer side as columns; both are padded with zeros to multiples of
/// sixteen.
#[derive(Clone, Debug)]
struct Matrix {
    layer: Layer,
    /// With the layout of the layer's part of the flat buffer.
    momentum: Vec<Chunk>,
    /// The matrix to be orthogonalised: outputs × inputs.
    update: Vec<Chunk>,
    /// X, short × long, its transpose, and the next X.
    x: Vec<Chunk>,
    transposed: Vec<Chunk>,
    next: Vec<Chunk>,
    /// X Xᵀ and its polynomial, short × short.
    gram: Vec<Chunk>,
    polynomial: Vec<Chunk>,
    short: usize,
    long: usize,
}

impl Matrix {
    fn new(layer: Layer) -> Self {
        let (short, long) = (layer.inputs.min(layer.outputs), layer.inputs.max(layer.outputs));
        let padded = |number: usize| across(number) * WIDTH;
        let zeros = |rows: usize, columns: usize| vec![Chunk::ZERO; padded(rows) * across(columns)];
        Self {
            momentum: vec![Chunk::ZERO; layer.range().len()],
            update: vec![Chunk::ZERO; padded(layer.outputs) * layer.stride],
            x: zeros(short, long),
            transposed: zeros(long, short),
            next: zeros(short, long),
            gram: zeros(short, short),
            polynomial: zeros(short, short),
            layer,
            short,
            long,
        }
    }

    /// Updates the momentum with the gradient of the weights, and leaves that of the bias alone in its chunk.
    #[inline(always)]
    fn take<L: Lanes>(&mut self, gradient: &mut [Chunk]) {
        let Self { layer, momentum, update, .. } = self;
        let (keep, add) = (L::splat(MOMENTUM), L::splat(1.0 - MOMENTUM));
        let at = (layer.inputs / WIDTH, layer.inputs % WIDTH);
        let rows = gradient.chunks_exact_mut(layer.stride);
        let remembered = momentum.chunks_exact_mut(layer.stride).zip(update.chunks_exact_mut(layer.stride));
        for (row, (momentum, update)) in rows.zip(remembered) {
            let bias = std::mem::take(&mut row[at.0].0[at.1]);
            for ((g, m), u) in row.iter().zip(momentum).zip(update) {
                let gradient = L::load(g);
                let moved = L::load(m).mul_add(keep, gradient * add);
                moved.store(m);
                moved.mul_add(keep, gradient * add).store(u);
            }
            row[at.0] = Chunk::ZERO;
            row[at.0].0[at.1] = bias;
        }
    }

    /// Writes the update with singular values near 1 to `x`.
    #[inline(always)]
    fn orthogonalise<L: Lanes>(&mut self) {
        let (short, long) = (self.short, self.long);
        let (short_chunks, long_chunks) = (short.div_ceil(WIDTH), across(long));
        let Layer { inputs, outputs, stride, .. } = self.layer;
        if outputs <= inputs {
            let chunks = long.div_ceil(WIDTH);
            for (to, from) in self.x.chunks_exact_mut(long_chunks).zip(self.update.chunks_exact(stride)) {
                to[..chunks].copy_from_slice(&from[..chunks]);
            }
        } else {
            transpose::<L>(&self.update, stride, long_chunks * WIDTH, &mut self.x, inputs);
        }
        let mut squares = L::splat(0.0);
        for chunk in &self.x {
            squares = L::load(chunk).mul_add(L::load(chunk), squares);
        }
        let norm = squares.sum().sqrt();
        let scale = L::splat(if norm > MIN_NORM { 1.0 / norm } else { 0.0 });
        for chunk in &mut self.x {
            (L::load(chunk) * scale).store(chunk);
        }
        let [a, b, c] = COEFFICIENTS;
        for _ in 0..ITERATIONS {
            transpose::<L>(&self.x, long_chunks, short_chunks * WIDTH, &mut self.transposed, long);
            let (x, gram) = (strided(&self.x, long_chunks), &mut self.gram);
            L::call(Symmetric(product(x, &self.transposed, gram, (short, long, short_chunks))));
            let gram = strided(&self.gram, short_chunks);
            L::call(Symmetric(product(gram, &self.gram, &mut self.polynomial, (short, short, short_chunks))));
            for (square, gram) in self.polynomial.iter_mut().zip(&self.gram) {
                L::load(square).mul_add(L::splat(c), L::load(gram) * L::splat(b)).store(square);
            }
            for at in 0..short {
                floats_mut(&mut self.polynomial)[at * short_chunks * WIDTH + at] += a;
            }
            let polynomial = strided(&self.polynomial, short_chunks);
            L::call(product(polynomial, &self.x, &mut self.next, (short, short, long_chunks)));
            std::mem::swap(&mut self.x, &mut self.next);
        }
    }

    /// Updates the weights, not the biases.
    #[inline(always)]
    fn step<L: Lanes>(&mut self, weights: &mut [Chunk], rate: f64) {
        let Layer { inputs, outputs, stride, .. } = self.layer;
        let long_chunks = across(self.long);
        let (steps, across) = if outputs <= inputs {
            (&self.x, long_chunks)
        } else {
            let short_chunks = self.short.div_ceil(WIDTH);
            transpose::<L>(&self.x, long_chunks, short_chunks * WIDTH, &mut self.transposed, self.long);
            (&self.transposed, short_chunks)
        };
        let size = L::splat((rate * SCALE * (self.long as f64).sqrt()) as f32);
        for (row, step) in weights.chunks_exact_mut(stride).zip(steps.chunks_exact(across)) {
            for (weight, step) in row.iter_mut().zip(step) {
                L::load(step).neg_mul_add(size, L::load(weight)).store(weight);
            }
        }
    }
}

/// Chunks in a row of so many columns. One more where rows would lie at a multiple of 1,024 bytes: those of a product would share few
/// places of the first cache.
fn across(columns: usize) -> usize {
    let chunks = columns.div_ceil(WIDTH);
    chunks + usize::from(chunks.is_multiple_of(WIDTH))
}

/// [`Matrix::orthogonalise`], on any thread.
struct Orthogonalise<'a>(&'a mut Matrix);

impl Kernel for Orthogonalise<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        self.0.orthogonalise::<L>();
    }
}

/// A matrix with `chunks` chunks per row.
#[inline(always)]
fn strided(values: &[Chunk], chunks: usize) -> Strided<'_> {
    Strided { values: floats(values), row_stride: chunks * WIDTH, column_stride: 1 }
}

/// `c = a b`: `rows` × `inner` times `inner` × `chunks`.
#[inline(always)]
fn product<'a>(
    a: Strided<'a>,
    b: &'a [Chunk],
    c: &'a mut [Chunk],
    (rows, inner, chunks): (usize, usize, usize),
) -> Product<'a> {
    Product { a, b, c, start: Start::Zero, rows, inner, chunks }
}
