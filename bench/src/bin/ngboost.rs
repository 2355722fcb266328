//! Times NGBoost on UCI sets (first standard split, 500 rounds, depth 3, learning rate 0.01); optionally beside Python's ngboost.
//!
//! `ngboost [--python INTERPRETER] [--sets a,b] [OPTION=VALUE …]`: training, and predicting all rows of the set. With
//! `--scores` instead, the NLL of the settings (the defaults, changed by the options) over all standard splits.
//! Data from `NEGMM_DATA`, else `../shared/data`.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use negmm::Table;
use negmm::data::Column;
use negmm::method::NgBoost;
use negmm::ngboost::{Boosted, Columns};
use negmm::train::Callbacks;

/// Predictions per timing: one is too short to measure.
const PREDICTIONS: u32 = 10;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let (mut python, mut sets, mut options, mut scores) = (None, None, Vec::new(), false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--python" => python = Some(value()?),
            "--sets" => sets = Some(value()?),
            "--scores" => scores = true,
            _ => {
                let (name, value) = argument.split_once('=').ok_or(format!("what is {argument}?"))?;
                options.push((name.to_string(), value.to_string()));
            }
        }
    }
    let folder = std::env::var("NEGMM_DATA").map_or(PathBuf::from("../shared/data"), PathBuf::from).join("uci");
    let mut settings = NgBoost::default();
    if !scores {
        settings = settings.n_estimators(500).validation_fraction(0.0);
    }
    for (name, value) in &options {
        if !negmm_nn::options::set(&mut settings, name, value)? {
            return Err(format!("there is no option {name}").into());
        }
    }
    let default = if scores { "boston,concrete,yacht,wine_red" } else { "kin8nm,protein" };
    let sets = sets.unwrap_or(default.to_string());
    let sets: Vec<&str> = sets.split(',').collect();
    if scores { print_scores(&folder, &sets, &settings) } else { print_seconds(&folder, &sets, &settings, python) }
}

fn print_scores(folder: &Path, sets: &[&str], settings: &NgBoost) -> Outcome<()> {
    println!("| set | splits | NLL | RMSE | rounds | seconds a fit |");
    println!("|---|---|---|---|---|---|");
    for set in sets {
        let data = Data::read(folder, set)?;
        let results: Vec<[f64; 4]> = (0..data.tests.len())
            .map(|split| {
                let (train, test) = data.divide(split);
                let start = Instant::now();
                let (model, [mean, sd]) = fit(&data, &train, settings, split as u64)?;
                let seconds = start.elapsed().as_secs_f64();
                let (columns, y) = data.select(&test);
                let (means, sds) = model.predict(&Columns::new(&columns, y.len())?)?;
                let (mut nll, mut square) = (0.0, 0.0);
                for ((m, s), y) in means.iter().zip(&sds).zip(&y) {
                    let z = (y - (m * sd + mean)) / (s * sd);
                    nll += 0.5 * z * z + (s * sd).ln() + 0.5 * std::f64::consts::TAU.ln();
                    square += (z * s * sd).powi(2);
                }
                let count = y.len() as f64;
                Ok([nll / count, (square / count).sqrt(), model.rounds.len() as f64, seconds])
            })
            .collect::<Outcome<_>>()?;
        let cell = |k: usize| {
            let count = results.len() as f64;
            let mean = results.iter().map(|result| result[k]).sum::<f64>() / count;
            let variance = results.iter().map(|result| (result[k] - mean).powi(2)).sum::<f64>() / (count - 1.0);
            format!("{mean:.4} ({:.4})", (variance / count).sqrt())
        };
        println!("| {set} | {} | {} | {} | {} | {} |", results.len(), cell(0), cell(1), cell(2), cell(3));
    }
    Ok(())
}

