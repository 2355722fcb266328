//! The hybrid score of several targets, S = eta S_l + (1 - eta) S_e: joint logarithmic score and energy score by directions.
//!
//! With z = L_k⁻¹ (y - mean_k), a = L_k⁻ᵀ z and the posterior weight r_k of component k:
//!
//! ```text
//! dS_l / d weight_k = -r_k / weight_k      dS_l / d mean_k = -r_k a      dS_l / d L_k,ij = r_k (1{i = j} / L_k,ii - a_i z_j)
//! ```
//!
//! S_e is c_d times the mean over directions u of the one-dimensional score s of (weight_k, u·mean_k, sd_k = |L_kᵀ u|), so with
//! v = L_kᵀ u
//!
//! ```text
//! dS_e / d mean_k = c_d mean_u u ds / d mean_k      dS_e / d L_k,ij = c_d mean_u u_i v_j / sd_k ds / d sd_k
//! ```
//!
//! Targets that are not known are NaN: their score is that of the marginal of the others, with each direction restricted to
//! these and of length 1 again.

use super::energy;
use crate::joint::cholesky::{at, packed, solve_lower, solve_upper};
use crate::joint::{JointMixture, JointMixtures, energy_constant};
use crate::mixture::Mixture;

/// Partial derivatives with respect to the parameters of a joint mixture, in their layout.
#[derive(Clone, Debug, PartialEq)]
pub struct JointGradient {
    /// With respect to the weights, as if they were unconstrained.
    pub weights: Vec<f64>,
    /// With respect to the means: components × targets.
    pub means: Vec<f64>,
    /// With respect to the factors: components × packed lower triangles.
    pub factors: Vec<f64>,
}

/// The score of observing `y`, in which NaN is a target that is not known; `directions` is directions × targets. It is 0 if no
/// target is known.
pub fn value(mixture: JointMixture<'_>, y: &[f64], eta: f64, directions: &[f64]) -> f64 {
    let known: Vec<usize> = (0..y.len()).filter(|target| !y[*target].is_nan()).collect();
    if known.is_empty() {
        return 0.0;
    }
    if known.len() == y.len() {
        return hybrid(mixture, y, eta, directions);
    }
    let (weights, means, factors) = (mixture.weights.to_vec(), mixture.means.to_vec(), mixture.factors.to_vec());
    let Ok(whole) = JointMixtures::new(mixture.targets, weights.len(), weights, means, factors) else {
        return f64::NAN;
    };
    let some = whole.of_targets(&known);
    let restricted: Vec<f64> =
        directions.chunks_exact(y.len()).flat_map(|u| unit(known.iter().map(|at| u[*at]))).collect();
    let y: Vec<f64> = known.iter().map(|target| y[*target]).collect();
    hybrid(some.row(0), &y, eta, &restricted)
}

fn hybrid(mixture: JointMixture<'_>, y: &[f64], eta: f64, directions: &[f64]) -> f64 {
    let log = if eta > 0.0 { -eta * mixture.log_pdf(y) } else { 0.0 };
    let energy = if eta < 1.0 { (1.0 - eta) * mixture.energy_score(y, directions) } else { 0.0 };
    log + energy
}

fn unit(entries: impl Iterator<Item = f64>) -> Vec<f64> {
    let entries: Vec<f64> = entries.collect();
    let length = entries.iter().map(|x| x * x).sum::<f64>().sqrt();
    entries.iter().map(|x| x / length).collect()
}

/// The derivatives of [`value`] where all targets are known.
pub fn gradient(mixture: JointMixture<'_>, y: &[f64], eta: f64, directions: &[f64]) -> JointGradient {
    let (size, count) = (mixture.targets, mixture.weights.len());
    let mut gradient = JointGradient {
        weights: vec![0.0; count],
        means: vec![0.0; count * size],
        factors: vec![0.0; count * packed(size)],
    };
    let log_density = mixture.log_pdf(y);
    for k in 0..count {
        let (mean, factor) = (&mixture.means[k * size..][..size], &mixture.factors[k * packed(size)..][..packed(size)]);
        let mut z: Vec<f64> = y.iter().zip(mean).map(|(y, mean)| y - mean).collect();
        solve_lower(factor, &mut z);
        let mut a = z.clone();
        solve_upper(factor, &mut a);
        let of_component = JointMixture { targets: size, weights: &[1.0], means: mean, factors: factor }.log_pdf(y);
        let relative = libm::exp(of_component - log_density);
        let posterior = mixture.weights[k] * relative;
        gradient.weights[k] -= eta * relative;
        for row in 0..size {
            gradient.means[k * size + row] -= eta * posterior * a[row];
            let factors = &mut gradient.factors[k * packed(size) + at(row, 0)..][..=row];
            for (sum, z) in factors.iter_mut().zip(&z) {
                *sum -= eta * posterior * a[row] * z;
            }
            factors[row] += eta * posterior / factor[at(row, row)];
        }
    }
    let scale = (1.0 - eta) * energy_constant(size) / (directions.len() / size) as f64;
    for direction in directions.chunks_exact(size) {
        add_projection(mixture, y, direction, scale, &mut gradient);
    }
    gradient
}

/// Adds `scale` times the derivatives of the one-dimensional score along one direction.
fn add_projection(mixture: JointMixture<'_>, y: &[f64], direction: &[f64], scale: f64, gradient: &mut JointGradient) {
    let size = mixture.targets;
    let dot = |a: &[f64]| a.iter().zip(direction).map(|(a, b)| a * b).sum::<f64>();
    let means: Vec<f64> = mixture.means.chunks_exact(size).map(dot).collect();
    let vectors: Vec<Vec<f64>> = mixture
        .factors
        .chunks_exact(packed(size))
        .map(|factor| {
            let entry = |column: usize| (column..size).map(|row| factor[at(row, column)] * direction[row]).sum();
            (0..size).map(entry).collect()
        })
        .collect();
    let sds: Vec<f64> = vectors.iter().map(|v: &Vec<f64>| v.iter().map(|x| x * x).sum::<f64>().sqrt()).collect();
    let projected = energy::gradient(Mixture { weights: mixture.weights, means: &means, sds: &sds }, dot(y));
    for (k, vector) in vectors.iter().enumerate() {
        gradient.weights[k] += scale * projected.weights[k];
        for (row, along) in direction.iter().enumerate() {
            gradient.means[k * size + row] += scale * projected.means[k] * along;
            let factors = &mut gradient.factors[k * packed(size) + at(row, 0)..];
            for (sum, v) in factors.iter_mut().zip(&vector[..=row]) {
                *sum += scale * projected.sds[k] / sds[k] * along * v;
            }
        }
    }
}
