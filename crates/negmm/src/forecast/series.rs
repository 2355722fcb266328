//! Series: the rows of a table in time order, with gaps filled by missing steps.

use std::borrow::Cow;
use std::collections::HashMap;

use super::time_style::{TimeStyle, row_offsets};
use super::{ForecastPoint, Frequency, SeriesSpec, hierarchy, seasons};
use negmm_data::infer::datetime::iso;
use negmm_data::{Column, MISSING, Table};
use negmm_dist::quote::quoted;
use negmm_dist::{Error, Hint, Result, Warning};

/// Maximum number of non-numeric cells that a message names.
const NAMED: usize = 3;
/// Largest absolute value: squares of larger values would overflow.
const LARGEST: f64 = 1e150;
/// Maximum number of missing steps between two rows.
const LONGEST_GAP: usize = 100_000;
/// Maximum number of missing steps in total, unless the table has more rows: each takes as much memory as a row.
const MOST_ABSENT: usize = 1_000_000;

/// One series.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Series {
    /// Its name: the cells that name it, with slashes between them; empty for a single series.
    pub name: String,
    /// Its cells in the columns that name it ([`SeriesSpec::key_columns`]); those of a sum are [`ALL`](super::ALL) in the
    /// columns that it is taken over.
    pub keys: Vec<String>,
    /// The numbers of the series that it is the sum of; none where it is in the table itself.
    pub parts: Vec<usize>,
    /// The table row of each step, or of the step before where a step is missing. Future steps, with only known
    /// covariates, come last.
    pub rows: Vec<usize>,
    /// The time of each of those steps, in seconds since 1970 where times are dates; empty without a time column.
    pub times: Vec<f64>,
    /// The target of each step up to the last known one; NaN where it is missing.
    pub values: Vec<f64>,
    /// The same with missing values forward-filled; leading ones are back-filled.
    pub(super) filled: Vec<f64>,
    /// The first known step.
    pub(super) first: usize,
}

/// All series of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Histories {
    /// In the order of their first rows.
    pub series: Vec<Series>,
    /// Time between consecutive steps.
    pub frequency: Frequency,
    /// Warnings: gaps, missing targets.
    pub warnings: Vec<Warning>,
    /// How times are written.
    pub(super) time_style: TimeStyle,
    /// Whether times are those of the clock on the wall: of times with an offset from UTC, so that summer time does not
    /// shift the seasons of a day and a week.
    pub(super) local: bool,
}

