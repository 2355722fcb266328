//! Responsible for a random sample of rows that come one after the other, however many there will be (Vitter's algorithm R).

use negmm::Rng;

/// Starts the choice: the same rows give the same sample.
const SEED: u64 = 0;
/// The stream of random numbers for it.
const STREAM: u64 = 0x5a3b;

/// Chooses at most so many rows.
pub struct Reservoir {
    room: usize,
    seen: usize,
    rng: Rng,
}

impl Reservoir {
    /// A sample of at most `room` rows.
    pub fn new(room: usize) -> Self {
        Self { room, seen: 0, rng: Rng::new(SEED, STREAM) }
    }

    /// Where the next row goes, in the place of the row that was there; none: it is not chosen.
    pub fn place(&mut self) -> Option<usize> {
        self.seen += 1;
        let place = if self.seen <= self.room { self.seen - 1 } else { self.rng.below(self.seen) };
        (place < self.room).then_some(place)
    }

    /// Rows seen.
    pub fn seen(&self) -> usize {
        self.seen
    }
}

/// A sample of `room` of the numbers below `count`, in ascending order.
pub fn sample(count: usize, room: usize) -> Vec<usize> {
    let mut reservoir = Reservoir::new(room);
    let mut chosen = vec![0; room.min(count)];
    for number in 0..count {
        if let Some(place) = reservoir.place() {
            chosen[place] = number;
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
