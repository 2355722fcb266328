//! Responsible for how the rows of a batch are divided among the blocks of a network, and how the products of a large one pass through
//! shared memory.

use std::fmt::Write;

use crate::room::Room;
use crate::shape::Shape;

/// Threads of a block: of those measured on an H200 the fastest.
pub(crate) const THREADS: usize = 256;
const WARPS: usize = THREADS / 32;
/// Rows of a block that pass through the layers at a time, at most: each costs a thread registers.
const MOST_ROWS: usize = 32;
/// Chunks of an operand that take turns; as the kernels have it.
const CHUNKS: usize = 2;
/// Numbers of k of a chunk, at least.
const LEAST_CHUNK: usize = 8;
/// Columns of a tile whose operand has a row for each k.
const MOST_COLUMNS: usize = 64;
/// Every card gives a block so much shared memory.
pub(crate) const LEAST_SHARED: usize = 48 * 1024;

/// The rows of a block and its shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// Floats of shared memory.
    pub(crate) floats: usize,
    /// Rows of a block, and of those so many at a time.
    own_rows: usize,
    tile_rows: usize,
    /// Numbers of k of a chunk.
    chunk: usize,
    chunk_floats: usize,
    operand_stride: usize,
    operand_floats: usize,
    /// How the threads of a block stand before hidden layers: warps along units, rows of each thread; and units and rows of each before
    /// the last layer.
    warps: usize,
    rows: usize,
    last_units: usize,
    last_rows: usize,
}

impl Stage {
    /// Of a network with so many blocks, each with so many bytes of shared memory.
    pub(crate) fn new(shape: &Shape, room: &Room, blocks: usize, shared: usize) -> Self {
        if room.shared {
            return Self::whole(shape, room.floats);
        }
        let own_rows = shape.rows.div_ceil(blocks);
        let limit = shared.max(LEAST_SHARED) / size_of::<f32>();
        let tiles = (own_rows.div_ceil(MOST_ROWS)..=own_rows).map(|tiles| own_rows.div_ceil(tiles));
        let mut choices =
            tiles.flat_map(|rows| [32, 16, LEAST_CHUNK].map(|chunk| Self::divided(shape, own_rows, rows, chunk)));
        choices.find(|stage| stage.floats <= limit).unwrap_or(Self::divided(shape, own_rows, 1, LEAST_CHUNK))
    }

    /// Whether so many bytes of shared memory are enough for a row at a time: the widest networks take more than a card has.
    pub(crate) fn is_possible(shape: &Shape, shared: usize) -> bool {
        Self::divided(shape, 1, 1, LEAST_CHUNK).floats * size_of::<f32>() <= shared.max(LEAST_SHARED)
    }

    /// A network that one block trains, all rows at a time.
    fn whole(shape: &Shape, floats: usize) -> Self {
        let rows = shape.rows;
        Self {
            floats,
            own_rows: rows,
            tile_rows: rows,
            chunk: 0,
            chunk_floats: 0,
            operand_stride: 0,
            operand_floats: 0,
            warps: 0,
            rows: 0,
            last_units: 0,
            last_rows: 0,
        }
    }

    fn divided(shape: &Shape, own_rows: usize, tile_rows: usize, chunk: usize) -> Self {
        let layers = &shape.matrices;
        let (hidden, outputs) = (&layers[..layers.len() - 1], layers[layers.len() - 1].outputs);
        let widest = hidden.iter().map(|matrix| matrix.outputs).max().unwrap_or(outputs);
        let warps = match widest {
            129.. => WARPS,
            65.. => WARPS / 2,
            _ => WARPS / 4,
        };
        // A warp is eight units by four rows of seats.
        let seats = |warps: usize| THREADS / (8 * warps);
        let rows = tile_rows.div_ceil(seats(warps));
        let last_units = outputs.div_ceil(8 * WARPS / 2).next_power_of_two().min(4);
        let last_rows = tile_rows.div_ceil(seats(WARPS / 2));
        let units = layers.iter().map(|matrix| matrix.inputs.max(matrix.outputs)).max().unwrap_or(1);
        let operand_stride = units.next_multiple_of(8) + 4;
        let operand_rows = (rows * seats(warps)).max(last_rows * seats(WARPS / 2));
        let pitch = chunk + 4;
        // The rows of a chunk: units of hidden layers; a tile of 32 by 128, 64 by 64 or 128 by 32. Muon's rows pass through whole.
        let chunk_rows = (32 * warps).max(128 + 32);
        let chunk_floats = (chunk_rows * pitch).max(operand_stride);
        let operand_floats = operand_rows * operand_stride;
        let floats = 2 * operand_floats + CHUNKS * chunk_floats;
        Self {
            floats,
            own_rows,
            tile_rows,
            chunk,
            chunk_floats,
            operand_stride,
            operand_floats,
            warps,
            rows,
            last_units,
            last_rows,
        }
    }

    /// The kernel's constants.
    pub(crate) fn header(&self) -> String {
        let mut text = String::new();
        for (name, value) in [
            ("OWN_ROWS", self.own_rows),
            ("TILE_ROWS", self.tile_rows),
            ("STAGE_FLOATS", self.floats),
            ("CHUNK", self.chunk),
            ("CHUNK_FLOATS", self.chunk_floats),
            ("OPERAND_STRIDE", self.operand_stride),
            ("OPERAND_FLOATS", self.operand_floats),
            ("WARPS_ALONG_UNITS", self.warps),
            ("OWN_ROWS_OF_THREAD", self.rows),
            ("LAST_UNITS", self.last_units),
            ("LAST_ROWS", self.last_rows),
            ("MOST_COLUMNS", MOST_COLUMNS),
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
            validation: Vec::new(),
            course: TrainingConfig { batch_size: batch, ..TrainingConfig::default() }.course(batch),
            seed: 1,
        };
        Shape::of(&job, &job.start()).unwrap()
    }

    #[test]
    fn blocks_have_all_rows_and_shared_memory_is_enough() {
        for (units, batch) in [(9, 32), (70, 100), (130, 200), (256, 256)] {
            let shape = shape(units, batch);
            let room = Room::new(&shape, 0);
            for blocks in [1, 3, 13, 32] {
                for shared in [48, 64, 99, 227].map(|kilobytes| kilobytes * 1024) {
                    let stage = Stage::new(&shape, &room, blocks, shared);
                    let place = format!("{units} units, {blocks} blocks, {shared} bytes: {stage:?}");
                    assert!(stage.floats * size_of::<f32>() <= shared, "{place}");
                    assert!(stage.own_rows * blocks >= shape.rows && stage.tile_rows <= MOST_ROWS, "{place}");
                    assert!(Stage::is_possible(&shape, shared), "{place}");
                    let seats = THREADS / (8 * stage.warps);
                    assert!(stage.rows * seats >= stage.tile_rows && stage.last_rows * 8 >= stage.tile_rows, "{place}");
                }
            }
        }
        assert!(!Stage::is_possible(&shape(4000, 32), 227 * 1024));
    }
}
