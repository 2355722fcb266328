//! The energy score of a set of samples, SampleNet's loss: its reference in f64.
//!
//! A forecast that is M equally likely samples z_1 .. z_M has
//!
//! ```text
//! S(z, y)   = 1/M sum_i |z_i - y| - 1/(2 M²) sum_ij |z_i - z_j|
//! sum_ij |z_i - z_j| = 2 sum_i (2 rank_i - M - 1) z_i                 rank 1 is the smallest, ties have their mean rank
//! dS / dz_i = sign(z_i - y) / M - (2 rank_i - M - 1) / M²             sign(0) = 0
//! S(z, y)   = sum_i (z_i - y) dS / dz_i                               Euler: S grows in proportion to all the z_i - y
//! ```
//!
//! so that sorting replaces the M² pairs. Where samples coincide, with each other or with y, S has a kink and the gradient
//! is the middle of its two sides: that of the sum over pairs with sign(0) = 0.

/// The score of observing `y` by its definition over all pairs of samples: M² steps.
pub fn value_by_pairs(samples: &[f64], y: f64) -> f64 {
    let count = samples.len() as f64;
    let to_target: f64 = samples.iter().map(|z| (z - y).abs()).sum();
    let apart: f64 = samples.iter().map(|a| samples.iter().map(|b| (a - b).abs()).sum::<f64>()).sum();
    to_target / count - apart / (2.0 * count * count)
}

/// The score of observing `y`: M log M steps.
pub fn value(samples: &[f64], y: f64) -> f64 {
    samples.iter().zip(gradient(samples, y)).map(|(z, slope)| (z - y) * slope).sum()
}

/// Its derivative with respect to each sample.
pub fn gradient(samples: &[f64], y: f64) -> Vec<f64> {
    let count = samples.len() as f64;
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_by(|&a, &b| samples[a].total_cmp(&samples[b]));
    let mut gradient = vec![0.0; samples.len()];
    let mut first = 0;
    for equals in order.chunk_by(|&a, &b| samples[a] == samples[b]) {
        let twice_rank = (2 * first + equals.len() + 1) as f64;
        for &sample in equals {
            gradient[sample] = sign(samples[sample] - y) / count - (twice_rank - count - 1.0) / (count * count);
        }
        first += equals.len();
    }
    gradient
}

/// -1, 0 or 1.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}
