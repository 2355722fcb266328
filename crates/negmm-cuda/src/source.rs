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
    /// Blocks of one network, threads of a block.
    pub(crate) blocks: usize,
    pub(crate) threads: usize,
    /// Bytes of shared memory of a block.
    pub(crate) shared: usize,
}

/// Shared memory of a multiprocessor and the registers of its threads bound how many blocks it has at once.
const SHARED_MEMORY: usize = 227 * 1024;
const MOST_RESIDENT: usize = 4;

impl Source {
    /// Of a shape whose networks have so many blocks each, with so many bytes of shared memory at most.
    pub(crate) fn new(shape: &Shape, room: &Room, blocks: usize, most: usize) -> Self {
        let stage = Stage::new(shape, room, blocks, most);
        let shared = stage.floats * size_of::<f32>();
        let resident = if room.shared { (SHARED_MEMORY / (shared + 1024)).clamp(1, MOST_RESIDENT) } else { 1 };
        let mut text = format!("#define BLOCKS {blocks}\n#define THREADS {THREADS}\n#define RESIDENT {resident}\n");
        text += "#define FORWARD_TILE 2\n#define GRADIENT_TILE 2\n";
        text += &stage.header();
        text += include_str!("kernel/team.cu");
        text += &shape.header(room);
        text += include_str!("kernel/math.cu");
        text += include_str!("kernel/job.cu");
        text += include_str!("kernel/layers.cu");
        text += if room.shared { include_str!("kernel/small.cu") } else { include_str!("kernel/large.cu") };
        text += match shape.network.stem {
            Some(Stem::Periodic(_)) => include_str!("kernel/periodic.cu"),
            _ => include_str!("kernel/plain.cu"),
        };
        text += match shape.head {
            HeadKind::Samples { .. } => include_str!("kernel/samples.cu"),
            _ => include_str!("kernel/mixture.cu"),
        };
        if shape.optimiser == Optimiser::Muon {
            text += include_str!("kernel/muon.cu");
        }
        text += include_str!("kernel/optimiser.cu");
        text += include_str!("kernel/course.cu");
        Self { text, blocks, threads: THREADS, shared }
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
