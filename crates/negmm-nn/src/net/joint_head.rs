//! The head of several targets: maps raw outputs to a Gaussian mixture over vectors, and gradients back.

use serde::{Deserialize, Serialize};

use super::mixture_head::MAX_COMPONENTS;
use super::network::PANEL_CHUNKS;
use negmm_dist::math::functions::{decay, ln, softplus};
use negmm_dist::math::lanes::{Chunk, Lanes, WIDTH};
use negmm_dist::{JointMixtures, Result};

/// Largest number of targets.
pub const MAX_TARGETS: usize = 64;

/// Maps K (1 + d + E) raw numbers (K logits, K mean vectors, K factors of E entries) to a mixture of K Gaussians over d targets:
///
/// ```text
/// weight_k = softmax(logit)_k       mean_k = raw       covariance_k = A_k A_kᵀ
/// full:      A_k is lower triangular, packed row after row; E = d (d + 1) / 2
/// low rank:  A_k = (D_k | V_k) with D_k diagonal and V_k of d × rank entries; E = d + d rank
/// ```
///
/// The entries of the diagonal are floor + softplus(raw), all others the raw numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointHead {
    /// d: the number of targets.
    pub targets: usize,
    /// K: the number of components.
    pub components: usize,
    /// The rank beside the diagonal; `None`: a full Cholesky factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// Smallest diagonal entry, in units of the standardised targets.
    pub sd_floor: f32,
}

/// The mixtures over vectors of one panel of rows: each list is (items × panel).
#[derive(Clone, Debug)]
pub struct JointPanel {
    /// ln of the weights: components.
    pub log_weights: Vec<Chunk>,
    /// Weights: components.
    pub weights: Vec<Chunk>,
    /// Means: components × targets.
    pub means: Vec<Chunk>,
    /// Entries of the factors: components × E.
    pub factors: Vec<Chunk>,
    /// Derivatives of the entries with respect to the raw outputs.
    slopes: Vec<Chunk>,
}

impl JointHead {
    /// Entries of a factor.
    pub fn entries(&self) -> usize {
        let d = self.targets;
        self.rank.map_or(d * (d + 1) / 2, |rank| d + d * rank)
    }

    /// Columns of a factor.
    pub fn columns(&self) -> usize {
        self.targets + self.rank.unwrap_or(0)
    }

    /// (row, column) of each entry of a factor.
    pub fn pattern(&self) -> Vec<(usize, usize)> {
        let d = self.targets;
        match self.rank {
            None => (0..d).flat_map(|row| (0..=row).map(move |column| (row, column))).collect(),
            Some(rank) => {
                let beside = (0..d).flat_map(|row| (0..rank).map(move |column| (row, d + column)));
                (0..d).map(|row| (row, row)).chain(beside).collect()
            }
        }
    }

    /// Raw numbers for each row.
    pub fn outputs(&self) -> usize {
        self.components * (1 + self.targets + self.entries())
    }

    /// Equal weights, means 0 and unit covariances: those of the standardised targets if they are independent.
    pub fn initial_biases(&self) -> Vec<f32> {
        /// ln(e - 1), where softplus is 1.
        const SOFTPLUS_1: f32 = 0.541_324_85;
        let factor = self.pattern().into_iter().map(|(row, column)| if row == column { SOFTPLUS_1 } else { 0.0 });
        let factors = factor.collect::<Vec<f32>>().repeat(self.components);
        let mut biases = vec![0.0; self.components * (1 + self.targets)];
        biases.extend(factors);
        biases
    }

    pub(super) fn is_sound(&self) -> bool {
        (1..=MAX_COMPONENTS).contains(&self.components)
            && (1..=MAX_TARGETS).contains(&self.targets)
            && self.rank.is_none_or(|rank| (1..=self.targets).contains(&rank))
            && self.sd_floor > 0.0
            && self.sd_floor.is_finite()
    }

