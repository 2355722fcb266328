//! Responsible for beta-NLL: one Gaussian for each row, trained with a logarithmic score that does not give up on hard rows.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::NetworkSettings;
use super::option::{out_of_range, parse};
use super::seed::Seed;
use crate::Result;
use crate::data::Dataset;
use crate::net::GaussianHead;
use crate::train::{NetworkJob, Objective};

/// Largest variance, in units of the standardised target squared (the original's).
const VARIANCE_CEILING: f32 = 100.0;

/// One Gaussian for each row, trained with the logarithmic score weighted by variance^beta (Seitzer et al., 2022).
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `beta` | 0.5 | 0 … 1 | 0: the plain logarithmic score; 1: the mean learns as with the squared error |
/// | `settings` | | | see [`NetworkSettings`] |
///
/// As in the original the variance is parametrised (softplus, 1 at the start, at most 100). Different: the floor is
/// `sigma_min`² = 1e-6 like that of every neural method here, not 1e-8; and network, batches and schedule are those of
/// [`NetworkSettings`], so that methods are compared on equal terms. The loss that is reported has the constant ln(2 pi)/2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BetaNll {
    /// The power of the variance.
    pub beta: f64,
    /// The network and its training.
    #[serde(flatten)]
    pub settings: NetworkSettings,
}

impl Default for BetaNll {
    fn default() -> Self {
        Self { beta: 0.5, settings: NetworkSettings::default() }
    }
}

impl BetaNll {
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<bool> {
        match name {
            "beta" => self.beta = parse(name, value)?,
            _ => return self.settings.set(name, value),
        }
        Ok(true)
    }

    pub(super) fn check(&self) -> Result<()> {
        if !(0.0..=1.0).contains(&self.beta) {
            return Err(out_of_range("beta", "from 0 to 1", self.beta));
        }
        if self.settings.sigma_min >= 1.0 {
            return Err(out_of_range("sigma-min", "below 1", self.settings.sigma_min));
        }
        self.settings.check()
    }

    pub(super) fn job(&self, data: &Arc<Dataset>, seed: Seed) -> NetworkJob {
        let floor = self.settings.sigma_min as f32;
        let head = GaussianHead { variance_floor: floor * floor, variance_ceiling: VARIANCE_CEILING };
        self.settings.job(data, Objective::BetaNll { head, beta: self.beta as f32 }, seed)
    }
}
