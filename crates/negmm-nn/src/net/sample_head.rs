//! The head of SampleNet: each raw output is a sample.

use serde::{Deserialize, Serialize};

/// Smallest number of samples of a row: one has no spread.
pub const MIN_SAMPLES: usize = 2;
/// Largest number of samples of a row.
pub const MAX_SAMPLES: usize = 1000;

/// M raw numbers are M equally likely samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleHead {
    /// M: the number of samples.
    pub samples: usize,
    /// Smallest sd of the normal density, in units of the standardised target.
    pub sd_floor: f32,
}

impl SampleHead {
    pub(super) fn is_sound(&self) -> bool {
        (MIN_SAMPLES..=MAX_SAMPLES).contains(&self.samples) && self.sd_floor > 0.0 && self.sd_floor.is_finite()
    }
}