fn print_seconds(folder: &Path, sets: &[&str], settings: &NgBoost, python: Option<String>) -> Outcome<()> {
    println!("| set | rows | train s | predict s | Python train s | Python predict s | train ratio | predict ratio |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut ours = HashMap::new();
    for set in sets {
        ours.insert(*set, seconds(&Data::read(folder, set)?, settings)?);
        if python.is_none() {
            let (train, predict, rows) = ours[set];
            println!("| {set} | {rows} | {train:.3} | {predict:.4} | | | | |");
        }
    }
    let Some(python) = python else { return Ok(()) };
    for set in sets {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/ngboost_reference.py");
        let data = folder.parent().unwrap_or(folder);
        let output = Command::new(&python).arg(script).arg(set).env("NEGMM_DATA", data).output()?;
        let text = String::from_utf8(output.stdout)?;
        let numbers: Vec<f64> = text.split_whitespace().skip(1).map(str::parse).collect::<Result<_, _>>()?;
        let &[python_train, python_predict] = numbers.as_slice() else {
            return Err(
                format!("unexpected output of Python: {text:?} {}", String::from_utf8_lossy(&output.stderr)).into()
            );
        };
        // Measured before and after Python, the faster of the two.
        let (before, after) = (ours[set], seconds(&Data::read(folder, set)?, settings)?);
        let (train, predict, rows) = (before.0.min(after.0), before.1.min(after.1), before.2);
        println!(
            "| {set} | {rows} | {train:.3} | {predict:.4} | {python_train:.2} | {python_predict:.3} | {:.1} | {:.1} |",
            python_train / train,
            python_predict / predict
        );
    }
    Ok(())
}

/// Seconds of training and of predicting all rows, the best of three; how many rows.
fn seconds(data: &Data, settings: &NgBoost) -> Outcome<(f64, f64, usize)> {
    let (train, _) = data.divide(0);
    let everything: Vec<usize> = (0..data.y.len()).collect();
    let (columns, _) = data.select(&everything);
    let columns = Columns::new(&columns, data.y.len())?;
    let mut best = (f64::INFINITY, f64::INFINITY, data.y.len());
    for _ in 0..3 {
        let clock = Clock::start();
        let (model, _) = fit(data, &train, settings, 0)?;
        best.0 = clock.seconds().min(best.0);
        let clock = Clock::start();
        for _ in 0..PREDICTIONS {
            model.predict(&columns)?;
        }
        best.1 = (clock.seconds() / f64::from(PREDICTIONS)).min(best.1);
    }
    Ok(best)
}

/// CPU seconds, as Python's `time.process_time`, so that other programs do not count; wall-clock seconds where the system does not
/// report them.
struct Clock {
    start: Instant,
    busy: Option<f64>,
}

impl Clock {
    fn start() -> Self {
        Self { start: Instant::now(), busy: Self::busy() }
    }

    fn busy() -> Option<f64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse().ok().map(|nanoseconds: f64| nanoseconds * 1e-9)
    }

    fn seconds(&self) -> f64 {
        match (self.busy, Self::busy()) {
            (Some(start), Some(end)) => end - start,
            _ => self.start.elapsed().as_secs_f64(),
        }
    }
}

/// Fits rows with standardised targets; returns also mean and sd of the targets.
fn fit(data: &Data, rows: &[usize], settings: &NgBoost, seed: u64) -> Outcome<(Boosted, [f64; 2])> {
    let (columns, mut y) = data.select(rows);
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    let sd = (y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / y.len() as f64).sqrt();
    y.iter_mut().for_each(|y| *y = (*y - mean) / sd);
    let model = settings.fit(&Columns::new(&columns, y.len())?, &y, None, seed, &Callbacks::nothing())?;
    Ok((model, [mean, sd]))
}

struct Data {
    columns: Vec<Vec<f32>>,
    y: Vec<f64>,
    tests: Vec<Vec<usize>>,
}

impl Data {
    /// All columns but the last are features; the last is the target.
    fn read(folder: &Path, name: &str) -> Outcome<Self> {
        let table = Table::read(folder.join(format!("{name}.csv.gz")))?;
        let mut columns: Vec<Vec<f64>> = table
            .columns()
            .map(|(_, column)| match column {
                Column::Numbers(numbers) => Ok(numbers.clone()),
                _ => Err("a column is not of numbers"),
            })
            .collect::<Result<_, _>>()?;
        let y = columns.pop().ok_or("no columns")?;
        let mut text = String::new();
        let splits = folder.join("splits").join(format!("{name}.txt.gz"));
        flate2::read::GzDecoder::new(std::fs::File::open(splits)?).read_to_string(&mut text)?;
        let tests = text
            .lines()
            .map(|line| line.split_whitespace().map(str::parse).collect::<Result<_, _>>())
            .collect::<Result<_, _>>()?;
        Ok(Self {
            columns: columns.iter().map(|column| column.iter().map(|x| *x as f32).collect()).collect(),
            y,
            tests,
        })
    }

    fn divide(&self, split: usize) -> (Vec<usize>, Vec<usize>) {
        let mut is_test = vec![false; self.y.len()];
        self.tests[split].iter().for_each(|row| is_test[*row] = true);
        (0..self.y.len()).partition(|row| !is_test[*row])
    }

    fn select(&self, rows: &[usize]) -> (Vec<Vec<f32>>, Vec<f64>) {
        let columns = self.columns.iter().map(|column| rows.iter().map(|row| column[*row]).collect()).collect();
        (columns, rows.iter().map(|row| self.y[*row]).collect())
    }
}
