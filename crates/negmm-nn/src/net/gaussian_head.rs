//! The head of beta-NLL: maps two raw numbers to the mean and the variance of a Gaussian.

use serde::{Deserialize, Serialize};

use super::head::MixtureOutputs;
use super::mixture_head::{MixturePanel, multiply};
use super::network::PANEL_CHUNKS;
use negmm_dist::math::functions::softplus;
use negmm_dist::math::lanes::{Chunk, Lanes, WIDTH};

/// ln(e - 1): the variance is 1 if its raw number is 0.
const RAW_OF_ONE: f32 = 0.541_324_85;

/// The *variance* is parametrised, as in the original of beta-NLL (Seitzer et al., 2022):
///
/// ```text
/// mean     = raw mean
/// variance = min(softplus(raw + ln(e - 1)) + floor, ceiling)
/// ```
///
/// Above the ceiling there is no gradient (a hard clamp, as there).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaussianHead {
    /// Smallest variance, in units of the standardised target squared.
    pub variance_floor: f32,
    /// Largest variance.
    pub variance_ceiling: f32,
}

impl GaussianHead {
    /// Raw numbers for each row.
    pub const OUTPUTS: usize = 2;

    pub(super) fn is_sound(&self) -> bool {
        self.variance_floor > 0.0 && self.variance_floor < self.variance_ceiling && self.variance_ceiling.is_finite()
    }
}

impl MixtureOutputs for GaussianHead {
    fn components(&self) -> usize {
        1
    }

    /// `raw` is 2 × panel; the mixture has one component.
    #[inline(always)]
    fn forward<L: Lanes>(&self, raw: &[Chunk], panel: &mut MixturePanel) {
        let (zero, ceiling) = (L::splat(0.0), L::splat(self.variance_ceiling));
        for at in 0..PANEL_CHUNKS {
            panel.log_weights[at] = Chunk::ZERO;
            panel.weights[at] = Chunk([1.0; WIDTH]);
            panel.means[at] = raw[at];
            let (variance, slope) = softplus(L::load(&raw[PANEL_CHUNKS + at]) + L::splat(RAW_OF_ONE));
            let variance = variance + L::splat(self.variance_floor);
            let slope = zero.select(variance.gt(ceiling), slope);
            let sd = variance.min(ceiling).sqrt();
            sd.store(&mut panel.sds[at]);
            // d sd / d raw = (d variance / d raw) / (2 sd)
            (slope / (sd + sd)).store(&mut panel.sd_slopes[at]);
        }
    }

    /// Maps derivatives with respect to (logit, mean, sd) to derivatives with respect to the raw outputs.
    #[inline(always)]
    fn backward<L: Lanes>(&self, panel: &MixturePanel, parameters: &[Chunk], raw: &mut [Chunk]) {
        raw[..PANEL_CHUNKS].copy_from_slice(&parameters[PANEL_CHUNKS..2 * PANEL_CHUNKS]);
        multiply::<L>(&parameters[2 * PANEL_CHUNKS..], &panel.sd_slopes, &mut raw[PANEL_CHUNKS..]);
    }
}
