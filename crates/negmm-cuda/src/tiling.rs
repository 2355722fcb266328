//! Tiling of a training step: the rows of each thread block, and the tiles of matrix products in shared memory.

use std::fmt::Write;

use crate::layout::Layout;
use crate::shape::Shape;

/// Threads per block: the fastest of those measured on an H200.
pub(crate) const THREADS: usize = 256;
const WARPS: usize = THREADS / 32;
/// Maximal rows of a tile: each row costs registers in every thread.
const MAX_TILE_ROWS: usize = 32;
/// Chunks of the double buffer for weights in the kernels.
const CHUNKS: usize = 2;
/// Minimal chunk length along k.
const MIN_CHUNK: usize = 8;
/// Columns of a tile of an MN-major operand (a row for each k).
const MAX_COLUMNS: usize = 64;
/// Shared memory per block that every supported GPU has.
pub(crate) const MIN_SHARED_MEMORY: usize = 48 * 1024;

/// Rows per block, and the sizes of tiles and buffers in its shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Tiling {
    /// Shared memory of a block in floats.
    pub(crate) floats: usize,
    /// Rows of a block, and rows that it processes at a time.
    block_rows: usize,
    tile_rows: usize,
    /// Chunk length along k.
    chunk: usize,
    chunk_floats: usize,
    operand_stride: usize,
    operand_floats: usize,
    /// Thread tiles of hidden layers: warps along the units, rows per thread; and units and rows per thread of the output layer.
    warps_along_units: usize,
    rows_per_thread: usize,
    last_units_per_thread: usize,
    last_rows_per_thread: usize,
}

impl Tiling {
    /// Tiling for `blocks` blocks per network, each with `shared` bytes of shared memory: the largest tiles that fit.
    pub(crate) fn new(shape: &Shape, layout: &Layout, blocks: usize, shared: usize) -> Self {
        if layout.shared {
            return Self::single_block(shape, layout.floats);
        }
        let block_rows = shape.rows.div_ceil(blocks);
        let limit = shared.max(MIN_SHARED_MEMORY) / size_of::<f32>();
        let tiles = (block_rows.div_ceil(MAX_TILE_ROWS)..=block_rows).map(|tiles| block_rows.div_ceil(tiles));
        let mut choices =
            tiles.flat_map(|rows| [32, 16, MIN_CHUNK].map(|chunk| Self::tiled(shape, block_rows, rows, chunk)));
        choices.find(|tiling| tiling.floats <= limit).unwrap_or(Self::tiled(shape, block_rows, 1, MIN_CHUNK))
    }

    /// Whether `shared` bytes suffice for one row at a time: the widest networks need more than a GPU has.
    pub(crate) fn fits(shape: &Shape, shared: usize) -> bool {
        Self::tiled(shape, 1, 1, MIN_CHUNK).floats * size_of::<f32>() <= shared.max(MIN_SHARED_MEMORY)
    }

    /// A network that one block trains in shared memory, all rows at once.
    fn single_block(shape: &Shape, floats: usize) -> Self {
        let rows = shape.rows;
        Self {
            floats,
            block_rows: rows,
            tile_rows: rows,
            chunk: 0,
            chunk_floats: 0,
            operand_stride: 0,
            operand_floats: 0,
            warps_along_units: 0,
            rows_per_thread: 0,
            last_units_per_thread: 0,
            last_rows_per_thread: 0,
        }
    }

