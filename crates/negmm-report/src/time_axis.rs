//! Times on the axis of a plot: their unit, and grid points that keep the time of day.

use negmm::data::time::iso;

const HOUR: f64 = 3600.0;
const DAY: f64 = 24.0 * HOUR;
const WEEK: f64 = 7.0 * DAY;
const YEAR: f64 = 365.2425 * DAY;
/// The smallest range for a unit, as a multiple of it.
const MIN_UNITS: f64 = 3.0;

/// A conversion of seconds since 1970 to numbers on an axis.
pub struct TimeAxis {
    origin: f64,
    unit: f64,
    /// The label of the axis.
    pub label: String,
}

impl TimeAxis {
    /// For times from `low` to `high`.
    pub fn new(low: f64, high: f64) -> Self {
        // Times of day are seconds since midnight.
        if low >= 0.0 && high <= DAY {
            return Self { origin: 0.0, unit: HOUR, label: "hour of day".into() };
        }
        if high - low > MIN_UNITS * YEAR {
            return Self { origin: -1970.0 * YEAR, unit: YEAR, label: "year".into() };
        }
        let (unit, name) = if high - low > MIN_UNITS * DAY { (DAY, "days") } else { (HOUR, "hours") };
        let origin = (low / unit).floor() * unit;
        Self { origin, unit, label: format!("{name} since {}", iso(origin)) }
    }

    /// The position on the axis.
    pub fn position(&self, seconds: f64) -> f64 {
        (seconds - self.origin) / self.unit
    }
}

/// The time near `time` that is a whole number of weeks, or else days, from `typical`, as far as grid points `step` apart allow: over
/// years the hour and the day of the week should not change from point to point.
pub fn at_the_same_hour(time: f64, typical: f64, step: f64) -> f64 {
    match [WEEK, DAY].into_iter().find(|round| *round <= step) {
        Some(round) => typical + ((time - typical) / round).round() * round,
        None => time,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_by_length() {
        let labels = [(0.0, DAY), (0.0, 40.0 * DAY), (0.0, 5.0 * YEAR), (1e9, 1e9 + 5.0 * HOUR)]
            .map(|(low, high)| TimeAxis::new(low, high).label);
        assert_eq!(labels, ["hour of day", "days since 1970-01-01", "year", "hours since 2001-09-09 01:00"]);
        assert!((TimeAxis::new(0.0, 5.0 * YEAR).position(2.5 * YEAR) - 1972.5).abs() < 1e-9);
    }

    #[test]
    fn the_hour_stays_where_points_are_far_apart() {
        assert_eq!(at_the_same_hour(10.2 * WEEK, 0.0, WEEK), 10.0 * WEEK);
        assert_eq!(at_the_same_hour(10.2 * DAY, 0.5 * DAY, 2.0 * DAY), 10.5 * DAY);
        assert_eq!(at_the_same_hour(10.2 * DAY, 0.5 * DAY, HOUR), 10.2 * DAY);
    }
}
