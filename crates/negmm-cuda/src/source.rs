//! Source of a kernel: the constants of its shape, then the parts of `kernel/` that it needs.

use crate::header::header;
use crate::layout::Layout;
use crate::shape::{HeadKind, Shape};
use crate::tiling::{THREADS, Tiling};

use negmm::net::Stem;
use negmm::train::Optimiser;

/// A kernel to be compiled.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) text: String,
    /// Name of its entry point.
    pub(crate) entry: &'static str,
    /// Blocks per network, threads per block.
    pub(crate) blocks: usize,
    pub(crate) threads: usize,
    /// Shared memory per block in bytes.
    pub(crate) shared: usize,
}

/// Shared memory of a multiprocessor in bytes, and the number of resident blocks up to which threads have enough registers.
const SHARED_MEMORY: usize = 227 * 1024;
const MAX_BLOCKS_PER_SM: usize = 4;
/// Resident blocks per multiprocessor of the inference kernel, and the shared memory that the driver reserves per block, in bytes.
const OUTPUTS_BLOCKS_PER_SM: usize = 2;
const RESERVED_PER_BLOCK: usize = 1024;
/// Threads per block of the quantile kernel: f64 arithmetic takes many registers.
pub(crate) const QUANTILE_THREADS: usize = 128;

/// The part for the network's stem.
fn stem(shape: &Shape) -> &'static str {
    match shape.network.stem {
        Some(Stem::Periodic(_)) => include_str!("kernel/periodic.cu"),
        _ => include_str!("kernel/no_stem.cu"),
    }
}

impl Source {
    /// The training kernel of a shape, with `blocks` blocks per network and at most `most` bytes of shared memory per block.
    pub(crate) fn new(shape: &Shape, layout: &Layout, blocks: usize, most: usize) -> Self {
        let tiling = Tiling::new(shape, layout, blocks, most);
        let shared = tiling.floats * size_of::<f32>();
        let resident =
            if layout.shared { (SHARED_MEMORY / (shared + RESERVED_PER_BLOCK)).clamp(1, MAX_BLOCKS_PER_SM) } else { 1 };
        let mut text = format!(
            "#define BLOCKS_PER_NETWORK {blocks}\n#define THREADS {THREADS}\n#define BLOCKS_PER_SM {resident}\n"
        );
        text += "#define FORWARD_TILE 2\n#define GRADIENT_TILE 2\n";
        text += &tiling.header();
        text += include_str!("kernel/team.cu");
        text += &header(shape, layout);
        text += include_str!("kernel/math.cu");
        text += include_str!("kernel/job.cu");
        text += include_str!("kernel/activation.cu");
        text += if layout.shared {
            include_str!("kernel/shared_layers.cu")
        } else {
            include_str!("kernel/global_layers.cu")
        };
        text += stem(shape);
        text += match shape.head {
            HeadKind::Samples { .. } => include_str!("kernel/samples.cu"),
            _ => include_str!("kernel/mixture.cu"),
        };
        if shape.optimiser == Optimiser::Muon {
            text += include_str!("kernel/muon.cu");
        }
        text += include_str!("kernel/optimizer.cu");
        text += include_str!("kernel/training.cu");
        Self { text, entry: "train", blocks, threads: THREADS, shared }
    }

    /// The inference kernel of a shape, with at most `most` bytes of shared memory per block.
    pub(crate) fn outputs(shape: &Shape, most: usize) -> Self {
        // Two resident blocks per multiprocessor hide each other's latency, where both fit.
        let layout = Layout::new(shape, 0);
        let tiling = Tiling::new(shape, &layout, 1, (most / OUTPUTS_BLOCKS_PER_SM).saturating_sub(RESERVED_PER_BLOCK));
        let shared = tiling.floats * size_of::<f32>();
        let resident = (SHARED_MEMORY / (shared + RESERVED_PER_BLOCK)).clamp(1, OUTPUTS_BLOCKS_PER_SM);
        let mut text =
            format!("#define BLOCKS_PER_NETWORK 1\n#define THREADS {THREADS}\n#define BLOCKS_PER_SM {resident}\n");
        text += &tiling.header();
        text += include_str!("kernel/team.cu");
        text += &header(shape, &layout);
        for part in [
            include_str!("kernel/math.cu"),
            include_str!("kernel/job.cu"),
            include_str!("kernel/activation.cu"),
            include_str!("kernel/global_layers.cu"),
            stem(shape),
            include_str!("kernel/outputs.cu"),
        ] {
            text += part;
        }
        Self { text, entry: "outputs", blocks: 1, threads: THREADS, shared }
    }

    /// The kernel for quantiles of mixtures.
    pub(crate) fn quantiles() -> Self {
        let text = format!("#define BLOCKS_PER_NETWORK 1\n#define THREADS {QUANTILE_THREADS}\n");
        let text = text + include_str!("kernel/team.cu") + include_str!("kernel/quantiles.cu");
        Self { text, entry: "quantiles", blocks: 1, threads: QUANTILE_THREADS, shared: 0 }
    }

    /// File name in the cache: a hash of the source and the compiler options (FNV-1a, 64 bits, twice with different offsets).
    pub(crate) fn name(&self, options: &str) -> String {
        let hash = |start: u64| {
            let bytes = self.text.bytes().chain(options.bytes());
            bytes.fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        };
        format!("{:016x}{:016x}", hash(0xcbf2_9ce4_8422_2325), hash(0x6c62_272e_07bb_0142))
    }
}
