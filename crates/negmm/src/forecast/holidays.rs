//! Holidays: how much the values of a day, and of the days around it, differ from those of the same weekday in the weeks
//! beside it.
//!
//! The effect of a holiday at one distance (two days before … two days after) is a ratio where all values of a series are
//! positive, else a difference in units of the mean absolute change over a step or a week, the larger one. For each series
//! it is the mean over earlier occurrences, shrunk towards that of all series, and this towards none. It is taken out of
//! the values before anything learns from them, and put back into the forecasts: all members of the pool know it. A value
//! is only changed by what was known before it.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::intermittent::is_intermittent;
use super::{Frequency, Series};
use negmm_data::{Column, MISSING, Table};
use negmm_dist::{Error, Result};

const DAY: f64 = 86_400.0;
/// Days before and after a holiday that it acts on.
const REACH: i64 = 2;
const DISTANCES: usize = 2 * REACH as usize + 1;
/// Weeks before and after it that values are compared with.
const WEEKS: usize = 2;
/// Occurrences that the effect over all series counts as in that of a series, and that none counts as in the former.
const SHARED_OCCURRENCES: f64 = 1.0;
const NO_OCCURRENCES: f64 = 1.0;
/// Largest effect: a logarithm of a ratio, and a number of units.
const MOST_RATIO: f64 = 3.0;
const MOST_UNITS: f64 = 30.0;
/// Columns of a table of holidays.
const DATE: &str = "date";
const NAME: &str = "name";
const NO_NAME: &str = "holiday";

/// A day on which a series behaves differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Holiday {
    /// Days since 1970.
    pub day: i64,
    /// Its name: days of the same name are taken as alike.
    pub name: String,
    /// The series that it is a holiday of; `None`: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
}

impl Holiday {
    /// A holiday of all series, or of one.
    pub fn new(day: i64, name: impl Into<String>, series: Option<String>) -> Self {
        Self { day, name: name.into(), series }
    }

    /// The holidays of a table with the column `date`, and optionally `name` and a column called as the series column.
    ///
    /// # Errors
    /// When there is no column `date`, or a cell of it is not a date.
    pub fn read(table: &Table, series: Option<&str>) -> Result<Vec<Self>> {
        if table.column(DATE).is_none() {
            return Err(table.locate(Error::data("holidays need a column \"date\", and may have a column \"name\"")));
        }
        let (times, dates) = table.times(DATE, None)?;
        if !dates {
            return Err(table.locate(Error::data("the column \"date\" of holidays has numbers, not dates")));
        }
        let text = |column: Option<&Column>, row: usize| match column {
            Some(Column::Text { codes, levels }) if codes[row] != MISSING => Some(levels[codes[row] as usize].clone()),
            Some(Column::Numbers(numbers)) if !numbers[row].is_nan() => Some(numbers[row].to_string()),
            _ => None,
        };
        let (names, of) = (table.column(NAME), series.and_then(|name| table.column(name)));
        let mut all = Vec::with_capacity(times.len());
        for (row, time) in times.iter().enumerate() {
            if time.is_nan() {
                return Err(table.at_cell(Error::data("the date of a holiday is missing"), row, DATE));
            }
            let name = text(names, row).unwrap_or_else(|| NO_NAME.into());
            all.push(Self { day: (time / DAY).floor() as i64, name, series: text(of, row) });
        }
        Ok(all)
    }
}

/// Effects of holidays over all series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct HolidayEffects {
    /// For each name the effect at each distance: ratios as logarithms, then differences.
    ratios: ByName,
    differences: ByName,
}

/// Effects by name, in the order of names.
type ByName = BTreeMap<String, [f64; DISTANCES]>;

