//! Directions for the energy score by projections.
//!
//! For a vector Z in R^d and u uniform on the unit sphere, E|u·Z| = ‖Z‖ / c_d with c_d = √π Γ((d + 1) / 2) / Γ(d / 2). So the energy
//! score is c_d times the mean over u of the one-dimensional score of u·Y, and u·Y of a Gaussian mixture is a Gaussian mixture. An
//! orthonormal frame has far less variance than as many independent directions; in the plane, directions at equal angles.

use crate::math::counter::{Counter, Draws};
use crate::math::normal;
use crate::streams;

/// Directions in the plane: equal angles, with one random rotation.
const IN_PLANE: usize = 4;

/// c_d = √π Γ((d + 1) / 2) / Γ(d / 2): 1, π / 2, 2, 3 π / 4, …
pub fn energy_constant(targets: usize) -> f64 {
    // c_1 = 1, c_2 = π / 2, and c_(d + 2) = c_d (d + 1) / d.
    let first = if targets.is_multiple_of(2) { 2 } else { 1 };
    let start = if first == 1 { 1.0 } else { std::f64::consts::FRAC_PI_2 };
    (first..targets).step_by(2).fold(start, |constant, d| constant * (d as f64 + 1.0) / d as f64)
}

/// The directions of one training step, directions × targets: one random orthonormal frame; four at equal angles in the plane.
pub fn draw_directions(targets: usize, draws: &mut Draws) -> Vec<f64> {
    match targets {
        1 => vec![1.0],
        2 => in_plane(IN_PLANE, draws.uniform()),
        _ => frame(targets, draws),
    }
}

/// Fixed directions for scores, directions × targets: at least `count` of them, in whole frames.
pub fn directions(targets: usize, count: usize) -> Vec<f64> {
    let counter = Counter::new(0, streams::DIRECTIONS);
    match targets {
        1 => vec![1.0],
        // None along an axis: restricted to the other target it would be nothing.
        2 => in_plane(count.max(1), 0.5),
        _ => {
            let frames = count.div_ceil(targets).max(1) as u64;
            (0..frames).flat_map(|number| frame(targets, &mut counter.step(number))).collect()
        }
    }
}

/// `count` directions at equal angles over half a turn; `rotation` in [0, 1) is a fraction of the angle between two.
fn in_plane(count: usize, rotation: f64) -> Vec<f64> {
    let angle = |at: usize| std::f64::consts::PI * (at as f64 + rotation) / count as f64;
    (0..count).flat_map(|at| [libm::cos(angle(at)), libm::sin(angle(at))]).collect()
}

/// A random orthonormal frame: normal vectors, orthogonalised (Gram and Schmidt, twice for rounding).
fn frame(size: usize, draws: &mut Draws) -> Vec<f64> {
    let mut frame: Vec<f64> = Vec::with_capacity(size * size);
    while frame.len() < size * size {
        let mut vector: Vec<f64> = (0..size).map(|_| normal::quantile(draws.uniform())).collect();
        for _ in 0..2 {
            for other in frame.chunks_exact(size) {
                let dot: f64 = vector.iter().zip(other).map(|(a, b)| a * b).sum();
                vector.iter_mut().zip(other).for_each(|(a, b)| *a -= dot * b);
            }
        }
        let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        // A vector in the plane of the others is drawn again.
        if length > 1e-6 {
            frame.extend(vector.iter().map(|x| x / length));
        }
    }
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_those_of_the_gamma_function() {
        for targets in 1..=20 {
            let d = targets as f64;
            let expected =
                std::f64::consts::PI.sqrt() * libm::exp(libm::lgamma(0.5 * (d + 1.0)) - libm::lgamma(0.5 * d));
            assert!((energy_constant(targets) / expected - 1.0).abs() < 1e-13, "{targets}");
        }
    }

    #[test]
    fn frames_are_orthonormal() {
        for targets in [2, 3, 6, 10] {
            let all = draw_directions(targets, &mut Counter::new(1, 2).step(3));
            assert_eq!(all, draw_directions(targets, &mut Counter::new(1, 2).step(3)));
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            for (row, a) in all.chunks_exact(targets).enumerate() {
                for (column, b) in all.chunks_exact(targets).enumerate() {
                    if targets > 2 || row == column {
                        let expected = f64::from(u8::from(row == column));
                        assert!((dot(a, b) - expected).abs() < 1e-12);
                    }
                }
            }
        }
    }
}
