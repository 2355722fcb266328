//! Scores methods on the standard splits of the UCI sets and prints a Markdown table: mean (standard error) over splits, bold where
//! a method is best by more than two standard errors of the paired difference.
//!
//! ```text
//! quality [--sets a,b] [--methods a,b] [--splits N] [--threads N] [--set OPTION=VALUE,OPTION=VALUE]
//! ```
//!
//! Data from the folder `NEGMM_DATA`, else `../shared/data`. wine_white and superconductivity have no standard splits: tenths drawn with seed 0.
//! An option is set for every method that has it.

use std::io::Read;
use std::path::{Path, PathBuf};

use negmm::compare::{CompareOptions, Metric, Split, compare};
use negmm::data::Inputs;
use negmm::train::Watch;
use negmm::{Method, Table};
use negmm_bench::options::Options;

/// Name, target, column to leave out.
const SETS: [(&str, &str, Option<&str>); 10] = [
    ("boston", "medv", None),
    ("concrete", "compressive_strength", None),
    ("energy", "heating_load", Some("cooling_load")),
    ("yacht", "residuary_resistance", None),
    ("wine_red", "quality", None),
    ("kin8nm", "y", None),
    ("wine_white", "quality", None),
    ("naval", "gt_compressor_decay", Some("gt_turbine_decay")),
    ("protein", "rmsd", None),
    ("superconductivity", "critical_temp", None),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::read(&["--sets", "--methods", "--splits", "--threads", "--set"])?;
    let list = |name: &str, default: &str| -> Vec<String> {
        options.text(name).unwrap_or(default).split(',').filter(|part| !part.is_empty()).map(str::to_string).collect()
    };
    let names = list("--methods", &Method::all().iter().map(Method::name).collect::<Vec<_>>().join(","));
    let mut methods = names.iter().map(|name| Method::by_name(name)).collect::<Result<Vec<_>, _>>()?;
    for setting in list("--set", "") {
        let (option, value) = setting.split_once('=').ok_or(format!("what is {setting}?"))?;
        for method in methods.iter_mut().filter(|method| method.has(option)) {
            method.set(option, value)?;
        }
    }
    let splits: usize = options.get("--splits", 20)?;
    let threads: usize = options.get("--threads", 0)?;
    let folder = std::env::var("NEGMM_DATA").map_or(PathBuf::from("../shared/data"), PathBuf::from).join("uci");
    println!("| set | method | splits | NLL | mass NLL | CRPS | RMSE | cover 95 | width 95 | seconds a fit |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for name in list("--sets", &SETS.map(|set| set.0).join(",")) {
        let (name, target, ignore) = *SETS.iter().find(|set| set.0 == name).ok_or(format!("no set {name}"))?;
        let table = Table::read(folder.join(format!("{name}.csv.gz")))?;
        let splits: Vec<Split> = standard_splits(&folder, name, table.rows())?.into_iter().take(splits).collect();
        let inputs = Inputs { ignore: ignore.iter().map(|name| name.to_string()).collect(), ..Inputs::default() };
        let options = CompareOptions { seed: 0, inputs: &inputs, threads, watch: Watch::nothing(), fitted: &|| {} };
        let comparison = compare(&table, target, &methods, &splits, &options)?;
        for (at, method) in methods.iter().enumerate() {
            let cell = |metric: Metric| {
                if !comparison.metrics().contains(&metric) {
                    return String::new();
                }
                let summary = comparison.summary(at, metric);
                let digits = (3 - summary.mean.abs().max(1e-9).log10().floor() as i32).clamp(1, 7) as usize;
                let text = format!("{:.digits$} ({:.digits$})", summary.mean, summary.se);
                let best = metric != Metric::Seconds && comparison.best(metric) == Some(at);
                if best { format!("**{text}**") } else { text }
            };
            let cells = [
                Metric::Nll,
                Metric::MassNll,
                Metric::Crps,
                Metric::Rmse,
                Metric::Coverage,
                Metric::Width,
                Metric::Seconds,
            ];
            println!("| {name} | {} | {} | {} |", method.name(), splits.len(), cells.map(cell).join(" | "));
        }
    }
    Ok(())
}

/// The standard splits, or tenths drawn with a fixed seed where there are none.
fn standard_splits(folder: &Path, name: &str, rows: usize) -> Result<Vec<Split>, Box<dyn std::error::Error>> {
    let path = folder.join("splits").join(format!("{name}.txt.gz"));
    if !path.exists() {
        return Ok(Split::folds(rows, 10, 0)?);
    }
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path)?).read_to_string(&mut text)?;
    let mut splits = Vec::new();
    for line in text.lines() {
        let test = line.split_whitespace().map(str::parse).collect::<Result<Vec<usize>, _>>()?;
        splits.push(Split::with_test(rows, test));
    }
    Ok(splits)
}
