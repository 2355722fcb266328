//! Forecasts of series with a known distribution, and invalid series.

use negmm::data::{Column, TargetSpec};
use negmm::forecast::{
    Aggregate, BacktestOrigins, FittedForecaster, ForecastPoint, Forecaster, Frequency, Histories, SeriesSpec,
    fit_forecaster,
};
use negmm::method::Auto;
use negmm::train::CpuEngine;
use negmm::{FitOptions, Rng, Table};

/// A normal number.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0
}

fn numbers(name: &str, numbers: Vec<f64>) -> (String, Column) {
    (name.to_string(), Column::Numbers(numbers))
}

fn table(values: Vec<f64>) -> Table {
    Table::new(vec![numbers("y", values)]).unwrap()
}

/// A small and quick `auto`.
fn quick() -> Auto {
    Auto::default().hidden(vec![32, 32]).steps(400)
}

fn fit(table: &Table, roles: &SeriesSpec) -> FittedForecaster {
    fit_forecaster(table, roles, &quick(), &FitOptions::default()).unwrap()
}

fn complaint(table: &Table, roles: &SeriesSpec) -> String {
    fit_forecaster(table, roles, &quick(), &FitOptions::default()).unwrap_err().to_string()
}

/// A season of 12 steps around a level that wanders a little.
fn seasonal(steps: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed, 0);
    let mut level = 50.0;
    (0..steps)
        .map(|step| {
            level += 0.1 * normal(&mut rng);
            level + 10.0 * (std::f64::consts::TAU * step as f64 / 12.0).sin() + normal(&mut rng)
        })
        .collect()
}

fn walk(steps: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed, 0);
    let mut value = 100.0;
    (0..steps)
        .map(|_| {
            value += normal(&mut rng);
            value
        })
        .collect()
}

#[test]
fn a_season_is_found_and_forecast() {
    let values = seasonal(700, 1);
    let roles = SeriesSpec::of("y").horizon(6);
    let FittedForecaster { forecaster, .. } = fit(&table(values[..600].to_vec()), &roles);
    assert_eq!(forecaster.transform().seasonal_periods, [12]);
    let all = table(values);
    let histories = forecaster.histories(&all).unwrap();
    let rolling = forecaster.backtest(&all, &histories, BacktestOrigins::default().test_size(96).stride(1)).unwrap();
    let [own, baselines @ ..] = &rolling.scores[..] else { panic!() };
    // The noise has an sd of 1: the lowest possible CRPS is 0.56.
    assert!(own.crps < 0.8, "{own:?}");
    assert!(baselines.iter().all(|baseline| own.crps < 0.85 * baseline.crps), "{baselines:?}");
    assert!((0.89..=0.99).contains(&own.coverage95), "{own:?}");
    assert_eq!((rolling.origins, rolling.steps.len(), own.rows), (91, 6, 91 * 6));
    assert!(own.mase < 1.0 && own.wis > 0.0 && own.wql > 0.0);
}

#[test]
fn a_random_walk_is_not_forecast_worse_than_its_last_value() {
    let values = walk(900, 2);
    let roles = SeriesSpec::of("y").horizon(8);
    let FittedForecaster { forecaster, warnings, .. } = fit(&table(values[..700].to_vec()), &roles);
    assert!(forecaster.transform().seasonal_periods.is_empty());
    let all = table(values);
    let histories = forecaster.histories(&all).unwrap();
    let rolling = forecaster.backtest(&all, &histories, BacktestOrigins::default().test_size(200).stride(1)).unwrap();
    let last = rolling.scores.iter().find(|score| score.name == "last value").unwrap();
    assert!(rolling.scores[0].crps < 1.03 * last.crps, "{:?} {last:?}", rolling.scores[0]);
    let (first, eighth) = (&rolling.steps[0], &rolling.steps[7]);
    let ratio = eighth.width95 / first.width95;
    assert!((2.0..4.0).contains(&ratio), "widths grow as the root of the steps: {ratio}");
    assert!(
        warnings.iter().all(|warning| warning.message().starts_with("no better than the naive forecast")),
        "{warnings:?}"
    );
}

