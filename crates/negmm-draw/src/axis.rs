//! Responsible for axes: what they are called, which values they span, where their ticks are.

use crate::tick::{Ticks, ticks};

/// Room beyond the outermost values, as a share of their range.
const MARGIN: f64 = 0.04;

/// An axis: its label, and where they are given its range and ticks.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    pub(crate) label: String,
    range: Option<(f64, f64)>,
    includes: Vec<f64>,
    marks: Option<Vec<(f64, String)>>,
    percent: bool,
}

impl Axis {
    /// Numbers; the range is that of the marks, and a little more.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// Words at 0, 1, 2 …
    pub fn words(label: impl Into<String>, words: &[String]) -> Self {
        let marks = words.iter().enumerate().map(|(at, word)| (at as f64, word.clone())).collect();
        Self { marks: Some(marks), range: Some((-0.5, words.len().max(1) as f64 - 0.5)), ..Self::new(label) }
    }

    /// Exactly from `low` to `high`; ticks at the ends if they are round. High may be the smaller one: it turns the axis around.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high)).filter(|_| low.is_finite() && high.is_finite());
        self
    }

    /// At least as far as `value`.
    #[must_use]
    pub fn include(mut self, value: f64) -> Self {
        self.includes.push(value);
        self
    }

    /// These ticks: where, and what they say.
    #[must_use]
    pub fn ticks(mut self, marks: Vec<(f64, String)>) -> Self {
        self.marks = Some(marks);
        self
    }

    /// Shares, shown as per cent.
    #[must_use]
    pub fn percent(mut self) -> Self {
        self.percent = true;
        self
    }

    /// Over a range of pixels, given the values of the marks.
    pub(crate) fn scale(&self, values: impl Iterator<Item = f64>) -> Scale {
        let given = self.range.map(|(a, b)| (a.min(b), a.max(b), a > b));
        let (low, high, turned) = given.unwrap_or_else(|| {
            let all = values.chain(self.includes.iter().copied()).filter(|value| value.is_finite());
            let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
            if low > high {
                return (0.0, 1.0, false);
            }
            let margin = (high * MARGIN - low * MARGIN).min(f64::MAX * MARGIN);
            // An axis that is asked to reach a value, and whose marks do not pass it, ends there.
            let ends = |end: f64| self.includes.contains(&end);
            let (below, above) = (if ends(low) { 0.0 } else { margin }, if ends(high) { 0.0 } else { margin });
            (low - below, high + above, false)
        });
        // Within what can be computed with, and wide enough to tell numbers apart.
        let (low, high) = (low.clamp(-1e300, 1e300), high.clamp(-1e300, 1e300));
        let least = (low.abs().max(high.abs()) * 1e-11).max(1e-290);
        let (low, high) = if high - low >= least {
            (low, high)
        } else {
            let half = if low == 0.0 && high == 0.0 { 1.0 } else { (0.1 * low.abs().max(high.abs())).max(least) };
            // Numbers that are all the same need no digits; numbers that differ a little do.
            let half = if low == high { half } else { least };
            (low - half, high + half)
        };
        Scale { low, high, turned }
    }

    /// Ticks over a scale, about `most` of them.
    pub(crate) fn marks(&self, scale: &Scale, most: usize) -> Ticks {
        if let Some(marks) = &self.marks {
            let inside = marks.iter().filter(|(at, _)| scale.low <= *at && *at <= scale.high);
            return Ticks { marks: inside.cloned().collect(), unit: String::new() };
        }
        if self.percent {
            let mut ticks = ticks(100.0 * scale.low, 100.0 * scale.high, most);
            ticks.marks.iter_mut().for_each(|(at, label)| (*at, *label) = (*at / 100.0, format!("{label} %")));
            return ticks;
        }
        ticks(scale.low, scale.high, most)
    }

    /// Whether the ticks are words.
    pub(crate) fn has_words(&self) -> bool {
        self.marks.is_some()
    }

    /// The label with what the ticks leave to it.
    pub(crate) fn label_with(&self, unit: &str) -> String {
        match (self.label.as_str(), unit) {
            (label, "") => label.to_string(),
            ("", unit) => unit.to_string(),
            (label, unit) if unit.starts_with("in ") => format!("{label} ({unit})"),
            (label, unit) => format!("{label} {unit}"),
        }
    }
}

/// Values to shares of the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub low: f64,
    pub high: f64,
    turned: bool,
}

impl Scale {
    /// Where `value` is: 0 at the start of the axis, 1 at its end.
    pub fn share(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        if self.turned { 1.0 - share } else { share }
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
        let turned = scale(Axis::new("").range(2.0, 0.0), &[]);
        assert_eq!((turned.share(0.0), turned.share(2.0)), (1.0, 0.0));
        let wide = scale(Axis::new(""), &[f64::MIN, f64::MAX]);
        assert_eq!(wide.share(0.0), 0.5);
    }
}
