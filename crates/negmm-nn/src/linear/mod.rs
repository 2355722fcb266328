//! Ridge regression in closed form, with the distribution of its leave-one-out errors as a Gaussian mixture.
//!
//! With weights w, centred inputs X and targets y, the coefficients minimise Σ w (y - X β)² + λ ‖β‖². One eigendecomposition
//! serves all λ: of Xᵀ W X where there are fewer inputs than rows, of W½ X Xᵀ W½ where there are more. The λ with the
//! smallest sum of squared leave-one-out errors is chosen; the error of row i is residual / (1 - leverage).

mod eigen;

use crate::dataset::Dataset;
use crate::empirical::{Component, empirical_mixture};

/// Ratios of λ to the mean eigenvalue that are tried.
const RATIOS: [f64; 11] = [1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1e4];
/// Inputs at most: with more, those with the largest absolute correlation with the target are used.
const MOST_INPUTS: usize = 256;
/// Rows up to which a table with more inputs than that uses all of them, by the matrix of rows.
const MOST_DUAL_ROWS: usize = 500;
/// Rows whose leave-one-out errors are computed, at most.
const MOST_ERRORS: usize = 4_000;

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
    mean: f64,
    y: Vec<f64>,
    roots: Vec<f64>,
    total: f64,
}

impl Linear {
    /// Fits the targets of the rows `train`, with errors as a mixture of at most `components`.
    pub fn fit(data: &Dataset, train: &[u32], components: usize) -> Self {
        let centred = Centred::new(data, train);
        let Centred { used, means, mean, roots, .. } = &centred;
        let (beta, left_out) = centred.ridge();
        let mut coefficients = vec![0.0; data.features()];
        let mut intercept = *mean;
        for ((input, beta), center) in used.iter().zip(beta).zip(means) {
            coefficients[*input] = beta;
            intercept -= beta * center;
        }
        let (mut errors, mut weights) = (Vec::new(), Vec::new());
        for (error, root) in left_out.iter().zip(roots).filter(|(_, root)| **root > 0.0) {
            errors.push(error / root);
            weights.push(root * root);
        }
        Self { intercept, coefficients, errors: empirical_mixture(&errors, &weights, components) }
    }
}

/// The smallest 1 - leverage: a row that alone decides its prediction says nothing of its error.
const LEAST_FREE: f64 = 1e-6;

