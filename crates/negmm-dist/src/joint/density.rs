//! The joint density, and highest-density regions by the density of draws.

use super::cholesky::{at, packed, solve_lower};
use super::{JointMixture, JointMixtures};
use crate::math::rng::Rng;
use crate::mixture::log_sum_exp;

/// ln(2 pi) / 2
const HALF_LN_2_PI: f64 = 0.918_938_533_204_672_8;

/// The log density of one component, and at how many atoms the vector lies; -inf beside an atom.
pub(super) struct ComponentDensity {
    pub(super) log_density: f64,
    pub(super) atoms: usize,
}

/// ln N(apart; 0, L Lᵀ) over the targets that are not atoms.
pub(super) fn log_density(factor: &[f64], apart: &[f64]) -> ComponentDensity {
    let (mut log_density, mut atoms) = (0.0, 0);
    let mut z = apart.to_vec();
    solve_lower(factor, &mut z);
    for (target, z) in z.iter().enumerate() {
        let pivot = factor[at(target, target)];
        if pivot > 0.0 {
            log_density -= 0.5 * z * z + libm::log(pivot) + HALF_LN_2_PI;
        } else if apart[target] == 0.0 {
            atoms += 1;
        } else {
            log_density = f64::NEG_INFINITY;
        }
    }
    ComponentDensity { log_density, atoms }
}

/// The log density of one mixture at many vectors.
#[derive(Clone, Debug)]
pub struct JointDensities<'a> {
    mixture: JointMixture<'a>,
    /// ln weight - sum of ln pivots - d ln(2 pi) / 2 of each component.
    constants: Vec<f64>,
    /// 1 / pivot, components × targets.
    inverses: Vec<f64>,
    has_atoms: bool,
    z: Vec<f64>,
    terms: Vec<f64>,
}

/// A component whose log density is this far below the largest adds nothing to the sum in `f64`.
const NEGLIGIBLE: f64 = 40.0;

impl<'a> JointDensities<'a> {
    fn new(mixture: JointMixture<'a>) -> Self {
        let d = mixture.targets;
        let pivots =
            || mixture.factors.chunks_exact(packed(d)).flat_map(|factor| (0..d).map(|row| factor[at(row, row)]));
        let inverses: Vec<f64> = pivots().map(|pivot| 1.0 / pivot).collect();
        let has_atoms = pivots().any(|pivot| pivot == 0.0);
        let constant = |(weight, inverses): (&f64, &[f64])| {
            let logs: f64 = inverses.iter().map(|inverse| libm::log(*inverse)).sum();
            libm::log(*weight) + logs - d as f64 * HALF_LN_2_PI
        };
        let constants = mixture.weights.iter().zip(inverses.chunks_exact(d)).map(constant).collect();
        let terms = Vec::with_capacity(mixture.weights.len());
        Self { mixture, constants, inverses, has_atoms, z: vec![0.0; d], terms }
    }

    /// The logarithm of the joint density at `y`, as [`JointMixture::log_pdf`].
    ///
    /// # Panics
    /// When `y` does not have one number for each target.
    pub fn at(&mut self, y: &[f64]) -> f64 {
        let d = self.mixture.targets;
        assert_eq!(y.len(), d, "one number for each target");
        if self.has_atoms {
            return log_pdf_with_atoms(&self.mixture, y);
        }
        self.terms.clear();
        let components = self.mixture.means.chunks_exact(d).zip(self.mixture.factors.chunks_exact(packed(d)));
        let constants = self.constants.iter().zip(self.inverses.chunks_exact(d));
        let mut largest = f64::NEG_INFINITY;
        for ((mean, factor), (constant, inverses)) in components.zip(constants) {
            let mut square = 0.0;
            for row in 0..d {
                let mut rest = y[row] - mean[row];
                for (entry, z) in factor[at(row, 0)..at(row, row)].iter().zip(&self.z) {
                    rest -= entry * z;
                }
                self.z[row] = rest * inverses[row];
                square += self.z[row] * self.z[row];
            }
            let term = constant - 0.5 * square;
            self.terms.push(term);
            largest = largest.max(term);
        }
        if largest == f64::NEG_INFINITY {
            return largest;
        }
        let near = self.terms.iter().filter(|term| **term > largest - NEGLIGIBLE);
        largest + libm::log(near.map(|term| libm::exp(term - largest)).sum())
    }
}

