//! Years of days: a series without its 29 Februaries, in which every year has 365 steps.

use crate::forecast::Series;
use negmm_data::infer::calendar::Date;

/// The period, in steps of a day, to which this applies.
pub(super) const YEAR: usize = 365;
const DAY: f64 = 86_400.0;

/// The steps of a series' history, and of `horizon` more, that are 29 Februaries; none where steps are not days.
pub(in crate::forecast) fn leap_days(series: &Series, horizon: usize) -> Vec<usize> {
    let first = series.first.min(series.len());
    let times = series.times.get(first..series.len()).unwrap_or_default();
    let (Some(start), Some(end)) = (times.first(), times.last()) else { return Vec::new() };
    if times.len() < 2 || (end - start - (times.len() - 1) as f64 * DAY).abs() > 0.5 * DAY {
        return Vec::new();
    }
    let is_leap = |step: &usize| {
        let date = Date::of_days(((start + *step as f64 * DAY) / DAY).floor() as i64);
        (date.month, date.day) == (2, 29)
    };
    (0..times.len() + horizon).filter(is_leap).collect()
}

/// A history in years of 365 days.
pub(super) struct Years {
    pub(super) history: Vec<f64>,
    /// For each step ahead, that in such years; 29 February is the day before.
    pub(super) ahead: Vec<usize>,
}

impl Years {
    /// `None` without a leap day.
    pub(super) fn of(history: &[f64], leap_days: &[usize], horizon: usize) -> Option<Self> {
        let steps = history.len();
        if leap_days.first().is_none_or(|first| *first >= steps + horizon) {
            return None;
        }
        let is_leap = |step: usize| leap_days.binary_search(&step).is_ok();
        let left: Vec<f64> = (0..steps).filter(|step| !is_leap(*step)).map(|step| history[step]).collect();
        let ahead = (0..horizon).scan(0, |count, ahead| {
            *count += usize::from(!is_leap(steps + ahead));
            Some((*count).max(1))
        });
        let ahead = ahead.collect();
        (!left.is_empty()).then_some(Self { history: left, ahead })
    }
}

#[cfg(test)]
mod tests {
    use super::super::members::{Member, Paths};
    use super::*;

    /// Days from 1 January 2017 on, of which only the first of July has sales.
    fn july(days: usize) -> Series {
        let start = Date::new(2017, 1, 1).unwrap().days();
        let times: Vec<f64> = (0..days as i64).map(|day| (start + day) as f64 * DAY).collect();
        let value = |day: i64| {
            let date = Date::of_days(start + day);
            if (date.month, date.day) == (7, 1) { 100.0 } else { 0.0 }
        };
        let values: Vec<f64> = (0..days as i64).map(value).collect();
        Series { filled: values.clone(), values, times, rows: (0..days).collect(), ..Series::default() }
    }

    #[test]
    fn a_day_of_the_year_stays_where_it_is_after_a_leap_day() {
        // Until 20 June 2020, after 29 February: 1 July is 11 days ahead, and 366 days after that of 2019.
        let days = (Date::new(2020, 6, 21).unwrap().days() - Date::new(2017, 1, 1).unwrap().days()) as usize;
        let series = july(days);
        let leap = leap_days(&series, 30);
        assert_eq!(leap.len(), 1);
        let members = [Member::SeasonalNaive(YEAR), Member::SeasonalMean(YEAR)];
        let paths = Paths::of(&series.filled, &[7, YEAR], &members, 30, &leap);
        for member in 0..2 {
            let peak = (0..30).max_by(|a, b| paths.of_member(member)[*a].total_cmp(&paths.of_member(member)[*b]));
            assert_eq!(peak, Some(10));
            assert!((paths.of_member(member)[10] - 100.0).abs() < 1e-9);
        }
        // A leap day ahead repeats the day before it.
        let ahead = Years::of(&[1.0; 10], &[12], 6).unwrap().ahead;
        assert_eq!(ahead, [1, 2, 2, 3, 4, 5]);
        let weekly = Series { times: (0..40).map(|week| f64::from(week) * 7.0 * DAY).collect(), ..july(40) };
        assert!(leap_days(&weekly, 60).is_empty());
    }
}
