//! A network of fully connected layers, with or without a stem: the layout of its weights in one flat buffer, forward and backward
//! pass.
//!
//! Rows are processed in panels of [`PANEL`]: level `l` of the workspace is units × panel, so that a row is a lane and every product
//! is "broadcast a weight, multiply a vector of rows". A bias is the weight of one more input that is always 1: level `l`
//! has a last unit of ones, so that the product for the weight gradient gives the bias gradient too.

use serde::{Deserialize, Serialize};

use super::activation::Activation;
use super::parameters::Parameters;
use super::stem::Stem;
use super::stem_workspace::StemWorkspace;
use negmm_dist::math::counter::Draws;
use negmm_dist::math::lanes::{Chunk, Lanes, WIDTH, floats};
use negmm_dist::math::matmul::{Product, Start, Strided, transpose};
use negmm_dist::math::rng::Rng;

/// Rows that are processed together: two vectors of sixteen.
pub const PANEL: usize = 32;
/// Chunks in a panel.
pub const PANEL_CHUNKS: usize = PANEL / WIDTH;

/// The architecture of a network: fully connected layers, the last of them linear. With a stem the first layer reads its outputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// Numbers in a row.
    pub inputs: usize,
    /// The stem before the layers; its weights come first in the flat buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stem: Option<Stem>,
    /// Units of each hidden layer.
    pub hidden: Vec<usize>,
    /// Whether hidden layers with as many units as the layer before have a residual connection (He et al., 2016).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub residual: bool,
    /// The activation of hidden units.
    pub activation: Activation,
    /// Outputs per row.
    pub outputs: usize,
}

/// The layout of one layer in the flat buffer: `outputs` rows of `stride` chunks, each `inputs` weights, the bias, zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Input units.
    pub inputs: usize,
    /// Output units.
    pub outputs: usize,
    /// Chunks of one output's weights.
    pub stride: usize,
    /// First chunk in the flat buffer.
    pub start: usize,
    /// Whether its inputs are added to its outputs.
    pub residual: bool,
}

impl Layer {
    /// Its chunks in the flat buffer.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.outputs * self.stride
    }
}

/// Chunks of `units` and the constant one.
pub(super) fn chunks_with_one(units: usize) -> usize {
    (units + 1).div_ceil(WIDTH)
}

impl Network {
    /// The layers, first to last.
    pub fn layers(&self) -> Vec<Layer> {
        let mut start = self.stem.as_ref().map_or(0, Stem::chunks);
        let mut inputs = self.layer_inputs();
        let mut layers = Vec::with_capacity(self.hidden.len() + 1);
        for (index, &outputs) in self.hidden.iter().chain([&self.outputs]).enumerate() {
            let residual = self.residual && (1..self.hidden.len()).contains(&index) && inputs == outputs;
            let layer = Layer { inputs, outputs, stride: chunks_with_one(inputs), start, residual };
            start = layer.range().end;
            inputs = outputs;
            layers.push(layer);
        }
        layers
    }

    /// Numbers that the first layer reads.
    pub fn layer_inputs(&self) -> usize {
        self.stem.as_ref().map_or(self.inputs, Stem::outputs)
    }

    /// Chunks of the flat buffer.
    pub fn chunks(&self) -> usize {
        self.layers().last().map_or(0, |layer| layer.range().end)
    }

    /// Weights and biases.
    pub fn parameters(&self) -> usize {
        let layers: usize = self.layers().iter().map(|layer| (layer.inputs + 1) * layer.outputs).sum();
        layers + self.stem.as_ref().map_or(0, Stem::parameters)
    }