    fn tiled(shape: &Shape, block_rows: usize, tile_rows: usize, chunk: usize) -> Self {
        let layers = &shape.matrices;
        let (hidden, outputs) = (&layers[..layers.len() - 1], layers[layers.len() - 1].outputs);
        let widest = hidden.iter().map(|matrix| matrix.outputs).max().unwrap_or(outputs);
        let warps_along_units = match widest {
            129.. => WARPS,
            65.. => WARPS / 2,
            _ => WARPS / 4,
        };
        // A warp is eight threads along units by four along rows.
        let threads_along_rows = |warps: usize| THREADS / (8 * warps);
        let rows_per_thread = tile_rows.div_ceil(threads_along_rows(warps_along_units));
        let last_units_per_thread = outputs.div_ceil(8 * WARPS / 2).next_power_of_two().min(4);
        let last_rows_per_thread = tile_rows.div_ceil(threads_along_rows(WARPS / 2));
        let units = layers.iter().map(|matrix| matrix.inputs.max(matrix.outputs)).max().unwrap_or(1);
        let operand_stride = units.next_multiple_of(8) + 4;
        let operand_rows = (rows_per_thread * threads_along_rows(warps_along_units))
            .max(last_rows_per_thread * threads_along_rows(WARPS / 2));
        let pitch = chunk + 4;
        // Rows of a chunk: units of hidden layers, or both sides of a 32 x 128, 64 x 64 or 128 x 32 tile. Muon stages whole rows.
        let chunk_rows = (32 * warps_along_units).max(128 + 32);
        let chunk_floats = (chunk_rows * pitch).max(operand_stride);
        let operand_floats = operand_rows * operand_stride;
        let floats = 2 * operand_floats + CHUNKS * chunk_floats;
        Self {
            floats,
            block_rows,
            tile_rows,
            chunk,
            chunk_floats,
            operand_stride,
            operand_floats,
            warps_along_units,
            rows_per_thread,
            last_units_per_thread,
            last_rows_per_thread,
        }
    }

    /// Constants of the kernel source.
    pub(crate) fn header(&self) -> String {
        let mut text = String::new();
        for (name, value) in [
            ("BLOCK_ROWS", self.block_rows),
            ("TILE_ROWS", self.tile_rows),
            ("SHARED_FLOATS", self.floats),
            ("CHUNK", self.chunk),
            ("CHUNK_FLOATS", self.chunk_floats),
            ("OPERAND_STRIDE", self.operand_stride),
            ("OPERAND_FLOATS", self.operand_floats),
            ("WARPS_ALONG_UNITS", self.warps_along_units),
            ("ROWS_PER_THREAD", self.rows_per_thread),
            ("LAST_UNITS_PER_THREAD", self.last_units_per_thread),
            ("LAST_ROWS_PER_THREAD", self.last_rows_per_thread),
            ("MAX_COLUMNS", MAX_COLUMNS),
        ] {
            writeln!(text, "#define {name} {value}").unwrap_or(());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use negmm::data::Dataset;
    use negmm::net::{Activation, MixtureHead, Network};
    use negmm::train::{NetworkJob, Objective, TrainingConfig};

    use super::*;

    fn shape(units: usize, batch: usize) -> Shape {
        let mut data = Dataset::new(5);
        (0..batch).for_each(|row| data.push(&[row as f32; 5], 0.0));
        let head = MixtureHead::new(10, 1e-3);
        let network = Network {
            inputs: 5,
            stem: None,
            hidden: vec![units; 3],
            residual: false,
            activation: Activation::Relu,
            outputs: head.outputs(),
        };
        let job = NetworkJob {
            network,
            objective: Objective::Hybrid { head, eta: 0.5 },
            data: Arc::new(data),
            train: (0..batch as u32).collect(),
            validation: [].into(),
            plan: TrainingConfig::default().batch_size(batch).plan(batch),
            seed: 1,
            initial: None,
        };
        Shape::of(&job, &job.start()).unwrap()
    }

    #[test]
    fn blocks_cover_all_rows_and_fit_in_shared_memory() {
        for (units, batch) in [(9, 32), (70, 100), (130, 200), (256, 256)] {
            let shape = shape(units, batch);
            let layout = Layout::new(&shape, 0);
            for blocks in [1, 3, 13, 32] {
                for shared in [48, 64, 99, 227].map(|kilobytes| kilobytes * 1024) {
                    let tiling = Tiling::new(&shape, &layout, blocks, shared);
                    let case = format!("{units} units, {blocks} blocks, {shared} bytes: {tiling:?}");
                    assert!(tiling.floats * size_of::<f32>() <= shared, "{case}");
                    assert!(tiling.block_rows * blocks >= shape.rows && tiling.tile_rows <= MAX_TILE_ROWS, "{case}");
                    assert!(Tiling::fits(&shape, shared), "{case}");
                    let threads_along_rows = THREADS / (8 * tiling.warps_along_units);
                    assert!(tiling.rows_per_thread * threads_along_rows >= tiling.tile_rows, "{case}");
                    assert!(tiling.last_rows_per_thread * 8 >= tiling.tile_rows, "{case}");
                }
            }
        }
        assert!(!Tiling::fits(&shape(4000, 32), 227 * 1024));
    }
}
