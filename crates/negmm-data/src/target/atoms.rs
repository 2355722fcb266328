//! Detection of atoms: values that many rows of an otherwise continuous target have, such as zeros or a cap.

use serde::{Deserialize, Serialize};

use super::moments::mean_and_sd;
use negmm_dist::weights::weight_of;

/// Atoms at most, the most frequent.
const MOST: usize = 4;
/// Minimum number of rows of an atom, and its minimum fraction of all rows: smaller at an end of the range, where zeros and
/// caps are.
const LEAST_ROWS: usize = 20;
const FRACTION: f64 = 0.1;
const FRACTION_AT_AN_END: f64 = 0.03;

/// Values with a point probability, and the moments of the other training targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Atoms {
    /// The values, in order.
    pub values: Vec<f64>,
    /// The fraction of the training rows that have each value.
    #[serde(rename = "shares")]
    pub probabilities: Vec<f64>,
    /// Mean of the other targets.
    pub mean: f64,
    /// Their standard deviation (of the population); a small positive number where they are all the same.
    pub sd: f64,
}

impl Atoms {
    /// The most atoms that a target has.
    pub const MOST: usize = MOST;

    /// Learns from the targets and their weights; `None` where there are no atoms.
    pub(crate) fn learn(targets: &[f64], weights: Option<&[f64]>) -> Option<Self> {
        let counting = (0..targets.len()).filter(|row| weight_of(weights, *row) > 0.0);
        let values = atoms(counting.clone().map(|row| targets[row]).collect());
        if values.is_empty() {
            return None;
        }
        let total: f64 = counting.clone().map(|row| weight_of(weights, row)).sum();
        let probability = |value: &f64| {
            let at = counting.clone().filter(|row| targets[*row] == *value);
            at.map(|row| weight_of(weights, row)).sum::<f64>() / total
        };
        let others: Vec<usize> = counting.clone().filter(|row| !values.contains(&targets[*row])).collect();
        let list: Vec<f64> = others.iter().map(|row| targets[*row]).collect();
        let own: Vec<f64> = others.iter().map(|row| weight_of(weights, *row)).collect();
        let (mean, sd) = mean_and_sd(&list, Some(&own))?;
        let sd = sd.max(f64::EPSILON * mean.abs()).max(f64::MIN_POSITIVE);
        Some(Self { probabilities: values.iter().map(probability).collect(), values, mean, sd })
    }

    /// Whether the values are possible, for atoms from a file.
    pub(crate) fn is_sound(&self) -> bool {
        let Self { values, probabilities, mean, sd } = self;
        let finite = values.iter().chain(probabilities).chain([mean, sd]).all(|number| number.is_finite());
        let total: f64 = probabilities.iter().sum();
        finite
            && (1..=MOST).contains(&values.len())
            && values.len() == probabilities.len()
            && values.is_sorted_by(|a, b| a < b)
            && probabilities.iter().all(|probability| *probability > 0.0)
            && total < 1.0
            && *sd > 0.0
    }
}

/// The atoms among targets that are not discrete, in order.
fn atoms(mut targets: Vec<f64>) -> Vec<f64> {
    let rows = targets.len();
    targets.sort_unstable_by(f64::total_cmp);
    // Both zeros are one value.
    let runs: Vec<&[f64]> = targets.chunk_by(|a, b| a == b).collect();
    let last = runs.len().saturating_sub(1);
    if last == 0 {
        return Vec::new();
    }
    let among = |at: usize| {
        let fraction = if at == 0 || at == last { FRACTION_AT_AN_END } else { FRACTION };
        runs[at].len() >= LEAST_ROWS && runs[at].len() as f64 >= fraction * rows as f64
    };
    let mut found: Vec<usize> = (0..runs.len()).filter(|at| among(*at)).collect();
    found.sort_by_key(|at| std::cmp::Reverse(runs[*at].len()));
    found.truncate(MOST);
    found.sort_unstable();
    // A zero is written without a sign.
    found.into_iter().map(|at| runs[at][0] + 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_caps_are_atoms() {
        let mut targets: Vec<f64> = (1..=900).map(|value| f64::from(value) * 0.37).collect();
        assert!(atoms(targets.clone()).is_empty());
        targets.extend([0.0; 60]);
        targets.extend([-0.0; 10]);
        targets.extend([400.0; 60]);
        assert_eq!(atoms(targets.clone()), [0.0, 400.0]);
        assert!(atoms(targets.clone())[0].is_sign_positive());
        // In the middle it takes more.
        targets.extend([100.1; 60]);
        assert_eq!(atoms(targets.clone()), [0.0, 400.0]);
        targets.extend([100.1; 60]);
        assert_eq!(atoms(targets), [0.0, 100.1, 400.0]);
    }

    #[test]
    fn the_others_have_a_mean_and_sd_of_their_own() {
        let mut targets: Vec<f64> = vec![0.0; 30];
        targets.extend((0..60).map(|row| 10.0 + f64::from(row % 2) + 1e-9 * f64::from(row)));
        targets.push(99.0);
        let mut weights = vec![1.0; 91];
        weights[90] = 0.0;
        let atoms = Atoms::learn(&targets, Some(&weights)).unwrap();
        assert_eq!((&atoms.values[..], &atoms.probabilities[..]), (&[0.0][..], &[1.0 / 3.0][..]));
        assert!((atoms.mean - 10.5).abs() < 1e-6 && (atoms.sd - 0.5).abs() < 1e-6 && atoms.is_sound());
        assert!(!Atoms { probabilities: vec![1.0], ..atoms }.is_sound());
    }

    #[test]
    fn few_rows_and_constants_have_none() {
        assert!(atoms(vec![]).is_empty());
        assert!(atoms(vec![3.0; 100]).is_empty());
        let mut few: Vec<f64> = (1..=30).map(f64::from).collect();
        few.extend([0.0; 19]);
        assert!(atoms(few).is_empty());
    }
}
