//! Ridge regression in closed form, with the distribution of its leave-one-out errors as a Gaussian mixture.
//!
//! With weights w, centred inputs X and targets y, the coefficients minimise Σ w (y - X β)² + λ ‖β‖². One eigendecomposition
//! serves all λ: of Xᵀ W X where there are fewer inputs than rows, of W½ X Xᵀ W½ where there are more. The λ with the
//! smallest sum of squared leave-one-out errors is chosen; the error of row i is residual / (1 - leverage).
//!
//! A target at a bound of its grid, such as the count 0, says only that a latent value lies in the bound's cell or beyond it. As in
//! a tobit model, these values are imputed from their distribution given the cell, and the model is fitted anew, until the
//! probabilities of cells and their mean are right.

pub mod eigen;

use crate::dataset::Dataset;
use crate::empirical::{Component, empirical_mixture};
use negmm_dist::math::normal;

/// Ratios of λ to the mean eigenvalue that are tried.
const RATIOS: [f64; 11] = [1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1e4];
/// Inputs at most: with more, those with the largest absolute correlation with the target are used.
const MOST_INPUTS: usize = 256;
/// Rows up to which a table with more inputs than that uses all of them, by the matrix of rows.
const MOST_DUAL_ROWS: usize = 500;
/// Rows whose leave-one-out errors are computed, at most.
const MOST_ERRORS: usize = 4_000;
/// An interval wider than this many sds of the target has no end on one side.
const WITHOUT_END: f64 = 100.0;
/// Fits in which the latent values of targets at a bound are chosen anew.
const ITERATIONS: usize = 20;
/// The fractional part of the golden ratio, whose multiples are spread evenly.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// A linear model: `intercept` + `coefficients` · x, and the distribution of the error.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// The intercept.
    pub intercept: f64,
    /// One for each input; 0 for those that are not used.
    pub coefficients: Vec<f64>,
    /// The distribution of target - prediction for new rows.
    pub errors: Vec<Component>,
}

/// Rows as columns of f64, centred and times the roots of the weights.
struct Centred {
    /// The inputs that are used.
    used: Vec<usize>,
    means: Vec<f64>,
    /// rows × used inputs.
    x: Vec<f64>,
    roots: Vec<f64>,
    total: f64,
}

/// The eigenvalues and eigenvectors of a matrix of products, which no target changes.
enum Decomposition {
    /// Without inputs, or with one row.
    Nothing,
    /// Of the inputs' matrix; with the rows that choose λ along the eigenvectors, one in `every`.
    Inputs { values: Vec<f64>, vectors: Vec<f64>, sample: Vec<(usize, Vec<f64>)>, every: usize },
    /// Of the rows' matrix.
    Rows { values: Vec<f64>, vectors: Vec<f64> },
}

/// A fit of some targets.
struct Ridge {
    mean: f64,
    /// One for each used input.
    beta: Vec<f64>,
    /// Leave-one-out errors, times the roots of the weights.
    errors: Vec<f64>,
}

/// The interval of a row whose target is at a bound of its grid: it has no end on one side.
struct AtBound {
    row: usize,
    lower: f64,
    upper: f64,
}

impl Linear {
    /// Fits the targets of the rows `train`, with errors as a mixture of at most `components`. Targets at a bound of their grid
    /// are latent values beyond it, of which only the cell is known.
    pub fn fit(data: &Dataset, train: &[u32], components: usize) -> Self {
        let mut y: Vec<f64> = train.iter().map(|row| f64::from(data.y()[*row as usize])).collect();
        let centred = Centred::new(data, train, &y);
        let decomposition = centred.decomposition();
        let mut ridge = centred.ridge(&decomposition, &y);
        let at_bounds = at_bounds(data, train);
        if !at_bounds.is_empty() {
            for _ in 0..ITERATIONS {
                centred.impute(&ridge, &at_bounds, &mut y);
                ridge = centred.ridge(&decomposition, &y);
            }
        }
        let mut coefficients = vec![0.0; data.features()];
        let mut intercept = ridge.mean;
        for ((input, beta), center) in centred.used.iter().zip(ridge.beta).zip(&centred.means) {
            coefficients[*input] = beta;
            intercept -= beta * center;
        }
        let (mut errors, mut weights) = (Vec::new(), Vec::new());
        for (error, root) in ridge.errors.iter().zip(&centred.roots).filter(|(_, root)| **root > 0.0) {
            errors.push(error / root);
            weights.push(root * root);
        }
        Self { intercept, coefficients, errors: empirical_mixture(&errors, &weights, components) }
    }
}

