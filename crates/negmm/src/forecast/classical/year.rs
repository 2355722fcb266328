//! A year in steps shorter than a day, beside the seasons of a day and a week.
//!
//! A year is counted in whole weeks: the number nearest to its date, so that the hour and the day of the week stay, and
//! leap years do not shift the date by more than half a week.

use super::members::phase_mean;

const WEEKS_OF_YEAR: f64 = 365.2425 / 7.0;
/// Years back at most, and the weight of each beside the one after it.
const MOST_YEARS: usize = 4;
const FADING: f64 = 0.8;
/// Years that the assumption of no yearly season counts as.
const NO_SEASON_YEARS: f64 = 0.5;
/// Weeks before the first of these years that means are taken from.
const LEAST_WEEKS: usize = 3;
/// Range of the ratio of a day and its forecast.
const RATIO: (f64, f64) = (0.1, 10.0);

/// Means by phase of the week, corrected by what they missed on the days around the same date of earlier years: in
/// proportion for positive histories. Without a whole year these means alone.
pub(super) fn with_year(history: &[f64], week: usize, horizon: usize) -> Vec<f64> {
    let means = |end: usize| (1..=horizon).map(move |ahead| phase_mean(&history[..end], week, ahead));
    let mut path: Vec<f64> = means(history.len()).collect();
    let day = (week / 7).max(1);
    let positive = history.iter().all(|value| *value > 0.0);
    let (mut missed, mut total) = (vec![0.0; horizon], NO_SEASON_YEARS);
    for year in 1..=MOST_YEARS {
        let back = week * (year as f64 * WEEKS_OF_YEAR).round() as usize;
        let Some(end) = history.len().checked_sub(back).filter(|end| *end >= LEAST_WEEKS * week && back >= horizon)
        else {
            break;
        };
        let (forecast, actual): (Vec<f64>, &[f64]) = (means(end).collect(), &history[end..]);
        let weight = FADING.powi(year as i32 - 1);
        total += weight;
        for (ahead, sum) in missed.iter_mut().enumerate() {
            // The day around this step; at the end of the horizon what there is of it.
            let around = ahead.saturating_sub(day / 2)..(ahead + day.div_ceil(2)).min(horizon);
            let [known, expected] = [actual, &forecast].map(|values| values[around.clone()].iter().sum::<f64>());
            let error = match positive {
                true => libm::log((known / expected).clamp(RATIO.0, RATIO.1)),
                false => (known - expected) / around.len() as f64,
            };
            *sum += weight * error;
        }
    }
    for (value, missed) in path.iter_mut().zip(missed) {
        *value = if positive { *value * libm::exp(missed / total) } else { *value + missed / total };
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: usize = 24;

    /// Hours from 1 January 2019 on, with a day, a week, and two months a year at half the level: July and August.
    fn value(hour: usize) -> f64 {
        let date = negmm_data::infer::calendar::Date::of_days(17_897 + (hour / DAY) as i64);
        let summer = if date.month == 7 || date.month == 8 { 0.5 } else { 1.0 };
        let daily = 1.0 + 0.4 * libm::sin(std::f64::consts::TAU * (hour % DAY) as f64 / DAY as f64);
        let weekend = if (hour / DAY) % 7 > 4 { 0.7 } else { 1.0 };
        100.0 * summer * daily * weekend
    }

    #[test]
    fn a_date_is_forecast_as_a_year_ago_across_leap_years() {
        // Up to 16 June 2022; 2020 had a leap day. 28 days ahead is 14 July, two weeks into the low season.
        let steps = 1_262 * DAY;
        let history: Vec<f64> = (0..steps).map(value).collect();
        for sign in [1.0, -1.0] {
            let history: Vec<f64> = history.iter().map(|value| sign * value).collect();
            let path = with_year(&history, 7 * DAY, 28 * DAY);
            let error = |days: std::ops::Range<usize>| {
                let hours = days.start * DAY..days.end * DAY;
                let each = hours.clone().map(|hour| (path[hour] - sign * value(steps + hour)).abs());
                each.sum::<f64>() / hours.len() as f64
            };
            // Before the change and some days after it; four weeks without a year miss it by half.
            assert!(error(0..10) < 1.0 && error(20..28) < 15.0, "{} {}", error(0..10), error(20..28));
            let plain = (20 * DAY..28 * DAY).map(|hour| phase_mean(&history, 7 * DAY, hour + 1));
            let plain = plain.enumerate().map(|(at, mean)| (mean - sign * value(steps + 20 * DAY + at)).abs());
            assert!(plain.sum::<f64>() / (8 * DAY) as f64 > 30.0);
        }
        // Less than a year: the means alone.
        let short = &history[..60 * DAY];
        let means: Vec<f64> = (1..=DAY).map(|ahead| phase_mean(short, 7 * DAY, ahead)).collect();
        assert_eq!(with_year(short, 7 * DAY, DAY), means);
    }
}
