//! `auto`, the default method: a calibrated pool of NE-GMMs whose settings are chosen by the size of the data.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ensemble::ENSEMBLE_SIZE;
use super::few_rows::{FEW, LEAST_TRAINED, constant_sd};
use super::fold_data::FoldData;
use super::fold_rows::{Divided, divide, half_of, learnt_from};
use super::folds::{Fold, Folds};
use super::mixture_network::COMPONENTS;
use super::ne_gmm::{ETA, check_eta_of_censored};
use super::network_settings::{EMBEDDING, HIDDEN, LSTM_HIDDEN, LSTM_LAYERS, QUANTILE_TRANSFORM, RESIDUAL};
use super::plan::{Plan, Work};
use super::seed::member_seed;
use super::settings::MethodSettings;
use super::sizes::{Preset, Sizes};
use super::{MixtureNetwork, NetworkSettings, NgBoost, PredictorKind, constant};
use negmm_dist::Result;
use negmm_dist::math::rng::Rng;
use negmm_dist::streams;
use negmm_nn::dataset::Dataset;
use negmm_nn::net::Activation;
use negmm_nn::options::{OptionSpec, Options, PATIENCE, SIGMA_MIN, automatic, option_list};
use negmm_nn::train::{
    BATCH_SIZE, DROPOUT, LEARNING_RATE, OPTIMISER, Optimiser, STEPS, Schedule, Selection, TrainingConfig, TreesJob,
    WEIGHT_DECAY,
};

/// Maximum numbers of folds and of networks per fold.
const MOST_FOLDS: usize = 100;
const MOST_MEMBERS: usize = 100;
/// Minimum number of rows of a fold.
const LEAST_IN_FOLD: usize = 3;
/// With few rows, the largest sd and absolute mean of a component, in sds of the target.
const FEW_SIGMA_MAX: f64 = 2.0;
const FEW_MEAN_BOUND: f64 = 4.0;
/// Maximum number of held-out rows for checkpoint selection.
const MOST_CHECKED: usize = 10_000;
/// The limit of smooth clipping, in sds.
const SOFT_CLIP: f64 = 8.0;

