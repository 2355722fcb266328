//! Stems: an LSTM for windows of a sequence, or a periodic embedding, before the dense layers.

use serde::{Deserialize, Serialize};

use super::{Lstm, ParameterView, Periodic};
use negmm_dist::Result;
use negmm_dist::math::lanes::Chunk;
use negmm_dist::math::rng::Rng;

/// The stem of a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Stem {
    /// Rows are windows of a sequence.
    Lstm(Lstm),
    /// Numbers have a periodic embedding.
    Periodic(Periodic),
}

impl Stem {
    /// Checks the range of every field.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Lstm(lstm) => lstm.check(),
            Self::Periodic(periodic) => periodic.check(),
        }
    }

    /// Numbers in a row.
    pub fn inputs(&self) -> usize {
        match self {
            Self::Lstm(lstm) => lstm.inputs(),
            Self::Periodic(periodic) => periodic.inputs,
        }
    }

    /// The number of outputs, which the first layer reads.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Lstm(lstm) => lstm.hidden,
            Self::Periodic(periodic) => periodic.outputs(),
        }
    }

    /// Chunks of its weights, the first of the flat buffer.
    pub fn chunks(&self) -> usize {
        match self {
            Self::Lstm(lstm) => lstm.chunks(),
            Self::Periodic(periodic) => periodic.chunks(),
        }
    }

    /// Weights and biases.
    pub fn parameters(&self) -> usize {
        self.tensors().iter().map(|tensor| tensor.shape.iter().product::<usize>()).sum()
    }

    /// The initial parameters.
    pub fn initial_parameters(&self, rng: &mut Rng) -> Vec<Chunk> {
        match self {
            Self::Lstm(lstm) => lstm.initial_parameters(rng),
            Self::Periodic(periodic) => periodic.initial_parameters(rng),
        }
    }

    /// Its tensors.
    pub fn tensors(&self) -> Vec<ParameterView> {
        match self {
            Self::Lstm(lstm) => lstm.tensors(),
            Self::Periodic(periodic) => periodic.tensors(),
        }
    }

    /// Steps of a window, if rows are windows.
    pub fn window(&self) -> Option<usize> {
        match self {
            Self::Lstm(lstm) => Some(lstm.window),
            Self::Periodic(_) => None,
        }
    }
}