/// The log density of a mixture with atoms: of the components for which most targets are atoms at `y`.
fn log_pdf_with_atoms(mixture: &JointMixture<'_>, y: &[f64]) -> f64 {
    let mut apart = vec![0.0; mixture.targets];
    let terms: Vec<(f64, usize)> = mixture
        .parts()
        .map(|(weight, mean, factor)| {
            apart.iter_mut().zip(y.iter().zip(mean)).for_each(|(apart, (y, mean))| *apart = y - mean);
            let density = log_density(factor, &apart);
            (libm::log(weight) + density.log_density, density.atoms)
        })
        .collect();
    let atoms = terms.iter().filter(|(log, _)| *log > f64::NEG_INFINITY).map(|(_, atoms)| *atoms).max();
    log_sum_exp(terms.iter().filter(|(_, of)| Some(*of) == atoms).map(|(log, _)| *log))
}

impl JointMixture<'_> {
    /// The logarithm of the joint density at `y`. At atoms it is that of the probability there times the density of the other
    /// targets, as the likelihood of one target.
    ///
    /// # Panics
    /// When `y` does not have one number for each target.
    pub fn log_pdf(&self, y: &[f64]) -> f64 {
        self.densities().at(y)
    }

    /// The log density at many vectors: what depends on the components alone is computed once.
    pub fn densities(&self) -> JointDensities<'_> {
        JointDensities::new(*self)
    }

    /// The log densities of `draws` random vectors, in increasing order: their quantile at 1 - c is the level of the highest-density
    /// region with coverage c.
    pub fn log_pdf_of_draws(&self, draws: usize, rng: &mut Rng) -> Vec<f64> {
        let mut draw = vec![0.0; self.targets];
        let mut of_mixture = self.densities();
        let mut densities: Vec<f64> = (0..draws)
            .map(|_| {
                self.sample(rng, &mut draw);
                of_mixture.at(&draw)
            })
            .collect();
        densities.sort_by(f64::total_cmp);
        densities
    }

    /// The coverage of the smallest highest-density region that contains `y`: the probability of a vector with a higher
    /// density, from `draws` random vectors (standard error at most 1 / (2 sqrt(draws))). Uniform if predictions are calibrated.
    pub fn highest_density_level(&self, y: &[f64], draws: usize, rng: &mut Rng) -> f64 {
        let densities = self.log_pdf_of_draws(draws, rng);
        let here = self.log_pdf(y);
        let lower = densities.partition_point(|density| *density <= here);
        1.0 - lower as f64 / draws.max(1) as f64
    }

    /// The highest-density region with that coverage: the log density at its border, and its volume (in the product of the targets'
    /// units), both from `draws` random vectors.
    ///
    /// A vector lies in the region exactly if its log density is at least that of the border. The volume is the mean of
    /// 1 / p(Y) over the draws in the region.
    pub fn highest_density_region(&self, coverage: f64, draws: usize, rng: &mut Rng) -> (f64, f64) {
        let densities = self.log_pdf_of_draws(draws, rng);
        let outside = ((1.0 - coverage) * draws as f64) as usize;
        let inside = &densities[outside.min(draws.saturating_sub(1))..];
        let volume: f64 = inside.iter().map(|log| libm::exp(-log)).sum::<f64>() / draws as f64;
        (inside.first().copied().unwrap_or(f64::NEG_INFINITY), volume)
    }
}

impl JointMixtures {
    /// The logarithm of the joint density of each row at its vector; `y` is rows × targets.
    ///
    /// # Panics
    /// When there is not one vector for each row.
    pub fn log_pdf(&self, y: &[f64]) -> Vec<f64> {
        assert_eq!(y.len(), self.len() * self.targets, "one vector for each row");
        self.rows().zip(y.chunks_exact(self.targets)).map(|(row, y)| row.log_pdf(y)).collect()
    }
}
