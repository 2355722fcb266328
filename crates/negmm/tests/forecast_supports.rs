//! Forecasts put probability only on values that a series can take: grids, zeros and bounds, also of sums of paths.

use negmm::data::{Column, TargetSpec};
use negmm::forecast::{Aggregate, Forecaster, Forecasts, SeriesSpec, fit_forecaster};
use negmm::method::Auto;
use negmm::{FitOptions, Rng, Table};

fn quick() -> Auto {
    Auto::default().hidden(vec![32, 32]).steps(400)
}

fn options(outcome: TargetSpec) -> FitOptions<'static> {
    let mut options = FitOptions::default();
    options.inputs = options.inputs.target_spec(outcome);
    options
}

fn numbers(name: &str, numbers: Vec<f64>) -> (String, Column) {
    (name.to_string(), Column::Numbers(numbers))
}

fn forecast(table: &Table, spec: &SeriesSpec, outcome: TargetSpec) -> (Forecaster, Forecasts) {
    let forecaster = fit_forecaster(table, spec, &quick(), &options(outcome)).unwrap().forecaster;
    let read = Forecaster::from_bytes(&forecaster.to_bytes().unwrap()).unwrap();
    assert_eq!(read, forecaster);
    let future = read.future(table, &read.histories(table).unwrap()).unwrap();
    (read, future)
}

fn drawn(values: &[f64], steps: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed, 0);
    (0..steps).map(|_| values[rng.below(values.len())]).collect()
}

/// Independent counts with a known distribution.
const COUNTS: [f64; 7] = [1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 4.0];

#[test]
fn counts_are_forecast_by_their_distribution_not_by_the_last_value() {
    let truth: f64 =
        COUNTS.iter().map(|y| COUNTS.iter().map(|z| (y - z).abs()).sum::<f64>() / 7.0).sum::<f64>() / 7.0 / 2.0;
    for seed in 0..3 {
        let values = drawn(&COUNTS, 200, seed);
        let table = Table::new(vec![numbers("y", values)]).unwrap();
        let (_, future) = forecast(&table, &SeriesSpec::of("y").horizon(3), TargetSpec::default());
        let of = |y: &f64| future.predictions.crps(&[*y; 3]).unwrap().iter().sum::<f64>() / 3.0;
        let crps = COUNTS.iter().map(of).sum::<f64>() / 7.0;
        assert!(crps < 1.1 * truth, "{crps} {truth} {:?}", future.predictions.mean());
    }
}

#[test]
fn each_series_of_a_panel_has_its_own_grid() {
    let mut rng = Rng::new(4, 0);
    let (mut id, mut y) = (Vec::new(), Vec::new());
    for series in 0..6 {
        for step in 0..120 {
            id.push(f64::from(series));
            let smooth = 100.0 + 5.0 * (f64::from(step) / 9.0).sin() + rng.uniform();
            y.push(if series < 3 { 1.0 + (6.0 * rng.uniform()).floor() } else { smooth });
        }
    }
    let table = Table::new(vec![numbers("id", id), numbers("y", y)]).unwrap();
    let (_, future) = forecast(&table, &SeriesSpec::of("y").series("id").horizon(2), TargetSpec::default());
    for level in [0.03, 0.1, 0.37, 0.5, 0.71, 0.9, 0.97] {
        let quantiles = future.predictions.quantile(level).unwrap();
        assert!(quantiles[..6].iter().all(|quantile| quantile.fract() == 0.0), "{level} {quantiles:?}");
        assert!(quantiles[6..].iter().any(|quantile| quantile.fract() != 0.0), "{level} {quantiles:?}");
    }
}

#[test]
fn values_at_a_stated_bound_have_a_probability() {
    let mut rng = Rng::new(5, 0);
    let values: Vec<f64> = (0..240).map(|_| (12.0 * rng.uniform()).min(10.0)).collect();
    let share = values.iter().filter(|value| **value == 10.0).count() as f64 / 240.0;
    let table = Table::new(vec![numbers("y", values)]).unwrap();
    let bounds = TargetSpec::default().lower(0.0).upper(10.0);
    let (_, future) = forecast(&table, &SeriesSpec::of("y").horizon(2), bounds);
    for row in 0..2 {
        let at = future.predictions.above(9.999).unwrap()[row];
        assert!((at - share).abs() < 0.08, "{at} {share}");
    }
    assert_eq!(future.predictions.above(10.0).unwrap(), [0.0; 2]);
    assert_eq!(future.predictions.below(-1e-9).unwrap(), [0.0; 2]);
}

/// A day of 24 steps, of which the first 6 and the last 6 are zero.
fn sun(days: usize) -> Vec<f64> {
    let mut rng = Rng::new(6, 0);
    let hour = |step: usize| (std::f64::consts::TAU * (step as f64 / 24.0 - 0.25)).sin().max(0.0);
    (0..24 * days).map(|step| 50.0 * hour(step) * (0.7 + 0.3 * rng.uniform())).collect()
}

#[test]
fn zeros_of_the_night_keep_their_probability() {
    let table = Table::new(vec![numbers("y", sun(40))]).unwrap();
    let spec = SeriesSpec::of("y").horizon(24).seasonal_periods(vec![24]);
    for bounds in [TargetSpec::default(), TargetSpec::default().lower(0.0)] {
        let (_, future) = forecast(&table, &spec, bounds);
        let above = future.predictions.above(0.0).unwrap();
        let mean = future.predictions.mean();
        for hour in 0..24 {
            match hour {
                0..=5 | 19.. => assert!(above[hour] < 0.1 && mean[hour] < 0.5, "{hour} {} {}", above[hour], mean[hour]),
                8..=16 => assert!(above[hour] > 0.9 && mean[hour] > 10.0, "{hour} {} {}", above[hour], mean[hour]),
                _ => {}
            }
        }
        assert!(future.predictions.below(-1e-9).unwrap().iter().all(|below| *below == 0.0));
    }
}

#[test]
fn sums_and_extremes_of_paths_stay_on_the_grid() {
    let whole = |future: &Forecasts, forecaster: &Forecaster| {
        let paths = forecaster.paths(future, 200, 1).unwrap();
        assert!(paths.iter().all(|value| value.fract() == 0.0), "{paths:?}");
        for over in [Aggregate::Sum, Aggregate::Max, Aggregate::Min] {
            let all = forecaster.over(future, over, 1_000, 1).unwrap();
            for level in [0.1, 0.33, 0.5, 0.77, 0.951] {
                let quantile = all.predictions.quantile(level).unwrap()[0];
                assert!(quantile.fract() == 0.0, "{over:?} {level} {quantile}");
            }
        }
    };
    let spec = SeriesSpec::of("y").horizon(5);
    let counts = Table::new(vec![numbers("y", drawn(&COUNTS, 200, 9))]).unwrap();
    let (forecaster, future) = forecast(&counts, &spec, TargetSpec::default());
    whole(&future, &forecaster);
    // An intermittent series: its distributions are atoms.
    let demand = Table::new(vec![numbers("y", drawn(&[0.0, 0.0, 0.0, 0.0, 2.0, 31.0], 150, 2))]).unwrap();
    let (forecaster, future) = forecast(&demand, &spec, TargetSpec::default());
    whole(&future, &forecaster);
}
