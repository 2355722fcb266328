//! Responsible for the head of NE-GMM and MDN: raw outputs become the parameters of a Gaussian mixture, and gradients go back.

use serde::{Deserialize, Serialize};

use super::head::MixtureOutputs;
use super::network::PANEL_CHUNKS;
use crate::math::functions::{decay, ln, softplus, tanh};
use crate::math::lanes::{Chunk, Lanes};

/// Components at most: the energy score visits every pair.
pub const MOST_COMPONENTS: usize = 1000;

/// How 3 K raw numbers (K logits, K means, K raw sds) become a mixture of K components:
///
/// ```text
/// weight_k = softmax(logit)_k
/// mean_k   = raw mean,                           or  M tanh(raw / M)          with the bound M
/// sd_k     = floor + softplus(raw),              or  floor + R tanh(softplus(raw) / R)   with R = ceiling - floor
/// ```
///
/// The bounds are the paper's Assumption 1, smooth instead of truncated: a truncated output has no gradient to come back by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixtureHead {
    /// K.
    pub components: usize,
    /// Smallest sd, in units of the standardised target.
    pub sd_floor: f32,
    /// Largest sd, if bounded.
    pub sd_ceiling: Option<f32>,
    /// Largest absolute mean, if bounded.
    pub mean_bound: Option<f32>,
}

/// The mixtures of one panel of rows, each list components × panel.
#[derive(Clone, Debug)]
pub struct MixturePanel {
    /// ln of the weights.
    pub log_weights: Vec<Chunk>,
    /// Weights; one below e^-27 is exactly zero.
    pub weights: Vec<Chunk>,
    /// Means.
    pub means: Vec<Chunk>,
    /// Standard deviations.
    pub sds: Vec<Chunk>,
    pub(super) mean_slopes: Vec<Chunk>,
    pub(super) sd_slopes: Vec<Chunk>,
}

impl MixturePanel {
    /// Room for mixtures of `components`.
    pub fn new(components: usize) -> Self {
        let list = vec![Chunk::ZERO; components * PANEL_CHUNKS];
        Self {
            log_weights: list.clone(),
            weights: list.clone(),
            means: list.clone(),
            sds: list.clone(),
            mean_slopes: list.clone(),
            sd_slopes: list,
        }
    }
}

impl MixtureHead {
    /// Raw numbers for each row.
    pub fn outputs(&self) -> usize {
        3 * self.components
    }

    /// Equal weights, means at the target's mean and sds of 1, the target's own: the start is the constant predictor, and no
    /// component is lost before it has learnt.
    pub(super) fn initial_biases(&self) -> Vec<f32> {
        /// ln(e - 1), where softplus is 1.
        const SOFTPLUS_1: f32 = 0.541_324_85;
        let mut biases = vec![0.0; 2 * self.components];
        biases.resize(self.outputs(), SOFTPLUS_1);
        biases
    }

    pub(super) fn is_sound(&self) -> bool {
        let positive = |x: f32| x > 0.0 && x.is_finite();
        (1..=MOST_COMPONENTS).contains(&self.components)
            && positive(self.sd_floor)
            && self.sd_ceiling.is_none_or(|ceiling| positive(ceiling) && ceiling > self.sd_floor)
            && self.mean_bound.is_none_or(positive)
    }
}

impl MixtureOutputs for MixtureHead {
    fn components(&self) -> usize {
        self.components
    }

    /// `raw` is 3 K × panel.
    #[inline(always)]
    fn forward<L: Lanes>(&self, raw: &[Chunk], panel: &mut MixturePanel) {
        let size = self.components * PANEL_CHUNKS;
        let (logits, rest) = raw.split_at(size);
        let (means, sds) = rest.split_at(size);
        for lane in 0..PANEL_CHUNKS {
            let rows = || (lane..size).step_by(PANEL_CHUNKS);
            let mut largest = L::splat(f32::NEG_INFINITY);
            for at in rows() {
                largest = L::load(&logits[at]).max(largest);
            }
            let mut sum = L::splat(0.0);
            for at in rows() {
                let weight = decay(L::load(&logits[at]) - largest);
                weight.store(&mut panel.weights[at]);
                sum = sum + weight;
            }
            let (share, log_sum) = (L::splat(1.0) / sum, largest + ln(sum));
            for at in rows() {
                (L::load(&panel.weights[at]) * share).store(&mut panel.weights[at]);
                (L::load(&logits[at]) - log_sum).store(&mut panel.log_weights[at]);
            }
        }
        for at in 0..size {
            let (mean, slope) = bounded(L::load(&means[at]), self.mean_bound);
            mean.store(&mut panel.means[at]);
            slope.store(&mut panel.mean_slopes[at]);
            let (spread, slope) = softplus(L::load(&sds[at]));
            let (spread, outer) = bounded(spread, self.sd_ceiling.map(|ceiling| ceiling - self.sd_floor));
            (spread + L::splat(self.sd_floor)).store(&mut panel.sds[at]);
            (slope * outer).store(&mut panel.sd_slopes[at]);
        }
    }

    /// Turns derivatives with respect to (logits, means, sds) into derivatives with respect to the raw outputs.
    #[inline(always)]
    fn backward<L: Lanes>(&self, panel: &MixturePanel, parameters: &[Chunk], raw: &mut [Chunk]) {
        let size = self.components * PANEL_CHUNKS;
        raw[..size].copy_from_slice(&parameters[..size]);
        multiply::<L>(&parameters[size..], &panel.mean_slopes, &mut raw[size..]);
        multiply::<L>(&parameters[2 * size..], &panel.sd_slopes, &mut raw[2 * size..]);
    }
}

/// out = deltas · slopes, as many as there are slopes.
#[inline(always)]
pub(super) fn multiply<L: Lanes>(deltas: &[Chunk], slopes: &[Chunk], out: &mut [Chunk]) {
    for ((delta, slope), out) in deltas.iter().zip(slopes).zip(out) {
        (L::load(delta) * L::load(slope)).store(out);
    }
}

/// `bound` tanh(x / bound) and its derivative; x itself without a bound.
#[inline(always)]
fn bounded<L: Lanes>(x: L, bound: Option<f32>) -> (L, L) {
    let one = L::splat(1.0);
    match bound {
        None => (x, one),
        Some(bound) => {
            let share = tanh(x * L::splat(1.0 / bound));
            (share * L::splat(bound), share.neg_mul_add(share, one))
        }
    }
}
