//! Observed targets of a chunk of rows: values, or intervals that they lie in.

use negmm_dist::math::lanes::{Chunk, Lanes};

/// The targets of a chunk of rows, some of which may be censored.
#[derive(Clone, Copy, Debug)]
pub struct ObservedTargets<'a> {
    /// The values, or numbers that represent the intervals.
    pub y: &'a Chunk,
    /// The lower and upper ends of targets; if they are equal the target is a value. `None`: all are values.
    pub intervals: Option<[&'a Chunk; 2]>,
}

impl<'a> From<&'a Chunk> for ObservedTargets<'a> {
    fn from(y: &'a Chunk) -> Self {
        Self { y, intervals: None }
    }
}

impl ObservedTargets<'_> {
    /// `factor` for rows with an energy score, 0 for rows with an infinite interval, which have none.
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
