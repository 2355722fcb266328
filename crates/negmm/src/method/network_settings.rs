//! The settings that all neural methods have: network architecture, smallest sd and training.

use serde::{Deserialize, Serialize};

use super::fold_data::FoldData;
use negmm_dist::Result;
use negmm_nn::dataset::Dataset;
use negmm_nn::net::{Activation, EmbeddedInput, Lstm, MAX_LSTM_LAYERS, MAX_LSTM_UNITS, Network, Periodic, Stem};
use negmm_nn::options::{OptionSpec, Options, SIGMA_MIN, option_list};
use negmm_nn::train::{NetworkJob, Objective, TrainingConfig};

/// Maximum numbers of units per hidden layer and of hidden layers.
const MOST_UNITS: usize = 16_384;
const MOST_LAYERS: usize = 64;

/// A network and its training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct NetworkSettings {
    /// Units of each hidden layer.
    pub hidden: Vec<usize>,
    /// Whether layers are residual, see [`Network::residual`].
    pub residual: bool,
    /// The activation function.
    pub activation: Activation,
    /// Periodic embedding: initial sd of the frequencies, see [`Periodic`].
    pub embedding: Option<f64>,
    /// Smooth clipping: the limit in sds, see [`negmm_data::Encoder::soft_clipping`].
    pub soft_clip: Option<f64>,
    /// Whether numeric columns have a second copy, quantile-transformed to a normal distribution, see
    /// [`negmm_data::EncoderOptions`].
    #[serde(rename = "normal-scores")]
    pub quantile_transform: bool,
    /// Units of each layer of the LSTM.
    pub lstm_hidden: usize,
    /// Layers of the LSTM.
    pub lstm_layers: usize,
    /// Smallest sd.
    pub sigma_min: f64,
    /// Training settings.
    #[serde(flatten)]
    pub training: TrainingConfig,
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self {
            hidden: vec![64, 64],
            residual: false,
            activation: Activation::Silu,
            embedding: None,
            soft_clip: None,
            quantile_transform: false,
            lstm_hidden: 64,
            lstm_layers: 2,
            sigma_min: 1e-3,
            training: TrainingConfig::default(),
        }
    }
}

/// Setters.
impl NetworkSettings {
    /// Sets `hidden`.
    #[must_use]
    pub fn hidden(self, hidden: Vec<usize>) -> Self {
        Self { hidden, ..self }
    }

    /// Sets `residual`.
    #[must_use]
    pub fn residual(self, residual: bool) -> Self {
        Self { residual, ..self }
    }

    /// Sets `activation`.
    #[must_use]
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }

    /// Sets `embedding`.
    #[must_use]
    pub fn embedding(self, embedding: impl Into<Option<f64>>) -> Self {
        Self { embedding: embedding.into(), ..self }
    }

    /// Sets `soft_clip`.
    #[must_use]
    pub fn soft_clip(self, soft_clip: impl Into<Option<f64>>) -> Self {
        Self { soft_clip: soft_clip.into(), ..self }
    }

    /// Sets `quantile_transform`.
    #[must_use]
    pub fn quantile_transform(self, quantile_transform: bool) -> Self {
        Self { quantile_transform, ..self }
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

    /// Sets `sigma_min`.
    #[must_use]
    pub fn sigma_min(self, sigma_min: f64) -> Self {
        Self { sigma_min, ..self }
    }

    /// Sets `training`.
    #[must_use]
    pub fn training(self, training: TrainingConfig) -> Self {
        Self { training, ..self }
    }
}

pub(super) const HIDDEN: OptionSpec = OptionSpec::new(
    "Network",
    "hidden",
    "UNITS",
    "units of each hidden layer, such as 64,64; for sequences the layers after the LSTM (none unless given)",
)
.within(1.0, MOST_UNITS as f64)
.unit("units")
.max_items(MOST_LAYERS, "layers")
.basic();

pub(super) const RESIDUAL: OptionSpec = OptionSpec::choice(
    "Network",
    "residual",
    "residual (skip) connections between hidden layers of equal width; help with three or more layers",
);

const ACTIVATION: OptionSpec = OptionSpec::choice("Network", "activation", "activation function of the hidden units");

pub(super) const EMBEDDING: OptionSpec = OptionSpec::new(
    "Network",
    "embedding",
    "SD",
    "periodic embedding of numeric inputs: sd of the initial frequencies, small for smooth functions; not for sequences",
)
.within(0.001, 100.0);

const SOFT_CLIP: OptionSpec = OptionSpec::new(
    "Network",
    "soft-clip",
    "SD",
    "smooth clipping of numeric inputs to this many sds from their mean; not for sequences",
)
.within(0.1, 1000.0);

pub(super) const QUANTILE_TRANSFORM: OptionSpec = OptionSpec::choice(
    "Network",
    "quantile-transform",
    "adds a copy of every numeric input, quantile-transformed to a normal distribution; may help with skewed columns; not for sequences",
);

pub(super) const LSTM_HIDDEN: OptionSpec =
    OptionSpec::new("Network", "lstm-hidden", "UNITS", "units of each LSTM layer; for sequences")
        .within(1.0, MAX_LSTM_UNITS as f64)
        .unit("units");

pub(super) const LSTM_LAYERS: OptionSpec =
    OptionSpec::new("Network", "lstm-layers", "N", "number of LSTM layers; for sequences")
        .within(1.0, MAX_LSTM_LAYERS as f64);

impl Options for NetworkSettings {
    option_list! {
        hidden: HIDDEN,
        residual: RESIDUAL,
        activation: ACTIVATION,
        embedding: EMBEDDING,
        soft_clip: SOFT_CLIP,
        quantile_transform: QUANTILE_TRANSFORM,
        lstm_hidden: LSTM_HIDDEN,
        lstm_layers: LSTM_LAYERS,
        sigma_min: SIGMA_MIN,
        ..training
    }

    fn check_combination(&self) -> Result<()> {
        self.training.check_combination()
    }
}

impl NetworkSettings {
    /// One network to train.
    pub(super) fn job(&self, fold_data: &FoldData, objective: Objective, seed: u64) -> NetworkJob {
        let FoldData { data, train, validation, .. } = fold_data;
        NetworkJob {
            network: Network {
                inputs: data.features(),
                stem: self.stem(data),
                hidden: self.hidden.clone(),
                residual: self.residual,
                activation: self.activation,
                outputs: objective.head().outputs(),
            },
            objective,
            data: data.clone(),
            plan: self.training.plan(train.len()),
            train: train.clone(),
            validation: validation.clone(),
            seed,
            initial: None,
        }
    }

    /// The stem: what is applied to rows before the layers.
    fn stem(&self, data: &Dataset) -> Option<Stem> {
        if let Some(window) = data.window() {
            let (hidden, layers) = (self.lstm_hidden, self.lstm_layers);
            return Some(Stem::Lstm(Lstm { channels: data.features() / window, window, hidden, layers }));
        }
        let frequency = self.embedding? as f32;
        let embedded = |input: &usize| {
            let (low, high) = data.range(*input);
            EmbeddedInput { input: *input, low, high }
        };
        let embedded: Vec<EmbeddedInput> = data.numbers().iter().map(embedded).collect();
        (!embedded.is_empty()).then_some(Stem::Periodic(Periodic { inputs: data.features(), frequency, embedded }))
    }
}
