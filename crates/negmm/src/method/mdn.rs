//! Responsible for the mixture density network: NE-GMM with eta = 1.

use serde::{Deserialize, Serialize};

use super::MixtureNetwork;
use negmm_nn::options::{Checked, Options, Slot, Spec};

/// A mixture density network (Bishop, 1994): a neural Gaussian mixture trained with the logarithmic score alone.
/// Its settings are those of [`MixtureNetwork`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mdn {
    /// The network and its training.
    #[serde(flatten)]
    pub network: MixtureNetwork,
}

impl Options for Mdn {
    fn each(&mut self, see: &mut dyn FnMut(&Spec, &mut dyn Slot)) {
        self.network.each(see);
    }

    fn fit_together(&self) -> Checked<()> {
        self.network.fit_together()
    }
}
