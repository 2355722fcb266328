//! The constants of a kernel source, as preprocessor definitions and constexpr functions.

use std::fmt::Write;

use negmm::net::{Activation, Stem};
use negmm::train::{Optimiser, SD_FACTORS};

use crate::constants::{floats, table};
use crate::layout::Layout;
use crate::shape::{HeadKind, Matrix, PANEL, SCORE_SUMS, Shape};

/// ln(2 pi) / 2
const HALF_LN_2_PI: f32 = 0.918_938_5;

/// The constants of a kernel for a shape and a layout.
pub(crate) fn header(shape: &Shape, layout: &Layout) -> String {
    let mut text = String::new();
    let mut define = |name: &str, value: usize| writeln!(text, "#define {name} {value}").unwrap_or(());
    let (components, atoms, mean_bound, ceiling, bounds) = match shape.head {
        HeadKind::Mixture { components, atoms, mean_bound, ceiling, bounds } => {
            (components, atoms, mean_bound, ceiling, bounds)
        }
        HeadKind::Gaussian => (1, 0, false, false, false),
        HeadKind::Samples { .. } => (0, 0, false, false, false),
    };
    let (stem, embedded) = match &shape.network.stem {
        Some(Stem::Periodic(periodic)) => (1, &periodic.embedded[..]),
        _ => (0, &[][..]),
    };
    let (head, samples) = match shape.head {
        HeadKind::Mixture { .. } => (0, 0),
        HeadKind::Gaussian => (1, 0),
        HeadKind::Samples { samples } => (2, samples),
    };
    let activation = match shape.network.activation {
        Activation::Relu => 0,
        Activation::Tanh => 1,
        Activation::Silu => 2,
    };
    let optimiser = match shape.optimiser {
        Optimiser::ScheduleFree => 1,
        Optimiser::Muon => 2,
        _ => 0,
    };
    let draws: Vec<usize> = shape.matrices.iter().map(|matrix| 8 * matrix.outputs).collect();
    let hidden = &draws[..draws.len() - 1];
    for (name, value) in [
        ("LAYERS", shape.matrices.len()),
        ("INPUTS", shape.network.inputs),
        ("ROWS", shape.rows),
        ("PART_PANELS", shape.part / PANEL),
        ("PARTS", shape.parts),
        ("PANEL_DRAWS", hidden.iter().sum()),
        ("PARAMETERS", shape.parameters()),
        ("STEM_PARAMETERS", shape.stem_floats()),
        ("STEM", stem),
        ("EMBEDDED", embedded.len()),
        ("HEAD", head),
        ("SAMPLES", samples),
        ("COMPONENTS", components),
        ("ATOMS", atoms),
        ("HAS_MEAN_BOUND", mean_bound.into()),
        ("HAS_CEILING", ceiling.into()),
        ("BOUNDS", bounds.into()),
        ("INTERVALS", shape.intervals.into()),
        ("CALIBRATED", shape.calibrated.into()),
        ("CACHED_PAIRS", shape.caches_pairs(layout.shared).into()),
        ("ACTIVATION", activation),
        ("OPTIMIZER", optimiser),
        ("ADVERSARIAL", shape.adversarial.into()),
        ("DROPOUT", shape.dropout.into()),
        ("SCORE_SUMS", SCORE_SUMS),
        ("SD_FACTORS", SD_FACTORS.len()),
    ] {
        define(name, value);
    }
    let starts = |draws: &[usize]| -> Vec<usize> {
        draws.iter().scan(0, |sum, draws| Some(std::mem::replace(sum, *sum + draws))).collect()
    };
    let units: Vec<usize> =
        [shape.matrices[0].inputs].into_iter().chain(shape.matrices.iter().map(|matrix| matrix.outputs)).collect();
    let of = |pick: fn(&Matrix) -> usize| -> Vec<usize> { shape.matrices.iter().map(pick).collect() };
    text += &table("UNITS", &units);
    text += &table("STRIDES", &of(|matrix| matrix.stride));
    text += &table("STARTS", &of(|matrix| matrix.start));
    text += &table("RESIDUAL", &of(|matrix| matrix.residual.into()));
    text += &table("LAYER_DRAWS", &starts(&draws));
    text += &table("EMBEDDED_INPUTS", &embedded.iter().map(|input| input.input).collect::<Vec<_>>());
    text += &floats("EMBEDDED_LOWS", &embedded.iter().map(|input| input.low).collect::<Vec<_>>());
    text += &floats("EMBEDDED_HIGHS", &embedded.iter().map(|input| input.high).collect::<Vec<_>>());
    text += &floats("SD_FACTOR_EXPONENTS", &SD_FACTORS.map(|factor| -0.5 / (factor * factor)));
    text += &floats("SD_FACTOR_CONSTANTS", &SD_FACTORS.map(|factor| HALF_LN_2_PI + libm::logf(factor)));
    text += &floats("SD_FACTOR_INVERSES", &SD_FACTORS.map(|factor| 1.0 / factor));
    text += &layout.header();
    text
}
