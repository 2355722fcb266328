//! Counter-based random numbers: any draw of a stream without those before it, so that other engines can compute the same draws in
//! any order.
//!
//! Draw i of a stream that starts at s is the output function of SplitMix64 (Steele, Lea & Flood, 2014, "Fast splittable
//! pseudorandom number generators") of s + (i + 1) gamma modulo 2^64, where gamma is 2^64 divided by the golden ratio:
//!
//! ```text
//! z = (z xor z >> 30) 0xbf58476d1ce4e5b9      z = (z xor z >> 27) 0x94d049bb133111eb      z xor z >> 31
//! ```

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of random bits, each drawn by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    start: u64,
}

impl Counter {
    /// The stream number `stream` of `seed`.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self { start: Self { start: seed }.bits(stream) }
    }

    /// Where the stream starts.
    pub fn start(self) -> u64 {
        self.start
    }

    /// Draw number `index`.
    #[inline(always)]
    pub fn bits(self, index: u64) -> u64 {
        let z = self.start.wrapping_add(index.wrapping_add(1).wrapping_mul(GAMMA));
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The draws of one step: a stream of their own.
    pub fn step(self, step: u64) -> Draws {
        Draws { counter: Self { start: self.bits(step) }, next: 0 }
    }
}

/// Draws of a stream in order.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    counter: Counter,
    next: u64,
}

impl Draws {
    /// The next 64 bits.
    #[inline(always)]
    pub fn bits(&mut self) -> u64 {
        let bits = self.counter.bits(self.next);
        self.next += 1;
        bits
    }

    /// Uniform in the open interval (0, 1).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        super::rng::open_unit(self.bits())
    }

    /// Brings `items` into random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, super::rng::below(self.bits(), last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_those_of_splitmix64() {
        let counter = Counter { start: 1_234_567 };
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        for (index, expected) in published.into_iter().enumerate() {
            assert_eq!(counter.bits(index as u64), expected);
        }
    }

    #[test]
    fn streams_and_steps_differ_and_repeat() {
        let draw = |seed, stream, step| Counter::new(seed, stream).step(step).bits();
        let all = [draw(1, 2, 3), draw(1, 2, 4), draw(1, 3, 3), draw(2, 2, 3), draw(3, 2, 1)];
        for (at, one) in all.iter().enumerate() {
            assert!(all[..at].iter().all(|other| other != one));
        }
        assert_eq!(draw(1, 2, 3), draw(1, 2, 3));
    }

    #[test]
    fn all_permutations_are_equally_likely() {
        // The six permutations of three items.
        let mut counts = std::collections::HashMap::new();
        for step in 0..6000 {
            let mut items = [0, 1, 2];
            Counter::new(7, 0).step(step).shuffle(&mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert!(counts.len() == 6 && counts.values().all(|count| (880..1120).contains(count)), "{counts:?}");
    }
}
