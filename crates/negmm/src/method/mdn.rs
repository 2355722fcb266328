//! Responsible for the mixture density network: NE-GMM with eta = 1.

use serde::{Deserialize, Serialize};

use super::MixtureNetwork;

/// A mixture density network (Bishop, 1994): a neural Gaussian mixture trained with the logarithmic score alone.
/// Its settings are those of [`MixtureNetwork`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mdn {
    /// The network and its training.
    #[serde(flatten)]
    pub network: MixtureNetwork,
}
