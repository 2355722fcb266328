//! Cross-validation of several methods on one table: the same splits for all, their scores, and paired tests.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::model::{EncodedTable, EncodingCache, FitPlan, PreprocessingConfig};
use crate::{Method, Model};
use negmm_data::{ColumnRoles, Encoder, Table};
use negmm_dist::math::rng::Rng;
use negmm_dist::{Error, Metrics, Result, streams};
use negmm_nn::dataset::split::{blocks, grouped_folds, holdout, k_folds};
use negmm_nn::train::{Callbacks, Engine, JobGroup, JobGroups};

/// Rows to learn from and rows to score on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Rows to learn from.
    pub train: Vec<usize>,
    /// Rows to score on.
    pub test: Vec<usize>,
}

impl Split {
    /// All other rows are to learn from.
    pub fn with_test(rows: usize, test: Vec<usize>) -> Self {
        let mut is_test = vec![false; rows];
        test.iter().for_each(|row| is_test[*row] = true);
        Self { train: (0..rows).filter(|row| !is_test[*row]).collect(), test }
    }

    /// Each of these parts of so many rows is scored once.
    fn of_parts(rows: usize, parts: Vec<Vec<u32>>) -> Vec<Self> {
        let split = |part: Vec<u32>| Self::with_test(rows, part.into_iter().map(|row| row as usize).collect());
        parts.into_iter().map(split).collect()
    }

    /// Each row is scored once, in one of `folds` parts.
    pub fn folds(rows: usize, folds: usize, seed: u64) -> Result<Vec<Self>> {
        if folds < 2 || folds > rows {
            return Err(Error::option(
                "folds",
                format!("must be from 2 to the number of rows ({rows}), found {folds}"),
            ));
        }
        let parts = k_folds(rows, folds, &mut Rng::new(seed, streams::SPLITS));
        Ok(Self::of_parts(rows, parts))
    }

    /// As [`Split::folds`], with rows that have the same number in `groups` in one part.
    ///
    /// # Errors
    /// When there are fewer groups than parts.
    pub fn grouped_folds(groups: &[u32], folds: usize, seed: u64) -> Result<Vec<Self>> {
        let rows = groups.len();
        let count = groups.iter().collect::<HashSet<_>>().len();
        if folds < 2 || folds > count {
            return Err(Error::option(
                "folds",
                format!("must be from 2 to the number of groups ({count}), found {folds}"),
            ));
        }
        let parts = grouped_folds(groups, folds, &mut Rng::new(seed, streams::SPLITS));
        Ok(Self::of_parts(rows, parts))
    }

    /// For rows in the order of time: cuts them into `folds` + 1 blocks; each block but the first is scored by models that
    /// learnt from all blocks before it, so nothing looks into the future.
    pub fn expanding(rows: usize, folds: usize) -> Result<Vec<Self>> {
        if folds == 0 || folds >= rows {
            return Err(Error::option("folds", format!("must be from 1 to the rows ({rows}) but one, found {folds}")));
        }
        let fold = |block: Range<usize>| Self { train: (0..block.start).collect(), test: block.collect() };
        Ok(blocks(rows, folds + 1).into_iter().skip(1).map(fold).collect())
    }

    /// `repeats` times another random share of the rows is scored.
    pub fn repeats(rows: usize, repeats: usize, share: f64, seed: u64) -> Result<Vec<Self>> {
        if repeats == 0 || !(share > 0.0 && share < 1.0) || rows < 2 {
            return Err(Error::option(
                "repeats",
                "must be at least 1, with a test share between 0 and 1 of 2 rows or more",
            ));
        }
        let draw = |repeat: usize| {
            let (_, test) = holdout(rows, share, &mut Rng::new(seed, streams::REPEATS + repeat as u64));
            Self::with_test(rows, test.into_iter().map(|row| row as usize).collect())
        };
        Ok((0..repeats).map(draw).collect())
    }
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Root mean squared error of the mean.
    Rmse,
    /// Logarithmic score.
    Nll,
    /// Logarithmic score of the probability within half a step, for a discrete target.
    MassNll,
    /// Energy score.
    Crps,
    /// Integrated Brier score, where targets may be censored.
    IntegratedBrier,
    /// Concordance index of the medians, where targets may be censored.
    Concordance,
    /// Share of targets inside the 95 % interval.
    Coverage,
    /// Mean width of the 95 % interval.
    Width,
    /// Of one fit, on one core beside others.
    Seconds,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Rmse,
        Self::Nll,
        Self::MassNll,
        Self::Crps,
        Self::IntegratedBrier,
        Self::Concordance,
        Self::Coverage,
        Self::Width,
        Self::Seconds,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rmse => "rmse",
            Self::Nll => "nll",
            Self::MassNll => "mass_nll",
            Self::Crps => "crps",
            Self::IntegratedBrier => "integrated_brier",
            Self::Concordance => "concordance",
            Self::Coverage => "picp",
            Self::Width => "mpiw",
            Self::Seconds => "seconds",
        }
    }

    /// Whether less is better by itself; coverage and width mean something only together, and of a concordance more is better.
    pub fn less_is_better(self) -> bool {
        !matches!(self, Self::Coverage | Self::Width | Self::Concordance)
    }

    /// Whether it says something of rows that were scored so: of a target that may be censored only what all rows have a part in.
    fn is_of(self, metrics: &Metrics) -> bool {
        let censored = metrics.censored.as_ref();
        match self {
            Self::Nll | Self::Seconds => true,
            Self::MassNll => metrics.mass_nll.is_some(),
            Self::IntegratedBrier => censored.is_some_and(|censored| censored.integrated_brier.is_some()),
            Self::Concordance => censored.is_some_and(|censored| censored.concordance.is_some()),
            Self::Rmse | Self::Crps | Self::Coverage | Self::Width => censored.is_none(),
        }
    }
}

