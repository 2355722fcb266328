//! The frequency of a series: the time between consecutive steps.

use serde::{Deserialize, Serialize};

use negmm_data::infer::calendar::{Date, weekday};

const DAY: f64 = 86_400.0;
/// Minimum fraction of intervals with the common length; the others are gaps.
const REGULAR: f64 = 0.8;
/// Tolerance of whole multiples of a step.
const WHOLE: f64 = 1e-6;
/// Days of a mean year.
const DAYS_OF_YEAR: f64 = 365.2425;

/// The time between consecutive steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frequency {
    /// Rows in order, without times.
    #[default]
    Rows,
    /// Numbers that are not dates: 1, 2, 3 …
    Count {
        /// Difference between consecutive steps.
        step: f64,
    },
    /// A fixed number of seconds.
    Seconds {
        /// Seconds between consecutive steps.
        step: f64,
    },
    /// Business days, Monday to Friday.
    Weekdays,
    /// A fixed number of months.
    Months {
        /// Months between consecutive steps.
        step: i64,
    },
    /// Numbers that are not dates, at irregular distances.
    IrregularCount {
        /// Median difference between consecutive steps.
        step: f64,
    },
    /// Irregular times.
    Irregular {
        /// Median number of seconds between consecutive steps.
        step: f64,
    },
}

impl Frequency {
    /// The frequency of increasing times, one list per series; `dates`: whether they are seconds since 1970.
    pub(super) fn of(times: &[Vec<f64>], dates: bool) -> Self {
        let mut gaps: Vec<f64> =
            times.iter().flat_map(|times| times.windows(2).map(|pair| pair[1] - pair[0])).collect();
        if gaps.is_empty() {
            return if dates { Self::Seconds { step: DAY } } else { Self::Count { step: 1.0 } };
        }
        gaps.sort_by(f64::total_cmp);
        let middle = gaps[gaps.len() / 2];
        let regular = gaps.iter().filter(|gap| (**gap - middle).abs() <= 1e-6 * middle).count() as f64;
        let regular = regular >= REGULAR * gaps.len() as f64;
        match () {
            () if !dates => match whole_multiples(&gaps) {
                Some(step) => Self::Count { step },
                None if regular => Self::Count { step: middle },
                None => Self::IrregularCount { step: middle },
            },
            () if middle == DAY && only_weekdays(times) => Self::Weekdays,
            () if regular => Self::Seconds { step: middle },
            () => match months(times) {
                Some(step) => Self::Months { step },
                None => Self::Irregular { step: middle },
            },
        }
    }

    /// The time `steps` after `time`.
    pub fn after(self, time: f64, steps: usize) -> f64 {
        match self {
            Self::Rows => f64::NAN,
            Self::Count { step }
            | Self::Seconds { step }
            | Self::IrregularCount { step }
            | Self::Irregular { step } => time + steps as f64 * step,
            Self::Weekdays => {
                let mut day = (time / DAY).floor();
                let rest = time - day * DAY;
                for _ in 0..steps {
                    day += 1.0;
                    while weekday(day as i64) > 4 {
                        day += 1.0;
                    }
                }
                day * DAY + rest
            }
            Self::Months { step } => {
                let day = (time / DAY).floor();
                let date = Date::of_days(day as i64);
                let month = date.year * 12 + date.month - 1 + step * steps as i64;
                let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
                let date = (1..=date.day).rev().find_map(|day| Date::new(year, month, day));
                date.map_or(f64::NAN, |date| date.days() as f64 * DAY) + (time - day * DAY)
            }
        }
    }

    /// The steps of a week, where steps are whole parts of a day, and shorter than it.
    pub(super) fn steps_of_week(self) -> Option<usize> {
        let Self::Seconds { step } = self else { return None };
        let steps = 7.0 * DAY / step;
        (step < DAY && (DAY / step).fract() == 0.0).then_some(steps as usize)
    }

    /// Number of steps from one time to a later one; `None` where it is not a whole number.
    pub(super) fn between(self, from: f64, to: f64) -> Option<usize> {
        let steps = match self {
            Self::Rows | Self::Irregular { .. } | Self::IrregularCount { .. } => return Some(1),
            Self::Count { step } | Self::Seconds { step } => ((to - from) / step).round(),
            // Holidays do not count as gaps.
            Self::Weekdays => return Some(1),
            Self::Months { step } => {
                let month = |time: f64| {
                    let date = Date::of_days((time / DAY).floor() as i64);
                    (date.year * 12 + date.month) as f64
                };
                ((month(to) - month(from)) / step as f64).round()
            }
        };
        let fits = (self.after(from, steps.max(0.0) as usize) - to).abs() <= 0.01 * (to - from).abs();
        (steps >= 1.0 && (fits || matches!(self, Self::Months { .. }))).then_some(steps as usize)
    }

