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
mod tensors;
mod tree;

use serde::{Deserialize, Serialize};

pub use boosted::{Boosted, Round, RoundScore};
pub use columns::Columns;
pub use parts::Parts;
pub use score::Score;
pub use tensors::{read_trees, write_trees};
pub use tree::{Node, Tree};

use crate::dataset::split::holdout;
use crate::options::{self, Options, PATIENCE, SIGMA_MIN, Slot, Spec, VALIDATION, Word};
use crate::watch::Callbacks;
use boost::{Crossed, Sample, boost};
use negmm_dist::math::rng::Rng;
use negmm_dist::{Error, Result, streams};

/// Rows up to which `splits = auto` is exact.
const MOST_EXACT_ROWS: usize = 1000;
/// Levels of splits at most, so that node numbers fit into 16 bits.
const MOST_DEPTH: usize = 12;
/// Targets and weights stay below, so that sums of their squares are finite.
const LARGEST: f64 = 1e100;

/// NGBoost and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
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

impl Word for Score {}
impl Word for Splits {}

impl Options for NgBoost {
    fn each(&mut self, see: &mut dyn FnMut(&Spec, &mut dyn Slot)) {
        see(
            &Spec::new("ngboost", "rounds", "N", "rounds of boosting, at most").at_least(1.0).basic(),
            &mut self.rounds,
        );
        see(
            &Spec::new("ngboost", "depth", "N", "levels of splits in a tree").within(1.0, MOST_DEPTH as f64),
            &mut self.depth,
        );
        see(
            &Spec::new("Training", "learning-rate", "RATE", "part of each boosting step that is taken")
                .above_up_to(0.0, 1.0)
                .basic(),
            &mut self.learning_rate,
        );
        see(&Spec::word("ngboost", "score", "score that boosting lowers"), &mut self.score);
        see(
            &Spec::new("ngboost", "rows-share", "SHARE", "subsampling: share of the rows that a round learns from")
                .above_up_to(0.0, 1.0),
            &mut self.rows_share,
        );
        see(
            &Spec::new(
                "ngboost",
                "columns-share",
                "SHARE",
                "column sampling: share of the features that a round may use",
            )
            .above_up_to(0.0, 1.0),
            &mut self.columns_share,
        );
        see(&Spec::new("ngboost", "min-leaf", "N", "rows in a leaf, at least").at_least(1.0), &mut self.min_leaf);
        see(
            &Spec::word("ngboost", "splits", "which splits are tried; auto: exact up to 1000 rows, histogram above"),
            &mut self.splits,
        );
        see(&SIGMA_MIN, &mut self.sigma_min);
        see(&VALIDATION.from_below(0.0, 1.0), &mut self.validation);
        see(&PATIENCE, &mut self.patience);
        see(
            &Spec::word("ngboost", "refit", "whether all rows are boosted again with the best number of rounds"),
            &mut self.refit,
        );
    }
}

impl NgBoost {
    /// Says which setting is out of range, if one is.
    ///
    /// # Errors
    /// When one is.
    pub fn check(&self) -> Result<()> {
        Ok(options::check(&mut self.clone())?)
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
        watch: &Callbacks<'_>,
    ) -> Result<Boosted> {
        let (train, held) = holdout(y.len(), self.validation, &mut Rng::new(seed, streams::VALIDATION));
        let division = Division { train: &train, held: &held, halves: 0 };
        let targets = Targets { y, intervals: None };
        self.fit_split(columns, targets, weights, division, seed, (0, watch)).map(|trained| trained.boosted)
    }

    /// As [`NgBoost::fit`], with the validation rows given; also says what the model that chose the rounds predicts for them.
    pub(crate) fn fit_split(
        &self,
        columns: &Columns<'_>,
        Targets { y, intervals }: Targets<'_>,
        weights: Option<&[f64]>,
        Division { train, held, halves }: Division<'_>,
        seed: u64,
        watched: (usize, &Callbacks<'_>),
    ) -> Result<TrainedTrees> {
        self.check()?;
        check_targets(columns, y, weights)?;
        let whole = Sample { columns: columns.clone(), y, intervals, weight: weights };
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
            let boosted = boost(self, counted, None, None, seed, watched)?;
            return Ok(TrainedTrees { boosted, held_out: None });
        }
        let (train, held) = (Owned::select(&whole, &train), Owned::select(&whole, held));
        let mut crossed = Crossed::new(halves, held.y.len());
        let chosen = boost(self, &train.sample()?, Some(&held.sample()?), crossed.as_mut(), seed, watched)?;
        let held_out = Some(match crossed {
            Some(crossed) => crossed.predictions(),
            None => chosen.predict(&held.sample()?.columns)?,
        });
        if !self.refit || chosen.rounds.is_empty() {
            return Ok(TrainedTrees { boosted: chosen, held_out });
        }
        let settings = Self { rounds: chosen.rounds.len(), ..self.clone() };
        let again = boost(&settings, counted, None, None, seed, watched)?;
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

/// Which rows boosting learns from, and which choose the number of rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Division<'a> {
    pub(crate) train: &'a [u32],
    pub(crate) held: &'a [u32],
    /// Where the second half of `held` begins, where each is to be predicted with the rounds that the other chose; 0: nowhere.
    pub(crate) halves: usize,
}

/// What is known of targets: the lower and upper ends of `intervals` where they differ, else `y`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Targets<'a> {
    pub(crate) y: &'a [f64],
    pub(crate) intervals: Option<[&'a [f64]; 2]>,
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
    intervals: Option<[Vec<f64>; 2]>,
    weight: Option<Vec<f64>>,
}

impl Owned {
    fn select(whole: &Sample<'_>, rows: &[u32]) -> Self {
        let pick = |list: &[f64]| rows.iter().map(|&row| list[row as usize]).collect();
        let intervals = whole.intervals.map(|ends| ends.map(pick));
        Self { columns: whole.columns.select(rows), y: pick(whole.y), intervals, weight: whole.weight.map(pick) }
    }

    fn sample(&self) -> Result<Sample<'_>> {
        let columns = Columns::new(&self.columns, self.y.len())?;
        let intervals = self.intervals.as_ref().map(|[lower, upper]| [&lower[..], &upper[..]]);
        Ok(Sample { columns, y: &self.y, intervals, weight: self.weight.as_deref() })
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
