//! Sorted conformity scores of the calibration set, with weights, and their quantiles.
//!
//! The conformity score is the tail probability of the target. Under exchangeability, the rank of a new row's score
//! among those of the calibration set and its own is uniform. A set of all values with a score of at least t
//! therefore misses the target with probability at most α, where the weight of the scores below t plus that of the
//! new row is at most the fraction α of the total weight (Vovk, Gammerman and Shafer 2005; with weights Tibshirani et
//! al. 2019).

use serde::{Deserialize, Serialize};

/// A score is stored only where its rank exceeds that of the previous one by more than 1/GRAIN; the scores between
/// are counted with the previous one. The probability that a set excludes is smaller by at most 1/200 for that, and a
/// million rows take 1,900 numbers.
const GRAIN: usize = 200;

/// Relative rounding error of a score: sets are larger by this much.
const ROUNDING: f64 = 1e-12;

/// Conformity scores in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConformityScores {
    /// Distinct values.
    pub(crate) scores: Vec<f64>,
    /// Total weight of the rows with this score, or one below the next.
    pub(crate) weights: Vec<f64>,
}

/// The threshold of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Threshold {
    /// The model's own probability outside the set; 0: the set is unbounded.
    pub(crate) outside: f64,
    /// Total weight of the rows with lower scores and of the new row: with equal weights the rank of the threshold.
    pub(crate) rank: f64,
}

impl ConformityScores {
    /// From pairs of score and weight, in any order.
    pub(crate) fn new(mut rows: Vec<(f64, f64)>) -> Self {
        rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut list = Self::default();
        let mut next = 0;
        for (rank, (score, weight)) in rows.into_iter().enumerate() {
            let last = list.scores.len().wrapping_sub(1);
            if rank >= next && list.scores.last() != Some(&score) {
                list.scores.push(score);
                list.weights.push(weight);
                next = rank + 1 + rank / GRAIN;
            } else {
                list.weights[last] += weight;
            }
        }
        list
    }

    /// Total weight of all rows.
    pub(crate) fn total(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The smallest score that a set of this coverage includes, for a new row of this weight.
    pub(crate) fn threshold(&self, coverage: f64, weight: f64) -> Threshold {
        // In floating point 1 - 0.9 is a little less than 0.1, which would lower the rank.
        let room = (1.0 - coverage) * (self.total() + weight) * (1.0 + ROUNDING);
        let (mut below, mut threshold) = (0.0, Threshold { outside: 0.0, rank: 0.0 });
        for (score, own) in self.scores.iter().zip(&self.weights) {
            if below + weight > room {
                break;
            }
            threshold = Threshold { outside: score * (1.0 - ROUNDING), rank: below + weight };
            below += own;
        }
        threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(count: usize) -> ConformityScores {
        ConformityScores::new((0..count).rev().map(|rank| ((rank + 1) as f64, 1.0)).collect())
    }

    #[test]
    fn the_threshold_has_the_rank_of_split_conformal_prediction() {
        // Of n scores the one with rank floor(α (n + 1)).
        for (rows, coverage, rank) in
            [(19, 0.9, 2.0), (19, 0.95, 1.0), (99, 0.9, 10.0), (10, 0.9, 1.0), (199, 0.5, 100.0)]
        {
            let threshold = plain(rows).threshold(coverage, 1.0);
            assert_eq!(threshold.rank, rank, "{rows} {coverage}");
            assert!((threshold.outside - rank).abs() < 1e-9, "{rows} {coverage}");
        }
        assert_eq!(plain(8).threshold(0.9, 1.0), Threshold { outside: 0.0, rank: 0.0 });
        assert_eq!(plain(0).threshold(0.5, 1.0).outside, 0.0);
    }

    #[test]
    fn equal_scores_stay_together() {
        let scores = ConformityScores::new([0.5, 0.2, 0.5, 0.5, 0.9].map(|score| (score, 1.0)).to_vec());
        assert_eq!((&scores.scores[..], &scores.weights[..]), (&[0.2, 0.5, 0.9][..], &[1.0, 3.0, 1.0][..]));
        // With a threshold of 0.5 one of six is excluded; with 0.9, four and the new row.
        assert_eq!(scores.threshold(0.6, 1.0).rank, 2.0);
        assert_eq!(scores.threshold(0.15, 1.0).rank, 5.0);
    }

    #[test]
    fn weights_count_as_many_equal_rows_do() {
        let many = ConformityScores::new((1..=10).flat_map(|score| [(f64::from(score), 1.0); 3]).collect());
        let heavy = ConformityScores::new((1..=10).map(|score| (f64::from(score), 3.0)).collect());
        for coverage in [0.5, 0.8, 0.9] {
            assert_eq!(many.threshold(coverage, 1.0), heavy.threshold(coverage, 1.0));
        }
        // A new row as heavy as all others has an unbounded set.
        assert_eq!(heavy.threshold(0.9, 30.0).outside, 0.0);
    }

    #[test]
    fn a_long_list_is_short_and_never_too_narrow() {
        let (count, coverage) = (100_000, 0.9);
        let short = plain(count);
        assert!(short.scores.len() < 2000 && short.total() == count as f64, "{}", short.scores.len());
        let exact = (0.1 * (count + 1) as f64).floor();
        let threshold = short.threshold(coverage, 1.0);
        assert!(threshold.rank <= exact && threshold.rank > exact * (1.0 - 1.0 / GRAIN as f64), "{threshold:?}");
        assert!((threshold.outside / threshold.rank - 1.0).abs() < 1e-9);
    }
}
