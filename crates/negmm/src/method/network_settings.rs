//! Responsible for the settings that all neural methods share: the network's shape, the floor of its sds, its training.

use serde::{Deserialize, Serialize};

use super::material::FoldData;
use negmm_nn::dataset::Dataset;
use negmm_nn::net::{Activation, EmbeddedInput, Lstm, MOST_LSTM_LAYERS, MOST_LSTM_UNITS, Network, Periodic, Stem};
use negmm_nn::options::{Checked, Options, SIGMA_MIN, Slot, Spec};
use negmm_nn::train::{NetworkJob, Objective, TrainingConfig};

/// Units in one hidden layer, and hidden layers, at most.
const MOST_UNITS: usize = 16_384;
const MOST_LAYERS: usize = 64;

/// A network and its training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct NetworkSettings {
    /// Units of each hidden layer.
    pub hidden: Vec<usize>,
    /// Whether layers are residual, see [`Network::residual`].
    pub residual: bool,
    /// What a hidden unit does to its sum.
    pub activation: Activation,
    /// Periodic embedding: the sd of the frequencies at the start, see [`Periodic`].
    pub embedding: Option<f64>,
    /// Smooth clipping: sds within which numbers stay, see [`negmm_data::Encoder::soft_clipping`].
    pub soft_clip: Option<f64>,
    /// Whether numbers have a second copy, see [`negmm_data::Encoder::adding_normal_scores`].
    pub normal_scores: bool,
    /// Units of each layer of the LSTM.
    pub lstm_hidden: usize,
    /// Layers of the LSTM.
    pub lstm_layers: usize,
    /// Smallest sd.
    pub sigma_min: f64,
    /// How the epochs run.
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
            normal_scores: false,
            lstm_hidden: 64,
            lstm_layers: 2,
            sigma_min: 1e-3,
            training: TrainingConfig::default(),
        }
    }
}

/// Units of each hidden layer.
pub(super) const HIDDEN: Spec = Spec::new(
    "Network",
    "hidden",
    "UNITS",
    "units of each hidden layer, such as 64,64; of a sequence those after the LSTM, none unless given",
)
.within(1.0, MOST_UNITS as f64)
.units("units")
.at_most(MOST_LAYERS, "layers")
.basic();

/// Whether layers are residual.
pub(super) const RESIDUAL: Spec = Spec::new(
    "Network",
    "residual",
    "BOOL",
    "residual layers: each adds what the one before it gave, where both have as many units; helps with three and more",
);

/// Periodic embedding.
pub(super) const EMBEDDING: Spec = Spec::new(
    "Network",
    "embedding",
    "F",
    "periodic embedding of the numbers: sd of its frequencies at the start, low for smooth dependence; not for sequences",
)
.within(0.001, 100.0);

/// Normal scores.
pub(super) const NORMAL_SCORES: Spec = Spec::new(
    "Network",
    "normal-scores",
    "BOOL",
    "a second copy of every number, with the quantiles of a normal; may help where columns are skewed; not for sequences",
);

/// Units of each layer of the LSTM.
pub(super) const LSTM_HIDDEN: Spec =
    Spec::new("Network", "lstm-hidden", "UNITS", "units of each layer of the LSTM that reads a sequence")
        .within(1.0, MOST_LSTM_UNITS as f64)
        .units("units");

/// Layers of the LSTM.
pub(super) const LSTM_LAYERS: Spec =
    Spec::new("Network", "lstm-layers", "N", "layers of the LSTM that reads a sequence")
        .within(1.0, MOST_LSTM_LAYERS as f64);

impl Options for NetworkSettings {
    fn each(&mut self, see: &mut dyn FnMut(&Spec, &mut dyn Slot)) {
        see(&HIDDEN, &mut self.hidden);
        see(&RESIDUAL, &mut self.residual);
        see(&Spec::word("Network", "activation", "activation of the hidden units"), &mut self.activation);
        see(&EMBEDDING, &mut self.embedding);
        see(
            &Spec::new(
                "Network",
                "soft-clip",
                "SD",
                "smooth clipping: numbers stay within so many of their sds; not for sequences",
            )
            .within(0.1, 1000.0),
            &mut self.soft_clip,
        );
        see(&NORMAL_SCORES, &mut self.normal_scores);
        see(&LSTM_HIDDEN, &mut self.lstm_hidden);
        see(&LSTM_LAYERS, &mut self.lstm_layers);
        see(&SIGMA_MIN, &mut self.sigma_min);
        self.training.each(see);
    }

    fn fit_together(&self) -> Checked<()> {
        self.training.fit_together()
    }
}

impl NetworkSettings {
    /// One network to train.
    pub(super) fn job(&self, material: &FoldData, objective: Objective, seed: u64) -> NetworkJob {
        let FoldData { data, train, validation, .. } = material;
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
            course: self.training.course(train.len()),
            train: train.clone(),
            validation: validation.clone(),
            seed,
        }
    }

    /// What rows go through before the layers.
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
