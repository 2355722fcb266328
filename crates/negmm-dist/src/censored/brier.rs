//! The integrated Brier score of targets that may be censored.

use super::KaplanMeier;
use crate::CensoredTargets;
use crate::weights::weight_of;
use crate::{Error, Result};
use rayon::prelude::*;

/// The number of times at which the score is evaluated.
const TIMES: usize = 100;
/// The fraction of the rows up to the last time: beyond it, few rows are left and each would have a large weight.
const LAST: f64 = 0.9;

/// The default times of the Brier score: 100 at equal distances, from the smallest value to the 0.9 quantile of the rows. `None` if
/// these are equal, or if all weights are 0.
pub fn brier_times(known: &CensoredTargets, weights: Option<&[f64]>) -> Option<Vec<f64>> {
    let weight = |row: &usize| weight_of(weights, *row);
    let mut rows: Vec<usize> = (0..known.lower.len()).filter(|row| weight(row) > 0.0).collect();
    rows.sort_by(|a, b| known.lower[*a].total_cmp(&known.lower[*b]));
    let total: f64 = rows.iter().map(weight).sum();
    let mut before = 0.0;
    let reaches = |row: &&usize| {
        before += weight(row);
        before >= LAST * total
    };
    let last = known.lower[*rows.iter().find(reaches)?];
    let first = known.lower[rows[0]];
    let time = |number: usize| first + (last - first) * (number as f64 / (TIMES - 1) as f64);
    (first < last).then(|| (0..TIMES).map(time).collect())
}

