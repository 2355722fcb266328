//! Target encoding of categorical columns, cross-fitted on the training rows.
//!
//! For rows with weights w and targets t let g and v be mean and variance of all rows, n = sum w over the rows of a category, and m the
//! mean of the category. With a prior of p rows with the mean and variance of all rows, the features of the category are
//!
//! ```text
//! mean     n / (n + p) · (m - g)
//! spread   1/2 ln( (sum w (t - m)² + p v) / ((n + p) v) )
//! rows     ln(1 + n) / 4
//! ```
//!
//! A category without rows has zeros. Training rows are split into ten folds, and the rows of a fold get the statistics of the other
//! nine, so that the target of a row is never in its own features (smoothing by a prior: Micci-Barreca, 2001); all other rows get the
//! statistics of all training rows.

use std::borrow::Cow;

use super::disk_rows::{DiskRows, DiskStatistics};
use super::split::k_folds;
use super::{CategoricalColumn, Dataset, STATISTICS};
use negmm_dist::math::rng::Rng;
use negmm_dist::{Error, Result};

/// Weight of the prior: rows with the mean and variance of all rows, added to each category.
pub const PRIOR: f64 = 10.0;
/// Folds of the training rows, each with the statistics of the others.
const PARTS: usize = 10;
/// Scales the logarithm of rows to the size of other features.
pub const ROWS_SCALE: f64 = 0.25;

/// The features of every category of every categorical column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetEncoding {
    /// For each column the features of each of its levels.
    columns: Vec<Vec<[f32; STATISTICS]>>,
}

impl TargetEncoding {
    /// For each column the features of each of its levels.
    pub fn columns(&self) -> &[Vec<[f32; STATISTICS]>] {
        &self.columns
    }

    /// The target encoding with the features of [`TargetEncoding::columns`].
    pub fn from_columns(columns: Vec<Vec<[f32; STATISTICS]>>) -> Self {
        Self { columns }
    }

    /// Fits the encoding to some rows.
    pub fn learn(data: &Dataset, rows: &[u32]) -> Self {
        let of_column =
            |(at, column): (usize, &CategoricalColumn)| of_column(data, &data.codes_of(at), column.levels, rows);
        Self { columns: data.levels().iter().enumerate().map(of_column).collect() }
    }

    /// The rows with these features filled in; unchanged without categorical columns.
    ///
    /// # Errors
    /// When the rows have other categories.
    pub fn of_rows<'a>(&self, data: &'a Dataset) -> Result<Cow<'a, Dataset>> {
        if data.levels().is_empty() {
            return Ok(Cow::Borrowed(data));
        }
        if !data.levels().iter().map(|column| column.levels).eq(self.columns.iter().map(Vec::len)) {
            return Err(Error::data("the levels of these rows are not those of training"));
        }
        let mut filled = data.clone();
        self.fill(&mut filled, 0..data.len());
        filled.levels.clear();
        Ok(Cow::Owned(filled))
    }

    /// Writes the features of some rows.
    fn fill(&self, data: &mut Dataset, rows: impl Iterator<Item = usize> + Clone) {
        let Dataset { x, stride, levels, .. } = data;
        for (column, features) in levels.iter().zip(&self.columns) {
            for row in rows.clone() {
                let of_level = features.get(column.codes[row] as usize).copied().unwrap_or_default();
                x[row * *stride + column.first..][..STATISTICS].copy_from_slice(&of_level);
            }
        }
    }
}

