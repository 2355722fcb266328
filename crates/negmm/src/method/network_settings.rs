//! Responsible for the settings that all neural methods share: the network's shape, the floor of its sds, its training.

use serde::{Deserialize, Serialize};

use std::sync::Arc;

use super::option::{out_of_range, parse, parse_list, parse_optional, parse_word};
use super::seed::Seed;
use crate::Result;
use crate::data::Dataset;
use crate::math::rng::Rng;
use crate::net::{Activation, Lstm, MOST_LSTM_LAYERS, MOST_LSTM_UNITS, Network, Periodic, Stem, Waved};
use crate::streams;
use crate::train::{NetworkJob, Objective, Training};

/// Units in one hidden layer, and hidden layers, at most.
const MOST_UNITS: usize = 16_384;
const MOST_LAYERS: usize = 64;

/// A network and its training.
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `hidden` | 64, 64 | 0 … 64 layers | units of each hidden layer; of a sequence those after the LSTM |
/// | `activation` | silu | | what a hidden unit does to its sum |
/// | `embedding` | none | 0.001 … 100 | numbers also go through waves: the sd of their frequencies at the start, see [`Periodic`]; not for sequences |
/// | `soft_clip` | none | 0.1 … 1000 | numbers are bent so as to stay within so many sds, see [`crate::data::Encoder::soft_clipping`]; not for sequences |
/// | `lstm_hidden` | 64 | 1 … 16384 | units of each layer of the LSTM that reads a sequence; not used without one |
/// | `lstm_layers` | 2 | 1 … 64 | layers of that LSTM |
/// | `sigma_min` | 0.001 | 1e-6 … 1e6 | smallest sd of a component, in sds of the target |
/// | `training` | | | see [`Training`] |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct NetworkSettings {
    /// Units of each hidden layer.
    pub hidden: Vec<usize>,
    /// What a hidden unit does to its sum.
    pub activation: Activation,
    /// Frequencies of the waves that numbers go through.
    #[serde(default)]
    pub embedding: Option<f64>,
    /// Sds within which numbers are bent.
    #[serde(default)]
    pub soft_clip: Option<f64>,
    /// Units of each layer of the LSTM.
    #[serde(default = "lstm_hidden")]
    pub lstm_hidden: usize,
    /// Layers of the LSTM.
    #[serde(default = "lstm_layers")]
    pub lstm_layers: usize,
    /// Smallest sd.
    pub sigma_min: f64,
    /// How the epochs run.
    #[serde(flatten)]
    pub training: Training,
}

fn lstm_hidden() -> usize {
    64
}

fn lstm_layers() -> usize {
    2
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self {
            hidden: vec![64, 64],
            activation: Activation::Silu,
            embedding: None,
            soft_clip: None,
            lstm_hidden: lstm_hidden(),
            lstm_layers: lstm_layers(),
            sigma_min: 1e-3,
            training: Training::default(),
        }
    }
}

impl NetworkSettings {
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<bool> {
        let training = &mut self.training;
        match name {
            "hidden" if value.trim() == "none" => self.hidden = Vec::new(),
            "hidden" => self.hidden = parse_list(name, value)?,
            "embedding" => self.embedding = parse_optional(name, value)?,
            "soft-clip" => self.soft_clip = parse_optional(name, value)?,
            "lstm-hidden" => self.lstm_hidden = parse(name, value)?,
            "lstm-layers" => self.lstm_layers = parse(name, value)?,
            "activation" => self.activation = parse_word(name, value, "relu, tanh, silu")?,
            "sigma-min" => self.sigma_min = parse(name, value)?,
            "epochs" => training.epochs = parse(name, value)?,
            "steps" => training.steps = parse_optional(name, value)?,
            "check-every" => training.check_every = parse_optional(name, value)?,
            "batch" => training.batch = parse(name, value)?,
            "learning-rate" => training.learning_rate = parse(name, value)?,
            "schedule" => training.schedule = parse_word(name, value, "constant, cosine")?,
            "patience" => training.patience = parse(name, value)?,
            "validation" => training.validation = parse(name, value)?,
            "select" => training.select = parse_word(name, value, "nll, crps, calibrated")?,
            "averaging" => training.averaging = parse(name, value)?,
            "dropout" => training.dropout = parse(name, value)?,
            "weight-decay" => training.weight_decay = parse(name, value)?,
            "adversarial" => training.adversarial = parse(name, value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.hidden.len() > MOST_LAYERS {
            return Err(out_of_range("hidden", "at most 64 layers", self.hidden.len()));
        }
        if let Some(units) = self.hidden.iter().find(|units| !(1..=MOST_UNITS).contains(*units)) {
            return Err(out_of_range("hidden", "from 1 to 16384 units", units));
        }
        if let Some(frequency) = self.embedding.filter(|frequency| !(0.001..=100.0).contains(frequency)) {
            return Err(out_of_range("embedding", "from 0.001 to 100, or none", frequency));
        }
        if let Some(limit) = self.soft_clip.filter(|limit| !(0.1..=1000.0).contains(limit)) {
            return Err(out_of_range("soft-clip", "from 0.1 to 1000, or none", limit));
        }
        if !(1..=MOST_LSTM_UNITS).contains(&self.lstm_hidden) {
            return Err(out_of_range("lstm-hidden", "from 1 to 16384 units", self.lstm_hidden));
        }
        if !(1..=MOST_LSTM_LAYERS).contains(&self.lstm_layers) {
            return Err(out_of_range("lstm-layers", "from 1 to 64", self.lstm_layers));
        }
        // Below 1e-6 the square of an sd is too close to the smallest f32.
        if !(self.sigma_min >= 1e-6 && self.sigma_min <= 1e6) {
            return Err(out_of_range("sigma-min", "from 1e-6 to 1e6", self.sigma_min));
        }
        self.training.check()
    }

    /// One network to train; `seed.split` chooses the validation rows.
    pub(super) fn job(&self, data: &Arc<Dataset>, objective: Objective, seed: Seed) -> NetworkJob {
        let rng = &mut Rng::new(seed.split, streams::VALIDATION);
        let (train, validation) = data.holdout(self.training.validation, rng);
        self.job_on(data, (train, validation), objective, seed.network)
    }

    /// One network to train on some rows, with others to choose the checkpoint.
    pub(super) fn job_on(
        &self,
        data: &Arc<Dataset>,
        (train, validation): (Vec<u32>, Vec<u32>),
        objective: Objective,
        seed: u64,
    ) -> NetworkJob {
        NetworkJob {
            network: Network {
                inputs: data.features(),
                stem: self.stem(data),
                hidden: self.hidden.clone(),
                activation: self.activation,
                outputs: objective.head().outputs(),
            },
            objective,
            data: data.clone(),
            course: self.training.course(train.len()),
            train,
            validation,
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
        let waved = |input: &usize| {
            let (low, high) = data.range(*input);
            Waved { input: *input, low, high }
        };
        let waved: Vec<Waved> = data.numbers().iter().map(waved).collect();
        (!waved.is_empty()).then_some(Stem::Periodic(Periodic { inputs: data.features(), frequency, waved }))
    }
}