/// The effects of holidays on one series.
#[derive(Clone, Debug)]
pub(super) struct OwnEffects<'a> {
    days: HashMap<i64, (&'a str, usize)>,
    /// The day of each observed occurrence with its effect, by name and distance, the earliest first.
    observed: HashMap<(&'a str, usize), Vec<(i64, f64)>>,
    shared: &'a ByName,
    /// The unit of differences; `None`: effects are ratios.
    unit: Option<f64>,
}

impl HolidayEffects {
    /// Learns from these series.
    ///
    /// # Errors
    /// When steps are not parts of days.
    pub(super) fn fit(holidays: &[Holiday], series: &[Series], frequency: Frequency) -> Result<Self> {
        if steps_of_week(frequency).is_none() {
            return Err(Error::options(format!(
                "holidays act on days: they need dates and times with steps of a day or a part of it, and there are steps {}",
                frequency.words()
            )));
        }
        let mut fitted = Self { ratios: ByName::new(), differences: ByName::new() };
        let mut sums: [HashMap<(String, usize), (f64, f64)>; 2] = [HashMap::new(), HashMap::new()];
        for one in series {
            let Some(own) = fitted.of(holidays, one, frequency) else { continue };
            for ((name, distance), effects) in &own.observed {
                let (sum, count) =
                    sums[usize::from(own.unit.is_some())].entry((name.to_string(), *distance)).or_default();
                *sum += effects.iter().map(|(_, effect)| effect).sum::<f64>();
                *count += effects.len() as f64;
            }
        }
        for (sums, shared) in sums.into_iter().zip([&mut fitted.ratios, &mut fitted.differences]) {
            for ((name, distance), (sum, count)) in sums {
                shared.entry(name).or_insert([0.0; DISTANCES])[distance] = sum / (count + NO_OCCURRENCES);
            }
        }
        Ok(fitted)
    }

    /// The effects on a series; `None` where it is intermittent.
    pub(super) fn of<'a>(
        &'a self,
        holidays: &'a [Holiday],
        series: &Series,
        frequency: Frequency,
    ) -> Option<OwnEffects<'a>> {
        let history = series.history(series.len() - 1);
        let week = steps_of_week(frequency).filter(|_| !is_intermittent(history))?;
        let is_own = |holiday: &&Holiday| match &holiday.series {
            Some(name) => *name == series.name || series.keys.last() == Some(name),
            None => true,
        };
        let mut days: HashMap<i64, (&str, usize)> = HashMap::new();
        // Where two holidays are near, the nearer one counts.
        for distance in [0, 1, -1, 2, -2] {
            for holiday in holidays.iter().filter(is_own) {
                days.entry(holiday.day + distance).or_insert((&holiday.name, (distance + REACH) as usize));
            }
        }
        let positive = history.iter().all(|value| *value > 0.0);
        let lags = [1, week.min(series.len().saturating_sub(1)).max(1)];
        let unit = (!positive).then(|| lags.map(|lag| series.mean_change(lag)).into_iter().fold(0.0, f64::max));
        let day = |step: usize| (series.time(step, frequency) / DAY).floor() as i64;
        let usual = |step: usize| -> Option<f64> {
            let beside =
                (1..=WEEKS).flat_map(|back| [step.checked_sub(back * week), Some(step + back * week)]).flatten();
            let known = |step: &usize| {
                series.values.get(*step).is_some_and(|value| !value.is_nan()) && !days.contains_key(&day(*step))
            };
            let values: Vec<f64> = beside.filter(known).map(|step| series.values[step]).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        // Sums by day: all its steps are one occurrence.
        let mut by_day: Vec<(i64, f64, f64)> = Vec::new();
        for (step, value) in series.values.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
            let today = day(step);
            let (true, Some(usual)) = (days.contains_key(&today), usual(step)) else { continue };
            let effect = match unit {
                None => libm::log(value / usual).clamp(-MOST_RATIO, MOST_RATIO),
                Some(unit) => ((value - usual) / unit).clamp(-MOST_UNITS, MOST_UNITS),
            };
            match by_day.last_mut().filter(|(other, ..)| *other == today) {
                Some((_, sum, count)) => (*sum, *count) = (*sum + effect, *count + 1.0),
                None => by_day.push((today, effect, 1.0)),
            }
        }
        let mut observed: HashMap<(&str, usize), Vec<(i64, f64)>> = HashMap::new();
        for (today, sum, count) in by_day {
            observed.entry(days[&today]).or_default().push((today, sum / count));
        }
        let shared = if positive { &self.ratios } else { &self.differences };
        Some(OwnEffects { days, observed, shared, unit })
    }

    /// Whether the parameters are valid.
    pub(super) fn is_sound(&self) -> bool {
        let all = self.ratios.values().chain(self.differences.values()).flatten();
        all.copied().all(|effect| effect.abs() <= MOST_UNITS)
    }
}

