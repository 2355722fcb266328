//! Intervals: a lower and an upper end, of one row or of all rows.

/// An interval: `f64` ends for one row, `Vec<f64>` ends for all rows of some predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval<T = f64> {
    /// The lower end.
    pub lower: T,
    /// The upper end.
    pub upper: T,
}

impl Interval {
    /// All real numbers.
    pub const UNBOUNDED: Self = Self { lower: f64::NEG_INFINITY, upper: f64::INFINITY };

    /// Whether `y` is in the closed interval.
    pub fn contains(&self, y: f64) -> bool {
        self.lower <= y && y <= self.upper
    }

    /// The difference of its ends.
    pub fn width(&self) -> f64 {
        self.upper - self.lower
    }
}

impl FromIterator<Interval> for Interval<Vec<f64>> {
    fn from_iter<I: IntoIterator<Item = Interval>>(intervals: I) -> Self {
        let (lower, upper) = intervals.into_iter().map(|interval| (interval.lower, interval.upper)).unzip();
        Self { lower, upper }
    }
}

impl<T> From<Interval<T>> for (T, T) {
    fn from(Interval { lower, upper }: Interval<T>) -> Self {
        (lower, upper)
    }
}
