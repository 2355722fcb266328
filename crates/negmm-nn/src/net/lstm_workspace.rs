//! The workspace of an LSTM: forward through the steps and backward through time, for a panel of rows.
//!
//! At step t a layer of H units sees s_t = (h_(t-1), x_t, 1), units × panel, so that z_t = A s_t is one product with A = (U W b),
//! and so are its two derivatives. With δ for the derivative of the loss with respect to what it is written before, going back
//! from the last step (δc_window = 0; δh_t is the sum of what comes from step t + 1, from the layer above and from outside):
//!
//! ```text
//! δc_t += δh_t · o · (1 - tanh² c_t)
//! δz_i = δc_t · g · i (1 - i)      δz_f = δc_t · c_(t-1) · f (1 - f)
//! δz_g = δc_t · i · (1 - g²)       δz_o = δh_t · tanh c_t · o (1 - o)
//! δc_(t-1) = δc_t · f              (δh_(t-1), δx_t) = (U W)ᵀ δz_t       δA += δz_t s_tᵀ
//! ```
//!
//! Before the first step h is zero: there the products leave it out.

use super::lstm::{GATES, Lstm, LstmLayer};
use super::network::{Dropout, PANEL, PANEL_CHUNKS};
use negmm_dist::math::functions::{sigmoid, tanh};
use negmm_dist::math::lanes::{Chunk, Kernel, Lanes, WIDTH, floats};
use negmm_dist::math::matmul::{Product, Start, Strided, transpose};

/// Derivatives smaller than this become zero: in a long window they would decay to slow denormals.
const TINY: f32 = 1e-30;

/// The buffers of a forward and backward pass of one panel of rows.
#[derive(Clone, Debug)]
pub struct LstmWorkspace {
    window: usize,
    layers: Vec<LstmLayerBuffers>,
    /// Whether the last forward had dropout, so that the masks count.
    dropped: bool,
    /// panel × gates: the derivatives with respect to the pre-activations of the gates at one step, transposed.
    transposed: Vec<Chunk>,
}

/// The buffers of one layer.
#[derive(Clone, Debug)]
struct LstmLayerBuffers {
    layer: LstmLayer,
    /// (window + 1) × units × panel: s_t; of the last slab only the hidden units, h after the last step.
    seen: Vec<Chunk>,
    /// window × gates × panel: the gates, and after [`LstmWorkspace::backward`] the derivatives with respect to their pre-activations.
    /// The gates of a step are padded to whole chunks with zeros.
    gates: Vec<Chunk>,
    /// (window + 1) × hidden × panel: the cells c, from the zeros before the first step on.
    cells: Vec<Chunk>,
    /// window × hidden × panel: tanh c.
    squashed: Vec<Chunk>,
    /// window × hidden × panel: dropout factors of the hidden states that the next layer reads.
    masks: Vec<Chunk>,
    /// hidden × panel: δc.
    cell_deltas: Vec<Chunk>,
    /// (hidden + inputs) × panel: δh before a step, δx at it.
    deltas: Vec<Chunk>,
}

impl LstmLayerBuffers {
    fn new(layer: LstmLayer, window: usize) -> Self {
        let panels = |units: usize| vec![Chunk::ZERO; units * PANEL_CHUNKS];
        let mut seen = panels((window + 1) * layer.units());
        for slab in seen.chunks_exact_mut(layer.units() * PANEL_CHUNKS) {
            slab[(layer.units() - 1) * PANEL_CHUNKS..].fill(Chunk([1.0; WIDTH]));
        }
        Self {
            layer,
            seen,
            gates: panels(window * layer.stride * WIDTH),
            cells: panels((window + 1) * layer.hidden),
            squashed: panels(window * layer.hidden),
            masks: panels(window * layer.hidden),
            cell_deltas: panels(layer.hidden),
            deltas: panels(layer.hidden + layer.inputs),
        }
    }