/// One method on one split.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Scores of the test rows.
    pub metrics: Metrics,
    /// What the fit took.
    pub seconds: f64,
}

impl Score {
    /// One of its numbers, the NLL of all rows also where some targets are censored; NaN where the target has no such score.
    pub fn get(&self, metric: Metric) -> f64 {
        let censored = self.metrics.censored.as_ref();
        match metric {
            _ if !metric.is_of(&self.metrics) => f64::NAN,
            Metric::Rmse => self.metrics.rmse,
            Metric::Nll => censored.map_or(self.metrics.nll, |censored| censored.nll),
            Metric::IntegratedBrier => censored.and_then(|censored| censored.integrated_brier).unwrap_or(f64::NAN),
            Metric::Concordance => censored.and_then(|censored| censored.concordance).unwrap_or(f64::NAN),
            Metric::MassNll => self.metrics.mass_nll.unwrap_or(f64::NAN),
            Metric::Crps => self.metrics.crps,
            Metric::Coverage => self.metrics.coverage["0.95"],
            Metric::Width => self.metrics.width["0.95"],
            Metric::Seconds => self.seconds,
        }
    }
}

/// Mean and spread over splits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Mean.
    pub mean: f64,
    /// Standard deviation (divided by n - 1; 0 for one split).
    pub sd: f64,
    /// Standard error: sd / sqrt(n). Splits overlap, so it is a little too small.
    pub se: f64,
    /// Splits.
    pub repeats: usize,
}

impl Summary {
    /// Of these numbers.
    pub fn of(numbers: &[f64]) -> Self {
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let squares: f64 = numbers.iter().map(|number| (number - mean) * (number - mean)).sum();
        let sd = (squares / (count - 1.0).max(1.0)).sqrt();
        Self { mean, sd, se: sd / count.sqrt(), repeats: numbers.len() }
    }
}

/// All methods on all splits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// For each method its score on each split.
    pub scores: Vec<Vec<Score>>,
}

impl Comparison {
    /// What there is to compare: the metrics that every fit has, the mass NLL only of a discrete target, of one that may be censored
    /// those of all rows.
    pub fn metrics(&self) -> Vec<Metric> {
        let there = |metric: &Metric| self.scores.iter().flatten().all(|score| metric.is_of(&score.metrics));
        Metric::ALL.into_iter().filter(there).collect()
    }

    /// Mean and spread of one method's metric.
    pub fn summary(&self, method: usize, metric: Metric) -> Summary {
        Summary::of(&self.numbers(method, metric))
    }

    /// The method with the smallest mean, if its paired difference to every other is beyond two standard errors.
    pub fn best(&self, metric: Metric) -> Option<usize> {
        let mean = |method: usize| self.summary(method, metric).mean;
        let best = (0..self.scores.len()).min_by(|a, b| mean(*a).total_cmp(&mean(*b)))?;
        let ahead = |other: usize| {
            let pairs = self.numbers(other, metric).into_iter().zip(self.numbers(best, metric));
            let difference = Summary::of(&pairs.map(|(other, best)| other - best).collect::<Vec<_>>());
            difference.repeats > 1 && difference.mean > 2.0 * difference.se
        };
        let others = (0..self.scores.len()).filter(|other| *other != best);
        (metric.less_is_better() && self.scores.len() > 1 && others.into_iter().all(ahead)).then_some(best)
    }

