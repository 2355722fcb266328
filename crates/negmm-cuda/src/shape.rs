//! The shape of a kernel: all properties of a job that are compile-time constants, equal for all networks that share the kernel.

use negmm::net::{Network, Stem};
use negmm::train::{NetworkJob, Objective, Optimiser, SD_FACTORS, Selection};
use negmm_nn::net::Layer;
use negmm_nn::train::Start;

/// Rows of a panel, the unit in which batches are padded and summed.
pub(crate) const PANEL: usize = 32;
/// Validation sums: logarithmic score, energy score, and the logarithmic score with each sd factor.
pub(crate) const SCORE_SUMS: usize = 2 + SD_FACTORS.len();
/// Maximal components for which the terms of pairs are cached instead of computed twice.
const MAX_CACHED_PAIRS: usize = 40;
/// Maximal steps: they are counted in 32 bits.
const MAX_STEPS: usize = 1 << 31;
/// Maximal steps with a varying learning rate: each has an entry in a table.
const MAX_RATES: usize = 1 << 24;

/// A layer's weight matrix in the flat parameter buffer of the device: one row per output unit with the bias last, padded against bank
/// conflicts in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Matrix {
    /// Input and output units.
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Floats from row to row.
    pub(crate) stride: usize,
    /// Offset on the device and in the library's buffer, and the library's stride.
    pub(crate) start: usize,
    pub(crate) host_start: usize,
    pub(crate) host_stride: usize,
    pub(crate) residual: bool,
}

/// The head: how outputs are interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadKind {
    Mixture { components: usize, atoms: usize, mean_bound: bool, ceiling: bool, bounds: bool },
    Gaussian,
    Samples { samples: usize },
}

/// Compile-time properties of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) network: Network,
    pub(crate) matrices: Vec<Matrix>,
    pub(crate) head: HeadKind,
    pub(crate) optimiser: Optimiser,
    pub(crate) rows: usize,
    pub(crate) part: usize,
    pub(crate) parts: usize,
    pub(crate) adversarial: bool,
    pub(crate) dropout: bool,
    pub(crate) intervals: bool,
    pub(crate) calibrated: bool,
}