/// The rows whose interval has no end on one side.
fn at_bounds(data: &Dataset, train: &[u32]) -> Vec<AtBound> {
    let Some(intervals) = data.intervals() else { return Vec::new() };
    let interval = |(row, number): (usize, &u32)| {
        let number = *number as usize;
        let (lower, upper) = (f64::from(intervals.lower()[number]), f64::from(intervals.upper()[number]));
        (upper - lower > WITHOUT_END).then_some(AtBound { row, lower, upper })
    };
    train.iter().enumerate().filter_map(interval).collect()
}

/// The smallest 1 - leverage: a row that alone decides its prediction says nothing of its error.
const LEAST_FREE: f64 = 1e-6;

impl Centred {
    fn new(data: &Dataset, train: &[u32], y: &[f64]) -> Self {
        let weights: Vec<f64> = train.iter().map(|row| f64::from(data.sample_weights()[*row as usize])).collect();
        let total: f64 = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let at = |row: u32, input: usize| f64::from(data.x()[row as usize * data.stride() + input]);
        let pairs = || train.iter().copied().zip(&weights);
        let mut used: Vec<usize> = (0..data.features()).collect();
        let center = |input: usize| pairs().map(|(row, weight)| weight * at(row, input)).sum::<f64>() / total;
        if used.len() > MOST_INPUTS && train.len() > MOST_DUAL_ROWS {
            let mean = y.iter().zip(&weights).map(|(y, weight)| weight * y).sum::<f64>() / total;
            let correlation = |input: usize| {
                let center = center(input);
                let (mut product, mut square) = (0.0, 0.0);
                for ((row, weight), y) in pairs().zip(y) {
                    let x = at(row, input) - center;
                    product += weight * x * (y - mean);
                    square += weight * x * x;
                }
                if square > 0.0 { product.abs() / square.sqrt() } else { 0.0 }
            };
            let mut ranked: Vec<(f64, usize)> = used.iter().map(|input| (correlation(*input), *input)).collect();
            ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            used = ranked[..MOST_INPUTS].iter().map(|(_, input)| *input).collect();
            used.sort_unstable();
        }
        let means: Vec<f64> = used.iter().map(|input| center(*input)).collect();
        let roots: Vec<f64> = weights.iter().map(|weight| weight.sqrt()).collect();
        let mut x = Vec::with_capacity(train.len() * used.len());
        for (row, root) in train.iter().zip(&roots) {
            x.extend(used.iter().zip(&means).map(|(input, mean)| root * (at(*row, *input) - mean)));
        }
        Self { used, means, x, roots, total }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.x[row * self.used.len()..][..self.used.len()]
    }

    /// Values of the targets at bounds: quantiles of their normal distributions, given the interval. The levels of the rows are
    /// spread evenly.
    fn impute(&self, ridge: &Ridge, at_bounds: &[AtBound], y: &mut [f64]) {
        let squares: f64 = ridge.errors.iter().map(|error| error * error).sum();
        let sd = (squares / self.total).sqrt().max(f64::MIN_POSITIVE);
        for (number, AtBound { row, lower, upper }) in at_bounds.iter().enumerate() {
            if self.roots[*row] > 0.0 {
                let along: f64 = self.row(*row).iter().zip(&ridge.beta).map(|(x, beta)| x * beta).sum();
                let mean = ridge.mean + along / self.roots[*row];
                let level = (0.5 + number as f64 * GOLDEN).fract();
                // On the side where the probabilities are small.
                let side = if lower + upper < 0.0 { 1.0 } else { -1.0 };
                let end = normal::cdf(if side > 0.0 { upper - mean } else { mean - lower } / sd);
                y[*row] = mean + side * sd * normal::quantile((level * end).max(f64::MIN_POSITIVE));
            }
        }
    }

