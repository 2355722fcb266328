//! The head of NE-GMM and MDN: maps raw outputs to the parameters of a Gaussian mixture, and gradients back.

use serde::{Deserialize, Serialize};

use super::atoms::{ATOM_SD, Atoms};
use super::bounds::Bounds;
use super::head::MixtureOutputs;
use super::network::PANEL_CHUNKS;
use negmm_dist::math::functions::{decay, ln, softplus, tanh};
use negmm_dist::math::lanes::{Chunk, Lanes, WIDTH};

/// Largest number of components: the energy score visits every pair.
pub const MAX_COMPONENTS: usize = 1000;

/// Maps 3 K + A raw numbers (K + A logits, K means, K raw sds) to a mixture of K Gaussians and A atoms:
///
/// ```text
/// weight_k = softmax(logit)_k
/// mean_k   = raw mean,                           or  M tanh(raw / M)          with the bound M
/// sd_k     = floor + softplus(raw),              or  floor + R tanh(softplus(raw) / R)   with R = ceiling - floor
/// ```
///
/// Atoms are the last components. Their values are fixed: only their weights are learnt.
///
/// The bounds are the paper's Assumption 1, smooth instead of clipped: a clipped output has no gradient.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixtureHead {
    /// K: the number of Gaussians.
    pub components: usize,
    /// Smallest sd, in units of the standardised target.
    pub sd_floor: f32,
    /// Largest sd, if bounded.
    pub sd_ceiling: Option<f32>,
    /// Largest absolute mean, if bounded.
    pub mean_bound: Option<f32>,
    /// Single values that have a probability of their own.
    #[serde(default, skip_serializing_if = "Atoms::is_empty")]
    pub atoms: Atoms,
    /// The bounds of the target: the mixture is conditional on them.
    #[serde(default, skip_serializing_if = "Bounds::is_none")]
    pub bounds: Bounds,
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
    /// How many of the components, the last ones, are atoms at their means.
    pub atoms: usize,
    pub(super) mean_slopes: Vec<Chunk>,
    pub(super) sd_slopes: Vec<Chunk>,
}

impl MixturePanel {
    /// Buffers for mixtures of `components`.
    pub fn new(components: usize) -> Self {
        let list = vec![Chunk::ZERO; components * PANEL_CHUNKS];
        Self {
            log_weights: list.clone(),
            weights: list.clone(),
            means: list.clone(),
            sds: list.clone(),
            atoms: 0,
            mean_slopes: list.clone(),
            sd_slopes: list,
        }
    }
}

impl MixtureHead {
    /// `components` Gaussians whose sds are at least `sd_floor`, with no bound and no atom.
    pub const fn new(components: usize, sd_floor: f32) -> Self {
        Self { components, sd_floor, sd_ceiling: None, mean_bound: None, atoms: Atoms::NONE, bounds: Bounds::NONE }
    }

    /// Raw numbers for each row.
    pub fn outputs(&self) -> usize {
        3 * self.components + self.atoms.len()
    }

    /// Atoms start with the fraction of rows that have them, components with equal weights, means 0 and sds 1, those of the target: this is
    /// the constant predictor, and no component is lost before it has learnt.
    pub fn initial_biases(&self) -> Vec<f32> {
        /// ln(e - 1), where softplus is 1.
        const SOFTPLUS_1: f32 = 0.541_324_85;
        let mut biases = vec![0.0; self.components];
        biases.extend(self.atoms.initial_logits(self.components));
        biases.resize(biases.len() + self.components, 0.0);
        biases.resize(self.outputs(), SOFTPLUS_1);
        biases
    }

    pub(super) fn is_sound(&self) -> bool {
        let positive = |x: f32| x > 0.0 && x.is_finite();
        (1..=MAX_COMPONENTS).contains(&self.components)
            && positive(self.sd_floor)
            && self.sd_ceiling.is_none_or(|ceiling| positive(ceiling) && ceiling > self.sd_floor)
            && self.mean_bound.is_none_or(positive)
            && self.atoms.is_sound()
            && self.bounds.is_sound()
    }
}

impl MixtureOutputs for MixtureHead {
    fn components(&self) -> usize {
        self.components + self.atoms.len()
    }

    /// `raw` is (3 K + A) × panel.
    #[inline(always)]
    fn forward<L: Lanes>(&self, raw: &[Chunk], panel: &mut MixturePanel) {
        let (every, size) = (self.components() * PANEL_CHUNKS, self.components * PANEL_CHUNKS);
        let (logits, rest) = raw.split_at(every);
        let (means, sds) = rest.split_at(size);
        for lane in 0..PANEL_CHUNKS {
            let rows = || (lane..every).step_by(PANEL_CHUNKS);
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
            let (scale, log_sum) = (L::splat(1.0) / sum, largest + ln(sum));
            for at in rows() {
                (L::load(&panel.weights[at]) * scale).store(&mut panel.weights[at]);
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
        panel.atoms = self.atoms.len();
        for (number, atom) in self.atoms.list().iter().enumerate() {
            let chunks = size + number * PANEL_CHUNKS..size + (number + 1) * PANEL_CHUNKS;
            panel.means[chunks.clone()].fill(Chunk([atom.value; WIDTH]));
            panel.sds[chunks].fill(Chunk([ATOM_SD; WIDTH]));
        }
    }

    /// Maps derivatives with respect to (logits, means, sds) to derivatives with respect to the raw outputs.
    #[inline(always)]
    fn backward<L: Lanes>(&self, panel: &MixturePanel, parameters: &[Chunk], raw: &mut [Chunk]) {
        let (every, size) = (self.components() * PANEL_CHUNKS, self.components * PANEL_CHUNKS);
        raw[..every].copy_from_slice(&parameters[..every]);
        multiply::<L>(&parameters[every..], &panel.mean_slopes[..size], &mut raw[every..]);
        multiply::<L>(&parameters[2 * every..], &panel.sd_slopes[..size], &mut raw[every + size..]);
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
            let ratio = tanh(x * L::splat(1.0 / bound));
            (ratio * L::splat(bound), ratio.neg_mul_add(ratio, one))
        }
    }
}
