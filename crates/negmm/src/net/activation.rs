//! Responsible for what a hidden unit does to its sum, and the derivative of it.

use serde::{Deserialize, Serialize};

use crate::math::functions::{sigmoid, tanh};
use crate::math::lanes::{Chunk, Lanes};

/// What a hidden unit does to its sum z.
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
    /// Replaces each sum z by the unit's value and writes dvalue/dz to `slopes`.
    #[inline(always)]
    pub(super) fn apply<L: Lanes>(self, values: &mut [Chunk], slopes: &mut [Chunk]) {
        let one = L::splat(1.0);
        match self {
            Self::Relu => each::<L>(values, slopes, |z| {
                let zero = L::splat(0.0);
                (z.max(zero), one.select(z.gt(zero), zero))
            }),
            Self::Tanh => each::<L>(values, slopes, |z| {
                let value = tanh(z);
                (value, value.neg_mul_add(value, one))
            }),
            Self::Silu => each::<L>(values, slopes, |z| {
                let gate = sigmoid(z);
                let value = z * gate;
                (value, (one - gate).mul_add(value, gate))
            }),
        }
    }
}

#[inline(always)]
fn each<L: Lanes>(values: &mut [Chunk], slopes: &mut [Chunk], unit: impl Fn(L) -> (L, L)) {
    for (value, slope) in values.iter_mut().zip(slopes) {
        let (v, s) = unit(L::load(value));
        v.store(value);
        s.store(slope);
    }
}
