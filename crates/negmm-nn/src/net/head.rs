//! Heads: what the raw outputs of a network mean, a mixture, one Gaussian, or samples.

use serde::{Deserialize, Serialize};

use super::{GaussianHead, MixtureHead, MixturePanel, SampleHead};
use negmm_dist::math::lanes::{Chunk, Lanes};

/// What a network's raw outputs mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Head {
    /// A Gaussian mixture.
    Mixture(MixtureHead),
    /// One Gaussian, by mean and variance.
    Gaussian(GaussianHead),
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
            Self::Samples(head) => head.samples,
        }
    }

    /// Components of the mixture, where it is one.
    pub fn components(&self) -> Option<usize> {
        match self {
            Self::Mixture(head) => Some(head.components()),
            Self::Gaussian(head) => Some(head.components()),
            Self::Samples(_) => None,
        }
    }

    /// Says what is out of range, if something is.
    pub fn check(&self) -> Result<(), &'static str> {
        let sound = match self {
            Self::Mixture(head) => head.is_sound(),
            Self::Gaussian(head) => head.is_sound(),
            Self::Samples(head) => head.is_sound(),
        };
        if sound { Ok(()) } else { Err("its head is out of range") }
    }

    /// The biases of its raw outputs at the start of training, where it wants some of its own.
    pub fn initial_biases(&self) -> Option<Vec<f32>> {
        match self {
            Self::Mixture(head) => Some(head.initial_biases()),
            Self::Gaussian(_) | Self::Samples(_) => None,
        }
    }
}

/// A head whose outputs mean a Gaussian mixture.
pub trait MixtureOutputs {
    /// Components of the mixture.
    fn components(&self) -> usize;

    /// `raw` is outputs × panel.
    fn forward<L: Lanes>(&self, raw: &[Chunk], panel: &mut MixturePanel);

    /// Turns derivatives with respect to (logits, means, sds) into derivatives with respect to the raw outputs.
    fn backward<L: Lanes>(&self, panel: &MixturePanel, parameters: &[Chunk], raw: &mut [Chunk]);
}
