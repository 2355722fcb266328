//! Responsible for what is minimised: how a panel of raw outputs becomes a loss, and the loss a gradient.

use super::SD_FACTORS;
use crate::math::lanes::{Chunk, Lanes};
use crate::math::rng::Rng;
use crate::net::{Head, MixtureHead, MixturePanel, Network, PANEL_CHUNKS, SampleHead};
use crate::score::sample_energy::SampleScratch;
use crate::score::sinkhorn::{Sinkhorn, SinkhornScratch};
use crate::score::{Scratch, Wanted, beta_nll, sample_log};

/// What the outputs mean, and the loss of what they mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// Mixtures.
    Mixture {
        /// What the outputs mean.
        head: Head,
        /// What is minimised.
        loss: Loss,
    },
    /// Samples, trained with their energy score.
    Samples {
        /// How many.
        head: SampleHead,
        /// What is added to the loss.
        sinkhorn: Option<Sinkhorn>,
    },
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
pub(super) enum Workspace {
    Mixture(MixtureWorkspace),
    Samples(SampleWorkspace),
}

#[derive(Clone, Debug)]
pub(super) struct MixtureWorkspace {
    panel: MixturePanel,
    scratch: Scratch,
    /// Derivatives with respect to (logits, means, sds).
    deltas: Vec<Chunk>,
}

#[derive(Clone, Debug)]
pub(super) struct SampleWorkspace {
    energy: SampleScratch,
    sinkhorn: Option<Box<SinkhornScratch>>,
}

impl Objective {
    /// Mixtures trained with the hybrid loss.
    pub fn hybrid(head: MixtureHead, eta: f32) -> Self {
        Self::Mixture { head: Head::Mixture(head), loss: Loss::Hybrid { eta } }
    }

    /// Raw numbers that it needs for each row.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Mixture { head, .. } => head.outputs(),
            Self::Samples { head, .. } => head.outputs(),
        }
    }

    /// Weights at the start of training: those of the network, and the biases that the outputs' meaning asks for.
    pub(super) fn initial_weights(&self, network: &Network, rng: &mut Rng) -> Vec<Chunk> {
        let mut weights = network.initial_weights(rng);
        let biases = match self {
            Self::Mixture { head, .. } => head.initial_biases(),
            Self::Samples { .. } => None,
        };
        if let (Some(biases), Some(layer)) = (biases, network.layers().last()) {
            layer.set_biases(&mut weights, &biases);
        }
        weights
    }

    pub(super) fn workspace(&self) -> Workspace {
        match self {
            Self::Mixture { head, .. } => {
                let components = head.components();
                Workspace::Mixture(MixtureWorkspace {
                    panel: MixturePanel::new(components),
                    scratch: Scratch::new(components),
                    deltas: vec![Chunk::ZERO; 3 * components * PANEL_CHUNKS],
                })
            }
            Self::Samples { head, sinkhorn } => Workspace::Samples(SampleWorkspace {
                energy: SampleScratch::new(head.samples),
                sinkhorn: sinkhorn.map(|_| Box::new(SinkhornScratch::new(head.samples))),
            }),
        }
    }

    /// Draws what all rows of a step share; most objectives share nothing.
    pub(super) fn begin_step(&self, rng: &mut Rng, workspace: &mut Workspace) {
        if let (
            Self::Samples { sinkhorn: Some(sinkhorn), .. },
            Workspace::Samples(SampleWorkspace { sinkhorn: Some(scratch), .. }),
        ) = (self, workspace)
        {
            sinkhorn.draw(rng, scratch);
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
        match (self, workspace) {
            (Self::Mixture { head, loss }, Workspace::Mixture(workspace)) => {
                mixture_loss::<L>(head, loss, outputs, y, weights, deltas, workspace)
            }
            (Self::Samples { sinkhorn, .. }, Workspace::Samples(workspace)) => {
                sample_loss::<L>(sinkhorn.as_ref(), outputs, y, weights, deltas, workspace)
            }
            _ => unreachable!("the workspace is the objective's own"),
        }
    }

    /// Adds to `totals` the scores of the rows, each times its weight.
    #[inline(always)]
    pub(super) fn scores<L: Lanes>(
        &self,
        outputs: &[Chunk],
        y: &[Chunk; PANEL_CHUNKS],
        weights: &[Chunk; PANEL_CHUNKS],
        workspace: &mut Workspace,
        totals: &mut ScoreSums,
    ) {
        let mut sums = (L::splat(0.0), L::splat(0.0));
        if let (Self::Mixture { head, .. }, Workspace::Mixture(MixtureWorkspace { panel, .. })) =
            (self, &mut *workspace)
        {
            head.forward::<L>(outputs, panel);
        }
        for lane in 0..PANEL_CHUNKS {
            let (log, energy) = match (self, &mut *workspace) {
                (Self::Mixture { .. }, Workspace::Mixture(MixtureWorkspace { panel, scratch, .. })) => {
                    scratch.scores::<L>(panel, &y[lane], lane, Wanted { log: true, energy: true })
                }
                (Self::Samples { head, .. }, Workspace::Samples(SampleWorkspace { energy, .. })) => (
                    sample_log::panel::<L>(outputs, &y[lane], lane, head.sd_floor),
                    energy.score::<L>(outputs, &y[lane], lane),
                ),
                _ => unreachable!("the workspace is the objective's own"),
            };
            let weight = L::load(&weights[lane]);
            sums = (log.mul_add(weight, sums.0), energy.mul_add(weight, sums.1));
            if let (Some(calibrated), Workspace::Mixture(MixtureWorkspace { panel, scratch, .. })) =
                (&mut totals.calibrated, &mut *workspace)
            {
                for (sum, factor) in calibrated.iter_mut().zip(SD_FACTORS) {
                    let log = scratch.scaled_log_score::<L>(panel, &y[lane], lane, factor);
                    *sum += f64::from((log * weight).sum());
                }
            }
        }
        totals.nll += f64::from(sums.0.sum());
        totals.crps += f64::from(sums.1.sum());
    }
}

