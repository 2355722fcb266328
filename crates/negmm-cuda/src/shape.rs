//! Responsible for what a kernel is made for: everything that is the same for the networks that one kernel trains.

use std::fmt::Write;

use negmm::net::{Activation, Network, Stem};
use negmm::train::{NetworkJob, Objective, Optimiser, SD_FACTORS, Selection};
use negmm_nn::net::Layer;
use negmm_nn::train::Start;

use crate::room::Room;

/// Rows of a panel.
pub(crate) const PANEL: usize = 32;
/// Logarithmic and energy score, and the logarithmic score with each sd factor.
pub(crate) const SUMS: usize = 2 + SD_FACTORS.len();
/// Pairs of components are kept, not computed twice, up to so many components.
const MOST_PAIRED: usize = 40;
/// Steps at most: they are counted in 32 bits.
const MOST_STEPS: usize = 1 << 31;
/// Steps at most whose learning rates differ: each has a number in a table.
const MOST_RATES: usize = 1 << 24;

/// One layer's place in the flat buffer of the device: rows of weights, the bias last, padded so that neighbouring rows begin in
/// different banks of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Matrix {
    /// Units that it reads and gives.
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Floats from row to row.
    pub(crate) stride: usize,
    /// Where it begins, here and in the library's buffer, and the library's stride.
    pub(crate) start: usize,
    pub(crate) host_start: usize,
    pub(crate) host_stride: usize,
    pub(crate) residual: bool,
}

/// What the outputs mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadKind {
    Mixture { components: usize, atoms: usize, mean_bound: bool, ceiling: bool, bounds: bool },
    Gaussian,
    Samples { samples: usize },
}

