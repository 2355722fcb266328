//! Views of named tensors in a flat buffer of parameters.

use super::Parameters;
use negmm_dist::math::lanes::{Chunk, floats, floats_mut};

/// A named tensor that is a strided view of the flat buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterView {
    /// Its name within the network.
    pub name: String,
    /// Its dimensions, in row-major order.
    pub shape: Vec<usize>,
    /// Whether weight decay shrinks it.
    pub decays: bool,
    /// For each dimension the distance from one number to the next, in floats.
    pub(super) strides: Vec<usize>,
    /// The index of its first number, in floats.
    pub(super) start: usize,
}

impl ParameterView {
    /// The indices of its numbers in row-major order.
    fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.shape.iter().product()).map(|number: usize| {
            let mut rest = number;
            let mut index = self.start;
            for (size, stride) in self.shape.iter().zip(&self.strides).rev() {
                index += (rest % size) * stride;
                rest /= size;
            }
            index
        })
    }

    /// Its numbers from the flat buffer.
    pub fn read<'a>(&'a self, weights: &'a [Chunk]) -> impl Iterator<Item = f32> + 'a {
        let flat = floats(weights);
        self.indices().map(|index| flat[index])
    }

    /// Its numbers in row-major order.
    pub fn numbers(&self, parameters: &Parameters) -> Vec<f32> {
        self.read(parameters.chunks()).collect()
    }

    /// Writes `values`, in row-major order, to the flat buffer.
    pub fn write(&self, weights: &mut [Chunk], values: &[f32]) {
        let flat = floats_mut(weights);
        for (index, value) in self.indices().zip(values) {
            flat[index] = *value;
        }
    }

    /// Multiplies its numbers by `factor`.
    pub(crate) fn scale(&self, weights: &mut [Chunk], factor: f32) {
        let flat = floats_mut(weights);
        for index in self.indices() {
            flat[index] *= factor;
        }
    }
}
