//! Adaptive conformal inference (ACI) along a sequence: coverage is corrected by past misses.
//!
//! Steps of a sequence are not exchangeable, so a calibration set guarantees nothing for later steps. Adaptive
//! conformal inference (Gibbs and Candès 2021) gives a weaker guarantee without assumptions: a set excludes the
//! model's own probability a; after each target
//!
//! ```text
//! a <- a + rate (α - 1{missed})
//! ```
//!
//! As a stays between -rate and 1 + rate, the fraction of misses among T targets differs from α by at most
//! (max(α, 1 - α) + rate) / (rate T), whatever happens. Where d earlier targets are still unknown when a set is made,
//! a can leave that range by d more rates.

use std::collections::{BTreeMap, VecDeque};

use super::calibration::{SetKind, SetSpec};
use negmm_dist::{Error, Predictions, Result};

/// Step size of the update, as a probability.
const RATE: f64 = 0.02;

/// Conformal sets of several kinds and coverages along sequences, made batch by batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdaptiveConformal {
    states: Vec<AdaptiveState>,
}

/// The sets of one kind and coverage.
#[derive(Clone, Debug, PartialEq)]
struct AdaptiveState {
    sets: SetSpec,
    /// The sequences; each adapts on its own.
    streams: BTreeMap<usize, Stream>,
    targets: usize,
    covered: usize,
    /// The probability that each set of the last batch excludes.
    outside: Vec<f64>,
}

/// The state of one sequence.
#[derive(Clone, Debug, PartialEq)]
struct Stream {
    /// The probability that the next set excludes.
    current: f64,
    /// Sets whose targets are still unknown: the time when the target becomes known, and 1 for a miss or 0 for a hit.
    waiting: VecDeque<(usize, Option<f64>)>,
    /// The largest number of them at any time.
    longest: usize,
}

/// A step of a sequence that a set is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceStep {
    /// Number of the sequence.
    pub sequence: usize,
    /// The time when the set is made.
    pub made: usize,
    /// The time when the target becomes known.
    pub known: usize,
}

/// Empirical coverage of the sets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AdaptiveCoverage {
    /// Number of known targets.
    pub targets: usize,
    /// Number of targets inside their set.
    pub covered: usize,
    /// Upper bound on the difference between the fraction of misses and 1 - coverage.
    pub bound: f64,
}

impl AdaptiveConformal {
    /// Sets of these kinds and coverages, before the first batch.
    pub fn new(sets: &[SetSpec]) -> Self {
        let state = |sets: &SetSpec| AdaptiveState {
            sets: *sets,
            streams: BTreeMap::new(),
            targets: 0,
            covered: 0,
            outside: Vec::new(),
        };
        Self { states: sets.iter().map(state).collect() }
    }

    /// Makes the sets of consecutive steps of one sequence; unknown targets are NaN.
    ///
    /// # Errors
    /// When the numbers of targets and predictions differ.
    pub fn of_sequence(sets: &[SetSpec], predictions: &Predictions, y: &[f64]) -> Result<Self> {
        let mut adaptive = Self::new(sets);
        adaptive.update(predictions, y, |row| SequenceStep { sequence: 0, made: row, known: row + 1 })?;
        Ok(adaptive)
    }

    /// Makes a batch of sets; `step` gives the step of each row. Within a sequence no set may be made before those of
    /// earlier batches. Unknown targets are NaN.
    ///
    /// # Errors
    /// When the numbers of targets and predictions differ.
    pub fn update(&mut self, predictions: &Predictions, y: &[f64], step: impl Fn(usize) -> SequenceStep) -> Result<()> {
        // Any number will do for an unknown target: its tail is not used.
        let known: Vec<f64> = y.iter().map(|y| if y.is_nan() { 0.0 } else { *y }).collect();
        let mut order: Vec<usize> = (0..y.len()).collect();
        order.sort_by_key(|row| step(*row).made);
        for kind in [SetKind::Intervals, SetKind::Regions] {
            let mut states = self.states.iter_mut().filter(|state| state.sets.kind == kind).peekable();
            if states.peek().is_none() {
                continue;
            }
            let scores = predictions.each_with(&known, |row, y| match kind {
                SetKind::Intervals | SetKind::Ellipsoids => row.interval_tail(y),
                SetKind::Regions => row.region_tail(y),
            })?;
            for state in states {
                state.outside = vec![0.0; y.len()];
                for row in &order {
                    state.outside[*row] = state.next_set(step(*row), (!y[*row].is_nan()).then_some(scores[*row]));
                }
            }
        }
        Ok(())
    }

    /// The model's own probability that each set of the last batch excludes; 0: the set is unbounded.
    ///
    /// # Errors
    /// When there are no sets of this kind and coverage.
    pub fn outside(&self, sets: SetSpec) -> Result<&[f64]> {
        Ok(&self.state(sets)?.outside)
    }

    /// Empirical coverage over all batches.
    ///
    /// # Errors
    /// When there are no sets of this kind and coverage.
    pub fn coverage(&self, sets: SetSpec) -> Result<AdaptiveCoverage> {
        let AdaptiveState { streams, targets, covered, .. } = self.state(sets)?;
        let coverage = sets.coverage;
        let reach = |stream: &Stream| (1.0 - coverage).max(coverage) + RATE * (1 + stream.longest) as f64;
        let reach = streams.values().map(reach).fold(0.0, |sum, reach| sum + reach);
        let bound = if *targets > 0 { (reach / (RATE * *targets as f64)).min(1.0) } else { 1.0 };
        Ok(AdaptiveCoverage { targets: *targets, covered: *covered, bound })
    }

