//! Responsible for learning: data and a method's plan in, a predictor and what it says of rows it has not seen out.

use super::ngboost::{Columns, NgBoost};
use super::{Auto, Predictor, SPLIT_STREAM, TrainedNetwork, auto, sd_factor};
use crate::data::Dataset;
use crate::math::lanes::Isa;
use crate::math::rng::Rng;
use crate::net::Stem;
use crate::train::{Engine, Epoch, Estimate, History, Job, Objective, Trained, Validation, Watch};
use crate::{Error, Mixtures, Predictions, Result};

/// Weights and biases of one network at most: beyond this it is a slip of the keyboard.
const MOST_PARAMETERS: usize = 100_000_000;

/// What learning leaves behind.
#[derive(Clone, Debug)]
pub struct Learnt {
    /// What predicts.
    pub predictor: Predictor,
    /// What each training did.
    pub histories: Vec<History>,
    /// What is known of rows that were set aside.
    pub held_out: HeldOut,
}

/// Rows that were set aside, and what a model says of them that has not learnt from them.
#[derive(Clone, Debug)]
pub struct HeldOut {
    /// The rows.
    pub rows: Vec<u32>,
    /// One prediction for each, in units of the standardised target; in [`crate::model::Fitted`] in the target's own.
    pub predictions: Predictions,
}

