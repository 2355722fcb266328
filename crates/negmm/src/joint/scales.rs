//! Factors of the pool's sds: one for each target, then one for each main direction of the errors.
//!
//! The main directions are those of the correlation matrix W diag(λ) Wᵀ of held-out errors: with the sds D of the errors, the sd along
//! D⁻¹ w_j is multiplied by t_j where every covariance S becomes A S Aᵀ, A = D W diag(t) Wᵀ D⁻¹.
//!
//! A factor has the best held-out log score.

use negmm_dist::{Distribution, JointMixtures, Mixtures};
use negmm_nn::linear::eigen;

use super::targets::EncodedTargets;

/// Factors that are tried, and how many rows' worth of a factor of 1 they are shrunk by.
const TRIED: [f64; 9] = [0.8, 0.87, 0.93, 1.0, 1.07, 1.15, 1.25, 1.4, 1.6];
const SHRINKAGE: f64 = 30.0;
/// Held-out rows at most: more would not change a factor.
const MOST_ROWS: usize = 1_500;

/// Factors of the sds of a pool, in units of the standardised targets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scales {
    /// One for each target.
    pub(super) of_targets: Vec<f64>,
    /// The matrix A, targets × targets, which is applied after those; `None` where no direction needs it.
    pub(super) of_directions: Option<Vec<f64>>,
}

impl Scales {
    /// All 1.
    pub(super) fn none(targets: usize) -> Self {
        Self { of_targets: vec![1.0; targets], of_directions: None }
    }

    /// Scales mixtures.
    pub(super) fn apply(&self, mixtures: JointMixtures) -> JointMixtures {
        let scaled = match self.of_targets.iter().any(|scale| *scale != 1.0) {
            true => mixtures.scale_sds(&self.of_targets),
            false => mixtures,
        };
        match &self.of_directions {
            Some(matrix) => scaled.transform_covariances(matrix),
            None => scaled,
        }
    }

    /// Those of a pool, by its predictions of held-out rows.
    pub(super) fn of_pool(encoded: &EncodedTargets, rows: &[usize], pooled: &JointMixtures) -> Self {
        let d = encoded.targets.len();
        let used: Vec<usize> = (0..rows.len()).step_by(rows.len().div_ceil(MOST_ROWS).max(1)).collect();
        let y: Vec<Vec<f64>> = used.iter().map(|at| encoded.scaled(rows[*at])).collect();
        let pooled = pooled.select(&used);
        let of_target = |target: usize| {
            let own: Vec<f64> = y.iter().map(|y| y[target]).collect();
            libm::exp(log_factor(&pooled.marginal(target), &own))
        };
        let scales = Self { of_targets: (0..d).map(of_target).collect(), of_directions: None };
        let pooled = scales.apply(pooled.clone());
        let (sds, vectors) = main_directions(&pooled.mean(), &y.concat(), d);
        let least = (2.0 / y.len().max(1) as f64).sqrt();
        let of_direction = |number: usize| {
            let u: Vec<f64> = (0..d).map(|target| vectors[target * d + number] / sds[target]).collect();
            let own: Vec<f64> = y.iter().map(|y| y.iter().zip(&u).map(|(y, u)| y * u).sum()).collect();
            let log = log_factor(&pooled.linear(&u, 0.0), &own);
            // Within two standard errors, 1 / sqrt(2 rows) each, of 1.
            if log.abs() < least { 1.0 } else { libm::exp(log) }
        };
        // A mixed direction would spread atoms out.
        let has_atoms = encoded.targets.iter().any(|target| target.atoms.is_some());
        if d == 1 || has_atoms || !sds.iter().all(|sd| *sd > 0.0) {
            return scales;
        }
        let factors: Vec<f64> = (0..d).map(of_direction).collect();
        let entry = |at: usize| {
            let (row, column) = (at / d, at % d);
            let inner: f64 = (0..d).map(|k| vectors[row * d + k] * factors[k] * vectors[column * d + k]).sum();
            sds[row] * inner / sds[column]
        };
        let is_needed = factors.iter().any(|factor| *factor != 1.0);
        Self { of_directions: is_needed.then(|| (0..d * d).map(entry).collect()), ..scales }
    }
}