/// What a kernel is made for.
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
    /// Of a job, or why no kernel trains it.
    pub(crate) fn of(job: &NetworkJob, start: &Start) -> Result<Self, &'static str> {
        let (network, course) = (&job.network, &job.course);
        let head = match job.objective {
            Objective::Hybrid { head, .. } => HeadKind::Mixture {
                components: head.components,
                atoms: head.atoms.len(),
                mean_bound: head.mean_bound.is_some(),
                ceiling: head.sd_ceiling.is_some(),
                bounds: !head.bounds.is_none(),
            },
            Objective::BetaNll { .. } => HeadKind::Gaussian,
            Objective::SampleEnergy { sinkhorn: Some(_), .. } => {
                return Err("samples with a Sinkhorn regulariser are trained on the processor");
            }
            Objective::SampleEnergy { .. } if course.select == Selection::Calibrated => {
                return Err("samples that a calibrated score chooses are trained on the processor");
            }
            Objective::SampleEnergy { head, .. } => HeadKind::Samples { samples: head.samples },
        };
        if let Some(Stem::Lstm(_)) = network.stem {
            return Err("sequences are trained on the processor");
        }
        let table = course.schedule != negmm::train::Schedule::Constant;
        if course.steps >= MOST_STEPS || (table && course.steps > MOST_RATES) {
            return Err("so many steps are trained on the processor");
        }
        // Rows that were moved stand beside those that were not, panel by panel.
        let times = if start.adversarial_steps.is_empty() { 1 } else { 2 };
        Ok(Self {
            matrices: matrices(network),
            network: network.clone(),
            head,
            optimiser: course.optimiser,
            rows: times * course.batch.next_multiple_of(PANEL),
            part: times * start.part,
            parts: start.parts,
            adversarial: !start.adversarial_steps.is_empty(),
            dropout: course.dropout > 0.0,
            intervals: job.data.intervals().is_some(),
            calibrated: course.select == Selection::Calibrated,
        })
    }

    /// Of a network whose rows only go forward, or why no kernel runs it.
    pub(crate) fn forward(network: &Network) -> Result<Self, &'static str> {
        if let Some(Stem::Lstm(_)) = network.stem {
            return Err("sequences are predicted on the processor");
        }
        Ok(Self {
            matrices: matrices(network),
            network: network.clone(),
            // Raw outputs mean nothing yet.
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

    /// Floats of the flat buffer.
    pub(crate) fn parameters(&self) -> usize {
        self.matrices.last().map_or(0, |matrix| matrix.start + matrix.outputs * matrix.stride)
    }

    /// Floats that the optimiser remembers, beside an average.
    pub(crate) fn memory(&self) -> usize {
        self.parameters() * if self.optimiser == Optimiser::Muon { 3 } else { 2 }
    }

    /// Floats from one unit's rows to the next's.
    pub(crate) fn row_stride(&self) -> usize {
        self.rows + 4
    }

    /// Gaussians and atoms.
    pub(crate) fn every(&self) -> usize {
        match self.head {
            HeadKind::Mixture { components, atoms, .. } => components + atoms,
            HeadKind::Gaussian => 1,
            HeadKind::Samples { .. } => 0,
        }
    }

    /// Whether pairs of components are kept: shared memory has better use, more networks at once.
    pub(crate) fn pairs(&self, shared: bool) -> bool {
        !shared && (2..=MOST_PAIRED).contains(&self.every())
    }

    /// Floats of the stem's parameters, laid out as the library has them.
    pub(crate) fn stem_floats(&self) -> usize {
        self.matrices[0].start
    }

    /// The numbers of the library's buffer, laid out for the device.
    pub(crate) fn to_device(&self, host: &[f32]) -> Vec<f32> {
        let mut device = vec![0.0; self.parameters()];
        device[..self.stem_floats()].copy_from_slice(&host[..self.stem_floats()]);
        self.each_row(|here, there, count| device[here..here + count].copy_from_slice(&host[there..there + count]));
        device
    }

    /// The numbers of the device's buffer, laid out for the library.
    pub(crate) fn to_host(&self, device: &[f32]) -> Vec<f32> {
        let last = self.matrices.last().map_or(0, |matrix| matrix.host_start + matrix.outputs * matrix.host_stride);
        let mut host = vec![0.0; last];
        host[..self.stem_floats()].copy_from_slice(&device[..self.stem_floats()]);
        self.each_row(|here, there, count| host[there..there + count].copy_from_slice(&device[here..here + count]));
        host
    }

    fn each_row(&self, mut act: impl FnMut(usize, usize, usize)) {
        for matrix in &self.matrices {
            for row in 0..matrix.outputs {
                let (here, there) = (matrix.start + row * matrix.stride, matrix.host_start + row * matrix.host_stride);
                act(here, there, matrix.inputs + 1);
            }
        }
    }

    /// The kernel's constants.
    pub(crate) fn header(&self, room: &Room) -> String {
        let mut text = String::new();
        let mut number = |name: &str, value: usize| writeln!(text, "#define {name} {value}").unwrap_or(());
        let (components, atoms, mean_bound, ceiling, bounds) = match self.head {
            HeadKind::Mixture { components, atoms, mean_bound, ceiling, bounds } => {
                (components, atoms, mean_bound, ceiling, bounds)
            }
            HeadKind::Gaussian => (1, 0, false, false, false),
            HeadKind::Samples { .. } => (0, 0, false, false, false),
        };
        let (stem, embedded) = match &self.network.stem {
            Some(Stem::Periodic(periodic)) => (1, &periodic.embedded[..]),
            _ => (0, &[][..]),
        };
        let (head, samples) = match self.head {
            HeadKind::Mixture { .. } => (0, 0),
            HeadKind::Gaussian => (1, 0),
            HeadKind::Samples { samples } => (2, samples),
        };
        let activation = match self.network.activation {
            Activation::Relu => 0,
            Activation::Tanh => 1,
            Activation::Silu => 2,
        };
        let optimiser = match self.optimiser {
            Optimiser::ScheduleFree => 1,
            Optimiser::Muon => 2,
            _ => 0,
        };
        let draws: Vec<usize> = self.matrices.iter().map(|matrix| 8 * matrix.outputs).collect();
        let hidden = &draws[..draws.len() - 1];
        for (name, value) in [
            ("LAYERS", self.matrices.len()),
            ("INPUTS", self.network.inputs),
            ("ROWS", self.rows),
            ("PART_PANELS", self.part / PANEL),
            ("PARTS", self.parts),
            ("PANEL_DRAWS", hidden.iter().sum()),
            ("PARAMETERS", self.parameters()),
            ("STEM_PARAMETERS", self.stem_floats()),
            ("STEM", stem),
            ("EMBEDDED", embedded.len()),
            ("HEAD", head),
            ("SAMPLES", samples),
            ("COMPONENTS", components),
            ("ATOMS", atoms),
            ("HAS_MEAN_BOUND", mean_bound.into()),
            ("HAS_CEILING", ceiling.into()),
            ("BOUNDS", bounds.into()),
            ("INTERVALS", self.intervals.into()),
            ("CALIBRATED", self.calibrated.into()),
            ("PAIRS", self.pairs(room.shared).into()),
            ("ACTIVATION", activation),
            ("OPTIMISER", optimiser),
            ("ADVERSARIAL", self.adversarial.into()),
            ("DROPOUT", self.dropout.into()),
            ("SUMS", SUMS),
            ("FACTORS", SD_FACTORS.len()),
        ] {
            number(name, value);
        }
        let starts = |draws: &[usize]| -> Vec<usize> {
            draws.iter().scan(0, |sum, draws| Some(std::mem::replace(sum, *sum + draws))).collect()
        };
        let units: Vec<usize> =
            [self.matrices[0].inputs].into_iter().chain(self.matrices.iter().map(|matrix| matrix.outputs)).collect();
        let of = |pick: fn(&Matrix) -> usize| -> Vec<usize> { self.matrices.iter().map(pick).collect() };
        text += &table("UNITS", &units);
        text += &table("STRIDES", &of(|matrix| matrix.stride));
        text += &table("STARTS", &of(|matrix| matrix.start));
        text += &table("RESIDUAL", &of(|matrix| matrix.residual.into()));
        text += &table("LAYER_DRAWS", &starts(&draws));
        text += &table("EMBEDDED_INPUTS", &embedded.iter().map(|input| input.input).collect::<Vec<_>>());
        text += &floats("EMBEDDED_LOWS", &embedded.iter().map(|input| input.low).collect::<Vec<_>>());
        text += &floats("EMBEDDED_HIGHS", &embedded.iter().map(|input| input.high).collect::<Vec<_>>());
        text += &floats("FACTOR_CURVES", &SD_FACTORS.map(|factor| -0.5 / (factor * factor)));
        text += &floats("FACTOR_CONSTANTS", &SD_FACTORS.map(|factor| HALF_LN_2_PI + libm::logf(factor)));
        text += &floats("FACTOR_INVERSES", &SD_FACTORS.map(|factor| 1.0 / factor));
        text += &room.header();
        text
    }
}

/// ln(2 pi) / 2
const HALF_LN_2_PI: f32 = 0.918_938_5;

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

/// A list as a function of its places, which a compiler can fold.
pub(crate) fn table(name: &str, list: &[usize]) -> String {
    function("int", name, list.iter().map(usize::to_string))
}

fn floats(name: &str, list: &[f32]) -> String {
    function("float", name, list.iter().map(|number| format!("{number:e}f")))
}

fn function(kind: &str, name: &str, list: impl Iterator<Item = String>) -> String {
    let chain: String = list.enumerate().map(|(at, value)| format!("at == {at} ? {value} : ")).collect();
    format!("DEVICE constexpr {kind} {name}(int at) {{ return {chain}0; }}\n")
}
