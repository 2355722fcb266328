//! Splits into training and test rows: folds, groups, expanding windows, repeated holdouts.

use std::collections::HashSet;
use std::ops::Range;

use negmm_dist::math::rng::Rng;
use negmm_dist::{Error, Result, streams};
use negmm_nn::dataset::split::{blocks, cut_in_time, grouped_folds, holdout, k_folds, ranks};

/// Training and test rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Training rows.
    pub train: Vec<usize>,
    /// Test rows.
    pub test: Vec<usize>,
}

impl Split {
    /// All rows but `test` are training rows.
    pub fn with_test(rows: usize, test: Vec<usize>) -> Self {
        let mut is_test = vec![false; rows];
        test.iter().for_each(|row| is_test[*row] = true);
        Self { train: (0..rows).filter(|row| !is_test[*row]).collect(), test }
    }

    /// One split per part: its rows are the test rows.
    fn of_parts(rows: usize, parts: Vec<Vec<u32>>) -> Vec<Self> {
        let split = |part: Vec<u32>| Self::with_test(rows, part.into_iter().map(|row| row as usize).collect());
        parts.into_iter().map(split).collect()
    }

    /// K-fold cross-validation: each row is a test row once.
    pub fn folds(rows: usize, folds: usize, seed: u64) -> Result<Vec<Self>> {
        if folds < 2 || folds > rows {
            return Err(Error::option(
                "folds",
                format!("must be from 2 to the number of rows ({rows}), found {folds}"),
            ));
        }
        let parts = k_folds(rows, folds, &mut Rng::new(seed, streams::SPLITS));
        Ok(Self::of_parts(rows, parts))
    }

    /// As [`Split::folds`], with all rows of a group in one fold.
    ///
    /// # Errors
    /// When there are fewer groups than folds.
    pub fn grouped_folds(groups: &[u32], folds: usize, seed: u64) -> Result<Vec<Self>> {
        let rows = groups.len();
        let count = groups.iter().collect::<HashSet<_>>().len();
        if folds < 2 || folds > count {
            return Err(Error::option(
                "folds",
                format!("must be from 2 to the number of groups ({count}), found {folds}"),
            ));
        }
        let parts = grouped_folds(groups, folds, &mut Rng::new(seed, streams::SPLITS));
        Ok(Self::of_parts(rows, parts))
    }

    /// Expanding windows, for rows in time order: the rows are cut into `folds` + 1 blocks, and each block but the first
    /// is tested with all blocks before it as training rows.
    pub fn expanding(rows: usize, folds: usize) -> Result<Vec<Self>> {
        if folds == 0 || folds >= rows {
            return Err(Error::option("folds", format!("must be from 1 to the rows ({rows}) but one, found {folds}")));
        }
        let fold = |block: Range<usize>| Self { train: (0..block.start).collect(), test: block.collect() };
        Ok(blocks(rows, folds + 1).into_iter().skip(1).map(fold).collect())
    }

    /// As [`Split::expanding`] for rows with these times, in any order. Rows of one time are in one block, so that there may
    /// be fewer folds.
    ///
    /// # Errors
    /// Also when all times are the same.
    pub fn forward(times: &[f64], folds: usize) -> Result<Vec<Self>> {
        let ends: Vec<usize> = Self::expanding(times.len(), folds)?.iter().map(|split| split.train.len()).collect();
        let parts = cut_in_time(&ranks(times), &ends);
        let rows = |parts: &[Vec<u32>]| parts.iter().flatten().map(|row| *row as usize).collect::<Vec<_>>();
        let fold = |at: usize| Self { train: rows(&parts[..at]), test: rows(&parts[at..=at]) };
        if parts.len() < 2 {
            return Err(Error::data("all rows have the same time, so that none can be predicted from older ones"));
        }
        Ok((1..parts.len()).map(fold).collect())
    }

    /// `repeats` random holdouts of this fraction of the rows.
    pub fn repeats(rows: usize, repeats: usize, test_fraction: f64, seed: u64) -> Result<Vec<Self>> {
        if repeats == 0 || !(test_fraction > 0.0 && test_fraction < 1.0) || rows < 2 {
            return Err(Error::option(
                "repeats",
                "must be at least 1, with a test fraction between 0 and 1 of 2 rows or more",
            ));
        }
        let draw = |repeat: usize| {
            let (_, test) = holdout(rows, test_fraction, &mut Rng::new(seed, streams::REPEATS + repeat as u64));
            Self::with_test(rows, test.into_iter().map(|row| row as usize).collect())
        };
        Ok((0..repeats).map(draw).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_score_every_row_once() {
        let splits = Split::folds(23, 5, 1).unwrap();
        let mut rows: Vec<usize> = splits.iter().flat_map(|split| split.test.clone()).collect();
        rows.sort_unstable();
        assert_eq!(rows, (0..23).collect::<Vec<_>>());
        assert!(splits.iter().all(|split| split.train.len() + split.test.len() == 23));
        assert!(Split::folds(3, 4, 1).is_err() && Split::repeats(9, 0, 0.1, 1).is_err());
        let groups: Vec<u32> = (0..23).map(|row| row / 3).collect();
        for split in Split::grouped_folds(&groups, 4, 1).unwrap() {
            assert!(split.train.iter().all(|row| split.test.iter().all(|test| groups[*row] != groups[*test])));
        }
        assert!(Split::grouped_folds(&groups, 9, 1).is_err());
    }

    #[test]
    fn expanding_folds_learn_from_the_past_alone() {
        let splits = Split::expanding(10, 3).unwrap();
        assert_eq!(splits.len(), 3);
        assert_eq!(splits[0], Split { train: vec![0, 1], test: vec![2, 3, 4] });
        assert!(splits.iter().all(|split| split.train.len() == split.test[0]));
        let scored: Vec<usize> = splits.into_iter().flat_map(|split| split.test).collect();
        assert_eq!(scored, (2..10).collect::<Vec<_>>());
        assert!(Split::expanding(10, 0).is_err() && Split::expanding(3, 3).is_err());
        // The same of rows in another order, of which two have one time.
        let times = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 1.0];
        let splits = Split::forward(&times, 3).unwrap();
        assert_eq!(splits[0], Split { train: vec![8, 9], test: vec![7, 6, 5] });
        assert_eq!((splits.len(), &splits[2].test[..]), (3, &[2, 1, 0][..]));
        assert_eq!(Split::forward(&[1.0, 1.0, 1.0, 2.0, 2.0], 3).unwrap().len(), 1);
        assert!(Split::forward(&[1.0; 5], 3).is_err());
    }
}
