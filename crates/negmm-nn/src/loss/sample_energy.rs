//! Energy score of samples in `f32` lanes, with gradients.
//!
//! It sorts sixteen rows at once, a row in each lane, by a network of exchanges that does not depend on the
//! numbers: Batcher's merge exchange (Knuth, The Art of Computer Programming 3, Algorithm 5.2.2M), about M (log2 M)² / 4
//! exchanges. Each sample carries its number along, which is where its derivative goes in the end.

use crate::net::{PANEL, PANEL_CHUNKS};
use negmm_dist::math::lanes::{Chunk, Kernel, Lanes, WIDTH, floats_mut};

/// Room for the samples of one chunk of rows, in order, and the exchanges that bring them into it.
#[derive(Clone, Debug)]
pub struct SampleScratch {
    sorted: Vec<Sorted>,
    /// Derivative of the score with respect to the sample at each place.
    slopes: Vec<Chunk>,
    exchanges: Vec<Exchange>,
}

/// Terms of a part of the score's sum.
const SUMMED: usize = 16;

/// One place in the order of a row's samples.
#[derive(Clone, Copy, Debug)]
struct Sorted {
    value: Chunk,
    /// Which sample it is: its number as the bits of a float, only ever moved.
    number: Chunk,
}

/// Two places whose samples change places when the first is larger.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// Where the smaller one goes.
    pub low: u32,
    /// Where the larger one goes.
    pub high: u32,
}

impl SampleScratch {
    /// Room for `samples` samples a row.
    pub fn new(samples: usize) -> Self {
        let empty = Sorted { value: Chunk::ZERO, number: Chunk::ZERO };
        Self { sorted: vec![empty; samples], slopes: vec![Chunk::ZERO; samples], exchanges: merge_exchange(samples) }
    }

    /// The score of each row in lane `lane` of the panel; leaves its gradient behind.
    ///
    /// `outputs` is samples × panel, `y` the target of each row.
    #[inline(always)]
    pub fn score<L: Lanes>(&mut self, outputs: &[Chunk], y: &Chunk, lane: usize) -> L {
        for (sample, place) in self.sorted.iter_mut().enumerate() {
            place.value = outputs[sample * PANEL_CHUNKS + lane];
            place.number = Chunk([f32::from_bits(sample as u32); WIDTH]);
        }
        L::call(Sort { sorted: &mut self.sorted, exchanges: &self.exchanges });
        self.slopes::<L>(y)
    }

    /// sum_i (z_i - y) slope_i; leaves the slopes behind. Equals share the mean of their first and last place.
    #[inline(always)]
    fn slopes<L: Lanes>(&mut self, y: &Chunk) -> L {
        let count = self.sorted.len();
        let (y, zero) = (L::load(y), L::splat(0.0));
        let (mut last, mut above) = (zero, L::splat(f32::INFINITY));
        for (place, (sorted, slope)) in self.sorted.iter().zip(&mut self.slopes).enumerate().rev() {
            let value = L::load(&sorted.value);
            last = L::splat(place as f32).select(above.gt(value), last);
            last.store(slope);
            above = value;
        }
        let share = L::splat(1.0 / count as f32);
        let minus_share = L::splat(-1.0 / count as f32);
        let square_share = L::splat(1.0 / (count as f32 * count as f32));
        // Places count from 0: 2 rank - M - 1 = first + last + 1 - M.
        let middle = L::splat(1.0 - count as f32);
        let (mut first, mut below) = (zero, L::splat(f32::NEG_INFINITY));
        let (mut sum, mut place) = (zero, 0);
        // Sums of sums: fewer roundings on the way of each term.
        for (sorted, slopes) in self.sorted.chunks(SUMMED).zip(self.slopes.chunks_mut(SUMMED)) {
            let mut part = zero;
            for (sorted, kept) in sorted.iter().zip(slopes) {
                let value = L::load(&sorted.value);
                first = L::splat(place as f32).select(value.gt(below), first);
                below = value;
                place += 1;
                let side = share.select(value.gt(y), minus_share.select(y.gt(value), zero));
                let slope = (first + L::load(kept) + middle).neg_mul_add(square_share, side);
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

/// Brings the samples of every lane into ascending order, their numbers with them.
struct Sort<'a> {
    sorted: &'a mut [Sorted],
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
