//! Bounds of a target.

use serde::{Deserialize, Serialize};

/// The smallest and the largest value, in units of the standardised target. A mixture with bounds is truncated to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The smallest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<f32>,
    /// The largest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<f32>,
}

impl Bounds {
    /// No bound.
    pub const NONE: Self = Self { lower: None, upper: None };

    /// Whether there is no bound.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// Both ends, infinite for a missing bound; `None` without bounds.
    pub fn ends(&self) -> Option<[f32; 2]> {
        let ends = [self.lower.unwrap_or(f32::NEG_INFINITY), self.upper.unwrap_or(f32::INFINITY)];
        (!self.is_none()).then_some(ends)
    }

    pub(super) fn is_sound(&self) -> bool {
        self.ends().is_none_or(|[lower, upper]| lower < upper)
    }
}
