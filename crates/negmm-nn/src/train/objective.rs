//! Objectives: the head of a network and its loss.

use serde::{Deserialize, Serialize};

use crate::loss::sinkhorn::Sinkhorn;
use crate::net::{GaussianHead, Head, JointHead, MixtureHead, Network, SampleHead};
use negmm_dist::math::lanes::Chunk;
use negmm_dist::math::rng::Rng;

/// A head with a loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "loss", rename_all = "kebab-case")]
pub enum Objective {
    /// Mixtures, trained with eta · (logarithmic score) + (1 - eta) · (energy score).
    Hybrid {
        /// The head.
        head: MixtureHead,
        /// Weight of the logarithmic score.
        eta: f32,
    },
    /// One Gaussian, trained with beta-NLL.
    BetaNll {
        /// The head.
        head: GaussianHead,
        /// The exponent of the variance in each row's weight.
        beta: f32,
    },
    /// Mixtures over several targets, trained with eta · (joint logarithmic score) + (1 - eta) · (energy score by directions).
    Joint {
        /// The head.
        head: JointHead,
        /// Weight of the logarithmic score.
        eta: f32,
    },
    /// Samples, trained with their energy score.
    SampleEnergy {
        /// The head.
        head: SampleHead,
        /// The regulariser, if there is one.
        sinkhorn: Option<Sinkhorn>,
    },
}

impl Objective {
    /// The head.
    pub fn head(&self) -> Head {
        match *self {
            Self::Hybrid { head, .. } => Head::Mixture(head),
            Self::BetaNll { head, .. } => Head::Gaussian(head),
            Self::Joint { head, .. } => Head::Joint(head),
            Self::SampleEnergy { head, .. } => Head::Samples(head),
        }
    }

    /// The initial parameters: those of the network, with the biases of the head.
    pub(super) fn initial_parameters(&self, network: &Network, rng: &mut Rng) -> Vec<Chunk> {
        let mut parameters = network.initial_parameters(rng);
        if let (Some(biases), Some(layer)) = (self.head().initial_biases(), network.layers().last()) {
            layer.set_biases(&mut parameters, &biases);
        }
        parameters
    }
}