    fn decomposition(&self) -> Decomposition {
        let (rows, inputs) = (self.roots.len(), self.used.len());
        if inputs == 0 || rows < 2 {
            return Decomposition::Nothing;
        }
        if inputs > rows { self.of_rows(rows) } else { self.of_inputs(rows, inputs) }
    }

    fn of_inputs(&self, rows: usize, inputs: usize) -> Decomposition {
        let mut gram = vec![0.0; inputs * inputs];
        for row in 0..rows {
            let x = self.row(row);
            for (i, xi) in x.iter().enumerate().filter(|(_, xi)| **xi != 0.0) {
                for (sum, xj) in gram[i * inputs..][..=i].iter_mut().zip(x) {
                    *sum += xi * xj;
                }
            }
        }
        for i in 0..inputs {
            for j in 0..i {
                gram[j * inputs + i] = gram[i * inputs + j];
            }
        }
        let (values, vectors) = eigen::symmetric(gram, inputs);
        // With many rows those that choose λ are a sample.
        let every = rows.div_ceil(MOST_ERRORS);
        let sample = (0..rows).step_by(every).map(|row| (row, turned(&vectors, self.row(row)))).collect();
        Decomposition::Inputs { values, vectors, sample, every }
    }

    fn of_rows(&self, rows: usize) -> Decomposition {
        let mut gram = vec![0.0; rows * rows];
        for i in 0..rows {
            for j in 0..=i {
                let product: f64 = self.row(i).iter().zip(self.row(j)).map(|(a, b)| a * b).sum();
                gram[i * rows + j] = product;
                gram[j * rows + i] = product;
            }
        }
        let (values, vectors) = eigen::symmetric(gram, rows);
        Decomposition::Rows { values, vectors }
    }

    /// Coefficients with the best λ and leave-one-out errors; without inputs the coefficients are 0.
    fn ridge(&self, decomposition: &Decomposition, y: &[f64]) -> Ridge {
        let mean = y.iter().zip(&self.roots).map(|(y, root)| root * root * y).sum::<f64>() / self.total;
        let y: Vec<f64> = y.iter().zip(&self.roots).map(|(y, root)| root * (y - mean)).collect();
        let (beta, errors) = match decomposition {
            Decomposition::Nothing => (vec![0.0; self.used.len()], y),
            Decomposition::Inputs { values, vectors, sample, every } => {
                self.primal(values, vectors, sample, *every > 1, &y)
            }
            Decomposition::Rows { values, vectors } => self.dual(values, vectors, &y),
        };
        Ridge { mean, beta, errors }
    }

    /// By the matrix of inputs.
    fn primal(
        &self,
        values: &[f64],
        vectors: &[f64],
        sample: &[(usize, Vec<f64>)],
        sampled: bool,
        y: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let (rows, inputs) = (y.len(), values.len());
        let mut products = vec![0.0; inputs];
        for (row, y) in y.iter().enumerate() {
            products.iter_mut().zip(self.row(row)).for_each(|(product, x)| *product += x * y);
        }
        let along = turned(vectors, &products);
        let lambda = self.best(values, |lambda| {
            let mut sum = 0.0;
            for (row, z) in sample {
                let (mut fitted, mut leverage) = (0.0, self.roots[*row] * self.roots[*row] / self.total);
                for ((z, value), along) in z.iter().zip(values).zip(&along) {
                    let scaled = z / (value.max(0.0) + lambda);
                    fitted += scaled * along;
                    leverage += scaled * z;
                }
                let error = (y[*row] - fitted) / (1.0 - leverage).max(LEAST_FREE);
                sum += error * error;
            }
            sum
        });
        let scaled: Vec<f64> =
            along.iter().zip(values).map(|(along, value)| along / (value.max(0.0) + lambda)).collect();
        let beta: Vec<f64> = vectors
            .chunks_exact(inputs)
            .map(|row| row.iter().zip(&scaled).map(|(vector, scaled)| vector * scaled).sum())
            .collect();
        let mut leverages = vec![0.0; rows];
        for (row, z) in sample {
            leverages[*row] = z.iter().zip(values).map(|(z, value)| z * z / (value.max(0.0) + lambda)).sum();
        }
        if sampled {
            let mean = sample.iter().map(|(row, _)| leverages[*row]).sum::<f64>() / sample.len() as f64;
            leverages.iter_mut().for_each(|leverage| *leverage = mean);
        }
        let error = |row: usize| {
            let fitted: f64 = self.row(row).iter().zip(&beta).map(|(x, beta)| x * beta).sum();
            let leverage = leverages[row] + self.roots[row] * self.roots[row] / self.total;
            (y[row] - fitted) / (1.0 - leverage).max(LEAST_FREE)
        };
        let errors = (0..rows).map(error).collect();
        (beta, errors)
    }

