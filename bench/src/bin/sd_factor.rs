//! Measures the exponent in the sd factor of `auto` (docs/derivations.md): with k the best factor of all sds for the out-of-fold
//! predictions, and f the best factor for the pool's predictions of the test rows, log f = c log k. Prints c and that of the rule, the c
//! with the smallest test NLL, and what exponents 0 and 1 add to the rule's NLL. The lines "all" are of datasets without a grid: a
//! density on a grid has no smallest NLL.

//!
//! ```text
//! sd_factor [--sets a,b] [--members 1,2,3] [--folds 5] [--splits 8] [--steps 1500] [--rows 2000]
//! ```
//!
//! Standard splits of UCI sets, from the folder `NEGMM_DATA`, else `../shared/data`; of a large set the training rows among the first `--rows`. One thread.

use std::error::Error;

use negmm::compare::Split;
use negmm::method::{Auto, Predictor};
use negmm::train::CpuEngine;
use negmm::{FitOptions, Method, Mixtures, Predictions, Table, fit_with};
use negmm_bench::datasets::BenchDataset;
use negmm_bench::options::Options;

const SETS: [&str; 6] = ["boston", "concrete", "energy", "yacht", "kin8nm", "wine_red"];

/// The exponents tried: 0 and 1 are among them.
const TRIED: usize = 81;

fn exponent(number: usize) -> f64 {
    number as f64 * 0.05 - 1.5
}

