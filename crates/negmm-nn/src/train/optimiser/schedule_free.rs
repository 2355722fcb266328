//! Schedule-free Adam (Defazio, Yang, Mehta, Mishchenko, Khaled & Cutkosky, 2024, "The road less scheduled").
//!
//! ```text
//! v = b2 v + (1 - b2) g²                       g: the gradient at y
//! z = z - rate g / (sqrt(v / (1 - b2^t)) + eps)
//! x = (1 - c) x + c z                          c = rate² / sum of rate² so far
//! y = (1 - b1) z + b1 x                        x is used for prediction
//! ```

use super::{BETA_2, Decay, EPSILON, TINY};
use negmm_dist::math::lanes::{Chunk, Lanes};

/// Where between z and x gradients are evaluated.
const BETA_1: f64 = 0.9;

/// z, x and the second moment; y is the weights.
#[derive(Clone, Debug)]
pub struct ScheduleFree {
    steps: Vec<Chunk>,
    average: Vec<Chunk>,
    second: Vec<Chunk>,
    /// b2 to the power of the steps taken.
    power: f64,
    /// The sum of the squares of the rates.
    total: f64,
}

impl ScheduleFree {
    pub(super) fn new(weights: &[Chunk]) -> Self {
        let (steps, average) = (weights.to_vec(), weights.to_vec());
        Self { steps, average, second: vec![Chunk::ZERO; weights.len()], power: 1.0, total: 0.0 }
    }

    #[inline(always)]
    pub(super) fn step<L: Lanes>(&mut self, weights: &mut [Chunk], gradient: &[Chunk], rate: f64, decay: Decay<'_>) {
        self.power *= BETA_2;
        self.total += rate * rate;
        let average_weight = if self.total > 0.0 { (rate * rate / self.total) as f32 } else { 0.0 };
        let correction = L::splat((1.0 / (1.0 - self.power).sqrt()) as f32);
        let (rate, epsilon) = (L::splat(rate as f32), L::splat(EPSILON));
        let (keep_2, add_2) = (L::splat(BETA_2 as f32), L::splat((1.0 - BETA_2) as f32));
        let (zero, tiny) = (L::splat(0.0), L::splat(TINY));
        for ((z, g), second) in self.steps.iter_mut().zip(gradient).zip(&mut self.second) {
            let g = L::load(g);
            let v = L::load(second).mul_add(keep_2, add_2 * g * g);
            let v = v.select(v.gt(tiny), zero);
            v.store(second);
            let step = g / v.sqrt().mul_add(correction, epsilon);
            step.neg_mul_add(rate, L::load(z)).store(z);
        }
        decay.apply::<L>(&mut self.steps);
        super::average::<L>(&mut self.average, &self.steps, 1.0 - average_weight);
        let (of_steps, of_average) = (L::splat((1.0 - BETA_1) as f32), L::splat(BETA_1 as f32));
        for ((weight, z), x) in weights.iter_mut().zip(&self.steps).zip(&self.average) {
            L::load(x).mul_add(of_average, L::load(z) * of_steps).store(weight);
        }
    }

    pub(super) fn average(&self) -> &[Chunk] {
        &self.average
    }
}
