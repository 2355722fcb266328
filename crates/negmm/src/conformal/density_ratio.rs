//! Density ratio of two samples of inputs, for conformal sets under covariate shift.
//!
//! A logistic regression tells the rows of one sample from those of the other; with log-odds h(x) and n and m rows, the
//! ratio of their densities is exp(h(x)) n / m (Sugiyama, Suzuki and Kanamori, 2012). Its features are those of the
//! encoder, and the squares of numbers, so that the ratio of two normal distributions is among them. With estimated
//! weights the coverage is off by at most half the mean absolute error of the ratio (Lei and Candès, 2021).

use serde::{Deserialize, Serialize};

use negmm_dist::{Error, Result};
use negmm_nn::dataset::Dataset;

/// Features at most: those whose means differ most.
const MOST_FEATURES: usize = 200;
/// The prior precision of a coefficient, of standardised features.
const RIDGE: f64 = 1.0;
/// Newton steps at most, and the size of a step that counts as convergence.
const STEPS: usize = 50;
const TOLERANCE: f64 = 1e-8;
/// The largest absolute logarithm of a ratio: 50 and 1/50.
const MOST_LOG: f64 = 3.912;
/// Rows of each sample at least.
const LEAST_ROWS: usize = 20;

/// The logarithm of a ratio of densities, linear in features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DensityRatio {
    intercept: f64,
    /// Feature, whether it is squared, and its coefficient.
    coefficients: Vec<(usize, bool, f64)>,
}

impl DensityRatio {
    /// The ratio of the density of `new` rows to that of `old` ones.
    ///
    /// # Errors
    /// When there are too few rows.
    pub(crate) fn fit(old: &Dataset, new: &Dataset) -> Result<Self> {
        if old.len().min(new.len()) < LEAST_ROWS {
            return Err(Error::data(format!(
                "weights towards other inputs need at least {LEAST_ROWS} rows of each file, found {} and {}",
                old.len(),
                new.len()
            )));
        }
        let numbers = old.numbers().iter().map(|feature| (*feature, true));
        let candidates: Vec<(usize, bool)> =
            (0..old.features()).map(|feature| (feature, false)).chain(numbers).collect();
        let mut columns: Vec<Standardised> =
            candidates.into_iter().filter_map(|feature| Standardised::new(feature, old, new)).collect();
        columns.sort_by(|a, b| b.difference.abs().total_cmp(&a.difference.abs()));
        columns.truncate(MOST_FEATURES);
        columns.sort_by_key(|column| column.feature);
        let rows: Vec<(Vec<f64>, bool)> = [(old, false), (new, true)]
            .into_iter()
            .flat_map(|(data, is_new)| (0..data.len()).map(move |row| (data, row, is_new)))
            .map(|(data, row, is_new)| {
                let own = columns.iter().map(|column| column.standardised(data, row));
                (std::iter::once(1.0).chain(own).collect(), is_new)
            })
            .collect();
        let beta = logistic(&rows, columns.len() + 1);
        let mut intercept = beta[0] - libm::log(new.len() as f64 / old.len() as f64);
        let coefficients = columns.iter().zip(&beta[1..]).map(|(column, beta)| {
            intercept -= beta * column.mean / column.sd;
            (column.feature.0, column.feature.1, beta / column.sd)
        });
        let coefficients = coefficients.collect();
        Ok(Self { intercept, coefficients })
    }

    /// The ratio of each row.
    pub(crate) fn weights(&self, data: &Dataset) -> Vec<f64> {
        let log = |row: usize| {
            let parts =
                self.coefficients.iter().map(|(feature, squared, beta)| beta * value(data, row, (*feature, *squared)));
            self.intercept + parts.sum::<f64>()
        };
        (0..data.len()).map(|row| libm::exp(log(row).clamp(-MOST_LOG, MOST_LOG))).collect()
    }

    /// Whether it is one of rows with this many features, with finite numbers.
    pub(crate) fn is_sound(&self, features: usize) -> bool {
        self.intercept.is_finite()
            && self.coefficients.iter().all(|(feature, _, beta)| *feature < features && beta.is_finite())
    }
}

/// A feature, its mean and sd over both samples, and how much its means differ.
struct Standardised {
    feature: (usize, bool),
    mean: f64,
    sd: f64,
    difference: f64,
}

impl Standardised {
    /// `None` where it does not vary.
    fn new(feature: (usize, bool), old: &Dataset, new: &Dataset) -> Option<Self> {
        let all = |data: &Dataset| (0..data.len()).map(|row| value(data, row, feature)).collect::<Vec<f64>>();
        let (old, new) = (all(old), all(new));
        let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
        let difference = mean(&new) - mean(&old);
        let both = [old, new].concat();
        let center = mean(&both);
        let sd = (both.iter().map(|x| (x - center) * (x - center)).sum::<f64>() / both.len() as f64).sqrt();
        (sd > 1e-9).then(|| Self { feature, mean: center, sd, difference: difference / sd })
    }

    fn standardised(&self, data: &Dataset, row: usize) -> f64 {
        (value(data, row, self.feature) - self.mean) / self.sd
    }
}

/// A feature of a row, or its square; 0 where it is missing.
fn value(data: &Dataset, row: usize, (feature, squared): (usize, bool)) -> f64 {
    let x = f64::from(data.x()[row * data.stride() + feature]);
    let x = if x.is_nan() { 0.0 } else { x };
    if squared { x * x } else { x }
}

