//! The series specification: time, series and covariate columns, and the horizon.

use serde::{Deserialize, Serialize};

use negmm_data::{Table, TimeForm};
use negmm_dist::{Error, Result};

/// Steps ahead at most.
pub const MOST_HORIZON: usize = 1_000;
/// Steps of a season at most.
pub(super) const MOST_SEASON: usize = 10_000;

/// What somebody says of a table whose rows are steps in time, oldest first.
///
/// | field | default | meaning |
/// |---|---|---|
/// | `target` | | the numbers that are forecast |
/// | `time` | none | when each step is; without it rows follow one another |
/// | `time_form` | found | how times are written |
/// | `series` | none | which of many series a row belongs to |
/// | `past` | none | further columns, which are known up to the origin |
/// | `known` | none | further columns that are known ahead: prices, holidays |
/// | `horizon` | 1 | steps ahead, 1 … 1000 |
/// | `seasons` | found | steps after which things repeat, each 2 … 10000 |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct SeriesSpec {
    /// The numbers that are forecast.
    pub target: String,
    /// When each step is.
    pub time: Option<String>,
    /// How times are written.
    pub time_form: Option<TimeForm>,
    /// Which series a row belongs to.
    pub series: Option<String>,
    /// Columns that are known up to the origin.
    pub past: Vec<String>,
    /// Columns that are known ahead.
    pub known: Vec<String>,
    /// Steps ahead.
    pub horizon: usize,
    /// Steps after which things repeat.
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

    /// Says what is out of range, if something is.
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

    /// All columns that are named.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        let one = [Some(&self.target), self.time.as_ref(), self.series.as_ref()].into_iter().flatten();
        one.chain(&self.past).chain(&self.known).map(String::as_str)
    }

    /// Whether `table` has all of them, for answers about it.
    pub(super) fn check_columns(&self, table: &Table) -> Result<()> {
        let absent: Vec<&str> = self.columns().filter(|name| table.column(name).is_none()).collect();
        if absent.is_empty() { Ok(()) } else { Err(table.blame(Error::options(table.absent(&absent)))) }
    }
}
