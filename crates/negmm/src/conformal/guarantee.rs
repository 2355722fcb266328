//! Coverage guarantees of conformal sets, as numbers and as a sentence.

use std::fmt;

use super::conformity_scores::ConformityScores;
use negmm_dist::math::beta;

/// Confidence of the bound for a single calibration.
pub const CONFIDENCE: f64 = 0.9;

/// The guarantee of prediction sets of one nominal coverage.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Guarantee {
    /// Nominal coverage.
    pub coverage: f64,
    /// Number of calibration rows.
    pub rows: usize,
    /// The kind of guarantee.
    pub kind: CoverageGuarantee,
}

/// The guarantee of one group.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GroupGuarantee<'a> {
    /// The name of the group; empty where there are no groups.
    pub group: &'a str,
    /// Its guarantee.
    pub guarantee: Guarantee,
}

/// The kind of guarantee.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum CoverageGuarantee {
    /// Marginal coverage, over calibration and new rows; conditional on this calibration set at least `bound` with
    /// confidence 0.9.
    Split {
        /// From the beta distribution of the coverage given the calibration set; its parameters are the numbers of
        /// rows inside and outside the sets.
        bound: f64,
    },
    /// Marginal coverage, provided that the weights are correct.
    Weighted,
    /// None: the calibration rows were predicted out of fold, by the models of each fold, but new rows are predicted
    /// by the whole pool. In practice the coverage is close to nominal.
    Cross,
    /// The calibration set is too small, and every set is unbounded.
    Unbounded {
        /// Number of rows of equal weight that a set of this coverage needs.
        needed: usize,
    },
}

impl Guarantee {
    pub(super) fn split(coverage: f64, rows: usize, scores: &ConformityScores) -> Self {
        let threshold = scores.threshold(coverage, 1.0);
        let total = rows as f64;
        let kind = match threshold.rank {
            0.0 => CoverageGuarantee::Unbounded { needed: needed(coverage) },
            rank => CoverageGuarantee::Split { bound: beta::quantile(1.0 - CONFIDENCE, total + 1.0 - rank, rank) },
        };
        Self { coverage, rows, kind }
    }

    pub(super) fn without_bound(coverage: f64, rows: usize, weighted: bool, scores: &ConformityScores) -> Self {
        let unit = scores.total() / rows.max(1) as f64;
        let kind = match (scores.threshold(coverage, unit).rank, weighted) {
            (0.0, _) => CoverageGuarantee::Unbounded { needed: needed(coverage) },
            (_, true) => CoverageGuarantee::Weighted,
            (_, false) => CoverageGuarantee::Cross,
        };
        Self { coverage, rows, kind }
    }

    /// The guaranteed marginal coverage.
    pub fn average(&self) -> f64 {
        match self.kind {
            CoverageGuarantee::Cross => 0.0,
            CoverageGuarantee::Unbounded { .. } => 1.0,
            _ => self.coverage,
        }
    }
}

/// The smallest number of rows n with (n + 1) (1 - coverage) >= 1.
fn needed(coverage: f64) -> usize {
    (1.0 / (1.0 - coverage) - 1.0 - 1e-9).ceil() as usize
}

/// A probability in per cent, with enough digits to distinguish it from 100.
fn percent(probability: f64) -> String {
    let text = format!("{:.1}", 100.0 * probability);
    let text = if text == "100.0" && probability < 1.0 { format!("{:.4}", 100.0 * probability) } else { text };
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nominal = percent(self.coverage);
        let rows = match self.rows {
            1 => "1 row".to_string(),
            rows => format!("{rows} rows"),
        };
        match self.kind {
            CoverageGuarantee::Split { bound } => {
                let bound = percent((1000.0 * bound).floor() / 1000.0);
                write!(
                    f,
                    "at least {nominal} on average; for this model at least {bound} with 90 % confidence ({rows})"
                )
            }
            CoverageGuarantee::Weighted => {
                write!(
                    f,
                    "at least {nominal} on average, if the weights are right; no bound for this model alone ({rows})"
                )
            }
            CoverageGuarantee::Cross => write!(
                f,
                "about {nominal}, by {rows} that were predicted out of fold: seen in simulations, not proven, because the pool of all folds \
                 predicts (of sets by each fold's own models cross-conformal prediction proves about {}; rows that the model was not fitted to prove {nominal})",
                percent((2.0 * self.coverage - 1.0).max(0.0))
            ),
            CoverageGuarantee::Unbounded { needed } => {
                write!(f, "unbounded: {nominal} needs at least {needed} rows, and there are {}", self.rows)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(rows: usize) -> ConformityScores {
        ConformityScores::new((0..rows).map(|row| (row as f64, 1.0)).collect())
    }

    #[test]
    fn the_sentence_says_what_is_proven() {
        // Python scipy 1.17: `beta(91, 9).ppf(0.1)`, 99 rows.
        let guarantee = Guarantee::split(0.91, 99, &scores(99));
        let CoverageGuarantee::Split { bound } = guarantee.kind else { panic!("{guarantee}") };
        assert!((bound - 0.872_055_007_725_151).abs() < 1e-12, "{bound}");
        let text = Guarantee::split(0.9, 999, &scores(999)).to_string();
        assert_eq!(text, "at least 90 % on average; for this model at least 88.7 % with 90 % confidence (999 rows)");
        let few = Guarantee::split(0.95, 12, &scores(12));
        assert_eq!(few.to_string(), "unbounded: 95 % needs at least 19 rows, and there are 12");
        assert_eq!((few.average(), needed(0.9), needed(0.99)), (1.0, 9, 99));
        let cross = Guarantee::without_bound(0.9, 300, false, &scores(300));
        assert_eq!(cross.average(), 0.0);
        let text = cross.to_string();
        assert!(text.starts_with("about 90 %, by 300 rows") && text.contains("not proven"), "{text}");
        assert!(text.contains("about 80 %"), "{text}");
        assert!(
            Guarantee::without_bound(0.9, 300, true, &scores(300)).to_string().contains("if the weights are right")
        );
    }
}
