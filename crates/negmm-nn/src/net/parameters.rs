//! The parameters of a network: weights and biases in one flat buffer.

use std::sync::OnceLock;

use super::network::Layer;
use super::small_batch::transposed;
use negmm_dist::math::lanes::{Chunk, WIDTH, floats};
use negmm_dist::{Error, Result};

/// The weights and biases of a network in one flat buffer. Rows of a layer are padded with zeros to whole chunks.
#[derive(Clone, Debug)]
pub struct Parameters {
    chunks: Vec<Chunk>,
    /// The transposed weights for small batches, computed when first needed.
    transposed: OnceLock<Vec<Chunk>>,
}

impl PartialEq for Parameters {
    fn eq(&self, other: &Self) -> bool {
        self.chunks == other.chunks
    }
}

impl Parameters {
    /// All numbers, the padding among them.
    pub fn numbers(&self) -> &[f32] {
        floats(&self.chunks)
    }

    /// A buffer of these numbers, the padding among them.
    ///
    /// # Errors
    /// When they are not whole chunks.
    pub fn from_numbers(numbers: &[f32]) -> Result<Self> {
        let (chunks, rest) = numbers.as_chunks::<WIDTH>();
        if !rest.is_empty() {
            return Err(Error::data(format!("expected a multiple of {WIDTH} parameters, found {}", numbers.len())));
        }
        Ok(chunks.iter().map(|chunk| Chunk(*chunk)).collect::<Vec<_>>().into())
    }

    /// The parameters as lanes.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// The weights of these layers, transposed for small batches.
    pub(super) fn transposed(&self, layers: &[Layer]) -> &[Chunk] {
        self.transposed.get_or_init(|| transposed(&self.chunks, layers))
    }
}

impl From<Vec<Chunk>> for Parameters {
    fn from(chunks: Vec<Chunk>) -> Self {
        Self { chunks, transposed: OnceLock::new() }
    }
}