    /// Chunks of the hidden units of a panel.
    #[inline(always)]
    fn hidden(&self) -> usize {
        self.layer.hidden * PANEL_CHUNKS
    }

    /// h after `step` steps.
    #[inline(always)]
    fn state(&self, step: usize) -> &[Chunk] {
        &self.seen[step * self.layer.units() * PANEL_CHUNKS..][..self.hidden()]
    }

    /// The buffer of x at `step`.
    #[inline(always)]
    fn input(&mut self, step: usize) -> &mut [Chunk] {
        let at = (step * self.layer.units() + self.layer.hidden) * PANEL_CHUNKS;
        &mut self.seen[at..][..self.layer.inputs * PANEL_CHUNKS]
    }

    /// The first unit that counts in `step`: h is zero before the first step.
    #[inline(always)]
    fn first_unit(&self, step: usize) -> usize {
        if step == 0 { self.layer.hidden } else { 0 }
    }

    /// The forward pass of one step.
    #[inline(always)]
    fn forward<L: Lanes>(&mut self, step: usize, weights: &[Chunk]) {
        let (layer, hidden, first) = (self.layer, self.hidden(), self.first_unit(step));
        let slab = layer.stride * WIDTH * PANEL_CHUNKS;
        let gates = &mut self.gates[step * slab..][..layer.gates() * PANEL_CHUNKS];
        let (before, after) = self.seen.split_at_mut((step + 1) * layer.units() * PANEL_CHUNKS);
        L::call(Product {
            a: Strided {
                values: floats(&weights[layer.range()][first * layer.stride..]),
                row_stride: 1,
                column_stride: layer.stride * WIDTH,
            },
            b: &before[(step * layer.units() + first) * PANEL_CHUNKS..],
            c: gates,
            start: Start::Zero,
            rows: layer.gates(),
            inner: layer.units() - first,
            chunks: PANEL_CHUNKS,
        });
        let (cells_before, cells) = self.cells[step * hidden..].split_at_mut(hidden);
        L::call(CellForward {
            gates,
            cells_before,
            cells: &mut cells[..hidden],
            squashed: &mut self.squashed[step * hidden..][..hidden],
            states: &mut after[..hidden],
        });
    }

    /// The backward pass of one step: from the derivative with respect to the hidden state after `step`, the first part of `deltas`, to
    /// those with respect to the hidden state before it and, unless this is the `lowest` layer, to its inputs; adds to `gradient`.
    #[inline(always)]
    fn backward<L: Lanes>(
        &mut self,
        step: usize,
        lowest: bool,
        weights: &[Chunk],
        gradient: &mut [Chunk],
        transposed: &mut [Chunk],
    ) {
        let (layer, hidden, first) = (self.layer, self.hidden(), self.first_unit(step));
        let slab = layer.stride * WIDTH * PANEL_CHUNKS;
        let gates = &mut self.gates[step * slab..][..slab];
        L::call(CellBackward {
            gates: &mut gates[..layer.gates() * PANEL_CHUNKS],
            cells_before: &self.cells[step * hidden..][..hidden],
            squashed: &self.squashed[step * hidden..][..hidden],
            deltas: &self.deltas[..hidden],
            cell_deltas: &mut self.cell_deltas,
        });
        transpose::<L>(gates, PANEL_CHUNKS, layer.stride * WIDTH, transposed, PANEL);
        let seen = &self.seen[(step * layer.units() + first) * PANEL_CHUNKS..];
        L::call(Product {
            a: Strided { values: floats(seen), row_stride: PANEL, column_stride: 1 },
            b: transposed,
            c: &mut gradient[layer.range()][first * layer.stride..],
            start: Start::Itself,
            rows: layer.units() - first,
            inner: PANEL,
            chunks: layer.stride,
        });
        let last = if lowest { layer.hidden } else { layer.hidden + layer.inputs };
        L::call(Product {
            a: Strided {
                values: floats(&weights[layer.range()][first * layer.stride..]),
                row_stride: layer.stride * WIDTH,
                column_stride: 1,
            },
            b: gates,
            c: &mut self.deltas[first * PANEL_CHUNKS..],
            start: Start::Zero,
            rows: last - first,
            inner: layer.gates(),
            chunks: PANEL_CHUNKS,
        });
    }
}

