//! Cross-validation of several methods on one table: the same splits for all, their scores, and paired tests.

mod joint_task;
mod metric;
mod split;
mod task;

use std::sync::{Mutex, PoisonError};

use crate::Method;
use crate::joint::{JointMetrics, REGION_COVERAGES};
use negmm_data::{ColumnRoles, Table};
use negmm_dist::{Error, Metrics, Result};
use negmm_nn::train::{Callbacks, CpuEngine, Engine, JobGroup, JobGroups};

pub use joint_task::JointTask;
pub use metric::{Metric, Summary};
pub use split::Split;
pub use task::{Scored, Task};

/// The scores of test rows.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "nearly all are of one target, the larger one")]
pub enum Scores {
    /// Of one target.
    OneTarget(Metrics),
    /// Of several targets together.
    SeveralTargets(JointMetrics),
}

/// The score of one method on one split.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Scores of the test rows.
    pub scores: Scores,
    /// Seconds of the fit.
    pub seconds: f64,
}

impl Score {
    /// The value of a metric, over all rows for the NLL of a censored target; NaN where the target has no such metric.
    pub fn get(&self, metric: Metric) -> f64 {
        if !metric.is_of(&self.scores) {
            return f64::NAN;
        }
        match &self.scores {
            _ if metric == Metric::Seconds => self.seconds,
            Scores::OneTarget(metrics) => of_one_target(metrics, metric),
            Scores::SeveralTargets(metrics) => of_several_targets(metrics, metric),
        }
    }

    /// The scores of one target.
    pub fn metrics(&self) -> Option<&Metrics> {
        match &self.scores {
            Scores::OneTarget(metrics) => Some(metrics),
            Scores::SeveralTargets(_) => None,
        }
    }
}

fn of_one_target(metrics: &Metrics, metric: Metric) -> f64 {
    let censored = metrics.censored.as_ref();
    match metric {
        Metric::Rmse => metrics.rmse,
        Metric::Nll => censored.map_or(metrics.nll, |censored| censored.nll),
        Metric::IntegratedBrier => censored.and_then(|censored| censored.integrated_brier).unwrap_or(f64::NAN),
        Metric::Concordance => censored.and_then(|censored| censored.concordance).unwrap_or(f64::NAN),
        Metric::MassNll => metrics.mass_nll.unwrap_or(f64::NAN),
        Metric::Crps => metrics.crps,
        Metric::Coverage => metrics.coverage.get(0.95).unwrap_or(f64::NAN),
        Metric::Width => metrics.width.get(0.95).unwrap_or(f64::NAN),
        _ => f64::NAN,
    }
}

