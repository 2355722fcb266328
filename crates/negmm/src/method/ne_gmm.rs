//! NE-GMM, the paper's method.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fold_data::FoldData;
use super::plan::Plan;
use super::settings::{MethodSettings, plan_one_network};
use super::{MixtureNetwork, NetworkSettings, PredictorKind};
use negmm_dist::{Error, Result};
use negmm_nn::dataset::Dataset;
use negmm_nn::options::{OptionSpec, Options, option_list};
use negmm_nn::train::NetworkJob;

/// A neural Gaussian mixture trained with eta · (logarithmic score) + (1 - eta) · (energy score).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct NeGmm {
    /// Weight of the logarithmic score in the loss.
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

/// Setters.
impl NeGmm {
    /// Sets `eta`.
    #[must_use]
    pub fn eta(self, eta: f64) -> Self {
        Self { eta, ..self }
    }

    /// Sets `network`.
    #[must_use]
    pub fn network(self, network: MixtureNetwork) -> Self {
        Self { network, ..self }
    }
}

pub(super) const ETA: OptionSpec = OptionSpec::new(
    "Mixture",
    "eta",
    "ETA",
    "weight of the logarithmic score in the loss; the energy score has weight 1 - eta (1: an MDN; 0: energy score only)",
)
.within(0.0, 1.0);

impl Options for NeGmm {
    option_list! {
        eta: ETA,
        ..network
    }

    fn check_combination(&self) -> Result<()> {
        self.network.check_combination()
    }
}

impl MethodSettings for NeGmm {
    fn name(&self) -> &'static str {
        "ne-gmm"
    }

    fn plan(&self, data: &Arc<Dataset>, seed: u64) -> Result<Plan> {
        Ok(plan_one_network(self, data, seed))
    }

    fn makes(&self, kind: PredictorKind) -> bool {
        kind == PredictorKind::Networks
    }

    fn network(&self) -> Option<&NetworkSettings> {
        Some(&self.network.settings)
    }

    fn network_mut(&mut self) -> Option<&mut NetworkSettings> {
        Some(&mut self.network.settings)
    }

    fn network_job(&self, fold_data: &FoldData, seed: u64) -> Option<NetworkJob> {
        Some(self.network.job(fold_data, self.eta, seed))
    }

    fn check_censored(&self) -> Result<()> {
        check_eta_of_censored(self.name(), self.eta)
    }
}

/// Checks that the logarithmic score has a weight: the energy score is undefined for censored targets.
pub(super) fn check_eta_of_censored(method: &str, eta: f64) -> Result<()> {
    if eta == 0.0 {
        return Err(Error::options(format!(
            "{method} with eta 0 cannot learn from censored targets; use a larger eta"
        )));
    }
    Ok(())
}
