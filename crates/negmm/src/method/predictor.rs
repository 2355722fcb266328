//! Predictors: encoded rows to mixtures or samples in units of the standardised target.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::MemberKind;
use super::stack::StackedParts;
use super::tails::Tail;
use super::tilt::Tilt;
use crate::accelerator::Accelerator;
use crate::standardised::{Pool, Standardised};
use negmm_dist::math::lanes::{Chunk, Isa, Kernel, Lanes, WIDTH, floats};
use negmm_dist::mixture::Mixtures;
use negmm_dist::predictive::Predictions;
use negmm_dist::{Error, Result};
use negmm_nn::dataset::{Dataset, TargetEncoding};
use negmm_nn::forest::Forest;
use negmm_nn::net::{
    FEW_ROWS, Head, MixtureOutputs, MixturePanel, Network, PANEL, PANEL_CHUNKS, Parameters, SampleHead, SmallBatch,
    Workspace,
};
use negmm_nn::ngboost::{Boosted, Columns};

/// Raw outputs are clipped to this absolute value, so that even overflowing sums give valid distributions.
const OUTPUT_LIMIT: f32 = 1e18;

/// Maximum number of rows whose raw outputs are in memory.
const PORTION: usize = 16_384;

/// A fitted predictor.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Predictor {
    /// The same distribution whatever the inputs.
    Constant {
        /// One mixture, in units of the standardised target.
        distribution: Mixtures,
    },
    /// Networks, pooled with equal weights.
    Networks {
        /// One or more.
        members: Vec<Member>,
        /// The kind of their outputs.
        head: Head,
        /// How their predictions are combined.
        pool: Pool,
    },
    /// Boosted trees.
    Trees {
        /// The trees.
        boosted: Boosted,
        /// The target encoding from the training rows.
        statistics: Arc<TargetEncoding>,
    },
    /// A random forest.
    Forest {
        /// The forest.
        forest: Forest,
        /// The target encoding from the training rows.
        statistics: Arc<TargetEncoding>,
    },
    /// Several predictors of mixtures, pooled with stacking weights.
    Stack {
        /// One or more.
        parts: Vec<Part>,
        /// How the pool is tilted towards the centre of a row's own distribution.
        tilt: Option<Tilt>,
        /// Wide copies of a row's own distribution.
        tails: Vec<Tail>,
        /// The bounds between which each model is truncated before models are pooled, in units of the standardised target.
        bounds: Option<[f64; 2]>,
    },
}

/// The kind of a predictor, as files name it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PredictorKind {
    Constant,
    /// Networks whose outputs are mixtures.
    Networks,
    /// Networks whose outputs are samples.
    Samplers,
    Trees,
    Forest,
    Stack,
}

/// A part of a stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Stacking weight; those of all parts sum to 1.
    pub weight: f64,
    /// The kind of member that it belongs to.
    pub kind: MemberKind,
    /// The predictor; not a stack.
    pub predictor: Predictor,
}

/// A trained network.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its architecture.
    pub network: Network,
    /// Its parameters.
    pub parameters: Parameters,
    /// Its sigma scale.
    pub sigma_scale: f64,
    /// The target encoding from its training rows.
    pub statistics: Arc<TargetEncoding>,
}

impl Predictor {
    /// The only part, or a stack of all parts with weights that sum to 1.
    ///
    /// # Panics
    /// When there is no part.
    pub(super) fn of_parts(
        mut parts: Vec<Part>,
        tilt: Option<Tilt>,
        tails: Vec<Tail>,
        bounds: Option<[f64; 2]>,
    ) -> Self {
        assert!(!parts.is_empty(), "something predicts");
        if parts.len() == 1 && tails.is_empty() && tilt.is_none() {
            return parts.remove(0).predictor;
        }
        let total: f64 = parts.iter().map(|part| part.weight).sum();
        parts.iter_mut().for_each(|part| part.weight /= total);
        Self::Stack { parts, tilt, tails, bounds }
    }

    /// Number of parameters: weights and biases, or leaf values.
    pub fn parameters(&self) -> usize {
        match self {
            Self::Constant { distribution } => 2 * distribution.components(),
            Self::Networks { members, .. } => members.iter().map(|member| member.network.parameters()).sum(),
            Self::Trees { boosted, .. } => boosted.leaves(),
            Self::Forest { forest, .. } => forest.leaves(),
            Self::Stack { parts, tilt, tails, .. } => {
                2 * (tails.len() + tilt.iter().count())
                    + parts.iter().map(|part| part.predictor.parameters()).sum::<usize>()
            }
        }
    }