impl Centred {
    fn new(data: &Dataset, train: &[u32]) -> Self {
        let weights: Vec<f64> = train.iter().map(|row| f64::from(data.sample_weights()[*row as usize])).collect();
        let total: f64 = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let at = |row: u32, input: usize| f64::from(data.x()[row as usize * data.stride() + input]);
        let y = |row: u32| f64::from(data.y()[row as usize]);
        let pairs = || train.iter().copied().zip(&weights);
        let mean = pairs().map(|(row, weight)| weight * y(row)).sum::<f64>() / total;
        let mut used: Vec<usize> = (0..data.features()).collect();
        let center = |input: usize| pairs().map(|(row, weight)| weight * at(row, input)).sum::<f64>() / total;
        if used.len() > MOST_INPUTS && train.len() > MOST_DUAL_ROWS {
            let correlation = |input: usize| {
                let center = center(input);
                let (mut product, mut square) = (0.0, 0.0);
                for (row, weight) in pairs() {
                    let x = at(row, input) - center;
                    product += weight * x * (y(row) - mean);
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
        let y = train.iter().zip(&roots).map(|(row, root)| root * (y(*row) - mean)).collect();
        Self { used, means, x, mean, y, roots, total }
    }

    /// Coefficients with the best λ and leave-one-out errors, times the roots of the weights; without inputs the coefficients
    /// are 0.
    fn ridge(&self) -> (Vec<f64>, Vec<f64>) {
        let (rows, inputs) = (self.y.len(), self.used.len());
        if inputs == 0 || rows < 2 {
            return (vec![0.0; inputs], self.y.clone());
        }
        if inputs > rows { self.dual(rows, inputs) } else { self.primal(rows, inputs) }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.x[row * self.used.len()..][..self.used.len()]
    }

    /// By the matrix of inputs.
    fn primal(&self, rows: usize, inputs: usize) -> (Vec<f64>, Vec<f64>) {
        let mut gram = vec![0.0; inputs * inputs];
        let mut products = vec![0.0; inputs];
        for row in 0..rows {
            let x = self.row(row);
            for (i, xi) in x.iter().enumerate().filter(|(_, xi)| **xi != 0.0) {
                products[i] += xi * self.y[row];
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
        let turned = |x: &[f64]| -> Vec<f64> {
            let mut sums = vec![0.0; inputs];
            for (x, row) in x.iter().zip(vectors.chunks_exact(inputs)).filter(|(x, _)| **x != 0.0) {
                sums.iter_mut().zip(row).for_each(|(sum, v)| *sum += x * v);
            }
            sums
        };
        let along = turned(&products);
        // With many rows those that choose λ are a sample.
        let every = rows.div_ceil(MOST_ERRORS);
        let sample: Vec<usize> = (0..rows).step_by(every).collect();
        let z: Vec<Vec<f64>> = sample.iter().map(|row| turned(self.row(*row))).collect();
        let lambda = self.best(&values, |lambda| {
            let mut sum = 0.0;
            for (row, z) in sample.iter().zip(&z) {
                let (mut fitted, mut leverage) = (0.0, self.roots[*row] * self.roots[*row] / self.total);
                for ((z, value), along) in z.iter().zip(&values).zip(&along) {
                    let scaled = z / (value.max(0.0) + lambda);
                    fitted += scaled * along;
                    leverage += scaled * z;
                }
                let error = (self.y[*row] - fitted) / (1.0 - leverage).max(LEAST_FREE);
                sum += error * error;
            }
            sum
        });
        let scaled: Vec<f64> =
            along.iter().zip(&values).map(|(along, value)| along / (value.max(0.0) + lambda)).collect();
        let beta: Vec<f64> = vectors
            .chunks_exact(inputs)
            .map(|row| row.iter().zip(&scaled).map(|(vector, scaled)| vector * scaled).sum())
            .collect();
        let mut leverages = vec![0.0; rows];
        for (row, z) in sample.iter().zip(&z) {
            leverages[*row] = z.iter().zip(&values).map(|(z, value)| z * z / (value.max(0.0) + lambda)).sum();
        }
        if every > 1 {
            let mean = sample.iter().map(|row| leverages[*row]).sum::<f64>() / sample.len() as f64;
            leverages.iter_mut().for_each(|leverage| *leverage = mean);
        }
        let error = |row: usize| {
            let fitted: f64 = self.row(row).iter().zip(&beta).map(|(x, beta)| x * beta).sum();
            let leverage = leverages[row] + self.roots[row] * self.roots[row] / self.total;
            (self.y[row] - fitted) / (1.0 - leverage).max(LEAST_FREE)
        };
        let errors = (0..rows).map(error).collect();
        (beta, errors)
    }

    /// By the matrix of rows.
    fn dual(&self, rows: usize, inputs: usize) -> (Vec<f64>, Vec<f64>) {
        let mut gram = vec![0.0; rows * rows];
        for i in 0..rows {
            for j in 0..=i {
                let product: f64 = self.row(i).iter().zip(self.row(j)).map(|(a, b)| a * b).sum();
                gram[i * rows + j] = product;
                gram[j * rows + i] = product;
            }
        }
        let (values, vectors) = eigen::symmetric(gram, rows);
        let along: Vec<f64> = (0..rows).map(|k| (0..rows).map(|i| vectors[i * rows + k] * self.y[i]).sum()).collect();
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
        let lambda = self.best(&values, |lambda| {
            let (residuals, free) = smoothed(lambda);
            let error = |row: usize| residuals[row] / (free[row] - intercept(row)).max(LEAST_FREE);
            (0..rows).map(|row| error(row) * error(row)).sum()
        });
        let dual: Vec<f64> = (0..rows)
            .map(|row| {
                let parts = vectors[row * rows..][..rows].iter().zip(&values).zip(&along);
                parts.map(|((vector, value), along)| vector * along / (value.max(0.0) + lambda)).sum()
            })
            .collect();
        let mut beta = vec![0.0; inputs];
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