impl Dataset {
    /// The rows with the target encoding of the rows `train`, and the encoding itself; the rows of `train` are cross-fitted.
    pub fn with_statistics(&self, train: &[u32], rng: &mut Rng) -> (Self, TargetEncoding) {
        if let Some(disk) = &self.disk {
            return self.with_statistics_on_disk(disk, train, rng);
        }
        let all = TargetEncoding::learn(self, train);
        let mut filled = self.clone();
        all.fill(&mut filled, 0..self.len());
        let mut part_of = vec![0; train.len()];
        let parts = k_folds(train.len(), PARTS, rng);
        for (number, part) in parts.iter().enumerate() {
            part.iter().for_each(|at| part_of[*at as usize] = number);
        }
        for (number, part) in parts.iter().enumerate() {
            let others: Vec<u32> =
                train.iter().zip(&part_of).filter(|(_, part)| **part != number).map(|(row, _)| *row).collect();
            let own = part.iter().map(|at| train[*at as usize] as usize);
            TargetEncoding::learn(self, &others).fill(&mut filled, own);
        }
        filled.levels.clear();
        (filled, all)
    }

    /// The same for rows on disk: the features are filled in when rows are read.
    fn with_statistics_on_disk(&self, disk: &DiskRows, train: &[u32], rng: &mut Rng) -> (Self, TargetEncoding) {
        // The rows of no part are those that are not trained on.
        let mut part_of = vec![PARTS as u8; self.len()];
        for (number, part) in (0_u8..).zip(k_folds(train.len(), PARTS, rng)) {
            part.iter().for_each(|at| part_of[train[*at as usize] as usize] = number);
        }
        let mut columns = vec![Vec::new(); PARTS + 1];
        let mut ranges = Vec::new();
        for (at, column) in self.levels.iter().enumerate() {
            let codes = self.codes_of(at);
            for (number, columns) in columns.iter_mut().enumerate() {
                let others: Vec<u32> =
                    train.iter().copied().filter(|row| usize::from(part_of[*row as usize]) != number).collect();
                columns.push(of_column(self, &codes, column.levels, &others));
            }
            let mut of_column = [(f32::MAX, f32::MIN); STATISTICS];
            for (code, part) in codes.iter().zip(&part_of) {
                let features = columns[usize::from(*part)][at].get(*code as usize).copied().unwrap_or_default();
                of_column
                    .iter_mut()
                    .zip(features)
                    .for_each(|((low, high), x)| (*low, *high) = (low.min(x), high.max(x)));
            }
            ranges.extend((column.first..).zip(of_column));
        }
        let encodings: Vec<TargetEncoding> = columns.into_iter().map(|columns| TargetEncoding { columns }).collect();
        let all = encodings[PARTS].clone();
        (self.with_disk_statistics(disk, DiskStatistics { part_of, encodings, ranges }), all)
    }
}

/// The features of each category of a column.
fn of_column(data: &Dataset, codes: &[u32], levels: usize, rows: &[u32]) -> Vec<[f32; STATISTICS]> {
    let weight = |row: u32| f64::from(data.sample_weights()[row as usize]);
    let target = |row: u32| f64::from(data.y()[row as usize]);
    let sum = |number: &dyn Fn(u32) -> f64| rows.iter().map(|row| weight(*row) * number(*row)).sum::<f64>();
    let total = sum(&|_| 1.0).max(f64::MIN_POSITIVE);
    let mean = sum(&target) / total;
    let deviation = |row: u32| target(row) - mean;
    let variance = sum(&|row| deviation(row) * deviation(row)) / total;
    // For each category the weight of its rows, the sum of deviations and the sum of their squares.
    let mut sums = vec![[0.0; 3]; levels];
    for row in rows {
        if let Some([count, sum, squares]) = sums.get_mut(codes[*row as usize] as usize) {
            *count += weight(*row);
            *sum += weight(*row) * deviation(*row);
            *squares += weight(*row) * deviation(*row) * deviation(*row);
        }
    }
    let features = |[count, sum, squares]: [f64; 3]| {
        if count <= 0.0 || variance <= 0.0 {
            return [0.0; STATISTICS];
        }
        let within = (squares - sum * sum / count).max(0.0);
        let spread = 0.5 * libm::log((within + PRIOR * variance) / ((count + PRIOR) * variance));
        [sum / (count + PRIOR), spread, ROWS_SCALE * libm::log1p(count)].map(|number| number as f32)
    };
    sums.into_iter().map(features).collect()
}
