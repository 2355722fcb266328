//! The fingerprint of training rows: hashes, by which a model knows rows that it was fitted to.
//!
//! Of many rows only those with the smallest hashes are kept (a bottom-k sketch): a row whose hash is not larger than the
//! largest kept one can be compared, and the fraction of these that were seen is an estimate for all.

use serde::{Deserialize, Serialize};

use negmm_nn::tensors::{Flaw, Tensor, Tensors, numbers_of};

/// Hashes that are kept at most: 160 kB.
const MOST_HASHES: usize = 20_000;
const TENSOR: &str = "training_rows";
/// Standard errors beyond which rows that were seen are not equal by chance.
const CLEAR: f64 = 4.0;

/// Hashes of training rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fingerprint {
    /// Different ones, in order.
    hashes: Vec<u64>,
    shape: FingerprintShape,
}

/// What a file has of a fingerprint beside its tensor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FingerprintShape {
    /// Hashes up to this one can be compared.
    limit: u64,
    /// The fraction of the training rows that are equal to another one, as new rows may be too.
    repeats: f64,
}

/// How many rows a model was fitted to. Counts of chunks add up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SeenRows {
    /// Rows.
    pub rows: u64,
    /// Rows that could be compared: all, or a random sample where the model was fitted to many rows.
    pub compared: u64,
    /// Those of them that are equal to a training row.
    pub seen: u64,
    /// The fraction of the training rows that are equal to another one.
    pub repeats: f64,
}

impl SeenRows {
    /// Adds the counts of other rows.
    pub fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        self.compared += other.compared;
        self.seen += other.seen;
        self.repeats = other.repeats;
    }

    /// How many rows were training rows, about, if that is more than new rows would be by chance.
    pub fn training_rows(&self) -> Option<u64> {
        let (compared, seen) = (self.compared as f64, self.seen as f64);
        let chance = compared * self.repeats;
        let is_clear = seen > chance + CLEAR * (chance * (1.0 - self.repeats)).sqrt();
        is_clear.then(|| (seen / compared * self.rows as f64).round() as u64)
    }
}

impl Fingerprint {
    /// Of the hashes of training rows.
    pub(crate) fn new(mut hashes: Vec<u64>) -> Self {
        hashes.sort_unstable();
        let repeated: usize = hashes.chunk_by(|a, b| a == b).map(<[u64]>::len).filter(|count| *count > 1).sum();
        let repeats = repeated as f64 / hashes.len().max(1) as f64;
        hashes.dedup();
        let limit = if hashes.len() > MOST_HASHES { hashes[MOST_HASHES - 1] } else { u64::MAX };
        hashes.truncate(MOST_HASHES);
        Self { hashes, shape: FingerprintShape { limit, repeats } }
    }

    /// How many rows with these hashes were seen.
    pub(crate) fn seen(&self, hashes: &[u64]) -> SeenRows {
        let compared = || hashes.iter().filter(|hash| **hash <= self.shape.limit);
        let seen = compared().filter(|hash| self.hashes.binary_search(hash).is_ok()).count();
        SeenRows {
            rows: hashes.len() as u64,
            compared: compared().count() as u64,
            seen: seen as u64,
            repeats: self.shape.repeats,
        }
    }

    pub(crate) fn write(&self) -> (FingerprintShape, Tensor) {
        (self.shape, Tensor::new(TENSOR, vec![self.hashes.len()], self.hashes.iter().copied()))
    }

    pub(crate) fn read(shape: FingerprintShape, tensors: &Tensors<'_>) -> Result<Self, Flaw> {
        let hashes: Vec<u64> = numbers_of(tensors, TENSOR, None)?;
        if !hashes.is_sorted() || hashes.len() > MOST_HASHES || !(0.0..=1.0).contains(&shape.repeats) {
            return Err("its fingerprint of training rows is out of range".into());
        }
        Ok(Self { hashes, shape })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Different numbers that are spread evenly.
    fn hashes(range: std::ops::Range<u64>) -> Vec<u64> {
        range.map(|row| (row + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
    }

    #[test]
    fn rows_that_were_seen_are_counted() {
        let print = Fingerprint::new(hashes(0..500));
        let half = print.seen(&hashes(400..600));
        assert_eq!((half.rows, half.compared, half.seen, half.training_rows()), (200, 200, 100, Some(100)));
        assert_eq!(print.seen(&hashes(500..900)).training_rows(), None);
        assert_eq!(print.seen(&hashes(3..4)).training_rows(), Some(1));
    }

    #[test]
    fn of_many_rows_a_sample_is_kept() {
        let print = Fingerprint::new(hashes(0..100_000));
        assert_eq!(print.hashes.len(), MOST_HASHES);
        let mut seen = print.seen(&hashes(60_000..110_000));
        let estimate = seen.training_rows().unwrap();
        assert!(seen.compared < 12_000 && (38_000..42_000).contains(&estimate), "{seen:?} {estimate}");
        seen.merge(print.seen(&hashes(100_000..150_000)));
        assert_eq!(seen.rows, 100_000);
    }

    #[test]
    fn rows_that_are_equal_by_chance_are_not_training_rows() {
        // Half of the rows are equal to another one; so are half of the new ones.
        let mut all = hashes(0..300);
        all.extend(hashes(0..100));
        let print = Fingerprint::new(all);
        assert_eq!(print.shape.repeats, 0.5);
        let fresh = [hashes(0..50), hashes(1000..1050)].concat();
        assert_eq!(print.seen(&fresh).training_rows(), None);
        assert_eq!(print.seen(&hashes(0..100)).training_rows(), Some(100));
    }
}
