//! Responsible for the source of a kernel: the constants of a shape before the parts that it needs.

use crate::room::Room;
use crate::shape::{HeadKind, Shape};
use crate::stage::{Stage, THREADS};

use negmm::net::Stem;
use negmm::train::Optimiser;

/// A kernel to be compiled.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) text: String,
    /// The name of its function.
    pub(crate) entry: &'static str,
    /// Blocks of one network, threads of a block.
    pub(crate) blocks: usize,
    pub(crate) threads: usize,
    /// Bytes of shared memory of a block.
    pub(crate) shared: usize,
}

/// Shared memory of a multiprocessor and the registers of its threads bound how many blocks it has at once.
const SHARED_MEMORY: usize = 227 * 1024;
const MOST_RESIDENT: usize = 4;
/// Blocks of a multiprocessor at most where rows only go forward, and the bytes of shared memory that the card keeps of each.
const OUTPUTS_RESIDENT: usize = 2;
const RESERVED: usize = 1024;
/// Threads of a block that looks for quantiles: doubles take many registers.
pub(crate) const QUANTILE_THREADS: usize = 128;

/// What rows go through before the layers.
fn stem(shape: &Shape) -> &'static str {
    match shape.network.stem {
        Some(Stem::Periodic(_)) => include_str!("kernel/periodic.cu"),
        _ => include_str!("kernel/plain.cu"),
    }
}

impl Source {
    /// Of a shape whose networks have so many blocks each, with so many bytes of shared memory at most.
    pub(crate) fn new(shape: &Shape, room: &Room, blocks: usize, most: usize) -> Self {
        let stage = Stage::new(shape, room, blocks, most);
        let shared = stage.floats * size_of::<f32>();
        let resident = if room.shared { (SHARED_MEMORY / (shared + RESERVED)).clamp(1, MOST_RESIDENT) } else { 1 };
        let mut text = format!("#define BLOCKS {blocks}\n#define THREADS {THREADS}\n#define RESIDENT {resident}\n");
        text += "#define FORWARD_TILE 2\n#define GRADIENT_TILE 2\n";
        text += &stage.header();
        text += include_str!("kernel/team.cu");
        text += &shape.header(room);
        text += include_str!("kernel/math.cu");
        text += include_str!("kernel/job.cu");
        text += include_str!("kernel/layers.cu");
        text += if room.shared { include_str!("kernel/small.cu") } else { include_str!("kernel/large.cu") };
        text += stem(shape);
        text += match shape.head {
            HeadKind::Samples { .. } => include_str!("kernel/samples.cu"),
            _ => include_str!("kernel/mixture.cu"),
        };
        if shape.optimiser == Optimiser::Muon {
            text += include_str!("kernel/muon.cu");
        }
        text += include_str!("kernel/optimiser.cu");
        text += include_str!("kernel/course.cu");
        Self { text, entry: "train", blocks, threads: THREADS, shared }
    }

    /// The raw outputs of networks of a shape, with so many bytes of shared memory for a block at most.
    pub(crate) fn outputs(shape: &Shape, most: usize) -> Self {
        // Two blocks of a multiprocessor hide each other's waits, where both find room.
        let room = Room::new(shape, 0);
        let stage = Stage::new(shape, &room, 1, (most / OUTPUTS_RESIDENT).saturating_sub(RESERVED));
        let shared = stage.floats * size_of::<f32>();
        let resident = (SHARED_MEMORY / (shared + RESERVED)).clamp(1, OUTPUTS_RESIDENT);
        let mut text = format!("#define BLOCKS 1\n#define THREADS {THREADS}\n#define RESIDENT {resident}\n");
        text += &stage.header();
        text += include_str!("kernel/team.cu");
        text += &shape.header(&room);
        for part in [
            include_str!("kernel/math.cu"),
            include_str!("kernel/job.cu"),
            include_str!("kernel/layers.cu"),
            include_str!("kernel/large.cu"),
            stem(shape),
            include_str!("kernel/outputs.cu"),
        ] {
            text += part;
        }
        Self { text, entry: "outputs", blocks: 1, threads: THREADS, shared }
    }

    /// Quantiles of mixtures.
    pub(crate) fn quantiles() -> Self {
        let text = format!("#define BLOCKS 1\n#define THREADS {QUANTILE_THREADS}\n");
        let text = text + include_str!("kernel/team.cu") + include_str!("kernel/quantiles.cu");
        Self { text, entry: "quantiles", blocks: 1, threads: QUANTILE_THREADS, shared: 0 }
    }

    /// A name that changes whenever anything in it does (FNV-1a, 64 bits, twice with different starts).
    pub(crate) fn name(&self, of: &str) -> String {
        let hash = |start: u64| {
            let bytes = self.text.bytes().chain(of.bytes());
            bytes.fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        };
        format!("{:016x}{:016x}", hash(0xcbf2_9ce4_8422_2325), hash(0x6c62_272e_07bb_0142))
    }
}
