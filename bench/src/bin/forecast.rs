//! Forecasts the series of `../shared/data` as a user would, with default settings, and scores them beside naive forecasts.
//!
//! ```text
//! forecast [--sets a,b] [--threads N] [--set OPTION=VALUE,…] [--seed N]
//! ```
//!
//! One step: the paper's stocks in its periods, and the ends of four other series. `pjm24`, `hufl24`: 24 steps from 41 daily
//! origins, and the sum over the day beside one that takes the hours as independent. `m4`: the last 48 hours of 414 series, one
//! model. Data from the folder `NEGMM_DATA`, else `../shared/data`.

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use negmm::data::Column;
use negmm::forecast::{Aggregate, BacktestOrigins, Forecaster, Histories, SeriesSpec, fit_forecaster};
use negmm::method::Auto;
use negmm::train::CpuEngine;
use negmm::{FitOptions, Method, Table};
use negmm_bench::options::Options;

/// Draws of a path's sum.
const PATHS: usize = 500;

/// A series to forecast, with its training rows and the origins that are scored.
struct Case {
    name: &'static str,
    file: &'static str,
    target: &'static str,
    time: Option<&'static str>,
    series: Option<&'static str>,
    horizon: usize,
    period: Period,
}

/// The rows of a series, and the last training row.
enum Period {
    /// The first day, the last training day, and the last day.
    Days([&'static str; 3]),
    /// The number of last steps that are scored.
    Last(usize),
}

const fn one_step(
    name: &'static str,
    file: &'static str,
    target: &'static str,
    time: &'static str,
    period: Period,
) -> Case {
    Case { name, file, target, time: Some(time), series: None, horizon: 1, period }
}

const CASES: [Case; 10] = [
    one_step("goog", "stocks/goog.csv", "close", "date", Period::Days(["2019-01-01", "2022-07-31", "2023-01-31"])),
    one_step("rcl", "stocks/rcl.csv", "close", "date", Period::Days(["2019-01-01", "2020-04-30", "2020-09-30"])),
    one_step("gme", "stocks/gme.csv", "close", "date", Period::Days(["2020-11-01", "2022-01-31", "2022-12-31"])),
    one_step("hufl", "series/etth1.csv.gz", "HUFL", "date", Period::Last(1000)),
    one_step("pjm", "series/pjm_load.csv.gz", "load_mw", "datetime", Period::Last(1000)),
    one_step("min_temperature", "series/min_temperature.csv", "Temp", "Date", Period::Last(730)),
    one_step("passengers", "series/passengers.csv", "Passengers", "Month", Period::Last(48)),
    Case { horizon: 24, ..one_step("pjm24", "series/pjm_load.csv.gz", "load_mw", "datetime", Period::Last(984)) },
    Case { horizon: 24, ..one_step("hufl24", "series/etth1.csv.gz", "HUFL", "date", Period::Last(984)) },
    Case {
        series: Some("series"),
        horizon: 48,
        ..one_step("m4", "series/m4_hourly.csv.gz", "y", "hour", Period::Last(48))
    },
];

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(&["--sets", "--threads", "--set", "--seed"])?;
    let sets: Vec<String> = options.list("--sets", CASES.iter().map(|case| case.name.to_string()).collect())?;
    let engine = CpuEngine { threads: options.get("--threads", 2)?, ..*CpuEngine::all_cores() };
    let mut method = Method::Auto(Auto::default());
    for setting in options.list::<String>("--set", vec![])? {
        let (option, value) = setting.split_once('=').ok_or(format!("{setting:?} is not OPTION=VALUE"))?;
        method.set(option, value)?;
    }
    let Method::Auto(auto) = method else { return Err("forecasts are made by auto".into()) };
    let seed = options.get("--seed", 0)?;
    let folder = PathBuf::from(std::env::var("NEGMM_DATA").unwrap_or_else(|_| "../shared/data".into()));
    println!("set: forecaster, steps; then NLL, CRPS, 95 % coverage, MASE, quantile loss of deciles of each");
    for case in CASES.iter().filter(|case| sets.iter().any(|name| name == case.name)) {
        run(case, &folder, &auto, &engine, seed)?;
    }
    Ok(())
}

fn run(
    case: &Case,
    folder: &std::path::Path,
    auto: &Auto,
    engine: &CpuEngine,
    seed: u64,
) -> Result<(), Box<dyn Error>> {
    let mut roles = SeriesSpec::of(case.target).horizon(case.horizon);
    (roles.time, roles.series) = (case.time.map(Into::into), case.series.map(Into::into));
    let table = Table::read(folder.join(case.file))?;
    let (table, learnt, last) = match &case.period {
        Period::Days([first, last_trained, last]) => {
            let Some(Column::Text { codes, levels }) = table.column(case.time.unwrap_or_default()) else {
                return Err("the stocks' dates are text".into());
            };
            let day = |row: &usize| levels[codes[*row] as usize].as_str();
            let rows: Vec<usize> = (0..table.rows()).filter(|row| day(row) >= *first && day(row) <= *last).collect();
            let learnt: Vec<usize> = (0..rows.len()).filter(|at| day(&rows[*at]) <= *last_trained).collect();
            let last = rows.len() - learnt.len();
            (table.select_rows(&rows), learnt, last)
        }
        Period::Last(last) => {
            let histories = Histories::read(&table, &roles, None)?;
            let learnt = histories.series.iter().flat_map(|series| series.rows[..series.len() - last].to_vec());
            let mut learnt: Vec<usize> = learnt.collect();
            learnt.sort_unstable();
            learnt.dedup();
            (table, learnt, *last)
        }
    };
    let begin = Instant::now();
    let options = FitOptions::default().seed(seed).engine(engine);
    let fitted = fit_forecaster(&table.select_rows(&learnt), &roles, auto, &options)?;
    let seconds = begin.elapsed().as_secs_f64();
    let forecaster = &fitted.forecaster;
    fitted.warnings.iter().for_each(|warning| println!("  ({warning})"));
    let transform = forecaster.transform();
    println!(
        "{}: {}, seasons {:?}, from {}, networks count {:.2}, {} inputs, {seconds:.1} s",
        case.name,
        transform.frequency.words(),
        transform.seasonal_periods,
        transform.naive().name(),
        forecaster.network_weight(),
        forecaster.model().encoder().features(),
    );
    let histories = forecaster.histories(&table)?;
    let origins = BacktestOrigins::default().test_size(last);
    let rolling = forecaster.backtest(&table, &histories, origins)?;
    for score in &rolling.scores {
        println!(
            "  {:16} {:8.3} {:10.5} {:6.3} {:7.3} {:8.5}",
            score.name, score.nll, score.crps, score.coverage95, score.mase, score.wql
        );
    }
    let held_out: Vec<String> =
        forecaster.scores().iter().map(|score| format!("{} {:.4}", score.name, score.crps)).collect();
    println!("  held-out CRPS: {}", held_out.join(", "));
    if case.horizon > 1 && case.series.is_none() {
        sums(forecaster, &table, &histories, origins)?;
    }
    Ok(())
}

/// The CRPS of the sum over the steps ahead, by paths and as if steps were independent.
fn sums(
    forecaster: &Forecaster,
    table: &Table,
    histories: &Histories,
    origins: BacktestOrigins,
) -> Result<(), Box<dyn Error>> {
    let forecasts = forecaster.predict(table, histories, forecaster.points(histories, origins))?;
    let horizon = forecaster.transform().spec.horizon;
    let together = forecaster.over(&forecasts, Aggregate::Sum, PATHS, 0)?;
    let value = |point: &negmm::forecast::ForecastPoint| histories.series[point.series].values[point.step()];
    let sums: Vec<f64> = forecasts.points.chunks(horizon).map(|steps| steps.iter().map(value).sum()).collect();
    let mean = |list: Vec<f64>| list.iter().sum::<f64>() / list.len() as f64;
    let alone: Vec<f64> = forecasts.predictions.sample(PATHS, 0, 0);
    let alone: Vec<f64> = (0..sums.len())
        .flat_map(|origin| {
            let alone = &alone;
            (0..PATHS).map(move |draw| (0..horizon).map(|step| alone[(origin * horizon + step) * PATHS + draw]).sum())
        })
        .collect();
    let alone = negmm::Predictions::from(negmm::samples::SampleSets::new(PATHS, alone, f64::MIN_POSITIVE)?);
    println!(
        "  sum over the steps, CRPS: {:.5} by paths, {:.5} if steps were independent",
        mean(together.predictions.crps(&sums)?),
        mean(alone.crps(&sums)?)
    );
    Ok(())
}
