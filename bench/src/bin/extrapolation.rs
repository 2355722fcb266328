//! Scores of extrapolation beyond the training ranges: without clamping, and for several margins and slope factors
//! (`docs/derivations.md`). Prints a Markdown table for each method.
//!
//! ```text
//! extrapolation [--cases chosen|reported|a,b] [--methods a,b:option=value] [--margins 0,1] [--factors 0,0.5,1,2] [--rows N] [--inputs N]
//! ```
//!
//! A case is a function of one input, trained on 600 rows in [-3, 3] and tested at 3 … 5 and -3 … -5; or a dataset and one of its first
//! inputs (`--inputs` of them, with at least 20 different numbers): rows between its 10 % and 90 % quantiles train, the others are
//! test rows, at most `--rows` of each. The margin and the factor were chosen on the cases `chosen`; those called `reported` are others.
//! NLL and CRPS are in units of the standardised target.

use std::error::Error;

use negmm::data::{Column, ColumnRoles, Extrapolation};
use negmm::train::CpuEngine;
use negmm::{FitOptions, Interval, Method, Model, Rng, Table, fit_with};
use negmm_bench::datasets::BenchDataset;
use negmm_bench::options::Options;

type Function = (&'static str, fn(f64) -> f64);

const FUNCTIONS: [Function; 16] = [
    ("line", |x| x),
    ("square", |x| x * x),
    ("cube", |x| x * x * x),
    ("sine", |x| (2.0 * x).sin()),
    ("wave", |x| x * (2.0 * x).sin()),
    ("tanh", |x| (2.0 * x).tanh()),
    ("bend", |x| x.max(0.0)),
    ("exp", |x| x.exp()),
    ("root", |x| x.abs().sqrt()),
    ("bell", |x| (-x * x).exp()),
    ("cosine", |x| (1.5 * x).cos()),
    ("parabola", |x| x * x.abs()),
    ("hinge", |x| (x - 1.0).abs()),
    ("logarithm", |x| (1.0 + x * x).ln()),
    ("logistic", |x| 1.0 / (1.0 + (-3.0 * x).exp())),
    ("sum", |x| x + (3.0 * x).sin()),
];
const CHOSEN: &str = "line,square,cube,sine,wave,tanh,bend,exp,root,bell,boston,yacht,kin8nm,insurance,life";
const REPORTED: &str =
    "cosine,parabola,hinge,logarithm,logistic,sum,concrete,energy,protein,superconductivity,diamonds,metro";

/// Training rows, and test rows beyond their range.
struct Case {
    train: Table,
    test: Table,
    target: &'static str,
    inputs: ColumnRoles,
}

/// A function with noise whose sd is a twentieth of its range.
fn of_function(function: fn(f64) -> f64) -> negmm::Result<Case> {
    let mut rng = Rng::new(1, 0);
    let inside: Vec<f64> = (0..600).map(|at| 6.0 * f64::from(at) / 599.0 - 3.0).collect();
    let beyond = (0..200).map(|at| (3.0 + (f64::from(at) + 0.5) / 100.0) * if at % 2 == 0 { 1.0 } else { -1.0 });
    let values = inside.iter().map(|x| function(*x));
    let noise = 0.05 * (values.clone().fold(f64::MIN, f64::max) - values.fold(f64::MAX, f64::min));
    let mut table = |x: Vec<f64>| {
        let mut normal = || (-2.0 * (1.0 - rng.uniform()).ln()).sqrt() * (std::f64::consts::TAU * rng.uniform()).cos();
        let y = x.iter().map(|x| function(*x) + noise * normal()).collect();
        Table::new(vec![("x", Column::Numbers(x)), ("y", Column::Numbers(y))])
    };
    Ok(Case {
        train: table(inside.clone())?,
        test: table(beyond.collect())?,
        target: "y",
        inputs: ColumnRoles::default(),
    })
}

/// A case for each of the first inputs of a set.
fn of_set(set: &BenchDataset, rows: usize, most: usize) -> Result<Vec<Case>, Box<dyn Error>> {
    let (table, inputs) = (set.read()?, set.inputs());
    let mut cases = Vec::new();
    for (name, column) in table.columns() {
        let Column::Numbers(numbers) = column else { continue };
        let mut sorted: Vec<f64> = numbers.iter().copied().filter(|x| !x.is_nan()).collect();
        sorted.sort_by(f64::total_cmp);
        let different = sorted.chunk_by(|a, b| a == b).count();
        if name == set.target || inputs.ignore.iter().any(|other| other == name) || different < 20 {
            continue;
        }
        let range = sorted[sorted.len() / 10]..=sorted[sorted.len() * 9 / 10];
        let mut rng = Rng::new(7, 0);
        let mut some = |inside: bool| {
            let mut rows_there: Vec<usize> = (0..table.rows())
                .filter(|row| !numbers[*row].is_nan() && range.contains(&numbers[*row]) == inside)
                .collect();
            (1..rows_there.len()).rev().for_each(|at| rows_there.swap(at, rng.below(at + 1)));
            rows_there.truncate(rows);
            table.select_rows(&rows_there)
        };
        let (train, test) = (some(true), some(false));
        if test.rows() >= 30 {
            cases.push(Case { train, test, target: set.target, inputs: inputs.clone() });
        }
        if cases.len() == most {
            break;
        }
    }
    Ok(cases)
}

/// Mean NLL, CRPS and coverage of the 95 % interval.
fn scores(model: &Model, case: &Case) -> negmm::Result<[f64; 3]> {
    let y = model.encoder().targets(&case.test)?;
    let (scale, predictions) = (model.encoder().target().scale, model.predict(&case.test)?);
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
    let Interval { lower, upper } = predictions.interval(0.95)?;
    let covered = y.iter().zip(lower.iter().zip(&upper)).filter(|(y, (lower, upper))| lower <= y && y <= upper).count();
    Ok([
        mean(&predictions.nll(&y)?) - scale.ln(),
        mean(&predictions.crps(&y)?) / scale,
        covered as f64 / y.len() as f64,
    ])
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(&["--cases", "--methods", "--margins", "--factors", "--rows", "--inputs"])?;
    let names = match options.text("--cases") {
        Some("chosen") => CHOSEN,
        None | Some("reported") => REPORTED,
        Some(names) => names,
    };
    let methods: Vec<String> = options.list("--methods", ["ne-gmm", "mdn", "beta-nll"].map(String::from).to_vec())?;
    let margins: Vec<f64> = options.list("--margins", vec![0.0, 0.5, 1.0, 2.0])?;
    let factors: Vec<f64> = options.list("--factors", vec![0.0, 0.5, 1.0, 2.0])?;
    let (rows, most) = (options.get("--rows", 1000)?, options.get("--inputs", 3)?);
    let (mut functions, mut sets) = (Vec::new(), Vec::new());
    for name in names.split(',') {
        match FUNCTIONS.iter().find(|(other, _)| *other == name) {
            Some((_, function)) => functions.push(of_function(*function)?),
            None => sets.extend(of_set(BenchDataset::by_name(name)?, rows, most)?),
        }
    }
    let engine = CpuEngine::new(1);
    let variants = margins.iter().flat_map(|margin| factors.iter().map(|factor| Some((*margin, *factor))));
    let variants: Vec<Option<(f64, f64)>> = std::iter::once(None).chain(variants).collect();
    for text in &methods {
        let mut parts = text.split(':');
        let mut method = Method::by_name(parts.next().unwrap_or_default())?;
        for setting in parts {
            let (option, value) = setting.split_once('=').ok_or(format!("{setting:?} is not OPTION=VALUE"))?;
            method.set(option, value)?;
        }
        for (what, cases) in [("functions", &functions), ("sets", &sets)].iter().filter(|(_, cases)| !cases.is_empty())
        {
            let mut scored: Vec<Vec<[f64; 3]>> = vec![Vec::new(); variants.len()];
            for case in cases.iter() {
                let options = FitOptions::default().seed(1).inputs(case.inputs.clone()).engine(&engine);
                let model = fit_with(&case.train, case.target, &method, &options)?.model;
                let measured =
                    model.encoder().extrapolation().cloned().ok_or("its predictions do not depend on the inputs")?;
                for (variant, scored) in variants.iter().zip(&mut scored) {
                    let extrapolation = variant.map(|(margin, factor)| Extrapolation {
                        margin,
                        slopes: measured.slopes.iter().map(|slope| factor * slope).collect(),
                    });
                    scored.push(scores(&model.clone().extrapolating(extrapolation), case)?);
                }
            }
            println!("\n**{text}**, {} cases of {what}\n", cases.len());
            println!("| margin | factor | mean NLL | median NLL | mean CRPS | cover 95 |\n|---|---|---|---|---|---|");
            for (variant, scored) in variants.iter().zip(&scored) {
                let mean = |at: usize| scored.iter().map(|scores| scores[at]).sum::<f64>() / scored.len() as f64;
                let mut nlls: Vec<f64> = scored.iter().map(|scores| scores[0]).collect();
                nlls.sort_by(f64::total_cmp);
                let median = 0.5 * (nlls[nlls.len() / 2] + nlls[(nlls.len() - 1) / 2]);
                let name = variant.map_or("goes on | ".into(), |(margin, factor)| format!("{margin} | {factor}"));
                println!("| {name} | {:.3} | {median:.3} | {:.4} | {:.3} |", mean(0), mean(1), mean(2));
            }
        }
    }
    Ok(())
}
