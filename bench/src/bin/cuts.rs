//! Printed scores of forecasts against those of the real future: `cuts --program negmm [--sets passengers,pjm] [--cuts 0,1,2,3]
//! [--preset medium] [--threads 1]`.
//!
//! Each series is cut four times. The program fits a forecaster to what comes before a cut, and `evaluate` scores it on what
//! follows. A line for each cut: the CRPS relative to the best baseline's, as printed and in the future, their ratio (above 1:
//! printed scores are too good), the CRPS of the future, and the coverage of its 90 % and 95 % intervals (90 %: NaN of programs
//! that do not say it). Then the geometric means of each set, and its mean coverage. Data from the folder `NEGMM_DATA`, else `../shared/data`.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use negmm_bench::options::Options;
use negmm_bench::program::called;
use serde_json::Value;

/// The number of cuts of a series.
const CUTS: usize = 4;

/// Series to forecast.
struct Set {
    name: &'static str,
    file: &'static str,
    /// The columns of the target, of times, and of the names of series.
    columns: (&'static str, &'static str, Option<&'static str>),
    horizon: usize,
    /// Steps between cuts, which are also the steps scored after each, and between the origins of their forecasts.
    steps: usize,
    stride: usize,
}

const SETS: [Set; 4] = [
    Set {
        name: "passengers",
        file: "passengers.csv",
        columns: ("Passengers", "Month", None),
        horizon: 12,
        steps: 24,
        stride: 4,
    },
    Set {
        name: "pjm",
        file: "pjm_load.csv.gz",
        columns: ("load_mw", "datetime", None),
        horizon: 24,
        steps: 504,
        stride: 24,
    },
    Set { name: "etth1", file: "etth1.csv.gz", columns: ("HUFL", "date", None), horizon: 24, steps: 504, stride: 24 },
    Set {
        name: "m4_hourly",
        file: "m4_hourly40.csv.gz",
        columns: ("y", "hour", Some("series")),
        horizon: 48,
        steps: 72,
        stride: 24,
    },
];

/// The scores of a cut.
struct Scores {
    printed: f64,
    real: f64,
    crps: f64,
    covered: [f64; 2],
}

fn main() -> Result<(), String> {
    let options = Options::read(&["--program", "--sets", "--cuts", "--preset", "--threads"])?;
    let program = options.text("--program").unwrap_or("target/release/negmm").to_string();
    let sets: Vec<String> = options.list("--sets", SETS.iter().map(|set| set.name.to_string()).collect())?;
    let cuts: Vec<usize> = options.list("--cuts", (0..CUTS).collect())?;
    let preset: String = options.get("--preset", "medium".into())?;
    let threads: String = options.get("--threads", "1".into())?;
    println!(
        "{:11} cut {:>8} {:>8} {:>6} {:>10} {:>9} {:>9}",
        "set", "printed", "real", "ratio", "CRPS", "in 90 %", "in 95 %"
    );
    for set in SETS.iter().filter(|set| sets.iter().any(|name| name == set.name)) {
        let scores: Vec<Scores> = cuts
            .iter()
            .map(|cut| run(set, *cut, &program, &preset, &threads).map_err(|error| format!("{}: {error}", set.name)))
            .collect::<Result<_, _>>()?;
        let mean = |of: &dyn Fn(&Scores) -> f64| {
            (scores.iter().map(|scores| of(scores).ln()).sum::<f64>() / scores.len() as f64).exp()
        };
        let covered =
            |at: usize| 100.0 * scores.iter().map(|scores| scores.covered[at]).sum::<f64>() / scores.len() as f64;
        println!(
            "{:11} all {:8.3} {:8.3} {:6.3} {:10.4} {:7.1} % {:7.1} %",
            set.name,
            mean(&|scores| scores.printed),
            mean(&|scores| scores.real),
            mean(&|scores| scores.real / scores.printed),
            mean(&|scores| scores.crps),
            covered(0),
            covered(1),
        );
    }
    Ok(())
}

/// Fits before a cut and scores what follows.
fn run(set: &Set, cut: usize, program: &str, preset: &str, threads: &str) -> Result<Scores, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (target, time, series) = set.columns;
    let text = text(set.file)?;
    let later = (CUTS - cut) * set.steps;
    for (name, later) in [("train.csv", later), ("fresh.csv", later - set.steps)] {
        let rows = without_last(&text, series, later)?;
        std::fs::write(folder.path().join(name), rows).map_err(|error| error.to_string())?;
    }
    let horizon = set.horizon.to_string();
    let mut fit = vec!["fit", "train.csv", "--sequence", target, "--time", time, "--horizon", &horizon, "-o", "m"];
    fit.extend(series.into_iter().flat_map(|series| ["--series", series]));
    fit.extend(["--preset", preset, "--threads", threads, "--json"]);
    let (fitted, _) = called(program, folder.path(), &fit)?;
    let (size, stride) = (set.steps.to_string(), set.stride.to_string());
    let evaluate =
        ["evaluate", "m", "fresh.csv", "--test-size", &size, "--stride", &stride, "--threads", threads, "--json"];
    let (fresh, _) = called(program, folder.path(), &evaluate)?;
    let list = |value: &Value, name: &str| value[name].as_array().cloned().ok_or(format!("no {name}: {value}"));
    let (held_out, scores) = (list(&fitted, "held_out")?, list(&fresh, "scores")?);
    let (printed, _) = relative(&held_out)?;
    let (real, crps) = relative(&scores)?;
    let covered = ["coverage90", "coverage95"].map(|name| scores[0][name].as_f64().unwrap_or(f64::NAN));
    println!(
        "{:11} {cut:3} {printed:8.3} {real:8.3} {:6.3} {crps:10.4} {:7.1} % {:7.1} %",
        set.name,
        real / printed,
        100.0 * covered[0],
        100.0 * covered[1],
    );
    Ok(Scores { printed, real, crps, covered })
}

