//! Forward pass of a small batch: lanes are units, whereas those of a panel are rows, of which there are always thirty-two.
//!
//! Every sum has the same order as in a panel, so that a row has the same bits in both.

use super::activation::Activation;
use super::network::{Layer, Network, PANEL, PANEL_CHUNKS, chunks_with_one};
use super::parameters::Parameters;
use super::stem_workspace::StemWorkspace;
use negmm_dist::math::lanes::{Chunk, Lanes, WIDTH, floats};
use negmm_dist::math::matmul::{Product, Start, Strided, transpose};

/// Largest number of rows.
pub const FEW_ROWS: usize = 8;

/// The buffers of a forward pass of a small batch.
pub struct SmallBatch {
    stem: Option<StemBuffers>,
    activation: Activation,
    layers: Vec<Layer>,
    /// rows × units of each level: the inputs of the first layer, then the outputs of each layer. The last unit is one.
    levels: Vec<Vec<Chunk>>,
    /// outputs × panel.
    outputs: Vec<Chunk>,
}

/// The buffers of a stem, which reads a panel of rows.
struct StemBuffers {
    workspace: StemWorkspace,
    /// units × panel, then ones, then zeros up to a multiple of sixteen units.
    values: Vec<Chunk>,
    slopes: Vec<Chunk>,
}

impl SmallBatch {
    /// Buffers for `network`.
    pub fn new(network: &Network) -> Self {
        let layers = network.layers();
        let units = || std::iter::once(network.layer_inputs()).chain(layers.iter().map(|layer| layer.outputs));
        let panel = |units: usize| vec![Chunk::ZERO; units * PANEL_CHUNKS];
        let embedding = |workspace| {
            let units = network.layer_inputs();
            let mut values = panel(chunks_with_one(units) * WIDTH);
            values[units * PANEL_CHUNKS..][..PANEL_CHUNKS].fill(Chunk([1.0; WIDTH]));
            StemBuffers { workspace, values, slopes: panel(units) }
        };
        Self {
            stem: network.stem.as_ref().map(StemWorkspace::new).map(embedding),
            activation: network.activation,
            levels: units().map(|units| vec![Chunk::ZERO; FEW_ROWS * chunks_with_one(units)]).collect(),
            outputs: panel(network.outputs),
            layers,
        }
    }

    /// The outputs × panel of the first `count` rows of `x`, each padded to `stride` floats. The other rows of the panel are
    /// undefined.
    #[inline(always)]
    pub fn forward<L: Lanes>(&mut self, x: &[f32], stride: usize, count: usize, parameters: &Parameters) -> &[Chunk] {
        assert!((1..=FEW_ROWS).contains(&count), "a few rows");
        self.read::<L>(x, stride, count, parameters);
        let mut transposed = parameters.transposed(&self.layers);
        for (index, layer) in self.layers.iter().enumerate() {
            let across = chunks_with_one(layer.outputs);
            let (weights, rest) = transposed.split_at((layer.inputs + 1) * across);
            transposed = rest;
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
            // As many chunks, since a residual layer has as many outputs as inputs.
            let skipped = layer.residual.then_some(&input[..]);
            self.activation.apply::<L, false>(output, &mut [], skipped);
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

    /// The inputs of the first layer.
    #[inline(always)]
    fn read<L: Lanes>(&mut self, x: &[f32], stride: usize, count: usize, parameters: &Parameters) {
        let layer = self.layers[0];
        let level = &mut self.levels[0];
        if let Some(StemBuffers { workspace, values, slopes }) = &mut self.stem {
            workspace.read::<L>(x, stride, &std::array::from_fn::<u32, PANEL, _>(|at| at.min(count - 1) as u32));
            let units = slopes.len();
            workspace.forward::<L, false>(parameters.chunks(), None, &mut values[..units], slopes);
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

/// The weights of all layers, transposed: inputs and the bias × outputs, each row padded with zeros to whole chunks that include the
/// constant one.
pub(super) fn transposed(weights: &[Chunk], layers: &[Layer]) -> Vec<Chunk> {
    let mut transposed = Vec::new();
    for layer in layers {
        let (across, rows) = (chunks_with_one(layer.outputs), floats(&weights[layer.range()]));
        for input in 0..=layer.inputs {
            let first = transposed.len();
            transposed.resize(first + across, Chunk::ZERO);
            for output in 0..layer.outputs {
                transposed[first + output / WIDTH].0[output % WIDTH] = rows[output * layer.stride * WIDTH + input];
            }
        }
    }
    transposed
}
