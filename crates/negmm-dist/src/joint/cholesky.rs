//! Cholesky factors of small covariance matrices, packed: row i has its entries 0 to i.
//!
//! A target whose variance is 0 is an atom: its row of the factor is zero. Every other pivot is positive.

/// Smallest pivot of a target, as a fraction of its variance: targets that determine each other still have a density.
const LEAST_PIVOT: f64 = 1e-12;

/// Entries of a packed factor of `size` rows.
pub(crate) const fn packed(size: usize) -> usize {
    size * (size + 1) / 2
}

/// The index of entry (`row`, `column`) of a packed factor, with `column` up to `row`.
#[inline]
pub(crate) const fn at(row: usize, column: usize) -> usize {
    packed(row) + column
}

/// The packed L with L Lᵀ = `covariance` (size × size; only its lower triangle is read).
pub(crate) fn factorise(covariance: &[f64], size: usize) -> Vec<f64> {
    let mut factor = vec![0.0; packed(size)];
    for row in 0..size {
        let variance = covariance[row * size + row];
        if variance <= 0.0 {
            continue;
        }
        for column in 0..row {
            let pivot = factor[at(column, column)];
            if pivot > 0.0 {
                let inner: f64 = (0..column).map(|k| factor[at(row, k)] * factor[at(column, k)]).sum();
                factor[at(row, column)] = (covariance[row * size + column] - inner) / pivot;
            }
        }
        let explained: f64 = (0..row).map(|k| factor[at(row, k)] * factor[at(row, k)]).sum();
        factor[at(row, row)] = (variance - explained).max(LEAST_PIVOT * variance).sqrt();
    }
    factor
}

/// `covariance` = L Lᵀ, size × size.
pub(crate) fn covariance(factor: &[f64], size: usize) -> Vec<f64> {
    let mut covariance = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..=row {
            let entry: f64 = (0..=column).map(|k| factor[at(row, k)] * factor[at(column, k)]).sum();
            covariance[row * size + column] = entry;
            covariance[column * size + row] = entry;
        }
    }
    covariance
}

/// Solves L z = `vector` in place; 0 where the pivot is 0.
pub(crate) fn solve_lower(factor: &[f64], vector: &mut [f64]) {
    for row in 0..vector.len() {
        let inner: f64 = (0..row).map(|k| factor[at(row, k)] * vector[k]).sum();
        let pivot = factor[at(row, row)];
        vector[row] = if pivot > 0.0 { (vector[row] - inner) / pivot } else { 0.0 };
    }
}

/// Solves Lᵀ a = `vector` in place; 0 where the pivot is 0.
pub(crate) fn solve_upper(factor: &[f64], vector: &mut [f64]) {
    let size = vector.len();
    for row in (0..size).rev() {
        let inner: f64 = (row + 1..size).map(|k| factor[at(k, row)] * vector[k]).sum();
        let pivot = factor[at(row, row)];
        vector[row] = if pivot > 0.0 { (vector[row] - inner) / pivot } else { 0.0 };
    }
}

/// |Lᵀ u|: the sd of u·Y.
pub(crate) fn projected_sd(factor: &[f64], direction: &[f64]) -> f64 {
    let size = direction.len();
    let entry = |column: usize| (column..size).map(|row| factor[at(row, column)] * direction[row]).sum::<f64>();
    (0..size).map(|column| entry(column) * entry(column)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_gives_its_covariance_back() {
        let matrix = [4.0, 2.0, 0.4, 2.0, 3.0, -0.5, 0.4, -0.5, 1.0];
        let factor = factorise(&matrix, 3);
        let again = covariance(&factor, 3);
        assert!(matrix.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-14));
        let (mut z, x) = (vec![1.0, -2.0, 0.5], [1.0, -2.0, 0.5]);
        solve_lower(&factor, &mut z);
        solve_upper(&factor, &mut z);
        let product = |row: usize| (0..3).map(|column| matrix[row * 3 + column] * z[column]).sum::<f64>();
        assert!((0..3).all(|row| (product(row) - x[row]).abs() < 1e-13));
        assert!((projected_sd(&factor, &[1.0, 1.0, 0.0]) - 11f64.sqrt()).abs() < 1e-14);
    }

    #[test]
    fn dependent_targets_have_a_density_and_atoms_have_none() {
        let dependent = factorise(&[1.0, 1.0, 1.0, 1.0], 2);
        assert!(dependent[2] > 0.0 && dependent[2] < 1e-5);
        assert_eq!(factorise(&[1.0, 0.0, 0.0, 0.0], 2), [1.0, 0.0, 0.0]);
    }
}