impl Histories {
    /// Reads the series of `table`; `frequency` is inferred where it is not given.
    ///
    /// # Errors
    /// When a column is absent, the target is not numeric, times are not increasing, or no target is known.
    pub fn read(table: &Table, spec: &SeriesSpec, frequency: Option<Frequency>) -> Result<Self> {
        spec.check_columns(table)?;
        let mut values = table.numbers(&spec.target).ok_or_else(|| Error::options(table.absent(&[&spec.target])))??;
        if let Some(row) = values.iter().position(|value| value.abs() > LARGEST) {
            let message = format!("the number {:e} is too large to forecast: at most {LARGEST:e}", values[row]);
            return Err(table.at_cell(Error::data(message), row, &spec.target));
        }
        let mut times = spec.time.as_ref().map(|name| table.times(name, spec.time_format)).transpose()?;
        let mut groups = grouped(table, spec)?;
        let dates = times.as_ref().is_some_and(|(_, dates)| *dates);
        if let (Some(name), Some((times, _))) = (&spec.time, &times) {
            if spec.sort {
                groups.iter_mut().for_each(|(_, rows)| rows.sort_by(|a, b| times[*a].total_cmp(&times[*b])));
            }
            let several = spec.key_columns().next().is_some();
            check_times(table, (name, several, frequency.is_none()), &groups, times, dates)?;
        }
        let mut twice = 0;
        let offsets = spec.time.as_ref().filter(|_| dates).and_then(|name| row_offsets(table, name));
        let local = spec.local_time || (frequency.is_none() && offsets.is_some());
        if let (true, Some(offsets), Some((times, _))) = (local, offsets, &mut times) {
            times.iter_mut().zip(offsets).for_each(|(time, offset)| *time += offset);
            groups.iter_mut().for_each(|(_, rows)| twice += merge_repeated(rows, times, values.to_mut()));
        }
        let of_group = |rows: &[usize]| -> Vec<f64> {
            times.as_ref().map_or_else(Vec::new, |(times, _)| rows.iter().map(|row| times[*row]).collect())
        };
        let frequency = frequency.unwrap_or_else(|| match &times {
            Some(_) => Frequency::of(&groups.iter().map(|(_, rows)| of_group(rows)).collect::<Vec<_>>(), dates),
            None => Frequency::Rows,
        });
        let (mut gaps, mut absent, mut missing) = (0, 0, 0);
        let mut series = Vec::with_capacity(groups.len());
        for (keys, rows) in groups {
            let mut one = Series { name: keys.join("/"), keys, ..Series::default() };
            let own = of_group(&rows);
            for (at, row) in rows.iter().enumerate() {
                if let (Some(before), Some(time)) = (at.checked_sub(1).and_then(|at| own.get(at)), own.get(at)) {
                    let steps = frequency.between(*before, *time).unwrap_or(1).min(LONGEST_GAP);
                    gaps += usize::from(steps > 1);
                    absent += steps - 1;
                    if absent > MOST_ABSENT.max(table.rows()) {
                        let message = format!(
                            "more than {MOST_ABSENT} time steps ({}) are missing up to here",
                            frequency.words()
                        );
                        return Err(table.at_cell(
                            Error::data(message),
                            *row,
                            spec.time.as_deref().unwrap_or_default(),
                        ));
                    }
                    for step in 1..steps {
                        one.push(rows[at - 1], Some(frequency.after(*before, step)), f64::NAN);
                    }
                }
                one.push(*row, own.get(at).copied(), values[*row]);
            }
            let Some(last) = one.values.iter().rposition(|value| !value.is_nan()) else {
                return Err(table.locate(Error::data(
                    one.sentence(&format!("the sequence {} is missing in every row", quoted(&spec.target))),
                )));
            };
            one.values.truncate(last + 1);
            missing += one.values.iter().filter(|value| value.is_nan()).count();
            one.fill();
            series.push(one);
        }
        if !spec.hierarchy.is_empty() {
            let levels = spec.key_columns().count();
            series = hierarchy::with_sums(series, levels).map_err(|error| table.locate(error))?;
        }
        let mut warnings = Vec::new();
        if frequency.is_irregular() && series.iter().any(|series: &Series| series.len() > 2) {
            warnings.push(Warning::new(format!(
                "the times are not regular ({}): rows are taken as consecutive steps, and times ahead go on by the median",
                frequency.words()
            )));
        }
        if twice > 0 {
            let steps = if twice == 1 { "one time step".into() } else { format!("{twice} time steps") };
            warnings.push(Warning::new(format!(
                "clocks were put back: {steps} that came twice are one step with their mean"
            )));
        }
        if gaps > 0 {
            warnings.push(Warning::new(format!(
                "the time steps ({}) have gaps in {}, {absent} steps in all: they are taken as missing",
                frequency.words(),
                if gaps == 1 { "one place".to_string() } else { format!("{gaps} places") }
            )));
        }
        if missing > absent {
            let odd: Vec<String> = table
                .typed_column(&spec.target)
                .map_or(Vec::new(), |read| read.odd.iter().take(NAMED).map(|(cell, _)| quoted(cell)).collect());
            let odd = if odd.is_empty() { String::new() } else { format!(" ({} among them)", odd.join(", ")) };
            warnings.push(Warning::new(format!(
                "{} of the sequence {} are missing{odd}: they are filled with the value before, and not used for training",
                missing - absent,
                quoted(&spec.target)
            )));
        }
        let last_rows = series.iter().map(|series: &Series| series.rows[series.rows.len() - 1]);
        let time_style =
            spec.time.as_ref().map_or_else(TimeStyle::default, |name| TimeStyle::of(table, name, last_rows));
        Ok(Self { series, frequency, warnings, time_style: time_style.local(local), local })
    }

    /// Whether times are those of the clock on the wall.
    pub fn on_the_wall(&self) -> bool {
        self.local
    }
}

/// Rows in the order of the clock on the wall; of those with the same time the first stays, with the mean of their values.
/// Returns how many others there are.
fn merge_repeated(rows: &mut Vec<usize>, times: &[f64], values: &mut [f64]) -> usize {
    let all = rows.len();
    rows.sort_by(|a, b| times[*a].total_cmp(&times[*b]));
    let mut merged: Vec<usize> = Vec::with_capacity(all);
    for same in rows.chunk_by(|a, b| times[*a] == times[*b]) {
        let known: Vec<f64> = same.iter().map(|row| values[*row]).filter(|value| !value.is_nan()).collect();
        if same.len() > 1 && !known.is_empty() {
            values[same[0]] = known.iter().sum::<f64>() / known.len() as f64;
        }
        merged.push(same[0]);
    }
    *rows = merged;
    all - rows.len()
}

impl Histories {
    /// The observed value of a forecast point; NaN where it is missing.
    pub fn value(&self, point: &ForecastPoint) -> f64 {
        self.series[point.series].values[point.step()]
    }

    /// The time of a step of a series as text, as the table writes its times; the step may lie beyond the end.
    pub fn time_text(&self, series: usize, step: usize) -> String {
        self.time_style.text(series, self.series[series].time(step, self.frequency), self.frequency)
    }

    /// Autocorrelation of changes by lag up to `longest`, averaged over the series.
    pub fn correlation(&self, longest: usize) -> Vec<f64> {
        seasons::mean_correlation(&self.series, longest)
    }
}

impl From<Series> for Cow<'_, Series> {
    fn from(series: Series) -> Self {
        Self::Owned(series)
    }
}