/// Trains networks, which hold out the same rows, and pools them.
pub(super) fn train(jobs: &[Job<'_>], engine: &dyn Engine, watch: &Watch<'_>) -> Result<Learnt> {
    let Some(job) = jobs.first() else { return Ok(constant(1.0)) };
    let (networks, histories) = train_networks(jobs, engine, watch)?;
    let predictor = match job.objective {
        Objective::Mixture { head, .. } => Predictor::Networks { networks, head },
        Objective::Samples { head, .. } => Predictor::Samplers { networks, head },
    };
    let predictions = predictor.predict(&job.data.select(&job.validation), Isa::best());
    Ok(Learnt { predictor, histories, held_out: HeldOut { rows: job.validation.clone(), predictions } })
}

/// Nothing but the target's mean and an sd.
pub(super) fn constant(sd: f64) -> Learnt {
    let predictor = Predictor::Constant { sd };
    let held_out = HeldOut { rows: Vec::new(), predictions: predictor.predict(&Dataset::new(0), Isa::best()) };
    Learnt { predictor, histories: Vec::new(), held_out }
}

/// The networks and what each training did.
fn train_networks(
    jobs: &[Job<'_>],
    engine: &dyn Engine,
    watch: &Watch<'_>,
) -> Result<(Vec<TrainedNetwork>, Vec<History>)> {
    for job in jobs {
        job.network.stem.as_ref().map_or(Ok(()), Stem::check)?;
    }
    if let Some(job) = jobs.iter().find(|job| job.network.parameters() > MOST_PARAMETERS) {
        let parameters = job.network.parameters();
        return Err(Error::options(format!(
            "a network may have {MOST_PARAMETERS} parameters at most, and this one would have {parameters}: use fewer hidden units"
        )));
    }
    (watch.begin)(&Estimate::of(jobs));
    let (mut networks, mut histories) = (Vec::with_capacity(jobs.len()), Vec::with_capacity(jobs.len()));
    for (job, trained) in jobs.iter().zip(engine.train(jobs, watch)) {
        let Trained { weights, history, .. } = trained?;
        networks.push(TrainedNetwork { network: job.network.clone(), weights, sd_factor: 1.0 });
        histories.push(history);
    }
    Ok((networks, histories))
}

/// Learns from the rows whose weight is not zero.
pub(super) fn of_rows_that_count(data: &Dataset, learn: impl FnOnce(&Dataset) -> Result<Learnt>) -> Result<Learnt> {
    if data.weights().iter().all(|weight| *weight > 0.0) {
        return learn(data);
    }
    let counting: Vec<u32> = (0..data.len() as u32).filter(|row| data.weights()[*row as usize] > 0.0).collect();
    let mut learnt = learn(&data.select(&counting))?;
    learnt.held_out.rows.iter_mut().for_each(|row| *row = counting[*row as usize]);
    Ok(learnt)
}

/// Trains the networks of `auto`, pools them, and fits the factor of their sds to the held-out predictions: those of each
/// row are by the networks that have not learnt from it.
///
/// With M networks for each fold and k the factor that suits the pools of M best, the pool of all gets k^(1 - 1/M): it knows
/// more than M networks do, and needs less. With M = 1 each network gets the square root of the factor that suits its own
/// fold, or of that of all folds where a fold has few rows. Of few rows altogether the pool knows little more than its
/// members: it gets all of k, never less than 1, and what the t distribution adds to so few.
pub(super) fn pool(auto: &Auto, data: &Dataset, seed: u64, engine: &dyn Engine, watch: &Watch<'_>) -> Result<Learnt> {
    /// Rows that say something of a factor.
    const LEAST_ROWS: usize = 30;
    if data.len() < auto::LEAST_TRAINED {
        return Ok(constant(few_rows_sd(data.len())));
    }
    let (jobs, folds) = auto.resolved(data).jobs(data, seed);
    let (mut networks, histories) = train_networks(&jobs, engine, watch)?;
    let Some(Objective::Mixture { head, .. }) = jobs.first().map(|job| job.objective) else { return Ok(constant(1.0)) };
    let members = networks.len() / folds.len();
    let components = members * head.components();
    let numbers =
        |rows: &[u32], list: &[f32]| rows.iter().map(|row| f64::from(list[*row as usize])).collect::<Vec<_>>();
    let factor_of = |mixtures: &Mixtures, rows: &[u32]| {
        sd_factor::best(mixtures, &numbers(rows, data.y()), &numbers(rows, data.weights()))
    };
    let (mut rows, mut weights, mut means, mut sds) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut own_factors = Vec::with_capacity(folds.len());
    for (fold, networks) in folds.iter().zip(networks.chunks(members)) {
        let predictor = Predictor::Networks { networks: networks.to_vec(), head };
        let predictions = predictor.predict(&data.select(fold), Isa::best());
        let Some(mixtures) = predictions.mixtures() else { continue };
        own_factors.push((fold.len() >= LEAST_ROWS).then(|| factor_of(mixtures, fold)));
        rows.extend_from_slice(fold);
        weights.extend_from_slice(mixtures.weights());
        means.extend_from_slice(mixtures.means());
        sds.extend_from_slice(mixtures.sds());
    }
    let held = Mixtures::from_parts_unchecked(components, weights, means, sds);
    let factor = factor_of(&held, &rows);
    for (fold, own) in own_factors.into_iter().enumerate() {
        let factor = match members {
            _ if data.len() < auto::FEW => factor.max(1.0) * spread_of_few(data.len()),
            1 => own.unwrap_or(factor).sqrt(),
            _ => libm::pow(factor, 1.0 - 1.0 / members as f64),
        };
        networks[fold * members..][..members].iter_mut().for_each(|trained| trained.sd_factor = factor);
    }
    let order = in_order(&rows);
    rows.sort_unstable();
    let predictions = Predictions::from(held.reordered(&order, factor)).of_members(members);
    let predictor = Predictor::Networks { networks, head };
    Ok(Learnt { predictor, histories, held_out: HeldOut { rows, predictions } })
}

/// Where the rows stand, the smallest first.
fn in_order(rows: &[u32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_unstable_by_key(|at| rows[*at]);
    order
}

/// The sd of a distribution that one target alone says something of, in units of its scale (see [`crate::data::Target`]),
/// which is 1e-6 of its size: its size. A single row says nothing of the spread, and this guess is least wrong.
const ONE_ROW_SD: f64 = 1e6;

/// The sd, in sds of so few targets, of a normal distribution with the honest 95 % interval for another one.
fn few_rows_sd(rows: usize) -> f64 {
    if rows < 2 {
        return ONE_ROW_SD;
    }
    let n = rows as f64;
    spread_of_few(rows) * (n / (n - 1.0)).sqrt()
}

/// How much wider than normal an interval is for another target when mean and sd are estimated from n others: Student's
/// quantile 0.975 over the normal one, times sqrt(1 + 1/n) for the mean's own error.
fn spread_of_few(rows: usize) -> f64 {
    /// Student's quantiles with 1, 2 … 8 degrees of freedom, and the normal one.
    const STUDENT: [f64; 8] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306];
    const NORMAL: f64 = 1.960;
    let n = rows.max(2) as f64;
    // Beyond the table the first term of Cornish and Fisher's expansion.
    let expansion = 1.0 + (NORMAL * NORMAL + 1.0) / (4.0 * (n - 1.0));
    let ratio = STUDENT.get(n as usize - 2).map_or(expansion, |student| student / NORMAL);
    ratio * (1.0 + 1.0 / n).sqrt()
}

/// Boosts trees. The held-out predictions are those of the model that chose the number of rounds.
pub(super) fn boost(method: &NgBoost, data: &Dataset, seed: u64, watch: &Watch<'_>) -> Result<Learnt> {
    let columns = data.columns();
    let columns = Columns::new(&columns, data.len())?;
    let y: Vec<f64> = data.y().iter().map(|y| f64::from(*y)).collect();
    let weights: Vec<f64> = data.weights().iter().map(|weight| f64::from(*weight)).collect();
    let (train, held) = data.holdout(method.validation, &mut Rng::new(seed, SPLIT_STREAM));
    let fit = method.fit_split(&columns, &y, Some(&weights), (&train, &held), seed, watch)?;
    let (means, sds) = fit.held_out.unwrap_or_default();
    let rows = if means.is_empty() { Vec::new() } else { held };
    let predictions = Mixtures::from_parts_unchecked(1, vec![1.0; means.len()], means, sds).into();
    let epochs = fit.boosted.history.iter().map(|round| Epoch {
        loss: Some(round.train).filter(|loss| loss.is_finite()),
        validation: round.validation.filter(|score| score.is_finite()).map(|score| method.score.as_validation(score)),
        learning_rate: method.learning_rate,
        skipped: 0,
    });
    let history = History { epochs: epochs.collect(), best_epoch: fit.boosted.rounds.len().saturating_sub(1) };
    Ok(Learnt {
        predictor: Predictor::Trees(fit.boosted),
        histories: vec![history],
        held_out: HeldOut { rows, predictions },
    })
}

impl super::ngboost::Score {
    /// A validation score of this kind.
    fn as_validation(self, score: f64) -> Validation {
        match self {
            Self::Log => Validation { nll: Some(score), crps: None, calibrated: None },
            _ => Validation { nll: None, crps: Some(score), calibrated: None },
        }
    }
}
