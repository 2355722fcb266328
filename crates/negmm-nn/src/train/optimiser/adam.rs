//! Adam (Kingma & Ba, 2015).

use std::ops::Range;

use super::{BETA_2, EPSILON, TINY};
use negmm_dist::math::lanes::{Chunk, Lanes};

/// Decay of the first moment.
const BETA_1: f64 = 0.9;

/// The state of the optimiser, with the layout of the weights.
#[derive(Clone, Debug)]
pub struct Adam {
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
    ///
    /// `ranges` are the chunks that are optimised; the others stay.
    #[inline(always)]
    pub(super) fn step<L: Lanes>(
        &mut self,
        weights: &mut [Chunk],
        gradient: &[Chunk],
        rate: f64,
        ranges: &[Range<usize>],
    ) {
        let [power_1, power_2] = &mut self.powers;
        *power_1 *= BETA_1;
        *power_2 *= BETA_2;
        let size = (rate / (1.0 - *power_1)) as f32;
        let correction = (1.0 / (1.0 - *power_2).sqrt()) as f32;
        let (size, correction, epsilon) = (L::splat(size), L::splat(correction), L::splat(EPSILON));
        let (keep_1, add_1) = (L::splat(BETA_1 as f32), L::splat((1.0 - BETA_1) as f32));
        let (keep_2, add_2) = (L::splat(BETA_2 as f32), L::splat((1.0 - BETA_2) as f32));
        let (zero, tiny) = (L::splat(0.0), L::splat(TINY));
        for range in ranges {
            let moments = self.first[range.clone()].iter_mut().zip(&mut self.second[range.clone()]);
            for ((weight, g), (first, second)) in
                weights[range.clone()].iter_mut().zip(&gradient[range.clone()]).zip(moments)
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
}
