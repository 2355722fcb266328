//! Activation functions and their derivatives.

use serde::{Deserialize, Serialize};

use negmm_dist::math::functions::{sigmoid, tanh};
use negmm_dist::math::lanes::{Chunk, Lanes};

/// The activation function of hidden units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// max(z, 0)
    Relu,
    /// tanh z
    Tanh,
    /// z / (1 + e^-z)
    Silu,
}

impl Activation {
    /// Replaces each pre-activation z by its activation and writes the derivative to `slopes`.
    #[inline(always)]
    pub(super) fn apply<L: Lanes>(self, values: &mut [Chunk], slopes: &mut [Chunk]) {
        for (value, slope) in values.iter_mut().zip(slopes) {
            let z = L::load(value);
            let (v, s) = match self {
                Self::Relu => relu(z),
                Self::Tanh => tanh_unit(z),
                Self::Silu => silu(z),
            };
            v.store(value);
            s.store(slope);
        }
    }
}

#[inline(always)]
fn relu<L: Lanes>(z: L) -> (L, L) {
    let zero = L::splat(0.0);
    (z.max(zero), L::splat(1.0).select(z.gt(zero), zero))
}

#[inline(always)]
fn tanh_unit<L: Lanes>(z: L) -> (L, L) {
    let value = tanh(z);
    (value, value.neg_mul_add(value, L::splat(1.0)))
}

#[inline(always)]
fn silu<L: Lanes>(z: L) -> (L, L) {
    let gate = sigmoid(z);
    let value = z * gate;
    (value, (L::splat(1.0) - gate).mul_add(value, gate))
}
