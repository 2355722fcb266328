//! Optimisers: gradients to steps, their state, weight decay.

mod adam;
mod muon;
mod schedule_free;

use serde::{Deserialize, Serialize};

use crate::net::{Network, Stem};
use crate::options::Choice;
use adam::Adam;
use muon::Muon;
use negmm_dist::math::lanes::{Chunk, Lanes, WIDTH};
use schedule_free::ScheduleFree;

/// Decay of the second moment, and the term that avoids division by zero (Kingma & Ba, 2015).
const BETA_2: f64 = 0.999;
const EPSILON: f32 = 1e-8;
/// Moments smaller than this become zero: the moments of a dead unit would decay to slow denormals.
const TINY: f32 = 1e-30;

/// An optimiser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Optimiser {
    /// Adam (Kingma & Ba, 2015).
    #[default]
    Adam,
    /// Schedule-free Adam (Defazio et al., 2024): gradients are evaluated between the last step and the average of all steps, and the
    /// average is used for prediction.
    ScheduleFree,
    /// Muon (Jordan et al., 2024) for the matrices of hidden layers, Adam for all other parameters.
    Muon,
}

impl Choice for Optimiser {}

impl Optimiser {
    /// Multiplications of the matrix products of one step.
    pub fn multiplications(self, network: &Network) -> usize {
        match self {
            Self::Adam | Self::ScheduleFree => 0,
            Self::Muon => muon::multiplications(network),
        }
    }
}

/// The state of an optimiser, with the layout of the weights.
#[derive(Clone, Debug)]
pub enum OptimiserState {
    /// Of Adam.
    Adam(Adam),
    /// Of schedule-free Adam.
    ScheduleFree(ScheduleFree),
    /// Of Muon.
    Muon(Muon),
}

impl OptimiserState {
    /// The initial state.
    pub fn new(optimiser: Optimiser, network: &Network, parameters: &[Chunk]) -> Self {
        match optimiser {
            Optimiser::Adam => Self::Adam(Adam::new(parameters.len())),
            Optimiser::ScheduleFree => Self::ScheduleFree(ScheduleFree::new(parameters)),
            Optimiser::Muon => Self::Muon(Muon::new(network)),
        }
    }

    /// One step; `gradient` may be changed.
    #[inline(always)]
    pub fn step<L: Lanes>(&mut self, parameters: &mut [Chunk], gradient: &mut [Chunk], rate: f64, decay: Decay<'_>) {
        match self {
            Self::Adam(adam) => {
                let all = 0..parameters.len();
                adam.step::<L>(parameters, gradient, rate, std::slice::from_ref(&all));
            }
            Self::ScheduleFree(schedule_free) => return schedule_free.step::<L>(parameters, gradient, rate, decay),
            Self::Muon(muon) => muon.step::<L>(parameters, gradient, rate),
        }
        decay.apply::<L>(parameters);
    }

    /// The average of the steps, if the optimiser has one; it is used for prediction.
    pub fn average(&self) -> Option<&[Chunk]> {
        match self {
            Self::ScheduleFree(schedule_free) => Some(schedule_free.average()),
            Self::Adam(_) | Self::Muon(_) => None,
        }
    }
}

/// Decoupled weight decay of one step: the weights of a network, but no biases, times a factor.
#[derive(Clone, Copy, Debug)]
pub struct Decay<'a> {
    /// The network.
    pub network: &'a Network,
    /// 1 - rate · decay.
    pub factor: f32,
}

impl Decay<'_> {
    #[inline(always)]
    fn apply<L: Lanes>(self, weights: &mut [Chunk]) {
        if self.factor == 1.0 {
            return;
        }
        for layer in self.network.layers() {
            for row in weights[layer.range()].chunks_exact_mut(layer.stride) {
                let bias = row[layer.inputs / WIDTH].0[layer.inputs % WIDTH];
                for chunk in row.iter_mut() {
                    (L::load(chunk) * L::splat(self.factor)).store(chunk);
                }
                row[layer.inputs / WIDTH].0[layer.inputs % WIDTH] = bias;
            }
        }
        let stem = self.network.stem.iter().flat_map(Stem::tensors);
        stem.filter(|tensor| tensor.decays).for_each(|tensor| tensor.scale(weights, self.factor));
    }
}

/// average = keep · average + (1 - keep) · weights
#[inline(always)]
pub(super) fn average<L: Lanes>(average: &mut [Chunk], weights: &[Chunk], keep: f32) {
    let (keep, add) = (L::splat(keep), L::splat(1.0 - keep));
    for (mean, weight) in average.iter_mut().zip(weights) {
        L::load(mean).mul_add(keep, L::load(weight) * add).store(mean);
    }
}

/// Whether every number and its square are finite: an infinite square would stay in the optimiser's state.
#[inline(always)]
pub(super) fn all_finite<L: Lanes>(chunks: &[Chunk]) -> bool {
    let zero = L::splat(0.0);
    let mut sum = zero;
    for chunk in chunks {
        let number = L::load(chunk);
        sum = (number * number).mul_add(zero, sum);
    }
    sum.sum() == 0.0
}
