//! Evaluation of an objective: raw outputs of a panel to a loss and its gradient, or to scores.

use super::{Objective, SD_FACTORS};
use crate::dataset::Dataset;
use crate::loss::beta_nll;
use crate::loss::joint::JointScratch;
use crate::loss::sample_energy::SampleScratch;
use crate::loss::sinkhorn::{Sinkhorn, SinkhornScratch};
use crate::loss::{ObservedTargets, Scratch, Wanted, sample_log};
use crate::net::{
    Bounds, GaussianHead, JointHead, JointPanel, MixtureHead, MixtureOutputs, MixturePanel, PANEL, PANEL_CHUNKS,
    SampleHead,
};
use negmm_dist::math::counter::Draws;
use negmm_dist::math::lanes::{Chunk, Lanes, WIDTH};

/// An objective with buffers for one panel.
#[derive(Clone, Debug)]
pub(super) enum Evaluator {
    Hybrid { head: MixtureHead, eta: f32, buffers: MixtureBuffers },
    BetaNll { head: GaussianHead, beta: f32, buffers: MixtureBuffers },
    Joint { head: JointHead, eta: f32, panel: JointPanel, scratch: Box<JointScratch> },
    SampleEnergy { head: SampleHead, energy: SampleScratch, sinkhorn: Option<(Sinkhorn, Box<SinkhornScratch>)> },
}

/// Buffers for a panel of mixtures, their scores and gradients.
#[derive(Clone, Debug)]
pub(super) struct MixtureBuffers {
    panel: MixturePanel,
    scratch: Scratch,
    /// Derivatives with respect to (logits, means, sds).
    deltas: Vec<Chunk>,
    bounds: Option<BoundsBuffers>,
}

/// Buffers for the term of the logarithmic score due to bounds: ln of the probability between them.
#[derive(Clone, Debug)]
struct BoundsBuffers {
    ends: [Chunk; 2],
    scratch: Scratch,
    deltas: Vec<Chunk>,
}

impl BoundsBuffers {
    /// Minus the logarithm of the probability between the bounds.
    #[inline(always)]
    fn score<L: Lanes>(&mut self, panel: &MixturePanel, y: &Chunk, lane: usize) -> L {
        let Self { ends: [lower, upper], scratch, .. } = self;
        let between = ObservedTargets { y, intervals: Some([lower, upper]) };
        scratch.scores::<L>(panel, between, lane, Wanted { log: true, energy: false }).0
    }

    /// The same with all sds times `factor`.
    #[inline(always)]
    fn scaled_score<L: Lanes>(&mut self, panel: &MixturePanel, y: &Chunk, lane: usize, factor: f32) -> L {
        let Self { ends: [lower, upper], scratch, .. } = self;
        scratch.scaled_log_score::<L>(panel, ObservedTargets { y, intervals: Some([lower, upper]) }, lane, factor)
    }
}

impl MixtureBuffers {
    fn new(components: usize, bounds: Bounds) -> Self {
        let deltas = || vec![Chunk::ZERO; 3 * components * PANEL_CHUNKS];
        let buffers = |ends: [f32; 2]| BoundsBuffers {
            ends: ends.map(|end| Chunk([end; WIDTH])),
            scratch: Scratch::new(components),
            deltas: deltas(),
        };
        Self {
            panel: MixturePanel::new(components),
            scratch: Scratch::new(components),
            deltas: deltas(),
            bounds: bounds.ends().map(buffers),
        }
    }
}

/// Targets and sample weights of a panel's rows.
pub(super) struct PanelRows {
    pub(super) y: [Chunk; PANEL_CHUNKS],
    pub(super) sample_weights: [Chunk; PANEL_CHUNKS],
    /// The lower and the upper ends of targets, if some are censored.
    pub(super) ends: Option<[[Chunk; PANEL_CHUNKS]; 2]>,
}

impl PanelRows {
    #[inline(always)]
    fn known(&self, lane: usize) -> ObservedTargets<'_> {
        let intervals = self.ends.as_ref().map(|[lower, upper]| [&lower[lane], &upper[lane]]);
        ObservedTargets { y: &self.y[lane], intervals }
    }
}

/// Sums over rows of weight · score; energy scores of rows that are not censored.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScoreSums {
    pub(super) nll: f64,
    pub(super) crps: f64,
    /// Logarithmic scores with all sds times each of the [`SD_FACTORS`], if they are needed.
    pub(super) calibrated: Option<[f64; SD_FACTORS.len()]>,
}

