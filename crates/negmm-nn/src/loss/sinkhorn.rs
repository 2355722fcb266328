//! The Sinkhorn regulariser of a panel of rows in `f32` lanes, with its gradient.
//!
//! The updates are those of the reference, [`negmm_dist::score::sinkhorn`]. A row's samples are first brought to the scale of the prior:
//!
//! ```text
//! uniform   u_i = (z_i - (min + max) / 2) / (max - min)     against draws from U(-1/2, 1/2)
//! normal    u_i = (z_i - mean) / sqrt(variance + 1e-8)      against draws from N(0, 1); the variance divides by M - 1
//! ```
//!
//! (U(0, 1) shifted by a half: the divergence depends only on distances, and numbers around zero have smaller rounding errors.) With
//! G_i = dS / du_i and the scale s = 1 / (max - min) or 1 / sqrt(variance + 1e-8),
//!
//! ```text
//! uniform   dS / dz_i = s (G_i - [i is the smallest] sum G (1/2 - u) - [i is the largest] sum G (1/2 + u))
//! normal    dS / dz_i = s (G_i - mean G - u_i sum G u / (M - 1))
//! ```
//!
//! and ties for the smallest or largest sample divide that part of the gradient equally.

mod softmin;

use serde::{Deserialize, Serialize};

use crate::net::PANEL_CHUNKS;
use negmm_dist::math::counter::Draws;
use negmm_dist::math::lanes::{Chunk, Lanes, WIDTH, floats, floats_mut};
use negmm_dist::math::normal;
use negmm_dist::score::sinkhorn::{BLUR, temperatures};
use softmin::{Potential, Update, UpdateSettings};

/// Samples of a row that all lie within this range, in units of the standardised target, are not regularised.
const SMALLEST_RANGE: f32 = 1e-6;
/// Added to the variance by SampleNet.
const VARIANCE_FLOOR: f32 = 1e-8;

/// The prior that the regulariser compares samples with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Prior {
    /// Uniform, for samples scaled to their range.
    Uniform,
    /// Standard normal, for standardised samples.
    Normal,
}

/// weight · S(scaled samples, draws from the prior), for each row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sinkhorn {
    /// The prior.
    pub prior: Prior,
    /// Factor of the divergence in the loss.
    pub weight: f32,
}

impl Sinkhorn {
    /// New draws from the prior, once per step: all rows of a batch are compared with the same draws.
    #[doc(hidden)]
    pub fn draw(&self, draws: &mut Draws, scratch: &mut SinkhornScratch) {
        for draw in &mut scratch.drawn {
            *draw = match self.prior {
                Prior::Uniform => draws.uniform() - 0.5,
                Prior::Normal => normal::quantile(draws.uniform()),
            };
        }
        scratch.drawn.sort_unstable_by(f64::total_cmp);
        scratch.spread_draws();
    }

    /// Adds the gradient to `deltas` and returns the term of the loss: factor · weight · divergence, over the chunks of
    /// the panel. `outputs` and `deltas` are samples × panel; there is one factor for each row.
    ///
    /// The first temperature is the squared diameter of all samples of the panel and the draws, as geomloss takes that of
    /// a whole batch: for the uniform prior it is 1 in every panel with a row that is regularised.
    #[inline(always)]
    #[doc(hidden)]
    pub fn add<L: Lanes>(
        &self,
        outputs: &[Chunk],
        factors: &[Chunk; PANEL_CHUNKS],
        deltas: &mut [Chunk],
        scratch: &mut SinkhornScratch,
    ) -> L {
        let diameter = scratch.read::<L>(self.prior, outputs);
        scratch.solve_draws::<L>(diameter);
        let mut sum = L::splat(0.0);
        for (lane, factor) in factors.iter().enumerate() {
            let factor = L::load(factor) * L::splat(self.weight);
            sum = scratch.solve_rows::<L>(lane, diameter).mul_add(factor, sum);
            scratch.pull::<L>(self.prior, lane, factor, deltas);
        }
        sum
    }
}

/// Buffers for one panel, and the draws from the prior.
#[derive(Clone, Debug)]
pub struct SinkhornScratch {
    /// Draws, smallest first, before rounding.
    drawn: Vec<f64>,
    /// Each draw in all lanes.
    y: Vec<Chunk>,
    /// Draws, sixteen to a chunk; the last draw pads the last chunk.
    packed: Vec<Chunk>,
    /// chunks of the panel × samples: scaled.
    x: Vec<Chunk>,
    /// The factor of that scaling for each row; zero for a row that is not regularised.
    scales: [Chunk; PANEL_CHUNKS],
    cross_x: Potential,
    cross_y: Potential,
    own_x: Potential,
    /// Packed like the draws; its offsets are in all lanes.
    own_y: Potential,
    /// Means of draws and of samples under the last plans.
    cross_means: Vec<Chunk>,
    own_means: Vec<Chunk>,
}