/// Sums over rows of weight · score.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScoreSums {
    pub(super) nll: f64,
    pub(super) crps: f64,
    /// Logarithmic scores with all sds times each of the [`SD_FACTORS`], where wanted.
    pub(super) calibrated: Option<[f64; SD_FACTORS.len()]>,
}

#[inline(always)]
fn mixture_loss<L: Lanes>(
    head: &Head,
    loss: &Loss,
    outputs: &[Chunk],
    y: &[Chunk; PANEL_CHUNKS],
    weights: &[Chunk; PANEL_CHUNKS],
    deltas: &mut [Chunk],
    workspace: &mut MixtureWorkspace,
) -> f32 {
    let MixtureWorkspace { panel, scratch, deltas: parameter_deltas } = workspace;
    head.forward::<L>(outputs, panel);
    let mut sum = L::splat(0.0);
    for lane in 0..PANEL_CHUNKS {
        let weight = L::load(&weights[lane]);
        match *loss {
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
    head.backward::<L>(panel, parameter_deltas, deltas);
    sum.sum()
}

#[inline(always)]
fn sample_loss<L: Lanes>(
    sinkhorn: Option<&Sinkhorn>,
    outputs: &[Chunk],
    y: &[Chunk; PANEL_CHUNKS],
    weights: &[Chunk; PANEL_CHUNKS],
    deltas: &mut [Chunk],
    workspace: &mut SampleWorkspace,
) -> f32 {
    let SampleWorkspace { energy, sinkhorn: scratch } = workspace;
    let mut sum = L::splat(0.0);
    for lane in 0..PANEL_CHUNKS {
        let weight = L::load(&weights[lane]);
        sum = energy.score::<L>(outputs, &y[lane], lane).mul_add(weight, sum);
        energy.gradient::<L>(lane, weight, deltas);
    }
    if let (Some(sinkhorn), Some(scratch)) = (sinkhorn, scratch) {
        sum = sum + sinkhorn.add::<L>(outputs, weights, deltas, scratch);
    }
    sum.sum()
}
