//! Responsible for the settings that NE-GMM and MDN share: a network whose outputs are a Gaussian mixture.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::NetworkSettings;
use super::option::{out_of_range, parse, parse_optional};
use super::seed::Seed;
use crate::Result;
use crate::data::Dataset;
use crate::net::{MOST_COMPONENTS, MixtureHead};
use crate::train::{NetworkJob, Objective};

/// A network whose outputs are a Gaussian mixture, and its training.
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `components` | 8 | 1 … 1000 | K, components of the mixture |
/// | `sigma_max` | none | > `sigma_min` | largest sd of a component, in sds of the target |
/// | `mean_bound` | none | > 0 | largest distance of a component's mean from the target's mean, in sds of the target |
/// | `settings` | | | see [`NetworkSettings`] |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MixtureNetwork {
    /// K.
    pub components: usize,
    /// Largest sd.
    pub sigma_max: Option<f64>,
    /// Largest absolute mean.
    pub mean_bound: Option<f64>,
    /// The network and its training.
    #[serde(flatten)]
    pub settings: NetworkSettings,
}

impl Default for MixtureNetwork {
    fn default() -> Self {
        Self { components: 8, sigma_max: None, mean_bound: None, settings: NetworkSettings::default() }
    }
}

impl MixtureNetwork {
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<bool> {
        match name {
            "components" => self.components = parse(name, value)?,
            "sigma-max" => self.sigma_max = parse_optional(name, value)?,
            "mean-bound" => self.mean_bound = parse_optional(name, value)?,
            _ => return self.settings.set(name, value),
        }
        Ok(true)
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.components == 0 || self.components > MOST_COMPONENTS {
            return Err(out_of_range("components", "from 1 to 1000", self.components));
        }
        if let Some(most) = self.sigma_max.filter(|most| !(*most > self.settings.sigma_min && most.is_finite())) {
            return Err(out_of_range("sigma-max", "larger than sigma-min", most));
        }
        if let Some(bound) = self.mean_bound.filter(|bound| !(*bound > 0.0 && bound.is_finite())) {
            return Err(out_of_range("mean-bound", "a positive number", bound));
        }
        self.settings.check()
    }

    /// What is minimised with `eta` as the share of the logarithmic score.
    pub(super) fn objective(&self, eta: f64) -> Objective {
        let head = MixtureHead {
            components: self.components,
            sd_floor: self.settings.sigma_min as f32,
            sd_ceiling: self.sigma_max.map(|most| most as f32),
            mean_bound: self.mean_bound.map(|bound| bound as f32),
        };
        Objective::Hybrid { head, eta: eta as f32 }
    }

    /// The network to train.
    pub(super) fn job(&self, data: &Arc<Dataset>, eta: f64, seed: Seed) -> NetworkJob {
        self.settings.job(data, self.objective(eta), seed)
    }
}