impl LstmWorkspace {
    /// Buffers for one panel of rows of `lstm`.
    pub fn new(lstm: &Lstm) -> Self {
        let layers: Vec<LstmLayerBuffers> =
            lstm.layout(0).into_iter().map(|layer| LstmLayerBuffers::new(layer, lstm.window)).collect();
        let stride = layers.first().map_or(0, |trace| trace.layer.stride);
        Self { window: lstm.window, layers, dropped: false, transposed: vec![Chunk::ZERO; PANEL * stride] }
    }

    /// The forward pass, step by step. `rows` is (window · channels) × panel; `weights` is the LSTM's part of
    /// the flat buffer. Dropout (training only) applies to the hidden states that the next layer reads, not to those that the
    /// next step reads.
    ///
    /// For finite inputs the outputs are finite: gates and tanh are bounded, even if a sum overflows.
    #[inline(always)]
    pub fn forward<L: Lanes>(&mut self, rows: &[Chunk], weights: &[Chunk], mut dropout: Option<Dropout<'_>>) {
        let channels = self.layers[0].layer.inputs * PANEL_CHUNKS;
        assert!(rows.len() >= self.window * channels, "the rows are too short");
        self.dropped = dropout.is_some();
        for (step, x) in rows.chunks_exact(channels).enumerate().take(self.window) {
            self.layers[0].input(step).copy_from_slice(x);
            for index in 0..self.layers.len() {
                let (trace, above) = self.layers[index..].split_at_mut(1);
                let trace = &mut trace[0];
                trace.forward::<L>(step, weights);
                let Some(above) = above.first_mut() else { continue };
                above.input(step).copy_from_slice(trace.state(step + 1));
                if let Some(dropout) = &mut dropout {
                    let masks = &mut trace.masks[step * trace.layer.hidden * PANEL_CHUNKS..];
                    for (value, mask) in above.input(step).iter_mut().zip(masks) {
                        *mask = dropout.mask();
                        (L::load(value) * L::load(mask)).store(value);
                    }
                }
            }
        }
    }

    /// The last layer's hidden state after the last step: hidden × panel.
    #[inline(always)]
    pub fn outputs(&self) -> &[Chunk] {
        self.layers[self.layers.len() - 1].state(self.window)
    }

    /// The backward pass, once after each forward pass: from `deltas`, the derivative of the loss with respect to the outputs, back
    /// through time; adds to `gradient`, which has the layout of `weights`.
    #[inline(always)]
    pub fn backward<L: Lanes>(&mut self, deltas: &[Chunk], weights: &[Chunk], gradient: &mut [Chunk]) {
        let last = self.layers.len() - 1;
        for trace in &mut self.layers {
            trace.cell_deltas.fill(Chunk::ZERO);
            trace.deltas.fill(Chunk::ZERO);
        }
        let hidden = self.layers[last].hidden();
        self.layers[last].deltas[..hidden].copy_from_slice(&deltas[..hidden]);
        for step in (0..self.window).rev() {
            for index in (0..self.layers.len()).rev() {
                let (trace, above) = self.layers[index..].split_at_mut(1);
                let trace = &mut trace[0];
                if let Some(above) = above.first_mut() {
                    let given = &mut above.deltas[hidden..];
                    if self.dropped {
                        for (delta, mask) in given.iter_mut().zip(&trace.masks[step * hidden..]) {
                            (L::load(delta) * L::load(mask)).store(delta);
                        }
                    }
                    for (delta, given) in trace.deltas[..hidden].iter_mut().zip(given) {
                        (L::load(delta) + L::load(given)).store(delta);
                    }
                }
                trace.backward::<L>(step, index == 0, weights, gradient, &mut self.transposed);
            }
        }
    }
}