/// A pool of neural Gaussian mixtures: the rows are divided into folds, and for each fold `ensemble_size` networks
/// are trained on the other folds. Each keeps the checkpoint with the best calibrated logarithmic score on its own
/// fold. The members of the pool are the networks of each number, the targets' own distribution and, with `best`,
/// boosted trees. Their stacking weights maximise the likelihood of out-of-fold predictions, and the sds of networks
/// are multiplied by a sigma scale.
///
/// | rows | hidden, residual | frequencies | batch | steps | checks | folds |
/// |---|---|---|---|---|---|---|
/// | fewer than 5000 | 64, 64, 64, 64 | 0.1 and 0.5 in turn | 64 | 1500 | 30 | 10 |
/// | 5000 … | 64, 64, 64, 64 | 0.5 and 2 in turn | 64 | 3500 | 20 | 10 |
/// | 15,000 … | 64, 64, 64, 64 | 2 | 128 | 2500, more from 20,000 rows on | 20 | 5 |
/// | 30,000 … | 96, 96, 96, 96 | 2 | 128 | 2500, and more | 20 | 5 |
/// | 15,000 … of 64 numbers or more | 64, 64, 64, 64 | 2 | 256 | 1500, more from 20,000 rows on | 20 | 5 |
/// | a sequence | none (after the LSTM) | | 64 | 2000 | 40 | 10 |
///
/// Beyond 20,000 rows steps grow with the rows, beyond 100,000 with their square root.
/// Networks are trained by Muon with a learning rate of 0.012 (sequences by Adam with 0.005), with early stopping
/// after a quarter of all checks without improvement; with few rows there is no early stopping. Preset `fast` has 5
/// folds and a third of the steps, `best` 10 folds of four networks (two for a sequence), twice the steps, and trees.
///
/// With fewer than 10 rows nothing is trained: the prediction is the targets' mean, with an sd that accounts for the
/// uncertainty of mean and sd. With fewer than 50, folds have at least 3 rows, and sds are wider. Rows of a group
/// stay in one fold. For a sequence the last third is held out block by block, by networks trained on the rows before
/// the block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Auto {
    /// Training effort.
    pub preset: Preset,
    /// Cross-validation folds.
    #[serde(with = "automatic")]
    pub folds: Option<usize>,
    /// Networks per fold; called `members` in files.
    #[serde(rename = "members", with = "automatic")]
    pub ensemble_size: Option<usize>,
    /// Number of mixture components K.
    pub components: usize,
    /// Weight of the logarithmic score in the loss.
    pub eta: f64,
    /// Smallest sd.
    pub sigma_min: f64,
    /// Units of each hidden layer.
    #[serde(with = "automatic")]
    pub hidden: Option<Vec<usize>>,
    /// Whether layers are residual.
    #[serde(with = "automatic")]
    pub residual: Option<bool>,
    /// Periodic embedding: sd of the frequencies at the start.
    #[serde(with = "automatic")]
    pub embedding: Option<f64>,
    /// Whether numeric columns have a second copy, quantile-transformed to a normal distribution; called `normal-scores` in files.
    #[serde(rename = "normal-scores")]
    pub quantile_transform: bool,
    /// Rows per optimiser step; called `batch` in files.
    #[serde(rename = "batch", with = "automatic")]
    pub batch_size: Option<usize>,
    /// The optimiser.
    #[serde(with = "automatic")]
    pub optimiser: Option<Optimiser>,
    /// Peak learning rate.
    #[serde(with = "automatic")]
    pub learning_rate: Option<f64>,
    /// Optimiser steps per network.
    #[serde(with = "automatic")]
    pub steps: Option<usize>,
    /// Early stopping: validation checks without improvement before training stops.
    #[serde(with = "automatic")]
    pub patience: Option<usize>,
    /// Dropout probability of the hidden units.
    #[serde(with = "automatic")]
    pub dropout: Option<f64>,
    /// Decoupled weight decay.
    #[serde(with = "automatic")]
    pub weight_decay: Option<f64>,
    /// Units of each layer of the LSTM.
    pub lstm_hidden: usize,
    /// Layers of the LSTM.
    pub lstm_layers: usize,
}

impl Default for Auto {
    fn default() -> Self {
        let NetworkSettings { lstm_hidden, lstm_layers, .. } = NetworkSettings::default();
        Self {
            preset: Preset::Medium,
            folds: None,
            ensemble_size: None,
            components: 8,
            eta: 0.5,
            sigma_min: 1e-3,
            hidden: None,
            residual: None,
            embedding: None,
            quantile_transform: false,
            batch_size: None,
            optimiser: None,
            learning_rate: None,
            steps: None,
            patience: None,
            dropout: None,
            weight_decay: None,
            lstm_hidden,
            lstm_layers,
        }
    }
}

/// Setters.
impl Auto {
    /// Sets `preset`.
    #[must_use]
    pub fn preset(self, preset: Preset) -> Self {
        Self { preset, ..self }
    }

    /// Sets `folds`.
    #[must_use]
    pub fn folds(self, folds: impl Into<Option<usize>>) -> Self {
        Self { folds: folds.into(), ..self }
    }

    /// Sets `ensemble_size`.
    #[must_use]
    pub fn ensemble_size(self, ensemble_size: impl Into<Option<usize>>) -> Self {
        Self { ensemble_size: ensemble_size.into(), ..self }
    }

    /// Sets `components`.
    #[must_use]
    pub fn components(self, components: usize) -> Self {
        Self { components, ..self }
    }

    /// Sets `eta`.
    #[must_use]
    pub fn eta(self, eta: f64) -> Self {
        Self { eta, ..self }
    }

