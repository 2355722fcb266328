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
pub use score::BoostingScore;
pub use tensors::{read_trees, write_trees};
pub use tree::{Node, Tree};

// For the tests of this crate.
#[doc(hidden)]
pub use {
    boost::line_search,
    grow::{Grower, Grown},
    histogram::{BINS, BinnedColumn, MISSING},
    score::{interval_natural_gradient, interval_value},
};

use crate::callbacks::Callbacks;
use crate::dataset::split::holdout;
use crate::options::{self, Choice, OptionSpec, Options, PATIENCE, SIGMA_MIN, VALIDATION_FRACTION, option_list};
use boost::{CrossFitting, Sample, boost};
use negmm_dist::math::rng::Rng;
use negmm_dist::{Error, Result, streams};

/// Rows up to which `splits = auto` is exact.
const MAX_EXACT_ROWS: usize = 1000;
/// Largest depth of trees, so that node numbers fit into 16 bits.
const DEPTH_LIMIT: usize = 12;
/// Bound of targets and weights, so that sums of their squares are finite.
const LARGEST: f64 = 1e100;

/// The settings of NGBoost. Files store some fields by former names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
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
    pub score: BoostingScore,
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
    /// Fraction of the rows validation out to choose the number of rounds.
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
    /// Between neighbouring bins, up to 255 of about equal weight.
    Histogram,
}

