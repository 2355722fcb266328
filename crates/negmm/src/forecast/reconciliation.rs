//! MinT: means of all series and sums, reconciled with minimum trace of the covariance of errors (Wickramasuriya,
//! Athanasopoulos and Hyndman 2019), with a covariance that is shrunk towards its diagonal (Schäfer and Strimmer 2005).
//!
//! With the summing matrix S and the covariance W of the errors of the forecasts,
//!
//! ```text
//! P = (Sᵀ W⁻¹ S)⁻¹ Sᵀ W⁻¹,    reconciled means = S P means
//! ```

use serde::{Deserialize, Serialize};

use super::Series;

/// Series and sums at most: the matrices are dense.
const MOST_SERIES: usize = 400;
/// Errors at least.
const LEAST_ERRORS: usize = 8;
/// Smallest variance, relative to the largest.
const LEAST_VARIANCE: f64 = 1e-10;

/// The matrix P, and the names of what its columns belong to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Reconciliation {
    names: Vec<String>,
    /// Series × series and sums.
    matrix: Vec<f64>,
}

impl Reconciliation {
    /// From held-out errors: `groups` has the rows of each series at the steps of an origin. `None` with too few errors,
    /// or too many series.
    pub(super) fn fit<'a>(
        groups: impl Iterator<Item = &'a [Vec<usize>]>,
        means: &[f64],
        y: &[f64],
        series: &[&Series],
    ) -> Option<Self> {
        let all = series.len();
        if all > MOST_SERIES {
            return None;
        }
        let mut errors: Vec<Vec<f64>> = Vec::new();
        for rows in groups {
            for at in 0..rows[0].len() {
                let error = rows.iter().map(|rows| y[rows[at]] - means[rows[at]]).collect::<Vec<f64>>();
                if error.iter().all(|error| error.is_finite()) {
                    errors.push(error);
                }
            }
        }
        if errors.len() < LEAST_ERRORS {
            return None;
        }
        let covariance = shrunk_covariance(&errors, all);
        let parts: Vec<usize> = (0..all).filter(|number| series[*number].parts.is_empty()).collect();
        let mut summing = vec![0.0; all * parts.len()];
        for (number, one) in series.iter().enumerate() {
            for (column, part) in parts.iter().enumerate() {
                if number == *part || one.parts.contains(part) {
                    summing[number * parts.len() + column] = 1.0;
                }
            }
        }
        // W⁻¹ S by columns, then P by the normal equations.
        let factor = cholesky(covariance, all)?;
        let mut weighted = vec![0.0; all * parts.len()];
        for column in 0..parts.len() {
            let mut right: Vec<f64> = (0..all).map(|row| summing[row * parts.len() + column]).collect();
            solve(&factor, &mut right);
            (0..all).for_each(|row| weighted[row * parts.len() + column] = right[row]);
        }
        let size = parts.len();
        let mut normal = vec![0.0; size * size];
        for row in 0..all {
            for i in (0..size).filter(|i| summing[row * size + i] != 0.0) {
                for j in 0..size {
                    normal[i * size + j] += weighted[row * size + j];
                }
            }
        }
        let normal = cholesky(normal, size)?;
        let mut matrix = vec![0.0; size * all];
        for column in 0..all {
            let mut right = weighted[column * size..][..size].to_vec();
            solve(&normal, &mut right);
            (0..size).for_each(|row| matrix[row * all + column] = right[row]);
        }
        let names = series.iter().map(|series| series.name.clone()).collect();
        matrix.iter().all(|number| number.is_finite()).then_some(Self { names, matrix })
    }

    /// Whether it was fitted to series and sums of these names.
    pub(super) fn is_of(&self, series: &[&Series]) -> bool {
        self.names.iter().eq(series.iter().map(|series| &series.name))
    }

    /// Whether the parameters are valid.
    pub(super) fn is_sound(&self) -> bool {
        !self.names.is_empty()
            && self.matrix.len().is_multiple_of(self.names.len())
            && self.matrix.iter().all(|number| number.is_finite())
    }

    /// The reconciled means of the series.
    pub(super) fn of(&self, means: &[f64]) -> Vec<f64> {
        let row = |row: &[f64]| row.iter().zip(means).map(|(weight, mean)| weight * mean).sum();
        self.matrix.chunks_exact(means.len()).map(row).collect()
    }
}

