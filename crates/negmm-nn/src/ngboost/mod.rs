//! NGBoost: a normal distribution for every row by boosting regression trees along natural gradients
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

// For the tests of this crate.
#[doc(hidden)]
pub use {
    boost::line_search,
    grow::{Grower, Grown},
    histogram::{BINS, Binned, MISSING},
    score::{interval_natural_gradient, interval_value},
};

use crate::callbacks::Callbacks;
use crate::dataset::split::holdout;
use crate::options::{self, Choice, OptionSpec, Options, PATIENCE, SIGMA_MIN, VALIDATION_FRACTION, option_list};
use boost::{Crossed, Sample, boost};
use negmm_dist::math::rng::Rng;
use negmm_dist::{Error, Result, streams};

/// Rows up to which `splits = auto` is exact.
const MOST_EXACT_ROWS: usize = 1000;
/// Levels of splits at most, so that node numbers fit into 16 bits.
const MOST_DEPTH: usize = 12;
/// Targets and weights stay below, so that sums of their squares are finite.
const LARGEST: f64 = 1e100;

/// NGBoost and its settings. Files store some fields by former names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct NgBoost {
    /// Largest number of boosting rounds.
    #[serde(rename = "rounds")]
    pub n_estimators: usize,
    /// Largest depth of a tree.
    #[serde(rename = "depth")]
    pub max_depth: usize,
    /// Shrinkage of each boosting step.
    pub learning_rate: f64,
    /// The proper score that boosting minimises.
    pub score: Score,
    /// Fraction of the rows drawn for each round.
    #[serde(rename = "rows-share")]
    pub subsample: f64,
    /// Fraction of the features drawn for each round.
    #[serde(rename = "columns-share")]
    pub colsample: f64,
    /// Smallest number of rows in a leaf.
    #[serde(rename = "min-leaf")]
    pub min_samples_leaf: usize,
    /// How splits are found.
    pub splits: Splits,
    /// Smallest sd.
    pub sigma_min: f64,
    /// Fraction of the rows held out to choose the number of rounds.
    #[serde(rename = "validation")]
    pub validation_fraction: f64,
    /// Early stopping: rounds without improvement before boosting stops; 0: off.
    pub patience: usize,
    /// Whether all rows are boosted again with the chosen number of rounds.
    pub refit: bool,
}

/// How splits are found.
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
            n_estimators: 2000,
            max_depth: 3,
            learning_rate: 0.01,
            score: Score::Log,
            subsample: 1.0,
            colsample: 1.0,
            min_samples_leaf: 1,
            splits: Splits::Auto,
            sigma_min: 1e-3,
            validation_fraction: 0.2,
            patience: 100,
            refit: true,
        }
    }
}

impl Choice for Score {}
impl Choice for Splits {}

const N_ESTIMATORS: OptionSpec =
    OptionSpec::new("ngboost", "n-estimators", "N", "maximum number of boosting rounds").at_least(1.0).basic();

const MAX_DEPTH: OptionSpec =
    OptionSpec::new("ngboost", "max-depth", "N", "maximum depth of a tree").within(1.0, MOST_DEPTH as f64);

const LEARNING_RATE: OptionSpec =
    OptionSpec::new("Training", "learning-rate", "RATE", "shrinkage of each boosting step")
        .above_up_to(0.0, 1.0)
        .basic();

const SCORE: OptionSpec = OptionSpec::choice(
    "ngboost",
    "score",
    "proper scoring rule that boosting minimises; crps-original: with the metric of the original NGBoost software",
);

const SUBSAMPLE: OptionSpec =
    OptionSpec::new("ngboost", "subsample", "FRACTION", "fraction of the rows drawn for each boosting round")
        .above_up_to(0.0, 1.0);

const COLSAMPLE: OptionSpec =
    OptionSpec::new("ngboost", "colsample", "FRACTION", "fraction of the features drawn for each boosting round")
        .above_up_to(0.0, 1.0);

const MIN_SAMPLES_LEAF: OptionSpec =
    OptionSpec::new("ngboost", "min-samples-leaf", "N", "minimum number of rows in a leaf").at_least(1.0);

const SPLITS: OptionSpec = OptionSpec::choice(
    "ngboost",
    "splits",
    "split finding: exact, or histogram (up to 255 bins per feature); auto: exact up to 1000 rows, histogram above",
);

const REFIT: OptionSpec =
    OptionSpec::choice("ngboost", "refit", "whether to refit to all rows with the chosen number of boosting rounds");

impl Options for NgBoost {
    option_list! {
        n_estimators: N_ESTIMATORS,
        max_depth: MAX_DEPTH,
        learning_rate: LEARNING_RATE,
        score: SCORE,
        subsample: SUBSAMPLE,
        colsample: COLSAMPLE,
        min_samples_leaf: MIN_SAMPLES_LEAF,
        splits: SPLITS,
        sigma_min: SIGMA_MIN,
        validation_fraction: VALIDATION_FRACTION.from_below(0.0, 1.0),
        patience: PATIENCE,
        refit: REFIT,
    }
}

impl NgBoost {
    /// Checks the range of every setting.
    ///
    /// # Errors
    /// When one is out of range.
    pub fn check(&self) -> Result<()> {
        options::check(self)
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
        let (train, held) = holdout(y.len(), self.validation_fraction, &mut Rng::new(seed, streams::VALIDATION));
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
        let settings = Self { n_estimators: chosen.rounds.len(), ..self.clone() };
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
        return Err(Error::data(format!("expected a target below 1e100, found {}", y[row])).at_row(row as u64));
    }
    let Some(weights) = weights else { return Ok(()) };
    if weights.len() != y.len() {
        return Err(Error::data(format!("expected {} weights, found {}", y.len(), weights.len())));
    }
    if let Some(row) = weights.iter().position(|weight| !(*weight >= 0.0 && *weight < LARGEST)) {
        return Err(
            Error::data(format!("expected a weight from 0 to 1e100, found {}", weights[row])).at_row(row as u64)
        );
    }
    if weights.iter().all(|weight| *weight == 0.0) {
        return Err(Error::data("expected a positive weight, found only 0"));
    }
    Ok(())
}