impl Shape {
    /// The shape of a job, or the reason why no kernel supports it.
    pub(crate) fn of(job: &NetworkJob, start: &Start) -> Result<Self, &'static str> {
        let (network, plan) = (&job.network, &job.plan);
        let head = match job.objective {
            Objective::Hybrid { head, .. } => HeadKind::Mixture {
                components: head.components,
                atoms: head.atoms.len(),
                mean_bound: head.mean_bound.is_some(),
                ceiling: head.sd_ceiling.is_some(),
                bounds: !head.bounds.is_none(),
            },
            Objective::BetaNll { .. } => HeadKind::Gaussian,
            Objective::Joint { .. } => return Err("networks of several targets are trained on the CPU"),
            Objective::SampleEnergy { sinkhorn: Some(_), .. } => {
                return Err("samples with a Sinkhorn regulariser are trained on the CPU");
            }
            Objective::SampleEnergy { .. } if plan.select == Selection::Calibrated => {
                return Err("samples selected by a calibrated score are trained on the CPU");
            }
            Objective::SampleEnergy { head, .. } => HeadKind::Samples { samples: head.samples },
        };
        if let Some(Stem::Lstm(_)) = network.stem {
            return Err("sequence models are trained on the CPU");
        }
        let table = plan.schedule != negmm::train::Schedule::Constant;
        if plan.steps >= MAX_STEPS || (table && plan.steps > MAX_RATES) {
            return Err("jobs with this many steps are trained on the CPU");
        }
        // Adversarial training: every panel is followed by its perturbed copy.
        let times = if start.adversarial_steps.is_empty() { 1 } else { 2 };
        Ok(Self {
            matrices: matrices(network),
            network: network.clone(),
            head,
            optimiser: plan.optimiser,
            rows: times * plan.batch_size.next_multiple_of(PANEL),
            part: times * start.part,
            parts: start.parts,
            adversarial: !start.adversarial_steps.is_empty(),
            dropout: plan.dropout > 0.0,
            intervals: job.data.intervals().is_some(),
            calibrated: plan.select == Selection::Calibrated,
        })
    }

    /// The shape of a network for inference, or the reason why no kernel supports it.
    pub(crate) fn forward(network: &Network) -> Result<Self, &'static str> {
        if let Some(Stem::Lstm(_)) = network.stem {
            return Err("sequence models are predicted on the CPU");
        }
        Ok(Self {
            matrices: matrices(network),
            network: network.clone(),
            // Inference returns raw outputs, whatever the head.
            head: HeadKind::Samples { samples: network.outputs },
            optimiser: Optimiser::Adam,
            rows: PANEL,
            part: PANEL,
            parts: 1,
            adversarial: false,
            dropout: false,
            intervals: false,
            calibrated: false,
        })
    }

    /// Floats of the flat parameter buffer.
    pub(crate) fn parameters(&self) -> usize {
        self.matrices.last().map_or(0, |matrix| matrix.start + matrix.outputs * matrix.stride)
    }

    /// Floats of the optimizer state, without averaged weights.
    pub(crate) fn optimizer_state_floats(&self) -> usize {
        self.parameters() * if self.optimiser == Optimiser::Muon { 3 } else { 2 }
    }

    /// Floats from one unit's rows to the next unit's.
    pub(crate) fn row_stride(&self) -> usize {
        self.rows + 4
    }

    /// Mixture terms: Gaussians and atoms.
    pub(crate) fn terms(&self) -> usize {
        match self.head {
            HeadKind::Mixture { components, atoms, .. } => components + atoms,
            HeadKind::Gaussian => 1,
            HeadKind::Samples { .. } => 0,
        }
    }

    /// Whether terms of component pairs are cached. Not in shared memory, which is better used for more networks at once.
    pub(crate) fn caches_pairs(&self, shared: bool) -> bool {
        !shared && (2..=MAX_CACHED_PAIRS).contains(&self.terms())
    }

    /// Floats of the stem's parameters, which have the library's layout.
    pub(crate) fn stem_floats(&self) -> usize {
        self.matrices[0].start
    }

    /// Converts parameters from the library's layout to the device's.
    pub(crate) fn to_device(&self, host: &[f32]) -> Vec<f32> {
        let mut device = vec![0.0; self.parameters()];
        device[..self.stem_floats()].copy_from_slice(&host[..self.stem_floats()]);
        self.each_row(|to, from, count| device[to..to + count].copy_from_slice(&host[from..from + count]));
        device
    }

    /// Converts parameters from the device's layout to the library's.
    pub(crate) fn to_host(&self, device: &[f32]) -> Vec<f32> {
        let last = self.matrices.last().map_or(0, |matrix| matrix.host_start + matrix.outputs * matrix.host_stride);
        let mut host = vec![0.0; last];
        host[..self.stem_floats()].copy_from_slice(&device[..self.stem_floats()]);
        self.each_row(|from, to, count| host[to..to + count].copy_from_slice(&device[from..from + count]));
        host
    }

    /// act(offset on the device, offset in the library's buffer, length) for every row of every matrix.
    fn each_row(&self, mut act: impl FnMut(usize, usize, usize)) {
        for matrix in &self.matrices {
            for row in 0..matrix.outputs {
                let (device_at, host_at) =
                    (matrix.start + row * matrix.stride, matrix.host_start + row * matrix.host_stride);
                act(device_at, host_at, matrix.inputs + 1);
            }
        }
    }
}

fn matrices(network: &Network) -> Vec<Matrix> {
    let layers = network.layers();
    let mut start = layers.first().map_or(0, |layer| layer.start * 16);
    let matrix = |layer: &Layer| {
        let four = (layer.inputs + 1).next_multiple_of(4);
        let stride = if four.is_multiple_of(8) { four + 4 } else { four };
        let matrix = Matrix {
            inputs: layer.inputs,
            outputs: layer.outputs,
            stride,
            start,
            host_start: layer.start * 16,
            host_stride: layer.stride * 16,
            residual: layer.residual,
        };
        start += layer.outputs * stride;
        matrix
    };
    layers.iter().map(matrix).collect()
}
