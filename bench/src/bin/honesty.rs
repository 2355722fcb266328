//! Whether the scores that `negmm fit` prints come true: `honesty --program negmm [--seeds 20] [--first 0]
//! [--preset fast] [--kinds walk]`.
//!
//! For each kind of simulated data and each seed, the program fits a model, and scores fresh rows of the same future by
//! `evaluate`. The table has the mean of ln(printed CRPS / fresh CRPS) over the seeds, that mean in standard errors (negative:
//! printed scores are too good), the mean coverage of 90 % intervals printed and fresh, and in how many fits a warning was
//! printed. Scores of censored targets are NLLs, whose difference is taken. Exit code 1 where a kind that is not warned about is
//! off by more than 2 standard errors towards optimism, or one in twenty fits is warned about without cause.

use std::process::ExitCode;

use negmm_bench::honesty::{KINDS, Kind};
use negmm_bench::options::Options;
use negmm_bench::program::called;
use rayon::prelude::*;
use serde_json::Value;

/// The result of one fit.
struct Outcome {
    /// ln(printed / fresh).
    difference: f64,
    coverages: [f64; 2],
    warned: bool,
}

fn main() -> Result<ExitCode, String> {
    let options = Options::read(&["--program", "--seeds", "--first", "--preset", "--kinds"])?;
    let program = options.text("--program").unwrap_or("target/release/negmm").to_string();
    let (seeds, preset) = (options.get("--seeds", 20_u64)?, options.get("--preset", "fast".to_string())?);
    let first = options.get("--first", 0_u64)?;
    let wanted = options.text("--kinds").unwrap_or("");
    println!("{:20} {:>9} {:>7} {:>9} {:>9} {:>7}", "kind", "ln ratio", "in se", "printed", "fresh", "warned");
    let (mut is_optimistic, mut without_cause, mut calm) = (false, 0, 0);
    for kind in KINDS.iter().filter(|kind| kind.name.contains(wanted)) {
        let fits: Vec<Result<Outcome, String>> =
            (first..first + seeds).into_par_iter().map(|seed| run(kind, seed, &program, &preset)).collect();
        let fits = fits.into_iter().collect::<Result<Vec<_>, _>>()?;
        let n = fits.len() as f64;
        let mean = |of: &dyn Fn(&Outcome) -> f64| fits.iter().map(of).sum::<f64>() / n;
        let difference = mean(&|fit| fit.difference);
        let square = mean(&|fit| (fit.difference - difference) * (fit.difference - difference));
        let errors = difference / (square / (n - 1.0)).sqrt();
        let warned = fits.iter().filter(|fit| fit.warned).count();
        println!(
            "{:20} {difference:9.3} {errors:7.1} {:7.1} % {:7.1} % {warned:4}/{n}",
            kind.name,
            100.0 * mean(&|fit| fit.coverages[0]),
            100.0 * mean(&|fit| fit.coverages[1]),
        );
        if kind.warns {
            is_optimistic |= errors < -2.0 && warned < fits.len() / 2;
        } else {
            is_optimistic |= errors < -2.0;
            without_cause += warned;
            calm += fits.len();
        }
    }
    println!("warned without cause: {without_cause} of {calm}");
    let is_honest = !is_optimistic && without_cause * 20 <= calm;
    Ok(if is_honest { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Fits and evaluates one data set.
fn run(kind: &Kind, seed: u64, program: &str, preset: &str) -> Result<Outcome, String> {
    let simulation = kind.simulate(seed);
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("train.csv"), &simulation.train).map_err(|error| error.to_string())?;
    std::fs::write(at("fresh.csv"), &simulation.fresh).map_err(|error| error.to_string())?;
    let mut fit = vec!["fit", "train.csv", "-o", "m", "--preset", preset, "--threads", "1", "--json"];
    fit.extend(&simulation.options);
    let (fitted, warnings) = called(program, folder.path(), &fit)?;
    let mut evaluate = vec!["evaluate", "m", "fresh.csv", "--threads", "1", "--json"];
    evaluate.extend(simulation.evaluation.iter().map(String::as_str));
    let (fresh, _) = called(program, folder.path(), &evaluate)?;
    let number = |value: &Value, pointers: &[&str]| {
        pointers.iter().find_map(|pointer| value.pointer(pointer)?.as_f64()).ok_or(format!("{}: {value}", kind.name))
    };
    let (printed, fresh) = (scores(&fitted), scores(&fresh));
    let difference = match (printed.pointer("/censored/nll"), fresh.pointer("/censored/nll")) {
        (Some(printed), Some(fresh)) => printed.as_f64().unwrap_or(f64::NAN) - fresh.as_f64().unwrap_or(f64::NAN),
        // What the pool is expected to have, where it is printed beside the scores of held-out rows.
        _ => {
            let expected = fitted.pointer("/pool_crps").and_then(Value::as_f64);
            (expected.map_or_else(|| number(printed, &["/crps"]), Ok)? / number(fresh, &["/crps"])?).ln()
        }
    };
    let coverages =
        [printed, fresh].map(|scores| number(scores, &["/coverage/0.9", "/coverage90"]).unwrap_or(f64::NAN));
    let words = ["optimistic", "have the inputs of another row", "too short", "may not hold for other times"];
    Ok(Outcome { difference, coverages, warned: words.iter().any(|word| warnings.contains(word)) })
}

/// The scores in an answer of `fit` or `evaluate`, of a table or of series.
fn scores(answer: &Value) -> &Value {
    let found = ["/validation", "/held_out/0", "/scores/0"].iter().find_map(|at| answer.pointer(at));
    found.filter(|scores| scores.is_object()).unwrap_or(answer)
}