    /// Number of members that remain distinguishable in its predictions.
    pub fn members(&self) -> usize {
        match self {
            Self::Networks { members, pool: Pool::Mixture, .. } => members.len(),
            Self::Networks { pool: Pool::Gaussian, .. }
            | Self::Constant { .. }
            | Self::Trees { .. }
            | Self::Forest { .. } => 1,
            Self::Stack { parts, .. } => parts.iter().map(|part| part.predictor.members()).sum(),
        }
    }

    /// Number of members of its predictions, in which each wide tail is one.
    pub(crate) fn predicted_members(&self) -> usize {
        let tails = if let Self::Stack { tails, .. } = self { tails.len() } else { 0 };
        self.members() + tails
    }

    /// Number of mixture components, if it predicts mixtures.
    pub fn components(&self) -> Option<usize> {
        match self {
            Self::Networks { members, head, pool: Pool::Mixture } => Some(members.len() * head.components()?),
            Self::Networks { pool: Pool::Gaussian, .. } | Self::Trees { .. } => Some(1),
            Self::Constant { distribution } => Some(distribution.components()),
            Self::Forest { forest, .. } => Some(forest.components.len()),
            Self::Stack { parts, tilt, tails, .. } => {
                let own = parts.iter().map(|part| part.predictor.components()).sum::<Option<usize>>()?;
                Some(own * (1 + tilt.iter().count()) + tails.len())
            }
        }
    }

    /// The networks in it.
    pub fn networks(&self) -> impl Iterator<Item = &Member> {
        let parts = match self {
            Self::Stack { parts, .. } => parts.iter().map(|part| &part.predictor).collect(),
            alone => vec![alone],
        };
        parts.into_iter().flat_map(|part| match part {
            Self::Networks { members, .. } => &members[..],
            _ => &[],
        })
    }

    /// One distribution for each row.
    ///
    /// # Errors
    /// When the rows do not have the features of training.
    pub fn predict(&self, data: &Dataset, isa: Isa) -> Result<Standardised> {
        self.predict_on(None, data, isa)
    }

    /// As [`Predictor::predict`], with an optional accelerator for networks; results are bit-identical.
    ///
    /// # Errors
    /// When the rows do not have the features of training.
    pub fn predict_on(&self, accelerator: Option<&dyn Accelerator>, data: &Dataset, isa: Isa) -> Result<Standardised> {
        let rows = data.len();
        let normal = |means, sds| {
            let normals = Mixtures::from_parts_unchecked(1, vec![1.0; rows], means, sds);
            Standardised::new(normals.into(), Pool::Mixture)
        };
        match self {
            Self::Constant { distribution } => Ok(Standardised::new(distribution.repeated(rows).into(), Pool::Mixture)),
            Self::Trees { boosted, statistics } => {
                let data = statistics.of_rows(data)?;
                let (means, sds) = boosted.predict(&Columns::new(&data.columns(), rows)?)?;
                Ok(normal(means, sds))
            }
            Self::Networks { members, head, pool } => {
                let features = data.features();
                if let Some(member) = members.iter().find(|member| member.network.inputs != features) {
                    return Err(Error::data(format!("expected {} features, found {features}", member.network.inputs)));
                }
                let running = Running { accelerator, members, isa };
                let predictions = match head {
                    Head::Mixture(head) => running.mixtures(head, data)?,
                    Head::Gaussian(head) => running.mixtures(head, data)?,
                    Head::Samples(head) => running.samples(head, data)?,
                    Head::Joint(_) => return Err(Error::model("networks of several targets are no predictor of one")),
                };
                Ok(Standardised::new(predictions, *pool))
            }
            Self::Forest { forest, statistics } => {
                let weights = forest.predict(statistics.of_rows(data)?.as_ref())?;
                let list = |at: usize| forest.components.iter().map(|part| part[at]).collect::<Vec<f64>>().repeat(rows);
                let mixtures = Mixtures::from_parts_unchecked(forest.components.len(), weights, list(0), list(1));
                Ok(Standardised::new(mixtures.into(), Pool::Mixture))
            }
            Self::Stack { .. } => {
                let parts = StackedParts::of(self, accelerator, data, isa)?;
                Ok(parts.ok_or_else(|| Error::model("a stack has parts"))?.pooled(0..rows))
            }
        }
    }

    /// As [`Predictor::predict_on`], in order and where it can in blocks of so many rows; `see` gets a block's first row and its
    /// predictions.
    ///
    /// # Errors
    /// When the rows do not have the features of training, or `see` fails.
    pub(crate) fn in_blocks(
        &self,
        accelerator: Option<&dyn Accelerator>,
        data: &Dataset,
        (isa, block): (Isa, usize),
        mut see: impl FnMut(usize, Standardised) -> Result<()>,
    ) -> Result<()> {
        match StackedParts::of(self, accelerator, data, isa)? {
            None => see(0, self.predict_on(accelerator, data, isa)?),
            Some(parts) => (0..data.len())
                .step_by(block)
                .try_for_each(|first| see(first, parts.pooled(first..data.len().min(first + block)))),
        }
    }
}