#[test]
fn nobody_looks_into_the_future() {
    let values = seasonal(400, 3);
    let roles = SeriesSpec::of("y").horizon(4);
    let forecaster = fit(&table(values.clone()), &roles).forecaster;
    let points: Vec<ForecastPoint> =
        (100..300).flat_map(|origin| (1..=4).map(move |ahead| ForecastPoint { series: 0, origin, ahead })).collect();
    let forecast = |values: Vec<f64>| {
        let table = table(values);
        let histories = forecaster.histories(&table).unwrap();
        forecaster.predict(&table, &histories, points.clone()).unwrap().predictions.mixtures().unwrap().clone()
    };
    let mut changed = values.clone();
    changed[300..].iter_mut().for_each(|value| *value = 1e3 - *value);
    assert_eq!(forecast(values.clone()), forecast(changed));
    // And the end of the shorter series is the same as the middle of the longer.
    let short = table(values[..200].to_vec());
    let at_end = forecaster.future(&short, &forecaster.histories(&short).unwrap()).unwrap();
    let long = table(values);
    let middle: Vec<ForecastPoint> = (1..=4).map(|ahead| ForecastPoint { series: 0, origin: 199, ahead }).collect();
    let middle = forecaster.predict(&long, &forecaster.histories(&long).unwrap(), middle).unwrap();
    assert_eq!(at_end.predictions.mixtures(), middle.predictions.mixtures());
}

#[test]
fn the_same_seed_gives_the_same_file_which_says_the_same() {
    let data = table(seasonal(300, 4));
    let roles = SeriesSpec::of("y").horizon(3);
    let bytes = |threads: usize, seed: u64| {
        let engine = CpuEngine { threads, ..*CpuEngine::all_cores() };
        let options = FitOptions::default().engine(&engine).seed(seed);
        fit_forecaster(&data, &roles, &quick(), &options).unwrap().forecaster.to_bytes().unwrap()
    };
    let one = bytes(1, 5);
    assert_eq!(one, bytes(2, 5));
    assert_ne!(one, bytes(1, 6));
    let forecaster = Forecaster::from_bytes(&one).unwrap();
    assert_eq!(forecaster.to_bytes().unwrap(), one);
    let histories = forecaster.histories(&data).unwrap();
    let future = forecaster.future(&data, &histories).unwrap();
    assert_eq!(future.points.len(), 3);
    let message = negmm::Model::from_bytes(&one).unwrap_err().to_string();
    assert_eq!(message, "this file holds a forecaster of series, not a model of rows");
}

#[test]
fn paths_depend_on_their_steps() {
    let values = walk(800, 7);
    let roles = SeriesSpec::of("y").horizon(10);
    let data = table(values);
    let forecaster = fit(&data, &roles).forecaster;
    let histories = forecaster.histories(&data).unwrap();
    let forecasts = forecaster.future(&data, &histories).unwrap();
    let count = 4_000;
    let paths = forecaster.paths(&forecasts, count, 1).unwrap();
    assert_eq!(paths, forecaster.paths(&forecasts, count, 1).unwrap());
    let step = |step: usize| &paths[step * count..][..count];
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
    let covariance = |a: &[f64], b: &[f64]| {
        let (x, y) = (mean(a), mean(b));
        a.iter().zip(b).map(|(a, b)| (a - x) * (b - y)).sum::<f64>() / a.len() as f64
    };
    let correlation = |a: &[f64], b: &[f64]| covariance(a, b) / (covariance(a, a) * covariance(b, b)).sqrt();
    // Of a walk the steps 9 and 10 have sqrt(9 / 10), and 1 and 10 sqrt(1 / 10).
    assert!(correlation(step(8), step(9)) > 0.75, "{}", correlation(step(8), step(9)));
    assert!(correlation(step(0), step(9)) < correlation(step(8), step(9)));
    // Single steps are as they were.
    let sds = forecasts.predictions.sd();
    for at in [0, 4, 9] {
        let sd = covariance(step(at), step(at)).sqrt();
        assert!((sd / sds[at] - 1.0).abs() < 0.06, "{sd} {}", sds[at]);
    }
    let sum = forecaster.over(&forecasts, Aggregate::Sum, 2_000, 1).unwrap();
    assert_eq!(sum.points.len(), 1);
    let independent: f64 = sds.iter().map(|sd| sd * sd).sum::<f64>().sqrt();
    assert!(sum.predictions.sd()[0] > 1.5 * independent);
    let highest = forecaster.over(&forecasts, Aggregate::Max, 2_000, 1).unwrap().predictions.mean()[0];
    let lowest = forecaster.over(&forecasts, Aggregate::Min, 2_000, 1).unwrap().predictions.mean()[0];
    assert!(lowest < forecasts.predictions.mean()[0] && highest > forecasts.predictions.mean()[0]);
}

