//! The logarithmic score of a set of samples in `f32` lanes: that of the normal distribution with their mean
//! and unbiased variance, its sd never below a floor. `log_pdf` of [`negmm_dist::samples::SampleSet`] is the same in f64.
//!
//! ```text
//! S(z, y) = (y - mean)² / (2 sd²) + ln sd + ln(2 pi) / 2        sd = max(floor, sqrt(sum_i (z_i - mean)² / (M - 1)))
//! ```
//!
//! It selects checkpoints; it is no loss.

use crate::net::PANEL_CHUNKS;
use negmm_dist::math::functions::ln;
use negmm_dist::math::lanes::{Chunk, Lanes};

/// ln(2 pi) / 2
const HALF_LN_TAU: f32 = 0.918_938_5;

/// The score of each row in lane `lane` of the panel. `outputs` is samples × panel, with two samples at least; `y` has the
/// target of each row.
#[inline(always)]
pub(crate) fn panel<L: Lanes>(outputs: &[Chunk], y: &Chunk, lane: usize, sd_floor: f32) -> L {
    let count = outputs.len() / PANEL_CHUNKS;
    // Distances from the first sample stay exact if all samples are close together.
    let anchor = L::load(&outputs[lane]);
    let (mut sum, mut squares) = (L::splat(0.0), L::splat(0.0));
    for sample in outputs[lane..].iter().step_by(PANEL_CHUNKS) {
        sum = sum + (L::load(sample) - anchor);
    }
    let mean = sum * L::splat(1.0 / count as f32);
    for sample in outputs[lane..].iter().step_by(PANEL_CHUNKS) {
        let apart = (L::load(sample) - anchor) - mean;
        squares = apart.mul_add(apart, squares);
    }
    let sd = (squares * L::splat(1.0 / (count as f32 - 1.0))).sqrt().max(L::splat(sd_floor));
    let z = ((L::load(y) - anchor) - mean) / sd;
    (z * z).mul_add(L::splat(0.5), ln(sd) + L::splat(HALF_LN_TAU))
}