/// The raw outputs of networks of one head: rows × members × outputs.
///
/// # Errors
/// When the rows do not have the features of training.
pub(crate) fn raw_outputs(members: &[Member], outputs: usize, data: &Dataset, isa: Isa) -> Result<Vec<f64>> {
    let features = data.features();
    if let Some(member) = members.iter().find(|member| member.network.inputs != features) {
        return Err(Error::data(format!("expected {} features, found {features}", member.network.inputs)));
    }
    let room = Samples { members: members.len(), values: vec![0.0; data.len() * members.len() * outputs] };
    Ok(Running { accelerator: None, members, isa }.run(data, room)?.values)
}

/// Networks and the accelerator that runs them.
#[derive(Clone, Copy)]
struct Running<'a> {
    accelerator: Option<&'a dyn Accelerator>,
    members: &'a [Member],
    isa: Isa,
}

impl Running<'_> {
    /// The mixture of all members.
    fn mixtures(self, head: &impl MixtureOutputs, data: &Dataset) -> Result<Predictions> {
        let members = self.members;
        let Parts { weights, means, sds, .. } = self.run(data, Parts::new(head, members, data.len()))?;
        let mixtures = Mixtures::from_parts_unchecked(members.len() * head.components(), weights, means, sds);
        Ok(Predictions::from(mixtures).of_members(members.len()))
    }

    /// The samples of all members.
    fn samples(self, head: &SampleHead, data: &Dataset) -> Result<Predictions> {
        let count = self.members.len();
        let room = Samples { members: count, values: vec![0.0; data.len() * count * head.samples] };
        let Samples { values, .. } = self.run(data, room)?;
        Ok(Predictions::of_sample_members(count, head.samples, values, f64::from(head.sd_floor)))
    }

    /// Runs all networks over all rows, each with its own target encoding; those with the same architecture and
    /// encoding together.
    fn run<G: Gather>(self, data: &Dataset, mut gather: G) -> Result<G> {
        let alike = |a: &Member, b: &Member| a.statistics == b.statistics && a.network == b.network;
        let mut filled: Option<(&TargetEncoding, Cow<'_, Dataset>)> = None;
        let mut first = 0;
        for members in self.members.chunk_by(alike) {
            let statistics = members[0].statistics.as_ref();
            let data = match filled.take() {
                Some((same, data)) if same == statistics => data,
                _ => statistics.of_rows(data)?,
            };
            for begin in (0..data.len()).step_by(PORTION) {
                let (stride, count) = (data.stride(), PORTION.min(data.len() - begin));
                let rows = Rows { x: &data.x()[begin * stride..][..count * stride], stride, first: begin, count };
                match self.accelerated(members, rows) {
                    Some(outputs) => {
                        self.isa.run(Take { outputs: &outputs, members, rows, gather: &mut gather, first })
                    }
                    None => members.iter().zip(first..).for_each(|(trained, member)| {
                        self.isa.run(Predict { trained, rows, gather: &mut gather, member });
                    }),
                }
            }
            first += members.len();
            filled = Some((statistics, data));
        }
        Ok(gather)
    }

    /// The raw outputs of networks of one architecture, from the accelerator if there is one.
    fn accelerated(self, members: &[Member], rows: Rows<'_>) -> Option<Vec<f32>> {
        let (accelerator, network) = (self.accelerator?, &members[0].network);
        if rows.count <= FEW_ROWS || rows.x.is_empty() {
            return None;
        }
        let parameters: Vec<_> = members.iter().map(|member| &member.parameters).collect();
        let outputs = accelerator.outputs(network, &parameters, rows.x, rows.stride)?;
        let expected = members.len() * rows.count.div_ceil(PANEL) * network.outputs * PANEL;
        Some(outputs).filter(|outputs| outputs.len() == expected)
    }
}

/// `count` rows of a table, each padded to `stride` floats; `first` come before them.
#[derive(Clone, Copy)]
struct Rows<'a> {
    x: &'a [f32],
    stride: usize,
    first: usize,
    count: usize,
}

/// A consumer of raw outputs, panel by panel.
trait Gather {
    /// `outputs` is outputs × panel, of member `member`, for `rows` rows from `first` on.
    fn gather<L: Lanes>(&mut self, outputs: &[Chunk], member: usize, first: usize, rows: usize);
}

/// Mixtures, each list rows × members × components. An atom is a component with an sd of 0.
struct Parts<'a, H> {
    head: &'a H,
    members: &'a [Member],
    panel: MixturePanel,
    weights: Vec<f64>,
    means: Vec<f64>,
    sds: Vec<f64>,
}

