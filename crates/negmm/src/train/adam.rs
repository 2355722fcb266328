//! Responsible for turning gradients into steps: Adam with decoupled weight decay, and a running average of the weights.

use crate::math::lanes::{Chunk, Lanes, WIDTH};
use crate::net::Layer;

/// Decay of the first and second moment, and the term that keeps the division safe (Kingma & Ba, 2015).
const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f32 = 1e-8;
/// Moments smaller than this become zero: the moments of a dead unit decay for ever and would end as slow denormals.
const TINY: f32 = 1e-30;

/// The optimiser's memory, laid out like the weights.
#[derive(Clone, Debug)]
pub(super) struct Adam {
    first: Vec<Chunk>,
    second: Vec<Chunk>,
    /// The decays to the power of the steps taken.
    powers: [f64; 2],
}

impl Adam {
    pub(super) fn new(chunks: usize) -> Self {
        Self { first: vec![Chunk::ZERO; chunks], second: vec![Chunk::ZERO; chunks], powers: [1.0; 2] }
    }

    /// ```text
    /// m = b1 m + (1 - b1) g        v = b2 v + (1 - b2) g²
    /// w = w - rate m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps)
    /// ```
    #[inline(always)]
    pub(super) fn step<L: Lanes>(&mut self, weights: &mut [Chunk], gradient: &[Chunk], rate: f64) {
        let [power_1, power_2] = &mut self.powers;
        *power_1 *= BETA_1;
        *power_2 *= BETA_2;
        let size = (rate / (1.0 - *power_1)) as f32;
        let correction = (1.0 / (1.0 - *power_2).sqrt()) as f32;
        let (size, correction, epsilon) = (L::splat(size), L::splat(correction), L::splat(EPSILON));
        let (keep_1, add_1) = (L::splat(BETA_1 as f32), L::splat((1.0 - BETA_1) as f32));
        let (keep_2, add_2) = (L::splat(BETA_2 as f32), L::splat((1.0 - BETA_2) as f32));
        let (zero, tiny) = (L::splat(0.0), L::splat(TINY));
        for (((weight, g), first), second) in
            weights.iter_mut().zip(gradient).zip(&mut self.first).zip(&mut self.second)
        {
            let g = L::load(g);
            let m = L::load(first).mul_add(keep_1, add_1 * g);
            let v = L::load(second).mul_add(keep_2, add_2 * g * g);
            let m = m.select(m.abs().gt(tiny), zero);
            let v = v.select(v.gt(tiny), zero);
            m.store(first);
            v.store(second);
            let step = m / v.sqrt().mul_add(correction, epsilon);
            step.neg_mul_add(size, L::load(weight)).store(weight);
        }
    }
}

/// Shrinks every weight, but no bias, by the factor 1 - rate · decay.
#[inline(always)]
pub(super) fn decay_weights<L: Lanes>(weights: &mut [Chunk], layers: &[Layer], shrink: f32) {
    for layer in layers {
        for row in weights[layer.range()].chunks_exact_mut(layer.stride) {
            let bias = row[layer.inputs / WIDTH].0[layer.inputs % WIDTH];
            for chunk in row.iter_mut() {
                (L::load(chunk) * L::splat(shrink)).store(chunk);
            }
            row[layer.inputs / WIDTH].0[layer.inputs % WIDTH] = bias;
        }
    }
}

/// average = keep · average + (1 - keep) · weights
#[inline(always)]
pub(super) fn average<L: Lanes>(average: &mut [Chunk], weights: &[Chunk], keep: f32) {
    let (keep, add) = (L::splat(keep), L::splat(1.0 - keep));
    for (mean, weight) in average.iter_mut().zip(weights) {
        L::load(mean).mul_add(keep, L::load(weight) * add).store(mean);
    }
}

/// Whether every number and its square are finite: Adam sums squares, and would be stuck with an infinite one.
#[inline(always)]
pub(super) fn all_finite<L: Lanes>(chunks: &[Chunk]) -> bool {
    let zero = L::splat(0.0);
    let mut sum = zero;
    for chunk in chunks {
        let number = L::load(chunk);
        sum = (number * number).mul_add(zero, sum);
    }
    sum.sum() == 0.0
}
