//! Networks of several targets: which methods have them, and their training jobs.

use std::sync::Arc;

use super::auto_settings::Auto;
use super::fold_data::FoldData;
use super::fold_rows::{HeldOutFold, cross_fitting_split, held_out_folds, training_rows};
use super::seed::member_seed;
use super::{Ensemble, Method, MixtureNetwork, NetworkSettings, Pool, Preset};
use negmm_dist::math::rng::Rng;
use negmm_dist::{Error, Result, streams};
use negmm_nn::dataset::{Dataset, TargetEncoding};
use negmm_nn::forest::{ForestConfig, JointForest};
use negmm_nn::net::{Activation, JointHead};
use negmm_nn::train::{NetworkJob, Objective, Optimiser, Schedule, Selection, TrainingConfig};

/// Weight of the joint logarithmic score in the loss, where none is given: a low one has the better energy score, and 0 a poor
/// density.
const ETA: f64 = 0.1;
/// Targets up to which components have a full Cholesky factor, and the rank beside the diagonal beyond.
const FULL: usize = 8;
const RANK: usize = 2;
/// Maximum number of held-out rows for checkpoint selection.
const MOST_CHECKED: usize = 10_000;
/// Minimum number of rows of a fold.
const LEAST_IN_FOLD: usize = 3;
/// Rows from which there are more steps.
const MIDDLING: usize = 5_000;
/// The limit of smooth clipping of inputs, in sds.
const SOFT_CLIP: f64 = 8.0;
/// How a forest of several targets is grown: each tree is a component.
const FOREST: ForestConfig =
    ForestConfig { n_estimators: 64, min_samples_leaf: 3, max_features: 0.5, max_samples: 16_000 };
/// The methods that can predict several targets.
const METHODS: &str = "auto, ne-gmm, mdn or ensemble";

/// The networks of a joint fit.
#[derive(Clone, Debug)]
pub(crate) struct JointNetworks {
    /// One for each network.
    pub(crate) jobs: Vec<NetworkJob>,
    /// The target encoding of each job's training rows.
    pub(crate) statistics: Vec<Arc<TargetEncoding>>,
    /// The head of all.
    pub(crate) head: JointHead,
}

/// The joint forest that is grown on the rows of `train`, with the target encoding of these rows.
pub(crate) fn joint_forest(data: &Arc<Dataset>, train: Vec<u32>, seed: u64) -> (JointForest, Arc<TargetEncoding>) {
    let fold = FoldData::new(data, (train, Vec::new()), seed);
    (JointForest::grow(&FOREST, &fold.data, &fold.train, seed), fold.statistics)
}

impl Method {
    /// The same with the defaults for several targets: a low weight of the logarithmic score, and checkpoints by the energy score.
    #[must_use]
    pub fn for_several_targets(mut self) -> Self {
        match &mut self {
            Self::Auto(auto) => auto.eta = ETA,
            Self::NeGmm(network) => {
                network.eta = ETA;
                network.network.settings.training.select = Selection::Crps;
            }
            Self::Ensemble(ensemble) => {
                let member = std::mem::take(&mut *ensemble.member);
                *ensemble.member = member.for_several_targets();
            }
            _ => {}
        }
        self
    }

    /// Checks that it can predict several targets.
    ///
    /// # Errors
    /// When it cannot; the message names methods that can.
    pub fn check_several_targets(&self) -> Result<()> {
        match self {
            Self::Auto(_) | Self::NeGmm(_) | Self::Mdn(_) => Ok(()),
            Self::Ensemble(ensemble) => match &*ensemble.member {
                Self::NeGmm(_) | Self::Mdn(_) => Ok(()),
                member => Err(Error::options(format!(
                    "an ensemble of {} predicts one target: for several use --member ne-gmm or --member mdn",
                    member.name()
                ))),
            },
            other => {
                Err(Error::options(format!("method {} predicts one target: for several use {METHODS}", other.name())))
            }
        }
    }

    /// Whether the joint prediction is one Gaussian with the mean and covariance of the mixture.
    pub(crate) fn is_moment_matched(&self) -> bool {
        matches!(self, Self::Ensemble(Ensemble { pool: Pool::Gaussian, .. }))
    }

