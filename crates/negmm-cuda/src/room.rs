//! Responsible for where the numbers of a step lie: one room for each network, in shared memory where it fits.

use std::fmt::Write;

use negmm::net::Stem;
use negmm::train::{Optimiser, SD_FACTORS};

use crate::record::State;
use crate::shape::{HeadKind, PANEL, Shape, table};

/// The parts of a room, in floats from its beginning.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    /// Floats of the room.
    pub(crate) floats: usize,
    /// Whether it is in shared memory, the weights with it.
    pub(crate) shared: bool,
    header: String,
}

/// Parts one after the other.
struct Places {
    end: usize,
    text: String,
}

impl Places {
    /// Room for so many floats.
    fn take(&mut self, floats: usize) -> usize {
        let start = self.end;
        self.end += floats.next_multiple_of(4);
        start
    }

    fn name(&mut self, name: &str, start: usize) {
        writeln!(self.text, "#define {name} {start}L").unwrap_or(());
    }

    fn named(&mut self, name: &str, floats: usize) {
        let start = self.take(floats);
        self.name(name, start);
    }
}

impl Room {
    /// Of a shape, in shared memory where `shared` bytes hold it.
    pub(crate) fn new(shape: &Shape, shared: usize) -> Self {
        let inside = Self::laid_out(shape, true);
        if inside.floats * size_of::<f32>() <= shared { inside } else { Self::laid_out(shape, false) }
    }

    fn laid_out(shape: &Shape, shared: bool) -> Self {
        let mut places = Places { end: 0, text: String::new() };
        let (across, every) = (shape.row_stride(), shape.every());
        places.named("STATE", size_of::<State>() / size_of::<f32>());
        places.named("WEIGHT_AREA", if shared { shape.parameters() } else { 0 });
        levels(shape, &mut places);
        for name in
            ["ROW_Y", "ROW_WEIGHTS", "ROW_LOG", "ROW_ENERGY", "ROW_LARGEST", "ROW_BOUND_LOG", "ROW_BOUND_LARGEST"]
        {
            places.named(name, shape.rows);
        }
        places.named("ROW_LOWER", if shape.intervals { shape.rows } else { 0 });
        places.named("ROW_UPPER", if shape.intervals { shape.rows } else { 0 });
        places.named("PANEL_LOSSES", shape.rows / PANEL);
        stem(shape, &mut places);
        // Scores are done with when gradients begin: they share a place.
        let start = places.end;
        places.named("GRADIENT", shape.parameters());
        muon(shape, &mut places);
        let after_gradient = std::mem::replace(&mut places.end, start);
        let gaussian = matches!(shape.head, HeadKind::Gaussian);
        let bounds = matches!(shape.head, HeadKind::Mixture { bounds: true, .. });
        for name in [
            "WEIGHTS",
            "SHARES",
            "ZS",
            "INVERSES",
            "DISTANCES",
            "CDFS",
            "DENSITIES",
            "PAIR_DISTANCES",
            "PAIR_CDFS",
            "PAIR_DENSITIES",
        ] {
            places.named(name, every * across);
        }
        for name in ["PULLS", "CURVES"] {
            places.named(name, if shape.intervals { every * across } else { 0 });
        }
        for name in ["BOUND_POSTERIORS", "BOUND_PULLS", "BOUND_CURVES", "BOUND_JOINTS"] {
            places.named(name, if bounds { every * across } else { 0 });
        }
        if gaussian {
            places.named("LOG_WEIGHTS", across);
            places.named("POSTERIORS", across);
        }
        if let HeadKind::Samples { samples } = shape.head {
            places.named("SORTED", samples * across);
            places.named("SORTED_SLOPES", samples * across);
        }
        // The weights before they are divided by their sum have had their time when joints come.
        places.text += "#define JOINTS WEIGHTS\n";
        let pairs = if shape.pairs(shared) { 3 * every * (every - 1) / 2 } else { 0 };
        places.named("PAIR_NUMBERS", pairs * across);
        places.named("ROW_CALIBRATED", if shape.calibrated { SD_FACTORS.len() * across } else { 0 });
        places.end = places.end.max(after_gradient);
        let Places { end, mut text } = places;
        writeln!(text, "#define SHARED {}", u8::from(shared)).unwrap_or(());
        Self { floats: end, shared, header: text }
    }

    /// The kernel's constants.
    pub(crate) fn header(&self) -> String {
        self.header.clone()
    }
}

/// Values and deltas of each level, and where the head finds its own among them.
fn levels(shape: &Shape, places: &mut Places) {
    let across = shape.row_stride();
    let moves_back = shape.network.stem.is_some() || shape.adversarial;
    let inputs = shape.matrices[0].inputs;
    let (mut values, mut deltas, mut direct) = (vec![places.take((inputs + 1) * across)], Vec::new(), vec![0]);
    deltas.push(if moves_back { places.take(inputs * across) } else { 0 });
    for matrix in &shape.matrices {
        values.push(places.take((matrix.outputs + 1) * across));
        deltas.push(places.take(matrix.outputs * across));
        direct.push(if matrix.residual { places.take(matrix.outputs * across) } else { 0 });
    }
    let (raw, slopes) = (values[shape.matrices.len()], deltas[shape.matrices.len()]);
    for (name, list) in [("VALUES", &values), ("DELTAS", &deltas), ("DIRECT", &direct)] {
        places.text += &table(name, list);
    }
    match shape.head {
        HeadKind::Mixture { components, .. } => {
            let (every, size) = (shape.every() * across, components * across);
            places.name("LOG_WEIGHTS", raw);
            places.name("MEANS", raw + every);
            places.name("SDS", raw + every + size);
            places.name("POSTERIORS", slopes);
            places.name("MEAN_SLOPES", slopes + every);
            places.name("SD_SLOPES", slopes + every + size);
        }
        HeadKind::Gaussian => {
            places.name("MEANS", raw);
            places.name("SDS", raw + across);
            places.name("MEAN_SLOPES", slopes);
            places.name("SD_SLOPES", slopes + across);
        }
        HeadKind::Samples { .. } => {
            places.name("RAW", raw);
            places.name("SLOPES", slopes);
        }
    }
}

/// What an embedding leaves behind.
fn stem(shape: &Shape, places: &mut Places) {
    if let Some(Stem::Periodic(periodic)) = &shape.network.stem {
        let (across, embedded) = (shape.row_stride(), periodic.embedded.len());
        places.named("STEM_INPUT", periodic.inputs * across);
        places.named("SEEN", embedded * across);
        places.named("SINES", 16 * embedded * across);
        places.named("COSINES", 16 * embedded * across);
    }
}

/// The matrices of Muon.
fn muon(shape: &Shape, places: &mut Places) {
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
            list.push(places.take(floats));
        }
    }
    for (name, list) in ["MUON_X", "MUON_NEXT", "MUON_GRAM", "MUON_POLYNOMIAL"].iter().zip(&lists) {
        places.text += &table(name, list);
    }
    places.named("MUON_SQUARES", 16 * hidden.len());
}
