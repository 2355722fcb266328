//! Responsible for what is minimised: how a panel of raw outputs becomes a loss, and the loss a gradient.

use crate::math::lanes::{Chunk, Lanes};
use crate::net::{MixtureHead, MixturePanel, PANEL_CHUNKS};
use crate::score::{Scratch, Wanted};

/// eta · (logarithmic score) + (1 - eta) · (energy score) of Gaussian mixtures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// What the outputs mean.
    pub head: MixtureHead,
    /// Share of the logarithmic score.
    pub eta: f32,
}

/// Room for one panel.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    panel: MixturePanel,
    scratch: Scratch,
}

impl Objective {
    pub(super) fn workspace(&self) -> Workspace {
        let components = self.head.components;
        Workspace { panel: MixturePanel::new(components), scratch: Scratch::new(components) }
    }

    /// The sum over rows of weight · loss; `deltas` gets its derivative with respect to `outputs`.
    #[inline(always)]
    pub(super) fn loss<L: Lanes>(
        &self,
        outputs: &[Chunk],
        y: &[Chunk; PANEL_CHUNKS],
        weights: &[Chunk; PANEL_CHUNKS],
        deltas: &mut [Chunk],
        workspace: &mut Workspace,
    ) -> f32 {
        let Workspace { panel, scratch } = workspace;
        self.head.forward::<L>(outputs, panel);
        let wanted = Wanted { log: self.eta > 0.0, energy: self.eta < 1.0 };
        let mut sum = L::splat(0.0);
        for lane in 0..PANEL_CHUNKS {
            let (log, energy) = scratch.scores::<L>(panel, &y[lane], lane, wanted);
            let weight = L::load(&weights[lane]);
            let log_factor = weight * L::splat(self.eta);
            let energy_factor = weight * L::splat(1.0 - self.eta);
            sum = log.mul_add(log_factor, energy.mul_add(energy_factor, sum));
            scratch.gradient::<L>(
                panel,
                lane,
                wanted.log.then_some(log_factor),
                wanted.energy.then_some(energy_factor),
                deltas,
            );
        }
        self.head.backward::<L>(panel, deltas);
        sum.sum()
    }

    /// The sums over rows of weight · logarithmic score and weight · energy score.
    #[inline(always)]
    pub(super) fn scores<L: Lanes>(
        &self,
        outputs: &[Chunk],
        y: &[Chunk; PANEL_CHUNKS],
        weights: &[Chunk; PANEL_CHUNKS],
        workspace: &mut Workspace,
    ) -> (f32, f32) {
        let Workspace { panel, scratch } = workspace;
        self.head.forward::<L>(outputs, panel);
        let mut sums = (L::splat(0.0), L::splat(0.0));
        for lane in 0..PANEL_CHUNKS {
            let (log, energy) = scratch.scores::<L>(panel, &y[lane], lane, Wanted { log: true, energy: true });
            let weight = L::load(&weights[lane]);
            sums = (log.mul_add(weight, sums.0), energy.mul_add(weight, sums.1));
        }
        (sums.0.sum(), sums.1.sum())
    }
}
