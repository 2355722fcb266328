//! Bounds of a target: what a mixture means where its value is known to lie between them.

use serde::{Deserialize, Serialize};

/// The smallest and the largest value, in units of the standardised target, where there are such. A mixture with bounds is the mixture
/// given that its value lies between them.
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

    /// Both ends, infinite where there is no bound; none without bounds.
    pub fn ends(&self) -> Option<[f32; 2]> {
        let ends = [self.lower.unwrap_or(f32::NEG_INFINITY), self.upper.unwrap_or(f32::INFINITY)];
        (!self.is_none()).then_some(ends)
    }

    pub(super) fn is_sound(&self) -> bool {
        self.ends().is_none_or(|[lower, upper]| lower < upper)
    }
}