impl SinkhornScratch {
    /// Buffers for `samples` samples per row and as many draws.
    pub fn new(samples: usize) -> Self {
        let zeros = |count: usize| vec![Chunk::ZERO; count];
        let packed = samples.div_ceil(WIDTH);
        Self {
            drawn: vec![0.0; samples],
            y: zeros(samples),
            packed: zeros(packed),
            x: zeros(samples * PANEL_CHUNKS),
            scales: [Chunk::ZERO; PANEL_CHUNKS],
            cross_x: Potential::new(samples, samples),
            cross_y: Potential::new(samples, samples),
            own_x: Potential::new(samples, samples),
            own_y: Potential::new(packed, samples),
            cross_means: zeros(samples),
            own_means: zeros(samples),
        }
    }

    /// The draws, smallest first; those of [`Prior::Uniform`] lie between -1/2 and 1/2.
    pub fn draws(&self) -> impl ExactSizeIterator<Item = f32> {
        self.y.iter().map(|draw| draw.0[0])
    }

    /// Sets the draws, instead of [`Sinkhorn::draw`]: in ascending order and as many as there are samples.
    ///
    /// # Panics
    /// When there are more or fewer.
    pub fn set_draws(&mut self, draws: &[f64]) {
        self.drawn.copy_from_slice(draws);
        self.spread_draws();
    }

    fn spread_draws(&mut self) {
        let Self { drawn, y, packed, .. } = self;
        for (lanes, draw) in y.iter_mut().zip(drawn.iter()) {
            *lanes = Chunk([*draw as f32; WIDTH]);
        }
        for (at, number) in floats_mut(packed).iter_mut().enumerate() {
            *number = drawn[at.min(drawn.len() - 1)] as f32;
        }
    }

    /// Loads the scaled samples of a panel; returns the diameter of all of them and the draws.
    #[inline(always)]
    fn read<L: Lanes>(&mut self, prior: Prior, outputs: &[Chunk]) -> f64 {
        let samples = self.y.len();
        let (mut smallest, mut largest) = (L::load(&self.y[0]), L::load(&self.y[samples - 1]));
        for lane in 0..PANEL_CHUNKS {
            let x = &mut self.x[lane * samples..][..samples];
            // Distances from the first sample stay exact if all samples are close together.
            let anchor = L::load(&outputs[lane]);
            for (sample, x) in x.iter_mut().enumerate() {
                (L::load(&outputs[sample * PANEL_CHUNKS + lane]) - anchor).store(x);
            }
            let (centre, scale) = match prior {
                Prior::Uniform => range::<L>(x),
                Prior::Normal => moments::<L>(x),
            };
            scale.store(&mut self.scales[lane]);
            for x in x {
                let scaled = (L::load(x) - centre) * scale;
                scaled.store(x);
                smallest = scaled.min(smallest);
                largest = scaled.max(largest);
            }
        }
        let (mut low, mut high) = (Chunk::ZERO, Chunk::ZERO);
        smallest.store(&mut low);
        largest.store(&mut high);
        let low = low.0.iter().copied().fold(f32::INFINITY, f32::min);
        let high = high.0.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        // If outputs are not finite, neither is the loss; the list of temperatures must still be finite.
        if (high - low).is_finite() { f64::from(high) - f64::from(low) } else { 1.0 }
    }

    /// Potentials of the draws with themselves, the same for every row.
    #[inline(always)]
    fn solve_draws<L: Lanes>(&mut self, diameter: f64) {
        let Self { y, packed, own_y, .. } = self;
        own_y.values.fill(Chunk::ZERO);
        for round in rounds(diameter) {
            own_y.lay_out_packed(y, round.temperature);
            let Potential { values, offsets } = own_y;
            L::call(Update::<false> { at: packed, points: y, offsets, round, values, means: &mut [] });
        }
    }

    /// Potentials of the rows in one chunk of the panel, with the draws and with themselves; returns the divergence.
    #[inline(always)]
    fn solve_rows<L: Lanes>(&mut self, lane: usize, diameter: f64) -> L {
        let samples = self.y.len();
        let x = &self.x[lane * samples..][..samples];
        let Self { y, cross_x, cross_y, own_x, cross_means, own_means, .. } = self;
        for potential in [&mut *cross_x, cross_y, own_x] {
            potential.values.fill(Chunk::ZERO);
        }
        for round in rounds(diameter) {
            cross_x.lay_out::<L>(x, round.temperature);
            cross_y.lay_out::<L>(y, round.temperature);
            own_x.lay_out::<L>(x, round.temperature);
            let (offsets, values) = (&cross_x.offsets, &mut cross_y.values);
            L::call(Update::<false> { at: y, points: x, offsets, round, values, means: &mut [] });
            let (offsets, values, means) = (&cross_y.offsets, &mut cross_x.values, &mut *cross_means);
            let cross = Update::<true> { at: x, points: y, offsets, round, values, means };
            if round.last {
                L::call(cross)
            } else {
                L::call(cross.without_means())
            }
            let (offsets, values, means) = (&own_x.offsets, &mut own_x.values, &mut *own_means);
            let own = Update::<true> { at: x, points: x, offsets, round, values, means };
            if round.last { L::call(own) } else { L::call(own.without_means()) }
        }
        let mut sum = L::splat(0.0);
        for (cross, own) in self.cross_x.values.iter().zip(&self.own_x.values) {
            sum = sum + (L::load(cross) - L::load(own));
        }
        for (cross, own) in self.cross_y.values.iter().zip(floats(&self.own_y.values)) {
            sum = sum + (L::load(cross) - L::splat(*own));
        }
        sum * L::splat(1.0 / samples as f32)
    }

