//! Training jobs: one network or one boosted model, with its rows and its seed.

use std::sync::Arc;

use super::{Objective, TrainingPlan};
use crate::callbacks::Callbacks;
use crate::dataset::Dataset;
use crate::net::{Network, Stem};
use crate::ngboost::{Columns, NgBoost, Targets, TrainValidation, TrainedTrees};
use negmm_dist::math::lanes::Chunk;
use negmm_dist::math::rng::Rng;
use negmm_dist::{Error, Result, streams};

/// Largest number of parameters of a network: more are taken for a typing error.
const MAX_PARAMETERS: usize = 100_000_000;

/// A training job. It is fully specified: the result depends on it alone.
#[derive(Clone, Debug)]
pub enum Job {
    /// A network.
    Network(NetworkJob),
    /// Boosted trees.
    Trees(TreesJob),
}

/// One network to train.
#[derive(Clone, Debug)]
pub struct NetworkJob {
    /// Its shape.
    pub network: Network,
    /// The head and the loss.
    pub objective: Objective,
    /// All rows.
    pub data: Arc<Dataset>,
    /// The training rows; copies of the job share them.
    pub train: Arc<[u32]>,
    /// The rows that select the checkpoint; may be empty.
    pub validation: Arc<[u32]>,
    /// The training plan.
    pub plan: TrainingPlan,
    /// Random seed: initial parameters, order of rows, dropout.
    pub seed: u64,
}

/// One boosted model to train.
#[derive(Clone, Debug)]
pub struct TreesJob {
    /// The settings of the method.
    pub settings: NgBoost,
    /// All rows.
    pub data: Arc<Dataset>,
    /// The training rows; copies of the job share them.
    pub train: Arc<[u32]>,
    /// The rows that select the number of rounds; may be empty.
    pub validation: Arc<[u32]>,
    /// Cross-fitting: the index in the validation rows at which their second half begins; each half is predicted with the number of
    /// rounds that the other half selects. 0: no cross-fitting.
    pub cross_fitting_split: usize,
    /// Random seed: the rows and columns of each round.
    pub seed: u64,
}

impl From<NetworkJob> for Job {
    fn from(job: NetworkJob) -> Self {
        Self::Network(job)
    }
}

impl From<TreesJob> for Job {
    fn from(job: TreesJob) -> Self {
        Self::Trees(job)
    }
}

impl Job {
    /// All rows.
    pub fn data(&self) -> &Arc<Dataset> {
        match self {
            Self::Network(job) => &job.data,
            Self::Trees(job) => &job.data,
        }
    }

    /// The training rows.
    pub fn train(&self) -> &[u32] {
        match self {
            Self::Network(job) => &job.train,
            Self::Trees(job) => &job.train,
        }
    }

    /// The validation rows.
    pub fn validation(&self) -> &[u32] {
        match self {
            Self::Network(job) => &job.validation,
            Self::Trees(job) => &job.validation,
        }
    }

    /// Checks that it can be trained. Engines only get jobs that pass.
    ///
    /// # Errors
    /// When a setting is out of range, the network does not fit the data, or there is no row to learn from.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Network(job) => job.check()?,
            Self::Trees(job) => job.settings.check()?,
        }
        let rows = self.data().len();
        if self.train().iter().chain(self.validation()).any(|row| *row as usize >= rows) {
            return Err(Error::data(format!("a job has rows beyond the {rows} of its data")));
        }
        Ok(())
    }
}

impl NetworkJob {
    /// The parameters before the first step.
    pub(crate) fn initial_parameters(&self) -> Vec<Chunk> {
        self.objective.initial_parameters(&self.network, &mut Rng::new(self.seed, streams::PARAMETERS))
    }

    /// The perturbation of each input in adversarial training: a fraction of its range over the training rows. Empty without
    /// adversarial training.
    pub(crate) fn adversarial_steps(&self) -> Vec<f32> {
        let (data, fraction) = (&self.data, self.plan.adversarial as f32);
        if fraction == 0.0 {
            return Vec::new();
        }
        let range = |input: usize| {
            let values = self.train.iter().map(|row| data.x()[*row as usize * data.stride() + input]);
            let (low, high) = values.fold((f32::MAX, f32::MIN), |(low, high), x| (low.min(x), high.max(x)));
            fraction * (high - low)
        };
        (0..data.features()).map(range).collect()
    }

    fn check(&self) -> Result<()> {
        let Self { network, objective, data, plan, .. } = self;
        network.stem.as_ref().map_or(Ok(()), Stem::check)?;
        let parameters = network.parameters();
        if parameters > MAX_PARAMETERS {
            return Err(Error::options(format!(
                "a network may have {MAX_PARAMETERS} parameters at most, and this one would have {parameters}: use fewer hidden units"
            )));
        }
        objective.head().check().map_err(Error::options)?;
        if network.inputs != data.features() || network.outputs != objective.head().outputs() {
            return Err(Error::data("a network does not fit its data or its objective"));
        }
        if network.stem.is_some() && plan.adversarial > 0.0 {
            return Err(Error::options(
                "adversarial training is not available for sequences or embeddings: leave adversarial at 0",
            ));
        }
        if self.train.is_empty() {
            return Err(Error::data("there is no row to train on"));
        }
        plan.check(self.train.len())
    }
}

impl TreesJob {
    /// Trains the model on this thread.
    pub(crate) fn train(&self, number: usize, callbacks: &Callbacks<'_>) -> Result<TrainedTrees> {
        let data = &self.data;
        let columns = data.columns();
        let columns = Columns::new(&columns, data.len())?;
        let doubles = |list: &[f32]| list.iter().map(|number| f64::from(*number)).collect::<Vec<_>>();
        let (y, weights) = (doubles(data.y()), doubles(data.sample_weights()));
        let ends = data.intervals().map(|intervals| [intervals.lower(), intervals.upper()].map(doubles));
        let targets = Targets { y: &y, intervals: ends.as_ref().map(|[lower, upper]| [&lower[..], &upper[..]]) };
        let split = TrainValidation {
            train: &self.train,
            validation: &self.validation,
            cross_fitting_split: self.cross_fitting_split,
        };
        self.settings.fit_split(&columns, targets, Some(&weights), split, self.seed, (number, callbacks))
    }
}