/// The covariance of errors around 0, its correlations shrunk.
fn shrunk_covariance(errors: &[Vec<f64>], size: usize) -> Vec<f64> {
    let count = errors.len() as f64;
    let mut variances: Vec<f64> =
        (0..size).map(|i| errors.iter().map(|error| error[i] * error[i]).sum::<f64>() / count).collect();
    let largest = variances.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    variances.iter_mut().for_each(|variance| *variance = variance.max(LEAST_VARIANCE * largest));
    let scaled: Vec<Vec<f64>> = errors
        .iter()
        .map(|error| error.iter().zip(&variances).map(|(error, variance)| error / variance.sqrt()).collect())
        .collect();
    let mut correlations = vec![0.0; size * size];
    let (mut noise, mut signal) = (0.0, 0.0);
    for i in 0..size {
        for j in 0..i {
            let products = scaled.iter().map(|error| error[i] * error[j]);
            let (sum, squares) = products.fold((0.0, 0.0), |(sum, squares), p| (sum + p, squares + p * p));
            let mean = sum / count;
            correlations[i * size + j] = mean;
            noise += (squares / count - mean * mean).max(0.0) / (count - 1.0);
            signal += mean * mean;
        }
    }
    let kept = 1.0 - (noise / signal.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    let mut covariance = vec![0.0; size * size];
    for i in 0..size {
        covariance[i * size + i] = variances[i];
        for j in 0..i {
            let own = kept * correlations[i * size + j] * (variances[i] * variances[j]).sqrt();
            covariance[i * size + j] = own;
            covariance[j * size + i] = own;
        }
    }
    // What is exactly a sum of others would make it singular.
    (0..size).for_each(|i| covariance[i * size + i] *= 1.0 + 1e-6);
    covariance
}

/// The lower triangle of Cholesky's factor; `None` where the matrix is not positive definite.
fn cholesky(mut matrix: Vec<f64>, size: usize) -> Option<Vec<f64>> {
    for column in 0..size {
        for row in column..size {
            let (above, below) = (&matrix[column * size..][..column], &matrix[row * size..][..column]);
            let product: f64 = above.iter().zip(below).map(|(a, b)| a * b).sum();
            let value = matrix[row * size + column] - product;
            matrix[row * size + column] = if row == column { value } else { value / matrix[column * size + column] };
            if row == column {
                if value <= 0.0 || value.is_nan() {
                    return None;
                }
                matrix[row * size + column] = value.sqrt();
            }
        }
    }
    Some(matrix)
}

/// Solves the system of a factor.
fn solve(factor: &[f64], right: &mut [f64]) {
    let size = right.len();
    for row in 0..size {
        let sum: f64 = factor[row * size..][..row].iter().zip(&*right).map(|(a, b)| a * b).sum();
        right[row] = (right[row] - sum) / factor[row * size + row];
    }
    for row in (0..size).rev() {
        right[row] /= factor[row * size + row];
        let (before, own) = right.split_at_mut(row);
        before.iter_mut().zip(&factor[row * size..][..row]).for_each(|(value, a)| *value -= a * own[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::math::normal;
    use negmm_dist::math::rng::Rng;

    #[test]
    fn errors_of_sums_are_shared_out_by_their_variances() {
        // Two series with errors of variance 1 and 4, and their sum, forecast separately with a variance of 0.01.
        let sum = Series { name: "sum".into(), parts: vec![1, 2], ..Series::default() };
        let [one, two] = ["one", "two"].map(|name| Series { name: name.into(), ..Series::default() });
        let series = [&sum, &one, &two];
        let mut rng = Rng::new(3, 1);
        let mut draw = |sd: f64| sd * normal::quantile(rng.uniform());
        let count = 20_000;
        let means = vec![0.0; 3 * count];
        let y: Vec<f64> = (0..count).flat_map(|_| [draw(0.1), draw(1.0), draw(2.0)]).collect();
        let groups: Vec<Vec<Vec<usize>>> =
            (0..count).map(|at| vec![vec![3 * at], vec![3 * at + 1], vec![3 * at + 2]]).collect();
        let found = Reconciliation::fit(groups.iter().map(Vec::as_slice), &means, &y, &series).unwrap();
        // A sum of 15 beside 3 and 7: the difference of 5 goes to the series in proportion to their variances.
        let reconciled = found.of(&[15.0, 3.0, 7.0]);
        assert!((reconciled[0] - 4.0).abs() < 0.1 && (reconciled[1] - 11.0).abs() < 0.1, "{reconciled:?}");
        // What is coherent stays.
        let same = found.of(&[10.0, 3.0, 7.0]);
        assert!((same[0] - 3.0).abs() < 1e-6 && (same[1] - 7.0).abs() < 1e-6, "{same:?}");
        assert!(found.is_of(&series) && found.is_sound());
        assert!(Reconciliation::fit([].into_iter(), &means, &y, &series).is_none());
    }
}
