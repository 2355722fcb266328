//! Responsible for what is made of trained jobs: a predictor, and what it says of rows that it has not learnt from.

use std::sync::Arc;

use super::plan::{Folds, Plan, Work};
use super::{Member, Method, Predictor, sd_factor};
use crate::data::LevelStatistics;
use crate::math::lanes::Isa;
use crate::ngboost::{Score, TrainedTrees};
use crate::standardised::{Pool, Standardised};
use crate::train::{Epoch, History, NetworkJob, Trained, TreesJob, Validation};
use crate::{Error, Mixtures, Predictions, Result};

/// What learning leaves behind.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Learnt {
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
}

impl Plan {
    /// Puts together what was trained: the results of [`Plan::jobs`], in their order.
    ///
    /// # Errors
    /// When a job failed, or the results are not those of the plan's jobs.
    pub fn finish(self, trained: Vec<Result<Trained>>) -> Result<Learnt> {
        let mut trained = trained.into_iter().collect::<Result<Vec<_>>>()?;
        let Self { method, work } = self;
        match work {
            Work::Constant { sd } => {
                if !trained.is_empty() {
                    return Err(foreign());
                }
                Ok(constant(method, sd))
            }
            Work::Networks { jobs, statistics, pool } => {
                let (members, histories) = members(&jobs, &[statistics], trained)?;
                pooled(method, &jobs, members, histories, pool)
            }
            Work::Folds(folds) => {
                let (members, histories) = members(&folds.jobs, &folds.statistics, trained)?;
                folds.pooled(method, members, histories)
            }
            Work::Trees { job, statistics } => match (trained.pop(), trained.is_empty()) {
                (Some(Trained::Trees(trees)), true) => Ok(boosted(method, &job, statistics, trees)),
                _ => Err(foreign()),
            },
        }
    }
}

fn foreign() -> Error {
    Error::options("what was trained is not what the plan asked for")
}

/// Nothing but the target's mean and an sd.
fn constant(method: Method, sd: f64) -> Learnt {
    let nothing = Mixtures::from_parts_unchecked(1, Vec::new(), Vec::new(), Vec::new());
    let predictions = Standardised::new(nothing.into(), Pool::Mixture);
    let out_of_fold = OutOfFold { rows: Vec::new(), folds: Vec::new(), predictions };
    Learnt { method, predictor: Predictor::Constant { sd }, histories: Vec::new(), out_of_fold }
}