/// Series in the long format whose levels have a random walk in common, of this size, beside their own noise.
fn moving_together(series: usize, steps: usize, common: f64) -> Table {
    let mut rng = Rng::new(12, 0);
    let mut level = 0.0;
    let levels: Vec<f64> = (0..steps)
        .map(|_| {
            level += common * normal(&mut rng);
            level
        })
        .collect();
    let (mut names, mut times, mut y) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..series {
        for (step, level) in levels.iter().enumerate() {
            names.push(format!("s{number}"));
            times.push(step as f64);
            y.push(10.0 * number as f64 + level + normal(&mut rng));
        }
    }
    let names = Column::text(names.iter().map(|name| Some(name.as_str())));
    Table::new(vec![("id".to_string(), names), numbers("t", times), numbers("y", y)]).unwrap()
}

#[test]
fn scores_of_times_that_series_share_are_said_to_be_of_these_times() {
    let roles = SeriesSpec::of("y").time("t").series("id").horizon(4);
    let of = |common: f64| fit(&moving_together(12, 120, common), &roles);
    let said =
        |fitted: &FittedForecaster| fitted.warnings.iter().map(|warning| warning.to_string()).collect::<Vec<_>>();
    let (alike, apart) = (of(1.0), of(0.0));
    let expected = "which the series share, and may not hold for other times";
    assert!(said(&alike).iter().any(|warning| warning.contains(expected)), "{:?}", said(&alike));
    assert!(said(&apart).is_empty(), "{:?}", said(&apart));
}

/// Series of different scales in the long format, with a future covariate: every change is twice `push`, plus noise.
fn pushed(series: usize, steps: usize, ahead: usize) -> Table {
    let mut rng = Rng::new(11, 0);
    let (mut names, mut times, mut y, mut push) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for number in 0..series {
        let size = 10f64.powi(number as i32 % 3);
        let mut value = 100.0 * size;
        for step in 0..steps + ahead {
            let next = normal(&mut rng);
            value += size * (2.0 * next + 0.2 * normal(&mut rng));
            names.push(format!("s{number}"));
            times.push(step as f64);
            y.push(if step < steps { value } else { f64::NAN });
            push.push(next);
        }
    }
    let names = Column::text(names.iter().map(|name| Some(name.as_str())));
    let columns = vec![("id".to_string(), names), numbers("t", times), numbers("y", y), numbers("push", push)];
    Table::new(columns).unwrap()
}

#[test]
fn many_series_share_a_model_and_what_is_known_ahead() {
    let roles = SeriesSpec::of("y").time("t").series("id").future_covariates(["push"]);
    let data = pushed(12, 120, 1);
    let forecaster = fit(&data, &roles).forecaster;
    assert!(forecaster.transform().several);
    assert_eq!(forecaster.transform().frequency, Frequency::Count { step: 1.0 });
    let [own, baselines @ ..] = forecaster.scores() else { panic!() };
    assert!(baselines.iter().all(|baseline| own.crps < 0.5 * baseline.crps), "{own:?} {baselines:?}");
    let histories = forecaster.histories(&data).unwrap();
    let future = forecaster.future(&data, &histories).unwrap();
    assert_eq!(future.points.len(), 12);
    assert_eq!(histories.series[3].time(future.points[3].step(), forecaster.transform().frequency), 120.0);
    // Unseen series are forecast too, but not without the future covariate.
    let new = pushed(14, 60, 1);
    let new_histories = forecaster.histories(&new).unwrap();
    assert_eq!(forecaster.future(&new, &new_histories).unwrap().points.len(), 14);
    let ended = pushed(2, 60, 0);
    let message = forecaster.future(&ended, &forecaster.histories(&ended).unwrap()).unwrap_err().to_string();
    let expected = "\"push\" must be known 1 steps ahead, and the rows of the series \"s0\" end 0 steps after the last known value: \
                    add rows whose \"y\" is empty";
    assert_eq!(message, expected);
}

