//! The integrated Brier score of targets that may be censored.

use super::KaplanMeier;
use crate::CensoredTargets;
use crate::weights::weight_of;
use crate::{Error, Result};
use rayon::prelude::*;

/// Places at which the score of all rows is looked at.
const PLACES: usize = 100;
/// The last of them has so much of the rows before it: beyond, few rows are left and each would count as many.
const LAST: f64 = 0.9;

/// Where predictions of these rows are looked at where nobody says it: 100 places at equal distances, from the smallest number to
/// the one that nine tenths of the rows do not exceed. None where these are the same, or where no row counts.
pub fn brier_places(known: &CensoredTargets, weights: Option<&[f64]>) -> Option<Vec<f64>> {
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
    let place = |number: usize| first + (last - first) * (number as f64 / (PLACES - 1) as f64);
    (first < last).then(|| (0..PLACES).map(place).collect())
}

/// The integrated Brier score (Graf and others, 1999): the mean over `places`, by the trapezoidal rule, of
///
/// ```text
/// mean over rows of  P(Y > t)² / G(y-)    where the target y is known and at most t
///                    P(Y <= t)² / G(t)    where the target is known to be larger than t
///                    0                    where nothing is known at t
/// ```
///
/// G is the Kaplan-Meier estimate of the share of limits beyond t, of the same rows: rows that are still seen stand for those that
/// are not, and the score is proper where limits do not depend on targets. `survival` is P(Y > t) of a row at the place of a number.
///
/// # Errors
/// When the places are fewer than two or do not ascend, a row has an interval with two ends, whose limit is not known, or
/// no row counts.
///
/// # Panics
/// When there is not one weight for each row.
pub fn integrated_brier(
    known: &CensoredTargets,
    weights: Option<&[f64]>,
    places: &[f64],
    survival: impl Fn(usize, usize) -> f64 + Sync,
) -> Result<f64> {
    let ascend = places.len() > 1 && places.windows(2).all(|pair| pair[0] < pair[1]);
    if !(ascend && places.iter().all(|place| place.is_finite())) {
        return Err(Error::options("expected at least 2 places of the Brier score, in ascending order"));
    }
    if let Some(row) = known.first_interval() {
        let message = "the Brier score is of targets that are known or right-censored, found an interval with two ends";
        return Err(Error::data(message).at_row(row as u64));
    }
    let limits = KaplanMeier::of_limits(known, weights);
    let still_seen: Vec<f64> = places.iter().map(|place| limits.beyond(*place)).collect();
    let half_gap = |number: usize| {
        let (before, after) = (number.saturating_sub(1), (number + 1).min(places.len() - 1));
        0.5 * (places[after] - places[before])
    };
    let of_row = |row: usize| {
        let (y, at_target) = (known.lower[row], limits.from(known.lower[row]));
        let at = |number: usize| {
            let (error, seen) = match places[number] {
                place if y > place => (1.0 - survival(row, number), still_seen[number]),
                _ if known.is_value(row) => (survival(row, number), at_target),
                _ => return 0.0,
            };
            half_gap(number) * error * error / seen
        };
        (0..places.len()).map(at).sum::<f64>()
    };
    let weight = |row: usize| weight_of(weights, row);
    let rows = 0..known.lower.len();
    // A row without weight may be seen where G is 0.
    let each = |row: usize| if weight(row) > 0.0 { weight(row) * of_row(row) } else { 0.0 };
    let scores: Vec<f64> = rows.clone().into_par_iter().map(each).collect();
    let total: f64 = rows.map(weight).sum();
    if total <= 0.0 {
        return Err(Error::data("expected at least 1 row that counts, found none"));
    }
    Ok(scores.iter().sum::<f64>() / total / (places[places.len() - 1] - places[0]))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{APART, MEANS, known, predictions};
    use super::*;
    use crate::Distribution;

    fn score(known: &CensoredTargets, weights: Option<&[f64]>, places: &[f64]) -> f64 {
        let laws = predictions();
        integrated_brier(known, weights, places, |row, number| laws.row(row).survival(places[number])).unwrap()
    }

    #[test]
    fn scikit_survival_has_the_same_score() {
        // scikit-survival 0.28: integrated_brier_score(y, y, survival, times), survival by scipy's norm.sf.
        let places = [2.5, 4.0, 6.0, 9.0, 13.0];
        let found = score(&known(&APART), None, &places);
        assert!((found - 0.089_375_585_210_387_58).abs() < 1e-14, "{found}");
    }

    #[test]
    fn without_censoring_it_is_a_part_of_the_crps() {
        // The integral of the Brier score over the whole line is the CRPS; targets lie half way between places.
        let lower = MEANS.map(|mean| mean + 1.0).to_vec();
        let known = CensoredTargets { upper: lower.clone(), lower };
        let places: Vec<f64> = (0..=8000).map(|place| -20.005 + f64::from(place) / 100.0).collect();
        let crps = predictions().crps(&known.lower).unwrap();
        let expected = crps.iter().sum::<f64>() / crps.len() as f64;
        let found = 80.0 * score(&known, None, &places);
        assert!((found - expected).abs() < 1e-3 * expected, "{found} {expected}");
    }

    #[test]
    fn a_weight_counts_as_so_many_rows() {
        let known = known(&APART);
        let weights = [2.0, 1.0, 1.0, 0.0, 1.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0];
        let rows: Vec<usize> = (0..12).flat_map(|row| vec![row; weights[row] as usize]).collect();
        let repeated = known.select(&rows);
        let places = brier_places(&repeated, None).unwrap();
        assert_eq!(brier_places(&known, Some(&weights)).unwrap(), places);
        let laws = predictions().select(&rows);
        let expected =
            integrated_brier(&repeated, None, &places, |row, at| laws.row(row).survival(places[at])).unwrap();
        assert!((score(&known, Some(&weights), &places) - expected).abs() < 1e-14);
    }

    #[test]
    fn places_reach_to_nine_tenths() {
        let places = brier_places(&known(&APART), None).unwrap();
        assert_eq!((places.len(), places[0], places[99]), (100, 2.0, 14.0));
        let same = CensoredTargets { lower: vec![3.0; 4], upper: vec![3.0; 4] };
        assert_eq!(brier_places(&same, None), None);
        assert_eq!(brier_places(&known(&APART), Some(&[0.0; 12])), None);
    }

    #[test]
    fn what_has_no_score_is_refused() {
        let refused = |known: &CensoredTargets, weights: Option<&[f64]>, places: &[f64]| {
            integrated_brier(known, weights, places, |_, _| 0.5).unwrap_err().to_string()
        };
        assert!(refused(&known(&APART), None, &[1.0]).contains("at least 2 places"));
        assert!(refused(&known(&APART), None, &[2.0, 1.0]).contains("ascending"));
        let interval = CensoredTargets { lower: vec![1.0, 2.0], upper: vec![1.0, 3.0] };
        assert!(refused(&interval, None, &[1.0, 2.0]).starts_with("row 2: the Brier score"));
        assert!(refused(&known(&APART), Some(&[0.0; 12]), &[1.0, 2.0]).contains("found none"));
    }
}
