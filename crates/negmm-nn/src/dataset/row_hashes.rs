//! Hashes of rows: which rows are equal, in one table or in two.

use std::hash::{DefaultHasher, Hasher};

use super::Dataset;

impl Dataset {
    /// A number for each row, the same for rows with the same inputs (all bits and categories equal), from 0 in the order of their
    /// first rows.
    pub fn equal_inputs(&self) -> Vec<u32> {
        let bits = |row: u32| {
            let numbers = self.x[row as usize * self.stride..][..self.features].iter().map(|x| x.to_bits());
            numbers.chain(self.levels.iter().map(move |column| column.codes[row as usize]))
        };
        let hash = |row: u32| {
            let mut hasher = DefaultHasher::new();
            bits(row).for_each(|bits| hasher.write_u32(bits));
            hasher.finish()
        };
        let mut rows: Vec<(u64, u32)> = (0..self.len() as u32).map(|row| (hash(row), row)).collect();
        rows.sort_unstable_by(|(a, x), (b, y)| a.cmp(b).then_with(|| bits(*x).cmp(bits(*y))).then(x.cmp(y)));
        // First each row gets the index of the first row with the same inputs, then that row's number.
        let mut numbers = vec![0; self.len()];
        for same in rows.chunk_by(|(a, x), (b, y)| a == b && bits(*x).eq(bits(*y))) {
            same.iter().for_each(|(_, row)| numbers[*row as usize] = same[0].1);
        }
        let mut next = 0;
        for row in 0..numbers.len() {
            let first = numbers[row] as usize;
            numbers[row] = if first == row { next } else { numbers[first] };
            next += u32::from(first == row);
        }
        numbers
    }

    /// A hash of each row: of its inputs and of its numbers in `targets`, rows × targets. Equal rows have equal hashes on every
    /// machine.
    ///
    /// # Panics
    /// When rows have different numbers of targets.
    pub fn row_hashes(&self, targets: &[f64]) -> Vec<u64> {
        let each = targets.len() / self.len().max(1);
        assert_eq!(targets.len(), each * self.len(), "as many targets for each row");
        let mut hashes = Vec::with_capacity(self.len());
        self.each_row(|x, codes| {
            let numbers = x.iter().map(|x| u64::from(x.to_bits()));
            let codes = codes.iter().map(|code| u64::from(*code));
            let own = targets[hashes.len() * each..][..each].iter().map(|target| target.to_bits());
            hashes.push(hash_of(numbers.chain(codes).chain(own)));
        });
        hashes
    }

    /// The fraction of the rows whose inputs are those of another row.
    pub fn repeated_inputs(&self) -> f64 {
        let mut hashes = Vec::with_capacity(self.len());
        self.each_row(|x, codes| {
            let numbers = x.iter().map(|x| u64::from(x.to_bits()));
            hashes.push(hash_of(numbers.chain(codes.iter().map(|code| u64::from(*code)))));
        });
        hashes.sort_unstable();
        let repeated: usize = hashes.chunk_by(|a, b| a == b).map(<[u64]>::len).filter(|rows| *rows > 1).sum();
        repeated as f64 / hashes.len().max(1) as f64
    }
}

/// A hash of numbers in their order, the same on every machine.
pub fn hash_of(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, mixed)
}

/// One step of a hash: the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
fn mixed(hash: u64, more: u64) -> u64 {
    let mut mixed = (hash ^ more).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