    /// Weights and biases uniform in ±1/sqrt(inputs of the layer), as PyTorch initialises linear layers; the stem by
    /// [`Stem::initial_parameters`].
    pub fn initial_parameters(&self, rng: &mut Rng) -> Vec<Chunk> {
        let mut weights = self.stem.as_ref().map_or(Vec::new(), |stem| stem.initial_parameters(rng));
        weights.resize(self.chunks(), Chunk::ZERO);
        for layer in self.layers() {
            let bound = 1.0 / (layer.inputs.max(1) as f64).sqrt();
            for row in weights[layer.range()].chunks_mut(layer.stride) {
                for input in 0..=layer.inputs {
                    row[input / WIDTH].0[input % WIDTH] = ((2.0 * rng.uniform() - 1.0) * bound) as f32;
                }
            }
        }
        weights
    }
}

impl Layer {
    /// For each output the weights of all inputs and then the bias.
    pub fn rows<'a>(&self, parameters: &'a Parameters) -> impl Iterator<Item = &'a [f32]> {
        let inputs = self.inputs;
        floats(&parameters.chunks()[self.range()]).chunks_exact(self.stride * WIDTH).map(move |row| &row[..=inputs])
    }

    /// Sets the biases of its outputs.
    pub fn set_biases(&self, weights: &mut [Chunk], biases: &[f32]) {
        for (row, bias) in weights[self.range()].chunks_exact_mut(self.stride).zip(biases) {
            row[self.inputs / WIDTH].0[self.inputs % WIDTH] = *bias;
        }
    }
}

/// The buffers of a forward and backward pass of one panel of rows.
#[derive(Clone, Debug)]
pub struct Workspace {
    stem: Option<StemWorkspace>,
    layers: Vec<Layer>,
    levels: Vec<LayerBuffers>,
}

/// The buffers of one level: level 0 is the input of the first layer, the last one the output.
#[derive(Clone, Debug)]
struct LayerBuffers {
    /// units × panel, then ones, then zeros up to a multiple of sixteen units.
    values: Vec<Chunk>,
    /// panel × units: the same, transposed.
    rows: Vec<Chunk>,
    /// units × panel: derivative of the activation.
    slopes: Vec<Chunk>,
    /// units × panel: derivative of the loss with respect to the pre-activations of `values`.
    deltas: Vec<Chunk>,
    /// units × panel: derivative of the loss with respect to `values` themselves, after a residual layer; else empty.
    direct: Vec<Chunk>,
}

impl LayerBuffers {
    /// Buffers for a number of units; `direct`: after a residual layer.
    fn new(units: usize, direct: bool) -> Self {
        let across = chunks_with_one(units);
        let panel = |units: usize| vec![Chunk::ZERO; units * PANEL_CHUNKS];
        let mut values = panel(across * WIDTH);
        values[units * PANEL_CHUNKS..][..PANEL_CHUNKS].fill(Chunk([1.0; WIDTH]));
        Self {
            values,
            rows: vec![Chunk::ZERO; PANEL * across],
            slopes: panel(units),
            deltas: panel(units),
            direct: panel(if direct { units } else { 0 }),
        }
    }
}

/// Dropout during training: each unit is kept with probability 1 - rate, and then scaled by 1 / (1 - rate).
#[derive(Debug)]
pub struct Dropout<'a> {
    /// Probability that a unit is dropped.
    pub rate: f32,
    /// The random numbers.
    pub draws: &'a mut Draws,
}

impl Dropout<'_> {
    /// Sixteen factors: 0 or 1 / (1 - rate), each from sixteen random bits.
    #[inline(always)]
    pub(super) fn mask(&mut self) -> Chunk {
        let cut = (self.rate * 65536.0) as u64;
        let keep = 1.0 / (1.0 - self.rate);
        let mut mask = Chunk::ZERO;
        for four in mask.0.chunks_mut(4) {
            let bits = self.draws.bits();
            for (lane, factor) in four.iter_mut().enumerate() {
                *factor = if (bits >> (16 * lane)) & 0xffff >= cut { keep } else { 0.0 };
            }
        }
        mask
    }
}