    fn state(&self, sets: SetSpec) -> Result<&AdaptiveState> {
        let absent = || Error::options(format!("no adaptive sets of coverage {} are made", sets.coverage));
        self.states.iter().find(|state| state.sets == sets).ok_or_else(absent)
    }
}

impl AdaptiveState {
    /// The probability that the next set of a sequence excludes; `score` is the conformity score of its target, where
    /// it is known.
    fn next_set(&mut self, SequenceStep { sequence, made, known }: SequenceStep, score: Option<f64>) -> f64 {
        let wanted = 1.0 - self.sets.coverage;
        let new = || Stream { current: wanted, waiting: VecDeque::new(), longest: 0 };
        let Stream { current, waiting, longest } = self.streams.entry(sequence).or_insert_with(new);
        while let Some((_, missed)) = waiting.front().copied().filter(|(known, _)| *known <= made) {
            waiting.pop_front();
            *current += missed.map_or(0.0, |missed| RATE * (wanted - missed));
        }
        *longest = waiting.len().max(*longest);
        let missed = score.map(|score| f64::from(*current > 0.0 && score <= *current));
        self.targets += usize::from(missed.is_some());
        self.covered += usize::from(missed == Some(0.0));
        waiting.push_back((known, missed));
        current.clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::Mixtures;

    fn normal(rows: usize, sd: f64) -> Predictions {
        Mixtures::new(1, vec![1.0; rows], vec![0.0; rows], vec![sd; rows]).unwrap().into()
    }

    fn step(sequence: usize, made: usize, known: usize) -> SequenceStep {
        SequenceStep { sequence, made, known }
    }

    #[test]
    fn the_fraction_of_misses_is_within_its_bound_whatever_happens() {
        let rows = 2000;
        // Overconfident, underconfident, and targets that are always outside.
        let wild: Vec<f64> = (0..rows).map(|row| if row % 2 == 0 { 1e9 } else { -1e9 }).collect();
        for y in [normal(rows, 5.0).sample(1, 3, 0), normal(rows, 0.1).sample(1, 3, 0), wild] {
            for sets in [SetSpec::intervals(0.9), SetSpec::regions(0.9)] {
                let adaptive = AdaptiveConformal::of_sequence(&[sets], &normal(rows, 1.0), &y).unwrap();
                let (outside, found) = (adaptive.outside(sets).unwrap(), adaptive.coverage(sets).unwrap());
                let missed = 1.0 - found.covered as f64 / found.targets as f64;
                assert_eq!((found.targets, outside[0]), (rows, 1.0 - 0.9));
                assert!((found.bound - 0.92 / (0.02 * 2000.0)).abs() < 1e-12, "{}", found.bound);
                assert!((missed - 0.1).abs() <= found.bound, "{missed} {}", found.bound);
            }
        }
    }

    /// The probabilities that intervals exclude, made in batches of `at_once`, and their empirical coverage.
    fn intervals(y: &[f64], at_once: usize, step: impl Fn(usize) -> SequenceStep) -> (Vec<f64>, AdaptiveCoverage) {
        let (mut adaptive, mut outside) = (AdaptiveConformal::new(&[SetSpec::intervals(0.9)]), Vec::new());
        for (batch, y) in y.chunks(at_once).enumerate() {
            adaptive.update(&normal(y.len(), 1.0), y, |row| step(batch * at_once + row)).unwrap();
            outside.extend_from_slice(adaptive.outside(SetSpec::intervals(0.9)).unwrap());
        }
        (outside, adaptive.coverage(SetSpec::intervals(0.9)).unwrap())
    }

    #[test]
    fn a_set_knows_nothing_of_targets_that_come_later() {
        let y: Vec<f64> = (0..40).map(|row| if row < 20 { 0.0 } else { 9.0 }).collect();
        let delayed = |delay: usize| intervals(&y, 40, |row| step(0, row, row + delay));
        let (prompt, late) = (delayed(1).0, delayed(5).0);
        // Twenty hits raise the excluded probability, then each miss lowers it.
        assert!(prompt[1] > prompt[0] && late[4] == late[0] && late[5] > late[4]);
        assert!(prompt[21] < prompt[20] && late[24] > late[23] && late[25] < late[24]);
        assert!(delayed(5).1.bound > delayed(1).1.bound || delayed(1).1.bound == 1.0);
    }

    #[test]
    fn sequences_adapt_by_themselves() {
        let y: Vec<f64> = (0..60).map(|row| if row % 2 == 0 { 9.0 } else { f64::NAN }).collect();
        let (outside, found) = intervals(&y, 60, |row| step(row % 2, row / 2, row / 2 + 1));
        assert!(outside[58] == 0.0 && outside[59] == 1.0 - 0.9 && found.targets == 30);
    }

    #[test]
    fn batches_are_made_as_all_at_once() {
        let y: Vec<f64> = (0..90).map(|row| if row % 7 == 3 { f64::NAN } else { f64::from(row % 4) }).collect();
        let of_row = |row: usize| step(row % 3, row / 3, row / 3 + 1 + row % 3);
        for at_once in [1, 4, 30] {
            assert_eq!(intervals(&y, at_once, of_row), intervals(&y, 90, of_row));
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let mut adaptive = AdaptiveConformal::new(&[SetSpec::intervals(0.9)]);
        assert!(adaptive.update(&normal(2, 1.0), &[0.0], |row| step(0, row, row)).is_err());
        let message = adaptive.outside(SetSpec::regions(0.9)).unwrap_err().to_string();
        assert_eq!(message, "no adaptive sets of coverage 0.9 are made");
    }
}
