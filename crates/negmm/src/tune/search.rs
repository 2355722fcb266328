//! The search: configurations on splits of a table, rung by rung, and their ranking.

use serde_json::{Map, Value, json};

use super::rungs::{Rung, halving, single};
use super::{Configuration, Journal, RunOptions, Space, Trial, run};
use crate::Method;
use crate::compare::{JointTask, Metric, Score, Split, Summary, Task};
use negmm_data::{Column, ColumnRoles, Table};
use negmm_dist::math::rng::Rng;
use negmm_dist::{Error, ErrorKind, Result, streams};
use negmm_nn::train::JobGroup;

/// Metrics of a trial in the journal.
const SCORES: [Metric; 5] = [Metric::Nll, Metric::Crps, Metric::Rmse, Metric::Coverage, Metric::Width];
/// The same for possibly censored targets; the last two are optional.
const CENSORED_SCORES: [Metric; 3] = [Metric::Nll, Metric::IntegratedBrier, Metric::Concordance];

/// The search strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// Grid search: all combinations.
    Grid,
    /// Random search.
    Random {
        /// Number of distinct configurations.
        draws: usize,
    },
    /// Successive halving: many configurations on few rows, the best 1 / factor of them on factor times as many,
    /// until all rows are used.
    Halving {
        /// Number of distinct configurations at the start; `None`: all combinations.
        draws: Option<usize>,
        /// Reduction factor: each rung has this many times fewer configurations and more rows.
        factor: usize,
    },
}

/// The same for several targets.
const JOINT_SCORES: [Metric; 5] =
    [Metric::Energy, Metric::Nll, Metric::CrpsOfSum, Metric::Variogram, Metric::RegionCoverage];

/// A search.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Search<'a> {
    /// The data.
    pub table: &'a Table,
    /// The column to predict.
    pub target: &'a str,
    /// The columns that are predicted together, in place of `target`; empty for one target.
    pub targets: &'a [&'a str],
    /// Which columns are inputs.
    pub inputs: &'a ColumnRoles,
    /// The search space.
    pub space: &'a Space,
    /// The search strategy.
    pub strategy: Strategy,
    /// Training and validation rows; every configuration uses all splits.
    pub splits: &'a [Split],
    /// The metric to minimise.
    pub by: Metric,
    /// Seed of all random choices.
    pub seed: u64,
}

impl<'a> Search<'a> {
    /// A grid search for the best CRPS, with seed 0.
    pub fn new(
        table: &'a Table,
        target: &'a str,
        inputs: &'a ColumnRoles,
        space: &'a Space,
        splits: &'a [Split],
    ) -> Self {
        Self { table, target, targets: &[], inputs, space, strategy: Strategy::Grid, splits, by: Metric::Crps, seed: 0 }
    }

    /// Predicts these targets together; chooses by their energy score.
    #[must_use]
    pub fn targets(self, targets: &'a [&'a str]) -> Self {
        Self { targets, by: Metric::Energy, ..self }
    }

    /// Sets `strategy`.
    #[must_use]
    pub fn strategy(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }

    /// Sets `by`.
    #[must_use]
    pub fn by(self, by: Metric) -> Self {
        Self { by, ..self }
    }

    /// Sets `seed`.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}

/// The summary of one metric over the splits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricSummary {
    /// The metric.
    pub metric: Metric,
    /// Its mean and spread.
    pub summary: Summary,
}

/// A configuration and its scores.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Candidate {
    /// The configuration.
    pub configuration: Configuration,
    /// Fraction of the training rows of its last rung: below 1 where successive halving dropped it.
    pub fraction: f64,
    /// Mean and standard deviation of each metric over the splits; empty where it failed.
    pub scores: Vec<MetricSummary>,
    /// The error, where it failed.
    pub failed: Option<String>,
}

impl Candidate {
    /// One of its scores.
    pub fn score(&self, metric: Metric) -> Option<Summary> {
        self.scores.iter().find(|score| score.metric == metric).map(|score| score.summary)
    }
}

/// One fit.
struct Fit {
    configuration: usize,
    split: usize,
    fraction: f64,
}

