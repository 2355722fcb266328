//! Highest-density regions: sets of values, as intervals in order.

use std::fmt;

use crate::interval::Interval;

/// A set of values: closed intervals in order. On a grid an interval means the values of the grid in it.
///
/// ```
/// use negmm_dist::{Mixtures, Predictions};
///
/// let two_peaks = Predictions::from(Mixtures::new(2, vec![0.5, 0.5], vec![-9.0, 9.0], vec![1.0, 1.0])?);
/// let regions = two_peaks.hdr(0.9)?;
/// assert_eq!(regions[0].intervals().len(), 2);
/// assert!(regions[0].contains(9.5) && !regions[0].contains(0.0));
/// # Ok::<(), negmm_dist::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HighestDensityRegion {
    intervals: Vec<Interval>,
    /// The distance of values on a grid, else 0.
    step: f64,
}

impl HighestDensityRegion {
    /// All numbers.
    pub fn unbounded() -> Self {
        Self { intervals: vec![Interval::UNBOUNDED], step: 0.0 }
    }

    /// Its intervals, from low to high; none lies in another.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// The total length of the intervals; on a grid each value counts as one step.
    pub fn length(&self) -> f64 {
        self.intervals.iter().map(|interval| interval.width() + self.step).sum()
    }

    /// Whether it contains `y`, on a grid with a tolerance for rounding.
    pub fn contains(&self, y: f64) -> bool {
        let slack = 1e-3 * self.step;
        self.intervals.iter().any(|Interval { lower, upper }| lower - slack <= y && y <= upper + slack)
    }

    /// These intervals; the distance of values on a grid, else 0.
    pub(crate) fn new(intervals: Vec<(f64, f64)>, step: f64) -> Self {
        let interval = |(lower, upper)| Interval { lower, upper };
        Self { intervals: intervals.into_iter().map(interval).collect(), step }
    }
}

/// `[-66.1,-59.2] [58.7,66]`
impl fmt::Display for HighestDensityRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Interval { lower, upper }) in self.intervals.iter().enumerate() {
            let space = if at > 0 { " " } else { "" };
            write!(f, "{space}[{lower},{upper}]")?;
        }
        Ok(())
    }
}