#[test]
fn gaps_and_missing_values_are_said_and_filled() {
    let values = seasonal(240, 5);
    let day = 86_400.0;
    let kept: Vec<usize> = (0..240).filter(|step| ![50, 51, 130].contains(step)).collect();
    let mut y: Vec<f64> = kept.iter().map(|step| values[*step]).collect();
    y[20] = f64::NAN;
    let times = Column::Times(kept.iter().map(|step| *step as f64 * day).collect());
    let data = Table::new(vec![("when".to_string(), times), numbers("y", y)]).unwrap();
    let roles = SeriesSpec::of("y").time("when").seasonal_periods(vec![12]);
    let histories = Histories::read(&data, &roles, None).unwrap();
    assert_eq!((histories.series[0].len(), histories.frequency), (240, Frequency::Seconds { step: day }));
    assert_eq!(
        histories.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "the time steps (every day) have gaps in 2 places, 3 steps in all: they are taken as missing",
            "1 of the sequence \"y\" are missing: they are filled with the value before, and not used for training"
        ]
    );
    let FittedForecaster { forecaster, warnings, .. } = fit(&data, &roles);
    assert!(warnings.len() >= 2);
    let future = forecaster.future(&data, &forecaster.histories(&data).unwrap()).unwrap();
    assert!(future.predictions.mean()[0].is_finite());
}

#[test]
fn hostile_series() {
    let roles = SeriesSpec::of("y");
    let with_times = |times: Vec<f64>| {
        let y = vec![1.0; times.len()];
        Table::new(vec![numbers("t", times), numbers("y", y)]).unwrap()
    };
    let timed = SeriesSpec::of("y").time("t");
    assert_eq!(
        complaint(&with_times(vec![1.0, 3.0, 2.0]), &timed),
        "row 3, column \"t\": the time 2 comes after 3: sort the rows by time, the oldest first; if there are several \
         series, name a column as series or if they can be sorted, set sort to true"
    );
    assert_eq!(
        complaint(&with_times(vec![1.0, 2.0, 2.0]), &timed),
        "row 3, column \"t\": the time 2 occurs twice; if there are several series, name a column as series"
    );
    assert_eq!(
        complaint(&with_times(vec![1.0, f64::NAN]), &timed),
        "row 2, column \"t\": the time of a step is missing"
    );
    assert_eq!(complaint(&table(vec![f64::NAN; 4]), &roles), "the sequence \"y\" is missing in every row");
    let horizon = SeriesSpec::of("y").horizon(0);
    assert_eq!(complaint(&table(vec![1.0, 2.0]), &horizon), "horizon must be from 1 to 1000, found 0");
    // A constant series, and few steps: the last value, as sure as one can be.
    let FittedForecaster { forecaster, .. } = fit(&table(vec![7.0; 60]), &roles);
    let constant = table(vec![7.0; 60]);
    let future = forecaster.future(&constant, &forecaster.histories(&constant).unwrap()).unwrap();
    assert!((future.predictions.mean()[0] - 7.0).abs() < 1e-3 && future.predictions.sd()[0] < 0.5);
    let above = future.predictions.above(7.0).unwrap()[0];
    assert!(above > 0.0 && above < 0.01, "{above}");
    assert!(
        future.predictions.nll(&[7.0]).unwrap()[0].is_finite() && future.predictions.crps(&[9.0]).unwrap()[0] > 1.0
    );
    let few = table(vec![1.0, 3.0, 2.0, 4.0]);
    let FittedForecaster { forecaster, warnings, .. } = fit(&few, &SeriesSpec::of("y").horizon(6));
    let future = forecaster.future(&few, &forecaster.histories(&few).unwrap()).unwrap();
    assert_eq!(future.predictions.len(), 6);
    let sds = future.predictions.sd();
    assert!(sds.windows(2).all(|pair| pair[1] >= 0.5 * pair[0]) && sds[0] > 0.3, "{sds:?}");
    assert!(warnings.iter().any(|warning| warning.message().contains("too few for networks")), "{warnings:?}");
    let huge = "row 1, column \"y\": the number 1e300 is too large to forecast: at most 1e150";
    assert_eq!(complaint(&table(vec![1e300, -1e300, 1e300]), &roles), huge);
    for hostile in [[1e149, -1e149, 1e149, 2e148], [1e-300, 2e-300, 0.0, 1e-300]] {
        let data = table(hostile.into_iter().cycle().take(80).collect());
        let forecaster = fit(&data, &roles).forecaster;
        let future = forecaster.future(&data, &forecaster.histories(&data).unwrap()).unwrap();
        assert!(future.predictions.mean()[0].is_finite() && future.predictions.sd()[0] >= 0.0);
    }
}

