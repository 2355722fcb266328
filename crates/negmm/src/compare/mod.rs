//! Cross-validation of several methods on one table: the same splits for all, their scores, and paired tests.

mod metric;
mod split;
mod task;

use std::sync::{Mutex, PoisonError};

use crate::Method;
use negmm_data::{ColumnRoles, Table};
use negmm_dist::{Error, Metrics, Result};
use negmm_nn::train::{Callbacks, CpuEngine, Engine, JobGroups};

pub use metric::{Metric, Summary};
pub use split::Split;
pub use task::{Scored, Task};

/// The score of one method on one split.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Scores of the test rows.
    pub metrics: Metrics,
    /// Seconds of the fit.
    pub seconds: f64,
}

impl Score {
    /// The value of a metric, over all rows for the NLL of a censored target; NaN where the target has no such metric.
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
            Metric::Coverage => self.metrics.coverage.get(0.95).unwrap_or(f64::NAN),
            Metric::Width => self.metrics.width.get(0.95).unwrap_or(f64::NAN),
            Metric::Seconds => self.seconds,
        }
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
        let has = |metric: &Metric| self.scores.iter().flatten().all(|score| metric.is_of(&score.metrics));
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
    let pairs: Vec<(usize, usize)> =
        (0..splits.len()).flat_map(|split| (0..methods.len()).map(move |method| (method, split))).collect();
    let scores: Vec<Mutex<Option<Result<Score>>>> = pairs.iter().map(|_| Mutex::default()).collect();
    let begin = |pair: usize| {
        let (method, split) = pairs[pair];
        let seed = options.seed.wrapping_add(split as u64);
        Ok(task.job_group(&methods[method], &splits[split], seed)?.map(|scored| scored.map(|scored| scored.score)))
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
    use negmm_dist::Rng;

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
            let options = CompareOptions::new(&inputs).seed(3).engine(&engine);
            compare(&table, "y", &methods, &splits, &options).unwrap()
        };
        let (one, two) = (run(1), run(2));
        for (a, b) in one.scores.iter().flatten().zip(two.scores.iter().flatten()) {
            assert_eq!(a.metrics, b.metrics);
        }
        assert!(one.summary(0, Metric::Crps).mean < one.summary(1, Metric::Crps).mean);
    }
}
