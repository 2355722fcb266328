//! Explanations of simulations with known truth: a column that moves the mean, one the spread, one the upper tail alone, one
//! nothing, and one that is correlated with the first and does nothing itself.
//!
//! ```text
//! explain_simulations [--rows 1000] [--seeds 20] [--skip 0] [--preset fast] [--correlation 0.9] [--from 0.8] [--longer 10]
//! ```
//!
//! y = 2 m + (0.6 + 0.6 s) g(z, t) with z standard normal and g(z, t) = z below its quantile c of the level `--from`,
//! c + (1 + 10 t) (z - c) above it (`--longer`); all columns are uniform. For the mean, the interquartile range and the upper tail (97 % quantile minus median, whose
//! contributions are differences of contributions): mean |contribution| of each column over 60 rows, the mean over seeds beside
//! that of the truth against the same background, and in how many seeds the column that matters most is the first. `nothing`
//! is right in a seed where it is the last, its parts of the largest contribution to each answer summed; a whole seed, where all
//! four are right. One thread.

use std::error::Error;

use negmm::data::{Column, Table};
use negmm::explain::{Answer, Background, Effort, Explainer, Explanation};
use negmm::train::CpuEngine;
use negmm::{FitOptions, Method, Rng, fit_with};
use negmm_bench::options::Options;
use negmm_dist::math::normal;

const COLUMNS: [&str; 4] = ["mean", "spread", "tail", "nothing"];
/// The answers, and the column that matters most for each.
const ANSWERS: [(&str, usize); 3] = [("mean", 0), ("q0.75 - q0.25", 1), ("q0.97 - q0.5", 2)];
/// The level of the upper end of the tail, and of the upper quartile.
const HIGH: f64 = 0.97;
const QUARTILE: f64 = 0.75;
/// Where the tail begins, as a probability, and how much longer it can be.
#[derive(Clone, Copy)]
struct Tail {
    from: f64,
    longer: f64,
}

/// Rows that are explained, and background rows.
const EXPLAINED: usize = 60;
const BACKGROUND: usize = 32;

impl Tail {
    fn g(self, z: f64, t: f64) -> f64 {
        let c = normal::quantile(self.from);
        if z <= c { z } else { c + (1.0 + self.longer * t) * (z - c) }
    }

    /// The answers of the truth.
    fn truth(self, x: &[f64]) -> [f64; 3] {
        let c = normal::quantile(self.from);
        let sd = 0.6 + 0.6 * x[1];
        // E (z - c)+ = phi(c) - c (1 - Phi(c))
        let excess = normal::log_pdf(c).exp() - c * (1.0 - self.from);
        let quantile = |level: f64| self.g(normal::quantile(level), x[2]);
        [
            2.0 * x[0] + sd * self.longer * x[2] * excess,
            sd * (quantile(QUARTILE) - quantile(1.0 - QUARTILE)),
            sd * (quantile(HIGH) - quantile(0.5)),
        ]
    }
}

/// The mean |contribution| of each column to each answer of the truth: answers × columns.
fn true_contributions(tail: Tail, rows: &[Vec<f64>], background: &[Vec<f64>]) -> [[f64; 4]; 3] {
    let weights = [0.25, 1.0 / 12.0, 1.0 / 12.0, 0.25];
    let mut found = [[0.0; 4]; 3];
    for row in rows {
        let values: Vec<[f64; 3]> = (0..16usize)
            .map(|subset| {
                let mut sums = [0.0; 3];
                for other in background {
                    let mixed: Vec<f64> =
                        (0..4).map(|at| if subset >> at & 1 == 1 { row[at] } else { other[at] }).collect();
                    sums.iter_mut()
                        .zip(tail.truth(&mixed))
                        .for_each(|(sum, value)| *sum += value / background.len() as f64);
                }
                sums
            })
            .collect();
        for (answer, found) in found.iter_mut().enumerate() {
            for (column, found) in found.iter_mut().enumerate() {
                let change = |subset: usize| {
                    weights[subset.count_ones() as usize]
                        * (values[subset | 1 << column][answer] - values[subset][answer])
                };
                let own: f64 = (0..16).filter(|subset| subset >> column & 1 == 0).map(change).sum();
                *found += own.abs() / rows.len() as f64;
            }
        }
    }
    found
}

/// The mean |contribution| of each column to an answer: the first two are explained themselves, the third is a difference.
fn mean_absolute(explanation: &Explanation, answer: usize) -> Vec<f64> {
    if answer < 2 {
        return explanation.mean_absolute(answer, None);
    }
    let mut means = vec![0.0; explanation.columns().len()];
    for row in 0..explanation.rows() {
        let (high, middle) = (explanation.contributions(row, 2), explanation.contributions(row, 3));
        let of = high.iter().zip(middle).map(|(high, middle)| (high - middle).abs() / explanation.rows() as f64);
        means.iter_mut().zip(of).for_each(|(mean, own)| *mean += own);
    }
    means
}