    /// Adds factor · dS / dz to `deltas`, through the scaling.
    #[inline(always)]
    fn pull<L: Lanes>(&mut self, prior: Prior, lane: usize, factor: L, deltas: &mut [Chunk]) {
        let samples = self.y.len();
        let x = &self.x[lane * samples..][..samples];
        let (zero, one, half) = (L::splat(0.0), L::splat(1.0), L::splat(0.5));
        let (mut sum, mut moment) = (zero, zero);
        for ((own, cross), x) in self.own_means.iter_mut().zip(&self.cross_means).zip(x) {
            let pull = L::load(own) - L::load(cross);
            pull.store(own);
            sum = sum + pull;
            moment = pull.mul_add(L::load(x), moment);
        }
        let factor = factor * L::load(&self.scales[lane]) * L::splat(1.0 / samples as f32);
        let row_deltas = deltas.iter_mut().skip(lane).step_by(PANEL_CHUNKS);
        match prior {
            Prior::Uniform => {
                let (smallest, largest) = extremes::<L>(x);
                let (mut lows, mut highs) = (zero, zero);
                for x in x {
                    let x = L::load(x);
                    lows = lows + zero.select(x.gt(smallest), one);
                    highs = highs + zero.select(largest.gt(x), one);
                }
                let (low, high) = (sum.mul_add(half, zero - moment) / lows, sum.mul_add(half, moment) / highs);
                for ((delta, pull), x) in row_deltas.zip(&self.own_means).zip(x) {
                    let x = L::load(x);
                    let pull = L::load(pull) - zero.select(x.gt(smallest), low) - zero.select(largest.gt(x), high);
                    pull.mul_add(factor, L::load(delta)).store(delta);
                }
            }
            Prior::Normal => {
                let mean = sum * L::splat(1.0 / samples as f32);
                let stretch = moment * L::splat(1.0 / (samples.max(2) - 1) as f32);
                for ((delta, pull), x) in row_deltas.zip(&self.own_means).zip(x) {
                    let pull = L::load(x).neg_mul_add(stretch, L::load(pull) - mean);
                    pull.mul_add(factor, L::load(delta)).store(delta);
                }
            }
        }
    }
}

/// Smallest and largest of each lane.
#[inline(always)]
fn extremes<L: Lanes>(x: &[Chunk]) -> (L, L) {
    let (mut smallest, mut largest) = (L::splat(f32::INFINITY), L::splat(f32::NEG_INFINITY));
    for x in x {
        let x = L::load(x);
        smallest = x.min(smallest);
        largest = x.max(largest);
    }
    (smallest, largest)
}

/// (min + max) / 2 and 1 / (max - min), or 0 if the range is too small.
#[inline(always)]
fn range<L: Lanes>(x: &[Chunk]) -> (L, L) {
    let (smallest, largest) = extremes::<L>(x);
    let (half, least) = (L::splat(0.5), L::splat(SMALLEST_RANGE));
    let range = largest - smallest;
    let scale = L::splat(1.0) / range.max(least);
    (smallest.mul_add(half, largest * half), scale.select(range.gt(least), L::splat(0.0)))
}

/// mean and 1 / sqrt(variance + 1e-8)
#[inline(always)]
fn moments<L: Lanes>(x: &[Chunk]) -> (L, L) {
    let (mut sum, mut squares) = (L::splat(0.0), L::splat(0.0));
    for x in x {
        sum = sum + L::load(x);
    }
    let mean = sum * L::splat(1.0 / x.len() as f32);
    for x in x {
        let apart = L::load(x) - mean;
        squares = apart.mul_add(apart, squares);
    }
    let variance = squares * L::splat(1.0 / (x.len().max(2) - 1) as f32);
    (mean, L::splat(1.0) / (variance + L::splat(VARIANCE_FLOOR)).sqrt())
}

/// The softmin of zero at the first temperature, half an update at each temperature, and a full one at the last.
fn rounds(diameter: f64) -> impl Iterator<Item = UpdateSettings> {
    let round = |temperature: f64, keep: f32| UpdateSettings {
        temperature: temperature as f32,
        keep,
        hottest: false,
        last: false,
    };
    let first = temperatures(diameter).take(1).map(move |temperature| round(temperature, 0.0));
    let middle = temperatures(diameter).map(move |temperature| round(temperature, 0.5));
    let rounds = first.chain(middle).enumerate();
    // The first temperature is twice in the list and once before it.
    let rounds = rounds.map(|(index, round)| UpdateSettings { hottest: index < 3, ..round });
    rounds.chain([UpdateSettings { last: true, ..round(BLUR * BLUR, 0.0) }])
}