impl<'a, H: MixtureOutputs> Parts<'a, H> {
    fn new(head: &'a H, members: &'a [Member], rows: usize) -> Self {
        let list = vec![0.0; rows * members.len() * head.components()];
        let panel = MixturePanel::new(head.components());
        Self { head, members, panel, weights: list.clone(), means: list.clone(), sds: list }
    }
}

impl<H: MixtureOutputs> Gather for Parts<'_, H> {
    #[inline(always)]
    fn gather<L: Lanes>(&mut self, outputs: &[Chunk], member: usize, first: usize, rows: usize) {
        let (components, members) = (self.head.components(), self.members.len());
        let sigma_scale = self.members[member].sigma_scale;
        self.head.forward::<L>(outputs, &mut self.panel);
        let gaussians = components - self.panel.atoms;
        let (weights, means, sds) = (floats(&self.panel.weights), floats(&self.panel.means), floats(&self.panel.sds));
        for row in 0..rows {
            let start = ((first + row) * members + member) * components;
            let lane = |list: &[f32], k: usize| f64::from(list[k * PANEL + row]);
            // In f32 the weights sum to 1 only approximately.
            let total: f64 = (0..components).map(|k| lane(weights, k)).sum();
            let weight = 1.0 / (total * members as f64);
            let target = start..start + components;
            for (k, out) in self.weights[target.clone()].iter_mut().enumerate() {
                *out = lane(weights, k) * weight;
            }
            for (k, out) in self.means[target.clone()].iter_mut().enumerate() {
                *out = lane(means, k);
            }
            for (k, out) in self.sds[target].iter_mut().enumerate() {
                *out = if k < gaussians { lane(sds, k) * sigma_scale } else { 0.0 };
            }
        }
    }
}

/// Samples, rows × members × samples.
struct Samples {
    members: usize,
    values: Vec<f64>,
}

impl Gather for Samples {
    #[inline(always)]
    fn gather<L: Lanes>(&mut self, outputs: &[Chunk], member: usize, first: usize, rows: usize) {
        let outputs = floats(outputs);
        let samples = outputs.len() / PANEL;
        for row in 0..rows {
            let start = ((first + row) * self.members + member) * samples;
            for (sample, out) in self.values[start..start + samples].iter_mut().enumerate() {
                *out = f64::from(outputs[sample * PANEL + row]);
            }
        }
    }
}

/// Reads precomputed raw outputs of networks of one architecture, beginning with network `first`.
struct Take<'a, G> {
    outputs: &'a [f32],
    members: &'a [Member],
    rows: Rows<'a>,
    gather: &'a mut G,
    first: usize,
}

impl<G: Gather> Kernel for Take<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { outputs, members, rows, gather, first } = self;
        let mut panel = vec![Chunk::ZERO; members[0].network.outputs * PANEL_CHUNKS];
        let panels = rows.count.div_ceil(PANEL);
        for (at, raw) in outputs.chunks_exact(members[0].network.outputs * PANEL).enumerate() {
            let (member, row) = (first + at / panels, at % panels * PANEL);
            for (chunk, raw) in panel.iter_mut().zip(raw.as_chunks::<WIDTH>().0) {
                *chunk = Chunk(*raw);
            }
            hold::<L>(&mut panel);
            gather.gather::<L>(&panel, member, rows.first + row, PANEL.min(rows.count - row));
        }
    }
}

/// One network over some rows.
struct Predict<'a, G> {
    trained: &'a Member,
    rows: Rows<'a>,
    gather: &'a mut G,
    member: usize,
}

impl<G: Gather> Kernel for Predict<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { trained: Member { network, parameters, .. }, rows, gather, member } = self;
        let Rows { x, stride, first, count } = rows;
        let mut outputs = vec![Chunk::ZERO; network.outputs * PANEL_CHUNKS];
        if (1..=FEW_ROWS).contains(&count) {
            outputs.copy_from_slice(SmallBatch::new(network).forward::<L>(x, stride, count, parameters));
            hold::<L>(&mut outputs);
            return gather.gather::<L>(&outputs, member, first, count);
        }
        let mut pass = Workspace::new(network);
        for begin in (0..count).step_by(PANEL) {
            let rows = PANEL.min(count - begin);
            let numbers: [u32; PANEL] = std::array::from_fn(|at| (begin + at.min(rows - 1)) as u32);
            pass.read::<L>(x, stride, &numbers);
            pass.predict::<L>(network.activation, parameters.chunks());
            outputs.copy_from_slice(pass.outputs());
            hold::<L>(&mut outputs);
            gather.gather::<L>(&outputs, member, first + begin, rows);
        }
    }
}

/// Clips raw outputs.
#[inline(always)]
fn hold<L: Lanes>(outputs: &mut [Chunk]) {
    for output in outputs {
        L::load(output).max(L::splat(-OUTPUT_LIMIT)).min(L::splat(OUTPUT_LIMIT)).store(output);
    }
}
