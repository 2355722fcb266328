//! The time and the memory of a forecaster of many simulated series.
//!
//! ```text
//! many_series [--series N] [--steps N] [--horizon N] [--preset fast] [--threads N] [--seed N]
//! ```
//!
//! Monthly series: a level, a trend, a season of twelve steps, shared by all up to its size, and autocorrelated errors; some
//! grow in proportion to their level. Prints seconds and CPU seconds of the fit and of the forecasts of all series, and the
//! largest memory (Linux).

use std::error::Error;
use std::time::Instant;

use negmm::data::Column;
use negmm::forecast::{SeriesSpec, fit_forecaster};
use negmm::method::Auto;
use negmm::train::CpuEngine;
use negmm::{FitOptions, Method, Rng, Table};
use negmm_bench::options::Options;
use negmm_bench::usage::{own_cpu_seconds, own_peak_memory};
use negmm_dist::math::normal;

const PERIOD: usize = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(&["--series", "--steps", "--horizon", "--preset", "--threads", "--seed"])?;
    let (series, steps, horizon) =
        (options.get("--series", 1_000)?, options.get("--steps", 100)?, options.get("--horizon", 12)?);
    let preset: String = options.get("--preset", "medium".into())?;
    let (threads, seed): (usize, u64) = (options.get("--threads", 2)?, options.get("--seed", 0)?);
    let table = simulated(series, steps, seed)?;
    let engine = CpuEngine { threads, ..*CpuEngine::all_cores() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut method = Method::Auto(Auto::default());
    method.set("preset", &preset)?;
    let Method::Auto(auto) = method else { return Err("forecasts are made by auto".into()) };
    let spec = SeriesSpec::of("y").series("series").horizon(horizon).seasonal_periods(vec![PERIOD]);
    pool.install(|| -> negmm::Result<()> {
        let fit = FitOptions::default().seed(seed).engine(&engine);
        let forecaster = timed("fit", || fit_forecaster(&table, &spec, &auto, &fit))?.forecaster;
        let histories = forecaster.histories(&table)?;
        let forecasts = timed("forecasts", || forecaster.future(&table, &histories))?;
        println!("{} forecasts of {series} series of {steps} steps, preset {preset}", forecasts.points.len());
        Ok(())
    })?;
    Ok(())
}

/// Runs something, and prints what it took.
fn timed<T, E>(what: &str, run: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let (begin, before) = (Instant::now(), own_cpu_seconds());
    let result = run();
    println!(
        "{what}: {:.1} s, {:.1} CPU seconds, at most {:.2} GB up to now",
        begin.elapsed().as_secs_f64(),
        own_cpu_seconds() - before,
        own_peak_memory() as f64 / 1e9
    );
    result
}

/// A table with the columns `series` and `y`.
fn simulated(series: usize, steps: usize, seed: u64) -> Result<Table, Box<dyn Error>> {
    let mut rng = Rng::new(seed, 0);
    let mut values = Vec::with_capacity(series * steps);
    let season: Vec<f64> = (0..PERIOD).map(|_| normal::quantile(rng.uniform())).collect();
    for number in 0..series {
        let level = 100.0 * normal::quantile(rng.uniform()).exp();
        let [trend, size, noise] = [0.004, 0.2, 0.1].map(|size| size * rng.uniform());
        let (mut error, memory) = (0.0, 0.9 * rng.uniform());
        for step in 0..steps {
            error = memory * error + noise * normal::quantile(rng.uniform());
            let relative = trend * step as f64 + size * season[step % PERIOD] + error;
            values.push(level * if number % 2 == 0 { relative.exp() } else { 1.0 + relative });
        }
    }
    let names: Vec<String> = (0..series).map(|number| format!("s{number}")).collect();
    let cells = names.iter().flat_map(|name| std::iter::repeat_n(Some(name.as_str()), steps));
    Ok(Table::new(vec![("series", Column::text(cells)), ("y", Column::Numbers(values))])?)
}
