//! Energy score of samples in `f32` lanes, with gradients.
//!
//! Sixteen rows are sorted at once, a row in each lane, by a sorting network: Batcher's merge exchange (Knuth, The Art of Computer
//! Programming 3, Algorithm 5.2.2M), about M (log2 M)² / 4 exchanges. Each sample is sorted together with its number, the index of its
//! derivative.

use crate::net::{PANEL, PANEL_CHUNKS};
use negmm_dist::math::lanes::{Chunk, Kernel, Lanes, WIDTH, floats_mut};

/// The sorted samples of one chunk of rows, and the exchanges that sort them.
#[derive(Clone, Debug)]
pub struct SampleScratch {
    sorted: Vec<RankedSample>,
    /// Derivative of the score with respect to the sample of each rank.
    slopes: Vec<Chunk>,
    exchanges: Vec<Exchange>,
}

/// Terms of a part of the score's sum.
const SUMMED: usize = 16;

/// The samples of one rank.
#[derive(Clone, Copy, Debug)]
struct RankedSample {
    value: Chunk,
    /// The number of the sample as the bits of a float, which is never used in arithmetic.
    number: Chunk,
}

/// Two ranks whose samples are swapped if the first is larger.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// The rank of the smaller one.
    pub low: u32,
    /// The rank of the larger one.
    pub high: u32,
}

impl SampleScratch {
    /// Buffers for `samples` samples per row.
    pub fn new(samples: usize) -> Self {
        let empty = RankedSample { value: Chunk::ZERO, number: Chunk::ZERO };
        Self { sorted: vec![empty; samples], slopes: vec![Chunk::ZERO; samples], exchanges: merge_exchange(samples) }
    }

    /// The score of each row in lane `lane` of the panel; also computes its gradient.
    ///
    /// `outputs` is samples × panel, `y` the target of each row.
    #[inline(always)]
    pub fn score<L: Lanes>(&mut self, outputs: &[Chunk], y: &Chunk, lane: usize) -> L {
        for (sample, rank) in self.sorted.iter_mut().enumerate() {
            rank.value = outputs[sample * PANEL_CHUNKS + lane];
            rank.number = Chunk([f32::from_bits(sample as u32); WIDTH]);
        }
        L::call(Sort { sorted: &mut self.sorted, exchanges: &self.exchanges });
        self.slopes::<L>(y)
    }

    /// sum_i (z_i - y) slope_i; also computes the slopes. Ties have the mean of their first and last rank.
    #[inline(always)]
    fn slopes<L: Lanes>(&mut self, y: &Chunk) -> L {
        let count = self.sorted.len();
        let (y, zero) = (L::load(y), L::splat(0.0));
        let (mut last, mut above) = (zero, L::splat(f32::INFINITY));
        for (rank, (sorted, slope)) in self.sorted.iter().zip(&mut self.slopes).enumerate().rev() {
            let value = L::load(&sorted.value);
            last = L::splat(rank as f32).select(above.gt(value), last);
            last.store(slope);
            above = value;
        }
        let one_over_m = L::splat(1.0 / count as f32);
        let minus_one_over_m = L::splat(-1.0 / count as f32);
        let one_over_m_squared = L::splat(1.0 / (count as f32 * count as f32));
        // Ranks are from 0 here: 2 rank - M - 1 = first + last + 1 - M.
        let middle = L::splat(1.0 - count as f32);
        let (mut first, mut below) = (zero, L::splat(f32::NEG_INFINITY));
        let (mut sum, mut rank) = (zero, 0);
        // Sums of partial sums: fewer rounding errors for each term.
        for (sorted, slopes) in self.sorted.chunks(SUMMED).zip(self.slopes.chunks_mut(SUMMED)) {
            let mut part = zero;
            for (sorted, kept) in sorted.iter().zip(slopes) {
                let value = L::load(&sorted.value);
                first = L::splat(rank as f32).select(value.gt(below), first);
                below = value;
                rank += 1;
                let side = one_over_m.select(value.gt(y), minus_one_over_m.select(y.gt(value), zero));
                let slope = (first + L::load(kept) + middle).neg_mul_add(one_over_m_squared, side);
                slope.store(kept);
                part = (value - y).mul_add(slope, part);
            }
            sum = sum + part;
        }
        sum
    }

    /// The derivative of factor · score with respect to each output, after [`SampleScratch::score`]; `deltas` is
    /// samples × panel. There is one factor for each row.
    #[inline(always)]
    pub fn gradient<L: Lanes>(&self, lane: usize, factor: L, deltas: &mut [Chunk]) {
        let deltas = floats_mut(deltas);
        for (sorted, slope) in self.sorted.iter().zip(&self.slopes) {
            let mut slopes = Chunk::ZERO;
            (factor * L::load(slope)).store(&mut slopes);
            for (row, (slope, number)) in slopes.0.iter().zip(&sorted.number.0).enumerate() {
                deltas[number.to_bits() as usize * PANEL + lane * WIDTH + row] = *slope;
            }
        }
    }
}

/// The exchanges that sort `count` numbers.
pub fn merge_exchange(count: usize) -> Vec<Exchange> {
    let mut exchanges = Vec::new();
    let half = count.next_power_of_two() / 2;
    let mut bit = half;
    while bit > 0 {
        let (mut wanted, mut distance, mut next) = (0, bit, half);
        loop {
            for low in (0..count.saturating_sub(distance)).filter(|low| low & bit == wanted) {
                exchanges.push(Exchange { low: low as u32, high: (low + distance) as u32 });
            }
            if next == bit {
                break;
            }
            (wanted, distance, next) = (bit, next - bit, next / 2);
        }
        bit /= 2;
    }
    exchanges
}

/// Sorts the samples of every lane, together with their numbers.
struct Sort<'a> {
    sorted: &'a mut [RankedSample],
    exchanges: &'a [Exchange],
}

impl Kernel for Sort<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for exchange in self.exchanges {
            let (before, from) = self.sorted.split_at_mut(exchange.high as usize);
            let (low, high) = (&mut before[exchange.low as usize], &mut from[0]);
            let (a, b) = (L::load(&low.value), L::load(&high.value));
            let (a_number, b_number) = (L::load(&low.number), L::load(&high.number));
            let wrong = a.gt(b);
            b.select(wrong, a).store(&mut low.value);
            a.select(wrong, b).store(&mut high.value);
            b_number.select(wrong, a_number).store(&mut low.number);
            a_number.select(wrong, b_number).store(&mut high.number);
        }
    }
}