impl Search<'_> {
    /// The scores of a trial.
    pub fn scores(&self) -> &'static [Metric] {
        match () {
            () if !self.targets.is_empty() => &JOINT_SCORES,
            () if self.inputs.target_spec.is_censored() => &CENSORED_SCORES,
            () => &SCORES,
        }
    }

    /// The metrics that can be minimised.
    fn choosers(&self) -> &'static [Metric] {
        if self.targets.is_empty() { choosers(self.inputs) } else { joint_choosers() }
    }

    /// Everything that results depend on beside the trials' names.
    pub fn plan(&self) -> Map<String, Value> {
        let mut plan = Map::new();
        let mut add = |name: &str, value: Value| plan.insert(name.into(), value);
        add("data", json!({ "rows": self.table.rows(), "fingerprint": fingerprint(self.table) }));
        match self.targets {
            [] => add("target", json!(self.target)),
            targets => add("targets", json!(targets)),
        };
        add("inputs", json!(self.inputs));
        add("grid", self.space.describe());
        // The metric decides which trials there are only where some configurations are dropped.
        let search = match self.strategy {
            Strategy::Grid => json!("grid"),
            Strategy::Random { draws } => json!({ "random": draws }),
            Strategy::Halving { draws, factor } => {
                json!({ "halving": { "draws": draws, "factor": factor, "by": self.by.name() } })
            }
        };
        add("search", search);
        let rows = self.splits.iter().flat_map(|split| split.test.iter().map(|row| *row as u64).chain([u64::MAX]));
        add("validation", json!({ "splits": self.splits.len(), "fingerprint": text(rows.fold(FNV_START, fnv)) }));
        add("seed", json!(self.seed));
        plan
    }

    /// Runs all trials that the journal lacks, and ranks the configurations, best first. `None` when trials of other
    /// shards are missing.
    ///
    /// # Errors
    /// When the journal cannot be written, the data are invalid, or no configuration could be fitted.
    pub fn run(&self, journal: &mut Journal, options: &RunOptions<'_>) -> Result<Option<Vec<Candidate>>> {
        if self.splits.is_empty() || !self.choosers().contains(&self.by) {
            let names: Vec<&str> = self.choosers().iter().map(|metric| metric.name()).collect();
            return Err(Error::options(format!("a search needs splits, and to choose by one of {}", names.join(", "))));
        }
        let task = match self.targets {
            [] => SearchTask::OneTarget(Task::new(self.table, self.target, self.inputs)?),
            targets => SearchTask::SeveralTargets(JointTask::new(self.table, targets, self.inputs)?),
        };
        let configurations = self.configurations()?;
        let mut candidates: Vec<Candidate> = configurations
            .iter()
            .map(|configuration| Candidate {
                configuration: configuration.clone(),
                fraction: 0.0,
                scores: Vec::new(),
                failed: None,
            })
            .collect();
        let mut order: Vec<usize> = (0..configurations.len()).collect();
        for rung in self.rungs(configurations.len()) {
            let trying = &mut order[..rung.configurations.min(configurations.len())];
            let trials: Vec<Trial<Fit>> = trying
                .iter()
                .flat_map(|at| (0..self.splits.len()).map(move |split| (*at, split)))
                .map(|(configuration, split)| {
                    let work = Fit { configuration, split, fraction: rung.fraction };
                    Trial { name: name(&configurations[configuration], &work), work }
                })
                .collect();
            let begin = |fit: &Fit| self.job_group(&task, &configurations[fit.configuration], fit);
            if !run(&trials, journal, options, &begin)? {
                return Ok(None);
            }
            for at in trying.iter() {
                let fits = trials.iter().filter(|trial| trial.work.configuration == *at);
                let results = fits.filter_map(|trial| journal.get(&trial.name)).map(|entry| &entry.result);
                let candidate = &mut candidates[*at];
                candidate.fraction = rung.fraction;
                (candidate.scores, candidate.failed) = summarise(self.scores(), self.by, &results.collect::<Vec<_>>());
            }
            let level = |at: usize| candidates[at].score(self.by).map_or(f64::INFINITY, |summary| summary.mean);
            trying.sort_by(|a, b| level(*a).total_cmp(&level(*b)).then(a.cmp(b)));
        }
        let ranking: Vec<Candidate> = order.into_iter().map(|at| candidates[at].clone()).collect();
        match ranking.first() {
            Some(Candidate { failed: Some(message), configuration, .. }) => {
                Err(Error::data(format!("no configuration could be fitted; {configuration}: {message}")))
            }
            _ => Ok(Some(ranking)),
        }
    }

    /// The configurations of the first rung.
    fn configurations(&self) -> Result<Vec<Configuration>> {
        match self.strategy {
            Strategy::Grid | Strategy::Halving { draws: None, .. } => self.space.grid(),
            Strategy::Random { draws } | Strategy::Halving { draws: Some(draws), .. } => {
                self.space.draw(draws, self.seed)
            }
        }
    }

    fn rungs(&self, configurations: usize) -> Vec<Rung> {
        let rows = self.splits.iter().map(|split| split.train.len()).min().unwrap_or(0);
        match self.strategy {
            Strategy::Halving { factor, .. } => halving(configurations, factor.max(2), rows),
            _ => single(configurations),
        }
    }

    /// One configuration on one split. An error caused by the configuration is a result too.
    fn job_group<'a>(
        &self,
        task: &SearchTask<'a>,
        configuration: &Configuration,
        fit: &Fit,
    ) -> Result<JobGroup<'a, Value>> {
        let split = Split { train: self.training_rows(fit), test: self.splits[fit.split].test.clone() };
        let seed = self.seed.wrapping_add(fit.split as u64);
        let scores = self.scores();
        match task.job_group(&configuration.method, &split, seed) {
            Ok(jobs) => Ok(jobs.map(|score| outcome(scores, score))),
            Err(error) => outcome(scores, Err(error)).map(JobGroup::done),
        }
    }

    /// A fraction of a split's training rows: random, and the same for all configurations; for a sequence the last in
    /// time.
    fn training_rows(&self, fit: &Fit) -> Vec<usize> {
        let mut rows = self.splits[fit.split].train.clone();
        let used = ((rows.len() as f64 * fit.fraction).ceil() as usize).min(rows.len());
        if used == rows.len() {
            return rows;
        }
        if self.inputs.sequence.is_some() {
            return rows.split_off(rows.len() - used);
        }
        Rng::new(self.seed, streams::RUNGS + fit.split as u64).shuffle(&mut rows);
        rows.truncate(used);
        rows.sort_unstable();
        rows
    }
}

