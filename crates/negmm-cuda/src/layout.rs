//! Memory layout of a network's workspace, which holds the buffers of a training step; in shared memory where it fits.

use std::fmt::Write;

use negmm::net::Stem;
use negmm::train::{Optimiser, SD_FACTORS};

use crate::constants::table;
use crate::record::TrainingState;
use crate::shape::{HeadKind, PANEL, Shape};

/// Layout of a workspace: its buffers as constants of the kernel, offsets in floats.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Size of the workspace in floats.
    pub(crate) floats: usize,
    /// Whether it lies in shared memory, together with the weights.
    pub(crate) shared: bool,
    header: String,
}

/// Places buffers one after the other.
struct LayoutBuilder {
    end: usize,
    text: String,
}

impl LayoutBuilder {
    /// Reserves a buffer and returns its offset.
    fn reserve(&mut self, floats: usize) -> usize {
        let start = self.end;
        self.end += floats.next_multiple_of(4);
        start
    }

    /// Defines a kernel constant for an offset.
    fn define(&mut self, name: &str, start: usize) {
        writeln!(self.text, "#define {name} {start}L").unwrap_or(());
    }

    /// Reserves a buffer and defines its constant.
    fn buffer(&mut self, name: &str, floats: usize) {
        let start = self.reserve(floats);
        self.define(name, start);
    }
}

impl Layout {
    /// The layout for a shape: in shared memory if `shared` bytes suffice, else in global memory.
    pub(crate) fn new(shape: &Shape, shared: usize) -> Self {
        let in_shared = Self::build(shape, true);
        if in_shared.floats * size_of::<f32>() <= shared { in_shared } else { Self::build(shape, false) }
    }

    fn build(shape: &Shape, shared: bool) -> Self {
        let mut builder = LayoutBuilder { end: 0, text: String::new() };
        let (stride, terms) = (shape.row_stride(), shape.terms());
        builder.buffer("STATE", size_of::<TrainingState>() / size_of::<f32>());
        builder.buffer("SHARED_WEIGHTS", if shared { shape.parameters() } else { 0 });
        layer_buffers(shape, &mut builder);
        for name in [
            "ROW_Y",
            "ROW_WEIGHTS",
            "ROW_LOG_SCORE",
            "ROW_ENERGY_SCORE",
            "ROW_MAX",
            "ROW_BOUND_LOG_SCORE",
            "ROW_BOUND_MAX",
        ] {
            builder.buffer(name, shape.rows);
        }
        builder.buffer("ROW_LOWER", if shape.intervals { shape.rows } else { 0 });
        builder.buffer("ROW_UPPER", if shape.intervals { shape.rows } else { 0 });
        builder.buffer("PANEL_LOSSES", shape.rows / PANEL);
        stem(shape, &mut builder);
        // Score terms and weight gradients are never live at the same time: they share memory.
        let start = builder.end;
        builder.buffer("GRADIENT", shape.parameters());
        muon(shape, &mut builder);
        let after_gradient = std::mem::replace(&mut builder.end, start);
        let gaussian = matches!(shape.head, HeadKind::Gaussian);
        let bounds = matches!(shape.head, HeadKind::Mixture { bounds: true, .. });
        for name in [
            "EXP_LOGITS",
            "MIXTURE_WEIGHTS",
            "ZS",
            "INVERSE_SDS",
            "DISTANCES",
            "CDFS",
            "DENSITIES",
            "PAIR_DISTANCES",
            "PAIR_CDFS",
            "PAIR_DENSITIES",
        ] {
            builder.buffer(name, terms * stride);
        }
        for name in ["MEAN_DERIVATIVES", "SD_DERIVATIVES"] {
            builder.buffer(name, if shape.intervals { terms * stride } else { 0 });
        }
        for name in ["BOUND_POSTERIORS", "BOUND_MEAN_DERIVATIVES", "BOUND_SD_DERIVATIVES", "BOUND_SCALED_JOINTS"] {
            builder.buffer(name, if bounds { terms * stride } else { 0 });
        }
        if gaussian {
            builder.buffer("LOG_WEIGHTS", stride);
            builder.buffer("POSTERIORS", stride);
        }
        if let HeadKind::Samples { samples } = shape.head {
            builder.buffer("SORTED", samples * stride);
            builder.buffer("SORTED_GRADIENTS", samples * stride);
        }
        // The exponentials of the logits are no longer needed when the joints are computed.
        builder.text += "#define SCALED_JOINTS EXP_LOGITS\n";
        let pairs = if shape.caches_pairs(shared) { 3 * terms * (terms - 1) / 2 } else { 0 };
        builder.buffer("PAIR_CACHE", pairs * stride);
        builder.buffer("ROW_CALIBRATED", if shape.calibrated { SD_FACTORS.len() * stride } else { 0 });
        builder.end = builder.end.max(after_gradient);
        let LayoutBuilder { end, mut text } = builder;
        writeln!(text, "#define SHARED_WORKSPACE {}", u8::from(shared)).unwrap_or(());
        Self { floats: end, shared, header: text }
    }

