//! Views of named tensors in a flat buffer of parameters.

use super::Parameters;
use negmm_dist::math::lanes::{Chunk, floats, floats_mut};

/// A named tensor whose numbers lie in the flat buffer at regular distances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterView {
    /// Its name within the network.
    pub name: String,
    /// Its dimensions, as any framework lays them out.
    pub shape: Vec<usize>,
    /// Whether weight decay shrinks it.
    pub decays: bool,
    /// For each dimension the distance from one number to the next, in floats.
    pub(super) strides: Vec<usize>,
    /// Where its first number lies, in floats.
    pub(super) start: usize,
}

impl ParameterView {
    /// Where its numbers lie, in the order of the tensor: the last dimension runs fastest.
    fn places(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.shape.iter().product()).map(|number: usize| {
            let mut rest = number;
            let mut place = self.start;
            for (size, stride) in self.shape.iter().zip(&self.strides).rev() {
                place += (rest % size) * stride;
                rest /= size;
            }
            place
        })
    }

    /// Its numbers from the flat buffer.
    pub fn read<'a>(&'a self, weights: &'a [Chunk]) -> impl Iterator<Item = f32> + 'a {
        let flat = floats(weights);
        self.places().map(|place| flat[place])
    }

    /// Its numbers, the last dimension running fastest.
    pub fn numbers(&self, parameters: &Parameters) -> Vec<f32> {
        self.read(parameters.chunks()).collect()
    }

    /// Puts `values`, in the order in which [`ParameterView::read`] gives them, into the flat buffer.
    pub fn write(&self, weights: &mut [Chunk], values: &[f32]) {
        let flat = floats_mut(weights);
        for (place, value) in self.places().zip(values) {
            flat[place] = *value;
        }
    }

    /// Multiplies its numbers by `factor`.
    pub(crate) fn scale(&self, weights: &mut [Chunk], factor: f32) {
        let flat = floats_mut(weights);
        for place in self.places() {
            flat[place] *= factor;
        }
    }
}