/// Result of one split.
struct Outcome {
    /// Logarithms of both factors.
    k: f64,
    f: f64,
    /// Test NLL of the model as it is, and with k to each power that is tried.
    ruled: f64,
    tried: Vec<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(&["--sets", "--members", "--folds", "--splits", "--steps", "--rows"])?;
    let sets: Vec<String> = options.list("--sets", SETS.map(String::from).to_vec())?;
    let members: Vec<usize> = options.list("--members", vec![1, 2, 3])?;
    let (folds, steps) = (options.get("--folds", 5)?, options.get("--steps", 1500)?);
    let rows: usize = options.get("--rows", 2000)?;
    println!("{folds} folds, {steps} steps\n");
    println!(
        "| set | M | splits | median k | median f | exponent (se) | by NLL (se) | rule | NLL: rule | exponent 0 | exponent 1 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut all: Vec<Vec<Vec<Outcome>>> = members.iter().map(|_| Vec::new()).collect();
    for name in &sets {
        let set = BenchDataset::by_name(name)?;
        let table = set.read()?;
        let splits = set.splits(table.rows(), options.get("--splits", 8)?)?;
        for (members, all) in members.iter().zip(&mut all) {
            let auto = Auto::default().folds(folds).ensemble_size(*members).steps(steps);
            let fit = |(seed, split): (usize, &Split)| {
                let train: Vec<usize> = split.train.iter().copied().filter(|row| *row < rows).collect();
                outcome(set, &table.select_rows(&train), &table.select_rows(&split.test), &auto, *members, seed as u64)
            };
            let outcomes = splits.iter().enumerate().map(fit).collect::<Result<Vec<_>, _>>()?;
            print(name, *members, std::slice::from_ref(&outcomes));
            if set.step.is_none() {
                all.push(outcomes);
            }
        }
    }
    for (members, all) in members.iter().zip(&all) {
        print("all", *members, all);
    }
    Ok(())
}

/// The exponent that k gets.
fn rule(members: usize) -> f64 {
    if members == 1 { 0.5 } else { 1.0 - 1.0 / members as f64 }
}

/// Fits and finds both factors.
fn outcome(
    set: &BenchDataset,
    train: &Table,
    test: &Table,
    auto: &Auto,
    members: usize,
    seed: u64,
) -> Result<Outcome, Box<dyn Error>> {
    let (inputs, engine) = (set.inputs(), CpuEngine::new(1));
    let options = FitOptions::default().seed(seed).inputs(inputs).engine(&engine);
    let fitted = fit_with(train, set.target, &Method::Auto(auto.clone()), &options)?;
    let Predictor::Networks { members: networks, .. } = fitted.model.predictor() else {
        return Err("no networks".into());
    };
    let given: Vec<f64> = networks.iter().map(|network| network.sigma_scale).collect();
    // The networks' raw sds, without the fitted factors.
    let raw = |table: &Table| -> Result<Mixtures, Box<dyn Error>> {
        let predictions = fitted.model.predict(table)?;
        let mixtures = predictions.mixtures().ok_or("no mixtures")?;
        let each = mixtures.components() / given.len();
        let sds = mixtures.sds().iter().enumerate().map(|(at, sd)| sd / given[at / each % given.len()]).collect();
        Ok(Mixtures::new(mixtures.components(), mixtures.weights().to_vec(), mixtures.means().to_vec(), sds)?)
    };
    // An out-of-fold prediction is that of its fold's networks with all sds times k; its first mean identifies the fold.
    let out_of_fold = fitted.held_out.predictions.mixtures().ok_or("no mixtures")?;
    let (own, pool) = (raw(&train.select_rows(&[fitted.held_out.rows[0]]))?, raw(test)?);
    let first = (0..own.components()).step_by(out_of_fold.components());
    let distance = |at: &usize| (own.means()[*at] - out_of_fold.means()[0]).abs();
    let first = first.min_by(|a, b| distance(a).total_cmp(&distance(b))).ok_or("no components")?;
    let k = out_of_fold.sds()[0] / own.sds()[first];

    let y = fitted.model.encoder().targets(test)?;
    let nll = |factor: f64| -> f64 { mean(&scaled(&pool, factor).nll(&y).expect("a target for each row")) };
    let tried = (0..=160).map(|step| 0.2 * 1.02_f64.powi(step)).map(|factor| (nll(factor), factor));
    let (_, f) = tried.min_by(|a, b| a.0.total_cmp(&b.0)).ok_or("no factor")?;
    // For M = 1 each network has its own fold's factor: the model as it is.
    let as_given = mean(&fitted.model.predict(test)?.nll(&y)?);
    let ruled = nll(k.powf(rule(members)));
    assert!(members == 1 || (ruled - as_given).abs() < 1e-6, "{ruled} is not {as_given}: k is wrong");
    let tried = (0..TRIED).map(|number| nll(k.powf(exponent(number)))).collect();
    Ok(Outcome { k: k.ln(), f: f.ln(), ruled: as_given, tried })
}

fn scaled(mixtures: &Mixtures, factor: f64) -> Predictions {
    let sds = mixtures.sds().iter().map(|sd| sd * factor).collect();
    let (weights, means) = (mixtures.weights().to_vec(), mixtures.means().to_vec());
    Mixtures::new(mixtures.components(), weights, means, sds).expect("sds above zero").into()
}

/// One line; `sets` has the splits of each set. Standard errors are between sets, or between the splits of one set.
fn print(name: &str, members: usize, sets: &[Vec<Outcome>]) {
    let all: Vec<&Outcome> = sets.iter().flatten().collect();
    let groups: Vec<Vec<&Outcome>> = match sets {
        [splits] => splits.iter().map(|split| vec![split]).collect(),
        sets => sets.iter().map(|splits| splits.iter().collect()).collect(),
    };
    let median = |number: fn(&Outcome) -> f64| {
        let mut numbers: Vec<f64> = all.iter().map(|one| number(one)).collect();
        numbers.sort_by(f64::total_cmp);
        let half = numbers.len() / 2;
        if numbers.len() % 2 == 1 { numbers[half] } else { 0.5 * (numbers[half - 1] + numbers[half]) }
    };
    let cell =
        |estimate: fn(&[&Outcome]) -> f64| format!("{:.2} ({:.2})", estimate(&all), jackknife(&groups, estimate));
    let (slope, best) = (cell(slope), cell(best));
    let ruled = mean(&all.iter().map(|one| one.ruled).collect::<Vec<_>>());
    let cost = |wanted: f64| {
        let number = (0..TRIED).find(|number| (exponent(*number) - wanted).abs() < 1e-9).expect("it is tried");
        mean(&all.iter().map(|one| one.tried[number]).collect::<Vec<_>>()) - ruled
    };
    let (k, f) = (median(|one| one.k).exp(), median(|one| one.f).exp());
    println!(
        "| {name} | {members} | {} | {k:.3} | {f:.3} | {slope} | {best} | {:.2} | {ruled:.4} | {:+.4} | {:+.4} |",
        all.len(),
        rule(members),
        cost(0.0),
        cost(1.0)
    );
}

/// The slope of log f on log k through the origin.
fn slope(all: &[&Outcome]) -> f64 {
    all.iter().map(|one| one.k * one.f).sum::<f64>() / all.iter().map(|one| one.k * one.k).sum::<f64>()
}

/// The exponent with the least NLL.
fn best(all: &[&Outcome]) -> f64 {
    let nll = |number: &usize| all.iter().map(|one| one.tried[*number]).sum::<f64>();
    (0..TRIED).min_by(|a, b| nll(a).total_cmp(&nll(b))).map_or(f64::NAN, exponent)
}

/// The standard error of an estimate, by leaving out each group in turn.
fn jackknife(groups: &[Vec<&Outcome>], estimate: fn(&[&Outcome]) -> f64) -> f64 {
    let without = |out: usize| {
        let rest = groups.iter().enumerate().filter(|(number, _)| *number != out);
        estimate(&rest.flat_map(|(_, group)| group.iter().copied()).collect::<Vec<_>>())
    };
    let estimates: Vec<f64> = (0..groups.len()).map(without).collect();
    let centre = mean(&estimates);
    let n = groups.len() as f64;
    ((n - 1.0) / n * estimates.iter().map(|one| (one - centre).powi(2)).sum::<f64>()).sqrt()
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}
