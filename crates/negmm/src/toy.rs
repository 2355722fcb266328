//! The paper's two toy problems: data drawn from a known distribution, and that distribution.

use negmm_data::{Column, Table};
use negmm_dist::math::normal;
use negmm_dist::math::rng::Rng;
use negmm_dist::{Error, Mixtures, Result};

/// One of the paper's examples: one input `x`, one target `y`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toy {
    /// Example 1: y = x sin x + x e1 + e2 with x in [-1, 11] and both noises N(0, 0.3²): the noise grows with x.
    Heteroscedastic,
    /// Example 2: y = u x³ + e with x in [-4, 4], u = -1 (30 %) or 1 (70 %), e from N(0, 3²): two branches.
    Bimodal,
}

impl Toy {
    /// By its name, `toy1` or `toy2`.
    pub fn by_name(name: &str) -> Result<Self> {
        match name {
            "toy1" => Ok(Self::Heteroscedastic),
            "toy2" => Ok(Self::Bimodal),
            _ => Err(Error::options(format!("there is no toy problem {name:?}; there are toy1 and toy2"))),
        }
    }

    /// `toy1` or `toy2`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Heteroscedastic => "toy1",
            Self::Bimodal => "toy2",
        }
    }

    /// The range of x.
    pub fn range(self) -> (f64, f64) {
        match self {
            Self::Heteroscedastic => (-1.0, 11.0),
            Self::Bimodal => (-4.0, 4.0),
        }
    }

    /// `rows` draws: x uniform in its range, y from its distribution at x.
    pub fn sample(self, rows: usize, rng: &mut Rng) -> Table {
        let (low, high) = self.range();
        let mut draw = || {
            let x = low + (high - low) * rng.uniform();
            let mut noise = |sd: f64| sd * normal::quantile(rng.uniform());
            let y = match self {
                Self::Heteroscedastic => x * libm::sin(x) + x * noise(0.3) + noise(0.3),
                Self::Bimodal => {
                    let branch = noise(3.0);
                    let sign = if rng.uniform() < 0.3 { -1.0 } else { 1.0 };
                    sign * x * x * x + branch
                }
            };
            (x, y)
        };
        let (x, y) = (0..rows).map(|_| draw()).unzip();
        Table::new(vec![("x", Column::Numbers(x)), ("y", Column::Numbers(y))])
            .expect("two finite columns of equal length")
            .with_name(self.name())
    }

    /// The distribution of y at each x.
    pub fn truth(self, x: &[f64]) -> Mixtures {
        let (components, weights, means, sds): (usize, Vec<f64>, Vec<f64>, Vec<f64>) = match self {
            Self::Heteroscedastic => {
                let sds = x.iter().map(|x| 0.3 * (x * x + 1.0).sqrt()).collect();
                (1, vec![1.0; x.len()], x.iter().map(|x| x * libm::sin(*x)).collect(), sds)
            }
            Self::Bimodal => {
                let means = x.iter().flat_map(|x| [-x * x * x, x * x * x]).collect();
                (2, [0.3, 0.7].repeat(x.len()), means, vec![3.0; 2 * x.len()])
            }
        };
        Mixtures::new(components, weights, means, sds).expect("weights sum to one and every sd is positive")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::Metrics;

    #[test]
    fn the_truth_is_calibrated_on_its_own_draws() {
        for toy in [Toy::Heteroscedastic, Toy::Bimodal] {
            let table = toy.sample(4000, &mut Rng::new(3, 0));
            let (Some(Column::Numbers(x)), Some(Column::Numbers(y))) = (table.column("x"), table.column("y")) else {
                panic!("two numeric columns");
            };
            let metrics = Metrics::of(&toy.truth(x).into(), y).unwrap();
            assert!((metrics.coverage.get(0.9).unwrap() - 0.9).abs() < 0.02, "{toy:?} {metrics:?}");
            assert!(metrics.pit.iter().all(|count| (140.0..=260.0).contains(count)), "{toy:?} {metrics:?}");
        }
    }
}
