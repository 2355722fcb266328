//! Assembly of trained jobs to a predictor and its out-of-fold predictions.

use std::sync::Arc;

use super::plan::{Plan, Work};
use super::{Member, Method, Predictor, constant};
use crate::standardised::{Pool, Standardised};
use negmm_dist::math::lanes::Isa;
use negmm_dist::{Error, Mixtures, Result};
use negmm_nn::dataset::{Dataset, TargetEncoding};
use negmm_nn::ngboost::{Boosted, Score, TrainedTrees};
use negmm_nn::train::{Epoch, History, NetworkJob, Trained, TreesJob, Validation};

/// What learning leaves behind.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FitOutput {
    /// The method with every setting that followed from the data.
    pub method: Method,
    /// What predicts.
    pub predictor: Predictor,
    /// What each training did.
    pub histories: Vec<History>,
    /// What is said of rows by what has not learnt from them.
    pub out_of_fold: OutOfFold,
}

/// Predictions of rows by what has not learnt from them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OutOfFold {
    /// The rows, among those that were planned with.
    pub rows: Vec<u32>,
    /// For each the fold that it was held out in, from 0; all in one where the same rows are held out by all networks.
    pub folds: Vec<u32>,
    /// One for each.
    pub predictions: Standardised,
    /// What the targets that were learnt from say of each: the level to beat.
    pub baseline: Standardised,
}

impl Plan {
    /// Puts together what was trained: the results of [`Plan::jobs`], in their order.
    ///
    /// # Errors
    /// When a job failed, or the results are not those of the plan's jobs.
    pub fn finish(self, trained: Vec<Result<Trained>>) -> Result<FitOutput> {
        let mut trained = trained.into_iter().collect::<Result<Vec<_>>>()?;
        let Self { method, work } = self;
        match work {
            Work::Constant { law } => {
                if !trained.is_empty() {
                    return Err(foreign());
                }
                Ok(of_constant(method, law))
            }
            Work::Networks { jobs, statistics, pool } => {
                let (members, histories) = members(&jobs, &statistics, trained)?;
                pooled(method, &jobs, members, histories, pool)
            }
            Work::Folds(folds) => folds.finish(method, trained),
            Work::Trees { job, statistics } => match (trained.pop(), trained.is_empty()) {
                (Some(Trained::Trees(trees)), true) => Ok(boosted(method, &job, statistics, trees)),
                _ => Err(foreign()),
            },
        }
    }
}

pub(super) fn foreign() -> Error {
    Error::options("what was trained is not what the plan asked for")
}

/// Nothing but the targets' own distribution.
fn of_constant(method: Method, law: Mixtures) -> FitOutput {
    let nothing = || Standardised::new(law.repeated(0).into(), Pool::Mixture);
    let out_of_fold = OutOfFold { rows: Vec::new(), folds: Vec::new(), predictions: nothing(), baseline: nothing() };
    FitOutput { method, predictor: Predictor::Constant { law }, histories: Vec::new(), out_of_fold }
}

/// The networks of jobs with what they learnt, and what each training did.
fn members(
    jobs: &[NetworkJob],
    statistics: &Arc<TargetEncoding>,
    trained: Vec<Trained>,
) -> Result<(Vec<Member>, Vec<History>)> {
    if jobs.len() != trained.len() {
        return Err(foreign());
    }
    let (mut members, mut histories) = (Vec::with_capacity(jobs.len()), Vec::with_capacity(jobs.len()));
    for (job, trained) in jobs.iter().zip(trained) {
        let Trained::Network(trained) = trained else { return Err(foreign()) };
        if trained.parameters.chunks().len() != job.network.chunks() {
            return Err(foreign());
        }
        members.push(Member {
            network: job.network.clone(),
            parameters: trained.parameters,
            sd_factor: 1.0,
            statistics: statistics.clone(),
        });
        histories.push(trained.history);
    }
    Ok((members, histories))
}

/// Networks that hold out the same rows.
fn pooled(
    method: Method,
    jobs: &[NetworkJob],
    members: Vec<Member>,
    histories: Vec<History>,
    pool: Pool,
) -> Result<FitOutput> {
    let job = jobs.first().ok_or_else(foreign)?;
    let predictor = Predictor::Networks { members, head: job.objective.head(), pool };
    let rows = job.validation.clone();
    let predictions = predictor.predict(&job.data.select(&rows), Isa::best())?;
    let baseline = baseline(&job.data, &job.train, rows.len());
    let out_of_fold = OutOfFold { folds: vec![0; rows.len()], rows, predictions, baseline };
    Ok(FitOutput { method, predictor, histories, out_of_fold })
}

/// Boosted trees. The held-out predictions are those of the model that chose the number of rounds.
fn boosted(method: Method, job: &TreesJob, statistics: Arc<TargetEncoding>, trained: TrainedTrees) -> FitOutput {
    let TrainedTrees { boosted, held_out } = trained;
    let (rows, (means, sds)) = match held_out {
        Some(predicted) => (job.validation.clone(), predicted),
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
        },
    }
}

/// What the targets that are learnt from say of so many rows.
fn baseline(data: &Dataset, train: &[u32], rows: usize) -> Standardised {
    Standardised::new(constant::law(data, train, 1.0).repeated(rows).into(), Pool::Mixture)
}

/// What the boosting of a job did, round by round.
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
fn validation_score(kind: Score, score: f64) -> Validation {
    match kind {
        Score::Log => Validation { nll: Some(score), crps: None, calibrated: None },
        Score::Crps | Score::CrpsOriginal => Validation { nll: None, crps: Some(score), calibrated: None },
    }
}
