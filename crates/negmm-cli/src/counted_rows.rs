//! Rows that a monitor has counted, by their hashes: with `--state` they are not counted again.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::format::count;

/// Hashes that a state keeps at most: 1 MB.
const MOST: usize = 50_000;
/// The fraction of equal rows above which an equal row is not taken as the same.
const FEW_REPEATS: f64 = 0.01;

/// Hashes of counted rows.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<u64>", into = "Vec<u64>")]
pub struct CountedRows {
    /// Of the last rows, in their order.
    hashes: Vec<u64>,
    /// Those of earlier runs.
    before: HashSet<u64>,
    again: usize,
}

impl From<Vec<u64>> for CountedRows {
    fn from(hashes: Vec<u64>) -> Self {
        Self { before: hashes.iter().copied().collect(), hashes, again: 0 }
    }
}

impl From<CountedRows> for Vec<u64> {
    fn from(mut counted: CountedRows) -> Self {
        counted.hashes.drain(..counted.hashes.len().saturating_sub(MOST));
        counted.hashes
    }
}

impl CountedRows {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// The fraction of the counted rows that repeat another one.
    pub fn repeats(&self) -> f64 {
        let different: HashSet<u64> = self.hashes.iter().copied().collect();
        1.0 - different.len() as f64 / self.hashes.len().max(1) as f64
    }

    /// The rows with these hashes that earlier runs have not counted, which count from now on; all of them where rows are
    /// often equal, `repeats` of them.
    pub fn new_rows(&mut self, hashes: &[u64], repeats: f64) -> Vec<usize> {
        let is_new = |row: &usize| repeats > FEW_REPEATS || !self.before.contains(&hashes[*row]);
        let new: Vec<usize> = (0..hashes.len()).filter(is_new).collect();
        self.again += hashes.len() - new.len();
        self.hashes.extend(new.iter().map(|row| hashes[*row]));
        new
    }

    /// A sentence about rows that were counted before, where there are some.
    pub fn sentence(&self) -> Option<String> {
        let (rows, were, are) = if self.again == 1 { ("row", "was", "is") } else { ("rows", "were", "are") };
        (self.again > 0).then(|| format!("{} {rows} {were} counted before and {are} left out", count(self.again)))
    }
}