#[test]
fn a_word_that_is_taken_as_missing_is_named() {
    let cells = (0..150).map(|row| if row == 40 { "abc".into() } else { row.to_string() });
    let text = format!("y\n{}\n", cells.collect::<Vec<String>>().join("\n"));
    let table = Table::read_from(text.as_bytes(), "series").unwrap();
    let histories = Histories::read(&table, &SeriesSpec::of("y"), None).unwrap();
    let starts = "1 of the sequence \"y\" are missing (\"abc\" among them): ";
    assert!(histories.warnings[0].message().starts_with(starts), "{}", histories.warnings[0]);
}

/// Forecasts after the end of a single series.
fn ahead(values: &[f64], horizon: usize) -> negmm::Predictions {
    let data = table(values.to_vec());
    let forecaster = fit(&data, &SeriesSpec::of("y").horizon(horizon)).forecaster;
    forecaster.future(&data, &forecaster.histories(&data).unwrap()).unwrap().predictions
}

#[test]
fn short_series_have_sensible_and_wide_forecasts() {
    // One value: around it, with an sd of its size.
    let one = ahead(&[3.0], 2);
    assert!((one.mean()[0] - 3.0).abs() < 1e-6 && (0.5..6.0).contains(&one.sd()[0]), "{:?} {:?}", one.mean(), one.sd());
    let known = ahead(&[f64::NAN, 3.0], 2);
    assert!((known.mean()[0] - 3.0).abs() < 1e-6, "{:?}", known.mean());
    let three = ahead(&[10.0, 10.5, 11.0], 2);
    assert!(three.sd()[1] > 0.9 * three.sd()[0] && three.sd()[0] > 0.1, "{:?}", three.sd());
    let five = ahead(&[12.0, 13.5, 12.9, 13.8, 14.1], 4);
    for (mean, sd) in five.mean().iter().zip(five.sd()) {
        assert!((11.0..18.0).contains(mean) && (0.2..8.0).contains(&sd), "{mean} {sd}");
    }
}

#[test]
fn intermittent_demand_has_its_zeros() {
    // Demand in one step of ten, of sizes 1 to 10: P(Y > 0) = 0.1 and a mean of 0.55.
    let mut rng = Rng::new(11, 0);
    let mut values = Vec::new();
    for _ in 0..40 {
        let size = (1.0 + 10.0 * rng.uniform()).floor();
        let at = (10.0 * rng.uniform()) as usize;
        values.extend((0..10).map(|step| if step == at { size } else { 0.0 }));
    }
    let truth = values.iter().sum::<f64>() / values.len() as f64;
    let future = ahead(&values, 6);
    for row in 0..6 {
        let above = future.above(0.0).unwrap()[row];
        assert!((above - 0.1).abs() < 0.03, "{above}");
        assert!((future.mean()[row] / truth - 1.0).abs() < 0.1, "{} {truth}", future.mean()[row]);
    }
    assert!(future.below(-1e-9).unwrap().iter().all(|below| *below == 0.0));
    assert!(future.quantile(0.5).unwrap().iter().all(|median| *median == 0.0));
    let whole = future.quantile(0.97).unwrap();
    assert!(whole.iter().all(|quantile| quantile.fract() == 0.0), "{whole:?}");
}

