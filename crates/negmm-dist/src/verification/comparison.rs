//! A test of equal predictive accuracy in the manner of Diebold and Mariano (1995), robust to autocorrelation.

use std::f64::consts::PI;

use crate::Family;
use crate::distribution::Distribution;

/// The number of cosine terms is this times n^(2/3) (Lazarus, Lewis, Stock and Watson, 2018).
const TERMS: f64 = 0.4;

/// The outcome of [`equal_accuracy`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EqualAccuracy {
    /// Mean difference of the scores, first minus second: negative where the first is better.
    pub difference: f64,
    /// Its standard error.
    pub se: f64,
    /// Degrees of freedom of the t distribution that it is compared with.
    pub df: f64,
    /// The probability of a difference at least as large, in either direction, if both are equally accurate.
    pub p_value: f64,
    /// Number of rows.
    pub rows: usize,
}

/// Tests whether the mean of `differences` of scores is 0.
///
/// Independent rows: the paired t test. In time order (`ordered`) scores may be autocorrelated: the long-run variance is
/// estimated by B = 0.4 n^(2/3) cosine-weighted averages of the differences, and the statistic has t's distribution with B degrees
/// of freedom (the equal-weighted cosine estimator of Lazarus et al., 2018, which keeps its level better than Newey and West's).
/// `None` for fewer than 8 rows.
pub fn equal_accuracy(differences: &[f64], weights: Option<&[f64]>, ordered: bool) -> Option<EqualAccuracy> {
    let rows = differences.len();
    if rows < 8 {
        return None;
    }
    let n = rows as f64;
    let total: f64 = weights.map_or(n, |weights| weights.iter().sum());
    if total <= 0.0 {
        return None;
    }
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]) * n / total;
    let difference = differences.iter().enumerate().map(|(row, own)| weight(row) * own).sum::<f64>() / n;
    let residual = |row: usize| weight(row) * (differences[row] - difference);
    let (long_run, df) = if ordered {
        let terms = (TERMS * libm::pow(n, 2.0 / 3.0)).floor().max(1.0);
        let square = |term: usize| {
            let angle = PI * (term + 1) as f64 / n;
            let sum: f64 = (0..rows).map(|row| residual(row) * libm::cos(angle * (row as f64 + 0.5))).sum();
            2.0 / n * sum * sum
        };
        ((0..terms as usize).map(square).sum::<f64>() / terms, terms)
    } else {
        ((0..rows).map(|row| residual(row) * residual(row)).sum::<f64>() / (n - 1.0), n - 1.0)
    };
    let se = (long_run / n).sqrt();
    let p_value = if se > 0.0 {
        let t = Family::named("student_t", &[("df", df.max(1.0 + 1e-9))]).ok()?;
        (2.0 * t.survival((difference / se).abs())).min(1.0)
    } else {
        f64::from(u8::from(difference == 0.0))
    };
    Some(EqualAccuracy { difference, se, df, p_value, rows })
}