impl<'a> From<&'a Series> for Cow<'a, Series> {
    fn from(series: &'a Series) -> Self {
        Self::Borrowed(series)
    }
}

impl Series {
    fn push(&mut self, row: usize, time: Option<f64>, value: f64) {
        self.rows.push(row);
        self.times.extend(time);
        self.values.push(value);
    }

    pub(super) fn fill(&mut self) {
        self.first = self.values.iter().position(|value| !value.is_nan()).unwrap_or(0);
        let mut last = self.values.get(self.first).copied().unwrap_or(0.0);
        for value in &self.values {
            if !value.is_nan() {
                last = *value;
            }
            self.filled.push(last);
        }
    }

    /// Its first steps.
    pub(super) fn until(&self, steps: usize) -> Self {
        let first = |values: &[f64]| values[..steps].to_vec();
        Self { values: first(&self.values), filled: first(&self.filled), ..self.clone() }
    }

    /// The values from the first known one up to an origin, with gaps filled.
    pub(super) fn history(&self, origin: usize) -> &[f64] {
        &self.filled[self.first.min(origin)..=origin]
    }

    /// Number of steps up to the last known target.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Mean absolute change over `lag` steps; 1 where the series is constant.
    pub(super) fn mean_change(&self, lag: usize) -> f64 {
        let changes = self.filled.iter().skip(lag).zip(&self.filled).map(|(later, earlier)| (later - earlier).abs());
        let sum: f64 = changes.sum();
        if sum > 0.0 { sum / (self.len() - lag) as f64 } else { 1.0 }
    }

    /// Whether there are no steps; a series that was read has at least one.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The time of a step, which may lie beyond the end; NaN where it is unknown.
    pub fn time(&self, step: usize, frequency: Frequency) -> f64 {
        match (self.times.get(step), self.times.last()) {
            (Some(time), _) => *time,
            (None, Some(last)) => frequency.after(*last, step + 1 - self.times.len()),
            (None, None) => f64::NAN,
        }
    }

    /// A sentence about this series.
    fn sentence(&self, sentence: &str) -> String {
        if self.name.is_empty() { sentence.into() } else { format!("of the series {}, {sentence}", quoted(&self.name)) }
    }
}

/// The rows of each series in their order, with the cells that name it.
fn grouped(table: &Table, spec: &SeriesSpec) -> Result<Vec<(Vec<String>, Vec<usize>)>> {
    let columns: Vec<&str> = spec.key_columns().collect();
    if columns.is_empty() {
        return Ok(vec![(Vec::new(), (0..table.rows()).collect())]);
    }
    let numbers = columns.iter().map(|name| table.groups(name)).collect::<Result<Vec<Vec<u32>>>>()?;
    let mut groups: Vec<(Vec<String>, Vec<usize>)> = Vec::new();
    let mut found: HashMap<Vec<u32>, usize> = HashMap::new();
    for row in 0..table.rows() {
        let key = numbers.iter().map(|numbers| numbers[row]).collect();
        let at = *found.entry(key).or_insert_with(|| {
            groups.push((columns.iter().map(|name| cell(table, name, row)).collect(), Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(row);
    }
    Ok(groups)
}

/// The text of a cell.
fn cell(table: &Table, column: &str, row: usize) -> String {
    match table.column(column) {
        Some(Column::Text { codes, levels }) if codes[row] != MISSING => levels[codes[row] as usize].clone(),
        Some(Column::Numbers(numbers)) => numbers[row].to_string(),
        Some(Column::Times(times)) => iso(times[row]),
        _ => String::new(),
    }
}

/// Checks that the times of each series are present and increasing.
fn check_times(
    table: &Table,
    (name, several, fits): (&str, bool, bool),
    groups: &[(Vec<String>, Vec<usize>)],
    times: &[f64],
    dates: bool,
) -> Result<()> {
    let text = |row: usize| if dates { iso(times[row]) } else { times[row].to_string() };
    for (_, rows) in groups {
        if let Some(row) = rows.iter().find(|row| times[**row].is_nan()) {
            return Err(table.at_cell(Error::data("the time of a step is missing"), *row, name));
        }
        if let Some(pair) = rows.windows(2).find(|pair| times[pair[1]] <= times[pair[0]]) {
            let error = match times[pair[1]] == times[pair[0]] {
                true => Error::data(format!("the time {} occurs twice", text(pair[1])))
                    .with_hint(Hint::NameColumn { option: "series" }.when("if there are several series")),
                false => {
                    let mut error = Error::data(format!(
                        "the time {} comes after {}: sort the rows by time, the oldest first",
                        text(pair[1]),
                        text(pair[0])
                    ));
                    if !several {
                        error =
                            error.with_hint(Hint::NameColumn { option: "series" }.when("if there are several series"));
                    }
                    // A model that is read has its options.
                    if fits { error.with_hint(Hint::set("sort", true).when("if they can be sorted")) } else { error }
                }
            };
            return Err(table.at_cell(error, pair[1], name));
        }
    }
    Ok(())
}
