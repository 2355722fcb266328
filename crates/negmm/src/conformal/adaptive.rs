//! Adaptive conformal inference (ACI) along a sequence: coverage is corrected by past misses.
//!
//! Steps of a sequence are not alike, so no rows that were held back guarantee those to come. Adaptive conformal inference (Gibbs and
//! Candès 2021) promises less and supposes nothing: a set leaves outside the probability a, as the model itself has it; after each target
//!
//! ```text
//! a <- a + rate (α - 1{missed})
//! ```
//!
//! As a stays between -rate and 1 + rate, the share of missed targets among T differs from α by (max(α, 1 - α) + rate) / (rate T) at
//! most, whatever happens. Where d targets are still to be seen when a set is made, a reaches d rates further.

use std::collections::{BTreeMap, VecDeque};

use super::calibration::SetKind;
use negmm_dist::{Error, Predictions, Result};

/// How much a set changes after a target, as a probability.
const RATE: f64 = 0.02;

/// Sets of some kinds and coverages that are made as time goes on, a batch of them after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdaptiveConformal {
    courses: Vec<AdaptiveState>,
}

/// Sets of one kind and coverage.
#[derive(Clone, Debug, PartialEq)]
struct AdaptiveState {
    sets: SetKind,
    coverage: f64,
    /// Sequences, each of which adapts by itself.
    streams: BTreeMap<usize, Stream>,
    targets: usize,
    held: usize,
    /// What each set of the last batch leaves outside.
    outside: Vec<f64>,
}

/// How far one sequence is.
#[derive(Clone, Debug, PartialEq)]
struct Stream {
    /// What the next set leaves outside.
    current: f64,
    /// Sets whose targets are not yet seen: when they are, and 1 where the target was missed, 0 where it was held.
    waiting: VecDeque<(usize, Option<f64>)>,
    /// The most of them at once.
    longest: usize,
}

/// How often sets held their targets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Kept {
    /// Targets that are known.
    pub targets: usize,
    /// Those that lay in their sets.
    pub held: usize,
    /// How far the share of those that did not can be from what was asked for, at most.
    pub bound: f64,
}

impl AdaptiveConformal {
    /// Sets of these kinds and coverages, of which none is made yet.
    pub fn new(sets: &[(SetKind, f64)]) -> Self {
        let course = |(sets, coverage): &(SetKind, f64)| AdaptiveState {
            sets: *sets,
            coverage: *coverage,
            streams: BTreeMap::new(),
            targets: 0,
            held: 0,
            outside: Vec::new(),
        };
        Self { courses: sets.iter().map(course).collect() }
    }

    /// Those of the steps of one sequence, one after the other; targets that are not known are NaN.
    ///
    /// # Errors
    /// When there is not one target for each prediction.
    pub fn of_sequence(sets: &[(SetKind, f64)], predictions: &Predictions, y: &[f64]) -> Result<Self> {
        let mut adaptive = Self::new(sets);
        adaptive.follow(predictions, y, |row| (0, row, row + 1))?;
        Ok(adaptive)
    }

    /// Makes a batch of sets as `place` says of each: its sequence, when it is made, and when its target is known. Of one sequence none
    /// is made before those of earlier batches. Targets that are not known are NaN.
    ///
    /// # Errors
    /// When there is not one target for each prediction.
    pub fn follow(
        &mut self,
        predictions: &Predictions,
        y: &[f64],
        place: impl Fn(usize) -> (usize, usize, usize),
    ) -> Result<()> {
        // A number that is not used stands for one that is not known.
        let known: Vec<f64> = y.iter().map(|y| if y.is_nan() { 0.0 } else { *y }).collect();
        let mut order: Vec<usize> = (0..y.len()).collect();
        order.sort_by_key(|row| place(*row).1);
        for sets in [SetKind::Intervals, SetKind::Regions] {
            let mut courses = self.courses.iter_mut().filter(|course| course.sets == sets).peekable();
            if courses.peek().is_none() {
                continue;
            }
            let tails = predictions.each_with(&known, |row, y| match sets {
                SetKind::Intervals => row.interval_tail(y),
                SetKind::Regions => row.region_tail(y),
            })?;
            for course in courses {
                course.outside = vec![0.0; y.len()];
                for row in &order {
                    course.outside[*row] = course.make(place(*row), (!y[*row].is_nan()).then_some(tails[*row]));
                }
            }
        }
        Ok(())
    }

    /// The probability by the model itself that each set of the last batch leaves outside; 0: it is the whole line.
    ///
    /// # Errors
    /// When sets of this kind and coverage are not among those that are made.
    pub fn outside(&self, sets: SetKind, coverage: f64) -> Result<&[f64]> {
        Ok(&self.course(sets, coverage)?.outside)
    }

    /// How often the sets of all batches held.
    ///
    /// # Errors
    /// When sets of this kind and coverage are not among those that are made.
    pub fn kept(&self, sets: SetKind, coverage: f64) -> Result<Kept> {
        let AdaptiveState { streams, targets, held, .. } = self.course(sets, coverage)?;
        let reach = |stream: &Stream| (1.0 - coverage).max(coverage) + RATE * (1 + stream.longest) as f64;
        let reach = streams.values().map(reach).fold(0.0, |sum, reach| sum + reach);
        let bound = if *targets > 0 { (reach / (RATE * *targets as f64)).min(1.0) } else { 1.0 };
        Ok(Kept { targets: *targets, held: *held, bound })
    }

