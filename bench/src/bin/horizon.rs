//! Forecasts the tasks of `../shared/data/horizon` and M4's hourly series with default settings, as a user would.
//!
//! ```text
//! horizon [--tasks a,b] [--threads N] [--set OPTION=VALUE,…] [--seed N] [--every N] [--validation true]
//! ```
//!
//! Prints the weighted quantile loss over the deciles and what the interval between the first and the ninth decile
//! covers. With `--validation true` the last steps of the fit part are forecast instead, for choosing settings; `--every N`
//! takes each N-th series. Data from the folder `NEGMM_DATA`, else `../shared/data`.

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use negmm::data::Column;
use negmm::forecast::{SeriesSpec, fit_forecaster};
use negmm::method::Auto;
use negmm::train::CpuEngine;
use negmm::{FitOptions, Method, Table};
use negmm_bench::options::Options;
use negmm_bench::usage::own_cpu_seconds;

/// A task: its file, columns, horizon, season (0: detected) and the published loss of the seasonal naive forecast.
struct Task {
    name: &'static str,
    file: &'static str,
    time: &'static str,
    target: &'static str,
    horizon: usize,
    season: usize,
    naive: f64,
}

const fn task(name: &'static str, file: &'static str, horizon: usize, season: usize, naive: f64) -> Task {
    Task { name, file, time: "step", target: "value", horizon, season, naive }
}

const TASKS: [Task; 9] = [
    task("tourism_monthly", "horizon/tourism_monthly.csv.gz", 24, 12, 0.1042),
    task("hospital", "horizon/hospital.csv.gz", 12, 12, 0.0726),
    task("car_parts", "horizon/car_parts.csv.gz", 12, 12, 1.6),
    task("m1_monthly", "horizon/m1_monthly.csv.gz", 18, 12, 0.1915),
    task("m3_quarterly", "horizon/m3_quarterly.csv.gz", 8, 4, 0.1013),
    task("exchange_rate", "horizon/exchange_rate.csv.gz", 30, 5, 0.0130),
    task("etth", "horizon/etth.csv.gz", 24, 24, 0.1221),
    task("m4_weekly", "horizon/m4_weekly.csv.gz", 13, 0, 0.0634),
    Task { time: "hour", target: "y", ..task("m4_hourly", "series/m4_hourly.csv.gz", 48, 0, 0.0483) },
];

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(&["--tasks", "--threads", "--set", "--seed", "--every", "--validation"])?;
    let names: Vec<String> = options.list("--tasks", TASKS.iter().map(|task| task.name.to_string()).collect())?;
    let engine = CpuEngine { threads: options.get("--threads", 2)?, ..*CpuEngine::all_cores() };
    let mut method = Method::Auto(Auto::default());
    for setting in options.list::<String>("--set", vec![])? {
        let (option, value) = setting.split_once('=').ok_or(format!("{setting:?} is not OPTION=VALUE"))?;
        method.set(option, value)?;
    }
    let Method::Auto(auto) = method else { return Err("forecasts are made by auto".into()) };
    let (seed, every, validation) =
        (options.get("--seed", 0)?, options.get("--every", 1)?, options.get("--validation", false)?);
    let folder = PathBuf::from(std::env::var("NEGMM_DATA").unwrap_or_else(|_| "../shared/data".into()));
    println!(
        "| task | quantile loss | relative to seasonal naive | 80 % covers | networks, classical | seconds | CPU seconds |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut relative = Vec::new();
    for task in TASKS.iter().filter(|task| names.iter().any(|name| name == task.name)) {
        let table = Table::read(folder.join(task.file))?;
        let (learnt, future) = parts(&table, task, every, validation)?;
        let mut spec = SeriesSpec::of(task.target).time(task.time).series("series").horizon(task.horizon);
        if task.season > 1 {
            spec = spec.seasonal_periods(vec![task.season]);
        }
        let (begin, before) = (Instant::now(), own_cpu_seconds());
        let options = FitOptions::default().seed(seed).engine(&engine);
        let fitted = fit_forecaster(&learnt, &spec, &auto, &options)?;
        let histories = fitted.forecaster.histories(&learnt)?;
        let forecasts = fitted.forecaster.future(&learnt, &histories)?;
        let seconds = begin.elapsed().as_secs_f64();
        let processor = own_cpu_seconds() - before;
        let (mut loss, mut size, mut covered, mut count) = (0.0, 0.0, 0.0, 0.0);
        for (row, point) in forecasts.points.iter().enumerate() {
            let y = future[point.series][point.ahead - 1];
            if y.is_nan() {
                continue;
            }
            let deciles = forecasts.predictions.each_decile(row);
            for (index, decile) in deciles.iter().enumerate() {
                let level = (index + 1) as f64 / 10.0;
                loss += 2.0 / 9.0 * (level * (y - decile)).max((level - 1.0) * (y - decile));
            }
            size += y.abs();
            covered += f64::from(u8::from(deciles[0] <= y && y <= deciles[8]));
            count += 1.0;
        }
        relative.push((loss / size / task.naive).ln());
        println!(
            "| {} | {:.4} | {:.3} | {:.3} | {:.2}, {:.2} | {seconds:.0} | {processor:.0} |",
            task.name,
            loss / size,
            loss / size / task.naive,
            covered / count,
            fitted.forecaster.network_weight(),
            fitted.forecaster.classical_weight(),
        );
        let transform = fitted.forecaster.transform();
        let members: Vec<String> = fitted
            .forecaster
            .classical_members()
            .iter()
            .take(5)
            .map(|(name, weight)| format!("{name} {weight:.2}"))
            .collect();
        eprintln!("{}: seasons {:?}; {}", task.name, transform.seasonal_periods, members.join(", "));
    }
    let mean = relative.iter().sum::<f64>() / relative.len().max(1) as f64;
    println!("\ngeometric mean relative to seasonal naive: {:.3}", mean.exp());
    Ok(())
}

trait Deciles {
    fn each_decile(&self, row: usize) -> [f64; 9];
}

impl Deciles for negmm::Predictions {
    fn each_decile(&self, row: usize) -> [f64; 9] {
        use negmm::Distribution;
        std::array::from_fn(|index| self.row(row).quantile((index + 1) as f64 / 10.0))
    }
}

/// A table to learn from, and the values of each of its series after it.
type Parts = (Table, Vec<Vec<f64>>);

/// Cuts the series of a task.
fn parts(table: &Table, task: &Task, every: usize, validation: bool) -> Result<Parts, Box<dyn Error>> {
    let text = |name: &str| match table.column(name) {
        Some(Column::Text { codes, levels }) => {
            Ok(codes.iter().map(|code| levels[*code as usize].clone()).collect::<Vec<String>>())
        }
        _ => Err(format!("{name} is not text")),
    };
    let (series, part) = (text("series")?, text("part")?);
    let Some(values) = table.numbers(task.target) else { return Err("the target is absent".into()) };
    let values = values?;
    let (mut learnt, mut future): (Vec<usize>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    let rows: Vec<usize> = (0..series.len()).collect();
    for (number, own) in rows.chunk_by(|a, b| series[*a] == series[*b]).enumerate() {
        if number % every != 0 {
            continue;
        }
        let mut cut = own.iter().position(|row| part[*row] == "test").unwrap_or(own.len());
        if validation {
            cut -= task.horizon;
        }
        learnt.extend_from_slice(&own[..cut]);
        future.push(own[cut..cut + task.horizon].iter().map(|row| values[*row]).collect());
    }
    Ok((table.select_rows(&learnt), future))
}
