//! Responsible for learning: data and a method's plan in, a predictor and what it says of rows it has not seen out.

use super::ngboost::{Columns, NgBoost};
use super::{Predictor, SPLIT_STREAM, TrainedNetwork};
use crate::data::Dataset;
use crate::math::lanes::Isa;
use crate::math::rng::Rng;
use crate::train::{Engine, Epoch, History, Job, Objective, Validation, Watch};
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

/// Trains networks and pools them.
pub(super) fn train(jobs: &[Job<'_>], engine: &dyn Engine, watch: &Watch<'_>) -> Result<Learnt> {
    for job in jobs {
        job.network.stem.map_or(Ok(()), |lstm| lstm.check())?;
    }
    if let Some(job) = jobs.iter().find(|job| job.network.parameters() > MOST_PARAMETERS) {
        let parameters = job.network.parameters();
        return Err(Error::options(format!(
            "a network may have {MOST_PARAMETERS} parameters at most, and this one would have {parameters}: use fewer hidden units"
        )));
    }
    let trained = engine.train(jobs, watch).into_iter().collect::<Result<Vec<_>>>()?;
    let histories = trained.iter().map(|trained| trained.history.clone()).collect();
    let Some(job) = jobs.first() else {
        let predictions = Predictor::Constant.predict(&Dataset::new(0), Isa::best());
        let held_out = HeldOut { rows: Vec::new(), predictions };
        return Ok(Learnt { predictor: Predictor::Constant, histories, held_out });
    };
    let network = |weights| TrainedNetwork { network: job.network.clone(), weights };
    let networks = trained.into_iter().map(|trained| network(trained.weights)).collect();
    let predictor = match job.objective {
        Objective::Mixture { head, .. } => Predictor::Networks { networks, head },
        Objective::Samples { head, .. } => Predictor::Samplers { networks, head },
    };
    let predictions = predictor.predict(&job.data.select(&job.validation), Isa::best());
    Ok(Learnt { predictor, histories, held_out: HeldOut { rows: job.validation.clone(), predictions } })
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
            Self::Log => Validation { nll: Some(score), crps: None },
            _ => Validation { nll: None, crps: Some(score) },
        }
    }
}
