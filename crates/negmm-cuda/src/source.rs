//! Responsible for the source of a kernel: the constants of a shape before the parts that it needs.

use crate::room::Room;
use crate::shape::Shape;

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

/// Threads of a block: of those measured on an H200 the fastest, for small networks and for large ones.
pub(crate) fn threads(shared: bool) -> usize {
    if shared { 256 } else { 384 }
}

impl Source {
    /// Of a shape whose networks have so many blocks each.
    pub(crate) fn new(shape: &Shape, room: &Room, blocks: usize) -> Self {
        let threads = threads(room.shared);
        let shared = if room.shared { room.floats * size_of::<f32>() } else { 0 };
        let resident = if room.shared { (SHARED_MEMORY / (shared + 1024)).clamp(1, MOST_RESIDENT) } else { 1 };
        let gradient_tile = if room.shared { 2 } else { 4 };
        let mut text = format!("#define BLOCKS {blocks}\n#define THREADS {threads}\n#define RESIDENT {resident}\n");
        text += &format!("#define FORWARD_TILE 2\n#define GRADIENT_TILE {gradient_tile}\n");
        text += include_str!("kernel/team.cu");
        text += &shape.header(room);
        text += include_str!("kernel/math.cu");
        text += include_str!("kernel/job.cu");
        text += include_str!("kernel/layers.cu");
        text += match shape.network.stem {
            Some(Stem::Periodic(_)) => include_str!("kernel/periodic.cu"),
            _ => include_str!("kernel/plain.cu"),
        };
        text += include_str!("kernel/mixture.cu");
        if shape.optimiser == Optimiser::Muon {
            text += include_str!("kernel/muon.cu");
        }
        text += include_str!("kernel/optimiser.cu");
        text += include_str!("kernel/course.cu");
        Self { text, blocks, threads, shared }
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