fn of_several_targets(metrics: &JointMetrics, metric: Metric) -> f64 {
    match metric {
        Metric::Energy => metrics.energy,
        Metric::Nll => metrics.nll,
        Metric::Variogram => metrics.variogram,
        Metric::CrpsOfSum => metrics.crps_of_sum,
        Metric::RegionCoverage => {
            let at = REGION_COVERAGES.iter().position(|coverage| *coverage == 0.9);
            at.map_or(f64::NAN, |at| metrics.coverage[at])
        }
        _ => f64::NAN,
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
    /// The metrics that every fit has: the mass NLL for a discrete target only, those over all rows for a censored one.
    pub fn metrics(&self) -> Vec<Metric> {
        let has = |metric: &Metric| self.scores.iter().flatten().all(|score| metric.is_of(&score.scores));
        Metric::ALL.into_iter().filter(has).collect()
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

/// Options of a comparison.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct CompareOptions<'a> {
    /// Random seed; that of split `s` is `seed` + s.
    pub seed: u64,
    /// Which columns are inputs.
    pub inputs: &'a ColumnRoles,
    /// The training engine.
    pub engine: &'a dyn Engine,
    /// Progress and stop callbacks.
    pub watch: Callbacks<'a>,
    /// Called after every fit.
    pub fitted: &'a (dyn Fn() + Sync),
}

impl<'a> CompareOptions<'a> {
    /// Seed 0, all cores, no callbacks.
    pub fn new(inputs: &'a ColumnRoles) -> Self {
        Self { seed: 0, inputs, engine: CpuEngine::all_cores(), watch: Callbacks::nothing(), fitted: &|| {} }
    }

    /// Sets `seed`.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets `engine`.
    #[must_use]
    pub fn engine(self, engine: &'a dyn Engine) -> Self {
        Self { engine, ..self }
    }

    /// Sets `watch`.
    #[must_use]
    pub fn watch(self, watch: Callbacks<'a>) -> Self {
        Self { watch, ..self }
    }

    /// Sets `fitted`.
    #[must_use]
    pub fn fitted(self, fitted: &'a (dyn Fn() + Sync)) -> Self {
        Self { fitted, ..self }
    }
}

/// Fits every method on every split, all their jobs in one queue of the engine, and scores it on the split's test rows.
///
/// For a sequence the splits are those of [`Split::expanding`].
///
/// # Errors
/// When the data are invalid, a fit fails, or the caller asked to stop.
pub fn compare(
    table: &Table,
    target: &str,
    methods: &[Method],
    splits: &[Split],
    options: &CompareOptions<'_>,
) -> Result<Comparison> {
    let task = Task::new(table, target, options.inputs)?;
    let begin = |method: usize, split: usize, seed: u64| {
        Ok(task.job_group(&methods[method], &splits[split], seed)?.map(|scored| scored.map(|scored| scored.score)))
    };
    compare_by(&begin, (methods.len(), splits.len()), options)
}

/// As [`compare`], for several targets that are predicted together.
///
/// # Errors
/// As [`compare`], and when a method predicts one target.
pub fn compare_joint(
    table: &Table,
    targets: &[&str],
    methods: &[Method],
    splits: &[Split],
    options: &CompareOptions<'_>,
) -> Result<Comparison> {
    let task = JointTask::new(table, targets, options.inputs)?;
    let begin = |method: usize, split: usize, seed: u64| task.job_group(&methods[method], &splits[split], seed);
    compare_by(&begin, (methods.len(), splits.len()), options)
}

/// Runs the jobs of every method and split.
fn compare_by<'a>(
    job_group: &(dyn Fn(usize, usize, u64) -> Result<JobGroup<'a, Score>> + Sync),
    (methods, splits): (usize, usize),
    options: &CompareOptions<'_>,
) -> Result<Comparison> {
    let pairs: Vec<(usize, usize)> =
        (0..splits).flat_map(|split| (0..methods).map(move |method| (method, split))).collect();
    let scores: Vec<Mutex<Option<Result<Score>>>> = pairs.iter().map(|_| Mutex::default()).collect();
    let begin = |pair: usize| {
        let (method, split) = pairs[pair];
        job_group(method, split, options.seed.wrapping_add(split as u64))
    };
    let ended = |pair: usize, score: Result<Score>, _: f64| {
        *scores[pair].lock().unwrap_or_else(PoisonError::into_inner) = Some(score);
        (options.fitted)();
        true
    };
    JobGroups { count: pairs.len(), begin: &begin, ended: &ended }.run(options.engine, &options.watch);
    options.watch.check_cancelled()?;
    let mut of_methods = vec![Vec::with_capacity(splits); methods];
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
    use negmm_dist::Rng;

    #[test]
    fn the_best_is_marked_only_when_it_is_clear() {
        let score = |nll: f64| {
            let mut metrics = blank_metrics();
            metrics.nll = nll;
            Score { scores: Scores::OneTarget(metrics), seconds: 1.0 }
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
            let options = CompareOptions::new(&inputs).seed(3).engine(&engine);
            compare(&table, "y", &methods, &splits, &options).unwrap()
        };
        let (one, two) = (run(1), run(2));
        for (a, b) in one.scores.iter().flatten().zip(two.scores.iter().flatten()) {
            assert_eq!(a.scores, b.scores);
        }
        assert!(one.summary(0, Metric::Crps).mean < one.summary(1, Metric::Crps).mean);
    }
}