/// The CRPS of the forecaster relative to the best baseline's, and itself.
fn relative(scores: &[Value]) -> Result<(f64, f64), String> {
    let crps: Option<Vec<f64>> = scores.iter().map(|score| score["crps"].as_f64()).collect();
    match crps.as_deref() {
        Some([own, baselines @ ..]) if !baselines.is_empty() => {
            Ok((own / baselines.iter().copied().fold(f64::INFINITY, f64::min), *own))
        }
        _ => Err(format!("no scores of baselines: {scores:?}")),
    }
}

/// The text of a file of series.
fn text(file: &str) -> Result<String, String> {
    let folder = std::env::var("NEGMM_DATA").map_or(PathBuf::from("../shared/data"), PathBuf::from);
    let path: PathBuf = folder.join("series").join(file);
    let shown = |error: std::io::Error| format!("{}: {error}", path.display());
    let bytes = std::fs::read(&path).map_err(shown)?;
    let mut text = String::new();
    if Path::new(file).extension().is_some_and(|extension| extension == "gz") {
        GzDecoder::new(&bytes[..]).read_to_string(&mut text).map_err(shown)?;
    } else {
        text = String::from_utf8(bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(text)
}

/// The lines of a table without the last rows of each series.
fn without_last(text: &str, series: Option<&str>, steps: usize) -> Result<String, String> {
    let mut lines = text.lines();
    let header = lines.next().ok_or("the file is empty")?;
    let at = match series {
        Some(name) => Some(header.split(',').position(|column| column == name).ok_or(format!("no column {name}"))?),
        None => None,
    };
    let name = |line: &str| at.and_then(|at| line.split(',').nth(at)).unwrap_or_default().to_string();
    let mut left: BTreeMap<String, usize> = BTreeMap::new();
    lines.clone().for_each(|line| *left.entry(name(line)).or_default() += 1);
    let mut kept = vec![header];
    for line in lines {
        if let Some(left) = left.get_mut(&name(line)) {
            if *left > steps {
                kept.push(line);
            }
            *left -= 1;
        }
    }
    Ok(kept.join("\n") + "\n")
}
