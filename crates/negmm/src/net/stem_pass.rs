//! Responsible for the stem of a network: rows that are windows of a sequence go through an LSTM before the layers.

use super::lstm::Lstm;
use super::lstm_pass::LstmPass;
use super::network::{Dropout, PANEL, PANEL_CHUNKS};
use crate::math::lanes::{Chunk, Lanes, WIDTH};
use crate::math::matmul::transpose;

/// Everything a panel of rows leaves behind on its way through the stem.
#[derive(Clone, Debug)]
pub(super) struct StemPass {
    lstm: LstmPass,
    /// Numbers in a row.
    inputs: usize,
    /// Chunks of the stem's weights, the first of the flat buffer.
    chunks: usize,
    /// panel × inputs.
    rows: Vec<Chunk>,
    /// inputs × panel: the same, turned.
    values: Vec<Chunk>,
}

impl StemPass {
    pub(super) fn new(lstm: &Lstm) -> Self {
        let inputs = lstm.inputs();
        Self {
            lstm: LstmPass::new(lstm),
            inputs,
            chunks: lstm.chunks(),
            rows: vec![Chunk::ZERO; PANEL * inputs.div_ceil(WIDTH)],
            values: vec![Chunk::ZERO; inputs * PANEL_CHUNKS],
        }
    }

    /// Brings in a panel of rows, each padded to `stride` floats.
    #[inline(always)]
    pub(super) fn read<L: Lanes>(&mut self, x: &[f32], stride: usize, rows: &[u32; PANEL]) {
        let across = self.inputs.div_ceil(WIDTH);
        for (chunks, &row) in self.rows.chunks_exact_mut(across).zip(rows) {
            let row = &x[row as usize * stride..][..stride];
            for (chunk, part) in chunks.iter_mut().zip(row.chunks_exact(WIDTH)) {
                chunk.0.copy_from_slice(part);
            }
        }
        transpose::<L>(&self.rows, across, PANEL, &mut self.values, self.inputs);
    }

    /// To `values`, hidden × panel; `slopes` are the factors that dropout leaves on them (1 without).
    #[inline(always)]
    pub(super) fn forward<L: Lanes>(
        &mut self,
        weights: &[Chunk],
        mut dropout: Option<&mut Dropout<'_>>,
        values: &mut [Chunk],
        slopes: &mut [Chunk],
    ) {
        let between = dropout.as_mut().map(|dropout| Dropout { share: dropout.share, rng: &mut *dropout.rng });
        self.lstm.forward::<L>(&self.values, &weights[..self.chunks], between);
        for ((value, slope), output) in values.iter_mut().zip(slopes).zip(self.lstm.outputs()) {
            *slope = match &mut dropout {
                Some(dropout) => dropout.mask(),
                None => Chunk([1.0; WIDTH]),
            };
            (L::load(output) * L::load(slope)).store(value);
        }
    }

    /// From `deltas`, the derivative of the loss with respect to the hidden units; adds to the stem's part of `gradient`.
    #[inline(always)]
    pub(super) fn backward<L: Lanes>(&mut self, deltas: &[Chunk], weights: &[Chunk], gradient: &mut [Chunk]) {
        self.lstm.backward::<L>(deltas, &weights[..self.chunks], &mut gradient[..self.chunks]);
    }
}
