//! The workspace of a stem.

use super::lstm_workspace::LstmWorkspace;
use super::network::{Dropout, PANEL, PANEL_CHUNKS};
use super::periodic_workspace::PeriodicWorkspace;
use super::stem::Stem;
use negmm_dist::math::lanes::{Chunk, Lanes, WIDTH};
use negmm_dist::math::matmul::transpose;

/// The buffers of a forward and backward pass of one panel of rows.
#[derive(Clone, Debug)]
pub(super) struct StemWorkspace {
    kind: AnyStemWorkspace,
    /// Numbers in a row.
    inputs: usize,
    /// Chunks of the stem's weights, the first of the flat buffer.
    chunks: usize,
    /// panel × inputs.
    rows: Vec<Chunk>,
    /// inputs × panel: the same, transposed.
    values: Vec<Chunk>,
}

#[derive(Clone, Debug)]
enum AnyStemWorkspace {
    Lstm(LstmWorkspace),
    Periodic(PeriodicWorkspace),
}

impl StemWorkspace {
    pub(super) fn new(stem: &Stem) -> Self {
        let inputs = stem.inputs();
        Self {
            kind: match stem {
                Stem::Lstm(lstm) => AnyStemWorkspace::Lstm(LstmWorkspace::new(lstm)),
                Stem::Periodic(periodic) => AnyStemWorkspace::Periodic(PeriodicWorkspace::new(periodic)),
            },
            inputs,
            chunks: stem.chunks(),
            rows: vec![Chunk::ZERO; PANEL * inputs.div_ceil(WIDTH)],
            values: vec![Chunk::ZERO; inputs * PANEL_CHUNKS],
        }
    }

    /// Loads a panel of rows, each padded to `stride` floats.
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

    /// The forward pass to `values`, outputs × panel. With `SLOPES` it leaves what a backward pass needs: `slopes` gets the dropout
    /// factors, 1 without dropout. Dropout applies to the hidden state of an LSTM, not to numbers and their embeddings.
    #[inline(always)]
    pub(super) fn forward<L: Lanes, const SLOPES: bool>(
        &mut self,
        weights: &[Chunk],
        mut dropout: Option<&mut Dropout<'_>>,
        values: &mut [Chunk],
        slopes: &mut [Chunk],
    ) {
        let weights = &weights[..self.chunks];
        match &mut self.kind {
            AnyStemWorkspace::Periodic(workspace) => {
                workspace.forward::<L, SLOPES>(&self.values, weights, values);
                if SLOPES {
                    slopes.fill(Chunk([1.0; WIDTH]));
                }
            }
            AnyStemWorkspace::Lstm(workspace) => {
                let between =
                    dropout.as_mut().map(|dropout| Dropout { rate: dropout.rate, draws: &mut *dropout.draws });
                workspace.forward::<L>(&self.values, weights, between);
                for ((value, slope), output) in values.iter_mut().zip(slopes).zip(workspace.outputs()) {
                    *slope = match &mut dropout {
                        Some(dropout) => dropout.mask(),
                        None => Chunk([1.0; WIDTH]),
                    };
                    (L::load(output) * L::load(slope)).store(value);
                }
            }
        }
    }

    /// The backward pass from `deltas`, the derivative of the loss with respect to the outputs; adds to the stem's part of `gradient`.
    #[inline(always)]
    pub(super) fn backward<L: Lanes>(&mut self, deltas: &[Chunk], weights: &[Chunk], gradient: &mut [Chunk]) {
        let (weights, gradient) = (&weights[..self.chunks], &mut gradient[..self.chunks]);
        match &mut self.kind {
            AnyStemWorkspace::Lstm(workspace) => workspace.backward::<L>(deltas, weights, gradient),
            AnyStemWorkspace::Periodic(workspace) => workspace.backward::<L>(deltas, weights, gradient),
        }
    }
}