    /// Constants of the kernel source.
    pub(crate) fn header(&self) -> String {
        self.header.clone()
    }
}

/// Activations and deltas of each layer, and the head's names for those of the last layer.
fn layer_buffers(shape: &Shape, builder: &mut LayoutBuilder) {
    let stride = shape.row_stride();
    let needs_input_deltas = shape.network.stem.is_some() || shape.adversarial;
    let inputs = shape.matrices[0].inputs;
    let (mut values, mut deltas, mut skip_deltas) = (vec![builder.reserve((inputs + 1) * stride)], Vec::new(), vec![0]);
    deltas.push(if needs_input_deltas { builder.reserve(inputs * stride) } else { 0 });
    for matrix in &shape.matrices {
        values.push(builder.reserve((matrix.outputs + 1) * stride));
        deltas.push(builder.reserve(matrix.outputs * stride));
        skip_deltas.push(if matrix.residual { builder.reserve(matrix.outputs * stride) } else { 0 });
    }
    let (raw, gradients) = (values[shape.matrices.len()], deltas[shape.matrices.len()]);
    for (name, list) in [("ACTIVATIONS", &values), ("DELTAS", &deltas), ("SKIP_DELTAS", &skip_deltas)] {
        builder.text += &table(name, list);
    }
    match shape.head {
        HeadKind::Mixture { components, .. } => {
            let (terms, size) = (shape.terms() * stride, components * stride);
            builder.define("LOG_WEIGHTS", raw);
            builder.define("MEANS", raw + terms);
            builder.define("SDS", raw + terms + size);
            builder.define("POSTERIORS", gradients);
            builder.define("MEAN_GRADIENTS", gradients + terms);
            builder.define("SD_GRADIENTS", gradients + terms + size);
        }
        HeadKind::Gaussian => {
            builder.define("MEANS", raw);
            builder.define("SDS", raw + stride);
            builder.define("MEAN_GRADIENTS", gradients);
            builder.define("SD_GRADIENTS", gradients + stride);
        }
        HeadKind::Samples { .. } => {
            builder.define("RAW_OUTPUTS", raw);
            builder.define("SAMPLE_GRADIENTS", gradients);
        }
    }
}

/// Intermediate results of the periodic embedding, kept for the backward pass.
fn stem(shape: &Shape, builder: &mut LayoutBuilder) {
    if let Some(Stem::Periodic(periodic)) = &shape.network.stem {
        let (stride, embedded) = (shape.row_stride(), periodic.embedded.len());
        builder.buffer("STEM_INPUT", periodic.inputs * stride);
        builder.buffer("CLAMPED_INPUTS", embedded * stride);
        builder.buffer("SINES", 16 * embedded * stride);
        builder.buffer("COSINES", 16 * embedded * stride);
    }
}

/// Matrices of Muon's Newton-Schulz iteration.
fn muon(shape: &Shape, builder: &mut LayoutBuilder) {
    if shape.optimiser != Optimiser::Muon {
        return;
    }
    let padded = |units: usize| units.next_multiple_of(8) + 4;
    let hidden = &shape.matrices[..shape.matrices.len() - 1];
    let mut lists: [Vec<usize>; 4] = Default::default();
    for matrix in hidden {
        let (short, long) = (matrix.inputs.min(matrix.outputs), matrix.inputs.max(matrix.outputs));
        for (list, floats) in lists.iter_mut().zip([
            short * padded(long),
            short * padded(long),
            short * padded(short),
            short * padded(short),
        ]) {
            list.push(builder.reserve(floats));
        }
    }
    for (name, list) in ["MUON_X", "MUON_NEXT", "MUON_GRAM", "MUON_POLYNOMIAL"].iter().zip(&lists) {
        builder.text += &table(name, list);
    }
    builder.buffer("MUON_SQUARES", 16 * hidden.len());
}
