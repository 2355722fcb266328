//! Observed targets of a chunk of rows: values, or intervals that they lie in.

use negmm_dist::math::lanes::{Chunk, Lanes};

/// What is known of the targets of a chunk of rows.
#[derive(Clone, Copy, Debug)]
pub struct ObservedTargets<'a> {
    /// The values, or numbers that stand for the intervals.
    pub y: &'a Chunk,
    /// Where a row's two ends differ its target lies between them, where they are the same it is its value. None: all are values.
    pub intervals: Option<[&'a Chunk; 2]>,
}

impl<'a> From<&'a Chunk> for ObservedTargets<'a> {
    fn from(y: &'a Chunk) -> Self {
        Self { y, intervals: None }
    }
}

impl ObservedTargets<'_> {
    /// `factor` for the rows that the energy score is asked of: 0 for those whose interval is open, which have no value to be near to.
    #[inline(always)]
    pub fn of_energy<L: Lanes>(&self, factor: L) -> L {
        match self.intervals {
            None => factor,
            Some([lower, upper]) => {
                L::splat(0.0).select((L::load(upper) - L::load(lower)).gt(L::splat(f32::MAX)), factor)
            }
        }
    }
}
