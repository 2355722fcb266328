//! Responsible for the settings that NE-GMM and MDN share: a network whose outputs are a Gaussian mixture, and its training.

use serde::{Deserialize, Serialize};

use super::option::{out_of_range, parse, parse_list, parse_optional, parse_word};
use crate::Result;
use crate::data::Dataset;
use crate::data::split::holdout;
use crate::math::rng::Rng;
use crate::net::{Activation, MixtureHead, Network};
use crate::train::{Job, Objective, Training};

/// Components at most: the energy score visits every pair.
const MOST_COMPONENTS: usize = 1000;
/// Units in one hidden layer, and hidden layers, at most.
const MOST_UNITS: usize = 16_384;
const MOST_LAYERS: usize = 64;
/// The stream of a seed that chooses the validation rows.
const SPLIT_STREAM: u64 = 3;

/// A network whose outputs are a Gaussian mixture, and its training.
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `components` | 8 | 1 … 1000 | K, components of the mixture |
/// | `hidden` | 64, 64 | 0 … 64 layers | units of each hidden layer |
/// | `activation` | silu | | what a hidden unit does to its sum |
/// | `sigma_min` | 0.001 | > 0 | smallest sd of a component, in sds of the target |
/// | `sigma_max` | none | > `sigma_min` | largest sd of a component, in sds of the target |
/// | `mean_bound` | none | > 0 | largest distance of a component's mean from the target's mean, in sds of the target |
/// | `training` | | | see [`Training`] |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MixtureNetwork {
    /// K.
    pub components: usize,
    /// Units of each hidden layer.
    pub hidden: Vec<usize>,
    /// What a hidden unit does to its sum.
    pub activation: Activation,
    /// Smallest sd.
    pub sigma_min: f64,
    /// Largest sd.
    pub sigma_max: Option<f64>,
    /// Largest absolute mean.
    pub mean_bound: Option<f64>,
    /// How the epochs run.
    #[serde(flatten)]
    pub training: Training,
}

impl Default for MixtureNetwork {
    fn default() -> Self {
        Self {
            components: 8,
            hidden: vec![64, 64],
            activation: Activation::Silu,
            sigma_min: 1e-3,
            sigma_max: None,
            mean_bound: None,
            training: Training::default(),
        }
    }
}

impl MixtureNetwork {
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<bool> {
        let training = &mut self.training;
        match name {
            "components" => self.components = parse(name, value)?,
            "hidden" => self.hidden = parse_list(name, value)?,
            "activation" => self.activation = parse_word(name, value, "relu, tanh, silu")?,
            "sigma-min" => self.sigma_min = parse(name, value)?,
            "sigma-max" => self.sigma_max = parse_optional(name, value)?,
            "mean-bound" => self.mean_bound = parse_optional(name, value)?,
            "epochs" => training.epochs = parse(name, value)?,
            "batch" => training.batch = parse(name, value)?,
            "learning-rate" => training.learning_rate = parse(name, value)?,
            "schedule" => training.schedule = parse_word(name, value, "constant, cosine")?,
            "patience" => training.patience = parse(name, value)?,
            "validation" => training.validation = parse(name, value)?,
            "select" => training.select = parse_word(name, value, "nll, crps")?,
            "averaging" => training.averaging = parse(name, value)?,
            "dropout" => training.dropout = parse(name, value)?,
            "weight-decay" => training.weight_decay = parse(name, value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.components == 0 || self.components > MOST_COMPONENTS {
            return Err(out_of_range("components", "from 1 to 1000", self.components));
        }
        if self.hidden.len() > MOST_LAYERS {
            return Err(out_of_range("hidden", "at most 64 layers", self.hidden.len()));
        }
        if let Some(units) = self.hidden.iter().find(|units| !(1..=MOST_UNITS).contains(*units)) {
            return Err(out_of_range("hidden", "from 1 to 16384 units", units));
        }
        // Below 1e-6 the square of an sd is too close to the smallest f32.
        if !(self.sigma_min >= 1e-6 && self.sigma_min <= 1e6) {
            return Err(out_of_range("sigma-min", "from 1e-6 to 1e6", self.sigma_min));
        }
        if let Some(most) = self.sigma_max.filter(|most| !(*most > self.sigma_min && most.is_finite())) {
            return Err(out_of_range("sigma-max", "larger than sigma-min", most));
        }
        if let Some(bound) = self.mean_bound.filter(|bound| !(*bound > 0.0 && bound.is_finite())) {
            return Err(out_of_range("mean-bound", "a positive number", bound));
        }
        self.training.check()
    }

    /// The one network to train.
    pub(super) fn job<'a>(&self, data: &'a Dataset, eta: f64, seed: u64) -> Job<'a> {
        let (train, validation) = holdout(data.len(), self.training.validation, &mut Rng::new(seed, SPLIT_STREAM));
        let head = MixtureHead {
            components: self.components,
            sd_floor: self.sigma_min as f32,
            sd_ceiling: self.sigma_max.map(|most| most as f32),
            mean_bound: self.mean_bound.map(|bound| bound as f32),
        };
        Job {
            network: Network {
                inputs: data.features(),
                hidden: self.hidden.clone(),
                activation: self.activation,
                outputs: head.outputs(),
            },
            objective: Objective { head, eta: eta as f32 },
            data,
            train,
            validation,
            training: self.training.clone(),
            seed,
        }
    }
}
