//! Responsible for seeing atoms: values that many rows of an otherwise continuous target share, such as zeros or a cap.

/// Atoms at most, the most frequent.
const MOST: usize = 4;
/// An atom has at least so many rows, and this share of all: at an end of the targets' range, where zeros and caps lie, less.
const LEAST_ROWS: usize = 20;
const SHARE: f64 = 0.1;
const SHARE_AT_AN_END: f64 = 0.03;

/// The atoms among targets that are not discrete, in order.
pub(super) fn atoms(mut targets: Vec<f64>) -> Vec<f64> {
    let rows = targets.len();
    targets.sort_unstable_by(f64::total_cmp);
    // Both zeros are one value.
    let runs: Vec<&[f64]> = targets.chunk_by(|a, b| a == b).collect();
    let last = runs.len().saturating_sub(1);
    if last == 0 {
        return Vec::new();
    }
    let among = |at: usize| {
        let share = if at == 0 || at == last { SHARE_AT_AN_END } else { SHARE };
        runs[at].len() >= LEAST_ROWS && runs[at].len() as f64 >= share * rows as f64
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
        targets.extend([400.0; 30]);
        assert_eq!(atoms(targets.clone()), [0.0, 400.0]);
        assert!(atoms(targets.clone())[0].is_sign_positive());
        // In the middle it takes more.
        targets.extend([100.1; 60]);
        assert_eq!(atoms(targets.clone()), [0.0, 400.0]);
        targets.extend([100.1; 60]);
        assert_eq!(atoms(targets), [0.0, 100.1, 400.0]);
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
