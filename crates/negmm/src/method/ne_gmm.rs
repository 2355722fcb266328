//! Responsible for NE-GMM, the paper's method.

use serde::{Deserialize, Serialize};

use super::MixtureNetwork;
use super::option::{self, parse};
use crate::Result;

/// A neural Gaussian mixture trained with eta · (logarithmic score) + (1 - eta) · (energy score).
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `eta` | 0.5 | 0 … 1 | share of the logarithmic score; 1 is an MDN, 0 trains with the energy score alone |
/// | `network` | | | see [`MixtureNetwork`] |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NeGmm {
    /// Share of the logarithmic score.
    pub eta: f64,
    /// The network and its training.
    #[serde(flatten)]
    pub network: MixtureNetwork,
}

impl Default for NeGmm {
    fn default() -> Self {
        Self { eta: 0.5, network: MixtureNetwork::default() }
    }
}

impl NeGmm {
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<bool> {
        match name {
            "eta" => self.eta = parse(name, value)?,
            _ => return self.network.set(name, value),
        }
        Ok(true)
    }

    pub(super) fn check(&self) -> Result<()> {
        if !(0.0..=1.0).contains(&self.eta) {
            return Err(option::out_of_range("eta", "from 0 to 1", self.eta));
        }
        self.network.check()
    }
}
