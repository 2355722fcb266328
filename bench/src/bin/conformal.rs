//! Simulations of conformal prediction sets and of the monitor: the true distribution is known, the predicted one is right, wrong on
//! purpose, or learnt. Prints tables as Markdown.
//!
//! ```text
//! conformal [--part coverage|regions|folds|monitor] [--sets 1000] [--fits 300] [--runs 1000] [--rows 10000]
//! ```
//!
//! `coverage`: for each problem and number of calibration rows, `--sets` calibrations; the mean coverage of 90 % sets with its standard
//! error, and the Kolmogorov distance of their coverages from the beta distribution, times the root of `--sets` (1.36 is exceeded by
//! chance in one of twenty). `regions`: the length of conformal regions beside that of conformal intervals for bimodal targets. `folds`:
//! `--fits` fits of `auto`, calibrated on its out-of-fold predictions; the mean coverage of its 90 % sets. `monitor`: false alarms among
//! `--runs` runs of `--rows` rows, and how many rows an alarm takes.

use negmm::Distribution;
use std::error::Error;

use negmm::conformal::{Calibration, ConformalPredictor, Labels};
use negmm::data::Column;
use negmm::monitor::{Monitor, MonitorConfig};
use negmm::{DistributionRef, FitOptions, Interval, Method, Mixtures, Predictions, Rng, Table, fit_with};
use negmm_bench::options::Options;
use negmm_dist::math::beta;
use rayon::prelude::*;

/// (weight, mean, sd) of each component, given an input in (0, 1).
type ConditionalMixture = fn(f64) -> Vec<[f64; 3]>;

const NORMAL: ConditionalMixture = |x| vec![[1.0, x, 1.0]];
const BIMODAL: ConditionalMixture = |x| vec![[0.4, -10.0 * x, 1.0], [0.6, 10.0 * x, 0.5]];
const UNEQUAL: ConditionalMixture = |x| vec![[1.0, 0.0, 0.1 + 3.0 * x]];
const HEAVY: ConditionalMixture = |_| vec![[0.9, 0.0, 1.0], [0.09, 0.0, 6.0], [0.01, 0.0, 40.0]];
const WRONG: ConditionalMixture = |x| vec![[1.0, 2.0 - x, 0.3]];

/// Name, true distribution, predicted distribution.
const PROBLEMS: [(&str, ConditionalMixture, ConditionalMixture); 5] = [
    ("normal", NORMAL, NORMAL),
    ("bimodal", BIMODAL, BIMODAL),
    ("heteroscedastic", UNEQUAL, UNEQUAL),
    ("heavy tails, predicted normal", HEAVY, NORMAL),
    ("bimodal, predicted by a wrong normal", BIMODAL, WRONG),
];

/// Numbers of calibration rows.
const CALIBRATIONS: [usize; 3] = [20, 100, 1000];
/// Nominal coverage.
const COVERAGE: f64 = 0.9;
/// Evenly spaced new rows over which coverage is averaged.
const NEW: usize = 200;

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(&["--part", "--sets", "--fits", "--runs", "--rows"])?;
    let part = options.text("--part").unwrap_or("all");
    let wanted = |name: &str| part == name || part == "all";
    if wanted("coverage") {
        coverage(options.get("--sets", 1000)?)?;
    }
    if wanted("regions") {
        regions()?;
    }
    if wanted("folds") {
        folds(options.get("--fits", 300)?)?;
    }
    if wanted("monitor") {
        monitor(options.get("--runs", 1000)?, options.get("--rows", 10_000)?)?;
    }
    Ok(())
}

fn predictions(mixture: ConditionalMixture, inputs: &[f64]) -> Predictions {
    let rows: Vec<Vec<[f64; 3]>> = inputs.iter().map(|x| mixture(*x)).collect();
    let of = |at: usize| rows.iter().flatten().map(|part| part[at]).collect::<Vec<f64>>();
    Mixtures::new(rows[0].len(), of(0), of(1), of(2)).expect("distributions are mixtures").into()
}

fn probability(row: DistributionRef<'_>, intervals: &[Interval]) -> f64 {
    intervals.iter().map(|interval| row.cdf(interval.upper) - row.cdf(interval.lower)).sum()
}

