//! Conditional distributions: the other targets when some are known.
//!
//! For each component with blocks g (given) and r (the rest): weight' ∝ weight N(y_g; mean_g, S_gg),
//! mean' = mean_r + S_rg S_gg⁻¹ (y_g - mean_g), covariance' = S_rr - S_rg S_gg⁻¹ S_gr. All of it is exact.

use super::cholesky::{covariance, factorise, packed, solve_lower};
use super::density::log_density;
use super::{JointMixtures, block};
use crate::{Error, Result};

impl JointMixtures {
    /// The joint distribution of the other targets when those of `given` are known; `values` is rows × given.
    ///
    /// # Errors
    /// When a target is given twice or does not exist, all are given, a value is not finite, or a value cannot occur.
    pub fn conditional(&self, given: &[usize], values: &[f64]) -> Result<Self> {
        let (size, count) = (self.targets, given.len());
        let rest: Vec<usize> = (0..size).filter(|target| !given.contains(target)).collect();
        if rest.is_empty() || rest.len() + count != size || given.iter().any(|target| *target >= size) {
            return Err(Error::data(format!(
                "a conditional distribution has at least 1 of {size} targets, with {count} different others given"
            )));
        }
        if values.len() != self.len() * count {
            return Err(Error::data(format!(
                "expected {count} given values for each of {} rows, found {}",
                self.len(),
                values.len()
            )));
        }
        if let Some(row) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::data("the given value is not a finite number").at(format!("row {}", row / count + 1)));
        }
        let mut conditional = Self {
            targets: rest.len(),
            components: self.components,
            weights: Vec::with_capacity(self.weights.len()),
            means: Vec::with_capacity(self.weights.len() * rest.len()),
            factors: Vec::with_capacity(self.weights.len() * packed(rest.len())),
        };
        for row in 0..self.len() {
            let known = values.get(row * count..(row + 1) * count).unwrap_or(&[]);
            self.condition_row(row, given, &rest, known, &mut conditional)?;
        }
        Ok(conditional)
    }

    fn condition_row(&self, row: usize, given: &[usize], rest: &[usize], known: &[f64], into: &mut Self) -> Result<()> {
        let (size, mixture) = (self.targets, self.row(row));
        let mut log_weights = Vec::with_capacity(self.components);
        for (k, weight) in mixture.weights.iter().enumerate() {
            let mean = &mixture.means[k * size..][..size];
            let whole = covariance(&mixture.factors[k * packed(size)..][..packed(size)], size);
            let factor = factorise(&block(&whole, size, given, given), given.len());
            let apart: Vec<f64> = given.iter().zip(known).map(|(target, value)| value - mean[*target]).collect();
            let density = log_density(&factor, &apart);
            log_weights.push((libm::log(*weight) + density.log_density, density.atoms));
            // With B = L_gg⁻¹ S_gr: mean' = mean_r + Bᵀ z, covariance' = S_rr - Bᵀ B.
            let mut z = apart;
            solve_lower(&factor, &mut z);
            let slopes: Vec<Vec<f64>> = rest
                .iter()
                .map(|target| {
                    let mut column: Vec<f64> = given.iter().map(|known| whole[known * size + target]).collect();
                    solve_lower(&factor, &mut column);
                    column
                })
                .collect();
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            into.means.extend(rest.iter().zip(&slopes).map(|(target, slope)| mean[*target] + dot(slope, &z)));
            let mut within = block(&whole, size, rest, rest);
            for (row, of_row) in slopes.iter().enumerate() {
                for (column, of_column) in slopes.iter().enumerate() {
                    within[row * rest.len() + column] -= dot(of_row, of_column);
                }
                // What rounding left of a variance that is not 0 must not become an atom.
                let variance = whole[rest[row] * size + rest[row]];
                let entry = &mut within[row * rest.len() + row];
                *entry = entry.max(1e-12 * variance);
            }
            into.factors.extend(factorise(&within, rest.len()));
        }
        let atoms = log_weights.iter().filter(|(log, _)| *log > f64::NEG_INFINITY).map(|(_, atoms)| *atoms).max();
        let counts = |(log, of): &(f64, usize)| if Some(*of) == atoms { *log } else { f64::NEG_INFINITY };
        let largest = log_weights.iter().map(counts).fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            return Err(Error::data("the given values are impossible under the predicted distribution")
                .at(format!("row {}", row + 1)));
        }
        let unnormalised: Vec<f64> = log_weights.iter().map(|pair| libm::exp(counts(pair) - largest)).collect();
        let total: f64 = unnormalised.iter().sum();
        into.weights.extend(unnormalised.iter().map(|weight| weight / total));
        Ok(())
    }
}
