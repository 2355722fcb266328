//! Training jobs: one network or one boosted model, with its rows and its seed.

use std::borrow::Cow;
use std::sync::Arc;

use super::{History, Objective, Selection, TrainedNetwork, TrainingPlan};
use crate::callbacks::Callbacks;
use crate::dataset::{Dataset, JointTargets};
use crate::forest::{Forest, ForestConfig, TargetBins};
use crate::linear::Linear;
use crate::net::{Activation, Head, MixtureHead, Network, Parameters, Stem};
use crate::ngboost::{Columns, NgBoost, Targets, TrainValidation, TrainedTrees};
use negmm_dist::math::lanes::{Chunk, WIDTH};
use negmm_dist::math::rng::Rng;
use negmm_dist::{Error, Result, streams};

/// Largest number of parameters of a network: more are taken for a typing error.
const MAX_PARAMETERS: usize = 100_000_000;

/// A training job. It is fully specified: the result depends on it alone.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there are few jobs, and what they hold is much larger")]
pub enum Job {
    /// A network.
    Network(NetworkJob),
    /// Boosted trees.
    Trees(TreesJob),
    /// A linear model in closed form.
    Linear(LinearJob),
    /// A random forest.
    Forest(ForestJob),
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
    /// The parameters before the first step, of a network that goes on learning; `None`: random ones.
    pub initial: Option<Parameters>,
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

/// A linear model to fit: a network without hidden layers, in closed form.
#[derive(Clone, Debug)]
pub struct LinearJob {
    /// Its outputs: a mixture around the linear prediction.
    pub head: MixtureHead,
    /// All rows.
    pub data: Arc<Dataset>,
    /// The rows it learns from.
    pub train: Arc<[u32]>,
}

/// A forest to grow.
#[derive(Clone, Debug)]
pub struct ForestJob {
    /// How.
    pub config: ForestConfig,
    /// Most components of its mixtures.
    pub components: usize,
    /// All rows.
    pub data: Arc<Dataset>,
    /// The rows it learns from.
    pub train: Arc<[u32]>,
    /// Seed of the rows and features of each tree.
    pub seed: u64,
}

impl From<LinearJob> for Job {
    fn from(job: LinearJob) -> Self {
        Self::Linear(job)
    }
}

impl From<ForestJob> for Job {
    fn from(job: ForestJob) -> Self {
        Self::Forest(job)
    }
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
            Self::Linear(job) => &job.data,
            Self::Forest(job) => &job.data,
        }
    }

    /// The training rows.
    pub fn train(&self) -> &[u32] {
        match self {
            Self::Network(job) => &job.train,
            Self::Trees(job) => &job.train,
            Self::Linear(job) => &job.train,
            Self::Forest(job) => &job.train,
        }
    }

    /// The validation rows.
    pub fn validation(&self) -> &[u32] {
        match self {
            Self::Network(job) => &job.validation,
            Self::Trees(job) => &job.validation,
            Self::Linear(_) | Self::Forest(_) => &[],
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
            Self::Linear(job) => job.check()?,
            Self::Forest(job) => job.check()?,
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
        match &self.initial {
            Some(parameters) => parameters.chunks().to_vec(),
            None => self.objective.initial_parameters(&self.network, &mut Rng::new(self.seed, streams::PARAMETERS)),
        }
    }

    /// The perturbation of each input in adversarial training: a fraction of its range over the training rows. Empty without
    /// adversarial training.
    pub(crate) fn adversarial_steps(&self) -> Vec<f32> {
        let (data, fraction) = (&self.data, self.plan.adversarial as f32);
        if fraction == 0.0 {
            return Vec::new();
        }
        let mut ranges = vec![(f32::MAX, f32::MIN); data.features()];
        data.each_of(&self.train, |x| {
            ranges.iter_mut().zip(x).for_each(|((low, high), x)| (*low, *high) = (low.min(*x), high.max(*x)));
        });
        ranges.into_iter().map(|(low, high)| fraction * (high - low)).collect()
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
        if self.initial.as_ref().is_some_and(|initial| initial.chunks().len() != network.chunks()) {
            return Err(Error::data("the parameters that a network starts from are not those of its shape"));
        }
        let targets = data.joint_targets().map(JointTargets::targets);
        match objective {
            Objective::Joint { head, .. } if targets != Some(head.targets) => {
                return Err(Error::data("a network does not fit the targets of its data"));
            }
            Objective::Joint { .. } if plan.select == Selection::Calibrated => {
                return Err(Error::option("select", "calibrated is for a single target; use crps or nll"));
            }
            _ => {}
        }
        if network.stem.is_some() && plan.adversarial > 0.0 {
            return Err(Error::options(
                "adversarial training is not available for sequences or embeddings: leave adversarial at 0",
            ));
        }
        some_rows(&self.train)?;
        plan.check(self.train.len())
    }
}

impl LinearJob {
    /// The network that predicts.
    pub fn network(&self) -> Network {
        Network {
            inputs: self.data.features(),
            stem: None,
            hidden: Vec::new(),
            residual: false,
            activation: Activation::Silu,
            outputs: self.head.outputs(),
        }
    }