/// The coefficients of a logistic regression by Newton's method; the first, of a constant, has no penalty.
fn logistic(rows: &[(Vec<f64>, bool)], count: usize) -> Vec<f64> {
    let mut beta = vec![0.0; count];
    let mut loss = penalised_loss(rows, &beta);
    for _ in 0..STEPS {
        let penalty = |at: usize| if at == 0 { 0.0 } else { RIDGE };
        let mut gradient: Vec<f64> = (0..count).map(|at| penalty(at) * beta[at]).collect();
        let mut hessian = vec![0.0; count * count];
        (0..count).for_each(|at| hessian[at * count + at] = penalty(at) + 1e-9);
        for (x, is_new) in rows {
            let p = 1.0 / (1.0 + libm::exp(-dot(x, &beta)));
            let (error, weight) = (p - f64::from(u8::from(*is_new)), p * (1.0 - p));
            for at in 0..count {
                gradient[at] += error * x[at];
                let scaled = weight * x[at];
                hessian[at * count..=at * count + at].iter_mut().zip(x).for_each(|(sum, x)| *sum += scaled * x);
            }
        }
        let step = solved(hessian, gradient);
        let mut factor = 1.0;
        let (next, lower) = loop {
            let next: Vec<f64> = beta.iter().zip(&step).map(|(beta, step)| beta - factor * step).collect();
            let lower = penalised_loss(rows, &next);
            if lower <= loss || factor < 1e-6 {
                break (next, lower);
            }
            factor *= 0.5;
        };
        let moved = step.iter().fold(0.0_f64, |most, step| most.max((factor * step).abs()));
        if lower > loss || lower.is_nan() {
            break;
        }
        (beta, loss) = (next, lower);
        if moved < TOLERANCE {
            break;
        }
    }
    beta
}

fn dot(x: &[f64], beta: &[f64]) -> f64 {
    x.iter().zip(beta).map(|(x, beta)| x * beta).sum()
}

fn penalised_loss(rows: &[(Vec<f64>, bool)], beta: &[f64]) -> f64 {
    let of_row = |(x, is_new): &(Vec<f64>, bool)| {
        let odds = if *is_new { -dot(x, beta) } else { dot(x, beta) };
        odds.max(0.0) + libm::log1p(libm::exp(-odds.abs()))
    };
    rows.iter().map(of_row).sum::<f64>() + 0.5 * RIDGE * beta[1..].iter().map(|beta| beta * beta).sum::<f64>()
}

/// The solution of a positive definite system, of which the lower triangle is given, by Cholesky's decomposition.
fn solved(mut matrix: Vec<f64>, mut right: Vec<f64>) -> Vec<f64> {
    let count = right.len();
    for row in 0..count {
        for column in 0..=row {
            let known: f64 = (0..column).map(|at| matrix[row * count + at] * matrix[column * count + at]).sum();
            let rest = matrix[row * count + column] - known;
            matrix[row * count + column] =
                if row == column { rest.max(1e-12).sqrt() } else { rest / matrix[column * count + column] };
        }
        let known: f64 = (0..row).map(|at| matrix[row * count + at] * right[at]).sum();
        right[row] = (right[row] - known) / matrix[row * count + row];
    }
    for row in (0..count).rev() {
        let known: f64 = (row + 1..count).map(|at| matrix[at * count + row] * right[at]).sum();
        right[row] = (right[row] - known) / matrix[row * count + row];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::Rng;
    use negmm_dist::math::normal;

    /// Rows of two inputs, the first with this mean and sd.
    fn rows(count: usize, mean: f64, sd: f64, stream: u64) -> Dataset {
        let mut rng = Rng::new(8, stream);
        let mut data = Dataset::new(2);
        for _ in 0..count {
            let (x, z) = (normal::quantile(rng.uniform()), normal::quantile(rng.uniform()));
            data.push(&[(mean + sd * x) as f32, z as f32], 0.0);
        }
        data
    }

    #[test]
    fn the_ratio_of_two_normal_distributions_is_found() {
        let (old, new) = (rows(4000, 0.0, 1.0, 1), rows(3000, 0.8, 0.7, 2));
        let ratio = DensityRatio::fit(&old, &new).unwrap();
        let mut probe = Dataset::new(2);
        let points = [-1.0, 0.0, 0.8, 1.5];
        points.iter().for_each(|x| probe.push(&[*x as f32, 0.3], 0.0));
        for (x, found) in points.iter().zip(ratio.weights(&probe)) {
            let log = |x: f64, mean: f64, sd: f64| normal::log_pdf((x - mean) / sd) - libm::log(sd);
            let expected = log(*x, 0.8, 0.7) - log(*x, 0.0, 1.0);
            assert!((libm::log(found) - expected).abs() < 0.2, "{x}: {} {expected}", libm::log(found));
        }
        // The mean weight of the old rows is 1.
        let weights = ratio.weights(&old);
        assert!((weights.iter().sum::<f64>() / 4000.0 - 1.0).abs() < 0.05);
        assert!(ratio.is_sound(2) && !ratio.is_sound(1));
    }

    #[test]
    fn without_a_shift_all_weights_are_about_1() {
        let ratio = DensityRatio::fit(&rows(2000, 0.0, 1.0, 1), &rows(2000, 0.0, 1.0, 2)).unwrap();
        assert!(ratio.weights(&rows(500, 0.0, 1.0, 3)).iter().all(|weight| (0.5..2.0).contains(weight)));
        let message = DensityRatio::fit(&rows(10, 0.0, 1.0, 1), &rows(500, 0.0, 1.0, 2)).unwrap_err().to_string();
        assert_eq!(message, "weights towards other inputs need at least 20 rows of each file, found 10 and 500");
    }

    #[test]
    fn systems_are_solved() {
        // [4 2; 2 3] x = [2; 5]
        let x = solved(vec![4.0, 9.0, 2.0, 3.0], vec![2.0, 5.0]);
        assert!((x[0] + 0.5).abs() < 1e-12 && (x[1] - 2.0).abs() < 1e-12, "{x:?}");
    }
}