#[test]
fn intermittent_demand_with_a_stated_bound_has_its_zeros() {
    // Demand in one step of ten, of sizes that are not whole: P(Y > 0) = 0.1.
    let mut rng = Rng::new(3, 0);
    let values: Vec<f64> =
        (0..300).map(|_| if rng.uniform() < 0.1 { 1.0 + 4.0 * rng.uniform() } else { 0.0 }).collect();
    let rate = values.iter().filter(|value| **value > 0.0).count() as f64 / 300.0;
    let truth = values.iter().sum::<f64>() / 300.0;
    let data = table(values);
    let mut options = FitOptions::default();
    options.inputs = options.inputs.target_spec(TargetSpec::default().lower(0.0));
    let forecaster = fit_forecaster(&data, &SeriesSpec::of("y").horizon(4), &quick(), &options).unwrap().forecaster;
    let future = forecaster.future(&data, &forecaster.histories(&data).unwrap()).unwrap().predictions;
    for row in 0..4 {
        let above = future.above(0.0).unwrap()[row];
        assert!((above - rate).abs() < 0.03, "{above} {rate}");
        assert!((future.mean()[row] / truth - 1.0).abs() < 0.3, "{} {truth}", future.mean()[row]);
    }
    assert!(future.below(-1e-9).unwrap().iter().all(|below| *below == 0.0));
}

#[test]
fn parts_whose_last_demand_was_never_seen_are_saved_and_read() {
    // Like car_parts: many short series of mostly zeros; the last value of one is possible under no forecast.
    let mut rng = Rng::new(8, 0);
    let (mut id, mut y) = (Vec::new(), Vec::new());
    for series in 0..30 {
        for step in 0..40 {
            let size = if rng.uniform() < 0.2 { (1.0 + 2.0 * rng.uniform()).floor() } else { 0.0 };
            id.push(f64::from(series));
            y.push(if series == 7 && step == 39 { 100.0 } else { size });
        }
    }
    let data = Table::new(vec![numbers("id", id), numbers("y", y)]).unwrap();
    let forecaster = fit(&data, &SeriesSpec::of("y").series("id").horizon(3)).forecaster;
    // The value lies on no atom that was thought of, and is not impossible.
    assert!(forecaster.scores()[0].nll.is_some_and(|nll| nll < 10.0), "{:?}", forecaster.scores());
    let read = Forecaster::from_bytes(&forecaster.to_bytes().unwrap()).unwrap();
    assert_eq!(read, forecaster);
    let future = read.future(&data, &read.histories(&data).unwrap()).unwrap().predictions;
    assert_eq!(future.len(), 90);
    for level in [0.1, 0.5, 0.9, 0.99] {
        assert!(future.quantile(level).unwrap().iter().all(|quantile| quantile.fract() == 0.0 && *quantile >= 0.0));
    }
}

#[test]
fn series_that_end_early_are_forecast_from_their_own_ends() {
    let (mut id, mut time, mut y) = (Vec::new(), Vec::new(), Vec::new());
    for series in 0..4 {
        let steps = if series == 2 { 70 } else { 100 };
        for (step, value) in seasonal(steps, series).into_iter().enumerate() {
            id.push(series as f64);
            time.push(1000.0 + step as f64);
            y.push(100.0 * series as f64 + value);
        }
    }
    let data = Table::new(vec![numbers("id", id), numbers("t", time), numbers("y", y)]).unwrap();
    let spec = SeriesSpec::of("y").series("id").time("t").horizon(2);
    let forecaster = fit(&data, &spec).forecaster;
    let histories = forecaster.histories(&data).unwrap();
    let future = forecaster.future(&data, &histories).unwrap();
    let times: Vec<String> =
        future.points.iter().map(|point| histories.time_text(point.series, point.step())).collect();
    assert_eq!(times, ["1100", "1101", "1100", "1101", "1070", "1071", "1100", "1101"]);
    for (point, mean) in future.points.iter().zip(future.predictions.mean()) {
        assert!((mean - 100.0 * point.series as f64 - 50.0).abs() < 20.0, "{} {mean}", point.series);
    }
}