/// The networks of jobs with what they learnt, and what each training did. As many jobs in a row share each of the statistics.
fn members(
    jobs: &[NetworkJob],
    statistics: &[Arc<LevelStatistics>],
    trained: Vec<Trained>,
) -> Result<(Vec<Member>, Vec<History>)> {
    if jobs.len() != trained.len() {
        return Err(foreign());
    }
    let (mut members, mut histories) = (Vec::with_capacity(jobs.len()), Vec::with_capacity(jobs.len()));
    let each = jobs.len() / statistics.len().max(1);
    let statistics = statistics.iter().flat_map(|statistics| std::iter::repeat_n(statistics, each));
    for ((job, statistics), trained) in jobs.iter().zip(statistics).zip(trained) {
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
) -> Result<Learnt> {
    let job = jobs.first().ok_or_else(foreign)?;
    let predictor = Predictor::Networks { members, head: job.objective.head(), pool };
    let rows = job.validation.clone();
    let predictions = predictor.predict(&job.data.select(&rows), Isa::best())?;
    let out_of_fold = OutOfFold { folds: vec![0; rows.len()], rows, predictions };
    Ok(Learnt { method, predictor, histories, out_of_fold })
}

impl Folds {
    /// Pools networks of folds, and fits the factor of their sds to the out-of-fold predictions: those of each row are by the
    /// networks that have not learnt from it.
    fn pooled(self, method: Method, mut members: Vec<Member>, histories: Vec<History>) -> Result<Learnt> {
        /// Rows that say something of a factor.
        const LEAST_ROWS: usize = 30;
        let Self { jobs, held_out, data, numbers, .. } = self;
        let head = jobs.first().ok_or_else(foreign)?.objective.head();
        let each = members.len() / held_out.len();
        let numbers_of =
            |rows: &[u32], list: &[f32]| rows.iter().map(|row| f64::from(list[*row as usize])).collect::<Vec<_>>();
        let factor_of = |mixtures: &Mixtures, rows: &[u32]| {
            let [y, weights] = [data.y(), data.sample_weights()].map(|list| numbers_of(rows, list));
            let ends = data.intervals().map(|ends| [ends.lower(), ends.upper()].map(|list| numbers_of(rows, list)));
            sd_factor::best(mixtures, &y, &weights, ends.as_ref().map(|[lower, upper]| (&lower[..], &upper[..])))
        };
        let (mut rows, mut folds) = (Vec::new(), Vec::new());
        let (mut weights, mut means, mut sds) = (Vec::new(), Vec::new(), Vec::new());
        let (mut components, mut own_factors) = (0, Vec::with_capacity(held_out.len()));
        for (number, (fold, members)) in held_out.iter().zip(members.chunks(each)).enumerate() {
            let predictor = Predictor::Networks { members: members.to_vec(), head, pool: Pool::Mixture };
            let predictions = predictor.predict(&data.select(fold), Isa::best())?;
            let mixtures = predictions.mixtures().ok_or_else(foreign)?;
            components = mixtures.components();
            own_factors.push((fold.len() >= LEAST_ROWS).then(|| factor_of(mixtures, fold)));
            rows.extend_from_slice(fold);
            folds.resize(rows.len(), number as u32);
            weights.extend_from_slice(mixtures.weights());
            means.extend_from_slice(mixtures.means());
            sds.extend_from_slice(mixtures.sds());
        }
        let held = Mixtures::from_parts_unchecked(components, weights, means, sds);
        let factor = factor_of(&held, &rows);
        for (fold, own) in own_factors.into_iter().enumerate() {
            let factor = sd_factor::of_pool(data.len(), each, factor, own);
            members[fold * each..][..each].iter_mut().for_each(|member| member.sd_factor = factor);
        }
        let order = in_order(&rows);
        let predictions = Predictions::from(held.reordered(&order, factor)).of_members(each);
        let out_of_fold = OutOfFold {
            rows: order.iter().map(|at| numbers[rows[*at] as usize]).collect(),
            folds: order.iter().map(|at| folds[*at]).collect(),
            predictions: Standardised::new(predictions, Pool::Mixture),
        };
        let predictor = Predictor::Networks { members, head, pool: Pool::Mixture };
        Ok(Learnt { method, predictor, histories, out_of_fold })
    }
}

/// Where the rows stand, the smallest first.
fn in_order(rows: &[u32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_unstable_by_key(|at| rows[*at]);
    order
}

/// Boosted trees. The held-out predictions are those of the model that chose the number of rounds.
fn boosted(method: Method, job: &TreesJob, statistics: Arc<LevelStatistics>, trained: TrainedTrees) -> Learnt {
    let TrainedTrees { boosted, held_out } = trained;
    let (rows, (means, sds)) = match held_out {
        Some(predicted) => (job.validation.clone(), predicted),
        None => (Vec::new(), (Vec::new(), Vec::new())),
    };
    let predictions = Mixtures::from_parts_unchecked(1, vec![1.0; means.len()], means, sds).into();
    let epochs = boosted.history.iter().map(|round| Epoch {
        loss: Some(round.train).filter(|loss| loss.is_finite()),
        validation: round
            .validation
            .filter(|score| score.is_finite())
            .map(|score| job.settings.score.as_validation(score)),
        learning_rate: job.settings.learning_rate,
        skipped: 0,
    });
    let history = History { epochs: epochs.collect(), best_epoch: boosted.rounds.len().saturating_sub(1) };
    Learnt {
        method,
        predictor: Predictor::Trees { boosted, statistics },
        histories: vec![history],
        out_of_fold: OutOfFold {
            folds: vec![0; rows.len()],
            rows,
            predictions: Standardised::new(predictions, Pool::Mixture),
        },
    }
}

impl Score {
    /// A validation score of this kind.
    fn as_validation(self, score: f64) -> Validation {
        match self {
            Self::Log => Validation { nll: Some(score), crps: None, calibrated: None },
            _ => Validation { nll: None, crps: Some(score), calibrated: None },
        }
    }
}