    /// Sets `sigma_min`.
    #[must_use]
    pub fn sigma_min(self, sigma_min: f64) -> Self {
        Self { sigma_min, ..self }
    }

    /// Sets `hidden`.
    #[must_use]
    pub fn hidden(self, hidden: impl Into<Option<Vec<usize>>>) -> Self {
        Self { hidden: hidden.into(), ..self }
    }

    /// Sets `residual`.
    #[must_use]
    pub fn residual(self, residual: impl Into<Option<bool>>) -> Self {
        Self { residual: residual.into(), ..self }
    }

    /// Sets `embedding`.
    #[must_use]
    pub fn embedding(self, embedding: impl Into<Option<f64>>) -> Self {
        Self { embedding: embedding.into(), ..self }
    }

    /// Sets `quantile_transform`.
    #[must_use]
    pub fn quantile_transform(self, quantile_transform: bool) -> Self {
        Self { quantile_transform, ..self }
    }

    /// Sets `batch_size`.
    #[must_use]
    pub fn batch_size(self, batch_size: impl Into<Option<usize>>) -> Self {
        Self { batch_size: batch_size.into(), ..self }
    }

    /// Sets `optimiser`.
    #[must_use]
    pub fn optimiser(self, optimiser: impl Into<Option<Optimiser>>) -> Self {
        Self { optimiser: optimiser.into(), ..self }
    }

    /// Sets `learning_rate`.
    #[must_use]
    pub fn learning_rate(self, learning_rate: impl Into<Option<f64>>) -> Self {
        Self { learning_rate: learning_rate.into(), ..self }
    }

    /// Sets `steps`.
    #[must_use]
    pub fn steps(self, steps: impl Into<Option<usize>>) -> Self {
        Self { steps: steps.into(), ..self }
    }

    /// Sets `patience`.
    #[must_use]
    pub fn patience(self, patience: impl Into<Option<usize>>) -> Self {
        Self { patience: patience.into(), ..self }
    }

    /// Sets `dropout`.
    #[must_use]
    pub fn dropout(self, dropout: impl Into<Option<f64>>) -> Self {
        Self { dropout: dropout.into(), ..self }
    }

    /// Sets `weight_decay`.
    #[must_use]
    pub fn weight_decay(self, weight_decay: impl Into<Option<f64>>) -> Self {
        Self { weight_decay: weight_decay.into(), ..self }
    }

    /// Sets `lstm_hidden`.
    #[must_use]
    pub fn lstm_hidden(self, lstm_hidden: usize) -> Self {
        Self { lstm_hidden, ..self }
    }

    /// Sets `lstm_layers`.
    #[must_use]
    pub fn lstm_layers(self, lstm_layers: usize) -> Self {
        Self { lstm_layers, ..self }
    }
}

/// The inputs of default settings: the number of rows and whether they are a sequence, or the preset.
const BY_SIZE: &str = "by size";
const BY_PRESET: &str = "by preset";

const PRESET: OptionSpec = OptionSpec::choice(
    "auto",
    "preset",
    "training effort: fast (a first look), medium, or best (best quality and slowest)",
)
.basic();

const FOLDS: OptionSpec = OptionSpec::new(
    "auto",
    "folds",
    "K",
    "cross-validation folds; each is held out once by networks trained on the others",
)
.within(2.0, MOST_FOLDS as f64);

const NETWORKS_PER_FOLD: OptionSpec =
    OptionSpec { help: "number of networks per fold", ..ENSEMBLE_SIZE.within(1.0, MOST_MEMBERS as f64) };