impl Workspace {
    /// Buffers for one panel of rows of `network`.
    pub fn new(network: &Network) -> Self {
        let layers = network.layers();
        let first = LayerBuffers::new(network.layer_inputs(), false);
        let after = layers.iter().map(|layer| LayerBuffers::new(layer.outputs, layer.residual));
        let levels = std::iter::once(first).chain(after).collect();
        Self { stem: network.stem.as_ref().map(StemWorkspace::new), layers, levels }
    }

    /// Loads a panel of rows, each padded to `stride` floats.
    #[inline(always)]
    pub fn read<L: Lanes>(&mut self, x: &[f32], stride: usize, rows: &[u32; PANEL]) {
        if let Some(stem) = &mut self.stem {
            return stem.read::<L>(x, stride, rows);
        }
        let layer = self.layers[0];
        let level = &mut self.levels[0];
        for (chunks, &row) in level.rows.chunks_exact_mut(layer.stride).zip(rows) {
            let row = &x[row as usize * stride..][..stride];
            for (chunk, part) in chunks.iter_mut().zip(row.chunks_exact(WIDTH)) {
                chunk.0.copy_from_slice(part);
            }
            chunks[layer.inputs / WIDTH].0[layer.inputs % WIDTH] = 1.0;
        }
        transpose::<L>(&level.rows, layer.stride, PANEL, &mut level.values, layer.inputs);
    }

    /// The forward pass of training. With dropout, which applies to the units of an LSTM too.
    #[inline(always)]
    pub fn forward<L: Lanes>(&mut self, activation: Activation, weights: &[Chunk], dropout: Option<Dropout<'_>>) {
        self.pass::<L, true>(activation, weights, dropout);
    }

    /// The forward pass of prediction: no backward pass follows it.
    #[inline(always)]
    pub fn predict<L: Lanes>(&mut self, activation: Activation, weights: &[Chunk]) {
        self.pass::<L, false>(activation, weights, None);
    }

    /// A forward pass; with `SLOPES` it leaves what a backward pass needs.
    #[inline(always)]
    fn pass<L: Lanes, const SLOPES: bool>(
        &mut self,
        activation: Activation,
        weights: &[Chunk],
        mut dropout: Option<Dropout<'_>>,
    ) {
        if let Some(stem) = &mut self.stem {
            let level = &mut self.levels[0];
            let units = level.slopes.len();
            stem.forward::<L, SLOPES>(weights, dropout.as_mut(), &mut level.values[..units], &mut level.slopes);
        }
        for (index, layer) in self.layers.iter().enumerate() {
            let (before, after) = self.levels.split_at_mut(index + 1);
            let (input, output) = (&before[index], &mut after[0]);
            L::call(Product {
                a: Strided {
                    values: floats(&weights[layer.range()]),
                    row_stride: layer.stride * WIDTH,
                    column_stride: 1,
                },
                b: &input.values,
                c: &mut output.values,
                start: Start::Zero,
                rows: layer.outputs,
                inner: layer.inputs + 1,
                chunks: PANEL_CHUNKS,
            });
            if index + 1 == self.layers.len() {
                return;
            }
            let units = layer.outputs * PANEL_CHUNKS;
            let skipped = (layer.residual && dropout.is_none()).then_some(&input.values[..]);
            activation.apply::<L, SLOPES>(&mut output.values[..units], &mut output.slopes, skipped);
            let Some(dropout) = &mut dropout else { continue };
            for (value, slope) in output.values[..units].iter_mut().zip(&mut output.slopes) {
                let mask = L::load(&dropout.mask());
                (L::load(value) * mask).store(value);
                (L::load(slope) * mask).store(slope);
            }
            if layer.residual {
                for (value, before) in output.values[..units].iter_mut().zip(&input.values) {
                    (L::load(before) + L::load(value)).store(value);
                }
            }
        }
    }

