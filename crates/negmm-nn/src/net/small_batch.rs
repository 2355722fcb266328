//! Forward pass of a small batch: units are lanes, where a panel has rows as lanes. A panel would compute thirty-two
//! rows though one was asked for.
//!
//! Every sum has the order that a panel gives it, so that a row has the same bits on both ways.

use super::activation::Activation;
use super::network::{Layer, Network, PANEL, PANEL_CHUNKS, chunks_with_one};
use super::parameters::Parameters;
use super::stem_workspace::StemWorkspace;
use negmm_dist::math::lanes::{Chunk, Lanes, WIDTH, floats};
use negmm_dist::math::matmul::{Product, Start, Strided, transpose};

/// Rows at most.
pub const FEW_ROWS: usize = 8;

/// Room for few rows on their way through a network.
pub struct SmallBatch {
    stem: Option<Embedding>,
    activation: Activation,
    layers: Vec<Layer>,
    /// rows × units of each level: what the first layer reads, then what each gives. A last unit holds ones.
    levels: Vec<Vec<Chunk>>,
    /// Where the slopes of units go, which nobody asks for.
    slopes: Vec<Chunk>,
    /// outputs × panel.
    outputs: Vec<Chunk>,
}

/// A stem has its rows in a panel.
struct Embedding {
    pass: StemWorkspace,
    /// units × panel, then ones, then zeros up to a multiple of sixteen units.
    values: Vec<Chunk>,
    slopes: Vec<Chunk>,
}

impl SmallBatch {
    /// Room for rows through `network`.
    pub fn new(network: &Network) -> Self {
        let layers = network.layers();
        let units = || std::iter::once(network.layer_inputs()).chain(layers.iter().map(|layer| layer.outputs));
        let widest = units().map(chunks_with_one).max().unwrap_or(0);
        let panel = |units: usize| vec![Chunk::ZERO; units * PANEL_CHUNKS];
        let embedding = |pass| {
            let units = network.layer_inputs();
            let mut values = panel(chunks_with_one(units) * WIDTH);
            values[units * PANEL_CHUNKS..][..PANEL_CHUNKS].fill(Chunk([1.0; WIDTH]));
            Embedding { pass, values, slopes: panel(units) }
        };
        Self {
            stem: network.stem.as_ref().map(StemWorkspace::new).map(embedding),
            activation: network.activation,
            levels: units().map(|units| vec![Chunk::ZERO; FEW_ROWS * chunks_with_one(units)]).collect(),
            slopes: vec![Chunk::ZERO; FEW_ROWS * widest],
            outputs: panel(network.outputs),
            layers,
        }
    }

    /// The first `count` rows of `x`, each padded to `stride` floats, through the network to outputs × panel. Rows of the panel after
    /// them mean nothing.
    #[inline(always)]
    pub fn forward<L: Lanes>(&mut self, x: &[f32], stride: usize, count: usize, parameters: &Parameters) -> &[Chunk] {
        assert!((1..=FEW_ROWS).contains(&count), "a few rows");
        self.read::<L>(x, stride, count, parameters);
        let mut turned = parameters.turned(&self.layers);
        for (index, layer) in self.layers.iter().enumerate() {
            let across = chunks_with_one(layer.outputs);
            let (weights, rest) = turned.split_at((layer.inputs + 1) * across);
            turned = rest;
            let (before, after) = self.levels.split_at_mut(index + 1);
            let (input, output) = (&before[index], &mut after[0][..count * across]);
            L::call(Product {
                a: Strided { values: floats(input), row_stride: layer.stride * WIDTH, column_stride: 1 },
                b: weights,
                c: output,
                start: Start::Zero,
                rows: count,
                inner: layer.inputs + 1,
                chunks: across,
            });
            if index + 1 == self.layers.len() {
                break;
            }
            self.activation.apply::<L>(output, &mut self.slopes);
            if layer.residual {
                for (value, before) in output.iter_mut().zip(input) {
                    (L::load(before) + L::load(value)).store(value);
                }
            }
            for row in output.chunks_exact_mut(across) {
                row[layer.outputs / WIDTH].0[layer.outputs % WIDTH] = 1.0;
            }
        }
        if let (Some(last), Some(layer)) = (self.levels.last(), self.layers.last()) {
            for (row, values) in
                floats(last).chunks_exact(chunks_with_one(layer.outputs) * WIDTH).enumerate().take(count)
            {
                for (output, value) in self.outputs.chunks_exact_mut(PANEL_CHUNKS).zip(values) {
                    output[row / WIDTH].0[row % WIDTH] = *value;
                }
            }
        }
        &self.outputs
    }

    /// What the first layer reads.
    #[inline(always)]
    fn read<L: Lanes>(&mut self, x: &[f32], stride: usize, count: usize, parameters: &Parameters) {
        let layer = self.layers[0];
        let level = &mut self.levels[0];
        if let Some(Embedding { pass, values, slopes }) = &mut self.stem {
            pass.read::<L>(x, stride, &std::array::from_fn::<u32, PANEL, _>(|at| at.min(count - 1) as u32));
            let units = slopes.len();
            pass.forward::<L>(parameters.chunks(), None, &mut values[..units], slopes);
            return transpose::<L>(values, PANEL_CHUNKS, layer.stride * WIDTH, level, count);
        }
        for (chunks, row) in level.chunks_exact_mut(layer.stride).zip(x.chunks_exact(stride)).take(count) {
            for (chunk, part) in chunks.iter_mut().zip(row.chunks_exact(WIDTH)) {
                chunk.0.copy_from_slice(part);
            }
            chunks[layer.inputs / WIDTH].0[layer.inputs % WIDTH] = 1.0;
        }
    }
}

/// The weights of all layers, turned: inputs and the bias × outputs, each input's padded with zeros to whole chunks and the place of a one.
pub(super) fn turned(weights: &[Chunk], layers: &[Layer]) -> Vec<Chunk> {
    let mut turned = Vec::new();
    for layer in layers {
        let (across, rows) = (chunks_with_one(layer.outputs), floats(&weights[layer.range()]));
        for input in 0..=layer.inputs {
            let first = turned.len();
            turned.resize(first + across, Chunk::ZERO);
            for output in 0..layer.outputs {
                turned[first + output / WIDTH].0[output % WIDTH] = rows[output * layer.stride * WIDTH + input];
            }
        }
    }
    turned
}