impl Options for Auto {
    option_list! {
        preset: PRESET,
        folds: FOLDS.automatic(BY_PRESET),
        ensemble_size: NETWORKS_PER_FOLD.automatic(BY_PRESET),
        components: COMPONENTS,
        eta: ETA,
        sigma_min: SIGMA_MIN,
        hidden: HIDDEN.automatic(BY_SIZE),
        residual: RESIDUAL.automatic(BY_SIZE),
        embedding: EMBEDDING.automatic(BY_SIZE),
        quantile_transform: QUANTILE_TRANSFORM,
        batch_size: BATCH_SIZE.automatic(BY_SIZE),
        optimiser: OPTIMISER.automatic(BY_SIZE),
        learning_rate: LEARNING_RATE.automatic(BY_SIZE),
        steps: STEPS.automatic(BY_SIZE),
        patience: PATIENCE.automatic(BY_SIZE),
        dropout: DROPOUT.automatic(BY_SIZE),
        weight_decay: WEIGHT_DECAY.automatic(BY_SIZE),
        lstm_hidden: LSTM_HIDDEN,
        lstm_layers: LSTM_LAYERS,
    }
}

impl MethodSettings for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    /// Plans training on the rows with non-zero weight; open settings follow from their number.
    fn plan(&self, data: &Arc<Dataset>, seed: u64) -> Result<Plan> {
        let counts = |row: &u32| data.sample_weights()[*row as usize] > 0.0;
        let numbers: Vec<u32> = (0..data.len() as u32).filter(counts).collect();
        let data = if numbers.len() == data.len() { data.clone() } else { Arc::new(data.select(&numbers)) };
        let resolved = self.resolved(&data);
        let work = if data.len() < LEAST_TRAINED {
            Work::Constant { law: constant::law_of_all(&data, constant_sd(data.len())) }
        } else {
            Work::Folds(resolved.plan_folds(data, numbers, seed))
        };
        Ok(Plan { method: resolved.into(), work })
    }

    fn makes(&self, kind: PredictorKind) -> bool {
        kind != PredictorKind::Samplers
    }

    fn check_censored(&self) -> Result<()> {
        check_eta_of_censored(self.name(), self.eta)
    }

    fn soft_clip(&self) -> Option<f64> {
        Some(SOFT_CLIP)
    }

    fn quantile_transform(&self) -> bool {
        self.quantile_transform
    }

    fn as_auto(&self) -> Option<&Auto> {
        Some(self)
    }
}

impl Auto {
    /// The same with every data-dependent setting filled in.
    fn resolved(&self, data: &Dataset) -> Self {
        let sizes = Sizes::of(data, self.preset);
        let NetworkSettings { hidden, residual, training, .. } = self.settings(&sizes);
        Self {
            folds: Some(self.folds.unwrap_or(sizes.folds).min(data.len() / LEAST_IN_FOLD).max(2)),
            ensemble_size: Some(self.ensemble_size.unwrap_or(sizes.ensemble_size)),
            hidden: Some(hidden),
            residual: Some(residual),
            batch_size: Some(training.batch_size),
            optimiser: Some(training.optimiser),
            learning_rate: Some(training.learning_rate),
            steps: training.steps,
            patience: Some(training.patience),
            dropout: Some(training.dropout),
            weight_decay: Some(training.weight_decay),
            ..self.clone()
        }
    }

    /// The settings that all networks share, with defaults from the sizes.
    fn settings(&self, sizes: &Sizes) -> NetworkSettings {
        let steps = self.steps.unwrap_or(sizes.steps);
        let training = TrainingConfig::default()
            .steps(steps)
            .check_every((steps / sizes.checks).max(1))
            .batch_size(self.batch_size.unwrap_or(sizes.batch_size))
            .optimiser(self.optimiser.unwrap_or(sizes.optimiser))
            .learning_rate(self.learning_rate.unwrap_or(sizes.learning_rate))
            .schedule(Schedule::Cosine)
            .patience(self.patience.unwrap_or(sizes.patience))
            .select(Selection::Calibrated)
            .ema_decay(0.0)
            .dropout(self.dropout.unwrap_or(0.0))
            .weight_decay(self.weight_decay.unwrap_or(0.0));
        NetworkSettings {
            hidden: self.hidden.clone().unwrap_or_else(|| sizes.hidden.to_vec()),
            residual: self.residual.unwrap_or(true),
            activation: Activation::Silu,
            embedding: self.embedding,
            soft_clip: Some(SOFT_CLIP),
            quantile_transform: self.quantile_transform,
            lstm_hidden: self.lstm_hidden,
            lstm_layers: self.lstm_layers,
            sigma_min: self.sigma_min,
            training,
        }
    }

