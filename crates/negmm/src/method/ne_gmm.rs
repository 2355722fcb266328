//! Responsible for NE-GMM, the paper's method.

use serde::{Deserialize, Serialize};

use super::MixtureNetwork;
use negmm_nn::options::{Checked, Options, Slot, Spec};

/// A neural Gaussian mixture trained with eta · (logarithmic score) + (1 - eta) · (energy score).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
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

/// Share of the logarithmic score.
pub(super) const ETA: Spec = Spec::new(
    "Mixture",
    "eta",
    "E",
    "share of the logarithmic score in the loss, the rest is the energy score: 1 is an MDN, 0 the energy score alone",
)
.within(0.0, 1.0);

impl Options for NeGmm {
    fn each(&mut self, see: &mut dyn FnMut(&Spec, &mut dyn Slot)) {
        see(&ETA, &mut self.eta);
        self.network.each(see);
    }

    fn fit_together(&self) -> Checked<()> {
        self.network.fit_together()
    }
}