impl Default for NgBoost {
    fn default() -> Self {
        Self {
            n_estimators: 2000,
            max_depth: 3,
            learning_rate: 0.01,
            score: BoostingScore::Log,
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

/// Setters.
impl NgBoost {
    /// Sets `n_estimators`.
    #[must_use]
    pub fn n_estimators(self, n_estimators: usize) -> Self {
        Self { n_estimators, ..self }
    }

    /// Sets `max_depth`.
    #[must_use]
    pub fn max_depth(self, max_depth: usize) -> Self {
        Self { max_depth, ..self }
    }

    /// Sets `learning_rate`.
    #[must_use]
    pub fn learning_rate(self, learning_rate: f64) -> Self {
        Self { learning_rate, ..self }
    }

    /// Sets `score`.
    #[must_use]
    pub fn score(self, score: BoostingScore) -> Self {
        Self { score, ..self }
    }

    /// Sets `subsample`.
    #[must_use]
    pub fn subsample(self, subsample: f64) -> Self {
        Self { subsample, ..self }
    }

    /// Sets `colsample`.
    #[must_use]
    pub fn colsample(self, colsample: f64) -> Self {
        Self { colsample, ..self }
    }

    /// Sets `min_samples_leaf`.
    #[must_use]
    pub fn min_samples_leaf(self, min_samples_leaf: usize) -> Self {
        Self { min_samples_leaf, ..self }
    }

    /// Sets `splits`.
    #[must_use]
    pub fn splits(self, splits: Splits) -> Self {
        Self { splits, ..self }
    }

    /// Sets `sigma_min`.
    #[must_use]
    pub fn sigma_min(self, sigma_min: f64) -> Self {
        Self { sigma_min, ..self }
    }

    /// Sets `validation_fraction`.
    #[must_use]
    pub fn validation_fraction(self, validation_fraction: f64) -> Self {
        Self { validation_fraction, ..self }
    }

    /// Sets `patience`.
    #[must_use]
    pub fn patience(self, patience: usize) -> Self {
        Self { patience, ..self }
    }

    /// Sets `refit`.
    #[must_use]
    pub fn refit(self, refit: bool) -> Self {
        Self { refit, ..self }
    }
}

impl Choice for BoostingScore {}
impl Choice for Splits {}

const N_ESTIMATORS: OptionSpec =
    OptionSpec::new("ngboost", "n-estimators", "N", "maximum number of boosting rounds").at_least(1.0).basic();

const MAX_DEPTH: OptionSpec =
    OptionSpec::new("ngboost", "max-depth", "N", "maximum depth of a tree").within(1.0, DEPTH_LIMIT as f64);

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

    /// Trains a model: `columns` are the features, `y` the standardised targets, `weights` the sample weights (not negative).
    ///
    /// The same seed gives the same bits on every machine.
    ///
    /// # Errors
    /// When a setting is out of range, the data are not as described, or the caller asked to stop.
    pub fn fit(
        &self,
        columns: &Columns<'_>,
        y: &[f64],
        weights: Option<&[f64]>,
        seed: u64,
        callbacks: &Callbacks<'_>,
    ) -> Result<Boosted> {
        let (train, validation) = holdout(y.len(), self.validation_fraction, &mut Rng::new(seed, streams::VALIDATION));
        let split = TrainValidation { train: &train, validation: &validation, cross_fitting_split: 0 };
        let targets = Targets { y, intervals: None };
        self.fit_split(columns, targets, weights, split, seed, (0, callbacks)).map(|trained| trained.boosted)
    }

    /// As [`NgBoost::fit`], with given validation rows; also returns their predictions by the model that selected the rounds.
    pub(crate) fn fit_split(
        &self,
        columns: &Columns<'_>,
        Targets { y, intervals }: Targets<'_>,
        weights: Option<&[f64]>,
        TrainValidation { train, validation, cross_fitting_split }: TrainValidation<'_>,
        seed: u64,
        watched: (usize, &Callbacks<'_>),
    ) -> Result<TrainedTrees> {
        self.check()?;
        check_targets(columns, y, weights)?;
        let whole = Sample { columns: columns.clone(), y, intervals, weight: weights };
        // Rows of weight 0 are removed, so that they do not count in bins and subsamples either.
        let counts = |row: &u32| weights.is_none_or(|weights| weights[*row as usize] > 0.0);
        let train: Vec<u32> = train.iter().copied().filter(counts).collect();
        let all: Vec<u32> = (0..y.len() as u32).filter(counts).collect();
        let counted = if all.len() < y.len() { Some(SelectedRows::select(&whole, &all)) } else { None };
        let counted = match &counted {
            Some(rows) => &rows.sample()?,
            None => &whole,
        };
        if validation.is_empty() || train.is_empty() || !validation.iter().any(counts) {
            let boosted = boost(self, counted, None, None, seed, watched)?;
            return Ok(TrainedTrees { boosted, held_out: None });
        }
        let (train, validation) = (SelectedRows::select(&whole, &train), SelectedRows::select(&whole, validation));
        let mut cross_fitting = CrossFitting::new(cross_fitting_split, validation.y.len());
        let chosen = boost(self, &train.sample()?, Some(&validation.sample()?), cross_fitting.as_mut(), seed, watched)?;
        let held_out = Some(match cross_fitting {
            Some(cross_fitting) => cross_fitting.predictions(),
            None => chosen.predict(&validation.sample()?.columns)?,
        });
        if !self.refit || chosen.rounds.is_empty() {
            return Ok(TrainedTrees { boosted: chosen, held_out });
        }
        let settings = Self { n_estimators: chosen.rounds.len(), ..self.clone() };
        let again = boost(&settings, counted, None, None, seed, watched)?;
        Ok(TrainedTrees { boosted: Boosted { history: chosen.history, ..again }, held_out })
    }

    /// Whether splits of this many rows are found by histograms.
    fn bins(&self, rows: usize) -> bool {
        match self.splits {
            Splits::Auto => rows > MAX_EXACT_ROWS,
            Splits::Exact => false,
            Splits::Histogram => true,
        }
    }
}

/// Training rows, and validation rows that select the number of rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrainValidation<'a> {
    pub(crate) train: &'a [u32],
    pub(crate) validation: &'a [u32],
    /// See [`TreesJob`](crate::train::TreesJob).
    pub(crate) cross_fitting_split: usize,
}

/// Targets: the lower and upper ends of `intervals` where they differ, else `y`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Targets<'a> {
    pub(crate) y: &'a [f64],
    pub(crate) intervals: Option<[&'a [f64]; 2]>,
}

/// The result of boosting.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedTrees {
    /// The model.
    pub boosted: Boosted,
    /// Means and sds of the validation rows, predicted without training on them; `None` without validation rows of positive weight.
    pub held_out: Option<(Vec<f64>, Vec<f64>)>,
}

/// A copy of some rows.
struct SelectedRows {
    columns: Vec<Vec<f32>>,
    y: Vec<f64>,
    intervals: Option<[Vec<f64>; 2]>,
    weight: Option<Vec<f64>>,
}

impl SelectedRows {
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