/// What is fitted and scored.
enum SearchTask<'a> {
    OneTarget(Task<'a>),
    SeveralTargets(JointTask<'a>),
}

impl<'a> SearchTask<'a> {
    fn job_group(&self, method: &Method, split: &Split, seed: u64) -> Result<JobGroup<'a, Score>> {
        match self {
            Self::OneTarget(task) => {
                Ok(task.job_group(method, split, seed)?.map(|scored| scored.map(|scored| scored.score)))
            }
            Self::SeveralTargets(task) => task.job_group(method, split, seed),
        }
    }
}

/// The metrics of several targets that can be minimised.
pub fn joint_choosers() -> &'static [Metric] {
    &JOINT_SCORES[..4]
}

/// The metrics that can be minimised.
pub fn choosers(inputs: &ColumnRoles) -> &'static [Metric] {
    if inputs.target_spec.is_censored() { &CENSORED_SCORES[..2] } else { &SCORES[..3] }
}

/// The metrics of a trial in the journal.
fn outcome(scores: &'static [Metric], score: Result<Score>) -> Result<Value> {
    match score {
        Ok(score) => {
            let scores = scores.iter().map(|metric| (metric.name().into(), json!(score.get(*metric))));
            Ok(Value::Object(scores.collect()))
        }
        Err(error) if error.kind() == ErrorKind::Options => Ok(json!({ "failed": error.to_string() })),
        Err(error) => Err(error),
    }
}

fn name(configuration: &Configuration, fit: &Fit) -> String {
    let rows = if fit.fraction < 1.0 { format!(", rows 1/{:.0}", 1.0 / fit.fraction) } else { String::new() };
    format!("{configuration}, split {}{rows}", fit.split + 1)
}

/// Mean and standard deviation of each metric, or the error.
fn summarise(metrics: &[Metric], by: Metric, results: &[&Value]) -> (Vec<MetricSummary>, Option<String>) {
    if let Some(message) = results.iter().find_map(|result| result.get("failed")?.as_str()) {
        return (Vec::new(), Some(message.to_string()));
    }
    let mut scores = Vec::new();
    for &metric in metrics {
        let numbers: Option<Vec<f64>> = results.iter().map(|result| result.get(metric.name())?.as_f64()).collect();
        let Some(numbers) = numbers else {
            if metric != by && matches!(metric, Metric::IntegratedBrier | Metric::Concordance) {
                continue;
            }
            return (Vec::new(), Some(format!("its {} is not a finite number", metric.name())));
        };
        scores.push(MetricSummary { metric, summary: Summary::of(&numbers) });
    }
    (scores, None)
}

/// Offset basis and prime of the FNV-1a hash.
const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// Adds one number to the hash.
fn fnv(hash: u64, number: u64) -> u64 {
    number.to_le_bytes().iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME))
}

fn text(hash: u64) -> String {
    format!("{hash:016x}")
}

/// Hash of a table.
fn fingerprint(table: &Table) -> String {
    let words = |hash, text: &str| text.bytes().map(u64::from).chain([u64::MAX]).fold(hash, fnv);
    let column = |hash, (name, column): (&str, &Column)| match column {
        Column::Numbers(numbers) => numbers.iter().map(|number| number.to_bits()).fold(words(hash, name), fnv),
        Column::Times(times) => times.iter().map(|time| time.to_bits()).fold(words(words(hash, name), "times"), fnv),
        Column::Text { codes, levels } => {
            let hash = codes.iter().map(|code| u64::from(*code)).fold(words(hash, name), fnv);
            levels.iter().fold(hash, |hash, level| words(hash, level))
        }
    };
    text(table.columns().fold(FNV_START, column))
}