    fn numbers(&self, method: usize, metric: Metric) -> Vec<f64> {
        self.scores[method].iter().map(|score| score.get(metric)).collect()
    }
}

/// What a comparison may be told.
#[derive(Clone, Copy)]
pub struct CompareOptions<'a> {
    /// Starts all random choices of split `s` at `seed` + s.
    pub seed: u64,
    /// Which columns are inputs.
    pub inputs: &'a ColumnRoles,
    /// What trains.
    pub engine: &'a dyn Engine,
    /// How the caller follows the trainings and stops them.
    pub watch: Callbacks<'a>,
    /// Called after every fit.
    pub fitted: &'a (dyn Fn() + Sync),
}

/// What is to be predicted, from what, and how it is scored: the same for every split and every method.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    table: &'a Table,
    target: &'a str,
    inputs: &'a ColumnRoles,
    /// The step of a discrete target, recognised from all rows, so that every split is scored alike.
    grid: Option<f64>,
    preparations: Arc<EncodingCache>,
}

impl<'a> Task<'a> {
    /// Predicting `target`.
    ///
    /// # Errors
    /// When a column is not there, or is not as it must be.
    pub fn new(table: &'a Table, target: &'a str, inputs: &'a ColumnRoles) -> Result<Self> {
        let encoder = Encoder::fit(table, target, inputs)?;
        encoder.targets(table)?;
        Ok(Self { table, target, inputs, grid: encoder.target().grid, preparations: Arc::default() })
    }

    /// Fitting a method on a split's training rows and scoring it on the test rows.
    ///
    /// Of a sequence the windows of the first test rows reach back into the rows before them.
    ///
    /// # Errors
    /// When the data or the method's settings are at fault.
    pub fn undertake(&self, method: &Method, split: &Split, seed: u64) -> Result<JobGroup<'a, (Score, Model)>> {
        let (task, test) = (self.clone(), split.test.clone());
        let Self { table, target, inputs, .. } = *self;
        let plan = FitPlan::of(table, method, seed, || {
            let manner = PreprocessingConfig::of(method, inputs);
            let prepare = || EncodedTable::new(&table.select_rows(&split.train), target, inputs, manner);
            self.preparations.find(&split.train, manner, prepare)
        })?;
        let jobs = plan.jobs();
        let finish = move |trained, before: f64| {
            let start = Instant::now();
            let model = plan.finish(trained)?.model;
            let seconds = before + start.elapsed().as_secs_f64();
            let metrics = task.metrics(&model, &test)?;
            Ok((Score { metrics, seconds }, model))
        };
        Ok(JobGroup { jobs, finish: Box::new(finish) })
    }

    fn metrics(&self, model: &Model, test: &[usize]) -> Result<Metrics> {
        let before = test.first().map(|first| model.encoder().predicted_rows(self.table.rows()).before(*first));
        let rows: Vec<usize> = before.into_iter().flatten().chain(test.iter().copied()).collect();
        let test = self.table.select_rows(&rows);
        let weights = model.encoder().sample_weights(&test, self.inputs.weight.as_deref())?;
        let (predictions, _) = model.predict_known(&test)?;
        match model.encoder().known(&test)? {
            Some(known) => Metrics::of_known(&predictions, &known, weights.as_deref(), self.grid),
            None => Metrics::weighted(&predictions, &model.encoder().targets(&test)?, weights.as_deref(), self.grid),
        }
    }
}