impl OwnEffects<'_> {
    /// The shift and the factor with which a holiday acts on a step of this time.
    pub(super) fn at(&self, time: f64) -> (f64, f64) {
        let today = (time / DAY).floor() as i64;
        let Some((name, distance)) = self.days.get(&today).copied() else { return (0.0, 1.0) };
        let shared = self.shared.get(name).map_or(0.0, |effects| effects[distance]);
        let before = self.observed.get(&(name, distance)).into_iter().flatten().filter(|(day, _)| *day < today);
        let (sum, count) = before.fold((0.0, 0.0), |(sum, count), (_, effect)| (sum + effect, count + 1.0));
        let effect = (sum + SHARED_OCCURRENCES * shared) / (count + SHARED_OCCURRENCES);
        match self.unit {
            None => (0.0, libm::exp(effect)),
            Some(unit) => (effect * unit, 1.0),
        }
    }

    /// The series without the effects.
    pub(super) fn removed(&self, series: &Series, frequency: Frequency) -> Series {
        let mut series = series.clone();
        for step in 0..series.len() {
            let (shift, factor) = self.at(series.time(step, frequency));
            series.values[step] = (series.values[step] - shift) / factor;
        }
        series.filled.clear();
        series.fill();
        series
    }
}

/// The steps of a week where steps are days or parts of days.
fn steps_of_week(frequency: Frequency) -> Option<usize> {
    match frequency {
        Frequency::Weekdays => Some(5),
        Frequency::Seconds { step } if step <= DAY && DAY % step == 0.0 => Some((7.0 * DAY / step) as usize),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 200 weeks of days from Monday on, 100 with weekends of 50; every 364 days a holiday of 30, and 150 the day before.
    fn daily(sign: f64) -> (Series, Vec<Holiday>) {
        let usual = |step: usize| if step % 7 > 4 { 50.0 } else { 100.0 };
        let value = |step: usize| match step % 364 {
            200 => 0.3 * usual(step),
            199 => 1.5 * usual(step),
            _ => usual(step),
        };
        let first = 4.0 * DAY;
        let mut series = Series {
            rows: (0..1400).collect(),
            times: (0..1400).map(|step| first + f64::from(step) * DAY).collect(),
            values: (0..1400).map(|step| if sign > 0.0 { value(step) } else { value(step) - 75.0 }).collect(),
            ..Series::default()
        };
        series.fill();
        let days = (0..5).map(|year| Holiday::new(4 + 200 + 364 * year, "feast", None));
        (series, days.collect())
    }

    #[test]
    fn effects_are_taken_out_and_come_back() {
        let frequency = Frequency::Seconds { step: DAY };
        for sign in [1.0, -1.0] {
            let (series, holidays) = daily(sign);
            let all = [series.clone()];
            let effects = HolidayEffects::fit(&holidays, &all, frequency).unwrap();
            let own = effects.of(&holidays, &series, frequency).unwrap();
            let plain = own.removed(&series, frequency);
            // The fourth occurrence, three were before it.
            let step = 200 + 3 * 364;
            let (usual, value) = (plain.values[step - 7], plain.values[step]);
            assert!((value - usual).abs() < 0.25 * (series.values[step] - usual).abs(), "{value} {usual}");
            assert_eq!(plain.values[step - 30], series.values[step - 30]);
            // The next one lies in the future.
            let next = series.time(200 + 4 * 364, frequency);
            let (shift, factor) = own.at(next);
            assert!(factor < 0.5 || shift < -20.0, "{shift} {factor}");
            let (shift, factor) = own.at(next - DAY);
            assert!(factor > 1.25 || shift > 10.0, "{shift} {factor}");
            assert_eq!(own.at(next + 10.0 * DAY), (0.0, 1.0));
            assert!(effects.is_sound());
        }
        let (series, holidays) = daily(1.0);
        let error = HolidayEffects::fit(&holidays, &[series], Frequency::Months { step: 1 }).unwrap_err();
        assert!(error.to_string().contains("steps of a day"), "{error}");
    }

    #[test]
    fn holidays_are_read_from_a_table() {
        let text = "date,name,shop\n2026-12-25,Christmas,\n2026-05-01,Fair,mill\n";
        let table = Table::read_from(text.as_bytes(), "days").unwrap();
        let read = Holiday::read(&table, Some("shop")).unwrap();
        assert_eq!(read[0], Holiday::new(20_812, "Christmas", None));
        assert_eq!(read[1], Holiday::new(20_574, "Fair", Some("mill".into())));
        let wrong = Table::read_from("day\n2026-12-25\n".as_bytes(), "days").unwrap();
        assert!(Holiday::read(&wrong, None).is_err());
    }
}
