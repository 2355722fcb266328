//! The dependence between steps ahead: a Gaussian copula, which joins the marginal distributions to sample paths.
//!
//! The normal scores of a path's steps are correlated by
//!
//! ```text
//! r(i, j) = common + (1 - common) · memory^|i - j|        for i ≠ j
//! ```
//!
//! which is a common factor plus an AR(1) process: x_h = sqrt(common) c + sqrt(1 - common) a_h with a_h = memory a_(h-1) +
//! sqrt(1 - memory²) e_h.

use serde::{Deserialize, Serialize};

use negmm_dist::math::normal;
use negmm_dist::math::rng::Rng;

/// Grid points per parameter.
const TRIES: usize = 40;
/// Probabilities are clipped to [LEAST, 1 - LEAST].
const LEAST: f64 = 1e-6;

/// Parameters of the copula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Copula {
    common: f64,
    memory: f64,
}

/// Sums and counts of products of normal scores of two steps of the same origin, by their distance in steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Products {
    sums: Vec<(f64, f64)>,
}

/// The normal score of a probability.
pub(super) fn score(probability: f64) -> f64 {
    normal::quantile(probability.clamp(LEAST, 1.0 - LEAST))
}

impl Products {
    /// Adds the normal scores of one origin, each with its step ahead.
    pub(super) fn add(&mut self, scores: &[(usize, f64)]) {
        for (at, (ahead, score)) in scores.iter().enumerate() {
            for (other, other_score) in &scores[..at] {
                let apart = ahead.abs_diff(*other);
                if self.sums.len() <= apart {
                    self.sums.resize(apart + 1, (0.0, 0.0));
                }
                self.sums[apart].0 += score * other_score;
                self.sums[apart].1 += 1.0;
            }
        }
    }
}

impl Copula {
    /// The copula whose correlations fit the mean products best, by least squares weighted with the counts.
    pub(super) fn nearest(products: &Products) -> Self {
        let missed = |copula: Self| -> f64 {
            let each = products.sums.iter().enumerate().filter(|(apart, (_, count))| *apart > 0 && *count > 0.0);
            each.map(|(apart, (sum, count))| {
                let difference = sum / count - copula.correlation(apart);
                count * difference * difference
            })
            .sum()
        };
        let tried = |index: usize| index as f64 / TRIES as f64;
        let all = (0..TRIES * TRIES).map(|index| Self { common: tried(index / TRIES), memory: tried(index % TRIES) });
        all.map(|copula| (missed(copula), copula))
            .min_by(|(a, _), (b, _)| a.total_cmp(b))
            .map_or(Self::default(), |(_, copula)| copula)
    }

    /// Correlation of two steps at this distance.
    fn correlation(self, apart: usize) -> f64 {
        self.common + (1.0 - self.common) * libm::pow(self.memory, apart as f64)
    }

    /// Whether both parameters are in range.
    pub(super) fn is_sound(self) -> bool {
        (0.0..1.0).contains(&self.common) && (0.0..1.0).contains(&self.memory)
    }

    /// The probabilities along one path of `steps` steps.
    pub(super) fn path(self, steps: usize, rng: &mut Rng) -> Vec<f64> {
        self.scores(steps, rng).into_iter().map(normal::cdf).collect()
    }

    /// The normal scores along one path.
    pub(super) fn scores(self, steps: usize, rng: &mut Rng) -> Vec<f64> {
        let mut draw = || normal::quantile(rng.uniform().clamp(LEAST * LEAST, 1.0 - LEAST));
        let common = draw();
        let mut fading = draw();
        let step = |step: usize| {
            if step > 0 {
                fading = self.memory * fading + (1.0 - self.memory * self.memory).sqrt() * draw();
            }
            self.common.sqrt() * common + (1.0 - self.common).sqrt() * fading
        };
        (0..steps).map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_paths_were_drawn_from_is_found() {
        for truth in [Copula { common: 0.3, memory: 0.8 }, Copula { common: 0.0, memory: 0.0 }] {
            let mut rng = Rng::new(5, 0);
            let mut products = Products::default();
            for _ in 0..4_000 {
                let path = truth.path(12, &mut rng);
                products.add(&path.iter().enumerate().map(|(step, u)| (step, score(*u))).collect::<Vec<_>>());
            }
            let found = Copula::nearest(&products);
            for apart in 1..12 {
                assert!((found.correlation(apart) - truth.correlation(apart)).abs() < 0.04, "{found:?}");
            }
        }
        assert_eq!(Copula::nearest(&Products::default()), Copula::default());
    }
}
