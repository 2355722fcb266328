//! The workspace of a periodic embedding: forward and backward for a panel of rows.

// Loops over constant ranges fill arrays of registers; iterators would not be unrolled as reliably.
#![allow(clippy::needless_range_loop)]

use super::network::PANEL_CHUNKS;
use super::periodic::{BLOCK, EmbeddedInput, MIX, MIXES, OFFSETS, PHASES, Periodic};
use negmm_dist::math::functions::sin_cos_turns;
use negmm_dist::math::lanes::{Chunk, Lanes, WIDTH};

/// Chunks of the sixteen cosines of an input, for all rows of the panel.
const COSINES: usize = WIDTH * PANEL_CHUNKS;

/// The buffers of a forward and backward pass of one panel of rows.
#[derive(Clone, Debug)]
pub(super) struct PeriodicWorkspace {
    inputs: usize,
    embedded: Vec<EmbeddedInput>,
    /// embedded inputs × panel: the clamped inputs.
    seen: Vec<Chunk>,
    /// embedded inputs × 16 × panel.
    cosines: Vec<Chunk>,
    sines: Vec<Chunk>,
}

impl PeriodicWorkspace {
    pub(super) fn new(periodic: &Periodic) -> Self {
        let inputs = periodic.embedded.len();
        Self {
            inputs: periodic.inputs,
            embedded: periodic.embedded.clone(),
            seen: vec![Chunk::ZERO; inputs * PANEL_CHUNKS],
            cosines: vec![Chunk::ZERO; inputs * COSINES],
            sines: vec![Chunk::ZERO; inputs * COSINES],
        }
    }

    /// From `x`, inputs × panel, to `outputs`, (inputs + 3 · embedded) × panel. With `SLOPES` it leaves what a backward pass needs.
    #[inline(always)]
    pub(super) fn forward<L: Lanes, const SLOPES: bool>(
        &mut self,
        x: &[Chunk],
        weights: &[Chunk],
        outputs: &mut [Chunk],
    ) {
        let (raw, mixes) = outputs.split_at_mut(self.inputs * PANEL_CHUNKS);
        raw.copy_from_slice(&x[..raw.len()]);
        for (index, embedded) in self.embedded.iter().enumerate() {
            let block = &weights[index * BLOCK..][..BLOCK];
            for chunk in 0..PANEL_CHUNKS {
                let seen = L::load(&x[embedded.input * PANEL_CHUNKS + chunk]);
                let seen = seen.max(L::splat(embedded.low)).min(L::splat(embedded.high));
                seen.store(&mut self.seen[index * PANEL_CHUNKS + chunk]);
                let mut sums = [L::splat(0.0); MIXES];
                for mix in 0..MIXES {
                    sums[mix] = L::splat(block[OFFSETS].0[mix]);
                }
                for unit in 0..WIDTH {
                    let phase = block[PHASES].0[unit] * std::f32::consts::FRAC_1_PI * 0.5;
                    let turns = seen.mul_add(L::splat(block[0].0[unit]), L::splat(phase));
                    let (sine, cosine) = sin_cos_turns(turns);
                    if SLOPES {
                        let at = index * COSINES + unit * PANEL_CHUNKS + chunk;
                        sine.store(&mut self.sines[at]);
                        cosine.store(&mut self.cosines[at]);
                    }
                    for mix in 0..MIXES {
                        sums[mix] = cosine.mul_add(L::splat(block[MIX + mix].0[unit]), sums[mix]);
                    }
                }
                for mix in 0..MIXES {
                    sums[mix].store(&mut mixes[(index * MIXES + mix) * PANEL_CHUNKS + chunk]);
                }
            }
        }
    }

    /// From `deltas`, the derivative of the loss with respect to the outputs; adds to `gradient`.
    ///
    /// ```text
    /// d/dc_mk = sum over rows of delta_m cos_k        d/dd_m = sum over rows of delta_m
    /// d/db_k  = sum over rows of -sin_k sum_m c_mk delta_m        d/dw_k = the same with every row times 2 pi x
    /// ```
    #[inline(always)]
    pub(super) fn backward<L: Lanes>(&mut self, deltas: &[Chunk], weights: &[Chunk], gradient: &mut [Chunk]) {
        let mixes = &deltas[self.inputs * PANEL_CHUNKS..];
        for index in 0..self.embedded.len() {
            let block = &weights[index * BLOCK..][..BLOCK];
            let gradient = &mut gradient[index * BLOCK..][..BLOCK];
            let delta = |mix: usize, chunk: usize| &mixes[(index * MIXES + mix) * PANEL_CHUNKS + chunk];
            for mix in 0..MIXES {
                let mut sums = [L::splat(0.0); WIDTH];
                let mut offset = L::splat(0.0);
                for chunk in 0..PANEL_CHUNKS {
                    let delta = L::load(delta(mix, chunk));
                    offset = offset + delta;
                    for unit in 0..WIDTH {
                        let cosine = L::load(&self.cosines[index * COSINES + unit * PANEL_CHUNKS + chunk]);
                        sums[unit] = cosine.mul_add(delta, sums[unit]);
                    }
                }
                add::<L>(&mut gradient[MIX + mix], lane_sums(sums));
                gradient[OFFSETS].0[mix] += offset.sum();
            }
            let mut phases = [L::splat(0.0); WIDTH];
            let mut frequencies = [L::splat(0.0); WIDTH];
            for chunk in 0..PANEL_CHUNKS {
                let minus_tau = L::splat(-std::f32::consts::TAU);
                let seen = L::load(&self.seen[index * PANEL_CHUNKS + chunk]) * minus_tau;
                for unit in 0..WIDTH {
                    let mut slope = L::splat(0.0);
                    for mix in 0..MIXES {
                        slope = L::load(delta(mix, chunk)).mul_add(L::splat(block[MIX + mix].0[unit]), slope);
                    }
                    let slope = slope * L::load(&self.sines[index * COSINES + unit * PANEL_CHUNKS + chunk]);
                    phases[unit] = phases[unit] - slope;
                    frequencies[unit] = slope.mul_add(seen, frequencies[unit]);
                }
            }
            add::<L>(&mut gradient[PHASES], lane_sums(phases));
            add::<L>(&mut gradient[0], lane_sums(frequencies));
        }
    }
}

#[inline(always)]
fn add<L: Lanes>(chunk: &mut Chunk, more: L) {
    (L::load(chunk) + more).store(chunk);
}

/// Lane k of the result is the sum of the lanes of `rows[k]`.
#[inline(always)]
fn lane_sums<L: Lanes>(rows: [L; WIDTH]) -> L {
    let lanes = L::transpose(rows);
    let mut sum = lanes[0];
    for lane in 1..WIDTH {
        sum = sum + lanes[lane];
    }
    sum
}
