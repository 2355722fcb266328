//! Responsible for what a network learns: all its weights and biases in one flat buffer, laid out as its layers say.

use crate::math::lanes::{Chunk, WIDTH, floats};
use crate::{Error, Result};

/// The weights and biases of a network in one flat buffer. Rows of a layer are padded with zeros to whole chunks.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    chunks: Vec<Chunk>,
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
        Ok(Self { chunks: chunks.iter().map(|chunk| Chunk(*chunk)).collect() })
    }

    pub(crate) fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }
}

impl From<Vec<Chunk>> for Parameters {
    fn from(chunks: Vec<Chunk>) -> Self {
        Self { chunks }
    }
}