    /// Candidate seasonal periods in steps: an hour, a day, a week, a year.
    pub(super) fn seasons(self) -> Vec<usize> {
        let among = |step: f64, lengths: &[f64]| {
            let steps = lengths.iter().map(|length| length / step);
            steps.filter(|steps| *steps >= 2.0).map(|steps| steps.round() as usize).collect()
        };
        match self {
            Self::Rows | Self::Count { .. } | Self::IrregularCount { .. } | Self::Irregular { .. } => Vec::new(),
            Self::Weekdays => vec![5],
            Self::Months { step } => among(step as f64, &[12.0]),
            Self::Seconds { step } if step < DAY => among(step, &[3600.0, DAY, 7.0 * DAY]),
            Self::Seconds { step } => among(step, &[7.0 * DAY, DAYS_OF_YEAR * DAY]),
        }
    }

    /// Whether times are dates.
    pub fn has_dates(self) -> bool {
        !matches!(self, Self::Rows | Self::Count { .. } | Self::IrregularCount { .. })
    }

    /// Whether steps have no common length.
    pub fn is_irregular(self) -> bool {
        matches!(self, Self::Irregular { .. } | Self::IrregularCount { .. })
    }

    /// The length of a step in words.
    pub fn words(self) -> String {
        let seconds = |step: f64| match step {
            _ if step % DAY == 0.0 => plural(step / DAY, "day"),
            _ if step % 3600.0 == 0.0 => plural(step / 3600.0, "hour"),
            _ if step % 60.0 == 0.0 => plural(step / 60.0, "minute"),
            _ => plural(step, "second"),
        };
        let distance = |step: f64| {
            let words = seconds(step);
            if words.starts_with(|first: char| first.is_ascii_digit()) { words } else { format!("one {words}") }
        };
        match self {
            Self::Rows => "every row".into(),
            Self::Count { step: 1.0 } => "every step".into(),
            Self::Count { step } => format!("every {}", digits(step)),
            Self::IrregularCount { step } => format!("irregular, with a median distance of {}", digits(step)),
            Self::Seconds { step } => format!("every {}", seconds(step)),
            Self::Weekdays => "every weekday".into(),
            Self::Months { step } => format!("every {}", plural(step as f64, "month")),
            Self::Irregular { step } => format!("irregular, with a median distance of {}", distance(step)),
        }
    }
}

fn plural(number: f64, noun: &str) -> String {
    if number == 1.0 { noun.into() } else { format!("{} {noun}s", digits(number)) }
}

/// A number with four digits at most.
fn digits(number: f64) -> String {
    let rounded: f64 = format!("{number:.3e}").parse().unwrap_or(number);
    rounded.to_string()
}

/// The smallest of these sorted differences, if all are whole multiples of it.
fn whole_multiples(gaps: &[f64]) -> Option<f64> {
    let smallest = *gaps.first()?;
    let is_whole = |gap: &f64| (gap / smallest - (gap / smallest).round()).abs() <= WHOLE * gap / smallest;
    gaps.iter().all(is_whole).then_some(smallest)
}

fn only_weekdays(times: &[Vec<f64>]) -> bool {
    let mut days = times.iter().flatten().map(|time| weekday((time / DAY).floor() as i64));
    times.iter().map(Vec::len).sum::<usize>() > 7 && days.all(|day| day < 5)
}

/// The number of months between consecutive times, where it is constant and the day of the month stays the same.
fn months(times: &[Vec<f64>]) -> Option<i64> {
    let mut step = None;
    for pair in times.iter().flat_map(|times| times.windows(2)) {
        let [from, to] = [pair[0], pair[1]].map(|time| Date::of_days((time / DAY).floor() as i64));
        let months = (to.year - from.year) * 12 + to.month - from.month;
        // The last days of months count as the same day.
        if months < 1 || from.day.abs_diff(to.day) > 3 {
            return None;
        }
        step = Some(step.map_or(months, |step: i64| step.min(months)));
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(year: i64, month: i64, day: i64) -> f64 {
        Date::new(year, month, day).unwrap().days() as f64 * DAY
    }

    #[test]
    fn steps_are_recognised_and_go_on() {
        let hours: Vec<f64> = (0..50).map(|hour| f64::from(hour) * 3600.0).collect();
        let frequency = Frequency::of(&[hours], true);
        assert_eq!((frequency, frequency.seasons()), (Frequency::Seconds { step: 3600.0 }, vec![24, 168]));
        let months: Vec<f64> = (0..30).map(|month| day(2000 + month / 12, month % 12 + 1, 28)).collect();
        let frequency = Frequency::of(&[months], true);
        assert_eq!((frequency, frequency.seasons()), (Frequency::Months { step: 1 }, vec![12]));
        assert_eq!(frequency.after(day(2000, 1, 31), 1), day(2000, 2, 29));
        assert_eq!(frequency.between(day(2000, 1, 1), day(2000, 4, 1)), Some(3));
        let weekdays: Vec<f64> = (0..60).filter(|day| weekday(*day) < 5).map(|day| day as f64 * DAY).collect();
        assert_eq!(Frequency::of(&[weekdays], true), Frequency::Weekdays);
        assert_eq!(Frequency::Weekdays.after(day(2024, 2, 23), 1), day(2024, 2, 26));
        assert_eq!(Frequency::of(&[vec![1.0, 2.0, 3.0, 5.0]], false), Frequency::Count { step: 1.0 });
        let odd = vec![0.0, 3600.0, 90_000.0, 91_000.0, 200_000.0];
        assert!(matches!(Frequency::of(&[odd], true), Frequency::Irregular { .. }));
    }
}
