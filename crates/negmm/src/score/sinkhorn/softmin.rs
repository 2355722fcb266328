//! Responsible for softmins of whole clouds in `f32` lanes, a row in each lane.
//!
//! The square in a softmin is taken apart, so that a pair of points costs one multiplication before its exponential:
//!
//! ```text
//! softmin(h)(a) = a²/2 - e (ln sum_j exp(offset_j + a y_j / e) - ln K)        offset_j = (h_j - y_j²/2) / e
//! ```

use crate::math::functions::{decay, ln};
use crate::math::lanes::{Chunk, Kernel, Lanes, WIDTH, floats};

/// A dual potential and, from before an update, its offsets.
#[derive(Clone, Debug)]
pub(super) struct Potential {
    pub(super) values: Vec<Chunk>,
    pub(super) offsets: Vec<Chunk>,
}

impl Potential {
    pub(super) fn new(values: usize, offsets: usize) -> Self {
        Self { values: vec![Chunk::ZERO; values], offsets: vec![Chunk::ZERO; offsets] }
    }

    /// offset_j = (h_j - y_j²/2) / e
    #[inline(always)]
    pub(super) fn lay_out<L: Lanes>(&mut self, points: &[Chunk], temperature: f32) {
        let (half, inverse) = (L::splat(0.5), L::splat(1.0 / temperature));
        for ((offset, value), point) in self.offsets.iter_mut().zip(&self.values).zip(points) {
            let point = L::load(point);
            ((half * point).neg_mul_add(point, L::load(value)) * inverse).store(offset);
        }
    }

    /// The same where a value stands in one lane and its point and offset in all of them.
    #[inline(always)]
    pub(super) fn lay_out_packed(&mut self, points: &[Chunk], temperature: f32) {
        for ((offset, value), point) in self.offsets.iter_mut().zip(floats(&self.values)).zip(points) {
            let point = point.0[0];
            *offset = Chunk([(-0.5 * point).mul_add(point, *value) * (1.0 / temperature); WIDTH]);
        }
    }
}

/// values = keep · values + (1 - keep) · softmin, at each point of `at`; with `MEANS` also the mean of `points` under its weights.
pub(super) struct Update<'a, const MEANS: bool> {
    pub(super) at: &'a [Chunk],
    pub(super) points: &'a [Chunk],
    pub(super) offsets: &'a [Chunk],
    pub(super) temperature: f32,
    pub(super) keep: f32,
    pub(super) values: &'a mut [Chunk],
    pub(super) means: &'a mut [Chunk],
}

impl<'a> Update<'a, true> {
    pub(super) fn without_means(self) -> Update<'a, false> {
        let Self { at, points, offsets, temperature, keep, values, means } = self;
        Update { at, points, offsets, temperature, keep, values, means }
    }
}

/// Points of `at` that are worked on at once, so that their exponentials overlap.
const BLOCK: usize = 4;

impl<const MEANS: bool> Kernel for Update<'_, MEANS> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let blocks = self.at.len() / BLOCK;
        for block in 0..blocks {
            self.block::<L, BLOCK>(block * BLOCK);
        }
        for at in blocks * BLOCK..self.at.len() {
            self.block::<L, 1>(at);
        }
    }
}

impl<const MEANS: bool> Update<'_, MEANS> {
    /// `R` points from `first` on.
    #[inline(always)]
    fn block<L: Lanes, const R: usize>(&mut self, first: usize) {
        let (inverse, zero) = (L::splat(1.0 / self.temperature), L::splat(0.0));
        let mut scaled = [zero; R];
        for (scaled, at) in scaled.iter_mut().zip(&self.at[first..]) {
            *scaled = L::load(at) * inverse;
        }
        let mut largest = [L::splat(f32::NEG_INFINITY); R];
        for (point, offset) in self.points.iter().zip(self.offsets) {
            let (point, offset) = (L::load(point), L::load(offset));
            for r in 0..R {
                largest[r] = point.mul_add(scaled[r], offset).max(largest[r]);
            }
        }
        let (mut sums, mut means) = ([zero; R], [zero; R]);
        for (point, offset) in self.points.iter().zip(self.offsets) {
            let (point, offset) = (L::load(point), L::load(offset));
            for r in 0..R {
                let weight = decay(point.mul_add(scaled[r], offset) - largest[r]);
                sums[r] = sums[r] + weight;
                if MEANS {
                    means[r] = weight.mul_add(point, means[r]);
                }
            }
        }
        let share = L::splat(1.0 / self.points.len() as f32);
        let (keep, add) = (L::splat(self.keep), L::splat(1.0 - self.keep));
        for r in 0..R {
            let at = L::load(&self.at[first + r]);
            let sum = largest[r] + ln(sums[r] * share);
            let softmin = sum.neg_mul_add(L::splat(self.temperature), at * at * L::splat(0.5));
            let value = &mut self.values[first + r];
            L::load(value).mul_add(keep, softmin * add).store(value);
            if MEANS {
                (means[r] / sums[r]).store(&mut self.means[first + r]);
            }
        }
    }
}
