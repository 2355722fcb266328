//! The Kaplan-Meier estimate of the survival function of right-censored targets.

use crate::CensoredTargets;
use crate::weights::weight_of;

/// A survival function: a step down at each time that occurred, constant between them. Times are values of the target.
#[derive(Clone, Debug, PartialEq)]
pub struct KaplanMeier {
    /// Where the steps are, in ascending order.
    pub times: Vec<f64>,
    /// The survival probability after each step.
    pub survival: Vec<f64>,
}

impl KaplanMeier {
    /// The estimate of the targets: the product over the times v up to a time of 1 - (weight of targets v) / (weight of rows not below
    /// v). The upper ends of intervals are ignored: such a row counts as right-censored at its lower end.
    ///
    /// # Panics
    /// When there is not one weight for each row.
    pub fn of_targets(known: &CensoredTargets, weights: Option<&[f64]>) -> Self {
        Self::estimate(known, weights, |events, censored, after| (events, after + censored + events))
    }

    /// The estimate of the censoring limits: the same product with events and censored rows exchanged. If a target and a limit are
    /// equal, the target comes first.
    pub(super) fn of_limits(known: &CensoredTargets, weights: Option<&[f64]>) -> Self {
        Self::estimate(known, weights, |_, censored, after| (censored, after + censored))
    }

    /// `fall` gets the weight of the events at a time, of the rows censored there and of all later rows; it returns the weight of the
    /// step and the weight at risk.
    fn estimate(known: &CensoredTargets, weights: Option<&[f64]>, fall: impl Fn(f64, f64, f64) -> (f64, f64)) -> Self {
        let weight = |row: &usize| weight_of(weights, *row);
        let mut rows: Vec<usize> = (0..known.lower.len()).filter(|row| weight(row) > 0.0).collect();
        rows.sort_by(|a, b| known.lower[*a].total_cmp(&known.lower[*b]));
        let mut steps = Vec::new();
        // From the last time on, so that the weight at risk is a sum and never a difference.
        let mut after = 0.0;
        for group in rows.chunk_by(|a, b| known.lower[*a] == known.lower[*b]).rev() {
            let sum =
                |events: bool| group.iter().filter(|row| known.is_value(**row) == events).map(weight).sum::<f64>();
            let (events, censored) = (sum(true), sum(false));
            let (falls, of) = fall(events, censored, after);
            if falls > 0.0 {
                steps.push((known.lower[group[0]], 1.0 - falls / of));
            }
            after += censored + events;
        }
        let (times, factors): (Vec<f64>, Vec<f64>) = steps.into_iter().rev().unzip();
        let survival = factors.iter().scan(1.0, |probability, factor| {
            *probability *= factor;
            Some(*probability)
        });
        Self { survival: survival.collect(), times }
    }

    /// The probability of values above `time`.
    pub fn beyond(&self, time: f64) -> f64 {
        self.after(self.times.partition_point(|step| *step <= time))
    }

    /// The probability of values at or above `time`.
    pub fn from(&self, time: f64) -> f64 {
        self.after(self.times.partition_point(|step| *step < time))
    }

    fn after(&self, steps: usize) -> f64 {
        if steps == 0 { 1.0 } else { self.survival[steps - 1] }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{TIES, known};
    use super::*;

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        found.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-14, "{found:?}"));
    }

    #[test]
    fn lifelines_gives_the_same_survival() {
        // lifelines 0.30.3: KaplanMeierFitter().fit(time, event, weights=...).survival_function_
        let estimate = KaplanMeier::of_targets(&known(&TIES), None);
        assert_eq!(estimate.times, [2.0, 3.0, 5.0, 8.0, 12.0, 15.0]);
        let expected = [
            0.916_666_666_666_666_7,
            0.833_333_333_333_333_5,
            0.740_740_740_740_740_6,
            0.493_827_160_493_827_1,
            0.329_218_106_995_884_7,
            0.0,
        ];
        close(&estimate.survival, &expected);
        let weights = [1.0, 2.0, 1.0, 1.0, 3.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0];
        let expected = [0.9375, 0.8125, 0.744_791_666_666_666_9, 0.531_994_047_619_047_7, 0.354_662_698_412_698_4, 0.0];
        close(&KaplanMeier::of_targets(&known(&TIES), Some(&weights)).survival, &expected);
        let survival = [1.9, 2.0, 2.5, 8.0, 99.0].map(|time| estimate.beyond(time));
        close(&survival, &[1.0, 0.916_666_666_666_666_7, 0.916_666_666_666_666_7, 0.493_827_160_493_827_1, 0.0]);
        assert_eq!((estimate.from(2.0), estimate.from(15.0)), (1.0, estimate.beyond(14.0)));
    }

    #[test]
    fn scikit_survival_gives_the_same_survival_of_limits() {
        // scikit-survival 0.28: CensoringDistributionEstimator().fit(y), unique_time_ and prob_ where it falls.
        let estimate = KaplanMeier::of_limits(&known(&TIES), None);
        assert_eq!(estimate.times, [3.0, 5.0, 7.0, 11.0, 14.0]);
        close(&estimate.survival, &[0.9, 0.7875, 0.675, 0.50625, 0.253125]);
    }

    #[test]
    fn without_censoring_it_is_the_fraction_of_larger_targets() {
        let y = [3.0, 1.0, 2.0, 2.0];
        let known = CensoredTargets { lower: y.to_vec(), upper: y.to_vec() };
        let estimate = KaplanMeier::of_targets(&known, None);
        close(&[0.0, 1.0, 2.0, 3.0].map(|time| estimate.beyond(time)), &[1.0, 0.75, 0.25, 0.0]);
        assert!(KaplanMeier::of_limits(&known, None).times.is_empty());
    }
}