fn coverage(sets: usize) -> negmm::Result<()> {
    println!(
        "| problem | rows | intervals | regions | distance from the beta distribution |\n| --- | ---: | ---: | ---: | ---: |"
    );
    for (problem, (name, truth, predicted)) in PROBLEMS.into_iter().enumerate() {
        for rows in CALIBRATIONS {
            let one = |set: usize| -> negmm::Result<[f64; 2]> {
                let seed = (problem * sets + set) as u64;
                let mut rng = Rng::new(seed, rows as u64);
                let x: Vec<f64> = (0..rows).map(|_| rng.uniform()).collect();
                let y = predictions(truth, &x).sample(1, seed, rows as u64);
                let calibration = Calibration::learn(&predictions(predicted, &x), &y)?;
                let x: Vec<f64> = (0..NEW).map(|at| (at as f64 + 0.5) / NEW as f64).collect();
                let (truth, predicted, labels) =
                    (predictions(truth, &x), predictions(predicted, &x), Labels::default());
                let conformal = ConformalPredictor::Calibrated(&calibration, &labels);
                let Interval { lower, upper } = conformal.intervals(&predicted, COVERAGE)?;
                let regions = conformal.regions(&predicted, COVERAGE)?;
                let by_interval: f64 = truth
                    .rows()
                    .enumerate()
                    .map(|(at, row)| probability(row, &[Interval { lower: lower[at], upper: upper[at] }]))
                    .sum();
                let by_region: f64 =
                    truth.rows().zip(&regions).map(|(row, region)| probability(row, region.intervals())).sum();
                Ok([by_interval / NEW as f64, by_region / NEW as f64])
            };
            let found = (0..sets).into_par_iter().map(one).collect::<negmm::Result<Vec<_>>>()?;
            let rank = (0.1 * (rows + 1) as f64 + 1e-9).floor();
            let summary = |at: usize| {
                let mut list: Vec<f64> = found.iter().map(|pair| pair[at]).collect();
                list.sort_unstable_by(f64::total_cmp);
                let distance = list.iter().enumerate().map(|(at, one)| {
                    let expected = beta::cdf(*one, rows as f64 + 1.0 - rank, rank);
                    (expected - at as f64 / sets as f64).abs().max((expected - (at + 1) as f64 / sets as f64).abs())
                });
                let distance = distance.fold(0.0, f64::max) * (sets as f64).sqrt();
                (percent(&list), distance)
            };
            let ((intervals, first), (regions, second)) = (summary(0), summary(1));
            println!("| {name} | {rows} | {intervals} | {regions} | {first:.2}, {second:.2} |");
        }
    }
    println!();
    Ok(())
}

fn regions() -> negmm::Result<()> {
    println!("| two peaks, distance | interval | region | shorter by |\n| ---: | ---: | ---: | ---: |");
    for distance in [6.0, 10.0, 20.0, 60.0] {
        let mixture = |sd: f64, rows: usize| {
            let means = [-0.5 * distance, 0.5 * distance].repeat(rows);
            Predictions::from(Mixtures::new(2, vec![0.5; 2 * rows], means, vec![sd; 2 * rows]).expect("two peaks"))
        };
        // The true sds are a tenth larger than the predicted ones.
        let calibration = Calibration::learn(&mixture(1.0, 1000), &mixture(1.1, 1000).sample(1, 1, 0))?;
        let (labels, new) = (Labels::default(), mixture(1.0, 1));
        let conformal = ConformalPredictor::Calibrated(&calibration, &labels);
        let Interval { lower, upper } = conformal.intervals(&new, COVERAGE)?;
        let (interval, region) = (upper[0] - lower[0], conformal.regions(&new, COVERAGE)?[0].length());
        println!("| {distance} | {interval:.2} | {region:.2} | {:.0} % |", 100.0 * (1.0 - region / interval));
    }
    println!();
    Ok(())
}

/// Numbers of training rows of `auto`.
const TRAIN_ROWS: [usize; 2] = [60, 200];
/// Uninformative inputs, which invite overfitting.
const IDLE_INPUTS: usize = 3;

/// Columns of x and of the uninformative inputs.
fn inputs(x: &[f64], rng: &mut Rng) -> Vec<(String, Column)> {
    let idle = |number: usize| format!("idle {number}");
    let mut columns = vec![("x".to_string(), Column::Numbers(x.to_vec()))];
    columns.extend((0..IDLE_INPUTS).map(|number| {
        let numbers = (0..x.len()).map(|_| rng.uniform()).collect();
        (idle(number), Column::Numbers(numbers))
    }));
    columns
}

