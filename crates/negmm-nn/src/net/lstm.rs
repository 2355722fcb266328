//! A long short-term memory network (LSTM): the layout of its weights in one flat buffer.
//!
//! A layer reads the steps of a sequence in order. With x_t its input at step t, h and c its hidden state
//! and its cell (both zero before the first step), σ the sigmoid and · elementwise (Hochreiter & Schmidhuber, 1997, with the
//! forget gate of Gers, Schmidhuber & Cummins, 2000; gates in PyTorch's order):
//!
//! ```text
//! z_t = W x_t + U h_(t-1) + b          (i, f, g, o) = (σ z_i, σ z_f, tanh z_g, σ z_o)      each hidden × 1
//! c_t = f · c_(t-1) + i · g            h_t = o · tanh c_t
//! ```
//!
//! PyTorch has two biases, of W x and of U h, that only ever appear as a sum; here b is that sum.

use serde::{Deserialize, Serialize};

use super::ParameterView;
use negmm_dist::math::lanes::{Chunk, WIDTH, floats_mut};
use negmm_dist::math::rng::Rng;
use negmm_dist::{Error, Result};

/// i, f, g, o.
pub(super) const GATES: usize = 4;
/// The forget gate among them.
const FORGET: usize = 1;

/// Largest number of units of a layer.
pub const MAX_LSTM_UNITS: usize = 16_384;
/// Largest number of layers.
pub const MAX_LSTM_LAYERS: usize = 64;
/// Largest number of activations of a row over all steps: for a panel of 32 rows these are 4 GiB.
const MAX_TRACED: usize = 1 << 25;

/// The architecture of an LSTM, to be checked once with [`Lstm::check`]: `layers` layers of `hidden` units read a row of
/// `window · channels` numbers (all channels of the oldest step first). The output is the hidden state of the last layer after the last
/// step.
///
/// | field | range | meaning |
/// |---|---|---|
/// | `channels` | 1 … | inputs per step |
/// | `window` | 1 … | steps |
/// | `hidden` | 1 … 16384 | units of each layer |
/// | `layers` | 1 … 64 | layers, each reading the hidden states of the one before |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lstm {
    /// Inputs per step.
    pub channels: usize,
    /// Steps.
    pub window: usize,
    /// Units of each layer.
    pub hidden: usize,
    /// Layers.
    pub layers: usize,
}

/// The layout of one layer in a flat buffer: for each unit that the gates read a row of `stride` chunks, the four gates of all units
/// and zeros. These units are the layer's hidden units (U transposed), its inputs (W transposed) and a constant one (b).
///
/// With the gates side by side no lanes of a product are wasted, however few the inputs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LstmLayer {
    /// Inputs per step.
    pub inputs: usize,
    /// Its units.
    pub hidden: usize,
    /// Chunks of the gates that read one unit.
    pub stride: usize,
    /// First chunk in the flat buffer.
    pub start: usize,
}

impl LstmLayer {
    /// Its chunks in the flat buffer.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.units() * self.stride
    }

    /// Gates of all its units.
    pub fn gates(&self) -> usize {
        GATES * self.hidden
    }

    /// Units that its gates read: hidden units, inputs and the constant one.
    pub(super) fn units(&self) -> usize {
        self.hidden + self.inputs + 1
    }

    /// Its tensors by PyTorch's names, in the order of the flat buffer: `weight_hh` (gates × hidden), `weight_ih` (gates ×
    /// inputs) and `bias` (gates); gates are all units' i, then f, g and o.
    pub fn tensors(&self) -> [ParameterView; 3] {
        let stride = self.stride * WIDTH;
        let tensor = |name: &str, first: usize, columns: Option<usize>| ParameterView {
            name: name.into(),
            shape: [self.gates()].into_iter().chain(columns).collect(),
            decays: columns.is_some(),
            strides: [1].into_iter().chain(columns.map(|_| stride)).collect(),
            start: self.start * WIDTH + first * stride,
        };
        [
            tensor("weight_hh", 0, Some(self.hidden)),
            tensor("weight_ih", self.hidden, Some(self.inputs)),
            tensor("bias", self.hidden + self.inputs, None),
        ]
    }
}

