//! Reservoir sampling of a stream of rows of unknown length (Vitter's algorithm R).

use negmm::Rng;

/// The seed: the same rows give the same sample.
const SEED: u64 = 0;
/// The stream of random numbers.
const STREAM: u64 = 0x5a3b;

/// A reservoir of fixed capacity.
pub struct Reservoir {
    capacity: usize,
    seen: usize,
    rng: Rng,
}

impl Reservoir {
    /// A sample of at most `capacity` rows.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, seen: 0, rng: Rng::new(SEED, STREAM) }
    }

    /// The slot of the next row, which replaces the row there; `None` where it is not sampled.
    pub fn next_slot(&mut self) -> Option<usize> {
        self.seen += 1;
        let slot = if self.seen <= self.capacity { self.seen - 1 } else { self.rng.below(self.seen) };
        (slot < self.capacity).then_some(slot)
    }

    /// Number of rows so far.
    pub fn seen(&self) -> usize {
        self.seen
    }
}

/// A sample of `capacity` of the numbers below `count`, in ascending order.
pub fn sample(count: usize, capacity: usize) -> Vec<usize> {
    let mut reservoir = Reservoir::new(capacity);
    let mut chosen = vec![0; capacity.min(count)];
    for number in 0..count {
        if let Some(slot) = reservoir.next_slot() {
            chosen[slot] = number;
        }
    }
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_all_chosen_in_order() {
        assert_eq!(sample(3, 5), [0, 1, 2]);
        assert_eq!(sample(0, 5), [0usize; 0]);
    }

    #[test]
    fn every_row_is_as_likely_as_any_other() {
        let chosen = sample(100_000, 10_000);
        assert_eq!(chosen.len(), 10_000);
        assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]));
        // Each tenth of the rows has a tenth of the sample: sd 28.5.
        for tenth in 0..10 {
            let count = chosen.iter().filter(|number| **number / 10_000 == tenth).count();
            assert!((850..1150).contains(&count), "{tenth}: {count}");
        }
    }
}
