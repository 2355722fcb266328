//! Responsible for predicting: encoded rows in, mixtures or samples in units of the standardised target out.

use super::ngboost::Boosted;
use crate::data::Dataset;
use crate::math::lanes::{Chunk, Isa, Kernel, Lanes, floats};
use crate::mixture::Mixtures;
use crate::net::{Head, MixturePanel, Network, PANEL, Pass, SampleHead};
use crate::predictive::Predictions;

/// Raw outputs are held to this in either direction: also weights so large that their sums overflow predict distributions.
const OUTPUT_LIMIT: f32 = 1e18;

/// What predicts.
#[derive(Clone, Debug, PartialEq)]
pub enum Predictor {
    /// A normal distribution around the target's mean, whatever the inputs: mean and sd of the target are in the encoder.
    Constant {
        /// Its sd, in sds of the target.
        sd: f64,
    },
    /// Networks whose outputs are mixtures; their mixtures are pooled with equal weights.
    Networks {
        /// One or more.
        networks: Vec<TrainedNetwork>,
        /// What their outputs mean.
        head: Head,
    },
    /// Networks whose outputs are samples; their samples are pooled.
    Samplers {
        /// One or more.
        networks: Vec<TrainedNetwork>,
        /// What their outputs mean.
        head: SampleHead,
    },
    /// Boosted trees.
    Trees(Boosted),
}

/// A network with its weights.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedNetwork {
    /// Its shape.
    pub network: Network,
    /// Laid out as its layers say.
    pub weights: Vec<Chunk>,
    /// What the sds that it gives are multiplied by.
    pub sd_factor: f64,
}

impl Predictor {
    /// Numbers that were learnt: weights and biases, or the values of leaves.
    pub fn parameters(&self) -> usize {
        match self {
            Self::Constant { .. } => 2,
            Self::Networks { networks, .. } | Self::Samplers { networks, .. } => {
                networks.iter().map(|trained| trained.network.parameters()).sum()
            }
            Self::Trees(boosted) => boosted.leaves(),
        }
    }

    /// Models that are pooled.
    pub fn members(&self) -> usize {
        match self {
            Self::Constant { .. } | Self::Trees(_) => 1,
            Self::Networks { networks, .. } | Self::Samplers { networks, .. } => networks.len(),
        }
    }

    /// Components of the mixtures it predicts, if it predicts mixtures.
    pub fn components(&self) -> Option<usize> {
        match self {
            Self::Constant { .. } | Self::Trees(_) => Some(1),
            Self::Networks { networks, head } => Some(networks.len() * head.components()),
            Self::Samplers { .. } => None,
        }
    }

    /// One distribution for each row.
    pub fn predict(&self, data: &Dataset, isa: Isa) -> Predictions {
        let rows = data.len();
        let normal = |means, sds| Mixtures::from_parts_unchecked(1, vec![1.0; rows], means, sds).into();
        match self {
            Self::Constant { sd } => normal(vec![0.0; rows], vec![*sd; rows]),
            Self::Trees(boosted) => {
                let (means, sds) = boosted.predict_rows(data);
                normal(means, sds)
            }
            Self::Networks { networks, head } => {
                let parts = Parts::new(head, networks, rows);
                let Parts { weights, means, sds, .. } = run(networks, data, isa, parts);
                let components = networks.len() * head.components();
                let mixtures = Mixtures::from_parts_unchecked(components, weights, means, sds);
                Predictions::from(mixtures).of_members(networks.len())
            }
            Self::Samplers { networks, head } => {
                let members = networks.len();
                let samples = Samples { members, values: vec![0.0; rows * members * head.samples] };
                let Samples { values, .. } = run(networks, data, isa, samples);
                Predictions::of_sample_members(members, head.samples, values, f64::from(head.sd_floor))
            }
        }
    }
}

/// Runs all networks over all rows.
fn run<G: Gather>(networks: &[TrainedNetwork], data: &Dataset, isa: Isa, mut gather: G) -> G {
    for (member, trained) in networks.iter().enumerate() {
        isa.run(Predict { trained, data, gather: &mut gather, member });
    }
    gather
}

/// Takes what the raw outputs of a panel mean.
trait Gather {
    /// `outputs` is outputs × panel, of member `member`, for `rows` rows from `first` on.
    fn gather<L: Lanes>(&mut self, outputs: &[Chunk], member: usize, first: usize, rows: usize);
}

/// Mixtures, each list rows × members × components.
struct Parts<'a> {
    head: &'a Head,
    networks: &'a [TrainedNetwork],
    panel: MixturePanel,
    weights: Vec<f64>,
    means: Vec<f64>,
    sds: Vec<f64>,
}

impl<'a> Parts<'a> {
    fn new(head: &'a Head, networks: &'a [TrainedNetwork], rows: usize) -> Self {
        let list = vec![0.0; rows * networks.len() * head.components()];
        let panel = MixturePanel::new(head.components());
        Self { head, networks, panel, weights: list.clone(), means: list.clone(), sds: list }
    }
}

impl Gather for Parts<'_> {
    #[inline(always)]
    fn gather<L: Lanes>(&mut self, outputs: &[Chunk], member: usize, first: usize, rows: usize) {
        let (components, members) = (self.head.components(), self.networks.len());
        let sd_factor = self.networks[member].sd_factor;
        self.head.forward::<L>(outputs, &mut self.panel);
        let (weights, means, sds) = (floats(&self.panel.weights), floats(&self.panel.means), floats(&self.panel.sds));
        for row in 0..rows {
            let start = ((first + row) * members + member) * components;
            let lane = |list: &[f32], k: usize| f64::from(list[k * PANEL + row]);
            // In f32 the weights sum to one only nearly.
            let total: f64 = (0..components).map(|k| lane(weights, k)).sum();
            let share = 1.0 / (total * members as f64);
            let target = start..start + components;
            for (k, out) in self.weights[target.clone()].iter_mut().enumerate() {
                *out = lane(weights, k) * share;
            }
            for (k, out) in self.means[target.clone()].iter_mut().enumerate() {
                *out = lane(means, k);
            }
            for (k, out) in self.sds[target].iter_mut().enumerate() {
                *out = lane(sds, k) * sd_factor;
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

/// One network over all rows.
struct Predict<'a, G> {
    trained: &'a TrainedNetwork,
    data: &'a Dataset,
    gather: &'a mut G,
    member: usize,
}

impl<G: Gather> Kernel for Predict<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { trained, data, gather, member } = self;
        let mut pass = Pass::new(&trained.network);
        let mut outputs = pass.outputs().to_vec();
        for first in (0..data.len()).step_by(PANEL) {
            let rows = PANEL.min(data.len() - first);
            let numbers: [u32; PANEL] = std::array::from_fn(|at| (first + at.min(rows - 1)) as u32);
            pass.read::<L>(data.x(), data.stride(), &numbers);
            pass.forward::<L>(trained.network.activation, &trained.weights, None);
            for (held, output) in outputs.iter_mut().zip(pass.outputs()) {
                L::load(output).max(L::splat(-OUTPUT_LIMIT)).min(L::splat(OUTPUT_LIMIT)).store(held);
            }
            gather.gather::<L>(&outputs, member, first, rows);
        }
    }
}
