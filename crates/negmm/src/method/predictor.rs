//! Responsible for predicting: encoded rows in, mixtures in units of the standardised target out.

use crate::data::Dataset;
use crate::math::lanes::{Chunk, Isa, Kernel, Lanes, floats};
use crate::mixture::Mixtures;
use crate::net::{MixtureHead, MixturePanel, Network, PANEL, Pass};

/// Raw outputs are held to this in either direction: also weights so large that their sums overflow predict distributions.
const OUTPUT_LIMIT: f32 = 1e18;

/// What predicts.
#[derive(Clone, Debug, PartialEq)]
pub enum Predictor {
    /// The standard normal, whatever the inputs: mean and sd of the target are in the encoder.
    Constant,
    /// Networks whose outputs are mixtures; their mixtures are pooled with equal weights.
    Networks {
        /// One or more.
        networks: Vec<TrainedNetwork>,
        /// What their outputs mean.
        head: MixtureHead,
    },
}

/// A network with its weights.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedNetwork {
    /// Its shape.
    pub network: Network,
    /// Laid out as its layers say.
    pub weights: Vec<Chunk>,
}

impl Predictor {
    /// Weights and biases.
    pub fn parameters(&self) -> usize {
        match self {
            Self::Constant => 2,
            Self::Networks { networks, .. } => networks.iter().map(|trained| trained.network.parameters()).sum(),
        }
    }

    /// Components of what it predicts.
    pub fn components(&self) -> usize {
        match self {
            Self::Constant => 1,
            Self::Networks { networks, head } => networks.len() * head.components,
        }
    }

    /// One mixture for each row.
    pub fn predict(&self, data: &Dataset, isa: Isa) -> Mixtures {
        let (components, rows) = (self.components(), data.len());
        let mut parts = Parts::new(rows * components);
        match self {
            Self::Constant => parts = Parts { weights: vec![1.0; rows], means: vec![0.0; rows], sds: vec![1.0; rows] },
            Self::Networks { networks, head } => {
                for (member, trained) in networks.iter().enumerate() {
                    isa.run(Predict { trained, head, data, parts: &mut parts, member, members: networks.len() });
                }
            }
        }
        Mixtures::from_parts_unchecked(components, parts.weights, parts.means, parts.sds)
    }
}

/// rows × components.
struct Parts {
    weights: Vec<f64>,
    means: Vec<f64>,
    sds: Vec<f64>,
}

impl Parts {
    fn new(size: usize) -> Self {
        Self { weights: vec![0.0; size], means: vec![0.0; size], sds: vec![0.0; size] }
    }
}

/// One network over all rows.
struct Predict<'a> {
    trained: &'a TrainedNetwork,
    head: &'a MixtureHead,
    data: &'a Dataset,
    parts: &'a mut Parts,
    member: usize,
    members: usize,
}

impl Kernel for Predict<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { trained, head, data, parts, member, members } = self;
        let mut pass = Pass::new(&trained.network);
        let mut outputs = pass.outputs().to_vec();
        let mut panel = MixturePanel::new(head.components);
        let components = head.components;
        for first in (0..data.len()).step_by(PANEL) {
            let rows = PANEL.min(data.len() - first);
            let numbers: [u32; PANEL] = std::array::from_fn(|at| (first + at.min(rows - 1)) as u32);
            pass.read::<L>(data.x(), data.stride(), &numbers);
            pass.forward::<L>(trained.network.activation, &trained.weights, None);
            for (held, output) in outputs.iter_mut().zip(pass.outputs()) {
                L::load(output).max(L::splat(-OUTPUT_LIMIT)).min(L::splat(OUTPUT_LIMIT)).store(held);
            }
            head.forward::<L>(&outputs, &mut panel);
            let (weights, means, sds) = (floats(&panel.weights), floats(&panel.means), floats(&panel.sds));
            for row in 0..rows {
                let start = ((first + row) * members + member) * components;
                let lane = |list: &[f32], k: usize| f64::from(list[k * PANEL + row]);
                // In f32 the weights sum to one only nearly.
                let total: f64 = (0..components).map(|k| lane(weights, k)).sum();
                let share = 1.0 / (total * members as f64);
                let target = start..start + components;
                for (k, out) in parts.weights[target.clone()].iter_mut().enumerate() {
                    *out = lane(weights, k) * share;
                }
                for (k, out) in parts.means[target.clone()].iter_mut().enumerate() {
                    *out = lane(means, k);
                }
                for (k, out) in parts.sds[target].iter_mut().enumerate() {
                    *out = lane(sds, k);
                }
            }
        }
    }
}
