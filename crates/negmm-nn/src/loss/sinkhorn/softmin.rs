//! Softmins of whole clouds in `f32` lanes, a row in each lane.
//!
//! The square in a softmin is expanded, so that a pair of points costs one multiplication before its exponential:
//!
//! ```text
//! softmin(h)(a) = a²/2 - e ln (1/K sum_j exp(offset_j + a y_j / e))        offset_j = (h_j - y_j²/2) / e
//! ```
//!
//! Exponents are kept in base 2. At the first temperature, the squared diameter of clouds around zero, |a y_j / e| is at most 1,
//! and the sum over pairs separates into a few sums over points:
//!
//! ```text
//! sum_j exp(offset_j + a y_j / e) = sum_k a^k moment_k        moment_k = sum_j exp(offset_j) (y_j / e)^k / k!
//! ```

use std::f32::consts::{LN_2, LOG2_E};

use negmm_dist::math::functions::ln;
use negmm_dist::math::lanes::{Chunk, Kernel, Lanes, WIDTH, floats};

/// The settings of one update of all potentials.
#[derive(Clone, Copy, Debug)]
pub(super) struct UpdateSettings {
    pub(super) temperature: f32,
    /// Weight of the old values.
    pub(super) keep: f32,
    /// Whether the temperature is the squared diameter.
    pub(super) hottest: bool,
    /// Whether it is the last update.
    pub(super) last: bool,
}

/// A dual potential, and its offsets before an update.
#[derive(Clone, Debug)]
pub(super) struct Potential {
    pub(super) values: Vec<Chunk>,
    pub(super) offsets: Vec<Chunk>,
}

impl Potential {
    pub(super) fn new(values: usize, offsets: usize) -> Self {
        Self { values: vec![Chunk::ZERO; values], offsets: vec![Chunk::ZERO; offsets] }
    }

    /// offset_j = (h_j - y_j²/2) / e, in base 2
    #[inline(always)]
    pub(super) fn lay_out<L: Lanes>(&mut self, points: &[Chunk], temperature: f32) {
        let (half, inverse) = (L::splat(0.5), L::splat(LOG2_E / temperature));
        for ((offset, value), point) in self.offsets.iter_mut().zip(&self.values).zip(points) {
            let point = L::load(point);
            ((half * point).neg_mul_add(point, L::load(value)) * inverse).store(offset);
        }
    }

    /// The same if values are in one lane each and points and offsets in all lanes.
    #[inline(always)]
    pub(super) fn lay_out_packed(&mut self, points: &[Chunk], temperature: f32) {
        for ((offset, value), point) in self.offsets.iter_mut().zip(floats(&self.values)).zip(points) {
            let point = point.0[0];
            *offset = Chunk([(-0.5 * point).mul_add(point, *value) * (LOG2_E / temperature); WIDTH]);
        }
    }
}

/// values = keep · values + (1 - keep) · softmin, at each point of `at`; with `MEANS` also the mean of `points` under its weights.
pub(super) struct Update<'a, const MEANS: bool> {
    pub(super) at: &'a [Chunk],
    pub(super) points: &'a [Chunk],
    pub(super) offsets: &'a [Chunk],
    pub(super) round: UpdateSettings,
    pub(super) values: &'a mut [Chunk],
    pub(super) means: &'a mut [Chunk],
}

impl<'a> Update<'a, true> {
    pub(super) fn without_means(self) -> Update<'a, false> {
        let Self { at, points, offsets, round, values, means } = self;
        Update { at, points, offsets, round, values, means }
    }
}

/// Terms of the series: the rest is below 1 / 12! = 2e-9.
const TERMS: usize = 12;

/// Points of `at` that are processed together, so that their exponentials overlap.
const BLOCK: usize = 4;

impl<const MEANS: bool> Kernel for Update<'_, MEANS> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        if self.round.hottest {
            return self.series::<L>();
        }
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
        let (inverse, zero) = (L::splat(LOG2_E / self.round.temperature), L::splat(0.0));
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
                let weight = power_of_two(point.mul_add(scaled[r], offset) - largest[r]);
                sums[r] = sums[r] + weight;
                if MEANS {
                    means[r] = weight.mul_add(point, means[r]);
                }
            }
        }
        let inverse_count = L::splat(1.0 / self.points.len() as f32);
        for r in 0..R {
            self.settle::<L>(first + r, largest[r], sums[r] * inverse_count);
            if MEANS {
                (means[r] / sums[r]).store(&mut self.means[first + r]);
            }
        }
    }

    /// All points, if the series converges.
    #[inline(always)]
    fn series<L: Lanes>(&mut self) {
        let mut largest = L::splat(f32::NEG_INFINITY);
        for offset in self.offsets {
            largest = L::load(offset).max(largest);
        }
        let inverse = L::splat(1.0 / self.round.temperature);
        let mut moments = [L::splat(0.0); TERMS];
        for (point, offset) in self.points.iter().zip(self.offsets) {
            let ratio = L::load(point) * inverse;
            let mut term = power_of_two(L::load(offset) - largest);
            for moment in &mut moments {
                *moment = *moment + term;
                term = term * ratio;
            }
        }
        let mut factor = 1.0 / self.points.len() as f32;
        for (k, moment) in moments.iter_mut().enumerate() {
            *moment = *moment * L::splat(factor);
            factor /= (k + 1) as f32;
        }
        for point in 0..self.at.len() {
            let at = L::load(&self.at[point]);
            let mut sum = moments[TERMS - 1];
            for moment in moments[..TERMS - 1].iter().rev() {
                sum = sum.mul_add(at, *moment);
            }
            self.settle::<L>(point, largest, sum);
        }
    }

    /// The new value at one point, given that the mean of all powers is 2^`largest` `mean`.
    #[inline(always)]
    fn settle<L: Lanes>(&mut self, point: usize, largest: L, mean: L) {
        let UpdateSettings { temperature, keep, .. } = self.round;
        let at = L::load(&self.at[point]);
        let exponent = largest.mul_add(L::splat(LN_2), ln(mean));
        let softmin = exponent.neg_mul_add(L::splat(temperature), at * at * L::splat(0.5));
        let value = &mut self.values[point];
        L::load(value).mul_add(L::splat(keep), softmin * L::splat(1.0 - keep)).store(value);
    }
}

/// Below this, [`power_of_two`] stays at 2^-40 (9e-13): negligible in a sum whose largest term is 1.
const LOWEST: f32 = -40.0;

/// 2^t for t that is never positive: 2^n 2^r with |r| at most 1/2, interpolated at Chebyshev nodes (relative error 3e-9 before rounding).
#[inline(always)]
fn power_of_two<L: Lanes>(t: L) -> L {
    const COEFFICIENTS: [f32; 7] =
        [1.0, LN_2, 0.240_226_5, 0.055_503_27, 0.009_618_057, 0.001_340_042_8, 0.000_154_614_45];
    let t = t.max(L::splat(LOWEST));
    let n = t.round();
    let r = t - n;
    let mut sum = L::splat(COEFFICIENTS[6]);
    for coefficient in COEFFICIENTS[..6].iter().rev() {
        sum = sum.mul_add(r, L::splat(*coefficient));
    }
    sum.scale(n)
}
