//! The beta-NLL loss of a panel of rows in `f32` lanes, with gradients. [`negmm_dist::score::beta_nll`] is the same in f64.

use negmm_dist::math::functions::{exp, ln};
use negmm_dist::math::lanes::{Chunk, Lanes};
use negmm_dist::math::truncated::Truncated;

use super::ObservedTargets;
use crate::net::{MixturePanel, PANEL_CHUNKS};

/// ln(2 pi) / 2
const HALF_LN_2_PI: f64 = 0.918_938_533_204_672_8;

/// The score of each row in lane `lane` of a panel of Gaussians; `deltas` (3 × panel: logit, mean, sd) gets its derivatives
/// times `factor`.
#[inline(always)]
pub(crate) fn panel<L: Lanes>(
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
        let within = Truncated::lanes((lower - mean) * inverse, (upper - mean) * inverse, (upper - lower) * inverse);
        score = (L::splat(0.0) - within.log_mass).select(is_interval, score);
        pull = within.mean.select(is_interval, pull);
        curve = (L::splat(0.0) - within.excess).select(is_interval, curve);
    }
    L::splat(0.0).store(&mut deltas[lane]);
    (L::splat(0.0) - scaled * pull).store(&mut deltas[PANEL_CHUNKS + lane]);
    (scaled * curve).store(&mut deltas[2 * PANEL_CHUNKS + lane]);
    weight * score
}

#[cfg(test)]
mod tests {
    use negmm_dist::math::lanes::{Isa, Kernel, WIDTH};

    use super::*;

    /// Of a panel of equal rows: score, and its derivatives with respect to mean and sd.
    struct OneGaussian {
        mean: f32,
        sd: f32,
        interval: [f32; 2],
        beta: f32,
    }

    impl Kernel for OneGaussian {
        type Output = [f32; 3];

        #[inline(always)]
        fn run<L: Lanes>(self) -> [f32; 3] {
            let mut gaussians = MixturePanel::new(1);
            gaussians.means.fill(Chunk([self.mean; WIDTH]));
            gaussians.sds.fill(Chunk([self.sd; WIDTH]));
            let [lower, upper] = self.interval.map(|end| Chunk([end; WIDTH]));
            let known = ObservedTargets { y: &lower, intervals: Some([&lower, &upper]) };
            let (mut deltas, mut score) = (vec![Chunk::ZERO; 3 * PANEL_CHUNKS], Chunk::ZERO);
            panel::<L>(&gaussians, known, 0, self.beta, L::splat(1.0), &mut deltas).store(&mut score);
            [score.0[0], deltas[PANEL_CHUNKS].0[0], deltas[2 * PANEL_CHUNKS].0[0]]
        }
    }

    #[test]
    fn an_interval_has_the_same_weight() {
        for interval in [[0.5, 0.75], [0.5, f32::INFINITY]] {
            for beta in [0.0, 0.5, 1.0] {
                let found = Isa::best().run(OneGaussian { mean: 0.25, sd: 0.5, interval, beta });
                let [a, b] = interval.map(|end| (f64::from(end) - 0.25) / 0.5);
                let within = Truncated::new(a, b, b - a);
                let weight = libm::pow(0.25, f64::from(beta));
                let expected = [-within.log_mass, -within.mean / 0.5, -within.excess / 0.5];
                for (found, expected) in found.into_iter().zip(expected) {
                    assert!((f64::from(found) - weight * expected).abs() < 1e-5, "{interval:?} {beta}: {found}");
                }
            }
        }
    }
}