/// The sds of errors, and the eigenvectors of their correlation matrix as columns, targets × targets.
fn main_directions(means: &[f64], y: &[f64], targets: usize) -> (Vec<f64>, Vec<f64>) {
    let errors: Vec<f64> = y.iter().zip(means).map(|(y, mean)| y - mean).collect();
    let rows = (errors.len() / targets).max(1) as f64;
    let product = |a: usize, b: usize| errors.chunks_exact(targets).map(|row| row[a] * row[b]).sum::<f64>() / rows;
    let sds: Vec<f64> = (0..targets).map(|target| product(target, target).sqrt()).collect();
    let entry = |at: usize| {
        let (a, b) = (at / targets, at % targets);
        let spread = sds[a] * sds[b];
        if spread > 0.0 { product(a, b) / spread } else { f64::from(u8::from(a == b)) }
    };
    let (_, vectors) = eigen::symmetric((0..targets * targets).map(entry).collect(), targets);
    (sds, vectors)
}

/// The factor with the best log score.
fn best_log_score(along: &Mixtures, y: &[f64]) -> f64 {
    let all: Vec<usize> = (0..along.len()).collect();
    let score = |factor: f64| {
        let scaled = along.clone().take(&all, |_| (1.0, factor));
        scaled.rows().zip(y).map(|(row, y)| row.log_score(*y)).sum::<f64>()
    };
    let best = TRIED.into_iter().map(|factor| (score(factor), factor)).min_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or(1.0, |(_, factor)| factor)
}

/// The logarithm of a factor, shrunk.
fn log_factor(along: &Mixtures, y: &[f64]) -> f64 {
    let rows = y.len() as f64;
    libm::log(best_log_score(along, y)) * rows / (rows + SHRINKAGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Method;
    use negmm_data::{Column, ColumnRoles, Table};
    use negmm_dist::Rng;
    use negmm_dist::math::normal;

    fn gauss(rng: &mut Rng) -> f64 {
        normal::quantile(rng.uniform())
    }

    /// A table with these targets and an input without meaning.
    fn encoded(y: &[[f64; 2]]) -> EncodedTargets {
        let column = |at: usize| Column::Numbers(y.iter().map(|y| y[at]).collect());
        let x = Column::Numbers((0..y.len()).map(|row| (row % 7) as f64).collect());
        let table = Table::new(vec![("a", column(0)), ("b", column(1)), ("x", x)]).unwrap();
        let names = ["a".to_string(), "b".to_string()];
        EncodedTargets::new(&table, &names, &Method::default(), &ColumnRoles::default(), 0).unwrap()
    }

    fn sd_along(scales: &Scales, mixtures: &JointMixtures, u: &[f64]) -> f64 {
        scales.apply(mixtures.select(&[0])).linear(u, 0.0).row(0).sd()
    }

    #[test]
    fn directions_have_factors_where_marginals_are_right() {
        let rng = &mut Rng::new(3, 0);
        let pair = |rng: &mut Rng| {
            let a = gauss(rng);
            [a, 0.8 * a + 0.6 * gauss(rng)]
        };
        let y: Vec<[f64; 2]> = (0..1_200).map(|_| pair(rng)).collect();
        let (encoded, rows): (_, Vec<usize>) = (encoded(&y), (0..y.len()).collect());
        // Independent normal variables: the sum is too narrow and the difference too wide.
        let pool = JointMixtures::new(2, 1, vec![1.0; 1_200], vec![0.0; 2_400], [1.0, 0.0, 1.0].repeat(1_200)).unwrap();
        let scales = Scales::of_pool(&encoded, &rows, &pool);
        assert!(scales.of_targets.iter().all(|factor| (factor - 1.0).abs() < 0.08), "{scales:?}");
        let [sum, difference] = [[1.0, 1.0], [1.0, -1.0]].map(|u| sd_along(&scales, &pool, &u));
        assert!((sum / 3.6f64.sqrt() - 1.0).abs() < 0.08, "{sum}");
        assert!(difference < 0.85 * 2f64.sqrt(), "{difference}");
        // What is right is left alone.
        let right =
            JointMixtures::new(2, 1, vec![1.0; 1_200], vec![0.0; 2_400], [1.0, 0.8, 0.6].repeat(1_200)).unwrap();
        assert_eq!(Scales::of_pool(&encoded, &rows, &right).of_directions, None);
    }
}
