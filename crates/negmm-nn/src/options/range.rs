//! The range of a number.

use std::fmt;

/// The possible numbers of an option. Infinity and NaN are in no range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// From this number on.
    AtLeast(f64),
    /// Above this number.
    Above(f64),
    /// From the first to the second, both included.
    Within(f64, f64),
    /// From the first, which is excluded, to the second.
    AboveUpTo(f64, f64),
    /// From the first to the second, which is excluded.
    FromBelow(f64, f64),
}

impl Range {
    /// Whether a number is in it.
    pub fn contains(self, number: f64) -> bool {
        number.is_finite()
            && match self {
                Self::AtLeast(low) => number >= low,
                Self::Above(low) => number > low,
                Self::Within(low, high) => (low..=high).contains(&number),
                Self::AboveUpTo(low, high) => number > low && number <= high,
                Self::FromBelow(low, high) => (low..high).contains(&number),
            }
    }
}

impl fmt::Display for Range {
    /// The range in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::AtLeast(low) => write!(f, "at least {}", Short(low)),
            Self::Above(low) => write!(f, "above {}", Short(low)),
            Self::Within(low, high) => write!(f, "from {} to {}", Short(low), Short(high)),
            Self::AboveUpTo(low, high) => write!(f, "above {} and at most {}", Short(low), Short(high)),
            Self::FromBelow(low, high) => write!(f, "at least {} and below {}", Short(low), Short(high)),
        }
    }
}

/// A bound as it is printed: very small ones as powers of ten.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 != 0.0 && self.0.abs() < 1e-4 { write!(f, "{:e}", self.0) } else { write!(f, "{}", self.0) }
    }
}