    /// Network number `member` of a fold.
    fn network(&self, sizes: &Sizes, member: usize) -> MixtureNetwork {
        let frequency = sizes.frequencies[member % sizes.frequencies.len()];
        let settings = NetworkSettings { embedding: self.embedding.or(Some(frequency)), ..self.settings(sizes) };
        MixtureNetwork { components: self.components, settings, ..MixtureNetwork::default() }
    }

    /// The networks to train, for settings that are [`Auto::resolved`].
    fn plan_folds(&self, data: Arc<Dataset>, numbers: Vec<u32>, seed: u64) -> Folds {
        let sizes = Sizes::of(&data, self.preset);
        let (folds, members) = (self.folds.unwrap_or(sizes.folds), self.ensemble_size.unwrap_or(sizes.ensemble_size));
        // A member of a pool may be more confident than it should be alone, and a sigma scale has no effect on sds
        // below the width of a cell. The score of a single network would then not select the best checkpoint for the
        // pool, so that with interval targets the last one is kept.
        let cells = data.intervals().is_some() && !data.has_censored();
        let divided = divide(&data, folds, &mut Rng::new(seed, streams::FOLDS));
        let mut folds = Vec::with_capacity(divided.len());
        let (mut networks, mut trees) = (Vec::with_capacity(divided.len() * members), Vec::new());
        for (number, Divided { rows, groups }) in divided.into_iter().enumerate() {
            let checked = rows.len().min(MOST_CHECKED);
            let half = if cells { 0 } else { half_of(checked, groups.as_deref()) };
            let material = FoldData::new(&data, (learnt_from(&data, &rows), rows[..checked].to_vec()), seed);
            for member in 0..members {
                let own = member_seed(seed, number * members + member);
                let network = self.network(&sizes, if members > 1 { member } else { number });
                let network = if data.len() < FEW { Self::bounded_for_few_rows(network) } else { network };
                let mut job = network.job(&material, self.eta, own);
                job.plan.cross_fitting_split = half;
                job.plan.keep_last_checkpoint = cells;
                networks.push(job);
            }
            let FoldData { data, train, statistics, .. } = material;
            if sizes.trees {
                let (seed, cross_fitting_split) = (member_seed(seed, number), half_of(rows.len(), groups.as_deref()));
                trees.push(TreesJob {
                    settings: of_trees(),
                    data,
                    train,
                    validation: rows.clone(),
                    cross_fitting_split,
                    seed,
                });
            }
            folds.push(Fold { rows, checked, half, statistics });
        }
        Folds { networks, trees, folds, data, numbers }
    }

    /// The same for few rows: a network trained on ten rows must not extrapolate far.
    fn bounded_for_few_rows(network: MixtureNetwork) -> MixtureNetwork {
        // An explicitly larger sigma-min wins.
        let sigma_max = Some(FEW_SIGMA_MAX).filter(|most| *most > network.settings.sigma_min);
        MixtureNetwork { sigma_max, mean_bound: Some(FEW_MEAN_BOUND), ..network }
    }
}