impl Evaluator {
    pub(super) fn new(objective: &Objective) -> Self {
        match *objective {
            Objective::Hybrid { head, eta } => {
                Self::Hybrid { head, eta, buffers: MixtureBuffers::new(head.components(), head.bounds) }
            }
            Objective::BetaNll { head, beta } => {
                Self::BetaNll { head, beta, buffers: MixtureBuffers::new(head.components(), Bounds::NONE) }
            }
            Objective::Joint { head, eta } => {
                Self::Joint { head, eta, panel: JointPanel::new(&head), scratch: Box::new(JointScratch::new(head)) }
            }
            Objective::SampleEnergy { head, sinkhorn } => Self::SampleEnergy {
                head,
                energy: SampleScratch::new(head.samples),
                sinkhorn: sinkhorn.map(|sinkhorn| (sinkhorn, Box::new(SinkhornScratch::new(head.samples)))),
            },
        }
    }

    /// Draws the random numbers of a step, if the objective has any.
    pub(super) fn begin_step(&mut self, draws: &mut Draws) {
        match self {
            Self::SampleEnergy { sinkhorn: Some((sinkhorn, scratch)), .. } => sinkhorn.draw(draws, scratch),
            Self::Joint { scratch, .. } => scratch.draw(draws),
            _ => {}
        }
    }

    /// Reads the targets of a panel's rows, where there are several.
    pub(super) fn read(&mut self, data: &Dataset, rows: &[u32; PANEL]) {
        if let (Self::Joint { scratch, .. }, Some(targets)) = (self, data.joint_targets()) {
            scratch.read(targets.values(), rows);
        }
    }

    /// The sum over rows of weight · loss; `deltas` gets its derivative with respect to `outputs`.
    #[inline(always)]
    pub(super) fn loss<L: Lanes>(&mut self, outputs: &[Chunk], rows: &PanelRows, deltas: &mut [Chunk]) -> f32 {
        match self {
            Self::Hybrid { head, eta, buffers } => hybrid::<L>(head, *eta, outputs, rows, deltas, buffers),
            Self::BetaNll { head, beta, buffers } => beta_nll::<L>(head, *beta, outputs, rows, deltas, buffers),
            Self::Joint { head, eta, panel, scratch } => {
                head.forward::<L>(outputs, panel);
                let sum = scratch.loss::<L>(panel, &rows.sample_weights, *eta);
                head.backward::<L>(panel, scratch.deltas(), deltas);
                sum.sum()
            }
            Self::SampleEnergy { energy, sinkhorn, .. } => {
                let mut sum = L::splat(0.0);
                for lane in 0..PANEL_CHUNKS {
                    let weight = L::load(&rows.sample_weights[lane]);
                    sum = energy.score::<L>(outputs, &rows.y[lane], lane).mul_add(weight, sum);
                    energy.gradient::<L>(lane, weight, deltas);
                }
                if let Some((sinkhorn, scratch)) = sinkhorn {
                    sum = sum + sinkhorn.add::<L>(outputs, &rows.sample_weights, deltas, scratch);
                }
                sum.sum()
            }
        }
    }

    /// Adds to `totals` the scores of the rows, each times its weight.
    #[inline(always)]
    pub(super) fn scores<L: Lanes>(&mut self, outputs: &[Chunk], rows: &PanelRows, totals: &mut ScoreSums) {
        match self {
            Self::Hybrid { head, buffers, .. } => mixture_scores::<L>(head, outputs, rows, buffers, totals),
            Self::BetaNll { head, buffers, .. } => mixture_scores::<L>(head, outputs, rows, buffers, totals),
            Self::Joint { head, panel, scratch, .. } => {
                head.forward::<L>(outputs, panel);
                let (log, energy) = scratch.scores::<L>(panel, &rows.sample_weights);
                totals.nll += f64::from(log.sum());
                totals.crps += f64::from(energy.sum());
            }
            Self::SampleEnergy { head, energy, .. } => {
                let mut sums = (L::splat(0.0), L::splat(0.0));
                for (lane, y) in rows.y.iter().enumerate() {
                    let weight = L::load(&rows.sample_weights[lane]);
                    let log = sample_log::panel::<L>(outputs, y, lane, head.sd_floor);
                    let energy = energy.score::<L>(outputs, y, lane);
                    sums = (log.mul_add(weight, sums.0), energy.mul_add(weight, sums.1));
                }
                totals.nll += f64::from(sums.0.sum());
                totals.crps += f64::from(sums.1.sum());
            }
        }
    }
}