/// Fits every method on every split, all their jobs in one queue of the engine, and scores it on the split's test rows.
///
/// For a sequence the splits are those of [`Split::expanding`].
///
/// # Errors
/// When the data are at fault, a fit fails, or the caller asks to stop.
pub fn compare(
    table: &Table,
    target: &str,
    methods: &[Method],
    splits: &[Split],
    options: &CompareOptions<'_>,
) -> Result<Comparison> {
    let task = Task::new(table, target, options.inputs)?;
    let pairs: Vec<(usize, usize)> =
        (0..splits.len()).flat_map(|split| (0..methods.len()).map(move |method| (method, split))).collect();
    let scores: Vec<Mutex<Option<Result<Score>>>> = pairs.iter().map(|_| Mutex::default()).collect();
    let begin = |pair: usize| {
        let (method, split) = pairs[pair];
        let seed = options.seed.wrapping_add(split as u64);
        Ok(task.undertake(&methods[method], &splits[split], seed)?.map(|scored| scored.map(|(score, _)| score)))
    };
    let ended = |pair: usize, score: Result<Score>, _: f64| {
        *scores[pair].lock().unwrap_or_else(PoisonError::into_inner) = Some(score);
        (options.fitted)();
        true
    };
    JobGroups { count: pairs.len(), begin: &begin, ended: &ended }.run(options.engine, &options.watch);
    options.watch.check_cancelled()?;
    let mut of_methods = vec![Vec::with_capacity(splits.len()); methods.len()];
    for ((method, _), score) in pairs.iter().zip(scores) {
        let score = score.into_inner().unwrap_or_else(PoisonError::into_inner);
        of_methods[*method].push(score.unwrap_or_else(|| Err(Error::cancelled()))?);
    }
    Ok(Comparison { scores: of_methods })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Toy;
    use negmm_nn::train::CpuEngine;

    #[test]
    fn folds_score_every_row_once() {
        let splits = Split::folds(23, 5, 1).unwrap();
        let mut rows: Vec<usize> = splits.iter().flat_map(|split| split.test.clone()).collect();
        rows.sort_unstable();
        assert_eq!(rows, (0..23).collect::<Vec<_>>());
        assert!(splits.iter().all(|split| split.train.len() + split.test.len() == 23));
        assert!(Split::folds(3, 4, 1).is_err() && Split::repeats(9, 0, 0.1, 1).is_err());
        let groups: Vec<u32> = (0..23).map(|row| row / 3).collect();
        for split in Split::grouped_folds(&groups, 4, 1).unwrap() {
            assert!(split.train.iter().all(|row| split.test.iter().all(|test| groups[*row] != groups[*test])));
        }
        assert!(Split::grouped_folds(&groups, 9, 1).is_err());
    }

    #[test]
    fn expanding_folds_learn_from_the_past_alone() {
        let splits = Split::expanding(10, 3).unwrap();
        assert_eq!(splits.len(), 3);
        assert_eq!(splits[0], Split { train: vec![0, 1], test: vec![2, 3, 4] });
        assert!(splits.iter().all(|split| split.train.len() == split.test[0]));
        let scored: Vec<usize> = splits.into_iter().flat_map(|split| split.test).collect();
        assert_eq!(scored, (2..10).collect::<Vec<_>>());
        assert!(Split::expanding(10, 0).is_err() && Split::expanding(3, 3).is_err());
    }

    #[test]
    fn the_best_is_marked_only_when_it_is_clear() {
        let score = |nll: f64| {
            let mut metrics = blank_metrics();
            metrics.nll = nll;
            Score { metrics, seconds: 1.0 }
        };
        let comparison =
            |lists: [[f64; 3]; 2]| Comparison { scores: lists.map(|list| list.map(score).to_vec()).to_vec() };
        assert_eq!(comparison([[1.0, 2.0, 3.0], [1.5, 2.4, 3.6]]).best(Metric::Nll), Some(0));
        assert_eq!(comparison([[1.0, 2.0, 3.0], [1.5, 1.4, 3.2]]).best(Metric::Nll), None);
        assert_eq!(comparison([[1.0; 3]; 2]).best(Metric::Coverage), None);
    }

    fn blank_metrics() -> Metrics {
        let table = Toy::Bimodal.sample(2, &mut Rng::new(1, 0));
        let model = crate::fit(&table, "y", &Method::by_name("constant").unwrap()).unwrap();
        Metrics::of(&model.predict(&table).unwrap(), &[0.0, 1.0]).unwrap()
    }

    #[test]
    fn scores_do_not_depend_on_threads() {
        let table = Toy::Bimodal.sample(120, &mut Rng::new(1, 0));
        let mut method = Method::by_name("ne-gmm").unwrap();
        method.set("epochs", "20").unwrap();
        let methods = [method, Method::by_name("constant").unwrap()];
        let splits = Split::folds(120, 4, 7).unwrap();
        let inputs = ColumnRoles::default();
        let run = |threads| {
            let engine = CpuEngine::new(threads);
            let options = CompareOptions {
                seed: 3,
                inputs: &inputs,
                engine: &engine,
                watch: Callbacks::nothing(),
                fitted: &|| {},
            };
            compare(&table, "y", &methods, &splits, &options).unwrap()
        };
        let (one, two) = (run(1), run(2));
        for (a, b) in one.scores.iter().flatten().zip(two.scores.iter().flatten()) {
            assert_eq!(a.metrics, b.metrics);
        }
        assert!(one.summary(0, Metric::Crps).mean < one.summary(1, Metric::Crps).mean);
    }
}