    fn course(&self, sets: SetKind, coverage: f64) -> Result<&AdaptiveState> {
        let asked = |course: &&AdaptiveState| course.sets == sets && course.coverage == coverage;
        let absent = || Error::options(format!("no adaptive sets of coverage {coverage} are made"));
        self.courses.iter().find(asked).ok_or_else(absent)
    }
}

impl AdaptiveState {
    /// What the next set of a sequence leaves outside, whose target has this tail, where it is known.
    fn make(&mut self, (stream, made, seen): (usize, usize, usize), tail: Option<f64>) -> f64 {
        let wanted = 1.0 - self.coverage;
        let new = || Stream { current: wanted, waiting: VecDeque::new(), longest: 0 };
        let Stream { current, waiting, longest } = self.streams.entry(stream).or_insert_with(new);
        while let Some((_, missed)) = waiting.front().copied().filter(|(seen, _)| *seen <= made) {
            waiting.pop_front();
            *current += missed.map_or(0.0, |missed| RATE * (wanted - missed));
        }
        *longest = waiting.len().max(*longest);
        let missed = tail.map(|tail| f64::from(*current > 0.0 && tail <= *current));
        self.targets += usize::from(missed.is_some());
        self.held += usize::from(missed == Some(0.0));
        waiting.push_back((seen, missed));
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

    #[test]
    fn the_share_of_misses_is_within_its_bound_whatever_happens() {
        let rows = 2000;
        // Too sure, too modest, and a target that is always outside.
        let wild: Vec<f64> = (0..rows).map(|row| if row % 2 == 0 { 1e9 } else { -1e9 }).collect();
        for y in [normal(rows, 5.0).sample(1, 3, 0), normal(rows, 0.1).sample(1, 3, 0), wild] {
            for sets in [SetKind::Intervals, SetKind::Regions] {
                let adaptive = AdaptiveConformal::of_sequence(&[(sets, 0.9)], &normal(rows, 1.0), &y).unwrap();
                let (outside, kept) = (adaptive.outside(sets, 0.9).unwrap(), adaptive.kept(sets, 0.9).unwrap());
                let missed = 1.0 - kept.held as f64 / kept.targets as f64;
                assert_eq!((kept.targets, outside[0]), (rows, 1.0 - 0.9));
                assert!((kept.bound - 0.92 / (0.02 * 2000.0)).abs() < 1e-12, "{}", kept.bound);
                assert!((missed - 0.1).abs() <= kept.bound, "{missed} {}", kept.bound);
            }
        }
    }

    /// What intervals leave outside, made in batches of so many, and how often they held.
    fn intervals(y: &[f64], at_once: usize, place: impl Fn(usize) -> (usize, usize, usize)) -> (Vec<f64>, Kept) {
        let (mut adaptive, mut outside) = (AdaptiveConformal::new(&[(SetKind::Intervals, 0.9)]), Vec::new());
        for (batch, y) in y.chunks(at_once).enumerate() {
            adaptive.follow(&normal(y.len(), 1.0), y, |row| place(batch * at_once + row)).unwrap();
            outside.extend_from_slice(adaptive.outside(SetKind::Intervals, 0.9).unwrap());
        }
        (outside, adaptive.kept(SetKind::Intervals, 0.9).unwrap())
    }

    #[test]
    fn a_set_knows_nothing_of_targets_that_come_later() {
        let y: Vec<f64> = (0..40).map(|row| if row < 20 { 0.0 } else { 9.0 }).collect();
        let delayed = |delay: usize| intervals(&y, 40, |row| (0, row, row + delay));
        let (prompt, late) = (delayed(1).0, delayed(5).0);
        // Twenty targets that are held widen what is left outside, then each miss narrows it.
        assert!(prompt[1] > prompt[0] && late[4] == late[0] && late[5] > late[4]);
        assert!(prompt[21] < prompt[20] && late[24] > late[23] && late[25] < late[24]);
        assert!(delayed(5).1.bound > delayed(1).1.bound || delayed(1).1.bound == 1.0);
    }

    #[test]
    fn sequences_adapt_by_themselves() {
        let y: Vec<f64> = (0..60).map(|row| if row % 2 == 0 { 9.0 } else { f64::NAN }).collect();
        let (outside, kept) = intervals(&y, 60, |row| (row % 2, row / 2, row / 2 + 1));
        assert!(outside[58] == 0.0 && outside[59] == 1.0 - 0.9 && kept.targets == 30);
    }

    #[test]
    fn batches_are_made_as_all_at_once() {
        let y: Vec<f64> = (0..90).map(|row| if row % 7 == 3 { f64::NAN } else { f64::from(row % 4) }).collect();
        let place = |row: usize| (row % 3, row / 3, row / 3 + 1 + row % 3);
        for at_once in [1, 4, 30] {
            assert_eq!(intervals(&y, at_once, place), intervals(&y, 90, place));
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let mut adaptive = AdaptiveConformal::new(&[(SetKind::Intervals, 0.9)]);
        assert!(adaptive.follow(&normal(2, 1.0), &[0.0], |row| (0, row, row)).is_err());
        let message = adaptive.outside(SetKind::Regions, 0.9).unwrap_err().to_string();
        assert_eq!(message, "no adaptive sets of coverage 0.9 are made");
    }
}
