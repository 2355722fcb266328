//! Responsible for what is minimised: how a panel of raw outputs becomes a loss, and the loss a gradient.

use crate::math::lanes::{Chunk, Lanes};
use crate::net::{Head, MixtureHead, MixturePanel, PANEL_CHUNKS};
use crate::score::{Scratch, Wanted, beta_nll};

/// A head and the loss of the mixtures it gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// What the outputs mean.
    pub head: Head,
    /// What is minimised.
    pub loss: Loss,
}

/// The loss of a predicted mixture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// eta · (logarithmic score) + (1 - eta) · (energy score).
    Hybrid {
        /// Share of the logarithmic score.
        eta: f32,
    },
    /// beta-NLL; for a head of one component.
    BetaNll {
        /// The power of the variance that weighs each row.
        beta: f32,
    },
}

/// Room for one panel.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    panel: MixturePanel,
    scratch: Scratch,
    /// Derivatives with respect to (logits, means, sds).
    deltas: Vec<Chunk>,
}

impl Objective {
    /// Mixtures trained with the hybrid loss.
    pub fn hybrid(head: MixtureHead, eta: f32) -> Self {
        Self { head: Head::Mixture(head), loss: Loss::Hybrid { eta } }
    }

    pub(super) fn workspace(&self) -> Workspace {
        let components = self.head.components();
        Workspace {
            panel: MixturePanel::new(components),
            scratch: Scratch::new(components),
            deltas: vec![Chunk::ZERO; 3 * components * PANEL_CHUNKS],
        }
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
        let Workspace { panel, scratch, deltas: parameter_deltas } = workspace;
        self.head.forward::<L>(outputs, panel);
        let mut sum = L::splat(0.0);
        for lane in 0..PANEL_CHUNKS {
            let weight = L::load(&weights[lane]);
            match self.loss {
                Loss::Hybrid { eta } => {
                    let wanted = Wanted { log: eta > 0.0, energy: eta < 1.0 };
                    let (log, energy) = scratch.scores::<L>(panel, &y[lane], lane, wanted);
                    let log_factor = weight * L::splat(eta);
                    let energy_factor = weight * L::splat(1.0 - eta);
                    sum = log.mul_add(log_factor, energy.mul_add(energy_factor, sum));
                    scratch.gradient::<L>(
                        panel,
                        lane,
                        wanted.log.then_some(log_factor),
                        wanted.energy.then_some(energy_factor),
                        parameter_deltas,
                    );
                }
                Loss::BetaNll { beta } => {
                    let score = beta_nll::panel::<L>(panel, &y[lane], lane, beta, weight, parameter_deltas);
                    sum = score.mul_add(weight, sum);
                }
            }
        }
        self.head.backward::<L>(panel, parameter_deltas, deltas);
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
        let Workspace { panel, scratch, .. } = workspace;
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
