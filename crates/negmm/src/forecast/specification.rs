//! The series specification: time, series and covariate columns, and the horizon.

use serde::{Deserialize, Serialize};

use negmm_data::{Table, TimeForm};
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
/// | `time_form` | inferred | the format of times |
/// | `series` | none | the series that a row belongs to |
/// | `past` | none | covariates known up to the origin |
/// | `known` | none | covariates known in advance: prices, holidays |
/// | `horizon` | 1 | steps ahead, 1 … 1000 |
/// | `seasons` | detected | seasonal periods in steps, each 2 … 10000 |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct SeriesSpec {
    /// The column to forecast.
    pub target: String,
    /// The time column.
    pub time: Option<String>,
    /// The format of times.
    pub time_form: Option<TimeForm>,
    /// The column of series names.
    pub series: Option<String>,
    /// Covariates known up to the origin.
    pub past: Vec<String>,
    /// Covariates known in advance.
    pub known: Vec<String>,
    /// The horizon.
    pub horizon: usize,
    /// Seasonal periods in steps.
    pub seasons: Option<Vec<usize>>,
}

impl Default for SeriesSpec {
    fn default() -> Self {
        Self {
            target: String::new(),
            time: None,
            time_form: None,
            series: None,
            past: Vec::new(),
            known: Vec::new(),
            horizon: 1,
            seasons: None,
        }
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
        let seasons = self.seasons.iter().flatten();
        if let Some(season) = seasons.clone().find(|season| !(2..=MOST_SEASON).contains(*season)) {
            return Err(Error::options(format!("a season must be from 2 to {MOST_SEASON} steps, found {season}")));
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
        one.chain(&self.past).chain(&self.known).map(String::as_str)
    }

    /// Checks that `table` has the columns that a forecast needs.
    pub(super) fn check_columns(&self, table: &Table) -> Result<()> {
        let absent: Vec<&str> = self.columns().filter(|name| table.column(name).is_none()).collect();
        if absent.is_empty() { Ok(()) } else { Err(table.blame(Error::options(table.absent(&absent)))) }
    }
}
