//! Responsible for sets along a sequence: each leaves outside what was missed too seldom, or too often, before it.
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

use super::calibration::Sets;
use crate::{Error, Predictions, Result};

/// How much a set changes after a target, as a probability.
const RATE: f64 = 0.02;

/// One set among those that are made as time goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    /// Which sequence it is of; each adapts by itself.
    stream: usize,
    /// When it is made.
    made: usize,
    /// When its target is known to later sets.
    seen: usize,
    /// The tails of its target for intervals and for regions, where it is known.
    tails: Option<[f64; 2]>,
}

/// Sets that are made as time goes on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adaptive {
    steps: Vec<Step>,
    /// Sets that are not asked for, which come first.
    before: usize,
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

impl Adaptive {
    /// Of the steps of one sequence, one after the other; targets that are not known are NaN.
    ///
    /// # Errors
    /// When there is not one target for each prediction.
    pub fn of_sequence(predictions: &Predictions, y: &[f64]) -> Result<Self> {
        Self::new(predictions, y, |row| (0, row, row + 1))
    }

    /// Of sets that are made as `place` says of each: its sequence, when it is made, and when its target is known. Targets that are not
    /// known are NaN.
    ///
    /// # Errors
    /// When there is not one target for each prediction.
    pub fn new(predictions: &Predictions, y: &[f64], place: impl Fn(usize) -> (usize, usize, usize)) -> Result<Self> {
        if y.len() != predictions.len() {
            let (rows, found) = (predictions.len(), y.len());
            return Err(Error::data(format!("expected {rows} values of y, one for each row, found {found}")));
        }
        // A number that is not used stands for one that is not known.
        let known: Vec<f64> = y.iter().map(|y| if y.is_nan() { 0.0 } else { *y }).collect();
        let tails = predictions.each_with(&known, |row, y| [row.interval_tail(y), row.region_tail(y)])?;
        let step = |(row, (tails, y)): (usize, ([f64; 2], &f64))| {
            let (stream, made, seen) = place(row);
            Step { stream, made, seen, tails: (!y.is_nan()).then_some(tails) }
        };
        Ok(Self { steps: tails.into_iter().zip(y).enumerate().map(step).collect(), before: 0 })
    }

    /// The same, where only the last sets are asked for.
    #[must_use]
    pub fn of_last(self, sets: usize) -> Self {
        Self { before: self.steps.len().saturating_sub(sets), ..self }
    }

    /// The probability by the model itself that each set leaves outside; 0: it is the whole line. And how often they held.
    pub fn outside(&self, sets: Sets, coverage: f64) -> (Vec<f64>, Kept) {
        let wanted = 1.0 - coverage;
        let mut order: Vec<usize> = (0..self.steps.len()).collect();
        order.sort_by_key(|row| (self.steps[*row].stream, self.steps[*row].made));
        let (mut outside, mut kept, mut reach) = (vec![0.0; self.steps.len()], Kept::default(), 0.0);
        for stream in order.chunk_by(|a, b| self.steps[*a].stream == self.steps[*b].stream) {
            let (mut current, mut seen, mut longest) = (wanted, 0, 0);
            for (at, row) in stream.iter().enumerate() {
                while seen < at && self.steps[stream[seen]].seen <= self.steps[*row].made {
                    current += self.learnt(stream[seen], sets, &outside).map_or(0.0, |missed| RATE * (wanted - missed));
                    seen += 1;
                }
                outside[*row] = current;
                longest = longest.max(at - seen);
            }
            for missed in stream.iter().filter_map(|row| self.learnt(*row, sets, &outside)) {
                kept.targets += 1;
                kept.held += usize::from(missed == 0.0);
            }
            reach += wanted.max(coverage) + RATE * (1 + longest) as f64;
        }
        kept.bound = if kept.targets > 0 { (reach / (RATE * kept.targets as f64)).min(1.0) } else { 1.0 };
        outside.iter_mut().for_each(|outside| *outside = outside.clamp(0.0, 1.0));
        (outside.split_off(self.before), kept)
    }

    /// 1 where the set that left so much outside missed its target, 0 where it held it.
    fn learnt(&self, row: usize, sets: Sets, outside: &[f64]) -> Option<f64> {
        let [interval, region] = self.steps[row].tails?;
        let tail = if sets == Sets::Intervals { interval } else { region };
        Some(f64::from(outside[row] > 0.0 && tail <= outside[row]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mixtures;

    fn normal(rows: usize, sd: f64) -> Predictions {
        Mixtures::new(1, vec![1.0; rows], vec![0.0; rows], vec![sd; rows]).unwrap().into()
    }

    #[test]
    fn the_share_of_misses_is_within_its_bound_whatever_happens() {
        let rows = 2000;
        // Too sure, too modest, and a target that is always outside.
        let wild: Vec<f64> = (0..rows).map(|row| if row % 2 == 0 { 1e9 } else { -1e9 }).collect();
        for y in [normal(rows, 5.0).sample(1, 3, 0), normal(rows, 0.1).sample(1, 3, 0), wild] {
            for sets in [Sets::Intervals, Sets::Regions] {
                let adaptive = Adaptive::of_sequence(&normal(rows, 1.0), &y).unwrap();
                let (outside, kept) = adaptive.outside(sets, 0.9);
                let missed = 1.0 - kept.held as f64 / kept.targets as f64;
                assert_eq!((kept.targets, outside[0]), (rows, 1.0 - 0.9));
                assert!((kept.bound - 0.92 / (0.02 * 2000.0)).abs() < 1e-12, "{}", kept.bound);
                assert!((missed - 0.1).abs() <= kept.bound, "{missed} {}", kept.bound);
            }
        }
    }

    #[test]
    fn a_set_knows_nothing_of_targets_that_come_later() {
        let y: Vec<f64> = (0..40).map(|row| if row < 20 { 0.0 } else { 9.0 }).collect();
        let delayed = |delay: usize| {
            Adaptive::new(&normal(40, 1.0), &y, |row| (0, row, row + delay)).unwrap().outside(Sets::Intervals, 0.9)
        };
        let (prompt, late) = (delayed(1).0, delayed(5).0);
        // Twenty targets that are held widen what is left outside, then each miss narrows it.
        assert!(prompt[1] > prompt[0] && late[4] == late[0] && late[5] > late[4]);
        assert!(prompt[21] < prompt[20] && late[24] > late[23] && late[25] < late[24]);
        assert!(delayed(5).1.bound > delayed(1).1.bound || delayed(1).1.bound == 1.0);
    }

    #[test]
    fn sequences_adapt_by_themselves() {
        let y: Vec<f64> = (0..60).map(|row| if row % 2 == 0 { 9.0 } else { f64::NAN }).collect();
        let adaptive = Adaptive::new(&normal(60, 1.0), &y, |row| (row % 2, row / 2, row / 2 + 1)).unwrap();
        let (outside, kept) = adaptive.outside(Sets::Intervals, 0.9);
        assert!(outside[58] == 0.0 && outside[59] == 1.0 - 0.9 && kept.targets == 30);
        assert_eq!(adaptive.of_last(2).outside(Sets::Intervals, 0.9).0, outside[58..]);
        assert!(Adaptive::of_sequence(&normal(2, 1.0), &[0.0]).is_err());
    }
}
