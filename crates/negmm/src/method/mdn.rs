//! The mixture density network: NE-GMM with eta = 1.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fold_data::FoldData;
use super::plan::Plan;
use super::settings::{MethodSettings, plan_one_network};
use super::{MixtureNetwork, NetworkSettings, PredictorKind};
use negmm_dist::Result;
use negmm_nn::dataset::Dataset;
use negmm_nn::options::{Options, option_list};
use negmm_nn::train::NetworkJob;

/// A mixture density network (Bishop, 1994): a neural Gaussian mixture trained with the logarithmic score alone.
/// Its settings are those of [`MixtureNetwork`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Mdn {
    /// The network and its training.
    #[serde(flatten)]
    pub network: MixtureNetwork,
}

/// Setters.
impl Mdn {
    /// Sets `network`.
    #[must_use]
    pub fn network(self, network: MixtureNetwork) -> Self {
        Self { network, ..self }
    }
}

impl Options for Mdn {
    option_list! { ..network }

    fn check_combination(&self) -> Result<()> {
        self.network.check_combination()
    }
}

impl MethodSettings for Mdn {
    fn name(&self) -> &'static str {
        "mdn"
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
        Some(self.network.job(fold_data, 1.0, seed))
    }
}
