//! Objectives: the head of a network and its loss.

use serde::{Deserialize, Serialize};

use crate::loss::sinkhorn::Sinkhorn;
use crate::net::{GaussianHead, Head, MixtureHead, Network, SampleHead};
use negmm_dist::math::lanes::Chunk;
use negmm_dist::math::rng::Rng;

/// What the outputs mean, and the loss of what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "loss", rename_all = "kebab-case")]
pub enum Objective {
    /// Mixtures, trained with eta · (logarithmic score) + (1 - eta) · (energy score).
    Hybrid {
        /// What the outputs mean.
        head: MixtureHead,
        /// Share of the logarithmic score.
        eta: f32,
    },
    /// One Gaussian, trained with beta-NLL.
    BetaNll {
        /// What the outputs mean.
        head: GaussianHead,
        /// The power of the variance that weighs each row.
        beta: f32,
    },
    /// Samples, trained with their energy score.
    SampleEnergy {
        /// What the outputs mean.
        head: SampleHead,
        /// What is added to the loss.
        sinkhorn: Option<Sinkhorn>,
    },
}

impl Objective {
    /// What the outputs mean.
    pub fn head(&self) -> Head {
        match *self {
            Self::Hybrid { head, .. } => Head::Mixture(head),
            Self::BetaNll { head, .. } => Head::Gaussian(head),
            Self::SampleEnergy { head, .. } => Head::Samples(head),
        }
    }

    /// Parameters at the start of a training: those of the network, and the biases that the outputs' meaning asks for.
    pub(super) fn initial_parameters(&self, network: &Network, rng: &mut Rng) -> Vec<Chunk> {
        let mut parameters = network.initial_parameters(rng);
        if let (Some(biases), Some(layer)) = (self.head().initial_biases(), network.layers().last()) {
            layer.set_biases(&mut parameters, &biases);
        }
        parameters
    }
}
