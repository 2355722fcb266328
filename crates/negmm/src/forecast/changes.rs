//! The empirical distribution of scaled changes: a mixture of normals around 0 with tails as heavy as theirs.

use negmm_dist::Mixtures;
use negmm_dist::math::normal;

/// Initial sds of the components, relative to the rms.
const SDS: [f64; 3] = [0.4, 1.0, 2.2];
const ITERATIONS: usize = 60;
/// Maximum number of values used.
const MOST: usize = 20_000;
/// Smallest sd, relative to the rms.
const LEAST_SD: f64 = 0.02;

/// The maximum-likelihood mixture for these values, as a single row; fitted by expectation maximisation.
pub(super) fn error_distribution(values: &[f64]) -> Mixtures {
    let every = values.len().div_ceil(MOST).max(1);
    let squares: Vec<f64> = values.iter().step_by(every).map(|value| value * value).collect();
    let rms = (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt();
    if rms == 0.0 || squares.len() < 3 {
        let sd = rms.max(LEAST_SD);
        return Mixtures::from_parts_unchecked(
            SDS.len(),
            vec![1.0, 0.0, 0.0],
            vec![0.0; SDS.len()],
            vec![sd; SDS.len()],
        );
    }
    let mut sds = SDS.map(|sd| sd * rms);
    let mut weights = [1.0 / SDS.len() as f64; SDS.len()];
    for _ in 0..ITERATIONS {
        let (mut sums, mut second) = ([1e-9; SDS.len()], [1e-9 * rms * rms; SDS.len()]);
        for square in &squares {
            let density = |k: usize| weights[k] * normal::pdf(square.sqrt() / sds[k]) / sds[k];
            let densities: [f64; SDS.len()] = std::array::from_fn(density);
            let total: f64 = densities.iter().sum();
            if total > 0.0 {
                for k in 0..SDS.len() {
                    sums[k] += densities[k] / total;
                    second[k] += densities[k] / total * square;
                }
            }
        }
        let total: f64 = sums.iter().sum();
        weights = sums.map(|sum| sum / total);
        sds = std::array::from_fn(|k| (second[k] / sums[k]).sqrt().max(LEAST_SD * rms));
    }
    Mixtures::from_parts_unchecked(SDS.len(), weights.to_vec(), vec![0.0; SDS.len()], sds.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::Distribution;
    use negmm_dist::Rng;

    #[test]
    fn heavy_tails_are_found() {
        let mut rng = Rng::new(3, 0);
        let mixture = Mixtures::new(2, vec![0.8, 0.2], vec![0.0, 0.0], vec![0.5, 3.0]).unwrap();
        let draws: Vec<f64> = (0..20_000).map(|_| mixture.row(0).sample(&mut rng)).collect();
        let found = error_distribution(&draws);
        for y in [0.0, 0.3, 1.0, 4.0, 8.0] {
            let (truth, found) = (mixture.row(0).cdf(y), found.row(0).cdf(y));
            assert!((truth - found).abs() < 0.01, "{y}: {truth} {found}");
        }
        assert_eq!(error_distribution(&[0.0; 20]).row(0).mean(), 0.0);
        assert_eq!(error_distribution(&[]).len(), 1);
    }
}