/// Rows of the columns (and of the one that goes along with the first), and their targets.
fn rows(tail: Tail, count: usize, correlation: f64, rng: &mut Rng) -> (Vec<Vec<f64>>, Vec<f64>) {
    let row = |rng: &mut Rng| -> Vec<f64> {
        let mut x: Vec<f64> = (0..4).map(|_| rng.uniform()).collect();
        // A normal copula of that correlation.
        let own = normal::quantile(rng.uniform());
        let along = correlation * normal::quantile(x[0]) + (1.0 - correlation * correlation).sqrt() * own;
        x.push(normal::cdf(along));
        x
    };
    let x: Vec<Vec<f64>> = (0..count).map(|_| row(rng)).collect();
    let y = x.iter().map(|x| 2.0 * x[0] + (0.6 + 0.6 * x[1]) * tail.g(normal::quantile(rng.uniform()), x[2]));
    let y = y.collect();
    (x, y)
}

fn table(x: &[Vec<f64>], y: &[f64], correlated: bool) -> negmm::Result<Table> {
    let column = |at: usize| Column::Numbers(x.iter().map(|row| row[at]).collect());
    let mut columns: Vec<_> = (0..4).map(|at| (COLUMNS[at], column(at))).collect();
    if correlated {
        columns.push(("along", column(4)));
    }
    columns.push(("y", Column::Numbers(y.to_vec())));
    Table::new(columns)
}

fn main() -> Result<(), Box<dyn Error>> {
    let names = ["--rows", "--seeds", "--skip", "--preset", "--correlation", "--from", "--longer"];
    let options = Options::read(&names)?;
    let tail = Tail { from: options.get("--from", 0.8)?, longer: options.get("--longer", 10.0)? };
    let (count, seeds): (usize, u64) = (options.get("--rows", 1000)?, options.get("--seeds", 20)?);
    let skipped: u64 = options.get("--skip", 0)?;
    let correlation: f64 = options.get("--correlation", 0.9)?;
    let mut method = Method::by_name("auto")?;
    method.set("preset", options.text("--preset").unwrap_or("fast"))?;
    for correlated in [false, true] {
        let names: Vec<&str> = if correlated { [&COLUMNS[..], &["along"]].concat() } else { COLUMNS.to_vec() };
        let width = names.len();
        let mut sums = vec![vec![0.0; width]; ANSWERS.len()];
        let mut truths = [[0.0; 4]; 3];
        let (mut first, mut last, mut whole) = ([0; 3], 0, 0);
        for seed in skipped..skipped + seeds {
            let (x, y) = rows(tail, count, correlation, &mut Rng::new(seed, 0));
            let train = table(&x, &y, correlated)?;
            let engine = CpuEngine::new(1);
            let model = fit_with(&train, "y", &method, &FitOptions::default().seed(seed).engine(&engine))?.model;
            let (fresh, targets) = rows(tail, EXPLAINED, correlation, &mut Rng::new(seed, 1));
            let background = train.select_rows(&(0..BACKGROUND).collect::<Vec<_>>());
            let (background, _) = Background::of_table(&model, &background, BACKGROUND, 0)?;
            let answers = Answer::list("mean,width_0.5,q0.97,q0.5")?;
            let explainer = Explainer::new(&model, background, answers)?.with_effort(Effort::Permutations(1))?;
            let (explanation, _) = explainer.explain(&table(&fresh, &targets, correlated)?)?;
            let (mut parts, mut right) = (vec![0.0; width], true);
            for (answer, (_, strongest)) in ANSWERS.into_iter().enumerate() {
                let means = mean_absolute(&explanation, answer);
                let largest = means.iter().copied().fold(0.0, f64::max);
                first[answer] += usize::from(means[strongest] == largest);
                right &= means[strongest] == largest;
                for (column, mean) in means.iter().enumerate() {
                    sums[answer][column] += mean / seeds as f64;
                    parts[column] += mean / largest;
                }
            }
            let behind = parts[..3].iter().all(|part| *part > parts[3]);
            last += usize::from(behind);
            whole += usize::from(right && behind);
            let own = true_contributions(tail, &fresh, &x[..BACKGROUND]);
            for (sums, own) in truths.iter_mut().zip(own) {
                sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own / seeds as f64);
            }
        }
        let title =
            if correlated { format!("with a column of correlation {correlation}") } else { "independent".into() };
        println!("{title}: {count} rows, {seeds} seeds; estimated (true) mean |contribution|\n");
        println!("| answer | {} | right first |\n|---|{}---|", names.join(" | "), "---|".repeat(width));
        for (answer, (name, _)) in ANSWERS.into_iter().enumerate() {
            let of = |column: usize| {
                format!("{:.3} ({:.3})", sums[answer][column], truths[answer].get(column).unwrap_or(&0.0))
            };
            let cells: Vec<String> = (0..width).map(of).collect();
            println!("| {name} | {} | {} of {seeds} |", cells.join(" | "), first[answer]);
        }
        println!(
            "\n`nothing` is behind mean, spread and tail in {last} of {seeds} seeds, all four are right in {whole}\n"
        );
    }
    Ok(())
}
