//! Heads: map the raw outputs of a network to a mixture, one Gaussian, a mixture over vectors, or samples.

use serde::{Deserialize, Serialize};

use super::{GaussianHead, JointHead, MixtureHead, MixturePanel, SampleHead};
use negmm_dist::math::lanes::{Chunk, Lanes};

/// The head of a network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Head {
    /// A Gaussian mixture.
    Mixture(MixtureHead),
    /// One Gaussian, by mean and variance.
    Gaussian(GaussianHead),
    /// A Gaussian mixture over several targets.
    Joint(JointHead),
    /// Samples.
    #[serde(untagged)]
    Samples(SampleHead),
}

impl Head {
    /// Raw numbers for each row.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Mixture(head) => head.outputs(),
            Self::Gaussian(_) => GaussianHead::OUTPUTS,
            Self::Joint(head) => head.outputs(),
            Self::Samples(head) => head.samples,
        }
    }

    /// The number of components, if the head is a mixture of one target.
    pub fn components(&self) -> Option<usize> {
        match self {
            Self::Mixture(head) => Some(head.components()),
            Self::Gaussian(head) => Some(head.components()),
            Self::Joint(_) | Self::Samples(_) => None,
        }
    }

    /// Checks the range of every field.
    pub fn check(&self) -> Result<(), &'static str> {
        let sound = match self {
            Self::Mixture(head) => head.is_sound(),
            Self::Gaussian(head) => head.is_sound(),
            Self::Joint(head) => head.is_sound(),
            Self::Samples(head) => head.is_sound(),
        };
        if sound { Ok(()) } else { Err("its head is out of range") }
    }

    /// The initial biases of the raw outputs, if the head sets them.
    pub fn initial_biases(&self) -> Option<Vec<f32>> {
        match self {
            Self::Mixture(head) => Some(head.initial_biases()),
            Self::Joint(head) => Some(head.initial_biases()),
            Self::Gaussian(_) | Self::Samples(_) => None,
        }
    }
}

/// A head whose outputs are Gaussian mixtures.
pub trait MixtureOutputs {
    /// Components of the mixture.
    fn components(&self) -> usize;

    /// `raw` is outputs × panel.
    fn forward<L: Lanes>(&self, raw: &[Chunk], panel: &mut MixturePanel);

    /// Maps derivatives with respect to (logits, means, sds) to derivatives with respect to the raw outputs.
    fn backward<L: Lanes>(&self, panel: &MixturePanel, parameters: &[Chunk], raw: &mut [Chunk]);
}
