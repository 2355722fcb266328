//! Learning-rate schedules.

use serde::{Deserialize, Serialize};

use crate::options::Choice;

/// A learning-rate schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// The same rate throughout.
    Constant,
    /// A linear warm-up over the first 3 % of the steps, then a cosine decay to zero.
    Cosine,
    /// The same warm-up, then a constant rate.
    #[serde(rename = "warm-up")]
    WarmUp,
}

impl Choice for Schedule {}

/// Fraction of the steps in the warm-up.
const WARM_UP: f64 = 0.03;

impl Schedule {
    /// The factor of the rate in step `step` (from 0) of `steps`.
    pub fn factor(self, step: usize, steps: usize) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Cosine | Self::WarmUp => {
                let warm = (WARM_UP * steps as f64).ceil();
                let step = step as f64;
                if step < warm {
                    (step + 1.0) / warm
                } else if self == Self::WarmUp {
                    1.0
                } else {
                    let done = (step - warm) / (steps as f64 - warm).max(1.0);
                    0.5 * (1.0 + libm::cos(std::f64::consts::PI * done.min(1.0)))
                }
            }
        }
    }
}
