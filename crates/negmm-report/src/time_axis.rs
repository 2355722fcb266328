//! Responsible for times in pictures along an input: where they are asked for, and the plain numbers that an axis shows.

use negmm::data::time::iso;

const HOUR: f64 = 3600.0;
const DAY: f64 = 24.0 * HOUR;
const WEEK: f64 = 7.0 * DAY;
const YEAR: f64 = 365.2425 * DAY;
/// An axis counts in a unit from so many of them on.
const FEWEST: f64 = 3.0;

/// How seconds since 1970 become numbers that an axis can show.
pub struct TimeAxis {
    origin: f64,
    unit: f64,
    /// What the numbers are.
    pub label: String,
}

impl TimeAxis {
    /// For times between these.
    pub fn new(low: f64, high: f64) -> Self {
        // Times of day alone are seconds since midnight.
        if low >= 0.0 && high <= DAY {
            return Self { origin: 0.0, unit: HOUR, label: "hour of day".into() };
        }
        if high - low > FEWEST * YEAR {
            return Self { origin: -1970.0 * YEAR, unit: YEAR, label: "year".into() };
        }
        let (unit, name) = if high - low > FEWEST * DAY { (DAY, "days") } else { (HOUR, "hours") };
        let origin = (low / unit).floor() * unit;
        Self { origin, unit, label: format!("{name} since {}", iso(origin)) }
    }

    /// The number that the axis shows.
    pub fn shown(&self, seconds: f64) -> f64 {
        (seconds - self.origin) / self.unit
    }
}

/// The time near `time` that is whole weeks from `typical`, or whole days, as far as places `step` apart allow: along the years
/// the hour and the day of the week are not to change from place to place.
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
        assert!((TimeAxis::new(0.0, 5.0 * YEAR).shown(2.5 * YEAR) - 1972.5).abs() < 1e-9);
    }

    #[test]
    fn the_hour_stays_where_places_are_far_apart() {
        assert_eq!(at_the_same_hour(10.2 * WEEK, 0.0, WEEK), 10.0 * WEEK);
        assert_eq!(at_the_same_hour(10.2 * DAY, 0.5 * DAY, 2.0 * DAY), 10.5 * DAY);
        assert_eq!(at_the_same_hour(10.2 * DAY, 0.5 * DAY, HOUR), 10.2 * DAY);
    }
}