#[test]
fn a_score_that_is_not_finite_does_not_reach_the_file() {
    let values = seasonal(120, 9);
    let data = table(values);
    let forecaster = fit(&data, &SeriesSpec::of("y").horizon(4)).forecaster;
    let bytes = forecaster.to_bytes().unwrap();
    assert_eq!(Forecaster::from_bytes(&bytes).unwrap(), forecaster);
    let origins = forecaster.scored_origins().unwrap();
    assert!(origins.origins >= 2 && origins.series == 1 && origins.shortest == origins.longest, "{origins:?}");
    assert!(forecaster.scores().iter().all(|score| score.nll.is_none_or(f64::is_finite)));
}

#[test]
fn a_test_part_shorter_than_the_horizon_is_scored() {
    let data = table(seasonal(150, 4));
    let forecaster = fit(&data, &SeriesSpec::of("y").horizon(12)).forecaster;
    let histories = forecaster.histories(&data).unwrap();
    let rolling = forecaster.backtest(&data, &histories, BacktestOrigins::default().test_size(5)).unwrap();
    assert_eq!((rolling.scores[0].rows, rolling.steps.len()), (5, 5));
}

#[test]
fn irregular_numbers_are_named() {
    let times: Vec<f64> = (0..30).map(|step| f64::from(step) + 0.3 * f64::from(step % 7).sqrt()).collect();
    let data = Table::new(vec![numbers("t", times), numbers("y", seasonal(30, 2))]).unwrap();
    let histories = Histories::read(&data, &SeriesSpec::of("y").time("t"), None).unwrap();
    assert!(matches!(histories.frequency, Frequency::IrregularCount { .. }));
    assert!(histories.warnings[0].message().starts_with("the times are not regular"), "{:?}", histories.warnings);
}

#[test]
fn rows_are_sorted_where_asked() {
    let values = seasonal(60, 6);
    let order: Vec<usize> = (0..60).map(|row| (row * 7) % 60).collect();
    let shuffled = vec![
        numbers("t", order.iter().map(|row| *row as f64).collect()),
        numbers("y", order.iter().map(|row| values[*row]).collect()),
    ];
    let data = Table::new(shuffled).unwrap();
    let histories = Histories::read(&data, &SeriesSpec::of("y").time("t").sort(true), None).unwrap();
    assert_eq!(histories.series[0].values, values);
    assert!(Histories::read(&data, &SeriesSpec::of("y").time("t"), None).is_err());
}

#[test]
fn times_are_written_as_they_were_read() {
    let text = |rows: &[&str]| {
        let lines: Vec<String> = rows.iter().enumerate().map(|(at, time)| format!("{time},{at}")).collect();
        Table::read_from(format!("when,y\n{}\n", lines.join("\n")).as_bytes(), "series").unwrap()
    };
    let next = |rows: &[&str]| {
        let histories = Histories::read(&text(rows), &SeriesSpec::of("y").time("when"), None).unwrap();
        histories.time_text(0, rows.len())
    };
    let hours = ["2024-03-30T21:00:00+02:00", "2024-03-30T22:00:00+02:00", "2024-03-30T23:00:00+02:00"];
    assert_eq!(next(&hours), "2024-03-31T00:00+02:00");
    assert_eq!(next(&["1961-01", "1961-02", "1961-03"]), "1961-04");
    assert_eq!(next(&["1961-01-01", "1961-02-01", "1961-03-01"]), "1961-04-01");
    assert_eq!(next(&["0.1", "0.2", "0.3"]), "0.4");
}

