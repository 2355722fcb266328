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
    /// Replaces each pre-activation z by its activation, to which `skipped` is added after a residual layer, and with `SLOPES` writes the
    /// derivative of the activation to `slopes`.
    #[inline(always)]
    pub(super) fn apply<L: Lanes, const SLOPES: bool>(
        self,
        values: &mut [Chunk],
        slopes: &mut [Chunk],
        skipped: Option<&[Chunk]>,
    ) {
        let slopes = if SLOPES { &mut slopes[..values.len()] } else { slopes };
        for (at, chunk) in values.iter_mut().enumerate() {
            let z = L::load(chunk);
            let (mut value, slope) = match self {
                Self::Relu => relu(z),
                Self::Tanh => tanh_unit(z),
                Self::Silu => silu(z),
            };
            if SLOPES {
                slope.store(&mut slopes[at]);
            }
            if let Some(skipped) = skipped {
                value = L::load(&skipped[at]) + value;
            }
            value.store(chunk);
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
