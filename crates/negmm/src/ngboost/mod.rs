//! Responsible for NGBoost: a normal distribution for every row by boosting regression trees along natural gradients
//! (Duan, Avati, Ding, Thai, Basu, Ng and Schuler, 2020).

mod boost;
mod boosted;
mod columns;
mod exact;
mod grow;
mod histogram;
mod parameters;
mod parts;
mod score;
mod split;
mod tree;

use serde::{Deserialize, Serialize};

pub use boosted::{Boosted, Round, RoundScore};
pub use columns::Columns;
pub use parts::Parts;
pub use score::Score;
pub use tree::{Node, Tree};

use crate::data::split::holdout;
use crate::math::rng::Rng;
use crate::method::option::{out_of_range, parse, parse_word};
use crate::watch::Watch;
use crate::{Error, Result, streams};
use boost::{Sample, boost};

/// Rows up to which `splits = auto` is exact.
const MOST_EXACT_ROWS: usize = 1000;
/// Levels of splits at most, so that node numbers fit into 16 bits.
const MOST_DEPTH: usize = 12;
/// Targets and weights stay below, so that sums of their squares are finite.
const LARGEST: f64 = 1e100;

/// NGBoost and its settings.
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `rounds` | 2000 | ≥ 1 | rounds at most: two trees each |
/// | `depth` | 3 | 1 … 12 | levels of splits in a tree |
/// | `learning_rate` | 0.01 | 0 … 1, not 0 | the part of each step that is taken |
/// | `score` | log | log, crps, crps-original | what boosting lowers, see [`Score`] |
/// | `rows_share` | 1 | 0 … 1, not 0 | the part of the rows that a round learns from |
/// | `columns_share` | 1 | 0 … 1, not 0 | the part of the features that a round may use |
/// | `min_leaf` | 1 | ≥ 1 | rows in a leaf at least |
/// | `splits` | auto | auto, exact, histogram | which splits are tried, see [`Splits`] |
/// | `sigma_min` | 0.001 | > 0 | smallest sd, in sds of the target |
/// | `validation` | 0.2 | 0 … 1, not 1 | the part of the rows that chooses the number of rounds; 0: none |
/// | `patience` | 100 | | rounds without a better validation score before it stops; 0: never stops early |
/// | `refit` | true | | boost all rows again, as many rounds as were best |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct NgBoost {
    /// Rounds at most.
    pub rounds: usize,
    /// Levels of splits in a tree.
    pub depth: usize,
    /// The part of each step that is taken.
    pub learning_rate: f64,
    /// What boosting lowers.
    pub score: Score,
    /// The part of the rows that a round learns from.
    pub rows_share: f64,
    /// The part of the features that a round may use.
    pub columns_share: f64,
    /// Rows in a leaf at least.
    pub min_leaf: usize,
    /// Which splits are tried.
    pub splits: Splits,
    /// Smallest sd.
    pub sigma_min: f64,
    /// The part of the rows that chooses the number of rounds.
    pub validation: f64,
    /// Rounds without a better validation score before it stops.
    pub patience: usize,
    /// Whether all rows are boosted again.
    pub refit: bool,
}

/// Which splits are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Splits {
    /// Exact up to 1000 rows, histogram above: there it is faster, and no worse on the standard splits.
    #[default]
    Auto,
    /// Between any two neighbouring values.
    Exact,
    /// Between neighbouring bins of up to 255, of about as much weight each.
    Histogram,
}

impl Default for NgBoost {
    fn default() -> Self {
        Self {
            rounds: 2000,
            depth: 3,
            learning_rate: 0.01,
            score: Score::Log,
            rows_share: 1.0,
            columns_share: 1.0,
            min_leaf: 1,
            splits: Splits::Auto,
            sigma_min: 1e-3,
            validation: 0.2,
            patience: 100,
            refit: true,
        }
    }
}

