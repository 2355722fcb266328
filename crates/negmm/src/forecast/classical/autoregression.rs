//! Autoregressions with few lags, by ridge regression on the history and forecast recursively.

/// Rows beyond the longest lag: so many for each coefficient, and so many more.
const ROWS_PER_LAG: usize = 2;
const MORE_ROWS: usize = 4;

/// A fitted autoregression.
#[derive(Clone, Debug)]
pub(super) struct Autoregression {
    /// Forecasts of the steps ahead.
    pub(super) path: Vec<f64>,
    /// Akaike's information criterion per row, corrected for few rows.
    aicc: f64,
}

/// The autoregression among these sets of lags with the lowest criterion; `None` for a history that is too short.
pub(super) fn autoregression(
    history: &[f64],
    sets: &[Vec<usize>],
    horizon: usize,
    ridge: f64,
) -> Option<Autoregression> {
    let fitted = sets.iter().filter_map(|lags| fit(history, lags, horizon, ridge));
    fitted.min_by(|a, b| a.aicc.total_cmp(&b.aicc))
}

fn fit(history: &[f64], lags: &[usize], horizon: usize, ridge: f64) -> Option<Autoregression> {
    let longest = *lags.iter().max()?;
    if history.len() < longest + ROWS_PER_LAG * lags.len() + MORE_ROWS {
        return None;
    }
    let mean = history.iter().sum::<f64>() / history.len() as f64;
    let mut centred: Vec<f64> = history.iter().map(|value| value - mean).collect();
    let size = lags.len() + 1;
    let (mut matrix, mut products, mut row) = (vec![0.0; size * size], vec![0.0; size], vec![1.0; size]);
    for step in longest..centred.len() {
        for (cell, lag) in row[1..].iter_mut().zip(lags) {
            *cell = centred[step - lag];
        }
        for i in 0..size {
            products[i] += row[i] * centred[step];
            for j in 0..=i {
                matrix[i * size + j] += row[i] * row[j];
            }
        }
    }
    for i in 1..size {
        matrix[i * size + i] = matrix[i * size + i] * (1.0 + ridge) + f64::MIN_POSITIVE;
    }
    let coefficients = solve(matrix, products);
    let forecast = |past: &[f64], step: usize| {
        let terms = coefficients[1..].iter().zip(lags).map(|(coefficient, lag)| coefficient * past[step - lag]);
        coefficients[0] + terms.sum::<f64>()
    };
    let errors = (longest..centred.len()).map(|step| centred[step] - forecast(&centred, step));
    let squares: f64 = errors.map(|error| error * error).sum();
    let rows = (centred.len() - longest) as f64;
    let spare = (rows - size as f64 - 1.0).max(1.0);
    let aicc = libm::log((squares / rows).max(f64::MIN_POSITIVE)) + 2.0 * size as f64 / spare;
    for step in history.len()..history.len() + horizon {
        centred.push(forecast(&centred, step));
    }
    Some(Autoregression { path: centred[history.len()..].iter().map(|value| value + mean).collect(), aicc })
}

/// The solution of a symmetric positive definite system, given by its lower triangle, by Cholesky's method.
fn solve(mut matrix: Vec<f64>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for column in 0..size {
        for before in 0..column {
            let factor = matrix[column * size + before];
            for row in column..size {
                matrix[row * size + column] -= factor * matrix[row * size + before];
            }
        }
        let diagonal = matrix[column * size + column].max(f64::MIN_POSITIVE).sqrt();
        for row in column..size {
            matrix[row * size + column] /= diagonal;
        }
    }
    for row in 0..size {
        for before in 0..row {
            right[row] -= matrix[row * size + before] * right[before];
        }
        right[row] /= matrix[row * size + row];
    }
    for row in (0..size).rev() {
        for after in row + 1..size {
            right[row] -= matrix[after * size + row] * right[after];
        }
        right[row] /= matrix[row * size + row];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved() {
        // [[4, 2], [2, 3]] x = [10, 9] has the solution [1.5, 2].
        let found = solve(vec![4.0, 0.0, 2.0, 3.0], vec![10.0, 9.0]);
        assert!((found[0] - 1.5).abs() < 1e-12 && (found[1] - 2.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn the_lags_of_a_process_are_found() {
        // A sum of two waves satisfies a recursion over four steps.
        let wave = |step: usize| (0.7 * step as f64).sin() + 0.5 * (1.9 * step as f64).cos();
        let values: Vec<f64> = (0..80).map(wave).collect();
        let sets = [vec![1], vec![1, 2], vec![1, 2, 3, 4]];
        let found = autoregression(&values, &sets, 5, 1e-9).unwrap();
        for (ahead, value) in found.path.iter().enumerate() {
            assert!((value - wave(80 + ahead)).abs() < 1e-3, "{ahead}: {value}");
        }
        assert!(autoregression(&values[..5], &sets, 5, 0.0).is_none());
    }
}