impl Lstm {
    /// Checks the range of every field.
    pub fn check(&self) -> Result<()> {
        let fields = [
            ("channels", self.channels, usize::MAX),
            ("window", self.window, usize::MAX),
            ("lstm-hidden", self.hidden, MAX_LSTM_UNITS),
            ("lstm-layers", self.layers, MAX_LSTM_LAYERS),
        ];
        for (name, value, most) in fields {
            if value == 0 {
                return Err(Error::option(name, format!("must be at least 1, found {value}")));
            }
            if value > most {
                return Err(Error::option(name, format!("must be at most {most}, found {value}")));
            }
        }
        if self.traced().is_none_or(|numbers| numbers > MAX_TRACED) {
            return Err(Error::options(format!(
                "an LSTM of {} layers of {} units over {} steps of {} numbers is too large: use a shorter window or fewer units",
                self.layers, self.hidden, self.window, self.channels
            )));
        }
        Ok(())
    }

    /// Stored activations of one row: at each step of each layer its inputs, gates, cells twice and masks.
    fn traced(&self) -> Option<usize> {
        let of_all = (2 * GATES).checked_mul(self.hidden)?.checked_mul(self.layers)?;
        of_all.checked_add(self.channels)?.checked_add(self.hidden.checked_mul(self.layers)?)?.checked_mul(self.window)
    }

    /// Numbers in a row.
    pub fn inputs(&self) -> usize {
        self.window * self.channels
    }

    /// The layers, first to last, in a flat buffer where the first one starts at chunk `start`.
    pub fn layout(&self, start: usize) -> Vec<LstmLayer> {
        let stride = (GATES * self.hidden).div_ceil(WIDTH);
        let mut layers: Vec<LstmLayer> = Vec::with_capacity(self.layers);
        for index in 0..self.layers {
            let start = layers.last().map_or(start, |layer| layer.range().end);
            let inputs = if index == 0 { self.channels } else { self.hidden };
            layers.push(LstmLayer { inputs, hidden: self.hidden, stride, start });
        }
        layers
    }

    /// Chunks in the flat buffer.
    pub fn chunks(&self) -> usize {
        self.layout(0).last().map_or(0, |layer| layer.range().end)
    }

    /// The tensors of all layers.
    pub fn tensors(&self) -> Vec<ParameterView> {
        let layers = self.layout(0).into_iter().enumerate();
        let named = |(index, layer): (usize, LstmLayer)| {
            layer.tensors().map(|tensor| ParameterView { name: format!("lstm.{index}.{}", tensor.name), ..tensor })
        };
        layers.flat_map(named).collect()
    }

    /// Weights and biases uniform in ±1/sqrt(hidden), as in PyTorch, plus 1 for the biases of forget gates: an untrained
    /// cell keeps 73 % of its value from step to step instead of half, so that the first gradients reach the start of a
    /// window (after 30 steps the factor is 8e-5 instead of 9e-10; Jozefowicz, Zaremba & Sutskever, 2015).
    pub fn initial_parameters(&self, rng: &mut Rng) -> Vec<Chunk> {
        let mut weights = vec![Chunk::ZERO; self.chunks()];
        let bound = 1.0 / (self.hidden.max(1) as f64).sqrt();
        for layer in self.layout(0) {
            let one = layer.units() - 1;
            for (unit, row) in weights[layer.range()].chunks_exact_mut(layer.stride).enumerate() {
                for (gate, weight) in floats_mut(row).iter_mut().enumerate().take(layer.gates()) {
                    let extra = if unit == one && gate / layer.hidden == FORGET { 1.0 } else { 0.0 };
                    *weight = ((2.0 * rng.uniform() - 1.0) * bound + extra) as f32;
                }
            }
        }
        weights
    }
}
