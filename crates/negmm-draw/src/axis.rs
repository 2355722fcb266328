//! Axes: label, range and ticks.

use crate::tick::{Ticks, ticks};

/// The margin beyond the outermost values, as a fraction of their range.
const MARGIN: f64 = 0.04;

/// An axis: its label, and optionally its range and ticks.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    pub(crate) label: String,
    range: Option<(f64, f64)>,
    includes: Vec<f64>,
    marks: Option<Vec<(f64, String)>>,
    percent: bool,
}

impl Axis {
    /// A numeric axis; its range is that of the marks with a margin.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// A categorical axis, with the categories at 0, 1, 2 …
    pub fn categories(label: impl Into<String>, names: &[String]) -> Self {
        let marks = names.iter().enumerate().map(|(at, name)| (at as f64, name.clone())).collect();
        Self { marks: Some(marks), range: Some((-0.5, names.len().max(1) as f64 - 0.5)), ..Self::new(label) }
    }

    /// Sets the range. With `low` above `high` the axis is reversed.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high)).filter(|_| low.is_finite() && high.is_finite());
        self
    }

    /// Extends the range to `value`.
    #[must_use]
    pub fn include(mut self, value: f64) -> Self {
        self.includes.push(value);
        self
    }

    /// Sets the ticks: values and labels.
    #[must_use]
    pub fn ticks(mut self, marks: Vec<(f64, String)>) -> Self {
        self.marks = Some(marks);
        self
    }

    /// Labels fractions as percentages.
    #[must_use]
    pub fn percent(mut self) -> Self {
        self.percent = true;
        self
    }

    /// The scale, for these values of the marks.
    pub(crate) fn scale(&self, values: impl Iterator<Item = f64>) -> Scale {
        let given = self.range.map(|(a, b)| (a.min(b), a.max(b), a > b));
        let (low, high, reversed) = given.unwrap_or_else(|| {
            let all = values.chain(self.includes.iter().copied()).filter(|value| value.is_finite());
            let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
            if low > high {
                return (0.0, 1.0, false);
            }
            let margin = (high * MARGIN - low * MARGIN).min(f64::MAX * MARGIN);
            // An included value that no mark exceeds is an end of the axis, without a margin.
            let ends = |end: f64| self.includes.contains(&end);
            let (below, above) = (if ends(low) { 0.0 } else { margin }, if ends(high) { 0.0 } else { margin });
            (low - below, high + above, false)
        });
        // Within the range of f64, and wide enough to distinguish numbers.
        let (low, high) = (low.clamp(-1e300, 1e300), high.clamp(-1e300, 1e300));
        let min_width = (low.abs().max(high.abs()) * 1e-11).max(1e-290);
        let (low, high) = if high - low >= min_width {
            (low, high)
        } else {
            let half = if low == 0.0 && high == 0.0 { 1.0 } else { (0.1 * low.abs().max(high.abs())).max(min_width) };
            // Equal numbers get a wide range; numbers that differ a little a narrow one.
            let half = if low == high { half } else { min_width };
            (low - half, high + half)
        };
        Scale { low, high, reversed }
    }

    /// The ticks of a scale, about `count`.
    pub(crate) fn marks(&self, scale: &Scale, count: usize) -> Ticks {
        if let Some(marks) = &self.marks {
            let inside = marks.iter().filter(|(at, _)| scale.low <= *at && *at <= scale.high);
            return Ticks { marks: inside.cloned().collect(), unit: String::new() };
        }
        if self.percent {
            let mut ticks = ticks(100.0 * scale.low, 100.0 * scale.high, count);
            ticks.marks.iter_mut().for_each(|(at, label)| (*at, *label) = (*at / 100.0, format!("{label} %")));
            return ticks;
        }
        ticks(scale.low, scale.high, count)
    }

    /// Whether the ticks are given.
    pub(crate) fn is_categorical(&self) -> bool {
        self.marks.is_some()
    }

    /// The label with the unit of the ticks.
    pub(crate) fn label_with(&self, unit: &str) -> String {
        match (self.label.as_str(), unit) {
            (label, "") => label.to_string(),
            ("", unit) => unit.to_string(),
            (label, unit) if unit.starts_with("in ") => format!("{label} ({unit})"),
            (label, unit) => format!("{label} {unit}"),
        }
    }
}

/// A linear scale from values to positions on the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub low: f64,
    pub high: f64,
    reversed: bool,
}

impl Scale {
    /// The position of `value`: 0 at the start of the axis, 1 at its end.
    pub fn fraction(&self, value: f64) -> f64 {
        let fraction = (value - self.low) / (self.high - self.low);
        if self.reversed { 1.0 - fraction } else { fraction }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_the_values() {
        let scale = |axis: Axis, values: &[f64]| axis.scale(values.iter().copied());
        let near = |scale: Scale, low: f64, high: f64| {
            assert!((scale.low - low).abs() < 1e-9 && (scale.high - high).abs() < 1e-9, "{scale:?}");
        };
        near(scale(Axis::new(""), &[0.0, f64::NAN, 100.0]), -4.0, 104.0);
        near(scale(Axis::new("").include(0.0), &[50.0, 100.0]), 0.0, 104.0);
        near(scale(Axis::new(""), &[]), 0.0, 1.0);
        near(scale(Axis::new(""), &[5.0, 5.0]), 4.5, 5.5);
        near(scale(Axis::new(""), &[0.0]), -1.0, 1.0);
        near(scale(Axis::new("").range(0.0, 2.0), &[50.0]), 0.0, 2.0);
        let reversed = scale(Axis::new("").range(2.0, 0.0), &[]);
        assert_eq!((reversed.fraction(0.0), reversed.fraction(2.0)), (1.0, 0.0));
        let wide = scale(Axis::new(""), &[f64::MIN, f64::MAX]);
        assert_eq!(wide.fraction(0.0), 0.5);
    }
}