/// The integrated Brier score (Graf et al., 1999): the mean over `times`, by the trapezoidal rule, of
///
/// ```text
/// mean over rows of  P(Y > t)² / G(y-)    where the target y is known and at most t
///                    P(Y <= t)² / G(t)    where the target is known to be larger than t
///                    0                    where nothing is known at t
/// ```
///
/// G is the Kaplan-Meier estimate of the survival function of the censoring limits of the same rows (inverse probability of censoring
/// weights). The score is proper if limits do not depend on targets. `survival(row, number)` is P(Y > t) of a row at the time with this
/// index.
///
/// # Errors
/// When there are fewer than two times or they do not ascend, a row has an interval with two finite ends, whose limit is unknown,
/// or all weights are 0.
///
/// # Panics
/// When there is not one weight for each row.
pub fn integrated_brier(
    known: &CensoredTargets,
    weights: Option<&[f64]>,
    times: &[f64],
    survival: impl Fn(usize, usize) -> f64 + Sync,
) -> Result<f64> {
    let ascend = times.len() > 1 && times.windows(2).all(|pair| pair[0] < pair[1]);
    if !(ascend && times.iter().all(|time| time.is_finite())) {
        return Err(Error::options("expected at least 2 times for the Brier score, in ascending order"));
    }
    if let Some(row) = known.first_interval() {
        let what = if known.lower[row].is_finite() { "an interval with two ends" } else { "a left-censored one" };
        let message = format!("the Brier score needs observed or right-censored targets, found {what}");
        return Err(Error::data(message).at_row(row as u64));
    }
    let limits = KaplanMeier::of_limits(known, weights);
    let uncensored: Vec<f64> = times.iter().map(|time| limits.beyond(*time)).collect();
    let half_gap = |number: usize| {
        let (before, after) = (number.saturating_sub(1), (number + 1).min(times.len() - 1));
        0.5 * (times[after] - times[before])
    };
    let of_row = |row: usize| {
        let (y, at_target) = (known.lower[row], limits.from(known.lower[row]));
        let at = |number: usize| {
            let (error, weight_seen) = match times[number] {
                time if y > time => (1.0 - survival(row, number), uncensored[number]),
                _ if known.is_value(row) => (survival(row, number), at_target),
                _ => return 0.0,
            };
            half_gap(number) * error * error / weight_seen
        };
        (0..times.len()).map(at).sum::<f64>()
    };
    let weight = |row: usize| weight_of(weights, row);
    let rows = 0..known.lower.len();
    // G may be 0 at a row of weight 0.
    let each = |row: usize| if weight(row) > 0.0 { weight(row) * of_row(row) } else { 0.0 };
    let scores: Vec<f64> = rows.clone().into_par_iter().map(each).collect();
    let total: f64 = rows.map(weight).sum();
    if total <= 0.0 {
        return Err(Error::data("expected at least 1 row that counts, found none"));
    }
    Ok(scores.iter().sum::<f64>() / total / (times[times.len() - 1] - times[0]))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{APART, MEANS, known, predictions};
    use super::*;
    use crate::Distribution;

    fn score(known: &CensoredTargets, weights: Option<&[f64]>, times: &[f64]) -> f64 {
        let predicted = predictions();
        integrated_brier(known, weights, times, |row, number| predicted.row(row).survival(times[number])).unwrap()
    }

    #[test]
    fn scikit_survival_has_the_same_score() {
        // scikit-survival 0.28: integrated_brier_score(y, y, survival, times), survival by scipy's norm.sf.
        let times = [2.5, 4.0, 6.0, 9.0, 13.0];
        let found = score(&known(&APART), None, &times);
        assert!((found - 0.089_375_585_210_387_58).abs() < 1e-14, "{found}");
    }

    #[test]
    fn without_censoring_it_is_a_part_of_the_crps() {
        // The integral of the Brier score over all numbers is the CRPS; targets lie half way between times.
        let lower = MEANS.map(|mean| mean + 1.0).to_vec();
        let known = CensoredTargets { upper: lower.clone(), lower };
        let times: Vec<f64> = (0..=8000).map(|time| -20.005 + f64::from(time) / 100.0).collect();
        let crps = predictions().crps(&known.lower).unwrap();
        let expected = crps.iter().sum::<f64>() / crps.len() as f64;
        let found = 80.0 * score(&known, None, &times);
        assert!((found - expected).abs() < 1e-3 * expected, "{found} {expected}");
    }

    #[test]
    fn an_integer_weight_counts_as_repeated_rows() {
        let known = known(&APART);
        let weights = [2.0, 1.0, 1.0, 0.0, 1.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0];
        let rows: Vec<usize> = (0..12).flat_map(|row| vec![row; weights[row] as usize]).collect();
        let repeated = known.select(&rows);
        let times = brier_times(&repeated, None).unwrap();
        assert_eq!(brier_times(&known, Some(&weights)).unwrap(), times);
        let predicted = predictions().select(&rows);
        let expected =
            integrated_brier(&repeated, None, &times, |row, at| predicted.row(row).survival(times[at])).unwrap();
        assert!((score(&known, Some(&weights), &times) - expected).abs() < 1e-14);
    }

    #[test]
    fn the_default_times_end_at_the_quantile_0_9() {
        let times = brier_times(&known(&APART), None).unwrap();
        assert_eq!((times.len(), times[0], times[99]), (100, 2.0, 14.0));
        let same = CensoredTargets { lower: vec![3.0; 4], upper: vec![3.0; 4] };
        assert_eq!(brier_times(&same, None), None);
        assert_eq!(brier_times(&known(&APART), Some(&[0.0; 12])), None);
    }

    #[test]
    fn targets_without_a_score_are_refused() {
        let refused = |known: &CensoredTargets, weights: Option<&[f64]>, times: &[f64]| {
            integrated_brier(known, weights, times, |_, _| 0.5).unwrap_err().to_string()
        };
        assert!(refused(&known(&APART), None, &[1.0]).contains("at least 2 times"));
        assert!(refused(&known(&APART), None, &[2.0, 1.0]).contains("ascending"));
        let interval = CensoredTargets { lower: vec![1.0, 2.0], upper: vec![1.0, 3.0] };
        assert!(refused(&interval, None, &[1.0, 2.0]).starts_with("row 2: the Brier score"));
        assert!(refused(&known(&APART), Some(&[0.0; 12]), &[1.0, 2.0]).contains("found none"));
    }
}