    /// By the matrix of rows.
    fn dual(&self, values: &[f64], vectors: &[f64], y: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let rows = y.len();
        let along: Vec<f64> = (0..rows).map(|k| (0..rows).map(|i| vectors[i * rows + k] * y[i]).sum()).collect();
        // Residuals, and 1 - leverage without the intercept's part. Computed from what λ takes away, so that nothing
        // cancels where the fit goes through every row.
        let smoothed = |lambda: f64| {
            let parts: Vec<f64> = values.iter().map(|value| lambda / (value.max(0.0) + lambda)).collect();
            let of_row = |row: usize| {
                let (mut residual, mut free) = (0.0, 0.0);
                for ((vector, part), along) in vectors[row * rows..][..rows].iter().zip(&parts).zip(&along) {
                    residual += vector * part * along;
                    free += vector * vector * part;
                }
                (residual, free)
            };
            (0..rows).map(of_row).unzip::<f64, f64, Vec<f64>, Vec<f64>>()
        };
        let intercept = |row: usize| self.roots[row] * self.roots[row] / self.total;
        let lambda = self.best(values, |lambda| {
            let (residuals, free) = smoothed(lambda);
            let error = |row: usize| residuals[row] / (free[row] - intercept(row)).max(LEAST_FREE);
            (0..rows).map(|row| error(row) * error(row)).sum()
        });
        let dual: Vec<f64> = (0..rows)
            .map(|row| {
                let parts = vectors[row * rows..][..rows].iter().zip(values).zip(&along);
                parts.map(|((vector, value), along)| vector * along / (value.max(0.0) + lambda)).sum()
            })
            .collect();
        let mut beta = vec![0.0; self.used.len()];
        for (row, dual) in dual.iter().enumerate() {
            beta.iter_mut().zip(self.row(row)).for_each(|(beta, x)| *beta += dual * x);
        }
        let (residuals, free) = smoothed(lambda);
        let errors = (0..rows).map(|row| residuals[row] / (free[row] - intercept(row)).max(LEAST_FREE)).collect();
        (beta, errors)
    }

    /// The λ with the smallest sum of squared errors.
    fn best(&self, values: &[f64], errors: impl Fn(f64) -> f64) -> f64 {
        let unit = values.iter().map(|value| value.max(0.0)).sum::<f64>() / self.used.len().max(1) as f64;
        let unit = unit.max(f64::MIN_POSITIVE);
        let candidates = RATIOS.map(|ratio| ratio * unit);
        let sums = candidates.map(errors);
        let best = (0..RATIOS.len()).filter(|at| sums[*at].is_finite()).min_by(|a, b| sums[*a].total_cmp(&sums[*b]));
        best.map_or(unit, |at| candidates[at])
    }
}

/// A row of inputs along each eigenvector.
fn turned(vectors: &[f64], x: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; x.len()];
    for (x, row) in x.iter().zip(vectors.chunks_exact(x.len())).filter(|(x, _)| **x != 0.0) {
        sums.iter_mut().zip(row).for_each(|(sum, v)| *sum += x * v);
    }
    sums
}