impl NgBoost {
    /// Sets one option by its name on the command line; `false` when there is none of that name.
    ///
    /// # Errors
    /// When the value cannot be read.
    pub fn set(&mut self, name: &str, value: &str) -> Result<bool> {
        match name {
            "rounds" => self.rounds = parse(name, value)?,
            "depth" => self.depth = parse(name, value)?,
            "learning-rate" => self.learning_rate = parse(name, value)?,
            "score" => self.score = parse_word(name, value, "log, crps, crps-original")?,
            "rows-share" => self.rows_share = parse(name, value)?,
            "columns-share" => self.columns_share = parse(name, value)?,
            "min-leaf" => self.min_leaf = parse(name, value)?,
            "splits" => self.splits = parse_word(name, value, "auto, exact, histogram")?,
            "sigma-min" => self.sigma_min = parse(name, value)?,
            "validation" => self.validation = parse(name, value)?,
            "patience" => self.patience = parse(name, value)?,
            "refit" => self.refit = parse_truth(name, value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Says which setting is out of range, if one is.
    ///
    /// # Errors
    /// When one is.
    pub fn check(&self) -> Result<()> {
        let share = |name, share: f64| {
            if share > 0.0 && share <= 1.0 { Ok(()) } else { Err(out_of_range(name, "above 0 and at most 1", share)) }
        };
        if self.rounds == 0 {
            return Err(out_of_range("rounds", "at least 1", self.rounds));
        }
        if !(1..=MOST_DEPTH).contains(&self.depth) {
            return Err(out_of_range("depth", "from 1 to 12", self.depth));
        }
        share("learning-rate", self.learning_rate)?;
        share("rows-share", self.rows_share)?;
        share("columns-share", self.columns_share)?;
        if self.min_leaf == 0 {
            return Err(out_of_range("min-leaf", "at least 1", self.min_leaf));
        }
        if !(self.sigma_min >= 1e-6 && self.sigma_min <= 1e6) {
            return Err(out_of_range("sigma-min", "from 1e-6 to 1e6", self.sigma_min));
        }
        if !(0.0..1.0).contains(&self.validation) {
            return Err(out_of_range("validation", "at least 0 and less than 1", self.validation));
        }
        Ok(())
    }

    /// Boosts: `columns` are the features, `y` the standardised targets, `weights` (not negative) say how often a row counts.
    ///
    /// The same seed gives the same bits, on every machine.
    ///
    /// # Errors
    /// When a setting is out of range, the data are not as described, or the caller asked to stop.
    pub fn fit(
        &self,
        columns: &Columns<'_>,
        y: &[f64],
        weights: Option<&[f64]>,
        seed: u64,
        watch: &Watch<'_>,
    ) -> Result<Boosted> {
        let (train, held) = holdout(y.len(), self.validation, &mut Rng::new(seed, streams::VALIDATION));
        self.fit_split(columns, y, weights, (&train, &held), seed, (0, watch)).map(|trained| trained.boosted)
    }

    /// As [`NgBoost::fit`], with the validation rows given; also says what the model that chose the rounds predicts for them.
    pub(crate) fn fit_split(
        &self,
        columns: &Columns<'_>,
        y: &[f64],
        weights: Option<&[f64]>,
        (train, held): (&[u32], &[u32]),
        seed: u64,
        watched: (usize, &Watch<'_>),
    ) -> Result<TrainedTrees> {
        self.check()?;
        check_targets(columns, y, weights)?;
        let whole = Sample { columns: columns.clone(), y, weight: weights };
        // A row of weight 0 is not there: it is no row of a bin or of a drawn share either.
        let counts = |row: &u32| weights.is_none_or(|weights| weights[*row as usize] > 0.0);
        let train: Vec<u32> = train.iter().copied().filter(counts).collect();
        let all: Vec<u32> = (0..y.len() as u32).filter(counts).collect();
        let counted = if all.len() < y.len() { Some(Owned::select(&whole, &all)) } else { None };
        let counted = match &counted {
            Some(rows) => &rows.sample()?,
            None => &whole,
        };
        if held.is_empty() || train.is_empty() || !held.iter().any(counts) {
            let boosted = boost(self, counted, None, seed, watched)?;
            return Ok(TrainedTrees { boosted, held_out: None });
        }
        let (train, held) = (Owned::select(&whole, &train), Owned::select(&whole, held));
        let chosen = boost(self, &train.sample()?, Some(&held.sample()?), seed, watched)?;
        let held_out = Some(chosen.predict(&held.sample()?.columns)?);
        if !self.refit || chosen.rounds.is_empty() {
            return Ok(TrainedTrees { boosted: chosen, held_out });
        }
        let settings = Self { rounds: chosen.rounds.len(), ..self.clone() };
        let again = boost(&settings, counted, None, seed, watched)?;
        Ok(TrainedTrees { boosted: Boosted { history: chosen.history, ..again }, held_out })
    }

    /// Whether so many rows are put into bins.
    fn bins(&self, rows: usize) -> bool {
        match self.splits {
            Splits::Auto => rows > MOST_EXACT_ROWS,
            Splits::Exact => false,
            Splits::Histogram => true,
        }
    }
}

/// What boosting leaves behind.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedTrees {
    /// The model.
    pub boosted: Boosted,
    /// Means and sds of the validation rows by the model that has not seen them; `None` where no such row counts.
    pub held_out: Option<(Vec<f64>, Vec<f64>)>,
}

/// A copy of some rows.
struct Owned {
    columns: Vec<Vec<f32>>,
    y: Vec<f64>,
    weight: Option<Vec<f64>>,
}

impl Owned {
    fn select(whole: &Sample<'_>, rows: &[u32]) -> Self {
        let pick = |list: &[f64]| rows.iter().map(|&row| list[row as usize]).collect();
        Self { columns: whole.columns.select(rows), y: pick(whole.y), weight: whole.weight.map(pick) }
    }

    fn sample(&self) -> Result<Sample<'_>> {
        let columns = Columns::new(&self.columns, self.y.len())?;
        Ok(Sample { columns, y: &self.y, weight: self.weight.as_deref() })
    }
}

fn check_targets(columns: &Columns<'_>, y: &[f64], weights: Option<&[f64]>) -> Result<()> {
    if y.is_empty() || y.len() != columns.rows() {
        return Err(Error::data(format!(
            "expected a target for each of at least 1 row, found {} targets and {} rows",
            y.len(),
            columns.rows()
        )));
    }
    if let Some(row) = y.iter().position(|y| y.is_nan() || y.abs() >= LARGEST) {
        return Err(Error::data(format!("expected a target below 1e100 in row {row}, found {}", y[row])));
    }
    let Some(weights) = weights else { return Ok(()) };
    if weights.len() != y.len() {
        return Err(Error::data(format!("expected {} weights, found {}", y.len(), weights.len())));
    }
    if let Some(row) = weights.iter().position(|weight| !(*weight >= 0.0 && *weight < LARGEST)) {
        return Err(Error::data(format!("expected a weight from 0 to 1e100 in row {row}, found {}", weights[row])));
    }
    if weights.iter().all(|weight| *weight == 0.0) {
        return Err(Error::data("expected a positive weight, found only 0"));
    }
    Ok(())
}

fn parse_truth(name: &str, value: &str) -> Result<bool> {
    value.trim().parse().map_err(|_| Error::options(format!("{name} must be true or false, found {value:?}")))
}
