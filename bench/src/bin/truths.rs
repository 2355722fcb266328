//! How far predictions are from simulated truths: for each kind of data, number of rows and method, the mean over seeds of
//! the regret in nats a row (log likelihood of fresh rows under the truth minus that under the method).
//!
//! ```text
//! truths [--kinds linear,counts] [--rows 100,300,1000,3000] [--seeds N] [--skip N] [--methods auto,auto:preset=fast,ne-gmm]
//!        [--fresh N]
//! ```
//!
//! Ten seeds, after the first `--skip`. Besides the regret and its standard error a line has the CRPS relative to that of
//! the training targets' distribution (`constant`), the share of fresh rows above the 99.9 % quantile in percent, the mean
//! prediction relative to the true mean (counts alone), and CPU seconds of a fit. `least-squares` is a linear model with normal
//! errors. One thread.

use std::error::Error;

use negmm::train::CpuEngine;
use negmm::{FitOptions, Method, Mixtures, Predictions, Table, fit_with};
use negmm_bench::options::Options;
use negmm_bench::truths::{Rows, TRUTHS, Truth};
use negmm_bench::usage::own_cpu_seconds;

/// Fresh rows.
const FRESH: usize = 3000;
/// The streams of training and fresh rows.
const TRAIN: u64 = 1;
const TEST: u64 = 2;
/// The name of the linear model with normal errors.
const LEAST_SQUARES: &str = "least-squares";
/// The step of a target that is one.
const STEP: f64 = 1.0;

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(&["--kinds", "--rows", "--seeds", "--skip", "--methods", "--fresh"])?;
    let kinds: Vec<String> = options.list("--kinds", TRUTHS.iter().map(|truth| truth.name.to_string()).collect())?;
    let sizes: Vec<usize> = options.list("--rows", vec![100, 300, 1000, 3000])?;
    let (seeds, skipped): (u64, u64) = (options.get("--seeds", 10)?, options.get("--skip", 0)?);
    let fresh: usize = options.get("--fresh", FRESH)?;
    let all = ["auto:preset=fast", "auto", "auto:preset=best", "ne-gmm", "mdn", "ngboost", LEAST_SQUARES, "constant"];
    let methods: Vec<String> = options.list("--methods", all.map(str::to_string).to_vec())?;
    println!(
        "| kind | rows | method | regret | se | CRPS / constant | above 99.9 % | mean | seconds |\n|---|---|---|---|---|---|---|---|---|"
    );
    for kind in &kinds {
        let truth = TRUTHS.iter().find(|truth| truth.name == kind).ok_or(format!("there is no kind {kind:?}"))?;
        for rows in &sizes {
            for method in &methods {
                let scores = (skipped..skipped + seeds)
                    .map(|seed| scores(truth, *rows, fresh, seed, method))
                    .collect::<Result<Vec<_>, _>>()?;
                let n = scores.len() as f64;
                let mean = |at: usize| scores.iter().map(|scores| scores[at]).sum::<f64>() / n;
                let square = |score: &[f64; 5]| (score[0] - mean(0)) * (score[0] - mean(0));
                let error = (scores.iter().map(square).sum::<f64>() / (n * (n - 1.0))).sqrt();
                let ratio = if mean(3).is_nan() { "-".to_string() } else { format!("{:.3}", mean(3)) };
                println!(
                    "| {kind} | {rows} | {method} | {:.4} | {error:.4} | {:.4} | {:.3} | {ratio} | {:.2} |",
                    mean(0),
                    mean(1),
                    100.0 * mean(2),
                    mean(4)
                );
            }
        }
    }
    Ok(())
}

/// Regret, CRPS relative to the constant, share above the 99.9 % quantile, mean relative to the true one, seconds.
fn scores(truth: &Truth, rows: usize, fresh: usize, seed: u64, method: &str) -> Result<[f64; 5], Box<dyn Error>> {
    let (train, test) = (truth.rows(rows, seed, TRAIN)?, truth.rows(fresh, seed, TEST)?);
    let start = own_cpu_seconds();
    let predictions = predictions(&train, &test.table, method)?;
    let seconds = own_cpu_seconds() - start;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let own = match test.means {
        // Also where the grid was not recognised.
        Some(_) => predictions.mass_nll(&test.y, STEP)?.iter().map(|nll| -nll).collect(),
        None => predictions.log_likelihood(&test.y)?,
    };
    let regret = mean(&test.log_likelihood) - mean(&own);
    let constant = self::predictions(&train, &test.table, "constant")?;
    let crps = mean(&predictions.crps(&test.y)?) / mean(&constant.crps(&test.y)?);
    let quantiles = predictions.quantile(0.999)?;
    let above = test.y.iter().zip(quantiles).filter(|(y, quantile)| *y > quantile).count() as f64 / fresh as f64;
    let ratio = test.means.map_or(f64::NAN, |means| mean(&predictions.mean()) / mean(&means));
    Ok([regret, crps, above, ratio, seconds])
}

fn predictions(train: &Rows, test: &Table, method: &str) -> Result<Predictions, Box<dyn Error>> {
    if method == LEAST_SQUARES {
        return least_squares(train, test);
    }
    let mut parts = method.split(':');
    let mut method = Method::by_name(parts.next().unwrap_or_default())?;
    for setting in parts {
        let (name, value) = setting.split_once('=').ok_or(format!("{setting:?} is not option=value"))?;
        method.set(name, &value.replace('+', ","))?;
    }
    let engine = CpuEngine::new(1);
    let fitted = fit_with(&train.table, "y", &method, &FitOptions::default().seed(1).engine(&engine))?;
    Ok(fitted.model.predict(test)?)
}

/// A linear model by the normal equations, with normal errors.
fn least_squares(train: &Rows, test: &Table) -> Result<Predictions, Box<dyn Error>> {
    let rows = |table: &Table| -> Result<Vec<Vec<f64>>, Box<dyn Error>> {
        let column = |name| -> Result<Vec<f64>, Box<dyn Error>> {
            Ok(table.numbers(name).ok_or("a column is missing")??.into_owned())
        };
        let columns = [column("a")?, column("b")?, column("c")?];
        Ok((0..table.rows()).map(|row| [1.0].into_iter().chain(columns.iter().map(|x| x[row])).collect()).collect())
    };
    let (x, fresh) = (rows(&train.table)?, rows(test)?);
    let size = x[0].len();
    // Gauss-Jordan elimination of the normal equations; the last column is the right-hand side.
    let mut system = vec![vec![0.0; size + 1]; size];
    for (row, y) in x.iter().zip(&train.y) {
        for i in 0..size {
            (0..size).for_each(|j| system[i][j] += row[i] * row[j]);
            system[i][size] += row[i] * y;
        }
    }
    for pivot in 0..size {
        let own: Vec<f64> = system[pivot].iter().map(|value| value / system[pivot][pivot]).collect();
        for line in &mut system {
            let factor = line[pivot];
            line.iter_mut().zip(&own).for_each(|(value, own)| *value -= factor * own);
        }
        system[pivot] = own;
    }
    let fitted = |row: &Vec<f64>| row.iter().zip(&system).map(|(x, line)| x * line[size]).sum::<f64>();
    let errors: f64 = x.iter().zip(&train.y).map(|(row, y)| (y - fitted(row)) * (y - fitted(row))).sum();
    let sd = (errors / (x.len() - size) as f64).sqrt();
    let means: Vec<f64> = fresh.iter().map(fitted).collect();
    Ok(Mixtures::new(1, vec![1.0; means.len()], means, vec![sd; fresh.len()])?.into())
}
