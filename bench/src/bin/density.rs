//! Scores `auto` on the tables and splits of a public comparison of conditional density estimators, beside its published
//! figures, and prints a line for each table: CRPS relative to TabPFN-2.5, TabICLv2 and the best linear model, the
//! coverage of 50 % and 90 % intervals, CPU seconds of a fit, and the mean stacking weights of the kinds of members.
//!
//! ```text
//! density [--rows N] [--repeats N] [--skip N] [--sets a,b] [--preset NAME] [--set option=value,…]
//! ```
//!
//! `--rows` is the size of a draw (1000), of which three quarters train; `--repeats` how many draws (all), after the first
//! `--skip` (0); `--set` options of the method. Data from the folder
//! `NEGMM_DATA`, else `../shared/data`. One thread.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Read;
use std::path::{Path, PathBuf};

use negmm::method::{MemberKind, Predictor};
use negmm::train::CpuEngine;
use negmm::{FitOptions, Interval, Method, Table, fit_with};
use negmm_bench::options::Options;
use negmm_bench::usage::own_cpu_seconds;

const SETS: [&str; 11] = [
    "abalone",
    "bikesharing",
    "cpuact",
    "calhousing",
    "diamonds",
    "elevators",
    "kin8nm",
    "pol",
    "protein",
    "puma8nh",
    "whitewine",
];

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(&["--rows", "--repeats", "--skip", "--sets", "--preset", "--set"])?;
    let rows: usize = options.get("--rows", 1000)?;
    let repeats: usize = options.get("--repeats", usize::MAX)?;
    let skipped: usize = options.get("--skip", 0)?;
    let sets: Vec<String> = options.list("--sets", SETS.map(str::to_string).to_vec())?;
    let mut method = Method::default();
    if let Some(preset) = options.text("--preset") {
        method.set("preset", preset)?;
    }
    for setting in options.list::<String>("--set", Vec::new())? {
        let (name, value) = setting.split_once('=').ok_or("--set takes option=value")?;
        method.set(name, &value.replace('+', ","))?;
    }
    let data = std::env::var_os("NEGMM_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let folder = data.join("density");
    let published = published(&folder, rows)?;
    println!(
        "| set | out-of-fold CRPS | CRPS | TabPFN-2.5 | TabICLv2 | best linear | in 50 % | in 90 % | seconds | pool |\n|---|---|---|---|---|---|---|---|---|---|"
    );
    let (mut logs, mut coverages, mut all_seconds) = (Vec::new(), Vec::new(), 0.0);
    for set in &sets {
        let splits = folder.join(format!("splits/{set}-{rows}.txt.gz"));
        if !splits.exists() {
            continue;
        }
        let table = Table::read(folder.join(format!("{set}.csv.gz")))?;
        let target = table.names().last().ok_or("a table has columns")?.clone();
        let (mut crps, mut held, mut covered, mut seconds, mut count) = (0.0, 0.0, [0.0; 2], 0.0, 0.0);
        let mut pool: BTreeMap<MemberKind, f64> = BTreeMap::new();
        for line in unpacked(&splits)?.lines().skip(skipped).take(repeats) {
            let (train, test) = line.split_once('|').ok_or("a split is two lists")?;
            let part = |text: &str| -> Result<Table, Box<dyn Error>> {
                let rows = text.split_whitespace().map(str::parse).collect::<Result<Vec<usize>, _>>()?;
                Ok(table.select_rows(&rows))
            };
            let (train, test) = (part(train)?, part(test)?);
            let (start, engine) = (own_cpu_seconds(), CpuEngine::new(1));
            let fitted = fit_with(&train, &target, &method, &FitOptions::default().seed(1).engine(&engine))?;
            let (model, held_out) = (fitted.model, fitted.held_out);
            held += held_out.predictions.crps(&held_out.y)?.iter().sum::<f64>() / held_out.y.len() as f64;
            seconds += own_cpu_seconds() - start;
            if let Predictor::Stack { parts, .. } = model.predictor() {
                parts.iter().for_each(|part| *pool.entry(part.kind).or_default() += part.weight);
            }
            let predictions = model.predict(&test)?;
            let y = model.encoder().targets(&test)?.into_owned();
            crps += predictions.crps(&y)?.iter().sum::<f64>() / y.len() as f64;
            for (level, covered) in [0.5, 0.9].into_iter().zip(&mut covered) {
                let Interval { lower, upper } = predictions.interval(level)?;
                let inside =
                    y.iter().zip(lower.iter().zip(&upper)).filter(|(y, (lower, upper))| *lower <= *y && *y <= *upper);
                *covered += inside.count() as f64 / y.len() as f64;
            }
            count += 1.0;
        }
        let (crps, [in_50, in_90], seconds) = (crps / count, covered.map(|sum| sum / count), seconds / count);
        let ratio = |method: &str| published.get(&(set.clone(), method.to_string())).map(|other| crps / other);
        let linear = published.iter().filter(|((name, method), _)| name == set && is_linear(method));
        let linear = linear.map(|(_, other)| crps / other).fold(f64::NEG_INFINITY, f64::max);
        let shown = |ratio: Option<f64>| ratio.map_or("-".to_string(), |ratio| format!("{ratio:.3}"));
        let (tabpfn, tabicl) = (ratio("TabPFN-2.5"), ratio("TabICL-Quantiles"));
        println!(
            "| {set} | {:.4} | {crps:.4} | {} | {} | {linear:.3} | {in_50:.3} | {in_90:.3} | {seconds:.1} | {} |",
            held / count,
            shown(tabpfn),
            shown(tabicl),
            pool.iter().map(|(kind, sum)| format!("{kind} {:.2}", sum / count)).collect::<Vec<_>>().join(", ")
        );
        logs.extend(
            [tabpfn, tabicl].into_iter().collect::<Option<Vec<f64>>>().map(|both| [both[0].ln(), both[1].ln()]),
        );
        coverages.push([in_50, in_90]);
        all_seconds += seconds;
    }
    let mean = |list: Vec<f64>| list.iter().sum::<f64>() / list.len() as f64;
    let geometric = |at: usize| mean(logs.iter().map(|both| both[at]).collect()).exp();
    let (first, second) = (geometric(0), geometric(1));
    let [in_50, in_90] = [0, 1].map(|at| mean(coverages.iter().map(|both| both[at]).collect()));
    println!("| geometric mean | | | {first:.3} | {second:.3} | | {in_50:.3} | {in_90:.3} | {all_seconds:.1} | |");
    Ok(())
}

/// CRPS by set and method at this size.
fn published(folder: &Path, rows: usize) -> Result<BTreeMap<(String, String), f64>, Box<dyn Error>> {
    let text = std::fs::read_to_string(folder.join("published.csv"))?;
    let mut scores = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[1].parse::<usize>()? == rows {
            scores.insert((cells[0].to_string(), cells[2].to_string()), cells[3].parse()?);
        }
    }
    Ok(scores)
}

fn is_linear(method: &str) -> bool {
    method.starts_with("Lin")
}

fn unpacked(path: &Path) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path)?).read_to_string(&mut text)?;
    Ok(text)
}
