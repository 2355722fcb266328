//! Scores methods on the standard splits of the UCI sets and prints a Markdown table: mean and standard error over splits.
//!
//! `quality [--sets a,b] [--splits N] [--methods a,b] [OPTION=VALUE …]`; data from `NEGMM_DATA`, else `../shared/data`.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use negmm::data::Inputs;
use negmm::data::split::k_folds;
use negmm::math::rng::Rng;
use negmm::train::{CpuEngine, Watch};
use negmm::{FitOptions, Method, Metrics, Table, fit_with};

/// name, target, column to leave out
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
    let mut sets: Vec<String> = SETS[..6].iter().map(|set| set.0.to_string()).collect();
    let (mut splits, mut methods, mut options) = (20, vec!["ne-gmm".to_string()], Vec::new());
    let mut arguments = std::env::args().skip(1);
    let list = |text: String| text.split(',').map(str::to_string).collect::<Vec<_>>();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--sets" => sets = list(value()?),
            "--methods" => methods = list(value()?),
            "--splits" => splits = value()?.parse()?,
            _ => {
                let (name, value) = argument.split_once('=').ok_or(format!("what is {argument}?"))?;
                options.push((name.to_string(), value.to_string()));
            }
        }
    }
    let folder = std::env::var("NEGMM_DATA").map_or(PathBuf::from("../shared/data"), PathBuf::from).join("uci");
    println!("| set | method | splits | NLL | CRPS | RMSE | cover 95 | width 95 | seconds a fit |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for set in &sets {
        let (name, target, ignore) = SETS.iter().find(|known| known.0 == *set).ok_or(format!("no set {set}"))?;
        let table = Table::read(folder.join(format!("{name}.csv.gz")))?;
        let tests = test_rows(&folder, name, table.rows())?;
        for method_name in &methods {
            let mut method = Method::by_name(method_name)?;
            for (option, value) in &options {
                method.set(option, value)?;
            }
            let inputs = Inputs { ignore: ignore.iter().map(|name| name.to_string()).collect(), ..Inputs::default() };
            let engine = CpuEngine::new(1);
            let mut scores: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
            for (split, test) in tests.iter().take(splits).enumerate() {
                let mut is_test = vec![false; table.rows()];
                test.iter().for_each(|row| is_test[*row] = true);
                let train: Vec<usize> = (0..table.rows()).filter(|row| !is_test[*row]).collect();
                let start = Instant::now();
                let options =
                    FitOptions { seed: split as u64, inputs: &inputs, engine: &engine, watch: Watch::nothing() };
                let model = fit_with(&table.select_rows(&train), target, &method, &options)?.model;
                let seconds = start.elapsed().as_secs_f64();
                let test = table.select_rows(test);
                let metrics = Metrics::of(&model.predict(&test)?, &model.encoder().targets(&test)?)?;
                for (metric, score) in [
                    ("nll", metrics.nll),
                    ("crps", metrics.crps),
                    ("rmse", metrics.rmse),
                    ("cover", metrics.coverage["0.95"]),
                    ("width", metrics.width["0.95"]),
                    ("seconds", seconds),
                ] {
                    scores.entry(metric).or_default().push(score);
                }
            }
            let cell = |metric: &str| {
                let scores = &scores[metric];
                let count = scores.len() as f64;
                let mean = scores.iter().sum::<f64>() / count;
                let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
                format!("{mean:.4} ({:.4})", (variance / count).sqrt())
            };
            println!(
                "| {name} | {method_name} | {} | {} | {} | {} | {} | {} | {} |",
                scores["nll"].len(),
                cell("nll"),
                cell("crps"),
                cell("rmse"),
                cell("cover"),
                cell("width"),
                cell("seconds")
            );
        }
    }
    Ok(())
}

/// The test rows of each standard split; tenths drawn with a fixed seed where there are none.
fn test_rows(folder: &Path, name: &str, rows: usize) -> Result<Vec<Vec<usize>>, Box<dyn std::error::Error>> {
    let path = folder.join("splits").join(format!("{name}.txt.gz"));
    if !path.exists() {
        let folds = k_folds(rows, 10, &mut Rng::new(0, 0));
        return Ok(folds.into_iter().map(|fold| fold.into_iter().map(|row| row as usize).collect()).collect());
    }
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path)?).read_to_string(&mut text)?;
    text.lines().map(|line| Ok(line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?)).collect()
}
