//! The settings of `auto`.

use serde::{Deserialize, Serialize};

use super::ensemble::ENSEMBLE_SIZE;
use super::mixture_network::COMPONENTS;
use super::ne_gmm::ETA;
use super::network_settings::{
    EMBEDDING, HIDDEN, LSTM_HIDDEN, LSTM_LAYERS, NetworkSettings, QUANTILE_TRANSFORM, RESIDUAL,
};
use super::sizes::Preset;
use negmm_nn::options::{OptionSpec, Options, PATIENCE, SIGMA_MIN, automatic, option_list};
use negmm_nn::train::{BATCH_SIZE, DROPOUT, LEARNING_RATE, OPTIMISER, Optimiser, STEPS, WEIGHT_DECAY};

/// Maximum numbers of folds and of networks per fold.
const MOST_FOLDS: usize = 100;
const MOST_MEMBERS: usize = 100;

/// A pool of members of several capacities, weighted by what they are worth on held-out rows.
///
/// The rows are divided into folds, in each repeat into others, and for each fold every member is trained on the rest:
///
/// - networks: neural Gaussian mixtures of the full number of steps, which keep the checkpoint with the best calibrated
///   logarithmic score on their own fold;
/// - short networks (40 % of the steps, dropout 0.1) and dropout networks (13.5 %, dropout 0.5), whose schedules are
///   annealed to the end: better where there is much noise. With fewer than 750 rows short networks have fewer steps, in
///   proportion to the rows but at least 10 %, and every second dropout network has half of its steps;
/// - for a target on a grid, whose networks learn the probability of cells, also short ones that learn the density;
/// - a linear model: ridge regression with the distribution of its leave-one-out errors;
/// - a random forest with the distribution of the targets in its leaves, which recalls repeated rows;
/// - boosted trees, with `best`;
/// - the constant: the empirical distribution of the targets.
///
/// New rows are predicted by the networks of the folds. Of members that select no checkpoint, models of all rows predict
/// instead (one linear model, five of each other; from 15,000 rows on those of the folds).
///
/// Stacking weights minimise a mix of the logarithmic score and the CRPS of the pool as it will predict. The sds of a
/// member are multiplied by a sigma scale, and a small part of each row's distribution is a wide copy of itself: its
/// weight is fitted too.
///
/// | rows | hidden, residual | frequencies | batch | steps | checks | repeats × folds |
/// |---|---|---|---|---|---|---|
/// | fewer than 5000 | 64, 64, 64, 64 | 0.1 and 0.5 in turn | 64 | 1500 | 30 | 2 × 5 |
/// | 5000 … | 64, 64, 64, 64 | 0.5 and 2 in turn | 64 | 3500 | 20 | 2 × 5 |
/// | 15,000 … | 64, 64, 64, 64 | 2 | 128 | 2500, more from 20,000 rows on | 20 | 2 × 5 |
/// | 30,000 … | 96, 96, 96, 96 | 2 | 128 | 2500, and more | 20 | 1 × 5 |
/// | 15,000 … of 64 numbers or more | 64, 64, 64, 64 | 2 | 256 | 1500, more from 20,000 rows on | 20 | 1 × 5 |
/// | a sequence | none (after the LSTM) | | 64 | 2000 | 40 | 1 × 10 |
///
/// Beyond 20,000 rows steps grow with the rows, beyond 100,000 with their square root. From 5000 rows on there are no
/// short networks, from 15,000 on no dropout networks. Networks are trained by Muon with a learning rate of 0.012
/// (sequences by Adam with 0.005), with early stopping after a quarter of all checks without improvement (none for a
/// sequence). Preset `fast` has one repeat and a third of the steps of networks, and no short ones; `best` has 2 × 10
/// folds, from 5000 rows on twice the steps, three times the trees of the forest, and boosted trees.
///
/// With fewer than 10 rows nothing is trained: the prediction is the targets' mean, with an sd that accounts for the
/// uncertainty of mean and sd. With fewer than 50, folds have at least 3 rows, and the means and sds of networks are
/// bounded. Rows of a group stay in one fold. Sequences and censored targets are left to networks of the full number of
/// steps, in 10 folds, and the constant, which for censored targets is the estimate of Kaplan and Meier; of a sequence the
/// last third is held out block by block, by networks trained on the rows before the block. Targets at a bound have all
/// members but dropout networks, and no wide copies. With 256 features and more there are no frequencies and one repeat,
/// and boosted trees where rows times features are at most two million.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Auto {
    /// Training effort.
    pub preset: Preset,
    /// Cross-validation folds.
    #[serde(with = "automatic")]
    pub folds: Option<usize>,
    /// Repeats of the cross-validation with other folds.
    #[serde(with = "automatic")]
    pub n_repeats: Option<usize>,
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
    /// Whether the pool has networks that learn a target on a grid as if it were continuous.
    #[serde(with = "automatic")]
    pub density_networks: Option<bool>,
    /// Whether the pool has networks with a short annealed schedule.
    #[serde(with = "automatic")]
    pub short_networks: Option<bool>,
    /// Whether the pool has networks with a still shorter schedule and strong dropout.
    #[serde(with = "automatic")]
    pub dropout_networks: Option<bool>,
    /// Whether the pool has a linear model.
    #[serde(with = "automatic")]
    pub linear: Option<bool>,
    /// Whether the pool has a random forest.
    #[serde(with = "automatic")]
    pub forest: Option<bool>,
    /// Whether the pool has boosted trees.
    #[serde(with = "automatic")]
    pub boosted_trees: Option<bool>,
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
            n_repeats: None,
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
            density_networks: None,
            short_networks: None,
            dropout_networks: None,
            linear: None,
            forest: None,
            boosted_trees: None,
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

    /// Sets `n_repeats`.
    #[must_use]
    pub fn n_repeats(self, n_repeats: impl Into<Option<usize>>) -> Self {
        Self { n_repeats: n_repeats.into(), ..self }
    }

    /// Sets `density_networks`.
    #[must_use]
    pub fn density_networks(self, density_networks: impl Into<Option<bool>>) -> Self {
        Self { density_networks: density_networks.into(), ..self }
    }

    /// Sets `short_networks`.
    #[must_use]
    pub fn short_networks(self, short_networks: impl Into<Option<bool>>) -> Self {
        Self { short_networks: short_networks.into(), ..self }
    }

    /// Sets `dropout_networks`.
    #[must_use]
    pub fn dropout_networks(self, dropout_networks: impl Into<Option<bool>>) -> Self {
        Self { dropout_networks: dropout_networks.into(), ..self }
    }

    /// Sets `linear`.
    #[must_use]
    pub fn linear(self, linear: impl Into<Option<bool>>) -> Self {
        Self { linear: linear.into(), ..self }
    }

    /// Sets `forest`.
    #[must_use]
    pub fn forest(self, forest: impl Into<Option<bool>>) -> Self {
        Self { forest: forest.into(), ..self }
    }

    /// Sets `boosted_trees`.
    #[must_use]
    pub fn boosted_trees(self, boosted_trees: impl Into<Option<bool>>) -> Self {
        Self { boosted_trees: boosted_trees.into(), ..self }
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

const REPEATS: OptionSpec =
    OptionSpec::new("auto", "n-repeats", "R", "repeats of the cross-validation, each with other folds")
        .within(1.0, 10.0);

const DENSITY_NETWORKS: OptionSpec = OptionSpec::choice(
    "auto",
    "density-networks",
    "whether the pool has networks that learn a target on a grid as if it were continuous",
);

const SHORT_NETWORKS: OptionSpec =
    OptionSpec::choice("auto", "short-networks", "whether the pool has networks with a short annealed schedule");

const DROPOUT_NETWORKS: OptionSpec = OptionSpec::choice(
    "auto",
    "dropout-networks",
    "whether the pool has networks with a still shorter schedule and strong dropout",
);

const LINEAR: OptionSpec = OptionSpec::choice("auto", "linear", "whether the pool has a linear model");

const FOREST: OptionSpec = OptionSpec::choice("auto", "forest", "whether the pool has a random forest");

const BOOSTED_TREES: OptionSpec = OptionSpec::choice("auto", "boosted-trees", "whether the pool has boosted trees");

const NETWORKS_PER_FOLD: OptionSpec =
    OptionSpec { help: "number of networks per fold", ..ENSEMBLE_SIZE.within(1.0, MOST_MEMBERS as f64) };

impl Options for Auto {
    option_list! {
        preset: PRESET,
        folds: FOLDS.automatic(BY_PRESET),
        n_repeats: REPEATS.automatic(BY_SIZE),
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
        density_networks: DENSITY_NETWORKS.automatic(BY_SIZE),
        short_networks: SHORT_NETWORKS.automatic(BY_SIZE),
        dropout_networks: DROPOUT_NETWORKS.automatic(BY_SIZE),
        linear: LINEAR.automatic(BY_SIZE),
        forest: FOREST.automatic(BY_SIZE),
        boosted_trees: BOOSTED_TREES.automatic(BY_PRESET),
        lstm_hidden: LSTM_HIDDEN,
        lstm_layers: LSTM_LAYERS,
    }
}
