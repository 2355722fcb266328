//! Extrapolation: how predictions continue beyond the ranges of the training rows.
//!
//! A number x_i that is d_i sds outside its range is clipped `margin` sds outside it: a network is used only near its training
//! range. The target is assumed to continue with an unknown slope g_i, normal around 0 with an sd as large as the slopes of the
//! predicted means inside the range (half of that for a pool). So a row's predicted distribution is
//! that of the network plus Σ g_i d_i, and every component has Σ slope_i² d_i² more variance: exactly, as a sum of normals. Inside the
//! ranges d is 0, and nothing is changed.

use serde::{Deserialize, Serialize};

use negmm_dist::{Error, Result};

/// Where inputs are clipped, and the assumed slopes of the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extrapolation {
    /// Inputs are clipped this many standard deviations outside their range.
    pub margin: f64,
    /// The sd of the slope beyond the range of each input that is used and then of each difference, in sds of the target for
    /// each sd of the input; 0 where it is no number.
    pub slopes: Vec<f64>,
}

impl Extrapolation {
    /// The margin of new models, see `docs/derivations.md`.
    pub const MARGIN: f64 = 1.0;
    /// Maximum slope.
    pub const MOST_SLOPE: f64 = 1e6;

    /// Validates the values.
    pub fn check(&self) -> Result<()> {
        if !(self.margin >= 0.0 && self.margin.is_finite()) {
            return Err(Error::model("the margin of extrapolation must be finite and not negative"));
        }
        if !self.slopes.iter().all(|slope| (0.0..=Self::MOST_SLOPE).contains(slope)) {
            return Err(Error::model(format!("a slope must be from 0 to {}", Self::MOST_SLOPE)));
        }
        Ok(())
    }
}