    /// `raw` is outputs × panel.
    #[inline(always)]
    pub fn forward<L: Lanes>(&self, raw: &[Chunk], panel: &mut JointPanel) {
        let size = self.components * PANEL_CHUNKS;
        let (logits, rest) = raw.split_at(size);
        let (means, factors) = rest.split_at(size * self.targets);
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
            let (scale, log_sum) = (L::splat(1.0) / sum, largest + ln(sum));
            for at in rows() {
                (L::load(&panel.weights[at]) * scale).store(&mut panel.weights[at]);
                (L::load(&logits[at]) - log_sum).store(&mut panel.log_weights[at]);
            }
        }
        panel.means.copy_from_slice(means);
        panel.factors.copy_from_slice(factors);
        let each = self.entries();
        for k in 0..self.components {
            for row in 0..self.targets {
                let first = (k * each + self.diagonal(row)) * PANEL_CHUNKS;
                for lane in 0..PANEL_CHUNKS {
                    let (spread, slope) = softplus(L::load(&factors[first + lane]));
                    (spread + L::splat(self.sd_floor)).store(&mut panel.factors[first + lane]);
                    slope.store(&mut panel.slopes[first + lane]);
                }
            }
        }
    }

    /// The index of the diagonal entry of a row.
    pub fn diagonal(&self, row: usize) -> usize {
        if self.rank.is_some() { row } else { row * (row + 3) / 2 }
    }

    /// Maps derivatives with respect to (logits, means, factors) to derivatives with respect to the raw outputs, which have the same
    /// layout.
    #[inline(always)]
    pub fn backward<L: Lanes>(&self, panel: &JointPanel, parameters: &[Chunk], raw: &mut [Chunk]) {
        let before = self.components * (1 + self.targets) * PANEL_CHUNKS;
        raw[..before].copy_from_slice(&parameters[..before]);
        for ((raw, delta), slope) in raw[before..].iter_mut().zip(&parameters[before..]).zip(&panel.slopes) {
            (L::load(delta) * L::load(slope)).store(raw);
        }
    }

    /// The mixtures of raw outputs in `f64`: rows × outputs.
    ///
    /// # Errors
    /// When a raw output is not finite.
    pub fn mixtures(&self, raw: &[f64]) -> Result<JointMixtures> {
        let (d, count, each) = (self.targets, self.components, self.entries());
        let rows = raw.len() / self.outputs();
        let (mut weights, mut means) = (Vec::with_capacity(rows * count), Vec::with_capacity(rows * count * d));
        let mut factors = Vec::with_capacity(rows * count * each);
        let pattern = self.pattern();
        for row in raw.chunks_exact(self.outputs()) {
            let (logits, rest) = row.split_at(count);
            let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            weights.extend(logits.iter().map(|logit| libm::exp(logit - largest)));
            means.extend_from_slice(&rest[..count * d]);
            for factor in rest[count * d..].chunks_exact(each) {
                let entries = pattern.iter().zip(factor).map(|((row, column), raw)| match row == column {
                    true => f64::from(self.sd_floor) + softplus_f64(*raw),
                    false => *raw,
                });
                match self.rank {
                    None => factors.extend(entries),
                    Some(_) => factors.extend(low_rank_covariance(&pattern, &entries.collect::<Vec<_>>(), d)),
                }
            }
        }
        match self.rank {
            None => JointMixtures::new(d, count, weights, means, factors),
            Some(_) => JointMixtures::from_covariances(d, count, weights, means, &factors),
        }
    }
}

/// ln(1 + e^x), without overflow.
fn softplus_f64(x: f64) -> f64 {
    x.max(0.0) + libm::log1p(libm::exp(-x.abs()))
}

/// A Aᵀ, targets × targets.
fn low_rank_covariance(pattern: &[(usize, usize)], entries: &[f64], targets: usize) -> Vec<f64> {
    let mut covariance = vec![0.0; targets * targets];
    for ((row, column), entry) in pattern.iter().zip(entries) {
        for ((other, same), factor) in pattern.iter().zip(entries) {
            if column == same {
                covariance[row * targets + other] += entry * factor;
            }
        }
    }
    covariance
}

impl JointPanel {
    /// Buffers for mixtures of a head.
    pub fn new(head: &JointHead) -> Self {
        let list = |items: usize, value: f32| vec![Chunk([value; WIDTH]); items * PANEL_CHUNKS];
        let components = head.components;
        Self {
            log_weights: list(components, 0.0),
            weights: list(components, 0.0),
            means: list(components * head.targets, 0.0),
            factors: list(components * head.entries(), 0.0),
            slopes: list(components * head.entries(), 1.0),
        }
    }
}
