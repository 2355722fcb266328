//! The beta-NLL loss of a panel of rows in `f32` lanes, with gradients. [`negmm_dist::score::beta_nll`] is the same in f64.

use negmm_dist::math::functions::{exp, ln};
use negmm_dist::math::lanes::{Chunk, Lanes};
use negmm_dist::math::truncated::TruncatedNormal;

use super::ObservedTargets;
use crate::net::{MixturePanel, PANEL_CHUNKS};

/// ln(2 pi) / 2
const HALF_LN_2_PI: f64 = 0.918_938_533_204_672_8;

/// The score of each row in lane `lane` of a panel of Gaussians; `deltas` (3 × panel: logit, mean, sd) gets its derivatives
/// times `factor`.
#[inline(always)]
pub fn panel<L: Lanes>(
    gaussians: &MixturePanel,
    known: ObservedTargets<'_>,
    lane: usize,
    beta: f32,
    factor: L,
    deltas: &mut [Chunk],
) -> L {
    let (mean, sd) = (L::load(&gaussians.means[lane]), L::load(&gaussians.sds[lane]));
    let inverse = L::splat(1.0) / sd;
    let z = (L::load(known.y) - mean) * inverse;
    let log_sd = ln(sd);
    let weight = exp(log_sd * L::splat(2.0 * beta));
    let scaled = factor * weight * inverse;
    let mut score = (z * z).mul_add(L::splat(0.5), log_sd + L::splat(HALF_LN_2_PI as f32));
    let (mut pull, mut curve) = (z, z.neg_mul_add(z, L::splat(1.0)));
    if let Some([lower, upper]) = known.intervals {
        let (lower, upper) = (L::load(lower), L::load(upper));
        let is_interval = upper.gt(lower);
        let within =
            TruncatedNormal::lanes((lower - mean) * inverse, (upper - mean) * inverse, (upper - lower) * inverse);
        score = (L::splat(0.0) - within.log_mass).select(is_interval, score);
        pull = within.mean.select(is_interval, pull);
        curve = (L::splat(0.0) - within.excess).select(is_interval, curve);
    }
    L::splat(0.0).store(&mut deltas[lane]);
    (L::splat(0.0) - scaled * pull).store(&mut deltas[PANEL_CHUNKS + lane]);
    (scaled * curve).store(&mut deltas[2 * PANEL_CHUNKS + lane]);
    weight * score
}
