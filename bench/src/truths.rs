//! Simulated tables whose distribution given the inputs is known.

use std::f64::consts::PI;

use negmm::data::Column;
use negmm::{Rng, Table};
use negmm_dist::math::normal;

/// Inputs of every table, standard normal; those that a kind does not use say nothing.
const INPUTS: usize = 3;
/// The share of the second branch, the distance of the branches at x = 0, and the sd of their noise.
const SECOND_BRANCH: f64 = 0.3;
const BRANCH: f64 = 1.5;
const BRANCH_SD: f64 = 0.3;
/// The largest count that is summed over.
const MOST_EVENTS: usize = 1000;

/// A kind of data.
pub struct Truth {
    /// Its name.
    pub name: &'static str,
    draw: fn(&[f64; INPUTS], &mut Draws) -> f64,
    log_likelihood: fn(&[f64; INPUTS], f64) -> f64,
    mean: Option<fn(&[f64; INPUTS]) -> f64>,
}

/// Rows of a kind of data.
pub struct Rows {
    /// Inputs and target.
    pub table: Table,
    /// The targets.
    pub y: Vec<f64>,
    /// The logarithm of the true likelihood of each target: of its probability for counts and zeros, else of its density.
    pub log_likelihood: Vec<f64>,
    /// The true mean of each row, where a kind is one of counts.
    pub means: Option<Vec<f64>>,
}

/// All kinds.
pub const TRUTHS: [Truth; 8] = [
    Truth {
        name: "linear",
        draw: |x, draws| 0.5 * x[0] + draws.normal(),
        log_likelihood: |x, y| log_normal_density(y, 0.5 * x[0], 1.0),
        mean: None,
    },
    Truth {
        name: "smooth",
        draw: |x, draws| 2.6 * (2.0 * x[0]).sin() + draws.normal(),
        log_likelihood: |x, y| log_normal_density(y, 2.6 * (2.0 * x[0]).sin(), 1.0),
        mean: None,
    },
    Truth { name: "counts", draw: |x, draws| draws.poisson(rate(x)), log_likelihood: log_poisson, mean: Some(rate) },
    Truth {
        name: "zeros",
        draw: |x, draws| {
            if draws.uniform() < zero_probability(x) { 0.0 } else { (0.5 * x[1] + 0.5 * draws.normal()).exp() }
        },
        log_likelihood: |x, y| {
            if y == 0.0 {
                zero_probability(x).ln()
            } else {
                (1.0 - zero_probability(x)).ln() + log_normal_density(y.ln(), 0.5 * x[1], 0.5) - y.ln()
            }
        },
        mean: None,
    },
    Truth {
        // Student's t with 2 degrees of freedom.
        name: "heavy-tails",
        draw: |x, draws| {
            let u = 2.0 * draws.uniform() - 1.0;
            x[0] + u * (2.0 / (1.0 - u * u)).sqrt()
        },
        log_likelihood: |x, y| -1.5 * (2.0 + (y - x[0]) * (y - x[0])).ln(),
        mean: None,
    },
    Truth {
        name: "lognormal",
        draw: |_, draws| draws.normal().exp(),
        log_likelihood: |_, y| log_normal_density(y.ln(), 0.0, 1.0) - y.ln(),
        mean: None,
    },
    Truth {
        name: "heteroscedastic",
        draw: |x, draws| x[0] + (0.5 * x[1]).exp() * draws.normal(),
        log_likelihood: |x, y| log_normal_density(y, x[0], (0.5 * x[1]).exp()),
        mean: None,
    },
    Truth {
        name: "branches",
        draw: |x, draws| {
            let sign = if draws.uniform() < SECOND_BRANCH { -1.0 } else { 1.0 };
            sign * (BRANCH + 0.5 * x[0]) + BRANCH_SD * draws.normal()
        },
        log_likelihood: |x, y| {
            let center = BRANCH + 0.5 * x[0];
            let density = |sign: f64| log_normal_density(y, sign * center, BRANCH_SD).exp();
            (SECOND_BRANCH * density(-1.0) + (1.0 - SECOND_BRANCH) * density(1.0)).max(f64::MIN_POSITIVE).ln()
        },
        mean: None,
    },
];

impl Truth {
    /// Rows of a seed and a stream.
    ///
    /// # Errors
    /// Never: the columns are equally long and differently named.
    pub fn rows(&self, count: usize, seed: u64, stream: u64) -> negmm::Result<Rows> {
        let draws = &mut Draws(Rng::new(seed, stream));
        let mut columns = vec![Vec::new(); INPUTS];
        let (mut y, mut log_likelihood, mut means) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..count {
            let x: [f64; INPUTS] = std::array::from_fn(|_| draws.normal());
            let target = (self.draw)(&x, draws);
            columns.iter_mut().zip(x).for_each(|(column, x)| column.push(x));
            log_likelihood.push((self.log_likelihood)(&x, target));
            means.extend(self.mean.map(|mean| mean(&x)));
            y.push(target);
        }
        let names = ["a", "b", "c", "y"];
        let columns = columns.into_iter().chain([y.clone()]).map(Column::Numbers);
        let table = Table::new(names.into_iter().zip(columns).collect())?;
        Ok(Rows { table, y, log_likelihood, means: self.mean.map(|_| means) })
    }
}

/// Random numbers.
struct Draws(Rng);

impl Draws {
    fn uniform(&mut self) -> f64 {
        self.0.uniform()
    }

    fn normal(&mut self) -> f64 {
        normal::quantile(self.0.uniform())
    }

    /// By inversion.
    fn poisson(&mut self, rate: f64) -> f64 {
        let (mut rest, mut probability) = (self.uniform(), (-rate).exp());
        for count in 0..MOST_EVENTS {
            if rest < probability {
                return count as f64;
            }
            rest -= probability;
            probability *= rate / (count + 1) as f64;
        }
        MOST_EVENTS as f64
    }
}

fn log_normal_density(y: f64, mean: f64, sd: f64) -> f64 {
    let z = (y - mean) / sd;
    -0.5 * (2.0 * PI).ln() - sd.ln() - 0.5 * z * z
}

fn rate(x: &[f64; INPUTS]) -> f64 {
    (-1.0 + 0.6 * x[0]).exp()
}

fn log_poisson(x: &[f64; INPUTS], y: f64) -> f64 {
    let log_factorial: f64 = (2..=y as usize).map(|k| (k as f64).ln()).sum();
    y * rate(x).ln() - rate(x) - log_factorial
}

fn zero_probability(x: &[f64; INPUTS]) -> f64 {
    1.0 / (1.0 + (0.5 - x[0]).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likelihoods_are_those_of_the_draws() {
        for truth in &TRUTHS {
            let x = [0.4, -0.3, 0.1];
            let draws = &mut Draws(Rng::new(5, 0));
            let sample: Vec<f64> = (0..40_000).map(|_| (truth.draw)(&x, draws)).collect();
            // The share of draws in an interval is the integral of the density there, or the sum of the probabilities.
            let (low, high) = (0.2, 1.6);
            let share = sample.iter().filter(|y| (low..high).contains(*y)).count() as f64 / sample.len() as f64;
            let mass = if truth.mean.is_some() {
                (truth.log_likelihood)(&x, 1.0).exp()
            } else {
                let (steps, width) = (4000, (high - low) / 4000.0);
                (0..steps).map(|at| width * (truth.log_likelihood)(&x, low + width * (at as f64 + 0.5)).exp()).sum()
            };
            assert!((share - mass).abs() < 0.012, "{}: {share} {mass}", truth.name);
        }
    }
}
