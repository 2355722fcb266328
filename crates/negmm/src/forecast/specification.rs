//! The series specification: time, series and covariate columns, and the horizon.

use serde::{Deserialize, Serialize};

use super::Holiday;
use negmm_data::{Table, TimeFormat};
use negmm_dist::{Error, Result};

/// Largest horizon.
pub const MOST_HORIZON: usize = 1_000;
/// Longest season in steps.
pub(super) const MOST_SEASON: usize = 10_000;

/// The roles of a table's columns; rows are steps in time, oldest first.
///
/// | field | default | meaning |
/// |---|---|---|
/// | `target` | | the column to forecast |
/// | `time` | none | the time of each step; without it rows are consecutive steps |
/// | `time_format` | inferred | the format of times |
/// | `series` | none | the series that a row belongs to |
/// | `past_covariates` | none | covariates known up to the origin |
/// | `future_covariates` | none | covariates known in advance: prices, holidays |
/// | `horizon` | 1 | steps ahead, 1 … 1000 |
/// | `seasonal_periods` | detected | seasonal periods in steps, each 2 … 10000 |
/// | `hierarchy` | none | columns by which series are summed, the coarsest first: sums are forecast coherently |
/// | `holidays` | none | days that differ from others, with the days around them |
/// | `local_time` | found | whether times are those of the clock on the wall |
/// | `sort` | false | whether rows are sorted by time; otherwise times that decrease are refused |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct SeriesSpec {
    /// The column to forecast.
    pub target: String,
    /// The time column.
    pub time: Option<String>,
    /// The format of times.
    #[serde(rename = "time-form")]
    pub time_format: Option<TimeFormat>,
    /// The column of series names.
    pub series: Option<String>,
    /// Covariates known up to the origin.
    #[serde(rename = "past")]
    pub past_covariates: Vec<String>,
    /// Covariates known in advance.
    #[serde(rename = "known")]
    pub future_covariates: Vec<String>,
    /// The horizon.
    pub horizon: usize,
    /// Seasonal periods in steps.
    #[serde(rename = "seasons")]
    pub seasonal_periods: Option<Vec<usize>>,
    /// Columns by which series are summed, the coarsest first; with the series column they name a series.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hierarchy: Vec<String>,
    /// Days that differ from others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holidays: Vec<Holiday>,
    /// Whether times are those of the clock on the wall; a fit finds out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub local_time: bool,
    /// Whether rows are sorted by time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sort: bool,
}

impl Default for SeriesSpec {
    fn default() -> Self {
        Self {
            target: String::new(),
            time: None,
            time_format: None,
            series: None,
            past_covariates: Vec::new(),
            future_covariates: Vec::new(),
            horizon: 1,
            seasonal_periods: None,
            hierarchy: Vec::new(),
            holidays: Vec::new(),
            local_time: false,
            sort: false,
        }
    }
}

/// Setters.
impl SeriesSpec {
    /// Sets `target`.
    #[must_use]
    pub fn target(self, target: impl Into<String>) -> Self {
        Self { target: target.into(), ..self }
    }

    /// Sets `time`.
    #[must_use]
    pub fn time(self, time: impl Into<String>) -> Self {
        Self { time: Some(time.into()), ..self }
    }

    /// Sets `time_format`.
    #[must_use]
    pub fn time_format(self, time_format: impl Into<Option<TimeFormat>>) -> Self {
        Self { time_format: time_format.into(), ..self }
    }

    /// Sets `series`.
    #[must_use]
    pub fn series(self, series: impl Into<String>) -> Self {
        Self { series: Some(series.into()), ..self }
    }

    /// Sets `past_covariates`.
    #[must_use]
    pub fn past_covariates(self, past_covariates: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { past_covariates: past_covariates.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets `future_covariates`.
    #[must_use]
    pub fn future_covariates(self, future_covariates: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { future_covariates: future_covariates.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets `horizon`.
    #[must_use]
    pub fn horizon(self, horizon: usize) -> Self {
        Self { horizon, ..self }
    }

    /// Sets `seasonal_periods`.
    #[must_use]
    pub fn seasonal_periods(self, seasonal_periods: impl Into<Option<Vec<usize>>>) -> Self {
        Self { seasonal_periods: seasonal_periods.into(), ..self }
    }

    /// Sets `hierarchy`.
    #[must_use]
    pub fn hierarchy(self, hierarchy: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { hierarchy: hierarchy.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets `holidays`.
    #[must_use]
    pub fn holidays(self, holidays: impl Into<Vec<Holiday>>) -> Self {
        Self { holidays: holidays.into(), ..self }
    }

    /// Sets `sort`.
    #[must_use]
    pub fn sort(self, sort: bool) -> Self {
        Self { sort, ..self }
    }
}

impl SeriesSpec {
    /// Forecasts of the column `target`, one step ahead.
    pub fn of(target: impl Into<String>) -> Self {
        Self { target: target.into(), ..Self::default() }
    }

    /// Checks the ranges.
    pub fn check(&self) -> Result<()> {
        if !(1..=MOST_HORIZON).contains(&self.horizon) {
            return Err(Error::option("horizon", format!("must be from 1 to {MOST_HORIZON}, found {}", self.horizon)));
        }
        let seasons = self.seasonal_periods.iter().flatten();
        if let Some(season) = seasons.clone().find(|season| !(2..=MOST_SEASON).contains(*season)) {
            return Err(Error::options(format!("a season must be from 2 to {MOST_SEASON} steps, found {season}")));
        }
        if self.sort && self.time.is_none() {
            return Err(Error::options("rows can be sorted by time only where a time column is named"));
        }
        let mut names: Vec<&str> = self.columns().collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Error::options(format!(
                "column {:?} is named twice: the sequence, its time, its series, features and known columns are different ones",
                pair[0]
            ))),
            None => Ok(()),
        }
    }

    /// All named columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        let one = [Some(&self.target), self.time.as_ref(), self.series.as_ref()].into_iter().flatten();
        let keys = self.hierarchy.iter().filter(|name| Some(*name) != self.series.as_ref());
        one.chain(keys).chain(&self.past_covariates).chain(&self.future_covariates).map(String::as_str)
    }

    /// The columns that name a series: those of the hierarchy, then the series column.
    pub fn key_columns(&self) -> impl Iterator<Item = &str> {
        let series = self.series.iter().filter(|name| !self.hierarchy.contains(name));
        self.hierarchy.iter().chain(series).map(String::as_str)
    }

    /// Checks that `table` has the columns that a forecast needs.
    pub(super) fn check_columns(&self, table: &Table) -> Result<()> {
        let absent: Vec<&str> = self.columns().filter(|name| table.column(name).is_none()).collect();
        if absent.is_empty() { Ok(()) } else { Err(table.locate(Error::options(table.absent(&absent)))) }
    }
}