#[inline(always)]
fn hybrid<L: Lanes>(
    head: &MixtureHead,
    eta: f32,
    outputs: &[Chunk],
    rows: &PanelRows,
    deltas: &mut [Chunk],
    buffers: &mut MixtureBuffers,
) -> f32 {
    let MixtureBuffers { panel, scratch, deltas: parameter_deltas, bounds } = buffers;
    head.forward::<L>(outputs, panel);
    let wanted = Wanted { log: eta > 0.0, energy: eta < 1.0 };
    let mut sum = L::splat(0.0);
    for lane in 0..PANEL_CHUNKS {
        let (weight, known) = (L::load(&rows.sample_weights[lane]), rows.known(lane));
        let (log, energy) = scratch.scores::<L>(panel, known, lane, wanted);
        let (log_factor, energy_factor) = (weight * L::splat(eta), known.of_energy(weight * L::splat(1.0 - eta)));
        sum = log.mul_add(log_factor, energy.mul_add(energy_factor, sum));
        let (log_factor, energy_factor) = (wanted.log.then_some(log_factor), wanted.energy.then_some(energy_factor));
        scratch.gradient::<L>(panel, lane, log_factor, energy_factor, parameter_deltas);
        if let (Some(bounds), Some(factor)) = (&mut *bounds, log_factor) {
            sum = bounds.score::<L>(panel, &rows.y[lane], lane).neg_mul_add(factor, sum);
            bounds.scratch.gradient::<L>(panel, lane, Some(L::splat(0.0) - factor), None, &mut bounds.deltas);
        }
    }
    if let Some(bounds) = bounds {
        for (sum, more) in parameter_deltas.iter_mut().zip(&bounds.deltas) {
            (L::load(sum) + L::load(more)).store(sum);
        }
    }
    head.backward::<L>(panel, parameter_deltas, deltas);
    sum.sum()
}

#[inline(always)]
fn beta_nll<L: Lanes>(
    head: &GaussianHead,
    beta: f32,
    outputs: &[Chunk],
    rows: &PanelRows,
    deltas: &mut [Chunk],
    buffers: &mut MixtureBuffers,
) -> f32 {
    let MixtureBuffers { panel, deltas: parameter_deltas, .. } = buffers;
    head.forward::<L>(outputs, panel);
    let mut sum = L::splat(0.0);
    for lane in 0..PANEL_CHUNKS {
        let weight = L::load(&rows.sample_weights[lane]);
        let score = beta_nll::panel::<L>(panel, rows.known(lane), lane, beta, weight, parameter_deltas);
        sum = score.mul_add(weight, sum);
    }
    head.backward::<L>(panel, parameter_deltas, deltas);
    sum.sum()
}

#[inline(always)]
fn mixture_scores<L: Lanes>(
    head: &impl MixtureOutputs,
    outputs: &[Chunk],
    rows: &PanelRows,
    buffers: &mut MixtureBuffers,
    totals: &mut ScoreSums,
) {
    let MixtureBuffers { panel, scratch, bounds, .. } = buffers;
    head.forward::<L>(outputs, panel);
    let mut sums = (L::splat(0.0), L::splat(0.0));
    for lane in 0..PANEL_CHUNKS {
        let (weight, known) = (L::load(&rows.sample_weights[lane]), rows.known(lane));
        let (mut log, energy) = scratch.scores::<L>(panel, known, lane, Wanted { log: true, energy: true });
        if let Some(bounds) = bounds.as_mut() {
            log = log - bounds.score::<L>(panel, &rows.y[lane], lane);
        }
        sums = (log.mul_add(weight, sums.0), energy.mul_add(known.of_energy(weight), sums.1));
        if let Some(calibrated) = &mut totals.calibrated {
            for (sum, factor) in calibrated.iter_mut().zip(SD_FACTORS) {
                let mut log = scratch.scaled_log_score::<L>(panel, known, lane, factor);
                if let Some(bounds) = bounds.as_mut() {
                    log = log - bounds.scaled_score::<L>(panel, &rows.y[lane], lane, factor);
                }
                *sum += f64::from((log * weight).sum());
            }
        }
    }
    totals.nll += f64::from(sums.0.sum());
    totals.crps += f64::from(sums.1.sum());
}