    fn check(&self) -> Result<()> {
        Head::Mixture(self.head).check().map_err(Error::options)?;
        some_rows(&self.train)
    }

    /// Fits, on this thread.
    pub(crate) fn train(&self) -> TrainedNetwork {
        let Self { head, .. } = self;
        let (data, train) = &in_memory(&self.data, &self.train);
        let atoms = head.atoms.list();
        let is_atom = |row: &u32| atoms.iter().any(|atom| atom.value == data.y()[*row as usize]);
        let rows: Vec<u32> = train.iter().copied().filter(|row| !is_atom(row)).collect();
        let weight = |rows: &[u32]| rows.iter().map(|row| f64::from(data.sample_weights()[*row as usize])).sum::<f64>();
        let continuous = (weight(&rows) / weight(train)).max(LEAST_PROBABILITY);
        let linear = Linear::fit(data, if rows.is_empty() { train } else { &rows }, head.components);
        let network = self.network();
        let layer = network.layers()[0];
        let mut chunks = vec![Chunk::ZERO; network.chunks()];
        let mut set = |output: usize, input: usize, value: f64| {
            chunks[layer.start + output * layer.stride + input / WIDTH].0[input % WIDTH] = value as f32;
        };
        let (bias, every) = (layer.inputs, head.components + atoms.len());
        for component in 0..head.components {
            let [weight, mean, sd] = linear.errors.get(component).copied().unwrap_or([0.0, 0.0, 1.0]);
            set(component, bias, libm::log((continuous * weight).max(LEAST_PROBABILITY)));
            for (input, coefficient) in linear.coefficients.iter().enumerate() {
                set(every + component, input, *coefficient);
            }
            set(every + component, bias, linear.intercept + mean);
            // The inverse of floor + softplus(raw).
            let spread = (sd - f64::from(head.sd_floor)).max(1e-6);
            let raw = if spread > 20.0 { spread } else { libm::log(libm::expm1(spread)) };
            set(every + head.components + component, bias, raw);
        }
        for (number, atom) in atoms.iter().enumerate() {
            let at: Vec<u32> = train.iter().copied().filter(|row| data.y()[*row as usize] == atom.value).collect();
            let probability = (weight(&at) / weight(train)).max(LEAST_PROBABILITY);
            set(head.components + number, bias, libm::log(probability));
        }
        TrainedNetwork {
            parameters: chunks.into(),
            history: History::default(),
            snapshots: Vec::new(),
            cross_fitted: None,
        }
    }
}

/// The rows that a job learns from, in memory, and their numbers there.
fn in_memory<'a>(data: &'a Dataset, train: &'a [u32]) -> (Cow<'a, Dataset>, Cow<'a, [u32]>) {
    match data.is_on_disk() {
        true => (Cow::Owned(data.select(train)), Cow::Owned((0..train.len() as u32).collect())),
        false => (Cow::Borrowed(data), Cow::Borrowed(train)),
    }
}

fn some_rows(train: &[u32]) -> Result<()> {
    if train.is_empty() { Err(Error::data("there is no row to train on")) } else { Ok(()) }
}

/// The smallest weight of a component of a linear model.
const LEAST_PROBABILITY: f64 = 1e-9;

impl ForestJob {
    fn check(&self) -> Result<()> {
        let ForestConfig { n_estimators, min_samples_leaf, max_features, max_samples } = self.config;
        let counts = [n_estimators, min_samples_leaf, max_samples, self.components];
        let sound = counts.iter().all(|count| *count > 0) && max_features > 0.0 && max_features <= 1.0;
        if !sound || self.components > usize::from(u16::MAX) {
            return Err(Error::options("the settings of a forest are out of range"));
        }
        some_rows(&self.train)
    }

    /// Grows, on this thread.
    pub(crate) fn train(&self) -> Forest {
        let (data, train) = in_memory(&self.data, &self.train);
        let bins = TargetBins::new(&data, &train, self.components);
        Forest::grow(&self.config, &data, &train, &bins, self.seed)
    }
}

impl TreesJob {
    /// Trains the model on this thread.
    pub(crate) fn train(&self, number: usize, callbacks: &Callbacks<'_>) -> Result<TrainedTrees> {
        let rows = [&self.train[..], &self.validation].concat();
        let (data, rows) = in_memory(&self.data, &rows);
        let (train, validation) = rows.split_at(self.train.len());
        let columns = data.columns();
        let columns = Columns::new(&columns, data.len())?;
        let doubles = |list: &[f32]| list.iter().map(|number| f64::from(*number)).collect::<Vec<_>>();
        let (y, weights) = (doubles(data.y()), doubles(data.sample_weights()));
        let ends = data.intervals().map(|intervals| [intervals.lower(), intervals.upper()].map(doubles));
        let targets = Targets { y: &y, intervals: ends.as_ref().map(|[lower, upper]| [&lower[..], &upper[..]]) };
        let split = TrainValidation { train, validation, cross_fitting_split: self.cross_fitting_split };
        self.settings.fit_split(&columns, targets, Some(&weights), split, self.seed, (number, callbacks))
    }
}