/// One step of the cells of a layer, forward; lists are hidden × panel.
struct CellForward<'a> {
    /// z_i, z_f, z_g, z_o; becomes i, f, g, o.
    gates: &'a mut [Chunk],
    cells_before: &'a [Chunk],
    cells: &'a mut [Chunk],
    squashed: &'a mut [Chunk],
    states: &'a mut [Chunk],
}

impl Kernel for CellForward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let count = self.gates.len() / GATES;
        let (i, rest) = self.gates.split_at_mut(count);
        let (f, rest) = rest.split_at_mut(count);
        let (g, o) = rest.split_at_mut(count);
        let (cells_before, cells, o) = (&self.cells_before[..count], &mut self.cells[..count], &mut o[..count]);
        let (squashed, states) = (&mut self.squashed[..count], &mut self.states[..count]);
        for at in 0..count {
            let input = sigmoid(L::load(&i[at]));
            let forget = sigmoid(L::load(&f[at]));
            let candidate = tanh(L::load(&g[at]));
            let output = sigmoid(L::load(&o[at]));
            let cell = forget.mul_add(L::load(&cells_before[at]), input * candidate);
            let squash = tanh(cell);
            input.store(&mut i[at]);
            forget.store(&mut f[at]);
            candidate.store(&mut g[at]);
            output.store(&mut o[at]);
            cell.store(&mut cells[at]);
            squash.store(&mut squashed[at]);
            (output * squash).store(&mut states[at]);
        }
    }
}

/// The same step backward.
struct CellBackward<'a> {
    /// i, f, g, o; becomes the derivatives with respect to z_i, z_f, z_g, z_o.
    gates: &'a mut [Chunk],
    cells_before: &'a [Chunk],
    squashed: &'a [Chunk],
    /// With respect to the states after the step.
    deltas: &'a [Chunk],
    /// With respect to the cells after the step, from later steps; becomes the same before the step.
    cell_deltas: &'a mut [Chunk],
}

impl Kernel for CellBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let count = self.gates.len() / GATES;
        let (i, rest) = self.gates.split_at_mut(count);
        let (f, rest) = rest.split_at_mut(count);
        let (g, o) = rest.split_at_mut(count);
        let (cells_before, squashed, o) = (&self.cells_before[..count], &self.squashed[..count], &mut o[..count]);
        let (deltas, cell_deltas) = (&self.deltas[..count], &mut self.cell_deltas[..count]);
        let one = L::splat(1.0);
        for at in 0..count {
            let (input, forget) = (L::load(&i[at]), L::load(&f[at]));
            let (candidate, output) = (L::load(&g[at]), L::load(&o[at]));
            let (squash, delta) = (L::load(&squashed[at]), L::load(&deltas[at]));
            let slope = output * squash.neg_mul_add(squash, one);
            let cell_delta = delta.mul_add(slope, L::load(&cell_deltas[at]));
            let input_delta = cell_delta * candidate * input.neg_mul_add(input, input);
            let forget_delta = cell_delta * L::load(&cells_before[at]) * forget.neg_mul_add(forget, forget);
            let candidate_delta = cell_delta * input * candidate.neg_mul_add(candidate, one);
            let output_delta = delta * squash * output.neg_mul_add(output, output);
            flushed(cell_delta * forget).store(&mut cell_deltas[at]);
            flushed(input_delta).store(&mut i[at]);
            flushed(forget_delta).store(&mut f[at]);
            flushed(candidate_delta).store(&mut g[at]);
            flushed(output_delta).store(&mut o[at]);
        }
    }
}

/// Exactly zero if x is tiny; NaN stays NaN.
#[inline(always)]
fn flushed<L: Lanes>(x: L) -> L {
    L::splat(0.0).select(L::splat(TINY).gt(x.abs()), x)
}