    /// The networks that learn all targets of the data together.
    ///
    /// # Errors
    /// When the method cannot predict several targets.
    pub(crate) fn joint_networks(&self, data: &Arc<Dataset>, seed: u64) -> Result<JointNetworks> {
        self.check()?;
        self.check_several_targets()?;
        let targets = data.joint_targets().map_or(0, |targets| targets.targets());
        match self {
            Self::Auto(auto) => Ok(auto.joint_networks(data, targets, seed)),
            Self::NeGmm(one) => Ok(one.network.joint_networks(data, targets, one.eta, (1, seed))),
            Self::Mdn(one) => Ok(one.network.joint_networks(data, targets, 1.0, (1, seed))),
            Self::Ensemble(ensemble) => {
                let (network, eta) = match &*ensemble.member {
                    Self::NeGmm(one) => (&one.network, one.eta),
                    Self::Mdn(one) => (&one.network, 1.0),
                    _ => return Err(Error::options("an ensemble of this kind predicts one target")),
                };
                Ok(network.joint_networks(data, targets, eta, (ensemble.ensemble_size, seed)))
            }
            _ => Err(Error::options("this method predicts one target")),
        }
    }
}

/// The head for a number of targets.
fn head(targets: usize, components: usize, sigma_min: f64) -> JointHead {
    let rank = (targets > FULL).then_some(RANK);
    JointHead { targets, components, rank, sd_floor: sigma_min as f32 }
}

impl MixtureNetwork {
    /// `count` networks that validate on the same rows.
    fn joint_networks(
        &self,
        data: &Arc<Dataset>,
        targets: usize,
        eta: f64,
        (count, seed): (usize, u64),
    ) -> JointNetworks {
        let head = head(targets, self.components, self.settings.sigma_min);
        let fold_data = FoldData::split(data, self.settings.training.validation_fraction, seed);
        let objective = Objective::Joint { head, eta: eta as f32 };
        let seed_of = |number: usize| if count == 1 { seed } else { member_seed(seed, number) };
        let jobs = (0..count).map(|number| self.settings.job(&fold_data, objective, seed_of(number)));
        JointNetworks { jobs: jobs.collect(), statistics: vec![fold_data.statistics.clone(); count], head }
    }
}

impl Auto {
    /// One network for each fold of each repeat, which keeps the checkpoint with the best energy score on its fold.
    fn joint_networks(&self, data: &Arc<Dataset>, targets: usize, seed: u64) -> JointNetworks {
        let head = head(targets, self.components, self.sigma_min);
        let objective = Objective::Joint { head, eta: self.eta as f32 };
        let folds = self.folds.unwrap_or(5).min(data.len() / LEAST_IN_FOLD).max(2);
        let repeats = self.n_repeats.unwrap_or(if self.preset == Preset::Fast { 1 } else { 2 });
        let mut networks = JointNetworks { jobs: Vec::new(), statistics: Vec::new(), head };
        for repeat in 0..repeats {
            let rng = &mut Rng::new(seed, streams::FOLDS + repeat as u64);
            for HeldOutFold { rows, groups } in held_out_folds(data, folds, rng) {
                let checked = rows.len().min(MOST_CHECKED);
                let fold = FoldData::new(data, (training_rows(data, &rows), rows[..checked].to_vec()), seed);
                let number = networks.jobs.len();
                let settings = self.joint_settings(data.len(), number);
                let mut job = settings.job(&fold, objective, member_seed(seed, number));
                job.plan.cross_fitting_split = cross_fitting_split(checked, groups.as_deref());
                networks.jobs.push(job);
                networks.statistics.push(fold.statistics);
            }
        }
        networks
    }

    /// The settings of network number `number`.
    fn joint_settings(&self, rows: usize, number: usize) -> NetworkSettings {
        let middling = rows >= MIDDLING;
        let steps = self.steps.unwrap_or(match self.preset {
            Preset::Fast => 600,
            Preset::Medium => 2_000,
            Preset::Best => 4_000,
        });
        let checks = if middling { 20 } else { 30 };
        let training = TrainingConfig::default()
            .steps(steps)
            .check_every((steps / checks).max(1))
            .batch_size(self.batch_size.unwrap_or(if middling { 128 } else { 64 }))
            .optimiser(self.optimiser.unwrap_or(Optimiser::Muon))
            .learning_rate(self.learning_rate.unwrap_or(0.012))
            .schedule(Schedule::Cosine)
            .patience(self.patience.unwrap_or(if middling { 6 } else { 10 }))
            .select(Selection::Crps)
            .ema_decay(0.0)
            .dropout(self.dropout.unwrap_or(0.0))
            .weight_decay(self.weight_decay.unwrap_or(0.0));
        let frequencies = if middling { [0.5, 2.0] } else { [0.1, 0.5] };
        NetworkSettings {
            hidden: self.hidden.clone().unwrap_or_else(|| vec![64; 4]),
            residual: self.residual.unwrap_or(true),
            activation: Activation::Silu,
            embedding: self.embedding.or(Some(frequencies[number % 2])),
            soft_clip: Some(SOFT_CLIP),
            quantile_transform: self.quantile_transform,
            sigma_min: self.sigma_min,
            training,
            ..NetworkSettings::default()
        }
    }
}
