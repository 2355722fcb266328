//! Responsible for beta-NLL: the Gaussian logarithmic score, each row weighted by its own variance to the power beta.
//!
//! ```text
//! S = stop(v)^beta [ z² / 2 + ln sd + ln(2 pi) / 2 ],   v = sd²,   z = (y - mean) / sd
//! dS/dmean = -v^beta z / sd          dS/dsd = v^beta (1 - z²) / sd
//! ```
//!
//! The weight is not differentiated (Seitzer et al., 2022). With beta = 0 this is the logarithmic score; with beta = 1 the
//! gradient with respect to the mean is that of the squared error. Of a row that is an interval the bracket is -ln of its
//! probability ([`super::interval`]), with the same weight.

use super::Known;
use crate::math::functions::{exp, ln};
use crate::math::lanes::{Chunk, Lanes};
use crate::math::truncated::Truncated;
use crate::net::{MixturePanel, PANEL_CHUNKS};

/// ln(2 pi) / 2
const HALF_LN_2_PI: f64 = 0.918_938_533_204_672_8;

/// The score of a Gaussian.
pub fn value(mean: f64, sd: f64, y: f64, beta: f64) -> f64 {
    let z = (y - mean) / sd;
    libm::pow(sd * sd, beta) * (0.5 * z * z + libm::log(sd) + HALF_LN_2_PI)
}

/// Its derivatives with respect to (mean, sd), the weight v^beta held fixed.
pub fn gradient(mean: f64, sd: f64, y: f64, beta: f64) -> (f64, f64) {
    let z = (y - mean) / sd;
    let weight = libm::pow(sd * sd, beta);
    (-weight * z / sd, weight * (1.0 - z * z) / sd)
}

/// The score of each row in lane `lane` of a panel of Gaussians; `deltas` (3 × panel: logit, mean, sd) gets its derivatives
/// times `factor`.
#[inline(always)]
pub(crate) fn panel<L: Lanes>(
    gaussians: &MixturePanel,
    known: Known<'_>,
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
    use super::*;
    use crate::Mixtures;
    use crate::math::lanes::{Isa, Kernel, WIDTH};
    use crate::math::truncated::Truncated;
    use crate::score::log;

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
            let known = Known { y: &lower, intervals: Some([&lower, &upper]) };
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

    #[test]
    fn beta_0_is_the_logarithmic_score_and_beta_1_the_squared_error() {
        let mixtures = Mixtures::new(1, vec![1.0], vec![0.3], vec![0.7]).unwrap();
        assert!((value(0.3, 0.7, 1.1, 0.0) - log::value(mixtures.row(0), 1.1)).abs() < 1e-14);
        assert!((gradient(0.3, 0.7, 1.1, 1.0).0 - (0.3 - 1.1)).abs() < 1e-14);
    }

    #[test]
    fn gradient_is_that_of_the_score_with_the_weight_held_fixed() {
        let (mean, sd, y, step) = (0.3, 0.7, 1.1, 1e-6);
        for beta in [0.0, 0.25, 0.5, 1.0] {
            let weight = libm::pow(sd * sd, beta);
            let difference = |up: f64, down: f64| weight * (up - down) / (2.0 * step);
            let (by_mean, by_sd) = gradient(mean, sd, y, beta);
            let mean_slope = difference(value(mean + step, sd, y, 0.0), value(mean - step, sd, y, 0.0));
            let sd_slope = difference(value(mean, sd + step, y, 0.0), value(mean, sd - step, y, 0.0));
            assert!((by_mean - mean_slope).abs() < 1e-8 && (by_sd - sd_slope).abs() < 1e-8, "{beta}");
        }
    }
}
