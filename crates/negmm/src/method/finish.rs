//! Assembly of trained jobs into a predictor and its held-out predictions.

use std::sync::Arc;

use super::plan::{Plan, Work};
use super::{Member, Method, Predictor};
use crate::standardised::{Pool, Standardised};
use negmm_dist::math::lanes::Isa;
use negmm_dist::{Error, Mixtures, Result};
use negmm_nn::dataset::{Dataset, TargetEncoding};
use negmm_nn::empirical::empirical_distribution;
use negmm_nn::ngboost::{Boosted, BoostingScore, TrainedTrees};
use negmm_nn::train::{Epoch, History, NetworkJob, Trained, TreesJob, Validation};

/// The result of training.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FitOutput {
    /// The method with every data-dependent setting filled in.
    pub method: Method,
    /// The predictor.
    pub predictor: Predictor,
    /// The record of each training.
    pub histories: Vec<History>,
    /// Held-out predictions.
    pub out_of_fold: OutOfFold,
}

/// Held-out predictions.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OutOfFold {
    /// The rows, as indices into those of the plan.
    pub rows: Vec<u32>,
    /// The fold in which each was held out, from 0; a single one where all networks hold out the same rows.
    pub folds: Vec<u32>,
    /// One prediction for each.
    pub predictions: Standardised,
    /// The constant baseline for each, from the training targets.
    pub baseline: Standardised,
    /// The expected CRPS of the pool of all models over that of these predictions, which are of fewer models, where it is
    /// known and lower.
    pub pool_ratio: Option<f64>,
}

impl Plan {
    /// Assembles the results of [`Plan::jobs`], in their order.
    ///
    /// # Errors
    /// When a job failed, or the results do not belong to the plan's jobs.
    pub fn finish(self, trained: Vec<Result<Trained>>) -> Result<FitOutput> {
        let mut trained = trained.into_iter().collect::<Result<Vec<_>>>()?;
        let Self { method, work } = self;
        match work {
            Work::Constant { distribution } => {
                if !trained.is_empty() {
                    return Err(unexpected_results());
                }
                Ok(of_constant(method, distribution))
            }
            Work::Networks { jobs, statistics, pool } => {
                let (members, histories) = members(&jobs, &statistics, trained)?;
                pooled(method, &jobs, members, histories, pool)
            }
            Work::Folds(folds) => folds.finish(method, trained),
            Work::Trees { job, statistics } => match (trained.pop(), trained.is_empty()) {
                (Some(Trained::Trees(trees)), true) => Ok(boosted(method, &job, statistics, trees)),
                _ => Err(unexpected_results()),
            },
        }
    }
}

pub(super) fn unexpected_results() -> Error {
    Error::options("the results are not those of the plan's jobs")
}

/// The constant baseline.
fn of_constant(method: Method, distribution: Mixtures) -> FitOutput {
    let nothing = || Standardised::new(distribution.repeated(0).into(), Pool::Mixture);
    let out_of_fold = OutOfFold {
        rows: Vec::new(),
        folds: Vec::new(),
        predictions: nothing(),
        baseline: nothing(),
        pool_ratio: None,
    };
    FitOutput { method, predictor: Predictor::Constant { distribution }, histories: Vec::new(), out_of_fold }
}

/// The trained networks of jobs, and the record of each training.
fn members(
    jobs: &[NetworkJob],
    statistics: &Arc<TargetEncoding>,
    trained: Vec<Trained>,
) -> Result<(Vec<Member>, Vec<History>)> {
    if jobs.len() != trained.len() {
        return Err(unexpected_results());
    }
    let (mut members, mut histories) = (Vec::with_capacity(jobs.len()), Vec::with_capacity(jobs.len()));
    for (job, trained) in jobs.iter().zip(trained) {
        let Trained::Network(trained) = trained else { return Err(unexpected_results()) };
        if trained.parameters.chunks().len() != job.network.chunks() {
            return Err(unexpected_results());
        }
        members.push(Member {
            network: job.network.clone(),
            parameters: trained.parameters,
            sigma_scale: 1.0,
            statistics: statistics.clone(),
        });
        histories.push(trained.history);
    }
    Ok((members, histories))
}

/// Networks with the same validation rows.
fn pooled(
    method: Method,
    jobs: &[NetworkJob],
    members: Vec<Member>,
    histories: Vec<History>,
    pool: Pool,
) -> Result<FitOutput> {
    let job = jobs.first().ok_or_else(unexpected_results)?;
    let predictor = Predictor::Networks { members, head: job.objective.head(), pool };
    let rows = job.validation.to_vec();
    let predictions = predictor.predict(&job.data.select(&rows), Isa::best())?;
    let baseline = baseline(&job.data, &job.train, rows.len());
    let out_of_fold = OutOfFold { folds: vec![0; rows.len()], rows, predictions, baseline, pool_ratio: None };
    Ok(FitOutput { method, predictor, histories, out_of_fold })
}

/// Boosted trees. The held-out predictions come from the model that selected the number of rounds.
fn boosted(method: Method, job: &TreesJob, statistics: Arc<TargetEncoding>, trained: TrainedTrees) -> FitOutput {
    let TrainedTrees { boosted, held_out } = trained;
    let (rows, (means, sds)) = match held_out {
        Some(predicted) => (job.validation.to_vec(), predicted),
        None => (Vec::new(), (Vec::new(), Vec::new())),
    };
    let predictions = Mixtures::from_parts_unchecked(1, vec![1.0; means.len()], means, sds).into();
    let history = history_of(job, &boosted);
    let baseline = baseline(&job.data, &job.train, rows.len());
    FitOutput {
        method,
        predictor: Predictor::Trees { boosted, statistics },
        histories: vec![history],
        out_of_fold: OutOfFold {
            folds: vec![0; rows.len()],
            rows,
            predictions: Standardised::new(predictions, Pool::Mixture),
            baseline,
            pool_ratio: None,
        },
    }
}

/// The constant baseline from the training targets, for this number of rows.
fn baseline(data: &Dataset, train: &[u32], rows: usize) -> Standardised {
    Standardised::new(empirical_distribution(data, train).repeated(rows).into(), Pool::Mixture)
}

/// The record of a boosting job, round by round.
pub(super) fn history_of(job: &TreesJob, boosted: &Boosted) -> History {
    let epochs = boosted.history.iter().map(|round| Epoch {
        loss: Some(round.train).filter(|loss| loss.is_finite()),
        validation: round
            .validation
            .filter(|score| score.is_finite())
            .map(|score| validation_score(job.settings.score, score)),
        learning_rate: job.settings.learning_rate,
        skipped: 0,
    });
    History { epochs: epochs.collect(), best_epoch: boosted.rounds.len().saturating_sub(1) }
}

/// A validation score of this kind.
fn validation_score(kind: BoostingScore, score: f64) -> Validation {
    match kind {
        BoostingScore::Log => Validation { nll: Some(score), crps: None, calibrated: None },
        BoostingScore::Crps | BoostingScore::CrpsOriginal => {
            Validation { nll: None, crps: Some(score), calibrated: None }
        }
    }
}
