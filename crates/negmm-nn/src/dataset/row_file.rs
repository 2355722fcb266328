//! Encoded rows in a scratch file: the features of each row, then the categories of its columns with target encodings.
//!
//! ```text
//! row: feature 0 … feature F - 1 (f32), category 0 … category C - 1 (u32); little endian, without padding
//! ```

use negmm_dist::Result;

use super::CategoricalColumn;
use crate::scratch::{Scratch, ScratchFile};

/// Bytes that are read at once where rows follow each other, and that are written at once.
const BLOCK_BYTES: usize = 1 << 20;
/// Rows that are left out between two rows that are still read together.
const GAP: u32 = 64;

/// Rows on disk, which any number of threads may read.
#[derive(Debug)]
pub struct RowFile {
    file: ScratchFile,
    rows: usize,
    features: usize,
    /// First feature and number of categories of each column with target encodings.
    levels: Vec<(usize, usize)>,
    /// The smallest and the largest value of each feature.
    ranges: Vec<(f32, f32)>,
}

/// Rows that are being written.
#[derive(Debug)]
pub struct RowFileWriter {
    file: RowFile,
    bytes: Vec<u8>,
}

impl RowFileWriter {
    /// Rows of `features` features, with columns of categories: the first feature of each and its number of categories.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn new(scratch: &Scratch, features: usize, levels: Vec<(usize, usize)>) -> Result<Self> {
        let ranges = vec![(f32::MAX, f32::MIN); features];
        let file = RowFile { file: scratch.file()?, rows: 0, features, levels, ranges };
        Ok(Self { file, bytes: Vec::with_capacity(BLOCK_BYTES) })
    }

    /// Bytes of so many rows.
    pub fn bytes_of(rows: usize, features: usize, columns: usize) -> u64 {
        rows as u64 * (features + columns) as u64 * size_of::<f32>() as u64
    }

    /// Adds rows: `x` is rows × `stride`, and each column has a category for every row.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn push(&mut self, x: &[f32], stride: usize, columns: &[CategoricalColumn]) -> Result<()> {
        for (row, x) in x.chunks_exact(stride).enumerate() {
            for (x, (low, high)) in x.iter().zip(&mut self.file.ranges) {
                if !x.is_nan() {
                    (*low, *high) = (low.min(*x), high.max(*x));
                }
            }
            self.bytes.extend(x[..self.file.features].iter().flat_map(|x| x.to_le_bytes()));
            self.bytes.extend(columns.iter().flat_map(|column| column.codes[row].to_le_bytes()));
            self.file.rows += 1;
            if self.bytes.len() >= BLOCK_BYTES {
                self.file.file.append(&self.bytes)?;
                self.bytes.clear();
            }
        }
        Ok(())
    }

    /// The rows.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn finish(self) -> Result<RowFile> {
        self.file.file.append(&self.bytes)?;
        Ok(self.file)
    }
}

impl RowFile {
    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Features of a row.
    pub fn features(&self) -> usize {
        self.features
    }

    /// First feature and number of categories of each column with target encodings.
    pub(super) fn levels(&self) -> &[(usize, usize)] {
        &self.levels
    }

    /// The smallest and the largest value of a feature; (0, 0) where there is none.
    pub(super) fn range(&self, feature: usize) -> (f32, f32) {
        let (low, high) = self.ranges[feature];
        if low <= high { (low, high) } else { (0.0, 0.0) }
    }

    /// Numbers of a row in the file.
    pub(super) fn width(&self) -> usize {
        self.features + self.levels.len()
    }

    /// The first failure to read.
    pub(super) fn check(&self) -> Result<()> {
        self.file.check()
    }

    /// Calls `visit` with the position in the list and the bits of each of these rows, in their order.
    pub(super) fn each(&self, rows: impl Iterator<Item = u32>, mut visit: impl FnMut(usize, &[u32])) {
        let width = self.width();
        let most = (BLOCK_BYTES / (size_of::<u32>() * width.max(1))).max(1);
        let mut bytes = Vec::new();
        let mut bits = vec![0_u32; width];
        // The rows in the buffer.
        let (mut first, mut end) = (0_u32, 0_u32);
        for (at, row) in rows.enumerate() {
            if !(first..end).contains(&row) {
                let follows = row >= end && row - end <= GAP;
                let count = if follows { most.min(self.rows - row as usize) } else { 1 };
                bytes.resize(count * width * size_of::<u32>(), 0);
                self.file.read_or_note(&mut bytes, u64::from(row) * (width * size_of::<u32>()) as u64);
                (first, end) = (row, row + count as u32);
            }
            let own = &bytes[(row - first) as usize * width * size_of::<u32>()..];
            for (bits, bytes) in bits.iter_mut().zip(own.as_chunks().0) {
                *bits = u32::from_le_bytes(*bytes);
            }
            visit(at, &bits);
        }
    }
}