    /// The last level: outputs × panel.
    #[inline(always)]
    pub fn outputs(&self) -> &[Chunk] {
        let last = self.levels.len() - 1;
        &self.levels[last].values[..self.layers[last - 1].outputs * PANEL_CHUNKS]
    }

    /// The last level and the buffer for the derivative of the loss with respect to it.
    #[inline(always)]
    pub fn outputs_and_deltas(&mut self) -> (&[Chunk], &mut [Chunk]) {
        let last = self.levels.len() - 1;
        let level = &mut self.levels[last];
        (&level.values[..self.layers[last - 1].outputs * PANEL_CHUNKS], &mut level.deltas)
    }

    /// The backward pass, from the deltas of the last level; adds to `gradient`, which has the layout of `weights`. With `first` it
    /// starts from zero, but for that of a stem, which is zero before. The deltas of the inputs are computed only if `to_inputs`, and not
    /// through a stem.
    #[inline(always)]
    pub fn backward<L: Lanes>(&mut self, weights: &[Chunk], gradient: &mut [Chunk], first: bool, to_inputs: bool) {
        for (index, layer) in self.layers.iter().enumerate().rev() {
            let (before, after) = self.levels.split_at_mut(index + 1);
            let (input, LayerBuffers { deltas, direct, .. }) = (&mut before[index], &after[0]);
            if index > 0 || self.stem.is_some() {
                transpose::<L>(&input.values, PANEL_CHUNKS, layer.stride * WIDTH, &mut input.rows, PANEL);
            }
            L::call(Product {
                a: Strided { values: floats(deltas), row_stride: PANEL, column_stride: 1 },
                b: &input.rows,
                c: &mut gradient[layer.range()],
                start: if first { Start::Zero } else { Start::Itself },
                rows: layer.outputs,
                inner: PANEL,
                chunks: layer.stride,
            });
            if index == 0 && !to_inputs && self.stem.is_none() {
                return;
            }
            if layer.residual {
                input.deltas.copy_from_slice(direct);
            }
            L::call(Product {
                a: Strided {
                    values: floats(&weights[layer.range()]),
                    row_stride: 1,
                    column_stride: layer.stride * WIDTH,
                },
                b: deltas,
                c: &mut input.deltas,
                start: if layer.residual { Start::Itself } else { Start::Zero },
                rows: layer.inputs,
                inner: layer.outputs,
                chunks: PANEL_CHUNKS,
            });
            if index == 0 && self.stem.is_none() {
                return;
            }
            if input.direct.is_empty() {
                for (delta, slope) in input.deltas.iter_mut().zip(&input.slopes) {
                    (L::load(delta) * L::load(slope)).store(delta);
                }
            } else {
                for ((delta, slope), direct) in input.deltas.iter_mut().zip(&input.slopes).zip(&mut input.direct) {
                    let whole = L::load(delta);
                    whole.store(direct);
                    (whole * L::load(slope)).store(delta);
                }
            }
            if let (0, Some(stem)) = (index, &mut self.stem) {
                stem.backward::<L>(&input.deltas, weights, gradient);
            }
        }
    }

    /// Moves every input by its step in the direction in which the loss increases, after [`Workspace::backward`] to the inputs.
    #[inline(always)]
    pub fn move_inputs<L: Lanes>(&mut self, steps: &[f32]) {
        let zero = L::splat(0.0);
        let level = &mut self.levels[0];
        for (input, step) in steps.iter().enumerate() {
            for at in input * PANEL_CHUNKS..(input + 1) * PANEL_CHUNKS {
                let (value, delta) = (L::load(&level.values[at]), L::load(&level.deltas[at]));
                let up = L::splat(*step).select(delta.gt(zero), zero);
                let down = L::splat(*step).select(zero.gt(delta), zero);
                (value + up - down).store(&mut level.values[at]);
            }
        }
        let stride = self.layers[0].stride;
        transpose::<L>(&level.values, PANEL_CHUNKS, stride * WIDTH, &mut level.rows, PANEL);
    }
}
