//! Quantile transform of a numeric column to a standard normal distribution.

use serde::{Deserialize, Serialize};

use negmm_dist::math::normal;
use negmm_dist::weights::weight_of;
use negmm_dist::{Error, Result};

/// Maximum number of knots, and minimum number of different numbers: a second copy of two values is redundant.
const MOST_KNOTS: usize = 256;
const LEAST_KNOTS: usize = 3;

/// A map from numbers to normal scores, linear between knots and constant beyond them. Whatever the shape of a column, half of its
/// cells come to lie within 0.67 of zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuantileTransform {
    /// Number and score of each knot; both rise.
    knots: Vec<[f64; 2]>,
}

impl QuantileTransform {
    /// Learns from the cells that are not missing and have a weight; `None` where there are too few different numbers.
    pub(crate) fn learn(numbers: &[f64], weights: Option<&[f64]>) -> Option<Self> {
        let counts = |row: &usize| !numbers[*row].is_nan() && weight_of(weights, *row) > 0.0;
        let mut cells: Vec<f64> = (0..numbers.len()).filter(counts).map(|row| numbers[row]).collect();
        cells.sort_unstable_by(f64::total_cmp);
        let count = cells.len().min(MOST_KNOTS);
        let mut knots: Vec<[f64; 2]> = Vec::new();
        let mut equal = 0.0;
        for at in 0..count {
            let cell = cells[(2 * at + 1) * cells.len() / (2 * count)];
            let score = normal::quantile((at as f64 + 0.5) / count as f64);
            match knots.last_mut() {
                // Equal numbers have the mean of their scores.
                Some([number, mean]) if *number == cell => {
                    equal += 1.0;
                    *mean += (score - *mean) / equal;
                }
                _ => {
                    equal = 1.0;
                    knots.push([cell, score]);
                }
            }
        }
        (knots.len() >= LEAST_KNOTS).then_some(Self { knots })
    }

    /// Number and score of each knot; both rise.
    pub fn knots(&self) -> &[[f64; 2]] {
        &self.knots
    }

    /// The score of a number that is not missing.
    pub(crate) fn score(&self, number: f64) -> f64 {
        let after = self.knots.partition_point(|[knot, _]| *knot < number);
        let last = self.knots.len() - 1;
        match after {
            0 => self.knots[0][1],
            after if after > last => self.knots[last][1],
            after => {
                let ([low, from], [high, to]) = (self.knots[after - 1], self.knots[after]);
                from + (to - from) * ((number - low) / (high - low))
            }
        }
    }

    /// Validates knots from a file.
    pub(crate) fn check(&self) -> Result<()> {
        let finite = self.knots.iter().flatten().all(|number| number.is_finite());
        let rise = self.knots.windows(2).all(|pair| pair[0][0] < pair[1][0] && pair[0][1] <= pair[1][1]);
        if finite && rise && !self.knots.is_empty() {
            return Ok(());
        }
        Err(Error::model("its normal scores do not rise"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_become_those_of_a_normal() {
        let numbers: Vec<f64> = (0..1000).map(|row| f64::from(row).exp2().min(1e300)).collect();
        let scores = QuantileTransform::learn(&numbers, None).unwrap();
        for (row, z) in [(499, 0.0), (158, -1.0), (841, 1.0), (977, 2.0)] {
            assert!((scores.score(numbers[row]) - z).abs() < 0.02, "{row}: {}", scores.score(numbers[row]));
        }
        assert_eq!(scores.score(-1e9), scores.score(1.0));
        assert_eq!(scores.score(f64::INFINITY), scores.score(1e300));
        scores.check().unwrap();
    }

    #[test]
    fn equal_numbers_have_one_score_and_rows_that_count_nothing_none() {
        let scores = QuantileTransform::learn(
            &[0.0, 0.0, 0.0, 1.0, 2.0, f64::NAN, 9.0],
            Some(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0]),
        );
        let scores = scores.unwrap();
        let mean = (normal::quantile(0.1) + normal::quantile(0.3) + normal::quantile(0.5)) / 3.0;
        assert!((scores.score(0.0) - mean).abs() < 1e-12);
        assert!((scores.score(0.5) - 0.5 * (mean + normal::quantile(0.7))).abs() < 1e-12);
        assert_eq!(scores.score(9.0), normal::quantile(0.9));
        assert!(QuantileTransform::learn(&[1.0, 1.0, 2.0, 2.0], None).is_none());
        assert!(QuantileTransform::learn(&[], None).is_none());
    }
}
