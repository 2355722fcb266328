//! Simulated intermittent demand: forecasts beside Croston's method, that of Teunter, Syntetos and Babai, and the empirical
//! distribution of each series.
//!
//! ```text
//! intermittent [--series N] [--steps N] [--seed N] [--rates 0.05,0.1,…]
//! ```
//!
//! Each step of a series has a demand with the same probability, of a geometric size (mean 3) or a lognormal one (mean
//! e^0.5). For each rate and kind of sizes one forecaster is fitted to all series. Prints how far P(Y > 0) and the mean
//! are from the truth on average over series (and in absolute terms by series), how far the mean of the draws of all series
//! is from it, and the expected quantile loss of the next step over the levels 0.1, 0.2 … 0.9 and 0.95, 0.99 under the true
//! distribution, which 4,000 draws stand for. The rivals' distributions have an atom at zero with one minus their rate and
//! one at their size; smoothing constants are 0.1.

use std::error::Error;

use negmm::data::Column;
use negmm::forecast::{SeriesSpec, fit_forecaster};
use negmm::method::Auto;
use negmm::{Distribution, FitOptions, Rng, Table};
use negmm_bench::options::Options;
use negmm_dist::math::normal;

const LEVELS: [f64; 11] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
const DRAWS: usize = 4_000;
const SMOOTHING: f64 = 0.1;
/// Probability of a geometric size to end, so that its mean is 3.
const ENDS: f64 = 1.0 / 3.0;

/// How sizes are distributed.
#[derive(Clone, Copy)]
enum Sizes {
    Geometric,
    Lognormal,
}

impl Sizes {
    fn draw(self, rng: &mut Rng) -> f64 {
        let u = rng.uniform().clamp(1e-12, 1.0 - 1e-12);
        match self {
            Self::Geometric => 1.0 + ((1.0 - u).ln() / (1.0 - ENDS).ln()).floor(),
            Self::Lognormal => normal::quantile(u).exp(),
        }
    }

    fn mean(self) -> f64 {
        match self {
            Self::Geometric => 1.0 / ENDS,
            Self::Lognormal => 0.5_f64.exp(),
        }
    }
}

fn demand(rate: f64, sizes: Sizes, rng: &mut Rng) -> f64 {
    if rng.uniform() < rate { sizes.draw(rng) } else { 0.0 }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(&["--series", "--steps", "--seed", "--rates"])?;
    let (count, steps, seed) =
        (options.get("--series", 100)?, options.get("--steps", 150)?, options.get("--seed", 0_u64)?);
    let rates: Vec<f64> = options.list("--rates", vec![0.05, 0.1, 0.2, 0.3, 0.5])?;
    println!(
        "| rate | sizes | P(Y > 0): bias, by series | mean: bias, by series, draws | loss | Croston | TSB | empirical |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for rate in rates {
        for (name, sizes) in [("geometric", Sizes::Geometric), ("lognormal", Sizes::Lognormal)] {
            let mut rng = Rng::new(seed, (rate * 1000.0) as u64);
            let all: Vec<Vec<f64>> =
                (0..count).map(|_| (0..steps).map(|_| demand(rate, sizes, &mut rng)).collect()).collect();
            let truth: Vec<f64> = (0..DRAWS).map(|_| demand(rate, sizes, &mut rng)).collect();
            let names: Vec<String> = (0..count).flat_map(|series| vec![format!("s{series}"); steps]).collect();
            let table = Table::new(vec![
                ("series", Column::text(names.iter().map(|name| Some(name.as_str())))),
                ("y", Column::Numbers(all.concat())),
            ])?;
            let spec = SeriesSpec::of("y").series("series").horizon(4).seasonal_periods(Vec::new());
            let fitted = fit_forecaster(&table, &spec, &Auto::default(), &FitOptions::default().seed(seed))?;
            let histories = fitted.forecaster.histories(&table)?;
            let forecasts = fitted.forecaster.future(&table, &histories)?;
            let loss = |quantile: &dyn Fn(f64) -> f64| -> f64 {
                let at = |level: f64| {
                    let value = quantile(level);
                    truth.iter().map(|y| (level * (y - value)).max((level - 1.0) * (y - value))).sum::<f64>()
                };
                LEVELS.iter().map(|level| at(*level)).sum::<f64>() / (DRAWS * LEVELS.len()) as f64
            };
            let two_points = |(rate, size): (f64, f64)| move |level: f64| if level > 1.0 - rate { size } else { 0.0 };
            let expected = rate * sizes.mean();
            let of_draws = all.concat().iter().sum::<f64>() / (count * steps) as f64 / expected - 1.0;
            let (mut positive, mut mean) = ((0.0, 0.0), (0.0, 0.0));
            let mut losses = [0.0; 4];
            for (row, point) in forecasts.points.iter().enumerate().filter(|(_, point)| point.ahead == 1) {
                let own = forecasts.predictions.row(row);
                let above = 1.0 - own.cdf(0.0) - rate;
                let off = own.mean() / expected - 1.0;
                positive = (positive.0 + above, positive.1 + above.abs());
                mean = (mean.0 + off, mean.1 + off.abs());
                let history = &all[point.series];
                let mut sorted = history.clone();
                sorted.sort_by(f64::total_cmp);
                let empirical = |level: f64| sorted[((level * steps as f64).ceil() as usize).clamp(1, steps) - 1];
                losses[0] += loss(&|level| own.quantile(level));
                losses[1] += loss(&two_points(croston(history)));
                losses[2] += loss(&two_points(teunter(history)));
                losses[3] += loss(&empirical);
            }
            let each = |sum: f64| sum / count as f64;
            println!(
                "| {rate} | {name} | {:+.3}, {:.3} | {:+.1} %, {:.1} %, {:+.1} % | {:.4} | {:.4} | {:.4} | {:.4} |",
                each(positive.0),
                each(positive.1),
                100.0 * each(mean.0),
                100.0 * each(mean.1),
                100.0 * of_draws,
                each(losses[0]),
                each(losses[1]),
                each(losses[2]),
                each(losses[3]),
            );
        }
    }
    Ok(())
}

/// Croston's rate and size: smoothed intervals between demands, and smoothed sizes.
fn croston(history: &[f64]) -> (f64, f64) {
    let (mut interval, mut size, mut since): (Option<f64>, f64, f64) = (None, 0.0, 1.0);
    for value in history {
        if *value > 0.0 {
            (interval, size) = match interval {
                None => (Some(since), *value),
                Some(before) => (Some(before + SMOOTHING * (since - before)), size + SMOOTHING * (value - size)),
            };
            since = 1.0;
        } else {
            since += 1.0;
        }
    }
    (interval.map_or(0.0, |interval| 1.0 / interval.max(1.0)), size)
}

/// The rate and size of Teunter, Syntetos and Babai: the rate is smoothed in all steps.
fn teunter(history: &[f64]) -> (f64, f64) {
    let positive: Vec<f64> = history.iter().copied().filter(|value| *value > 0.0).collect();
    let mut rate = positive.len() as f64 / history.len() as f64;
    let mut size = positive.first().copied().unwrap_or(0.0);
    for value in history {
        rate += SMOOTHING * (f64::from(u8::from(*value > 0.0)) - rate);
        if *value > 0.0 {
            size += SMOOTHING * (value - size);
        }
    }
    (rate, size)
}