/// Settings of the trees in the pool.
fn of_trees() -> NgBoost {
    NgBoost::default()
        .n_estimators(600)
        .max_depth(6)
        .learning_rate(0.05)
        .subsample(0.8)
        .min_samples_leaf(5)
        .patience(50)
        .refit(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_nn::train::NetworkJob;

    /// Rows with one input; with `repeats`, every third repeats the input of the row before it.
    fn data(rows: usize, repeats: bool) -> Dataset {
        let mut data = Dataset::new(1);
        for row in 0..rows {
            let x = if repeats && row % 3 == 2 { row - 1 } else { row };
            data.push(&[x as f32], row as f32);
        }
        data
    }

    /// The networks, and the held-out rows of each fold.
    fn planned(auto: &Auto, data: &Dataset, seed: u64) -> (Vec<NetworkJob>, Vec<Vec<u32>>) {
        match auto.plan(&Arc::new(data.clone()), seed).unwrap().work {
            Work::Folds(Folds { networks, folds, .. }) => (networks, folds.into_iter().map(|fold| fold.rows).collect()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn no_network_learns_from_the_rows_it_holds_out() {
        for (data, members) in [(data(103, false), 1), (data(90, true), 2), (data(11, false), 3)] {
            let (jobs, folds) = planned(&Auto { ensemble_size: Some(members), ..Auto::default() }, &data, 7);
            assert_eq!(jobs.len(), folds.len() * members);
            let mut all = folds.concat();
            all.sort_unstable();
            assert_eq!(all, (0..data.len() as u32).collect::<Vec<_>>(), "each row is held out once");
            for (number, job) in jobs.iter().enumerate() {
                let fold = &folds[number / members];
                assert!(job.train.iter().all(|row| !fold.contains(row)));
                assert!(job.validation.iter().all(|row| fold.contains(row)));
                assert_eq!(job.train.len() + fold.len(), data.len());
                assert!((0..number).all(|other| jobs[other].seed != job.seed));
            }
        }
    }

    #[test]
    fn rows_of_a_group_stay_in_one_fold_and_half() {
        let group = |row: u32| row / 4;
        let data = data(90, false).with_groups((0..90).map(group));
        let (jobs, _) = planned(&Auto::default(), &data, 1);
        let apart = |some: &[u32], others: &[u32]| {
            some.iter().all(|row| others.iter().all(|other| group(*row) != group(*other)))
        };
        for job in jobs {
            assert!(apart(&job.train, &job.validation));
            let (first, second) = job.validation.split_at(job.plan.cross_fitting_split);
            assert!(!first.is_empty() && apart(first, second));
        }
    }

    #[test]
    fn of_a_sequence_networks_learn_from_the_past_alone() {
        let mut rows = Dataset::new(1);
        (0..100).for_each(|row| rows.push(&[row as f32], row as f32));
        let data = negmm_data::windows(&rows, 4, false);
        let (jobs, folds) = planned(&Auto::default(), &data, 1);
        assert_eq!(folds.concat(), (64..96).collect::<Vec<_>>());
        for job in jobs {
            assert!(job.train.iter().all(|row| job.validation.iter().all(|held| row < held)));
        }
    }

    #[test]
    fn the_size_of_the_data_decides() {
        let resolved = |rows: usize, preset: Preset| Auto { preset, ..Auto::default() }.resolved(&data(rows, false));
        let hidden = |rows: usize| resolved(rows, Preset::Medium).hidden.unwrap()[0];
        assert_eq!((hidden(29_999), hidden(30_000)), (64, 96));
        let steps = |rows: usize, preset: Preset| resolved(rows, preset).steps.unwrap();
        assert_eq!([4999, 5000].map(|rows| steps(rows, Preset::Medium)), [1500, 3500]);
        assert_eq!([20_000, 80_000, 400_000].map(|rows| steps(rows, Preset::Medium)), [2500, 10_000, 25_000]);
        assert_eq!((steps(1000, Preset::Fast), steps(1000, Preset::Best)), (500, 3000));
        let few = resolved(20, Preset::Best);
        assert_eq!((few.folds, few.ensemble_size), (Some(6), Some(4)));
        let given = Auto { steps: Some(7), dropout: Some(0.3), ..Auto::default() };
        let large = given.resolved(&data(20_000, false));
        assert_eq!((large.steps, large.dropout, large.batch_size), (Some(7), Some(0.3), Some(128)));
    }
}
