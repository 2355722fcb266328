//! The head of SampleNet: each raw output is a sample.

use serde::{Deserialize, Serialize};

/// Samples of a row, at least: one has no spread.
pub const LEAST_SAMPLES: usize = 2;
/// Samples of a row, at most.
pub const MOST_SAMPLES: usize = 1000;

/// M raw numbers are M equally likely samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleHead {
    /// M.
    pub samples: usize,
    /// Smallest sd of the normal distribution that stands in for their density, in units of the standardised target.
    pub sd_floor: f32,
}

impl SampleHead {
    pub(super) fn is_sound(&self) -> bool {
        (LEAST_SAMPLES..=MOST_SAMPLES).contains(&self.samples) && self.sd_floor > 0.0 && self.sd_floor.is_finite()
    }
}