#[test]
fn a_year_in_parts_of_days_is_forecast_by_its_date() {
    // Quarters of days from 2019 to 20 March 2022, with a day, a week and a year around a steady level; 2020 has a leap day.
    let mut rng = Rng::new(12, 0);
    let level = |step: i64| {
        let year = std::f64::consts::TAU * ((step / 4) as f64 - 79.0) / 365.25;
        let weekend = if step / 4 % 7 > 4 { 0.7 } else { 1.0 };
        weekend * (100.0 + 45.0 * year.sin()) * (1.0 + 0.1 * (step % 4) as f64)
    };
    let steps = 4 * 1_175;
    let data = Table::new(vec![
        ("when".to_string(), Column::Times((0..steps).map(|step| (17_897 * 4 + step) as f64 * 21_600.0).collect())),
        numbers("y", (0..steps).map(|step| level(step) + 3.0 * normal(&mut rng)).collect()),
    ])
    .unwrap();
    let spec = SeriesSpec::of("y").time("when").horizon(4 * 28).seasonal_periods(vec![4, 28]);
    let auto = Auto::default().hidden(vec![4]).steps(5).folds(2);
    let forecaster = fit_forecaster(&data, &spec, &auto, &FitOptions::default()).unwrap().forecaster;
    let forecaster = Forecaster::from_bytes(&forecaster.to_bytes().unwrap()).unwrap();
    assert_eq!(forecaster.classical_members()[0].0, "year and season (28)", "{:?}", forecaster.classical_members());
    // Spring: in the fourth week the level is a fifth higher.
    let mean = forecaster.future(&data, &forecaster.histories(&data).unwrap()).unwrap().predictions.mean();
    let last: f64 = (84..112).map(|ahead| mean[ahead as usize] / level(steps + ahead)).sum::<f64>() / 28.0;
    let weeks_ago: f64 = (84..112).map(|ahead| level(steps + ahead - 112) / level(steps + ahead)).sum::<f64>() / 28.0;
    assert!((last - 1.0).abs() < 0.1 && weeks_ago < 0.86, "{last} {weeks_ago}");
}

#[test]
fn a_short_series_of_zeros_is_forecast() {
    let auto = Auto::default().hidden(vec![4]).steps(5).folds(2);
    let data = table(vec![0.0; 4]);
    let fitted = fit_forecaster(&data, &SeriesSpec::of("y").horizon(1), &auto, &FitOptions::default()).unwrap();
    let future = fitted.forecaster.future(&data, &fitted.forecaster.histories(&data).unwrap()).unwrap();
    assert_eq!(future.predictions.mean(), [0.0]);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 24, ..Default::default() })]

    #[test]
    fn forecasters_of_hostile_series_are_read_back(
        pattern in proptest::collection::vec(proptest::prelude::prop_oneof![
            proptest::prelude::Just(0.0), proptest::prelude::Just(-1.0),
            proptest::prelude::Just(f64::NAN), proptest::prelude::Just(1e149), proptest::prelude::Just(-1e149),
            -5.0..5.0_f64, 0.0..1e9_f64,
        ], 1..12),
        steps in 1_usize..40,
        horizon in 1_usize..9,
    ) {
        let values: Vec<f64> = pattern.iter().copied().cycle().take(steps).collect();
        if values.iter().all(|value| value.is_nan()) {
            return Ok(());
        }
        let data = table(values);
        let auto = Auto::default().hidden(vec![4]).steps(5).folds(2);
        let spec = SeriesSpec::of("y").horizon(horizon);
        let forecaster = fit_forecaster(&data, &spec, &auto, &FitOptions::default()).unwrap().forecaster;
        let read = Forecaster::from_bytes(&forecaster.to_bytes().unwrap()).unwrap();
        proptest::prop_assert_eq!(&read, &forecaster);
        let future = read.future(&data, &read.histories(&data).unwrap()).unwrap();
        proptest::prop_assert_eq!(future.predictions.len(), horizon);
        proptest::prop_assert!(future.predictions.mean().iter().all(|mean| mean.is_finite()));
    }
}