fn folds(fits: usize) -> negmm::Result<()> {
    println!("| problem | rows | intervals | regions | plain intervals |\n| --- | ---: | ---: | ---: | ---: |");
    let mut method = Method::default();
    // Small and fast: the construction of sets does not depend on it.
    for (name, text) in [("preset", "fast"), ("hidden", "32"), ("steps", "200")] {
        method.set(name, text)?;
    }
    for (problem, (name, truth, _)) in PROBLEMS.into_iter().take(4).enumerate() {
        for rows in TRAIN_ROWS {
            let one = |number: usize| -> negmm::Result<[f64; 3]> {
                let seed = (problem * fits + number) as u64;
                let mut rng = Rng::new(seed, rows as u64);
                let x: Vec<f64> = (0..rows).map(|_| rng.uniform()).collect();
                let y = predictions(truth, &x).sample(1, seed, rows as u64);
                let mut columns = inputs(&x, &mut rng);
                columns.push(("y".into(), Column::Numbers(y)));
                let model = fit_with(&Table::new(columns)?, "y", &method, &FitOptions::default().seed(seed))?.model;
                let x: Vec<f64> = (0..NEW).map(|at| (at as f64 + 0.5) / NEW as f64).collect();
                let (truth, predicted) = (predictions(truth, &x), model.predict(&Table::new(inputs(&x, &mut rng))?)?);
                let labels = Labels::default();
                let conformal = ConformalPredictor::Calibrated(model.known_calibration()?, &labels);
                let by_intervals = |Interval { lower, upper }: Interval<Vec<f64>>| {
                    truth
                        .rows()
                        .zip(lower.into_iter().zip(upper))
                        .map(|(row, (lower, upper))| probability(row, &[Interval { lower, upper }]))
                        .sum::<f64>()
                };
                let regions = conformal.regions(&predicted, COVERAGE)?;
                let by_regions = truth.rows().zip(&regions).map(|(row, region)| probability(row, region.intervals()));
                let sums = [
                    by_intervals(conformal.intervals(&predicted, COVERAGE)?),
                    by_regions.sum(),
                    by_intervals(predicted.interval(COVERAGE)?),
                ];
                Ok(sums.map(|sum| sum / NEW as f64))
            };
            let found = (0..fits).into_par_iter().map(one).collect::<negmm::Result<Vec<_>>>()?;
            let [intervals, regions, plain] =
                [0, 1, 2].map(|at| percent(&found.iter().map(|probability| probability[at]).collect::<Vec<f64>>()));
            println!("| {name} | {rows} | {intervals} | {regions} | {plain} |");
        }
    }
    println!();
    Ok(())
}

/// The mean with its standard error, in per cent.
fn percent(list: &[f64]) -> String {
    let count = list.len() as f64;
    let mean = list.iter().sum::<f64>() / count;
    let variance = list.iter().map(|one| (one - mean) * (one - mean)).sum::<f64>() / (count - 1.0);
    format!("{:.2} ± {:.2} %", 100.0 * mean, 100.0 * (variance / count).sqrt())
}

/// The row of the monitor's alarm and its estimate of when the change began; targets change at row `from`.
fn alarm(seed: u64, rows: usize, alpha: f64, from: usize, (mean, sd): (f64, f64)) -> negmm::Result<Option<(u64, u64)>> {
    const AT_ONCE: usize = 500;
    let mixture = |mean: f64, sd: f64, rows: usize| {
        Predictions::from(Mixtures::new(1, vec![1.0; rows], vec![mean; rows], vec![sd; rows]).expect("a valid mixture"))
    };
    let mut monitor = Monitor::new(MonitorConfig::default().alpha(alpha))?;
    for first in (0..rows).step_by(AT_ONCE) {
        let count = AT_ONCE.min(rows - first);
        let predicted = mixture(0.0, 1.0, count);
        let mut y = predicted.sample(1, seed, first as u64);
        y.iter_mut().enumerate().filter(|(at, _)| first + at >= from).for_each(|(_, y)| *y = mean + sd * *y);
        monitor.update(&predicted, &predicted, &y)?;
        if let Some(alarm) = monitor.status().alarm {
            return Ok(Some((alarm.row, alarm.since)));
        }
    }
    Ok(None)
}

fn monitor(runs: usize, rows: usize) -> negmm::Result<()> {
    println!("| alpha | false alarms in {runs} runs of {rows} rows |\n| ---: | ---: |");
    for alpha in [0.01, 0.05, 0.1] {
        let all = (0..runs).into_par_iter().map(|run| alarm(run as u64, rows, alpha, rows, (0.0, 1.0)));
        let alarms = all.collect::<negmm::Result<Vec<_>>>()?.into_iter().flatten().count();
        println!("| {alpha} | {alarms} |");
    }
    println!("\n| change | from row | alarms | median delay | nine tenths within | median error of \"since\" |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    let cases = [
        ("noise 20 % wider", (0.0, 1.2)),
        ("a shift of half an sd", (0.5, 1.0)),
        ("over-confidence of 10 % (sd 1.1 times the predicted one)", (0.0, 1.1)),
    ];
    for (name, mixture) in cases {
        for from in [0, 2000] {
            let trials = runs.min(200);
            let all = (0..trials).into_par_iter().map(|run| alarm(90_000 + run as u64, rows, 0.01, from, mixture));
            let found: Vec<(u64, u64)> = all.collect::<negmm::Result<Vec<_>>>()?.into_iter().flatten().collect();
            let sorted = |mut list: Vec<i64>| {
                list.sort_unstable();
                list
            };
            let delays = sorted(found.iter().map(|(row, _)| *row as i64 - from as i64).collect());
            let errors = sorted(found.iter().map(|(_, since)| (*since as i64 - 1 - from as i64).abs()).collect());
            let at = |list: &[i64], fraction: f64| {
                list.get((fraction * trials as f64) as usize).map_or("-".into(), i64::to_string)
            };
            println!(
                "| {name} | {} | {} of {trials} | {} | {} | {} |",
                from + 1,
                found.len(),
                at(&delays, 0.5),
                at(&delays, 0.9),
                at(&errors, 0.5)
            );
        }
    }
    Ok(())
}
